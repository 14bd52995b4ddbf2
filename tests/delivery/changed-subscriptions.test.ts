import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readBacklog } from '../../server/webhooks/deliveries';
import { scoredSession } from '../support/facts';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// A subscription that changes during an attempt or before a retry (decisions: Deliveries).

const RETRY_DELAY_MS = 700;
/** How many attempts of one subscription run at a time. */
const WINDOW = 25;

let server: TestServer;
let receiver: Receiver;
let tenant: { id: string; key: string };
/** Functions that answer the running attempts, oldest first. */
let answers: ((status: number) => void)[];
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_TIMEOUT: '10s',
    WEBHOOK_RETRY_DELAYS: `0s,${RETRY_DELAY_MS}ms,${RETRY_DELAY_MS}ms,1m,1m,1m`,
  });
});
beforeEach(async () => {
  tenant = await server.createTenant();
  receiver.received.length = 0;
  answers = [];
  receiver.answer = () => new Promise((answer) => answers.push(answer));
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const call = (method: string, path: string, body?: unknown) =>
  server.call(method, `/v1/webhooks${path}`, { key: tenant.key, ...(body === undefined ? {} : { body }) });
async function subscribe(): Promise<{ id: string; secret: string }> {
  const { status, body } = await call('POST', '', { url: `${receiver.url}/first`, eventType: 'BotDetected' });
  expect(status).toBe(200);
  return body.data;
}
const patch = async (id: string, body: unknown) => expect((await call('PATCH', `/${id}`, body)).status).toBe(200);
const rotate = async (id: string): Promise<string> => {
  const { status, body } = await call('POST', `/${id}/rotate-secret`);
  expect(status).toBe(200);
  return body.data.secret;
};
async function detectBots(count: number): Promise<void> {
  const facts = Array.from({ length: count }, () => scoredSession(0.95)).flatMap((session) => session.facts);
  expect((await server.ingest(tenant.id, facts)).status).toBe(200);
}
const listStates = async () => {
  const rows = await server.database.db.sql<{ state: string }[]>`
    select concat_ws(' ', status, attempts, (
             select count(*) from webhook_attempts a where a.delivery_id = d.id),
             case when lease is not null then 'leased' end) as state
      from webhook_deliveries d where integration_id = ${tenant.id} order by created_at, id`;
  return rows.map(({ state }) => state);
};
const waitForStates = (...states: string[]) =>
  waitUntil(async () => JSON.stringify(await listStates()) === JSON.stringify(states));

it('a running attempt keeps its address and secret, and the next one uses the new ones', async () => {
  const { id, secret } = await subscribe();
  await detectBots(1);
  await receiver.waitFor(1);
  await patch(id, { url: `${receiver.url}/second` });
  const second = await rotate(id);
  answers[0]!(500);
  await receiver.waitFor(2);
  answers[1]!(500);
  await waitForStates('Pending 2 2');
  // The retry is not due yet.
  await patch(id, { url: `${receiver.url}/third` });
  const third = await rotate(id);
  await receiver.waitFor(3);
  answers[2]!(200);
  await waitForStates('Delivered 3 3');
  expect(receiver.received.map(({ path }) => path)).toEqual(['/first', '/second', '/third']);
  for (const [n, used] of [secret, second, third].entries()) expectSigned(receiver.received[n]!, used);
});

it('disabled during an attempt: its retry is held, and made once after the subscription is enabled again', async () => {
  const { id } = await subscribe();
  await detectBots(1);
  await receiver.waitFor(1);
  await patch(id, { enabled: false });
  answers[0]!(500);
  await waitForStates('Pending 1 1');
  await sleep(RETRY_DELAY_MS + 1_500);
  expect(await listStates()).toEqual(['Pending 1 1']);
  expect(receiver.received).toHaveLength(1);
  await patch(id, { enabled: true });
  await receiver.waitFor(2);
  answers[1]!(200);
  await waitForStates('Delivered 2 2');
  expect(receiver.received).toHaveLength(2);
});

it('disabled and enabled many times before a retry is due: one attempt, at its time', async () => {
  const { id } = await subscribe();
  await detectBots(1);
  await receiver.waitFor(1);
  const from = Date.now();
  answers[0]!(500);
  await waitForStates('Pending 1 1');
  for (let n = 0; n < 10; n++) await patch(id, { enabled: n % 2 === 1 });
  await receiver.waitFor(2);
  expect(receiver.received[1]!.at - from).toBeGreaterThanOrEqual(RETRY_DELAY_MS - 10);
  await sleep(1_500);
  expect(receiver.received).toHaveLength(2);
  answers[1]!(200);
  await waitForStates('Delivered 2 2');
});

it.each([200, 500])(
  'deleted during an attempt that is answered with %i: aborted, and nothing more arrives',
  async (status) => {
    const { id } = await subscribe();
    await detectBots(1);
    await receiver.waitFor(1);
    expect((await call('DELETE', `/${id}`)).status).toBe(204);
    await waitForStates('PoisonAborted 1 0');
    answers[0]!(status);
    await sleep(RETRY_DELAY_MS + 1_000);
    expect(await listStates()).toEqual(['PoisonAborted 1 0']);
    expect(receiver.received).toHaveLength(1);
  },
);

/** Makes a disabled subscription with a delivery that waits for its retry. Answers its id. */
async function holdRetry(): Promise<string> {
  const { id } = await subscribe();
  await detectBots(1);
  await receiver.waitFor(1);
  answers[0]!(500);
  await waitForStates('Pending 1 1');
  await patch(id, { enabled: false });
  return id;
}

it('deleted while it is disabled and holds a retry: aborted', async () => {
  const id = await holdRetry();
  expect((await call('DELETE', `/${id}`)).status).toBe(204);
  expect(await listStates()).toEqual(['PoisonAborted 1 1']);
  await sleep(RETRY_DELAY_MS + 1_000);
  expect(receiver.received).toHaveLength(1);
});

it('deleted with thousands of deliveries that wait for their retry: all are aborted', async () => {
  const id = await holdRetry();
  const { sql } = server.database.db;
  await sql`
    with many as (
      insert into domain_events (integration_id, id, type, payload, natural_key)
      select e.integration_id, 'evt_' || n, e.type, e.payload, 'many ' || n
        from webhook_deliveries d join domain_events e on e.integration_id = d.integration_id and e.id = d.event_id,
             generate_series(1, 2500) n where d.subscription_id = ${id}
      returning integration_id, id)
    insert into webhook_deliveries (integration_id, id, subscription_id, event_id, next_attempt_at)
    select integration_id, 'dlv_' || id, ${id}, id, now() + interval '1 hour' from many`;
  expect((await call('DELETE', `/${id}`)).status).toBe(204);
  const states = await sql`
    select status, count(*)::int as n from webhook_deliveries where subscription_id = ${id} group by status`;
  expect(states).toEqual([{ status: 'PoisonAborted', n: 2_501 }]);
});

it('disabled while more deliveries are due than may run at a time: the others are held, and each is sent once', async () => {
  const EVENTS = 60;
  const { id } = await subscribe();
  await detectBots(EVENTS);
  await receiver.waitFor(WINDOW);
  await patch(id, { enabled: false });
  receiver.answer = () => 200;
  for (const answer of answers) answer(200);
  await waitUntil(async () => (await listStates()).filter((state) => state === 'Delivered 1 1').length === WINDOW);
  await sleep(1_000);
  expect((await listStates()).filter((state) => state === 'Pending 0 0')).toHaveLength(EVENTS - WINDOW);
  expect(receiver.received).toHaveLength(WINDOW);
  await patch(id, { enabled: true });
  await waitUntil(async () => (await listStates()).every((state) => state === 'Delivered 1 1'));
  expect(receiver.received).toHaveLength(EVENTS);
  expect(new Set(receiver.received.map(({ headers }) => headers['x-webhook-delivery-id'])).size).toBe(EVENTS);
});

it('what is held for a disabled subscription is pending, and nothing waits', async () => {
  const { db } = server.service;
  await holdRetry();
  await db.sql`update webhook_deliveries set next_attempt_at = now() - interval '1 hour' where integration_id = ${tenant.id}`;
  expect(await readBacklog(db)).toMatchObject({ pending: 1, ageSeconds: 0 });
  await db.sql`update webhook_subscriptions set enabled = true where integration_id = ${tenant.id}`;
  const { ageSeconds } = await readBacklog(db);
  expect(ageSeconds).toBeGreaterThan(3_500);
  await db.sql`update webhook_subscriptions set enabled = false where integration_id = ${tenant.id}`;
});
