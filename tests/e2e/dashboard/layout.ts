import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { settle } from '../../support/dashboard';
import {
  alert,
  anomaly,
  closed,
  correlated,
  finding,
  happened,
  report,
  scored,
  secondsAgo,
  started,
  writing,
  writingEvidence,
} from '../../support/facts';
import { waitUntil } from '../../support/receiver';
import { fillPath, PAGES } from './pages';
import { dashboard, prepareOnce, receiver } from './shared-dashboard';

const WIDTHS = [1440, 1280, 390];
/** From this width on, a table must show its columns without being scrolled. */
const WIDE = 1280;
/** Where a list stands next to the menu and its table does not scroll. The last one is that of the widest page. */
const LIST_WIDTHS = [1024, 1112, 1200, 1280, 1366, 1440, 1600, 1680];
const PAGE_CHANGES = 1250;
/** As a page or a customer may send them: nothing in them breaks by itself. */
const LONG = 'ab'.repeat(1000);
const NOTES = LONG.slice(0, 1000);
const URL = `https://${'x'.repeat(60)}.example.edu/courses/course-v1:${'c'.repeat(400)}/${LONG}`.slice(0, 2000);
const NAME = `W${'w'.repeat(489)}`;
const MANY = Array.from({ length: 40 }, (_, at) => `flag-of-a-customer-${at}-${'f'.repeat(200)}`);

/** Fills an integration with the longest values that the product takes. Answers the address and the ids of its pages. */
async function fillIntegration() {
  const context = (await dashboard.open({ role: 'admin' })).context();
  const ask = async (procedure: string, input: unknown, of: string) =>
    (await (await dashboard.ask(context, procedure, input, of)).json()).result.data;
  const change = async (procedure: string, input: unknown, of?: string) => {
    const answer = await dashboard.change(context, procedure, input, of);
    expect(answer.status(), `${procedure}: ${await answer.text()}`).toBe(200);
    return (await answer.json()).result.data;
  };
  const { id: integrationId } = await change('integrations.create', { name: NAME.slice(0, 100), plan: 'enterprise' });
  const base = `${dashboard.product.url}/dashboard/${integrationId}`;
  const userId = `user-${'u'.repeat(250)}`;
  const fingerprint = `device-${'d'.repeat(240)}`;
  const flags = ['cdp-runtime', ...MANY];
  const visit = (sessionId: string, botScore: number) => [
    started(sessionId, { pageUrl: URL, userAgent: LONG, deviceFingerprint: fingerprint }),
    correlated(sessionId, userId, { user: { id: userId, name: NAME, email: `${'e'.repeat(300)}@example.edu` } }),
    scored(sessionId, botScore, {
      detectionFlags: flags,
      evidence: flags
        .slice(0, 20)
        .map((flag, at) => finding(flag, { expected: 'below 0.5', moments: [secondsAgo(50 - at)] })),
    }),
  ];
  const sessions = [`session-${'s'.repeat(240)}`, ...Array.from({ length: 12 }, (_, at) => `short-${at}`)];
  const changes = Array.from({ length: PAGE_CHANGES }, (_, at) => ({
    ...{ sequence: at + 1, type: 'navigation', url: `${URL.slice(0, 1990)}${at}` },
    ...(at < 3 && { metadata: { [`key-${'k'.repeat(200)}`]: LONG, nested: { deep: [LONG, { deeper: 1 }] } } }),
  }));
  const facts = [
    ...sessions.flatMap((id, at) => visit(id, at % 2 ? 0.95 : 0.55)),
    ...Array.from({ length: PAGE_CHANGES / 50 }, (_, at) =>
      happened(sessions[0]!, changes.slice(at * 50, at * 50 + 50)),
    ),
    closed(sessions[0]!),
    ...Array.from({ length: 3 }, (_, at) =>
      anomaly(`anomaly-${at}-${'n'.repeat(200)}`, {
        ...{ anomalyType: at ? `Type${'t'.repeat(120)}` : 'UserSwitch', sessionId: sessions[0], userId },
        metadata: { note: LONG, [`key${'k'.repeat(200)}`]: [LONG] },
      }),
    ),
    ...Array.from({ length: 3 }, (_, at) =>
      alert(`alert-${at}-${'n'.repeat(200)}`, { message: LONG, severity: `severity-${'s'.repeat(50)}`, alertUrl: URL }),
    ),
    report(`report-${'r'.repeat(200)}`, { reportName: NAME, templateId: `template-${'t'.repeat(200)}` }),
    writing(`writing-${'w'.repeat(200)}`, 0.9, {
      ...{ documentId: `document-${'d'.repeat(240)}`, wordCount: 2_000_000_000, browsingSessionId: sessions[0] },
      evidence: writingEvidence(),
    }),
  ];
  for (let at = 0; at < facts.length; at += 4) {
    const { status, body } = await dashboard.product.ingest(integrationId, facts.slice(at, at + 4));
    expect(status, JSON.stringify(body)).toBe(200);
  }
  for (const sessionId of sessions.slice(0, 6))
    await change('sessions.label', { sessionId, verdict: 'bot', confidence: 'high', notes: NOTES }, integrationId);
  await change('users.confirmDevice', { userId, fingerprint, notes: NOTES }, integrationId);
  const { id: webhook } = await change(
    ...([
      'webhooks.create',
      { url: `${receiver.url}/${LONG}`, eventType: 'BotDetected', name: NAME.slice(0, 100) },
    ] as const),
    integrationId,
  );
  const { id: rule } = await change(
    'alertRules.create',
    {
      ...{
        name: NAME.slice(0, 100),
        metric: 'botShare',
        scope: { kind: 'user', value: userId },
        windowMinutes: 10_080,
      },
      ...{ comparison: 'gte', value: 1, minSessions: 1, severity: 'high', message: LONG.slice(0, 500), enabled: false },
    },
    integrationId,
  );
  const first = async (procedure: string, input = {}) =>
    (await ask(procedure, { ...input, pageSize: 1 }, integrationId)).data[0].id;
  await change('webhooks.test', { id: webhook }, integrationId);
  const sent = [started('sent'), closed('sent'), scored('sent', 0.95)];
  expect((await dashboard.product.ingest(integrationId, sent)).status).toBe(200);
  await waitUntil(async () => (await ask('webhooks.get', { id: webhook }, integrationId)).lastDeliveryStatus !== null);
  const [course, delivery] = [await first('courses.list'), await first('deliveries.list', { id: webhook })];
  const ids = {
    ...{
      session: sessions[0]!,
      written: sessions[0]!,
      recorded: sessions[0]!,
      user: userId,
      course,
      webhook,
      delivery,
      rule,
    },
    alert: `alert-0-${'n'.repeat(200)}`,
  };
  return { base, ids };
}

