import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// The attempts that a process has in flight while receivers hang (architecture: A delivery).

const TENANTS = 6;
const SUBSCRIPTIONS = 10;
const DUE = 30;
/** What each subscription would have in flight if it were alone. */
const WINDOW = 25;

let server: TestServer;
let receiver: Receiver;
let isOver = false;
beforeAll(async () => {
  receiver = await startReceiver();
  receiver.answer = () => null;
  // Without the embedded engine, only the test starts drains.
  server = await startTestServer({ INNGEST_DEV: '1', WEBHOOK_ALLOW_HOSTS: receiver.host, WEBHOOK_TIMEOUT: '60s' });
});
afterAll(async () => {
  isOver = true;
  await server.stop();
  await receiver.stop();
});

it('attempts of a process are shared among hanging receivers, and each gets at least five', async () => {
  const { sql } = server.database.db;
  const subscriptions: { path: string; key: { integrationId: string; subscriptionId: string } }[] = [];
  for (let n = 0; n < TENANTS; n++) {
    const { id, key } = await server.createTenant();
    for (let at = 0; at < SUBSCRIPTIONS; at++) {
      const path = `/${n}-${at}`;
      const body = { url: receiver.url + path, eventType: 'BotDetected' };
      const { data } = (await server.call('POST', '/v1/webhooks', { key, body })).body;
      subscriptions.push({ path, key: { integrationId: id, subscriptionId: data.id } });
    }
    await sql`
      insert into domain_events (integration_id, id, type, natural_key, payload)
      select ${id}, 'evt-' || n, 'BotDetected', 'key-' || n, '{}' from generate_series(1, ${DUE}::int) n`;
    await sql`
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, next_attempt_at)
      select ${id}, s.id || e.id, s.id, e.id, 'Pending', now()
        from webhook_subscriptions s join domain_events e using (integration_id) where integration_id = ${id}`;
  }
  // An engine starts a drain again that failed, as when the database is slow on a busy machine.
  const drain = async (key: (typeof subscriptions)[number]['key']): Promise<void> =>
    server.service.dispatcher.drainSubscription(key).then(
      () => {},
      () => sleep(500).then(() => (isOver ? undefined : drain(key))),
    );
  for (const { key } of subscriptions) void drain(key);
  const countArrived = () =>
    subscriptions.map(({ path }) => receiver.received.filter((request) => request.path === path).length);
  await waitUntil(() => Math.min(...countArrived()) > 0, 60_000);
  let before: number;
  do {
    before = receiver.received.length;
    // Free places are filled at once, and twice a second.
    await sleep(1_000);
  } while (receiver.received.length > before);

  const counts = countArrived();
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(5);
  expect(Math.max(...counts)).toBe(WINDOW);
  expect(receiver.received.length).toBeGreaterThanOrEqual(500);
  // Those that came early keep a larger share until their attempts end. Alone, they would have 1,500.
  expect(receiver.received.length).toBeLessThan(1_200);
});
