import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { waitForLocks } from '../support/database';
import { scoredSession } from '../support/facts';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// Work that begins while a process stops.

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
beforeEach(async () => {
  receiver.received.length = 0;
  // Without the embedded engine, only the test starts drains.
  server = await startTestServer({ INNGEST_DEV: '1', WEBHOOK_ALLOW_HOSTS: receiver.host });
});
afterEach(() => server.stop());
afterAll(() => receiver.stop());

/** Creates a subscription with a delivery that is due. */
async function createDueDelivery() {
  const tenant = await server.createTenant();
  const body = { url: receiver.url, eventType: 'BotDetected' };
  const created = await server.call('POST', '/v1/webhooks', { key: tenant.key, body });
  expect((await server.ingest(tenant.id, scoredSession(0.99).facts)).status).toBe(200);
  await server.service.dispatcher.publisher.flush();
  return { integrationId: tenant.id, subscriptionId: created.body.data.id as string };
}

it('a drain that is about to begin during shutdown sends nothing and delays nothing', async () => {
  const { sql } = server.database.db;
  const { dispatcher } = server.service;
  const key = await createDueDelivery();

  let drained: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;
  await sql.begin(async (tx) => {
    await tx`update webhook_subscriptions set nudged_at = now() where id = ${key.subscriptionId}`;
    // The drain first clears the nudge. It waits here for that row.
    drained = dispatcher.drainSubscription(key);
    await waitForLocks(sql, 1);
    stopped = dispatcher.stop(0);
  });
  const from = performance.now();
  await Promise.all([drained, stopped]);
  expect(performance.now() - from).toBeLessThan(2_000);
  const [delivery] = await sql`select status, attempts, lease from webhook_deliveries`;
  expect(delivery).toEqual({ status: 'Pending', attempts: 0, lease: null });
  expect(receiver.received).toEqual([]);
});

it('a delivery that is claimed while the process stops is attempted to its end, not cut off and sent again', async () => {
  const { sql } = server.database.db;
  const { dispatcher } = server.service;
  receiver.answer = () => sleep(300, 200);
  const key = await createDueDelivery();
  let stopped: Promise<void> | undefined;
  await sql.begin(async (tx) => {
    await tx`lock table webhook_deliveries in access exclusive mode`;
    void dispatcher.drainSubscription(key);
    await waitForLocks(sql, 1);
    stopped = dispatcher.stop(30_000);
  });
  await stopped;
  const [delivery] = await sql`select status, attempts, lease from webhook_deliveries`;
  expect(delivery).toEqual({ status: 'Delivered', attempts: 1, lease: null });
  expect(receiver.received).toHaveLength(1);
});
