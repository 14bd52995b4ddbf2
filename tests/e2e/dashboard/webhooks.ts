import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRandom, makeSessionFacts } from '../../../server/demo/session-facts';
import { expectSigned, waitUntil } from '../../support/receiver';
import { dashboard, receiver } from './shared-dashboard';

const SECRET = /whsec_[A-Za-z0-9+/]{43}=/;

/** Paths that answer 500. */
const broken = new Set<string>();
const SIX_ATTEMPTS_MS = 30_000;

const deleteAll = async () => {
  for (const { id } of (await dashboard.api('GET', '/v1/webhooks')).body.data)
    await dashboard.api('DELETE', `/v1/webhooks/${id}`);
};

const random = createRandom(7);
const arrived = (path: string) => receiver.received.filter((received) => received.path === path);
const waitForArrival = (path: string, count = 1) => waitUntil(() => arrived(path).length >= count);

/** Creates a bot session and returns its id. */
async function sendBot(): Promise<string> {
  const { sessionId, facts } = makeSessionFacts('bot', Date.now(), random);
  expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
  return sessionId;
}

async function subscribe(path: string): Promise<{ id: string; secret: string }> {
  const body = { url: `${receiver.url}${path}`, eventType: 'BotDetected', name: `Bots to ${path}` };
  return (await dashboard.api('POST', '/v1/webhooks', body)).body.data;
}

/** Finds the rows of the delivery log that contain these words. */
const logged = (page: Page, ...words: string[]) =>
  words.reduce(
    (rows, hasText) => rows.filter({ hasText }),
    page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr'),
  );

