import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectError } from '../support/answers';
import { type Receiver, startReceiver } from '../support/receiver';
import { type Answer, startTestServer, type TestServer } from '../support/server';

// Two servers on one database, like two processes of a deployment.
let receiver: Receiver;
let first: TestServer;
let second: TestServer;
beforeAll(async () => {
  receiver = await startReceiver();
  const settings = { WEBHOOK_ALLOW_HOSTS: receiver.host };
  first = await startTestServer(settings);
  second = await startTestServer(settings, first);
});
afterAll(async () => {
  await receiver.stop();
  await second.stop();
  await first.stop();
});

it('at most five test deliveries of an integration are under way in all processes; the rest get 429', async () => {
  const open: ((status: number) => void)[] = [];
  receiver.answer = () => new Promise((answer) => open.push(answer));
  const subscribe = async () => {
    const { key } = await first.createTenant();
    const body = { url: `${receiver.url}/hook`, eventType: 'BotDetected' };
    const { id } = (await first.call('POST', '/v1/webhooks', { key, body })).body.data;
    return (server: TestServer, path = id) => server.call('POST', `/v1/webhooks/${path}/test`, { key });
  };
  const test = await subscribe();
  const neighbour = await subscribe();
  const answers: Answer[] = [];
  const running = Array.from({ length: 40 }, async (_, n) => answers.push(await test(n % 2 ? first : second)));
  await expect.poll(() => answers.length).toBe(35);
  await receiver.waitFor(5);
  for (const answer of answers) {
    expectError(answer, 'RATE_LIMITED');
    const seconds = Number(answer.headers.get('retry-after'));
    expect([seconds >= 1 && seconds <= 45, answer.headers.get('ratelimit')]).toEqual([true, expect.any(String)]);
  }
  expect(receiver.received).toHaveLength(5);
  expectError(await test(first, 'unknown'), 'NOT_FOUND');
  const other = neighbour(second);
  await receiver.waitFor(6);
  // The place of one that ended is free at once.
  open.shift()!(204);
  await expect.poll(() => answers.length).toBe(36);
  const next = test(second);
  await receiver.waitFor(7);
  for (const answer of open) answer(204);
  await Promise.all(running);
  const delivered = [...answers.slice(35), await other, await next];
  expect(delivered.map(({ body }) => body.data.status)).toEqual(Array(7).fill('Delivered'));
});

it('any number of test deliveries at once take no connections to Postgres in addition', async () => {
  const { key } = await first.createTenant();
  const { sql } = first.database.db;
  const countConnections = async () =>
    (await sql<{ n: number }[]>`select count(*)::int as n from pg_stat_activity where datname = current_database()`)[0]!
      .n;
  await first.call('POST', '/v1/webhooks/unknown/test', { key });
  const before = await countConnections();
  const tests = Array.from({ length: 100 }, () => first.call('POST', '/v1/webhooks/unknown/test', { key }));
  for (const answer of await Promise.all(tests)) expectError(answer, 'NOT_FOUND');
  // The pool may open its four connections.
  expect(await countConnections()).toBeLessThanOrEqual(before + 4);
});

it('the log has the event type that a test delivery was sent with, also when the subscription has got another one', async () => {
  receiver.answer = () => 204;
  const { key } = await first.createTenant();
  const body = { url: `${receiver.url}/hook`, eventType: 'BotDetected' };
  const { id } = (await first.call('POST', '/v1/webhooks', { key, body })).body.data;
  const test = await first.call('POST', `/v1/webhooks/${id}/test`, { key });
  const { status } = await first.call('PATCH', `/v1/webhooks/${id}`, { key, body: { eventType: 'SessionAnomaly' } });
  expect([test.status, status]).toEqual([200, 200]);
  await first.call('POST', `/v1/webhooks/${id}/test`, { key });
  const { data } = (await first.call('GET', `/v1/webhooks/${id}/deliveries`, { key })).body;
  expect(data.map(({ eventType }: { eventType: string }) => eventType)).toEqual(['SessionAnomaly', 'BotDetected']);
});

it('a test delivery that fails waits for nobody who changes the subscription', async () => {
  receiver.answer = () => 500;
  const { key } = await first.createTenant();
  const body = { url: `${receiver.url}/hook`, eventType: 'BotDetected' };
  const { id } = (await first.call('POST', '/v1/webhooks', { key, body })).body.data;
  await first.database.db.sql.begin(async (tx) => {
    await tx`select 1 from webhook_subscriptions where id = ${id} for update`;
    const { status, body } = await first.call('POST', `/v1/webhooks/${id}/test`, { key });
    expect([status, body.data]).toEqual([200, expect.objectContaining({ status: 'Failed', responseCode: 500 })]);
  });
});

// Last, because it stops a server.
it('a test delivery that a stop cuts short is answered with 503, and its row is ended at once', async () => {
  let asked = 0;
  receiver.answer = () => {
    asked++;
    return new Promise(() => {});
  };
  const { key } = await second.createTenant();
  const body = { url: `${receiver.url}/hook`, eventType: 'BotDetected' };
  const { id } = (await second.call('POST', '/v1/webhooks', { key, body })).body.data;
  const answer = second.call('POST', `/v1/webhooks/${id}/test`, { key });
  await expect.poll(() => asked).toBe(1);
  await second.service.dispatcher.stop(0);
  expectError(await answer, 'SERVICE_UNAVAILABLE');
  const rows = await first.database.db.sql`
    select status, lease, next_attempt_at from webhook_deliveries where subscription_id = ${id}`;
  expect(rows).toEqual([{ status: 'PoisonAborted', lease: null, next_attempt_at: null }]);
});
