import { setTimeout as sleep } from 'node:timers/promises';
import { type APIResponse, type BrowserContext, chromium, type Page, type Route, request } from 'playwright-core';
import { launchOptions, requireHeadlessShell } from './browser.mjs';
import { untilServed } from './eventually';
import { POLL_LIMIT_MS, WAIT_LIMIT_MS } from './limits.mjs';
import {
  type Answer,
  endProducts,
  makeDataDir,
  type Product,
  readScreen,
  type Settings,
  startProduct,
} from './product';

// The dashboard in a real browser: one product and one page, which every test opens with a role of its choice. A browser
// that has compiled the scripts loads a page of the dashboard with a third of the CPU time that a fresh context needs.

const POLL_MS = 30;
/** When a page has been shown that long, the browser has stored what it compiled of the scripts. Later pages compile a tenth of it. */
const STORED_SCRIPTS_MS = 1_500;
/**
 * Pages live for less than a second. Compiling their scripts for speed costs more than it saves, and so does forgetting what
 * the page before has compiled.
 */
const SWITCHES = ['--js-flags=--no-opt --no-maglev --no-flush-bytecode', '--in-process-gpu'];

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
  /** The one page of the browser. */
  page: Page;
  /** Prepares the page for a look. It may show what was opened before until it goes to an address. */
  open(look?: Look): Promise<Page>;
  /** Opens an address under `base` and waits until it can be used. */
  visit(path: string, look?: Look): Promise<Page>;
  /** Calls a procedure with the cookie of a context. */
  ask(context: BrowserContext, procedure: string, input?: unknown, integrationId?: string): Promise<APIResponse>;
  change(context: BrowserContext, procedure: string, input: unknown, integrationId?: string): Promise<APIResponse>;
  /** Goes to an address where no script runs, signed out, and forgets what pages have stored. */
  leave(): Promise<void>;
  /** Returns the unprovoked errors since the last call. */
  takeFaults(): string[];
  stop(): Promise<void>;
}

/** Starts the product with its demo integration and the browser. */
export async function startDashboard(settings: Settings = {}): Promise<Dashboard> {
  const started = await startProduct(await makeDataDir(), settings);
  const product: Product = {
    ...started,
    ingest: (...batch) =>
      untilServed(
        () => started.ingest(...batch),
        ({ status }) => status,
      ),
  };
  const [, email = '', password = ''] = DEMO_SIGN_IN.exec(product.stdout()) ?? [];
  const { integrationId, demoKey } = readScreen(product);
  const base = `${product.url}/dashboard/${integrationId}`;
  const origin = { origin: product.url };
  const browser = await chromium.launch({ ...launchOptions(SWITCHES), executablePath: requireHeadlessShell() });
  const context = await browser.newContext({
    baseURL: product.url,
    reducedMotion: 'reduce',
    locale: 'en-US',
    timezoneId: 'UTC',
    // After a click. The headless shell has nobody to ask, and refuses it.
    permissions: ['clipboard-write'],
  });
  context.setDefaultTimeout(POLL_LIMIT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  let provoked: RegExp | undefined;
  /** The role whose cookies the page has. */
  let shown: Role | undefined;
  const note = (fault: string) => provoked?.test(fault) || faults.push(fault);
  // Of the same origin, so that the browser keeps the process and the scripts that it has compiled.
  const empty = `${product.url}/health`;
  page.on('console', (message) => {
    const { url } = message.location();
    // The browser asks for an icon where no page names one.
    if (page.url() === empty && url === `${product.url}/favicon.ico`) return;
    if (message.type() === 'error') note(`${page.url()}: ${message.text()} ${url}`);
  });
  page.on('pageerror', (error) => note(`${page.url()}: ${error.stack ?? error.message}`));
  // One sign-in for each role, because sign-ins are throttled by address.
  const signedIn = new Map<Role, ReturnType<typeof signIn>>();

  async function signIn(role: Role) {
    const account = role === 'admin' ? { email, password } : { email: `${role}@example.com`, password: PASSWORD };
    if (role !== 'admin') {
      const admin = await request.newContext({
        timeout: WAIT_LIMIT_MS,
        baseURL: product.url,
        storageState: await findState('admin'),
      });
      const headers = { ...origin, 'x-integration-id': integrationId };
      await expectOk(await admin.post('/api/trpc/staff.create', { headers, data: { ...account, role } }));
      await admin.dispose();
    }
    const client = await request.newContext({ timeout: WAIT_LIMIT_MS, baseURL: product.url });
    const answer = await untilServed(
      () => client.post('/api/auth/sign-in', { headers: origin, data: account }),
      (one) => one.status(),
    );
    await expectOk(answer);
    const state = await client.storageState();
    await client.dispose();
    return state;
  }
  function findState(role: Role) {
    const state = signedIn.get(role) ?? signIn(role);
    signedIn.set(role, state);
    // The next test tries again.
    state.catch(() => signedIn.delete(role));
    return state;
  }

  const dashboard: Dashboard = {
    ...{ product, integrationId, base, demo: { email, password }, page },
    api: (method, path, body) =>
      untilServed(
        () => product.call(method, path, { key: demoKey, body }),
        ({ status }) => status,
      ),
    async open({ role, theme = 'light', width = 1280, height = 800, provokes } = {}) {
      await page.unrouteAll();
      if (role === undefined || role !== shown) await dashboard.leave();
      if (role && role !== shown) await context.addCookies((await findState(role)).cookies);
      shown = role;
      provoked = provokes;
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: theme });
      return page;
    },
    async visit(path, look = { role: 'admin' }) {
      await dashboard.open(look);
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
    async leave() {
      await page.goto(empty);
      await page.evaluate(() => {
        localStorage.clear();
        sessionStorage.clear();
      });
      await context.clearCookies();
      shown = undefined;
    },
    takeFaults: () => faults.splice(0),
    async stop() {
      await browser.close();
      await endProducts();
    },
  };
  await dashboard.visit('');
  await sleep(STORED_SCRIPTS_MS);
  return dashboard;
}

