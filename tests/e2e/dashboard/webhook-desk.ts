import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createRandom, makeSessionFacts } from '../../../server/demo/session-facts';
import { intercept, settle } from '../../support/dashboard';
import { createGate } from '../../support/gate';
import { waitUntil } from '../../support/receiver';
import { dashboard, openSeparatePage, receiver } from './shared-dashboard';

const random = createRandom(18);
const STATES = ['Healthy', 'Failing', 'Disabled by failures', 'Disabled by hand', 'Disabled by the plan'];

async function sendBot(): Promise<string> {
  const { sessionId, facts } = makeSessionFacts('bot', Date.now(), random);
  expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
  return sessionId;
}
const subscribe = async (path: string): Promise<string> => {
  const body = { url: `${receiver.url}${path}`, eventType: 'BotDetected', name: `Desk ${path}` };
  return (await dashboard.api('POST', '/v1/webhooks', body)).body.data.id;
};
const patch = (id: string, body: unknown) => dashboard.api('PATCH', `/v1/webhooks/${id}`, body);
const deleteAll = async () => {
  for (const { id } of (await dashboard.api('GET', '/v1/webhooks')).body.data)
    await dashboard.api('DELETE', `/v1/webhooks/${id}`);
};
const isDisabled = async (id: string) => !(await dashboard.api('GET', `/v1/webhooks/${id}`)).body.data.enabled;
/** Fails three deliveries with an answer that is not retried, so that the webhook is disabled. */
async function disableByFailures(id: string) {
  await Promise.all([sendBot(), sendBot(), sendBot()]);
  await waitUntil(() => isDisabled(id));
}
const menuBadge = (page: Page) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Webhooks/ });

