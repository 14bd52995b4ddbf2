import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { intercept, settle } from '../../support/dashboard';
import { closed, correlated, secondsAgo, started } from '../../support/facts';
import { dashboard, openSeparatePage } from './shared-dashboard';

const [session, user] = [`again-${randomUUID()}`, `user-${randomUUID()}`];
/** Until when the answers to the reads of a page count as new. */
const FRESH = '00:31';

const furnish = async () => {
  const facts = [
    started(session, { startedAt: secondsAgo(100), deviceFingerprint: `device-${user}` }),
    correlated(session, user),
    closed(session),
  ];
  expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
  const body = { url: 'https://example.com/hook', eventType: 'BotDetected', name: 'Read again', enabled: false };
  return (await dashboard.api('POST', '/v1/webhooks', body)).body.data.id as string;
};

/** What an open page reads again while nobody touches it. */
export function registerReadingAgainTests(): void {
  describe('a page that reads again', () => {
    it.each([
      ['sessions.listDeliveries', () => `/sessions/${session}`, 'text="Nothing was sent."'],
      ['users.listDevices', () => `/users/${user}`, '[aria-label="Devices"] li'],
      ['webhooks.getHealth', (id: string) => `/webhooks?selected=${id}`, 'text="Delivered"'],
    ])('keeps what it shows if %s fails, and says why', async (procedure, pathOf, shown) => {
      const id = await furnish();
      const page = await openSeparatePage('admin');
      await page.clock.install();
      await page.goto(`${dashboard.base}${pathOf(id)}`);
      await settle(page);
      const part = page.locator(shown).last();
      await part.waitFor();
      const refusal = { message: 'Not now', code: -32_603, data: { code: 'FORBIDDEN', httpStatus: 403 } };
      await intercept(page, `**/api/trpc/${procedure}?*`, (route) =>
        route.fulfill({ status: 403, json: { error: refusal } }),
      );
      await page.clock.fastForward(FRESH);
      await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
      const reason = page.getByRole('alert').filter({ hasText: 'Not now' });
      await reason.first().waitFor();
      expect(await part.isVisible()).toBe(true);
      await page.unrouteAll({ behavior: 'wait' });
      await reason.getByRole('button', { name: 'Try again' }).first().click();
      await reason.waitFor({ state: 'detached' });
      await dashboard.api('DELETE', `/v1/webhooks/${id}`);
    });

    it('does so while its session waits for a score, and no longer than ten minutes after its last change', async () => {
      await dashboard.api('DELETE', `/v1/webhooks/${await furnish()}`);
      const page = await openSeparatePage('viewer');
      let reads = 0;
      page.on('request', (request) => {
        if (request.url().includes('/api/trpc/sessions.')) reads++;
      });
      await page.clock.install();
      await page.goto(`${dashboard.base}/sessions/${session}`);
      await settle(page);
      reads = 0;
      await page.clock.runFor(2_000);
      await expect.poll(() => reads).toBeGreaterThan(0);
      await page.clock.fastForward('10:01');
      const countReads = async () => {
        reads = 0;
        for (let turn = 0; turn < 5; turn++) {
          await page.clock.runFor(2_000);
          // The answers to the reads before are there.
          await page.evaluate(() => fetch('/health'));
        }
        return reads;
      };
      await expect.poll(countReads).toBe(0);
    });
  });
}
