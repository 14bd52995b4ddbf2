import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  showName,
  showUtcInstant,
} from '../../../app/dashboard/[integrationId]/sessions/[sessionId]/evidence/evidence-words';
import { REASON_WORDS } from '../../../app/dashboard/[integrationId]/sessions/verdict-words';
import { settle } from '../../support/dashboard';
import { anomaly, closed, correlated, finding, happened, scored, started } from '../../support/facts';
import { dashboard } from './shared-dashboard';

const ORIGIN = 'https://context.example.edu';
/** Letters that nothing breaks: no space, no hyphen. */
const LONG_NAME = 'N'.repeat(490);
const LONG_URL = `${ORIGIN}/courses/77/${'deep'.repeat(480)}`;
const HOSTILE = '<img src=x onerror="document.title=1">';
const PAGE_CHANGES = 1_250;

/** A whole minute long ago, so that other sessions of the demo are not in it. */
const minute = (Math.floor(Date.now() / 60_000) - 300) * 60_000;
const at = (seconds: number) => new Date(minute + seconds * 1000).toISOString();
const run = randomUUID();
export const [it1, user, other, device] = [`ctx-${run}`, `ada-${run}`, `bob-${run}`, `device-${run}`];
const earlierId = (n: number) => `ctx-${n}-${run}`;

const begin = (id: string, startedAt: string, fields: object = {}) =>
  started(id, { startedAt, pageUrl: `${ORIGIN}/courses/77/start`, deviceFingerprint: device, ...fields });
const match = (id: string, userId: string, name: string, correlatedAt: string) =>
  correlated(id, userId, { user: { id: userId, name, email: `${userId}@example.edu` }, correlatedAt });

async function send(...facts: unknown[]): Promise<void> {
  const { status, body } = await dashboard.product.ingest(dashboard.integrationId, facts);
  expect([status, body]).toEqual([200, body]);
}

/** One session with everything that is hostile, fifteen earlier ones of its user, and a neighbour of somebody else. */
export async function furnish(): Promise<void> {
  for (let n = 1; n <= 15; n++) {
    const begun = at(-n * 3_600);
    await send(
      begin(earlierId(n), begun),
      happened(earlierId(n), [{ sequence: 1, timestamp: begun, eventCount: n }]),
      match(earlierId(n), user, LONG_NAME, begun),
      closed(earlierId(n), { closedAt: at(-n * 3_600 + 95) }),
      scored(earlierId(n), n / 20, { scoredAt: at(-n * 3_600 + 95) }),
    );
  }
  await dashboard.api('POST', `/v1/sessions/${earlierId(1)}/label`, { verdict: 'human' });
  await send(begin(`ctx-other-${run}`, at(30)), match(`ctx-other-${run}`, other, 'Bob of the device', at(31)));
  const changes = Array.from({ length: PAGE_CHANGES }, (_, n) => ({
    ...{ sequence: n + 10, type: 'navigation', timestamp: at(20 + n / 10), url: `${LONG_URL}/${n}` },
  }));
  // A request of facts has a limit.
  await send(begin(it1, at(5)));
  for (let from = 0; from < PAGE_CHANGES; from += 250) await send(happened(it1, changes.slice(from, from + 250)));
  await send(
    match(it1, user, LONG_NAME, at(6)),
    happened(it1, [
      {
        ...{ sequence: 0, type: 'clipboard', timestamp: at(7), url: LONG_URL },
        metadata: { kind: 'paste', length: 1_200, trusted: false },
      },
      {
        ...{ sequence: 1, type: 'form', timestamp: at(8), durationMs: 1_234 },
        metadata: {
          delayMs: 1_234,
          payloadBytes: 2_500,
          distancePx: 40.25,
          [HOSTILE]: HOSTILE,
          deep: { a: [1, { b: 2 }] },
        },
      },
    ]),
    scored(it1, 0.9, {
      ...{ scoredAt: at(200), ruleSetVersion: '2026.3', detectionFlags: ['zero-pressure', HOSTILE] },
      evidence: [
        finding('zero-pressure', { group: 'integrity', weight: 4.1, measured: 0.98765, moments: [at(12.25)] }),
        finding('exact-centre', { weight: 2, measured: 0.75, expected: 'below 0.6 of the presses' }),
        finding('page-jumps', { group: 'flow', state: 'notFound', measured: 0, weight: 0.3 }),
        finding('uniform-typing', { group: 'typing', state: 'notMeasured', measured: null, expected: null, weight: 2 }),
        finding(HOSTILE, { measured: HOSTILE, expected: LONG_NAME.slice(0, 200) }),
      ],
    }),
    closed(it1, { closedAt: at(210) }),
    anomaly(`odd-${run}`, { sessionId: it1, detectedAt: at(211), metadata: { distanceKm: 900, note: HOSTILE } }),
  );
}

