import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scoredSession } from '../support/facts';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// The engine promises to deliver each event at least once. If one comes twice, the rows still decide what is due.

const RETRY_DELAY_MS = 3_000;
const COPIES = 5;

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_TIMEOUT: '10s',
    WEBHOOK_RETRY_DELAYS: `0s,${RETRY_DELAY_MS}ms,1m,1m,1m,1m`,
  });
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

it('an engine event that comes several times makes one attempt', async () => {
  const tenant = await server.createTenant();
  const body = { url: receiver.url, eventType: 'BotDetected' };
  const created = await server.call('POST', '/v1/webhooks', { key: tenant.key, body });
  const subscription = { integrationId: tenant.id, subscriptionId: created.body.data.id as string };
  const answers: ((status: number) => void)[] = [];
  receiver.answer = () => new Promise((answer) => answers.push(answer));
  /** Gives the engine copies of an event, in one request and one by one. */
  const repeat = async (name: string, data: object) => {
    const event = { name, data };
    for (const events of [
      Array.from({ length: COPIES }, () => event),
      ...Array.from({ length: COPIES }, () => event),
    ]) {
      const sent = await server.service.engine!.fetch('http://engine.invalid/e/key', {
        method: 'POST',
        body: JSON.stringify(events),
      });
      expect(sent.status).toBe(200);
    }
  };
  const readRow = async () => {
    const [row] = await server.database.db.sql`
      select id, status, attempts, lease, next_attempt_at as "dueAt",
             (select count(*)::int from webhook_attempts a where a.delivery_id = d.id) as logged
        from webhook_deliveries d where integration_id = ${tenant.id}`;
    return row!;
  };

  expect((await server.ingest(tenant.id, scoredSession(0.95).facts)).status).toBe(200);
  await receiver.waitFor(1);
  await repeat('webhook/subscription.due', subscription);
  await sleep(500);
  expect(receiver.received).toHaveLength(1);

  answers[0]!(500);
  await waitUntil(async () => (await readRow()).lease === null);
  const { id: deliveryId, dueAt } = await readRow();
  const retry = { ...subscription, deliveryId, attempt: 2 };
  await repeat('webhook/delivery.retry', { ...retry, dueAt });
  await repeat('webhook/subscription.due', subscription);
  // An event with an earlier time changes nothing either.
  await repeat('webhook/delivery.retry', { ...retry, dueAt: new Date(Date.now() - 1_000).toISOString() });
  await receiver.waitFor(2);
  expect(receiver.received[1]!.at - Date.parse(dueAt)).toBeGreaterThanOrEqual(-10);
  expect(receiver.received[1]!.at - Date.parse(dueAt)).toBeLessThan(1_500);
  await repeat('webhook/delivery.retry', { ...retry, dueAt });
  await sleep(500);
  expect(await readRow()).toMatchObject({ status: 'Pending', attempts: 2, logged: 1 });

  answers[1]!(200);
  await waitUntil(async () => (await readRow()).status === 'Delivered');
  await repeat('webhook/delivery.retry', { ...retry, dueAt });
  await repeat('webhook/delivery.retry', { ...retry, attempt: 3, dueAt });
  await repeat('webhook/subscription.due', subscription);
  await sleep(1_000);
  expect(await readRow()).toMatchObject({ status: 'Delivered', attempts: 2, logged: 2 });
  expect(receiver.received).toHaveLength(2);
}, 30_000);