async function expectOk(response: APIResponse): Promise<void> {
  if (!response.ok()) throw new Error(`${response.url()} answered ${response.status()}: ${await response.text()}`);
}

/**
 * Answers requests of a loaded page in place of the server. The browser says that it intercepts a moment before it does, so this waits
 * until it has.
 */
export async function intercept(page: Page, url: string, answer: (route: Route) => unknown): Promise<void> {
  const probe = '**/health';
  await page.route(probe, (route) => route.fulfill({ status: 204 }));
  await page.route(url, answer);
  await page.waitForFunction(async () => (await fetch('/health')).status === 204, undefined, { polling: POLL_MS });
  await page.unroute(probe);
}

/** Answers a call as the server does while its database cannot be reached. */
export const answerOutage = (route: Route) => {
  const data = { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 };
  return route.fulfill({
    status: 503,
    json: { error: { message: 'The service is temporarily unavailable', code: -32603, data } },
  });
};

/** Waits until a page shows everything that it loads and React listens to all of its controls. */
export async function settle(page: Page): Promise<void> {
  // At intervals, because a poll on every animation frame makes the browser draw every frame.
  await page.waitForFunction(
    () => {
      const controls = [...document.querySelectorAll('button, input, select, textarea')];
      return (
        document.readyState === 'complete' &&
        controls.length > 0 &&
        controls.every((control) => Object.keys(control).some((key) => key.startsWith('__reactProps$'))) &&
        !document.querySelector('.skeleton, [aria-busy="true"]')
      );
    },
    undefined,
    { polling: POLL_MS },
  );
  // Listeners on the window are added by effects, after the page is drawn. On a busy machine that takes a while: the browser is
  // idle when they have run.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(resolve))));
}

/** Waits until the page has the answers to its changes of labels. What has none is sent again by the page that follows. */
export const waitForAnswers = (page: Page) =>
  page.waitForFunction(() => !Object.keys(sessionStorage).some((key) => key.startsWith('unsaved-verdicts:')));
