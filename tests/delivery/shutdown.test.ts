import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, waitForLocks } from '../support/database';
import { scoredSession } from '../support/facts';
import { endProducts } from '../support/product';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { openSite } from '../support/site';

// Work that begins while a process stops, or does not end by itself. The last test needs the build.

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
afterAll(async () => {
  await endProducts();
  await receiver.stop();
});

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

it('a run that an Inngest server has begun ends when its process begins to stop, however much is due, and is not cut off', async () => {
  const database = await createTestDatabase();
  const settings = { INNGEST_DEV: '1', WEBHOOK_ALLOW_HOSTS: receiver.host, WEBHOOK_RETRY_DELAYS: '0s,1h,1h,1h,1h,1h' };
  const site = await openSite(database, settings);
  const process = await site.start();
  const tenant = await site.createTenant();
  // A receiver that fails gets 25 attempts at the same time. So the run takes all of its 20 s, and the stop would cut it off after 10 s.
  receiver.answer = () => sleep(500, 500);
  const { id } = await site.subscribe(process, tenant, receiver.url);
  for (let batch = 0; batch < 10; batch++) {
    const facts = Array.from({ length: 80 }, () => scoredSession(0.99).facts).flat();
    expect((await process.ingest(tenant.id, facts)).status).toBe(200);
  }
  const event = { name: 'webhook/subscription.due', data: { integrationId: tenant.id, subscriptionId: id } };
  const ctx = { run_id: '1', attempt: 0, use_api: false, stack: { stack: [], current: 0 } };
  const run = fetch(`${process.url}/api/inngest?fnId=bot-detection-us-drain-subscription&stepId=step`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ version: 2, event, events: [event], steps: {}, ctx }),
  }).then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
  await waitUntil(() => receiver.received.length > 0);
  process.signal('SIGTERM');
  expect(await run).toBe(200);
  expect(await process.endWithin()).toMatchObject({ code: 0, signal: null });
  const deliveries = await site.listDeliveries(tenant);
  // None of them is still in flight, and most were not begun.
  expect(deliveries.filter(({ leaseOwner }) => leaseOwner !== null)).toEqual([]);
  expect(deliveries.filter(({ attempts }) => attempts === 0).length).toBeGreaterThan(400);
  await database.drop();
});
