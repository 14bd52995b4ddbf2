import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { expectError } from '../support/answers';
import { scoredSession } from '../support/facts';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// The operator is told once of each change of a subscription's state, whatever becomes of the processes and the address.

/** 32 bytes in base64, as `openssl rand -base64 32` makes them. */
const SECRET = 'dGhlIDMyIGJ5dGVzIG9mIHRoZSBvcGVyYXRvci4uLi4=';

let server: TestServer;
let other: TestServer;
let receiver: Receiver;
let operator: Receiver;
let tenant: { id: string; key: string };
beforeAll(async () => {
  [receiver, operator] = await Promise.all([startReceiver(), startReceiver()]);
  const settings = {
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_RETRY_DELAYS: '0s,1h,1h,1h,1h,1h',
    OPERATOR_WEBHOOK_URL: `${operator.url}/operator`,
    OPERATOR_WEBHOOK_SECRET: SECRET,
  };
  server = await startTestServer(settings);
  other = await startTestServer(settings, server);
});
beforeEach(async () => {
  tenant = await server.createTenant();
});
afterEach(async () => {
  receiver.answer = () => 200;
  operator.answer = () => 200;
  operator.received.length = 0;
  await server.database.db.sql`delete from webhook_subscriptions`;
  await server.database.db.sql`delete from operator_notices`;
});
afterAll(async () => {
  await other.stop();
  await server.stop();
  await Promise.all([receiver.stop(), operator.stop()]);
});

const call = (method: string, path: string, body?: unknown) => server.call(method, path, { key: tenant.key, body });
async function subscribe(path = '/hook?key=a-secret-of-the-path') {
  const body = { url: `${receiver.url}${path}`, eventType: 'BotDetected', name: 'Bots' };
  return (await call('POST', '/v1/webhooks', body)).body.data.id as string;
}
/** Sends events, each of which the receiver gets one attempt of. */
async function send(count: number) {
  for (let n = 0; n < count; n++) {
    const before = receiver.received.length;
    await server.ingest(tenant.id, scoredSession(0.9).facts);
    await receiver.waitFor(before + 1);
    await waitUntil(async () => {
      const rows = await server.database.db.sql`
        select 1 from webhook_deliveries where integration_id = ${tenant.id} and lease is not null`;
      return rows.length === 0;
    });
  }
}
/** Both processes look at the same time, more than once. */
async function tell() {
  const { operatorNotices: ours } = server.service;
  const { operatorNotices: theirs } = other.service;
  await Promise.all([ours!.tell(), theirs!.tell(), ours!.tell(), theirs!.tell()]);
}
const makeDue = () =>
  server.database.db
    .sql`update operator_notices set next_attempt_at = now() - interval '1 ms' where next_attempt_at > now()`;
const states = () => operator.received.map(({ body }) => JSON.parse(body).state);

it('is told once when a webhook fails, when failures disable it and when it delivers again', async () => {
  const id = await subscribe();
  await send(1);
  await tell();
  expect(states()).toEqual([]);
  receiver.answer = () => 500;
  await send(1);
  await tell();
  receiver.answer = () => 404;
  await send(3);
  await tell();
  receiver.answer = () => 200;
  await call('PATCH', `/v1/webhooks/${id}`, { enabled: true });
  await tell();
  expect(states()).toEqual(['failing', 'disabled']);
  await send(1);
  await tell();
  await tell();
  expect(states()).toEqual(['failing', 'disabled', 'recovered']);
  const disabled = operator.received[1]!;
  expectSigned(disabled, SECRET);
  // Also with a library of Standard Webhooks.
  new Webhook(SECRET).verify(disabled.body, disabled.headers as Record<string, string>);
  expect(disabled.headers).toMatchObject({ 'x-webhook-event': 'WebhookStateChanged', 'x-webhook-id': id });
  expect(disabled.headers['x-webhook-delivery-id']).toMatch(/^ntc_/);
  expect(JSON.parse(disabled.body)).toEqual({
    ...{ state: 'disabled', previousState: 'failing', noticedAt: expect.any(String) },
    ...{ integrationId: tenant.id, integrationName: 'Tenant on enterprise', subscriptionId: id, name: 'Bots' },
    // Not the path: it can be a secret.
    ...{ eventType: 'BotDetected', url: `${receiver.url}/…`, consecutiveFailures: 3 },
    ...{ lastDeliveryAt: expect.any(String), lastDeliveryStatus: 'PermanentFailure', disabledFailureClass: '4xx' },
    dashboardUrl: null,
  });
});

