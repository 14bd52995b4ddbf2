import { gzipSync } from 'node:zlib';
import axe, { type AxeResults } from 'axe-core';
import type { BrowserContext, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom, makeSessionFacts } from '../../../server/demo/session-facts';
import { type Role, settle } from '../../support/dashboard';
import { closed, scored, started, writing, writingEvidence } from '../../support/facts';
import type { Answer } from '../../support/product';
import { waitUntil } from '../../support/receiver';
import { dashboard, prepareOnce, receiver } from './shared-dashboard';

const MAX_SCRIPT_BYTES = 240_000;
const MAX_SHIFT = 0.05;
const WIDE = 1280;
const NARROW = 360;

/** Makes a webhook with a delivery, and finds one of everything that has a page: the ids used in the pages' paths. */
async function findIds(): Promise<Record<string, string>> {
  const { product, integrationId } = dashboard;
  const api: typeof dashboard.api = async (...call) => expectDone(await dashboard.api(...call));
  const ingest = async (facts: unknown[]) => expectDone(await product.ingest(integrationId, facts));
  const first = async (path: string): Promise<string> => (await api('GET', `${path}?pageSize=1`)).body.data[0].id;
  const subscription = { url: `${receiver.url}/hook`, eventType: 'BotDetected' };
  const { id: webhook } = (await api('POST', '/v1/webhooks', subscription)).body.data;
  await ingest(makeSessionFacts('bot', Date.now(), createRandom(1)).facts);
  await receiver.waitFor(1);
  const isLogged = async () => (await api('GET', `/v1/webhooks/${webhook}`)).body.data.lastDeliveryStatus !== null;
  await waitUntil(isLogged);
  const written = 'session-with-texts';
  await ingest([
    ...[started(written), closed(written), scored(written, 0.2)],
    ...['essay', null].map((documentId) =>
      writing(`wri_${documentId}`, 0.45, {
        ...{ documentId, wordCount: documentId && 150, browsingSessionId: written, evidence: writingEvidence() },
      }),
    ),
  ]);
  const delivery = String(receiver.received[0]!.headers['x-webhook-delivery-id']);
  const context = (await dashboard.open({ role: 'admin' })).context();
  const made = await dashboard.change(context, 'alertRules.create', {
    ...{ name: 'Off', metric: 'botShare', scope: { kind: 'integration' }, windowMinutes: 10_080, comparison: 'gte' },
    ...{ value: 1, minSessions: 1, severity: 'high', message: '{{value}} of the sessions are bots', enabled: false },
  });
  const { id: rule } = (await made.json()).result.data;
  const listed = await dashboard.ask(context, 'alerts.list', { pageSize: 1 });
  const alert = (await listed.json()).result.data.data[0].id;
  const [session, user, course] = await Promise.all(['/v1/sessions', '/v1/users', '/v1/courses'].map(first));
  const recorded = await findRecorded(context);
  return { session, written, recorded, user, course, webhook, delivery, rule, alert } as Record<string, string>;
}

function expectDone(answer: Answer): Answer {
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}

/** Finds a session with a recording among those of the demo. */
async function findRecorded(context: BrowserContext): Promise<string> {
  const { data } = (await dashboard.api('GET', '/v1/sessions?pageSize=50')).body;
  for (const { id } of data) {
    const answer = await dashboard.ask(context, 'recordings.find', { sessionId: id });
    if ((await answer.json()).result.data.state === 'kept') return id;
  }
  throw new Error('no session of the demo has a recording');
}

/** Every page of an integration. Names in braces are ids. */
export const PAGES = [
  '/overview',
  '/review',
  '/review?queue=sample',
  '/setup',
  '/documents',
  '/sessions',
  '/sessions?selected={session}',
  '/sessions/{session}',
  '/sessions/{written}',
  '/sessions/{session}/evidence',
  '/sessions/{recorded}',
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
  '/alerts?selected={alert}',
  '/alerts?tab=rules',
  '/alerts?tab=rules&selected={rule}',
  '/alerts/rules/new',
  '/alerts/rules/{rule}',
  '/reports',
  '/usage',
  '/settings?tab=api-keys',
  '/settings?tab=sites',
  '/settings?tab=thresholds',
  '/settings?tab=findings',
  '/settings?tab=integration',
  '/settings?tab=staff',
  '/settings?tab=audit',
  '/settings?tab=audit&scope=Staff',
];

/** Replaces the names in a path by ids. */
export const fillPath = (path: string, ids: Record<string, string>) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name]!));

/** Compressed size of each script, by URL, because pages share most scripts. */
const sizes = new Map<string, number>();

/** The scripts that the page has loaded since the list was emptied. */
const scripts: Promise<number>[] = [];

async function measure(response: Response): Promise<number> {
  const size = sizes.get(response.url()) ?? gzipSync(await response.body()).length;
  sizes.set(response.url(), size);
  return size;
}

/** Observes the page from its first paint, and loads axe into it, until the tests of this file are over. */
function watchPage(): void {
  let watches: { dispose(): Promise<void> }[] = [];
  const note = (response: Response) => {
    if (response.request().resourceType() === 'script') scripts.push(measure(response));
  };
  beforeAll(async () => {
    const { page } = dashboard;
    watches = [await page.addInitScript(axe.source), await page.addInitScript(observeShifts)];
    page.on('response', note);
  });
  afterAll(async () => {
    dashboard.page.off('response', note);
    for (const watch of watches) await watch.dispose();
  });
}