/** What administrators see of webhooks that fail, and what they do about it. */
export function registerWebhookDeskTests(): void {
  describe('the desk of webhooks', () => {
    const reset = () => {
      receiver.received.length = 0;
      receiver.answer = ({ path }) => (path === '/gone' ? 410 : 200);
      receiver.answerHeaders = {};
      receiver.answerBody = '';
    };
    beforeAll(async () => {
      reset();
      await deleteAll();
    });
    afterEach(async () => {
      // A page that is open asks for its webhook again and again.
      await dashboard.leave();
      await deleteAll();
      reset();
    });

    it('counts a webhook that failures disabled in the menu, and says on the list and the overview since when, why and what to do', async () => {
      const id = await subscribe('/gone');
      await disableByFailures(id);
      await sendBot();
      for (const path of ['/webhooks', '/overview']) {
        const page = await dashboard.visit(path);
        const banner = page.getByRole('region', { name: 'Desk /gone is disabled' });
        await banner.getByText(/was disabled by failures: nothing has been sent since .*20\d\d/).waitFor();
        await banner.getByText('The receiver says that this address is gone (410).').waitFor();
        await banner.getByText('Fix the receiver').waitFor();
        await banner.getByText('1 event was skipped since.').waitFor();
        expect(await banner.getByRole('link').getAttribute('href')).toContain(`/webhooks/${id}`);
        expect(await menuBadge(page).textContent()).toMatch(/Webhooks1, 1 disabled by failures/);
      }
      await deleteAll();
      const page = await dashboard.visit('/sessions');
      expect(await menuBadge(page).textContent()).toBe('Webhooks');
    });

    it('says of a webhook that is failing since when and why, before failures disable it', async () => {
      const isSeen = createGate();
      onTestFinished(isSeen.open);
      // The delivery is retried as long as the page needs.
      receiver.answer = () => (receiver.received.length === 1 ? 500 : isSeen.opened.then(() => 500));
      const id = await subscribe('/failing');
      await sendBot();
      const readStatus = async () => (await dashboard.api('GET', `/v1/webhooks/${id}`)).body.data.lastDeliveryStatus;
      await waitUntil(async () => (await readStatus()) === 'Pending');
      const page = await dashboard.visit('/overview');
      const banner = page.getByRole('region', { name: 'Desk /failing is failing' });
      await banner.getByText(/Failing since .*20\d\d.*no failure counts yet/).waitFor();
      expect(await menuBadge(page).textContent()).toMatch(/Webhooks1, 1 failing/);
    });

    it('offers to send what was skipped when it is enabled again, and sends each event once', async () => {
      const id = await subscribe('/gone');
      await disableByFailures(id);
      const skipped = [await sendBot(), await sendBot()];
      receiver.received.length = 0;
      receiver.answer = () => 200;
      const page = await dashboard.visit(`/webhooks/${id}`);
      await page.getByRole('region', { name: 'is disabled' }).getByText('2 events were skipped since.').waitFor();
      await page.getByRole('switch', { name: 'Enabled' }).check();
      const question = page.getByRole('alertdialog', { name: 'Send the events that were skipped?' });
      // Later, from the page.
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
      expect(receiver.received).toEqual([]);
      await page.getByRole('region', { name: 'Skipped events' }).getByRole('button', { name: 'Send them' }).click();
      await question.getByRole('button', { name: 'Send 2 events' }).click();
      await page.getByText('2 events sent.').waitFor();
      await waitUntil(() => receiver.received.length === 2);
      expect(receiver.received.map(({ body }) => JSON.parse(body).sessionId).sort()).toEqual([...skipped].sort());
      await page.getByRole('region', { name: 'Skipped events' }).waitFor({ state: 'detached' });
      await page.getByRole('status').getByText('Healthy: no failures in a row.').waitFor();
      await dashboard.visit('/settings?tab=audit');
      await page.getByText('2 skipped events sent to webhook Desk /gone').first().waitFor();
    });

    it('shows one state for each webhook, the same in list, panel and page', async () => {
      const gone = await subscribe('/gone');
      await disableByFailures(gone);
      receiver.answer = ({ path }) => (path === '/fails' ? 410 : 200);
      const [healthy, failing, off] = [await subscribe('/healthy'), await subscribe('/fails'), await subscribe('/off')];
      await sendBot();
      await waitUntil(async () => {
        const { body } = await dashboard.api('GET', '/v1/webhooks');
        return body.data.every(({ lastDeliveryStatus }: { lastDeliveryStatus: unknown }) => lastDeliveryStatus);
      });
      await patch(off, { enabled: false });
      await patch(failing, { name: `Desk /fails ${'x'.repeat(88)}` });
      const fresh = await subscribe('/fresh');
      const expected: [string, string, string][] = [
        [healthy, '/healthy', 'Healthy'],
        [failing, '/fails', 'Failing'],
        [gone, '/gone', 'Disabled by failures'],
        [off, '/off', 'Disabled by hand'],
        [fresh, '/fresh', 'No deliveries yet'],
      ];
      const page = await dashboard.visit('/webhooks');
      const words = [...STATES, 'No deliveries yet'];
      for (const [, path, state] of expected) {
        const row = page
          .getByRole('table', { name: 'Webhooks' })
          .locator('tbody tr')
          .filter({ hasText: `Desk ${path}` });
        const text = (await row.first().textContent())!;
        expect([path, ...words.filter((word) => text.includes(word))]).toEqual([path, state]);
      }
      expect(await menuBadge(page).textContent()).toBe('Webhooks2, 1 disabled by failures, 1 failing');
      for (const [id, path, state] of expected) {
        await dashboard.visit(`/webhooks?selected=${id}`);
        const panel = page.getByRole('complementary', { name: new RegExp(`^Desk ${path}`) });
        const text = (await panel.textContent())!;
        expect([path, ...words.filter((word) => text.includes(word))]).toEqual([path, state]);
      }
      await dashboard.visit(`/webhooks/${failing}`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
      await page.getByRole('heading', { level: 1 }).getByText('Failing').waitFor();
      await page.getByText(/Failing since .*20\d\d.* 1 failure in a row; 2 more disable it\./).waitFor();
      await page.getByText('The receiver says that this address is gone (410).').waitFor();
      // The strip of attempts says which part is which.
      expect(await page.getByText('Failed', { exact: true }).count()).toBeGreaterThan(0);
    });

    it('draws the attempts of each webhook in the list while it is open', async () => {
      const id = await subscribe('/drawn');
      const page = await openSeparatePage('viewer');
      await page.clock.install();
      await page.goto(`${dashboard.base}/webhooks?selected=${id}`);
      await settle(page);
      const strips = page.getByRole('img', { name: /attempts?[ .:]/i, includeHidden: true });
      const draws = (words: RegExp) =>
        expect
          .poll(() => strips.evaluateAll((all) => all.map((strip) => strip.ariaLabel)))
          .toEqual([expect.stringMatching(words), expect.stringMatching(words)]);
      await draws(/^No attempts yet/);
      await sendBot();
      await waitUntil(async () => {
        const { body } = await dashboard.api('GET', `/v1/webhooks/${id}`);
        return body.data.lastDeliveryStatus === 'Delivered';
      });
      await page.clock.fastForward(11_000);
      await draws(/^1 attempt: 1 delivered/);
    });

    it('names its deliveries by the words that they show, and selects one for each key, however quickly they come', async () => {
      const id = await subscribe('/gone');
      await disableByFailures(id);
      const page = await dashboard.visit(`/webhooks/${id}`);
      const rows = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
      await expect.poll(() => rows.count()).toBe(3);
      const second = rows.nth(1);
      await second.getByRole('button', { name: /^Failed, not retried, delivery / }).waitFor();
      // In one task, before the first one is rendered.
      await page.evaluate(() => {
        for (let press = 0; press < 2; press++)
          document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
      });
      await page.waitForURL(/[?&]delivery=/);
      expect(new URL(page.url()).searchParams.get('delivery')).toBe(await second.getAttribute('data-row'));
    });

    it('shows what became of a delivery also after later ones have pushed it beyond what the log has loaded', async () => {
      const id = await subscribe('/healthy');
      const page = await dashboard.visit(`/webhooks/${id}`);
      const log = { newest: 160, status: 'Pending' };
      const idOf = (n: number) => `dlv_${String(n).padStart(32, '0')}`;
      const makeDelivery = (n: number) => ({
        ...{ id: idOf(n), subscriptionId: id, eventId: null, eventType: 'BotDetected', test: false },
        ...{ status: log.status, failureClass: null, attempts: 1, resends: 0, createdAt: new Date().toISOString() },
        ...{ nextAttemptAt: null, finishedAt: null },
      });
      await intercept(page, '**/api/trpc/deliveries.list?*', (route) => {
        const { cursor } = JSON.parse(new URL(route.request().url()).searchParams.get('input')!);
        const first = cursor ? Number(cursor) : log.newest;
        const size = Math.min(first, 50);
        const pagination = { hasMore: first > size, limit: 50, ...(first > size && { nextCursor: `${first - size}` }) };
        const data = { data: Array.from({ length: size }, (_, n) => makeDelivery(first - n)), pagination };
        return route.fulfill({ json: { result: { data } } });
      });
      const rows = page.getByRole('table', { name: 'Deliveries' });
      const last = rows.locator(`tr[data-row="${idOf(111)}"]`);
      await last.getByText('Pending').waitFor();
      Object.assign(log, { newest: 161, status: 'Delivered' });
      await rows
        .locator(`tr[data-row="${idOf(161)}"]`)
        .getByText('Delivered')
        .waitFor();
      await last.getByText('Delivered').waitFor();
      // The rest of its page, and the page after it, when somebody asks for more.
      const count = () => rows.locator('tbody tr').count();
      expect(await count()).toBe(51);
      for (const more of [100, 150, 161]) {
        await page.getByRole('button', { name: 'Load more' }).click();
        await expect.poll(count).toBe(more);
      }
      expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
    });

    it('shows what the receiver answered as text, what was wrong and what to do', async () => {
      const hostile =
        '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\x1b[2J {"token":"t0psecret"}';
      const id = await subscribe('/raw');
      receiver.answer = () => 401;
      receiver.answerHeaders = { 'x-trace': 'abc', 'set-cookie': 'sid=1', 'x-html': '<b>bold</b>' };
      receiver.answerBody = hostile + 'x'.repeat(4_000);
      await sendBot();
      const page = await dashboard.visit(`/webhooks/${id}`);
      await page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr').first().click();
      const attempts = page.getByRole('region', { name: 'Attempts' });
      await attempts.getByText('The receiver refused the request as not genuine or not signed in (401).').waitFor();
      await attempts.getByText('Give it the present secret of this webhook').waitFor();
      await attempts.getByText('Answer to attempt 1').click();
      const headers = attempts.getByRole('region', { name: 'Headers of the answer' });
      await headers.getByText('x-trace: abc').waitFor();
      const text = (await headers.textContent())!;
      expect(text).toContain('set-cookie: [redacted]');
      expect(text).toContain('x-html: <b>bold</b>');
      const body = (await attempts.getByRole('region', { name: 'Body of the answer' }).textContent())!;
      expect(body).toContain('<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u241b[2J');
      expect(body).toContain('{"token":"[redacted]"}');
      expect(body.length).toBeLessThanOrEqual(2_048);
      await attempts.getByText('Only the first 2 KiB of the body are kept.').waitFor();
      expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    });
  });
}