/** Lists what is clipped, spilled or sideways on a page. Runs in the page. */
function findFaults(wide: boolean): string[] {
  // Labels are centred on the edge of a chart.
  const tolerancePx = 4;
  const faults: string[] = [];
  const name = (element: Element) =>
    `${element.tagName.toLowerCase()}.${String(element.getAttribute('class')).slice(0, 80)} “${element.textContent?.slice(0, 30)}”`;
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) faults.push(`the page is ${root.scrollWidth} of ${root.clientWidth} wide`);
  let bottom = 0;
  for (const element of document.body.querySelectorAll<HTMLElement>('*')) {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    // Text for screen readers alone is one pixel large.
    if (box.width <= 1 || box.height <= 1 || style.visibility === 'hidden' || element.closest('svg, .sr-only'))
      continue;
    bottom = Math.max(bottom, box.bottom + window.scrollY);
    if (element.clientWidth === 0 || element.scrollWidth <= element.clientWidth + tolerancePx) continue;
    const isCut = style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none';
    const titled = [element.closest('[title]'), ...element.querySelectorAll('[title]')];
    // What is cut in a summary shows whole when it is opened.
    const isShownWhole = element.closest('summary') ?? titled.some((one) => one?.getAttribute('title'));
    if (style.textOverflow === 'ellipsis' && !isShownWhole) faults.push(`is cut and has no title: ${name(element)}`);
    const scrolls = style.overflowX === 'auto' || style.overflowX === 'scroll';
    if (scrolls && (!wide || element.matches('pre, code, textarea, input'))) continue;
    if (isCut && style.overflowX !== 'visible') continue;
    if (element.matches('input, select, textarea')) continue;
    faults.push(
      `${scrolls ? 'scrolls sideways' : style.overflowX === 'visible' ? 'spills' : 'is clipped'}: ${name(element)}, ${element.scrollWidth} in ${element.clientWidth}`,
    );
  }
  if (root.scrollHeight > Math.max(bottom, window.innerHeight) + 60)
    faults.push(`the page ends at ${bottom}, but scrolls to ${root.scrollHeight}`);
  return faults.slice(0, 8);
}

async function measure(page: Page, address: string): Promise<string[]> {
  await page.goto(address);
  await settle(page);
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    for (const fault of await page.evaluate(findFaults, width >= WIDE)) faults.push(`${width}: ${fault}`);
  }
  return faults;
}