/** Runs in the page. */
function observeShifts(): void {
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
}

/** Goes to an address. Answers the compressed size of its scripts. */
async function load(page: Page, address: string): Promise<number> {
  scripts.splice(0);
  await page.goto(address);
  await settle(page);
  return (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0);
}

/** Lists what axe rates serious or critical, one line each. */
export async function findIssues(page: Page): Promise<string[]> {
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

/** Lists times of the day that are said to be in UTC, in texts and attributes. */
const findUtcTimes = (page: Page) =>
  page.evaluate(() => {
    const texts = [document.body.innerText];
    for (const element of document.querySelectorAll('[title], [aria-label]'))
      texts.push(element.getAttribute('title') ?? '', element.getAttribute('aria-label') ?? '');
    return texts.flatMap((text) => text.match(/\d:\d\d(:\d\d)? UTC(?!\+)/g) ?? []);
  });

interface Overlay {
  path: string;
  width: number;
  theme: 'light' | 'dark';
  button: RegExp;
}

/** Overlays, which are opened when their page was checked in that width. */
const OVERLAYS: Overlay[] = [
  { path: '/sessions', theme: 'light', width: WIDE, button: /^Keyboard shortcuts/ },
  { path: '/overview', theme: 'dark', width: WIDE, button: /account$/ },
  { path: '/overview', theme: 'light', width: NARROW, button: /^Menu$/ },
  { path: '/settings?tab=api-keys', theme: 'dark', width: WIDE, button: /^Mint a key$/ },
  { path: '/settings?tab=staff', theme: 'dark', width: WIDE, button: /^Invite a person$/ },
  { path: '/webhooks/{webhook}', theme: 'light', width: NARROW, button: /^Delete$/ },
];

async function expectSoundOverlay(page: Page, { theme, button }: Overlay) {
  await page.emulateMedia({ colorScheme: theme });
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('dialog').or(page.getByRole('alertdialog')).or(page.locator('[data-menu]')).waitFor();
  expect(await findIssues(page), `overlay of ${button}`).toEqual([]);
}

async function expectSound(address: string, role?: Role, overlays: Overlay[] = []) {
  const page = await dashboard.open({ role, theme: 'light', width: WIDE });
  const scriptBytes = await load(page, address);
  expect(scriptBytes).toBeGreaterThan(0);
  expect(scriptBytes).toBeLessThan(MAX_SCRIPT_BYTES);
  await expectStill(page);
  expect(await findIssues(page)).toEqual([]);
  for (const overlay of overlays) if (overlay.width === WIDE) await expectSoundOverlay(page, overlay);
  await page.setViewportSize({ width: NARROW, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.context().addCookies([{ name: 'time-zone', value: 'Asia/Kolkata', url: dashboard.product.url }]);
  await load(page, address);
  // The evidence report is in UTC for every reader.
  if (!address.endsWith('/evidence')) expect(await findUtcTimes(page)).toEqual([]);
  await page.context().clearCookies({ name: 'time-zone' });
  expect(await findWide(page)).toEqual([]);
  await expectStill(page);
  expect(await findIssues(page)).toEqual([]);
  for (const overlay of overlays) if (overlay.width === NARROW) await expectSoundOverlay(page, overlay);
}

/** Rules that hold for every page, with the data of the demo integration. */
export function registerPageTests(): void {
  describe('every page', () => {
    const obtainIds = prepareOnce(findIds);
    watchPage();
    afterAll(async () => {
      const { page, change } = dashboard;
      await dashboard.open({ role: 'admin' });
      await change(page.context(), 'alertRules.delete', { id: (await obtainIds()).rule });
    });

    describe('has no serious accessibility issue, in overlays too, does not shift or scroll sideways at 360 pixels, and ships at most 240 KB of script', () => {
      it.each(PAGES)('%s', async (path) => {
        const overlays = OVERLAYS.filter((overlay) => overlay.path === path);
        return expectSound(`${dashboard.base}${fillPath(path, await obtainIds())}`, 'admin', overlays);
      });
      it.each(['/demo', '/sign-in', '/docs/quickstart', '/docs/pixel'])('%s', (path) =>
        expectSound(`${dashboard.product.url}${path}`),
      );
      it('the pages of all overlays are among them', () =>
        expect(PAGES).toEqual(expect.arrayContaining(OVERLAYS.map(({ path }) => path))));
    });

    it('animates nothing for people who prefer reduced motion', async () => {
      const page = await dashboard.visit('/courses');
      const moving = await page.evaluate(() => {
        const changed = [...document.querySelectorAll<HTMLElement>('table, button')];
        document.body.insertAdjacentHTML('beforeend', '<p class="skeleton"></p>');
        for (const element of changed) getComputedStyle(element).color;
        for (const element of changed) Object.assign(element.style, { fontSize: '30px', color: 'red' });
        // An animation of hardly any length ends with what it leads to.
        const moves = (one: Animation) =>
          one instanceof CSSTransition || Number(one.effect!.getComputedTiming().endTime) > 1;
        return document.getAnimations().filter(moves).length;
      });
      expect(moving).toBe(0);
    });
  });
}
