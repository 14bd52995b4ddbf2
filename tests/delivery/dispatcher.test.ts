import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase, type Query } from '../../db/client';
import { openSession } from '../../db/session';
import {
  type AttemptRecord,
  claimDueAttempts,
  sweepDeliveries,
  takeOverLeases,
} from '../../server/webhooks/deliveries';
import { createDispatcher } from '../../server/webhooks/dispatcher';
import type { PostResult } from '../../server/webhooks/http-client';
import { LeasePresence } from '../../server/webhooks/lease-presence';
import { createPublisher } from '../../server/webhooks/publisher';
import { createRecorder } from '../../server/webhooks/recorder';
import { scoredSession } from '../support/facts';
import { createGate } from '../support/gate';
import { countRead, explainStatement } from '../support/plans';
import { startTestServer, type TestServer } from '../support/server';
import { createCaller } from '../support/staff';
import { recordStatements } from '../support/statements';

// Who is woken when something is due, and what happens to places, records and sweeps when a write fails. No engine runs,
// and nothing is sent: the tests watch the calls inside of the process.

let server: TestServer;
let key: { integrationId: string; subscriptionId: string };
let apiKey: string;

beforeAll(async () => {
  server = await startTestServer({ INNGEST_DEV: '1' });
});
beforeEach(async () => {
  const tenant = await server.createTenant();
  apiKey = tenant.key;
  const body = { url: 'https://example.com/', eventType: 'BotDetected' };
  const { data } = (await server.call('POST', '/v1/webhooks', { key: apiKey, body })).body;
  key = { integrationId: tenant.id, subscriptionId: data.id };
  vi.spyOn(server.service.dispatcher.publisher, 'publish').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => server.stop());

const sql = () => server.database.db.sql;
const publisher = () => server.service.dispatcher.publisher;

/** Inserts deliveries `dlv-1`, `dlv-2` and so on that have been attempted once and are overdue, or have ended. */
async function insertDeliveries(count: number, status: string, lease: string | null = null) {
  await sql()`
    insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, attempts, lease, next_attempt_at, finished_at)
    select ${key.integrationId}, 'dlv-' || n, ${key.subscriptionId}, 'evt-' || n, ${status}, 1, ${lease}, now() - interval '1 hour',
           case when ${status}::text <> 'Pending' then now() end
      from generate_series(1, ${count}::int) n`;
}

/** What a successful attempt of a delivery records. */
const succeed = (deliveryId: string, lease: string): AttemptRecord => ({
  ...{ ...key, deliveryId, lease, attempt: 1, status: 'Delivered', failureClass: null, retryDelayMs: null },
  ...{ startedAt: new Date().toISOString(), durationMs: 5, httpStatus: 200, address: '192.0.2.1', retryAfter: null },
  ...{ errorCode: null, answer: null, isTest: false },
});

describe('the drain of a subscription is woken', () => {
  it('when its retries are due', async () => {
    await server.service.dispatcher.wakeSubscription(key);
    expect(publisher().publish).toHaveBeenCalledExactlyOnceWith([key]);
  });

  it('at once when its failed deliveries are sent again, if there are any', async () => {
    const staff = await createCaller(server, apiKey);
    const recover = () => staff.deliveries.recover({ id: key.subscriptionId, startDate: '2020-01-01' });
    expect(await recover()).toMatchObject({ recovered: 0 });
    expect(publisher().publish).not.toHaveBeenCalled();
    await insertDeliveries(2, 'Failed');
    expect(await recover()).toMatchObject({ recovered: 2 });
    expect(publisher().publish).toHaveBeenCalledExactlyOnceWith([key]);
  });

  it('by the sweep when something is overdue; a sweep that fails is logged, and the next one works', async () => {
    const { dispatcher, log } = server.service;
    await insertDeliveries(1, 'Pending');
    const republish = vi.spyOn(publisher(), 'republish').mockResolvedValue();
    const warn = vi.spyOn(log, 'warn');
    const fault = new Error('the engine cannot be reached');
    republish.mockRejectedValueOnce(fault);
    await dispatcher.sweep();
    expect(warn).toHaveBeenCalledExactlyOnceWith({ err: fault }, expect.stringContaining('a sweep failed'));
    await dispatcher.sweep();
    expect(republish.mock.calls).toEqual([[[key]], [[key]]]);
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

it('a delivery that was attempted comes before all that were not, so that it has its six attempts in time behind any backlog', async () => {
  const { db } = server.database;
  await sql()`
    insert into domain_events (integration_id, id, type, natural_key, payload)
    select ${key.integrationId}, 'evt-' || n, 'BotDetected', 'key-' || n, '{}' from generate_series(1, 9) n`;
  await sql()`
    insert into webhook_deliveries (integration_id, id, subscription_id, event_id, attempts, next_attempt_at)
    select ${key.integrationId}, 'dlv-' || n, ${key.subscriptionId}, 'evt-' || n, case when n in (4, 7, 9) then 1 else 0 end,
           now() - (9 - n) * interval '1 minute' + case when n = 9 then interval '1 hour' else interval '0' end
      from generate_series(1, 9) n`;
  const claim = async (limit: number) =>
    (await claimDueAttempts(db, key, limit, 30_000, null)).map(({ deliveryId }) => deliveryId).sort();
  expect(await claim(1)).toEqual(['dlv-4']);
  expect(await claim(2)).toEqual(['dlv-1', 'dlv-7']);
  expect(await claim(50)).toEqual(['dlv-2', 'dlv-3', 'dlv-5', 'dlv-6', 'dlv-8']);
  expect(await claim(50)).toEqual([]);
});

it('a subscription is failing no longer when the sweep has ended the delivery that was to be repeated', async () => {
  const readStatus = async () =>
    (await server.call('GET', `/v1/webhooks/${key.subscriptionId}`, { key: apiKey })).body.data.lastDeliveryStatus;
  const set = (columns: string) =>
    sql().unsafe(`update webhook_deliveries set ${columns} where integration_id = '${key.integrationId}'`);
  await insertDeliveries(1, 'Pending');
  await sql()`update webhook_subscriptions set last_delivery_status = 'Pending' where id = ${key.subscriptionId}`;
  await sweepDeliveries(server.service.db, server.service.log);
  expect(await readStatus()).toBe('Pending');
  await set(`lease = gen_random_uuid(), next_attempt_at = now() + interval '1 hour'`);
  await sweepDeliveries(server.service.db, server.service.log);
  expect(await readStatus()).toBe('Pending');
  await set(`lease = null, next_attempt_at = now() - interval '25 hours'`);
  await server.call('PATCH', `/v1/webhooks/${key.subscriptionId}`, { key: apiKey, body: { enabled: false } });
  await sweepDeliveries(server.service.db, server.service.log);
  expect(await readStatus()).toBe('PoisonAborted');
});

it('a test whose caller is gone is ended by the sweep after its lease, and never sent', async () => {
  const { db, log } = server.service;
  const readTest = async () =>
    (await sql()`select status, lease from webhook_deliveries where integration_id = ${key.integrationId}`)[0];
  await insertDeliveries(1, 'Pending', randomUUID());
  await sql()`
    update webhook_deliveries set is_test = true, event_id = null, next_attempt_at = now() + interval '1 minute'
     where integration_id = ${key.integrationId}`;
  await sweepDeliveries(db, log);
  expect(await readTest()).toMatchObject({ status: 'Pending', lease: expect.any(String) });
  await sql()`update webhook_deliveries set next_attempt_at = now() - interval '1 s' where integration_id = ${key.integrationId}`;
  await sweepDeliveries(db, log);
  expect(await readTest()).toEqual({ status: 'PoisonAborted', lease: null });
});

it('a sweep reads no backlog of a subscription that is sent to', async () => {
  await insertDeliveries(3_000, 'Pending');
  await sql()`update webhook_subscriptions set last_delivery_status = 'Pending' where id = ${key.subscriptionId}`;
  await sql()`analyze webhook_deliveries, webhook_subscriptions`;
  const recording = recordStatements(server.service.db);
  expect(await sweepDeliveries(server.service.db, server.service.log)).toContainEqual(key);
  const statements = recording.take();
  recording.stop();
  expect(statements).toHaveLength(4);
  for (const statement of statements)
    for (const plan of ['custom', 'generic'] as const) {
      const nodes = await explainStatement(sql(), statement, plan);
      const reads = nodes.filter((node) => node['Relation Name'] === 'webhook_deliveries').map(countRead);
      expect(
        reads.reduce((sum, count) => sum + count, 0),
        statement.text,
      ).toBeLessThan(100);
    }
});

it('a sweep and a take-over do what they can if a part of them fails', async () => {
  const { db, log } = server.service;
  await insertDeliveries(2, 'Pending');
  await sql()`
    update webhook_deliveries set is_test = id = 'dlv-1', lease = gen_random_uuid(), next_attempt_at = now() - interval '1 minute'
     where integration_id = ${key.integrationId}`;
  const readSecond = async () =>
    (
      await sql()`select status, lease from webhook_deliveries where integration_id = ${key.integrationId} and id = 'dlv-2'`
    )[0];
  await sql().unsafe(`
    create or replace function refuse_to_end() returns trigger language plpgsql as $$ begin raise exception 'full'; end $$;
    create or replace trigger refuse_to_end before update on webhook_deliveries for each row when (new.status = 'PoisonAborted')
      execute function refuse_to_end()`);
  try {
    const warn = vi.spyOn(log, 'warn');
    expect(await sweepDeliveries(db, log)).toContainEqual(key);
    expect(await readSecond()).toEqual({ status: 'Pending', lease: null });
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      { err: expect.anything() },
      expect.stringContaining('part of a sweep failed'),
    );
    // Last: the server takes over from it itself after a second and a half.
    const [owner] = await sql()<{ id: number; locks: number }[]>`
      with owner as (insert into lease_owners default values returning id, locks)
      update webhook_deliveries
         set lease = gen_random_uuid(), lease_owner = owner.id, next_attempt_at = now() + interval '1 minute', crashes = 0
        from owner where integration_id = ${key.integrationId} and webhook_deliveries.id = 'dlv-2'
      returning owner.id, owner.locks`;
    expect(await takeOverLeases(db, log, owner!, 120_000)).toEqual([key]);
    expect(await readSecond()).toEqual({ status: 'Pending', lease: null });
    expect(warn).toHaveBeenCalledTimes(2);
  } finally {
    await sql()`drop trigger refuse_to_end on webhook_deliveries`;
  }
});

it('the engine is told of what a sweep found, but not of what a drain of this process sends, nor of nothing', async () => {
  const { db, log } = server.service;
  const nothing = () => Promise.resolve();
  const sendDue = vi.fn(nothing);
  const messages = { sendDue, sendWakeUps: nothing, sendSweep: nothing };
  const drained = { ...key, subscriptionId: 'drained' };
  const wakeDrain = vi.fn(({ subscriptionId }) => subscriptionId === 'drained');
  const { republish } = createPublisher({ db, log, messages, wakeDrain });
  await republish([]);
  await republish([drained]);
  await republish([key, drained]);
  expect(wakeDrain).toHaveBeenCalledTimes(3);
  expect(sendDue).toHaveBeenCalledExactlyOnceWith([key]);
});

it('a sweep sends itself what waits for a run of the engine that does not begin, unless an attempt is under way', async () => {
  const { service } = server;
  await sql()`
    insert into domain_events (integration_id, id, type, natural_key, payload)
    select ${key.integrationId}, 'evt-' || n, 'BotDetected', 'key-' || n, '{}' from generate_series(1, 2) n`;
  await insertDeliveries(2, 'Pending');
  // Of a process that lives, or that has just died.
  await sql()`
    update webhook_deliveries set lease = gen_random_uuid(), next_attempt_at = now() + interval '1 minute'
     where integration_id = ${key.integrationId} and id = 'dlv-2'`;
  const sendDue = vi.fn(async () => {});
  const taken: PostResult = { kind: 'response', status: 204, address: '192.0.2.1', retryAfter: null };
  const post = vi.fn(async () => taken);
  const dispatcher = createDispatcher({
    ...{ db: service.db, log: service.log, secrets: service.secrets },
    ...{ client: { ...service.webhookClient, post }, timeoutMs: 30_000, retryDelaysMs: [0, 0, 0, 0, 0, 0] },
    messages: { sendDue, sendWakeUps: async () => {}, sendSweep: async () => {} },
    presence: new LeasePresence({ openSession: () => openSession(server.database.url, () => {}), log: service.log }),
    ...{ onAttempt: () => {}, onFailed: () => {}, isLongLived: true },
  });
  try {
    await dispatcher.sweep();
    // The engine was told, but no drain has read since.
    await dispatcher.sweep();
    expect(sendDue).toHaveBeenCalledTimes(2);
    expect(post).not.toHaveBeenCalled();
    await sql()`update webhook_deliveries set lease = null where integration_id = ${key.integrationId} and id = 'dlv-2'`;
    await dispatcher.sweep();
    await expect.poll(() => post.mock.calls.length).toBe(1);
  } finally {
    await dispatcher.stop(0);
  }
});

it('a drain that has left does not take the next one of its subscription with it', async () => {
  const { service } = server;
  await sql()`
    insert into domain_events (integration_id, id, type, natural_key, payload)
    values (${key.integrationId}, 'evt-1', 'BotDetected', 'key-1', '{}')`;
  await sql()`
    insert into webhook_deliveries (integration_id, id, subscription_id, event_id, next_attempt_at)
    values (${key.integrationId}, 'dlv-1', ${key.subscriptionId}, 'evt-1', now())`;
  const [answered, cleared] = [createGate(), createGate()];
  const gone: PostResult = { kind: 'response', status: 410, address: '127.0.0.1', retryAfter: null };
  let isSecond = false;
  const query: Query = (text, parameters) =>
    isSecond && text.includes('nudged_at = null') ? cleared.opened.then(() => []) : service.db.query(text, parameters);
  const sendDue = vi.fn(async () => {});
  const post = vi.fn(() => answered.opened.then(() => gone));
  const dispatcher = createDispatcher({
    ...{ db: { ...service.db, query }, log: service.log, secrets: service.secrets },
    ...{ client: { ...service.webhookClient, post }, timeoutMs: 30_000, retryDelaysMs: [0, 0, 0, 0, 0, 0] },
    messages: { sendDue, sendWakeUps: async () => {}, sendSweep: async () => {} },
    presence: new LeasePresence({ openSession: () => openSession(server.database.url, () => {}), log: service.log }),
    onAttempt: () => {},
    // The second run begins in the turn in which the first one learns that its attempt has ended.
    onFailed: cleared.open,
    isLongLived: false,
  });
  const first = dispatcher.drainSubscription(key);
  await expect.poll(() => post.mock.calls.length).toBe(1);
  // Until the run is over, and only the attempt is left.
  await sleep(2_500);
  isSecond = true;
  const second = dispatcher.drainSubscription(key);
  answered.open();
  await first;
  await dispatcher.publisher.republish([key]);
  expect(sendDue).not.toHaveBeenCalled();
  await dispatcher.stop(0);
  await second;
});

describe('a place that a drain reserves for a new delivery', () => {
  /** Detects a bot while a drain has places. Answers the status, and the places that were reserved, used and released. */
  async function detectBot(sessionId: string) {
    const { handover } = server.service.dispatcher;
    const reserve = vi.spyOn(handover, 'reserve').mockReturnValue(true);
    const start = vi.spyOn(handover, 'start').mockReturnValue();
    const release = vi.spyOn(handover, 'release').mockReturnValue();
    const { status } = await server.ingest(key.integrationId, scoredSession(0.95, sessionId).facts);
    for (const [released] of release.mock.calls) expect(released).toMatchObject(key);
    const [reserved, used, released] = [reserve, start, release].map(({ mock }) => mock.calls.length);
    return { status, reserved, used, released };
  }

  it('is used by it', async () => {
    expect(await detectBot('new')).toEqual({ status: 200, reserved: 1, used: 1, released: 0 });
  });

  it('is released if the event has been told before', async () => {
    await sql()`
      insert into domain_events (integration_id, id, type, natural_key, payload)
      values (${key.integrationId}, 'evt-1', 'BotDetected', 'told', '{}')`;
    expect(await detectBot('told')).toEqual({ status: 200, reserved: 1, used: 0, released: 1 });
  });

  it('is released if the database refuses the facts, each time that they are tried', async () => {
    await sql().unsafe(`
      alter table domain_events add constraint refused check (integration_id <> '${key.integrationId}') not valid`);
    // First in their group, then alone.
    expect(await detectBot('refused')).toEqual({ status: 500, reserved: 2, used: 0, released: 2 });
    await sql()`alter table domain_events drop constraint refused`;
    expect(await detectBot('refused')).toMatchObject({ status: 200, used: 1 });
  });
});

it('a result finds its delivery by its key, however many others are under way', async () => {
  await insertDeliveries(1_000, 'Delivered');
  // The statistics are older than what is under way.
  await sql()`analyze webhook_deliveries`;
  const lease = randomUUID();
  const begin = () => sql()`
    update webhook_deliveries set status = 'Pending', finished_at = null, lease = ${lease}, resends = resends + 1
     where integration_id = ${key.integrationId}`;
  await begin();
  const recording = recordStatements(server.service.db);
  await createRecorder(server.service.db).record(succeed('dlv-500', lease));
  const [statement] = recording.take();
  recording.stop();
  for (const plan of ['custom', 'generic'] as const) {
    await begin();
    const nodes = await explainStatement(sql(), statement!, plan);
    const reads = nodes.filter((node) => node['Relation Name'] === 'webhook_deliveries').map(countRead);
    expect(Math.max(...reads)).toBe(1);
  }
});

it('a result that the database refuses does not lose the others of its batch', async () => {
  const lease = randomUUID();
  await insertDeliveries(2, 'Pending', lease);
  const recorder = createRecorder(server.service.db);
  // More than the column can hold.
  const refused = { ...succeed('dlv-2', lease), attempt: 40_000 };
  const results = await Promise.allSettled([refused, succeed('dlv-1', lease)].map((one) => recorder.record(one)));
  expect(results).toMatchObject([
    { status: 'rejected', reason: { code: '22003' } },
    { status: 'fulfilled', value: { isRecorded: true, nextAttemptAt: null } },
  ]);
  const rows =
    await sql()`select id, status from webhook_deliveries where integration_id = ${key.integrationId} order by id`;
  expect(rows).toEqual([
    { id: 'dlv-1', status: 'Delivered' },
    { id: 'dlv-2', status: 'Pending' },
  ]);
});

it('a result whose row is locked does not lose the others of its batch', async () => {
  const leases = [randomUUID(), randomUUID()];
  await insertDeliveries(2, 'Pending', leases[0]);
  await sql()`update webhook_deliveries set lease = ${leases[1]!} where integration_id = ${key.integrationId} and id = 'dlv-2'`;
  const records = leases.map((lease, index) => succeed(`dlv-${index + 1}`, lease));
  const db = openDatabase({ url: server.database.url, maxConnections: 1, statementLimitMs: 500 });
  const recorder = createRecorder(db);
  await sql().begin(async (tx) => {
    await tx`select from webhook_deliveries where integration_id = ${key.integrationId} and id = 'dlv-1' for update`;
    const results = await Promise.allSettled(records.map((one) => recorder.record(one)));
    expect(results).toMatchObject([
      { status: 'rejected', reason: { code: '57014' } },
      { status: 'fulfilled', value: { isRecorded: true } },
    ]);
  });
  await db.close();
});

it('results of a locked subscription do not hold up those of others for long', async () => {
  const body = { url: 'https://example.com/', eventType: 'BotDetected' };
  const { data: other } = (await server.call('POST', '/v1/webhooks', { key: apiKey, body })).body;
  const ids = ['dlv-1', 'dlv-2', 'dlv-3', 'dlv-4'];
  const lease = randomUUID();
  await insertDeliveries(ids.length, 'Pending', lease);
  await sql()`
    update webhook_deliveries set subscription_id = ${other.id}
     where integration_id = ${key.integrationId} and id = 'dlv-4'`;
  const failure = { status: 'Failed' as const, failureClass: '4xx', httpStatus: 404, errorCode: 'HTTP_404' };
  const records = ids.map((deliveryId) => ({
    ...succeed(deliveryId, lease),
    ...failure,
    subscriptionId: deliveryId === 'dlv-4' ? other.id : key.subscriptionId,
  }));
  const recorder = createRecorder(server.service.db);
  await sql().begin(async (tx) => {
    await tx`select from webhook_subscriptions where id = ${key.subscriptionId} for update`;
    const results = await Promise.allSettled(records.map((one) => recorder.record(one)));
    const refused = { status: 'rejected', reason: { code: '55P03' } };
    expect(results).toMatchObject([refused, refused, refused, { status: 'fulfilled', value: { isRecorded: true } }]);
    // Two have waited for the lock, the third has not.
    const [first, second, third] = results.map((result) => (result as PromiseRejectedResult).reason);
    expect([first === second, first === third]).toEqual([false, true]);
  });
});