/** Puts the longest words of its kind into each cell of the lists. Runs in the page. */
function lengthenCells() {
  const kinds = [
    ['Failed after six attempts', /^(Delivered|None yet)$/],
    ['Disabled by failures', /^(Healthy|Failing|No deliveries yet)$/],
    ['SessionCorrelated', /^BotDetected$/],
    ['59 min ago', / ago$|^just now$/],
    ['Acknowledged', /^Open$/],
    ['Labelled human', /^Labelled bot$/],
    ['Medium', /^(Bot|Human)$/],
    ['9,999', /^\d{1,3}$/],
  ] as const;
  const texts = document.createTreeWalker(document.querySelector('tbody')!, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { nodeValue } = texts.currentNode;
    const kind = kinds.find(([, words]) => words.test(nodeValue ?? ''));
    if (kind) texts.currentNode.nodeValue = kind[0];
  }
}

/** Whether a control lies in the window and nothing covers it. */
const isShown = (control: Locator) =>
  control.evaluate((element) => {
    const { top, bottom, left, width } = element.getBoundingClientRect();
    const found = document.elementFromPoint(left + width / 2, (top + bottom) / 2);
    return top >= 0 && bottom <= window.innerHeight && element.contains(found);
  });

/** No value, however long, breaks a page. */
export function registerLayoutTests(): void {
  const obtainIntegration = prepareOnce(fillIntegration);
  describe('values of 200 to 2,000 letters and 1,250 page changes clip and spill nothing, at 1440, 1280 and 390 pixels', () => {
    it.each(PAGES)('%s', async (path) => {
      const { base, ids } = await obtainIntegration();
      const page = await dashboard.open({ role: 'admin', width: WIDTHS[0]! });
      expect(await measure(page, `${base}${fillPath(path, ids)}`)).toEqual([]);
    });
  });

  describe('the longest words of every column fit into a list, with and without the details of a row next to it', () => {
    it.each([
      ['/sessions', 'session'],
      ['/users', 'user'],
      ['/courses', 'course'],
      ['/webhooks', 'webhook'],
      ['/alerts', 'alert'],
      ['/alerts?tab=rules', 'rule'],
    ] as const)('%s', async (path, kind) => {
      const { base, ids } = await obtainIntegration();
      const page = await dashboard.open({ role: 'admin' });
      const faults: string[] = [];
      const list = `${base}${path}`;
      const row = `${list}${path.includes('?') ? '&' : '?'}selected=${encodeURIComponent(ids[kind])}`;
      for (const address of [list, row]) {
        await page.goto(address);
        await settle(page);
        for (const width of LIST_WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
          await page.evaluate(lengthenCells);
          const table = page.locator('table').first();
          const [needed, room] = await table.evaluate((one: HTMLElement) => [
            one.offsetWidth,
            one.parentElement!.clientWidth,
          ]);
          if (needed! > room!) faults.push(`${width}${address === row ? ' with details' : ''}: ${needed} in ${room}`);
        }
      }
      expect(faults).toEqual([]);
    });
  });

  it('the names of integrations fit into the menu of a phone', async () => {
    const { base } = await obtainIntegration();
    const page = await dashboard.open({ role: 'admin', width: 390 });
    await page.goto(`${base}/users`);
    await settle(page);
    await page.getByRole('button', { name: 'Menu' }).click();
    const sheet = page.getByRole('dialog', { name: 'Menu' });
    await sheet.getByRole('button', { name: /, switch integration$/ }).click();
    await sheet.getByRole('link', { name: /^Demo University/ }).waitFor();
    expect(await sheet.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  });

  describe('in a low window, as with a zoomed page', () => {
    it('the rail scrolls, and has the account below it', async () => {
      const page = await dashboard.visit('/users', { role: 'admin', width: 1280, height: 360 });
      const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
      const account = page.getByRole('button', { name: /, account$/ });
      for (const link of [links.last(), links.first()]) {
        await link.focus();
        expect(await isShown(link)).toBe(true);
        expect(await isShown(account)).toBe(true);
      }
    });

    it('the reasons for a verdict scroll above the buttons of the review', async () => {
      const page = await dashboard.open({ role: 'admin', width: 320, height: 256 });
      const input = { name: 'Low', plan: 'pro' };
      const created = await dashboard.change(page.context(), 'integrations.create', input);
      const { id } = (await created.json()).result.data;
      const facts = ['one', 'two'].flatMap((session) => [started(session), scored(session, 0.9), closed(session)]);
      expect((await dashboard.product.ingest(id, facts)).status).toBe(200);
      await page.goto(`${dashboard.product.url}/dashboard/${id}/review`);
      await settle(page);
      await page.keyboard.press('b');
      const strip = page.getByRole('region', { name: 'Reasons for the last verdict' });
      const undo = strip.getByRole('button', { name: 'Undo' });
      await undo.waitFor();
      expect(await isShown(undo)).toBe(true);
      const explain = strip.getByRole('button', { name: /^Notes and confidence/ });
      await explain.focus();
      expect(await isShown(explain)).toBe(true);
      expect(await isShown(page.getByRole('toolbar', { name: 'Review' }).getByRole('button', { name: 'Bot' }))).toBe(
        true,
      );
    });
  });
}
