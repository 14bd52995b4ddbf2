import { gzipSync } from 'node:zlib';
import type { Page, Response } from '@playwright/test';
import axe, { type AxeResults } from 'axe-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createRandom, makeSessionFacts } from '../../server/demo/session-facts';
import { type Dashboard, type Look, settle, startDashboard } from '../support/dashboard';
import { createDemoSettings } from '../support/database';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';

// Rules that hold for every page, with the data of the demo integration.

const LIMIT_MS = 90_000;
vi.setConfig({ testTimeout: LIMIT_MS });
const MAX_SCRIPT_BYTES = 250_000;
const MAX_SHIFT = 0.05;
const WIDE = 1280;
const NARROW = 360;

let receiver: Receiver;
let dashboard: Dashboard;
/** The ids used in the pages' paths. */
let ids: Record<string, string>;

beforeAll(async () => {
  receiver = await startReceiver();
  dashboard = await startDashboard({ ...(await createDemoSettings()), WEBHOOK_ALLOW_HOSTS: receiver.host });
  const { api, product, integrationId } = dashboard;
  const first = async (path: string): Promise<string> => (await api('GET', `${path}?pageSize=1`)).body.data[0].id;
  const subscription = { url: `${receiver.url}/hook`, eventType: 'BotDetected' };
  const { id: webhook } = (await api('POST', '/v1/webhooks', subscription)).body.data;
  const { facts } = makeSessionFacts('bot', Date.now(), createRandom(1));
  await product.ingest(integrationId, facts);
  await receiver.waitFor(1);
  const isLogged = async () => (await api('GET', `/v1/webhooks/${webhook}`)).body.data.lastDeliveryStatus !== null;
  await waitUntil(isLogged);
  const delivery = String(receiver.received[0]!.headers['x-webhook-delivery-id']);
  const [session, user, course] = await Promise.all(['/v1/sessions', '/v1/users', '/v1/courses'].map(first));
  ids = { session, user, course, webhook, delivery } as Record<string, string>;
}, LIMIT_MS);
afterAll(async () => {
  await dashboard?.stop();
  await receiver.stop();
}, LIMIT_MS);

const PAGES = [
  '/overview',
  '/sessions',
  '/sessions?selected={session}',
  '/sessions/{session}',
  '/users',
  '/users/{user}',
  '/courses',
  '/courses/{course}',
  '/webhooks',
  '/webhooks/new',
  '/webhooks/{webhook}',
  '/webhooks/{webhook}?delivery={delivery}',
  '/webhooks/{webhook}?tab=skipped',
  '/webhooks/{webhook}?tab=setup',
  '/webhooks/{webhook}/edit',
  '/anomalies',
  '/alerts',
  '/reports',
  '/usage',
  '/settings?tab=api-keys',
  '/settings?tab=sites',
  '/settings?tab=thresholds',
  '/settings?tab=integration',
  '/settings?tab=staff',
  '/settings?tab=audit',
  '/settings?tab=audit&scope=Staff',
];

const fillPath = (path: string) => path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name]!));

/** Compressed size of each script, by URL, because pages share most scripts. */
const sizes = new Map<string, number>();

interface WatchedPage {
  page: Page;
  /** Goes to an address; answers the compressed size of its scripts. */
  visit(address: string): Promise<number>;
}

/** Opens a page, observes it from its first paint, and loads axe into it. */
async function openWatched(look: Look): Promise<WatchedPage> {
  const page = await dashboard.open(look);
  await page.addInitScript(axe.source);
  await page.addInitScript(() => {
    const shifts: unknown[] = [];
    Object.assign(window, { shifts });
    /** Describes what moved, for finding the cause. */
    const describeMoved = ({
      sources = [],
    }: {
      sources?: { node: Element | null; currentRect: DOMRect; previousRect: DOMRect }[];
    }) =>
      sources.map(
        ({ node, previousRect, currentRect }) =>
          `${node?.tagName} ${node?.className} ${previousRect.top}+${previousRect.height} → ${currentRect.top}+${currentRect.height}`,
      );
    const note = (entry: PerformanceEntry) => ({ ...entry.toJSON(), moved: describeMoved(entry as never) });
    new PerformanceObserver((list) => shifts.push(...list.getEntries().map(note))).observe({
      type: 'layout-shift',
      buffered: true,
    });
  });
  let scripts: Promise<number>[] = [];
  const measure = async (response: Response) => {
    const size = sizes.get(response.url()) ?? gzipSync(await response.body()).length;
    sizes.set(response.url(), size);
    return size;
  };
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script') scripts.push(measure(response));
  });
  return {
    page,
    async visit(address) {
      scripts = [];
      await page.goto(address);
      await settle(page);
      return (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0);
    },
  };
}

