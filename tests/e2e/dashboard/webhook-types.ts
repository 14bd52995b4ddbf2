import { createHmac, randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { settle } from '../../support/dashboard';
import { POLL_LIMIT_MS } from '../../support/limits.mjs';
import { waitUntil } from '../../support/receiver';
import { dashboard, receiver } from './shared-dashboard';

const TYPES = [
  ...['AlertTriggered', 'BotDetected', 'ReportReady'],
  ...['SessionAnomaly', 'SessionCorrelated', 'WritingSessionScored'],
];
const PATH = '/every-type';
const ESSAY = 'Black plants would absorb nearly all visible light. They would grow warmer and lose more water. '.repeat(
  4,
);

/** The payloads that arrived, by type. */
const listTold = (type: string) =>
  receiver.received.filter(({ path, headers }) => path === PATH && headers['x-webhook-event'] === type);
/** Waits for a webhook whose payload has these fields, and answers the payload. */
async function expectTold(type: string, fields: object) {
  const find = () =>
    listTold(type)
      .map(({ body }) => JSON.parse(body))
      .find((payload) => expect.objectContaining(fields).asymmetricMatch(payload));
  const told = () => listTold(type).map(({ body }) => body);
  await waitUntil(
    () => find() !== undefined,
    POLL_LIMIT_MS,
    () => `${type} ${JSON.stringify(fields)} is not among ${told().join('\n')}`,
  );
  return find();
}

/** Changes something, as an admin. */
async function change(page: Page, procedure: string, input = {}) {
  const answer = await dashboard.change(page.context(), procedure, input);
  expect(answer.status(), await answer.text()).toBe(200);
  return (await answer.json()).result.data;
}

/** What happens on a page with the pixel, up to the webhooks. */
export function registerWebhookTypeTests(): void {
  describe('what a program does on a page', () => {
    afterEach(async () => {
      // The demo page asks for its verdict again and again.
      await dashboard.leave();
      for (const { id } of (await dashboard.api('GET', '/v1/webhooks')).body.data)
        await dashboard.api('DELETE', `/v1/webhooks/${id}`);
    });
    it('leads to every type of webhook', async () => {
      for (const eventType of TYPES) {
        const body = { url: `${receiver.url}${PATH}`, eventType };
        expect((await dashboard.api('POST', '/v1/webhooks', body)).status).toBe(200);
      }
      const page = await dashboard.visit('/reports');
      // Tests before have set others.
      await change(page, 'sites.setOrigins', { allowedOrigins: [dashboard.product.url] });
      const { identitySecret } = await change(page, 'sites.rotateIdentitySecret');
      const rule = { name: 'A bot', metric: 'botSessions', windowMinutes: 5, comparison: 'gte', value: 1 };
      const shown = { scope: { kind: 'integration' }, severity: 'low', message: 'Every type: {{value}}' };
      const { id: ruleId } = await change(page, 'alertRules.create', { ...rule, ...shown });

      // As the customer's server signs them.
      const users = ['ada', 'bob'].map((name) => `${name}-${randomUUID()}`);
      const identify = (id: string) =>
        page.evaluate((user) => (window as unknown as { botPixel: unknown[] }).botPixel.push(['identify', user]), {
          id,
          hash: createHmac('sha256', identitySecret).update(id).digest('hex'),
        });
      const [first, second] = users as [string, string];
      await page.goto(`${dashboard.product.url}/demo`);
      await settle(page);
      await identify(first);
      await expectTold('SessionCorrelated', { userId: first, correlationConfidence: 1 });
      await page.getByLabel(/what would change/).fill(ESSAY);
      await page.getByRole('button', { name: 'Hand in the essay' }).click();
      await identify(second);
      const anomaly = await expectTold('SessionAnomaly', { anomalyType: 'UserSwitch', userId: second });
      await page.getByRole('button', { name: 'End this session' }).click();
      await page.getByText('The session is closed.').waitFor();
      const { sessionId } = anomaly;
      const bot = await expectTold('BotDetected', { sessionId });
      // Two users had the tab, so the text is nobody's.
      const writing = await expectTold('WritingSessionScored', { documentId: 'demo-essay', userId: null });
      expect([bot.botScore > 0.9, writing.aiScore > 0.9]).toEqual([true, true]);
      await expectTold('AlertTriggered', { message: expect.stringMatching(/^Every type: \d+$/) });
      await change(page, 'alertRules.delete', { id: ruleId });

      // What the session became is in the dashboard, and in a report.
      await page.getByRole('link', { name: 'Open in the dashboard' }).click();
      await page.getByText(second).first().waitFor();
      await page.goto(`${dashboard.base}/reports`);
      await settle(page);
      await page.getByRole('button', { name: 'Request a report' }).click();
      const dialog = page.getByRole('dialog', { name: 'Request a report' });
      await dialog.getByLabel('Template').selectOption('User evidence file');
      await dialog.getByLabel('User').fill(second);
      await dialog.getByLabel('Name').fill('Evidence of Bob');
      await dialog.getByRole('button', { name: 'Request report' }).click();
      const { downloadUrl } = await expectTold('ReportReady', { reportName: 'Evidence of Bob' });
      const file = await page.context().request.get(downloadUrl);
      expect([file.status(), await file.text()]).toEqual([200, expect.stringContaining(sessionId)]);
    });
  });
}