const sectionOf = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
const searchOf = (href: string | null) => Object.fromEntries(new URL(href!, 'http://localhost').searchParams);

/** What stands next to a session, and its evidence for print. */
export function registerContextTests(): void {
  describe('the context of a session', () => {
    beforeAll(furnish);
    registerNeighbourTests();
    registerReportTests();
  });
}

function registerNeighbourTests(): void {
  describe('next to a session', () => {
    const visit = (look?: Parameters<typeof dashboard.visit>[1]) => dashboard.visit(`/sessions/${it1}`, look);

    it('are the user’s earlier sessions as small pictures, each a link, the latest of them', async () => {
      const page = await visit();
      const section = sectionOf(page, 'Earlier sessions');
      const cards = section.getByRole('listitem').getByRole('link');
      expect(await cards.count()).toBe(12);
      const first = cards.first();
      expect(await first.getAttribute('title')).toMatch(
        /^score 5, Human, labelled human, 1 min 35 s, began \d+ \w{3} \d{4}, \d\d:\d\d:\d\d UTC$/,
      );
      expect(await first.locator('svg rect').count()).toBe(24);
      const all = section.getByRole('link', { name: '12 of 15' });
      expect(searchOf(await all.getAttribute('href'))).toEqual({ userId: user });
      await first.click();
      await page.waitForURL(`${dashboard.base}/sessions/${earlierId(1)}`);
    });

    it('are other users of the device, and the course’s sessions of the same minute', async () => {
      const page = await visit();
      const users = sectionOf(page, 'Other users of the device');
      await users.getByText('1 other user in all 17 sessions of the device.').waitFor();
      const bob = users.getByRole('link', { name: 'Bob of the device', exact: true });
      expect(await bob.getAttribute('href')).toMatch(new RegExp(`/users/${other}$`));
      const sessions = users.getByRole('link', { name: '1 session of Bob of the device on the device' });
      expect(searchOf(await sessions.getAttribute('href'))).toEqual({ userId: other, fingerprint: device });
      const neighbours = sectionOf(page, 'Same course, same minute');
      await neighbours.getByRole('link', { name: /^Bob of the device, \d\d:\d\d:30$/ }).waitFor();
      await neighbours.getByRole('link', { name: '1 of 1' }).click();
      await page.waitForURL(/\/sessions\?courseId=/);
      await settle(page);
      const listed = page.locator('tbody a[href*="/sessions/"]');
      await expect.poll(() => listed.count()).toBe(2);
    });

    it('lead flags, device, course, user and origin to the list that they filter', async () => {
      const page = await visit();
      const facts = sectionOf(page, 'Who and where');
      const filters = await Promise.all(
        [
          facts.getByRole('link', { name: `Sessions of ${LONG_NAME}` }),
          facts.getByRole('link', { name: 'Sessions of the device' }),
          facts.getByRole('link', { name: ORIGIN, exact: true }),
          facts.getByRole('link', { name: 'Sessions of the course' }),
          page.getByRole('link', { name: 'Sessions with the flag: Presses without pressure' }),
        ].map(async (link) => searchOf(await link.getAttribute('href'))),
      );
      expect(filters).toEqual([
        { userId: user },
        { fingerprint: device },
        { origin: ORIGIN },
        { courseId: expect.any(String) },
        { detectionFlag: 'zero-pressure' },
      ]);
      const list = await dashboard.visit(`/sessions?userId=${user}`);
      const row = list.getByRole('row').filter({ has: list.locator(`a[href*="/sessions/${it1}"]`) });
      // It leads to the list, and does not select the row.
      await row.getByRole('link', { name: `Sessions of ${LONG_NAME}` }).waitFor();
      await row.getByRole('link', { name: 'Sessions with the flag: Presses without pressure' }).click();
      await list.getByRole('button', { name: /^Detection flag: zero-pressure/ }).waitFor();
      expect(new URL(list.url()).search).toBe('?detectionFlag=zero-pressure');
    });

    it('open events to all that is known of them, with units, and hostile values stay text', async () => {
      const page = await visit();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const events = sectionOf(page, 'Events');
      await events.getByRole('row').filter({ hasText: 'pasted, 1,200 characters' }).getByText('by a script').waitFor();
      const button = events.getByRole('button', { name: 'Details of event 1', exact: true });
      await button.focus();
      await page.keyboard.press('Enter');
      expect(await button.getAttribute('aria-expanded')).toBe('true');
      const details = events.locator('#event-1');
      const pairs = await details
        .locator('dl')
        .last()
        .locator(':scope > div')
        .evaluateAll((rows) =>
          rows.map((row) =>
            [...row.children].map((cell) => cell.firstElementChild?.firstElementChild?.textContent ?? cell.textContent),
          ),
        );
      expect(Object.fromEntries(pairs)).toEqual({
        ...{ delayMs: '1.2 s', payloadBytes: '2.5 KB', distancePx: '40.3 px', [HOSTILE]: HOSTILE },
        deep: JSON.stringify({ a: [1, { b: 2 }] }, null, 2),
      });
      expect(await page.locator('img[src="x"]').count()).toBe(0);
      await page.keyboard.press('Enter');
      await details.waitFor({ state: 'detached' });
      // A click anywhere in the row does the same.
      await events.getByRole('row').filter({ hasText: 'pasted' }).getByText('clipboard').click();
      const address = events.locator('#event-0').getByText(LONG_URL, { exact: true });
      const height = async () => (await address.boundingBox())!.height;
      expect(await height()).toBeLessThan(50);
      await events.getByRole('button', { name: 'Show all of the address' }).click();
      expect(await height()).toBeGreaterThan(80);
      await events.getByRole('button', { name: 'Copy the address' }).click();
      await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(LONG_URL);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    });

    it('show the time on each of 1,250 pages, some at a time', async () => {
      const page = await visit();
      const pages = sectionOf(page, 'Pages').first();
      await pages.getByText('1,251 pages').waitFor();
      const rows = pages.getByRole('listitem');
      expect(await rows.count()).toBe(50);
      expect((await rows.nth(0).innerText()).split('\n').at(-1)).toBe('15 s');
      expect((await rows.nth(1).innerText()).split('\n').at(-1)).toBe('100 ms');
      await pages.getByRole('button', { name: 'Show more of 1,251' }).click();
      await expect.poll(() => rows.count()).toBe(100);
      const phone = await visit({ role: 'viewer', width: 360 });
      expect(await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    });
  });
}

function registerReportTests(): void {
  describe('the evidence of a session', () => {
    const path = `/sessions/${it1}/evidence`;
    const open = () => dashboard.visit(path);
    const download = (page: Page, of = path) => page.context().request.get(`${dashboard.base}${of}/report.json`);

    it('is that of the session whose page is shown, whatever its id', async () => {
      const ids = ['user%40uni-7', 'user@uni-7', '50%zz'];
      const facts = ids.flatMap((id) => [started(id), closed(id)]);
      expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
      const page = await open();
      for (const id of ids) {
        const answer = await download(page, `/sessions/${encodeURIComponent(id)}/evidence`);
        expect([id, answer.status(), (await answer.json()).session?.id]).toEqual([id, 200, id]);
      }
    });

    it('has each value of its JSON, in words where words are better, and accuses nobody', async () => {
      const page = await open();
      const verdict = { sessionId: it1, verdict: 'bot', reasons: ['TooFast', 'PastedAnswers'], confidence: 'low' };
      await dashboard.change(page.context(), 'sessions.setVerdict', { ...verdict, notes: 'Asked twice' });
      await page.reload();
      const answer = await download(page);
      expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      expect(answer.headers()['content-disposition']).toContain(`filename="session-evidence-${it1}.json"`);
      const report = await answer.json();
      const asked = await dashboard.ask(page.context(), 'sessions.getEvidenceReport', { sessionId: it1 });
      const { generatedAt: _, ...shared } = report;
      expect((await asked.json()).result.data).toMatchObject(shared);

      const squeeze = (text: string) => text.replace(/\s+/g, ' ').toLowerCase();
      const shown = squeeze(await page.getByRole('article').innerText());
      const missing = listValues(shared).filter(({ value }) => !shown.includes(squeeze(value)));
      expect(missing).toEqual([]);
      expect(listValues(shared).length).toBeGreaterThan(150);
      for (const said of ['found: 3', 'not found: 1', 'not measured: 1', 'utc', '98.8 % of the presses (0.98765)'])
        expect(shown).toContain(said);
      expect(shown).not.toMatch(/cheat|guilt/);
      expect(JSON.stringify(report)).not.toMatch(/cheat|guilt/i);
      expect(await page.locator('img[src="x"]').count()).toBe(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    });

    it('is a document without script and, on paper, without navigation', async ({ onTestFinished }) => {
      const page = await open();
      onTestFinished(() => page.emulateMedia({ media: null }));
      const html = await (await page.context().request.get(`${dashboard.base}${path}`)).text();
      for (const said of ['What this does and does not show', 'Presses without pressure', 'not proof', 'report.json'])
        expect(html).toContain(said);
      expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(true);
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      expect(await page.getByRole('navigation').filter({ visible: true }).count()).toBe(0);
      expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0);
      expect(await page.getByRole('link').filter({ visible: true }).count()).toBe(0);
      expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(255, 255, 255)');
      const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
      // A4 in points.
      expect(pdf).toMatch(/\/MediaBox \[0 0 59\d\.\d+ 84\d\.\d+\]/);
    });

    it('prints with its button, and is there for signed-in staff of an integration that has the session', async () => {
      const page = await dashboard.visit(`/sessions/${it1}`, { role: 'viewer' });
      await page.getByRole('link', { name: 'Evidence report' }).click();
      await page.waitForURL(`${dashboard.base}${path}`);
      await settle(page);
      await page.evaluate(() => {
        window.print = () => document.body.setAttribute('data-printed', '');
      });
      await page.getByRole('button', { name: 'Print' }).click();
      await page.locator('body[data-printed]').waitFor();
      expect((await download(page, '/sessions/nobody/evidence')).status()).toBe(404);
      await dashboard.open({});
      const answer = await download(dashboard.page);
      expect([answer.status(), await answer.text()]).toEqual([401, expect.not.stringContaining(user)]);
    });
  });
}

/** Lists the values of a report as its page writes them. Null and false are said in words, which each place chooses itself. */
function listValues(part: unknown, name = ''): { name: string; value: string }[] {
  if (part === null || typeof part === 'boolean') return [];
  if (typeof part === 'object')
    return Object.entries(part).flatMap(([key, value]) => listValues(value, name === '' ? key : `${name}.${key}`));
  const text = String(part);
  if (/^\d{4}-\d\d-\d\dT.*Z$/.test(text))
    return [
      { name, value: name.includes('.moments.') ? text.slice(11, -1).replace(/\.000$/, '') : showUtcInstant(text) },
    ];
  if (name.includes('.reasons.')) return [{ name, value: REASON_WORDS[text as keyof typeof REASON_WORDS] }];
  if (/\.(state|kind)$/.test(name)) return [{ name, value: showName(text) }];
  return [{ name, value: text }];
}
