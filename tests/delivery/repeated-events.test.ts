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

/** Makes a tenant with a subscription. */
async function subscribe() {
  const tenant = await server.createTenant();
  const body = { url: receiver.url, eventType: 'BotDetected' };
  const created = await server.call('POST', '/v1/webhooks', { key: tenant.key, body });
  return { tenant, subscription: { integrationId: tenant.id, subscriptionId: created.body.data.id as string } };
}

it('300 events to one subscription are delivered once each', async () => {
  const { tenant } = await subscribe();
  const sessions = Array.from({ length: 300 }, () => scoredSession(0.9));
  await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      server.ingest(
        tenant.id,
        sessions.slice(n * 10, n * 10 + 10).flatMap(({ facts }) => facts),
      ),
    ),
  );
  await waitUntil(async () => {
    const [row] = await server.database.db.sql`select count(*)::int as n from webhook_deliveries
      where integration_id = ${tenant.id} and status = 'Delivered'`;
    return row!.n === 300;
  });
  const ids = receiver.received.map(({ body }) => JSON.parse(body).sessionId);
  expect(ids.sort()).toEqual(sessions.map(({ sessionId }) => sessionId).sort());
  receiver.received.length = 0;
});

it('an engine event that comes several times makes one attempt', async () => {
  const { tenant, subscription } = await subscribe();
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
  const { dueAt } = await readRow();
  await repeat('webhook/retry.scheduled', { ...subscription, dueAt });
  await repeat('webhook/subscription.due', subscription);
  // An event with an earlier time changes nothing either.
  await repeat('webhook/retry.scheduled', { ...subscription, dueAt: new Date(Date.now() - 1_000).toISOString() });
  await receiver.waitFor(2);
  expect(receiver.received[1]!.at - Date.parse(dueAt)).toBeGreaterThanOrEqual(-10);
  expect(receiver.received[1]!.at - Date.parse(dueAt)).toBeLessThan(1_500);
  await repeat('webhook/retry.scheduled', { ...subscription, dueAt });
  await sleep(500);
  expect(await readRow()).toMatchObject({ status: 'Pending', attempts: 2, logged: 1 });

  answers[1]!(200);
  await waitUntil(async () => (await readRow()).status === 'Delivered');
  await repeat('webhook/retry.scheduled', { ...subscription, dueAt });
  await repeat('webhook/subscription.due', subscription);
  await sleep(1_000);
  expect(await readRow()).toMatchObject({ status: 'Delivered', attempts: 2, logged: 2 });
  expect(receiver.received).toHaveLength(2);
});
