import { type APIResponse, type Browser, type BrowserContext, chromium, type Page } from '@playwright/test';
import { launchOptions } from './browser.mjs';
import {
  type Answer,
  endProducts,
  makeDataDir,
  type Product,
  readScreen,
  type Settings,
  startProduct,
} from './product';

// The dashboard in a real browser: one product and one browser, with a fresh context for each page that is opened.

/** How long one step may take: an answer, a page. */
export const STEP_LIMIT_MS = 15_000;
export const PASSWORD = 'correct horse battery';
const DEMO_SIGN_IN = /Demo sign-in\s+(\S+@\S+)\s+(\S{20})\s/;

export type Role = 'admin' | 'analyst' | 'viewer';

export interface Look {
  /** Absent: signed out. */
  role?: Role;
  theme?: 'light' | 'dark';
  width?: number;
  height?: number;
  /** Errors of the console that the test provokes. */
  provokes?: RegExp;
}

export interface Dashboard {
  product: Product;
  integrationId: string;
  /** Address of the demo integration's pages, without a trailing slash. */
  base: string;
  demo: { email: string; password: string };
  /** Calls the API with the demo integration's key. */
  api(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Opens a blank page in a fresh browser context. */
  open(look?: Look): Promise<Page>;
  /** Opens an address under `base` and waits until it can be used. */
  visit(path: string, look?: Look): Promise<Page>;
  /** Calls a procedure with the cookie of a context. */
  ask(context: BrowserContext, procedure: string, input?: unknown, integrationId?: string): Promise<APIResponse>;
  change(context: BrowserContext, procedure: string, input: unknown, integrationId?: string): Promise<APIResponse>;
  /** Answers the unprovoked errors since the last call. */
  takeFaults(): string[];
  /** Closes all contexts and takes the faults. */
  closePages(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts the product with its demo integration and the browser. */
export async function startDashboard(settings: Settings = {}): Promise<Dashboard> {
  const product = await startProduct(await makeDataDir(), settings);
  const [, email = '', password = ''] = DEMO_SIGN_IN.exec(product.stdout()) ?? [];
  const { integrationId, demoKey } = readScreen(product);
  const base = `${product.url}/dashboard/${integrationId}`;
  const browser: Browser = await chromium.launch(launchOptions());
  const faults: string[] = [];
  // One sign-in for each role, because sign-ins are throttled by address.
  const signedIn = new Map<Role, ReturnType<typeof signIn>>();
  const origin = { origin: product.url };

  async function signIn(role: Role) {
    const context = await browser.newContext({ baseURL: product.url });
    const account = role === 'admin' ? { email, password } : { email: `${role}@example.com`, password: PASSWORD };
    if (role !== 'admin') {
      const admin = await browser.newContext({ baseURL: product.url, storageState: await findState('admin') });
      await expectOk(await dashboard.change(admin, 'staff.create', { ...account, role }));
      await admin.close();
    }
    await expectOk(await context.request.post('/api/auth/sign-in', { headers: origin, data: account }));
    const state = await context.storageState();
    await context.close();
    return state;
  }
  function findState(role: Role) {
    const state = signedIn.get(role) ?? signIn(role);
    signedIn.set(role, state);
    return state;
  }

  const dashboard: Dashboard = {
    ...{ product, integrationId, base, demo: { email, password } },
    api: (method, path, body) => product.call(method, path, { key: demoKey, body }),
    async open({ role, theme = 'light', width = 1280, height = 800, provokes } = {}) {
      const context = await browser.newContext({
        baseURL: product.url,
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: 'reduce',
        locale: 'en-US',
        timezoneId: 'UTC',
        ...(role ? { storageState: await findState(role) } : {}),
      });
      context.setDefaultTimeout(STEP_LIMIT_MS);
      const page = await context.newPage();
      const note = (fault: string) => provokes?.test(fault) || faults.push(fault);
      page.on('console', (message) => message.type() === 'error' && note(`${page.url()}: ${message.text()}`));
      page.on('pageerror', (error) => note(`${page.url()}: ${error.stack ?? error.message}`));
      return page;
    },
    async visit(path, look = { role: 'admin' }) {
      const page = await dashboard.open(look);
      await page.goto(`${base}${path}`);
      await settle(page);
      return page;
    },
    ask: (context, procedure, input, id = integrationId) => {
      const query = input === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(input))}`;
      return context.request.get(`/api/trpc/${procedure}${query}`, { headers: { 'x-integration-id': id } });
    },
    change: (context, procedure, data, id = integrationId) =>
      context.request.post(`/api/trpc/${procedure}`, { headers: { ...origin, 'x-integration-id': id }, data }),
    takeFaults: () => faults.splice(0),
    async closePages() {
      for (const context of browser.contexts()) await context.close();
      return dashboard.takeFaults();
    },
    async stop() {
      await browser.close();
      await endProducts();
    },
  };
  return dashboard;
}

async function expectOk(response: APIResponse): Promise<void> {
  if (!response.ok()) throw new Error(`${response.url()} answered ${response.status()}: ${await response.text()}`);
}

/** Waits until a page shows everything that it loads and React listens to all of its controls. */
export async function settle(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const controls = [...document.querySelectorAll('button, input, select, textarea')];
    return (
      document.readyState === 'complete' &&
      controls.length > 0 &&
      controls.every((control) => Object.keys(control).some((key) => key.startsWith('__reactProps$'))) &&
      !document.querySelector('.skeleton, [aria-busy="true"]')
    );
  });
  // Listeners on the window are added by effects, after the page is drawn.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
}