/** Lists what axe rates serious or critical, one line each. */
async function findIssues(page: Page): Promise<string[]> {
  // An element that is still fading in has too little contrast, so wait for animations.
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
  const { violations } = await page.evaluate<Pick<AxeResults, 'violations'>>(
    'axe.run(document, { resultTypes: ["violations"], preload: false })',
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`));
}

/** Reads how far the page shifted without input, and what moved. */
const readShifts = (page: Page) =>
  page.evaluate(() => {
    const { shifts } = window as unknown as { shifts: { value: number; hadRecentInput: boolean; moved: string[] }[] };
    const own = shifts.filter(({ hadRecentInput }) => !hadRecentInput);
    return { sum: own.reduce((sum, { value }) => sum + value, 0), moved: own.flatMap(({ moved }) => moved) };
  });

async function expectStill(page: Page) {
  const { sum, moved } = await readShifts(page);
  expect(sum, moved.join('\n')).toBeLessThan(MAX_SHIFT);
}

/** Lists the elements that make a page wider than its window. */
const findWide = (page: Page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return [...document.body.querySelectorAll('*')]
      .filter((element) => element.getBoundingClientRect().right > clientWidth + 1)
      .map((element) => `${element.tagName} ${element.className} ends at ${element.getBoundingClientRect().right}`)
      .slice(0, 5)
      .concat(`${scrollWidth} pixels wide`);
  });

async function expectSound(path: string, { page, visit }: WatchedPage) {
  const address = fillPath(path);
  await page.setViewportSize({ width: WIDE, height: 800 });
  await page.emulateMedia({ colorScheme: 'light' });
  const scriptBytes = await visit(address);
  expect(scriptBytes).toBeGreaterThan(0);
  expect(scriptBytes).toBeLessThan(MAX_SCRIPT_BYTES);
  await expectStill(page);
  expect(await findIssues(page)).toEqual([]);
  await page.setViewportSize({ width: NARROW, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await visit(address);
  expect(await findWide(page)).toEqual([]);
  await expectStill(page);
  expect(await findIssues(page)).toEqual([]);
}

describe('no page has a serious accessibility issue, shifts, scrolls sideways at 360 pixels, or ships over 250 KB of script', () => {
  // One for all of them: the browser keeps the scripts that it has compiled.
  let admin: WatchedPage;
  beforeAll(async () => {
    admin = await openWatched({ role: 'admin' });
  });
  afterEach(() => expect(dashboard.takeFaults()).toEqual([]));
  afterAll(() => dashboard.closePages());

  it.each(PAGES)('%s', async (path) => {
    await expectSound(`${dashboard.base}${path}`, admin);
  });

  it('/demo', async () => {
    await expectSound(`${dashboard.product.url}/demo`, await openWatched({}));
  });

  it('/sign-in', async () => {
    await expectSound(`${dashboard.product.url}/sign-in`, await openWatched({}));
  });
});

describe('overlays have no serious accessibility issue', () => {
  afterEach(async () => expect(await dashboard.closePages()).toEqual([]));

  it.each([
    ['the list of shortcuts', '/sessions', 'light', WIDE, /^Keyboard shortcuts/],
    ['the account menu', '/overview', 'dark', WIDE, /account$/],
    ['the menu of a narrow screen', '/overview', 'light', NARROW, /^Menu$/],
    ['a form', '/settings?tab=api-keys', 'dark', WIDE, /^Mint a key$/],
    ['a confirmation', '/webhooks/{webhook}', 'light', NARROW, /^Delete$/],
  ] as const)('%s', async (_name, path, theme, width, button) => {
    const { page, visit } = await openWatched({ role: 'admin', theme, width });
    await visit(fillPath(`${dashboard.base}${path}`));
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('dialog').or(page.getByRole('alertdialog')).or(page.locator('[data-menu]')).waitFor();
    expect(await findIssues(page)).toEqual([]);
  });
});

it('a page animates nothing for people who prefer reduced motion', async () => {
  const page = await dashboard.visit('/courses');
  const moving = await page.evaluate(() => {
    const table = document.querySelector('table')!;
    getComputedStyle(table).fontSize;
    table.style.fontSize = '30px';
    return table.getAnimations({ subtree: true }).length;
  });
  expect(moving).toBe(0);
  expect(await dashboard.closePages()).toEqual([]);
});