/** Webhooks and their deliveries. */
export function registerWebhookTests(): void {
  describe('a webhook', () => {
    beforeAll(async () => {
      receiver.answer = ({ path }) => (broken.has(path) ? 500 : 200);
      await deleteAll();
    });
    afterEach(async () => {
      // A page that is open asks for its webhook again and again.
      await dashboard.leave();
      await deleteAll();
    });

    it('is created in the form, shows its secret once, and its first delivery appears in the log without reload', async () => {
      const page = await dashboard.visit('/webhooks/new', { role: 'admin', provokes: /status of 400/ });
      const url = page.getByLabel('URL');
      const expectRefused = async (words: RegExp) => {
        await page.getByRole('alert').filter({ hasText: words }).waitFor();
        expect(await url.getAttribute('aria-invalid')).toBe('true');
      };
      for (const [refused, words] of [
        ['ftp://hooks.example.com/', /must start with http/],
        ['http://localhost/hook', /local or cloud metadata host/],
      ] as const) {
        await url.fill(refused);
        expect(await url.getAttribute('aria-invalid')).toBe(null);
        await page.getByRole('button', { name: 'Create webhook' }).click();
        await expectRefused(words);
      }
      expect((await dashboard.api('GET', '/v1/webhooks')).body.data).toEqual([]);

      await url.fill(`${receiver.url}/created`);
      await page.getByLabel('Name').fill('Bots to the gradebook');
      await page.getByRole('button', { name: 'Create webhook' }).click();
      const dialog = page.getByRole('dialog', { name: 'The signing secret' });
      const secret = (await dialog.getByText(SECRET).textContent())!;
      await page.keyboard.press('Escape');
      await dialog.getByRole('alert').getByText('Not closed: it would be lost.').waitFor();
      await dialog.getByRole('button', { name: 'I have stored it' }).click();
      await page.getByRole('link', { name: 'Open webhook' }).click();
      await page.getByText('Nothing was sent yet', { exact: true }).waitFor();
      expect(await page.content()).not.toContain(secret);

      await page.evaluate(() => Object.assign(window, { isSamePage: true }));
      const sessionId = await sendBot();
      await logged(page, 'Delivered').waitFor();
      await waitForArrival('/created');
      expectSigned(arrived('/created')[0]!, secret);
      await logged(page, 'Delivered').click();
      await page.getByText(`"sessionId": "${sessionId}"`).first().waitFor();
      await page.getByText(`POST ${receiver.url}/created`).waitFor();
      await page.getByText('Healthy: no failures in a row.').waitFor();
      expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true);
      expect(await page.content()).not.toContain(secret);
    });

    it('previews which events a condition would let through, while it is edited', async () => {
      await sendBot();
      const page = await dashboard.visit('/webhooks/new');
      const summary = page.getByRole('status').filter({ hasText: 'of the newest' });
      const total = Number(/of the newest (\d+)/.exec((await summary.textContent())!)?.[1]);
      expect(total).toBeGreaterThan(0);
      await summary.filter({ hasText: `${total} of the newest ${total} would be sent, 0 skipped.` }).waitFor();
      await page.getByRole('group', { name: 'Threshold' }).getByRole('checkbox').check();
      await page.getByLabel('Field of the payload').fill('botScore');
      await page.getByLabel('Value', { exact: true }).fill('0.7');
      await page.getByLabel('Operator').selectOption('lt');
      await summary.filter({ hasText: `0 of the newest ${total} would be sent, ${total} skipped.` }).waitFor();
      await page.getByLabel('Operator').selectOption('gte');
      await summary.filter({ hasText: `${total} of the newest ${total} would be sent, 0 skipped.` }).waitFor();
    });

    it('is saved with what was edited, and keeps what somebody else changed meanwhile', async () => {
      const { id } = await subscribe('/edited');
      const page = await dashboard.visit(`/webhooks/${id}/edit`);
      await page.getByLabel('Name').fill('Renamed');
      const url = `${receiver.url}/moved`;
      expect((await dashboard.api('PATCH', `/v1/webhooks/${id}`, { url })).status).toBe(200);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved. It applies from the next attempt on.').waitFor();
      expect((await dashboard.api('GET', `/v1/webhooks/${id}`)).body.data).toMatchObject({ name: 'Renamed', url });
    });

    it('changes its name with the event type, if that was its name', async () => {
      const { id } = await subscribe('/retyped');
      await dashboard.api('PATCH', `/v1/webhooks/${id}`, { name: 'BotDetected' });
      const page = await dashboard.visit(`/webhooks/${id}/edit`);
      await page.getByLabel('Event type').selectOption('ReportReady');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved. It applies from the next attempt on.').waitFor();
      const { body } = await dashboard.api('GET', `/v1/webhooks/${id}`);
      expect(body.data).toMatchObject({ eventType: 'ReportReady', name: 'ReportReady' });
    });

    it('is tested with a button that shows the result', async () => {
      const { id, secret } = await subscribe('/tested');
      const page = await dashboard.visit(`/webhooks/${id}`);
      await page.getByRole('button', { name: 'Send test' }).click();
      const dialog = page.getByRole('dialog', { name: 'Test delivery' });
      await dialog.getByText('Delivered').waitFor();
      await dialog.getByText('200', { exact: true }).waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await logged(page, 'Delivered', 'test').waitFor();
      expect(arrived('/tested')).toHaveLength(1);
      expect(arrived('/tested')[0]!.headers['x-webhook-test']).toBe('true');
      expectSigned(arrived('/tested')[0]!, secret);
    });

    it('is signed with the new secret after it was rotated', async () => {
      const { id, secret } = await subscribe('/rotated');
      const page = await dashboard.visit(`/webhooks/${id}`);
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      const question = page.getByRole('alertdialog');
      await question.getByText('The new secret is shown once').waitFor();
      await question.getByRole('button', { name: 'Rotate secret' }).click();
      const rotated = (await page.getByRole('dialog').getByText(SECRET).textContent())!;
      expect(rotated).not.toBe(secret);
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await page.getByText(SECRET).waitFor({ state: 'detached' });
      await sendBot();
      await waitForArrival('/rotated');
      expectSigned(arrived('/rotated')[0]!, rotated);
    });

    it('also carries the signature of the old secret until the time that was chosen', async () => {
      const { id, secret } = await subscribe('/graceful');
      const page = await dashboard.visit(`/webhooks/${id}`);
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      const question = page.getByRole('alertdialog');
      await question.getByLabel('The old secret ends').selectOption('In a day');
      await question.getByRole('button', { name: 'Rotate secret' }).click();
      const rotated = (await page.getByRole('dialog').getByText(SECRET).textContent())!;
      await page.getByRole('dialog').getByText('a receiver may verify by either').waitFor();
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await sendBot();
      await waitForArrival('/graceful');
      const [request] = arrived('/graceful');
      expectSigned(request!, rotated);
      const previous = { ...request!.headers, 'x-webhook-signature': request!.headers['x-webhook-signature-previous'] };
      expectSigned({ ...request!, headers: previous }, secret);
    });

    it('explains that three failed deliveries in a row disabled it; enabled and resent, the delivery arrives', async () => {
      const path = `/broken/${randomUUID()}`;
      const { id, secret } = await subscribe(path);
      broken.add(path);
      const page = await dashboard.visit(`/webhooks/${id}`);
      await page.evaluate(() => Object.assign(window, { isSamePage: true }));
      await sendBot();
      // Six attempts take a busy machine long.
      await page.getByText('1 failure in a row; 2 more disable it.').waitFor({ timeout: SIX_ATTEMPTS_MS });
      await Promise.all([sendBot(), sendBot()]);
      await page
        .getByText('was disabled by failures: nothing has been sent since')
        .waitFor({ timeout: SIX_ATTEMPTS_MS });
      await expect.poll(() => logged(page, 'Failed after six attempts', '5xx').count()).toBe(3);
      expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true);
      expect(arrived(path)).toHaveLength(18);
      expect((await dashboard.api('GET', `/v1/webhooks/${id}`)).body.data).toMatchObject({
        enabled: false,
        disabledReason: 'auto:consecutive-failures',
        disabledFailureClass: '5xx',
      });

      const oldest = logged(page, 'Failed after six attempts').last();
      await oldest.click();
      await page.getByText('The webhook is disabled: enable it first.').waitFor();
      broken.delete(path);
      // Read in the same task, before the change is sent.
      const stays = await page.getByRole('switch', { name: 'Enabled' }).evaluate((control: HTMLInputElement) => {
        control.click();
        return control.checked;
      });
      expect(stays).toBe(true);
      await page.getByText('Enabled. What waited is sent now.').waitFor();
      // A banner that goes later would move the button.
      expect(await page.getByText('was disabled by failures').count()).toBe(0);
      await page.getByRole('button', { name: 'Resend' }).click();
      await logged(page, 'Delivered', 'resent 1×').waitFor();
      const [again] = arrived(path).slice(18);
      const [first] = arrived(path);
      expectSigned(again!, secret);
      expect([again!.body, again!.headers['x-webhook-delivery-id']]).toEqual([
        first!.body,
        first!.headers['x-webhook-delivery-id'],
      ]);
      await page.getByText('Healthy: no failures in a row.').waitFor();
    });

    it('asks before deletion, and is then gone from API and list', async () => {
      const { id } = await subscribe('/deleted');
      const page = await dashboard.visit(`/webhooks/${id}`);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('alertdialog').waitFor({ state: 'detached' });
      expect((await dashboard.api('GET', `/v1/webhooks/${id}`)).status).toBe(200);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete webhook' }).click();
      await page.waitForURL(`${dashboard.base}/webhooks`);
      await page.getByText('Bots to /deleted is deleted').waitFor();
      expect((await dashboard.api('GET', `/v1/webhooks/${id}`)).status).toBe(404);
    });
  });
}
