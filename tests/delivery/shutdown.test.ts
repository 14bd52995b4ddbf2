import { afterAll, beforeAll, expect, it } from 'vitest';
import { scoredSession } from '../support/facts';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// Work that begins while a process stops.

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  // Without the embedded engine, only the test starts drains.
  server = await startTestServer({ INNGEST_DEV: '1', WEBHOOK_ALLOW_HOSTS: receiver.host });
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

it('a drain that is about to begin during shutdown sends nothing and delays nothing', async () => {
  const { sql } = server.database.db;
  const { dispatcher } = server.service;
  const tenant = await server.createTenant();
  const body = { url: receiver.url, eventType: 'BotDetected' };
  const created = await server.call('POST', '/v1/webhooks', { key: tenant.key, body });
  const subscriptionId: string = created.body.data.id;
  expect((await server.ingest(tenant.id, scoredSession(0.99).facts)).status).toBe(200);
  await dispatcher.publisher.flush();

  let drained: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;
  await sql.begin(async (tx) => {
    await tx`update webhook_subscriptions set nudged_at = now() where id = ${subscriptionId}`;
    // The drain first clears the nudge. It waits here for that row.
    drained = dispatcher.drainSubscription({ integrationId: tenant.id, subscriptionId });
    await waitUntil(async () => {
      const [row] = await sql<{ n: number }[]>`
        select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return row!.n === 1;
    });
    stopped = dispatcher.stop(0);
  });
  const from = performance.now();
  await Promise.all([drained, stopped]);
  expect(performance.now() - from).toBeLessThan(2_000);
  const [delivery] = await sql`select status, attempts, lease from webhook_deliveries`;
  expect(delivery).toEqual({ status: 'Pending', attempts: 0, lease: null });
  expect(receiver.received).toEqual([]);
});