it('is told again of a webhook that is enabled and disabled by failures once more before it delivered', async () => {
  const id = await subscribe();
  receiver.answer = () => 404;
  await send(3);
  await tell();
  await call('PATCH', `/v1/webhooks/${id}`, { enabled: true });
  await tell();
  await send(3);
  await tell();
  // The engine may look between two failures, and tell of them.
  const ends = () => states().filter((state) => state !== 'failing');
  expect(ends()).toEqual(['disabled', 'disabled']);
  receiver.answer = () => 200;
  await call('PATCH', `/v1/webhooks/${id}`, { enabled: true });
  await send(1);
  await tell();
  // What was told as recovered is in no trouble if a person disables and enables it.
  for (const enabled of [false, true]) await call('PATCH', `/v1/webhooks/${id}`, { enabled });
  await send(1);
  await tell();
  expect(ends()).toEqual(['disabled', 'disabled', 'recovered']);
});

it('is told again of a webhook that fails once more after a person disabled and enabled it', async () => {
  const id = await subscribe();
  const enable = async (enabled: boolean) => {
    await call('PATCH', `/v1/webhooks/${id}`, { enabled });
    await tell();
  };
  receiver.answer = () => 500;
  await send(1);
  await tell();
  await enable(false);
  await enable(true);
  await send(1);
  await tell();
  expect(operator.received.map(({ body }) => JSON.parse(body))).toMatchObject([
    { state: 'failing', previousState: null },
    { state: 'failing', previousState: 'enabled' },
  ]);
});

it('is told again if the address did not take it, a bounded number of times, and of the same notice', async () => {
  operator.answer = () => 503;
  await subscribe();
  receiver.answer = () => 500;
  await send(1);
  for (let n = 0; n < 10; n++) {
    await tell();
    await makeDue();
  }
  expect(states()).toEqual(Array(8).fill('failing'));
  expect(
    new Set(operator.received.map(({ headers, body }) => `${headers['x-webhook-delivery-id']} ${body}`)).size,
  ).toBe(1);
  expect(await server.database.db.sql`select 1 from operator_notices`).toHaveLength(0);
});

it('is told of no earlier state after a later one, if the address did not take the earlier one at first', async () => {
  await subscribe();
  operator.answer = () => 503;
  receiver.answer = () => 500;
  await send(1);
  await tell();
  operator.answer = () => 200;
  receiver.answer = () => 200;
  await send(1);
  await tell();
  await makeDue();
  await tell();
  expect(states()).toEqual(['failing', 'recovered']);
});

it('is told of the present state alone, if nobody could tell for a while, as without an address in the settings', async () => {
  const { sql } = server.database.db;
  const forget = () => sql`update operator_notices set next_attempt_at = now() - interval '2 hours'`;
  operator.answer = () => 503;
  await subscribe();
  receiver.answer = () => 500;
  await send(1);
  await tell();
  await forget();
  operator.received.length = 0;
  operator.answer = () => 200;
  await tell();
  expect(states()).toEqual(['failing']);
  // Delivers again, of which the operator is not told, and fails again.
  operator.answer = () => 503;
  receiver.answer = () => 200;
  await send(1);
  await tell();
  expect(states().at(-1)).toBe('recovered');
  await forget();
  receiver.answer = () => 500;
  await send(1);
  operator.received.length = 0;
  operator.answer = () => 200;
  await tell();
  expect(states()).toEqual([]);
  expect(await sql`select 1 from operator_notices`).toHaveLength(0);
});

it('is told by itself within seconds', async () => {
  await server.service.dispatcher.requestSweep();
  await subscribe();
  receiver.answer = () => 500;
  await send(1);
  await operator.waitFor(1);
  expect(states()).toEqual(['failing']);
});

it('is never told through the endpoint that fails', async () => {
  const id = await subscribe();
  await server.database.db.sql`update webhook_subscriptions set url = ${`${operator.url}/operator`} where id = ${id}`;
  await server.database.db.sql`update webhook_subscriptions set consecutive_failures = 1 where id = ${id}`;
  await tell();
  expect(states()).toEqual([]);
});

it('has an address that no subscription may have', async () => {
  const body = { url: `${operator.url}/operator`, eventType: 'BotDetected' };
  expectError(await call('POST', '/v1/webhooks', body), 'INVALID_URL', 'url');
});
