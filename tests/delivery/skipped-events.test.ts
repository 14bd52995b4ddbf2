import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAX_EXAMINED_AT_ONCE } from '../../server/webhooks/skipped-events';
import { waitForLocks } from '../support/database';
import { scoredSession } from '../support/facts';
import { countRead, explainStatement } from '../support/plans';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { type Caller, createCaller } from '../support/staff';
import { recordStatements } from '../support/statements';

// Events that a disabled subscription skipped are sent when staff ask for it, and every subscription is in one state.

let server: TestServer;
let other: TestServer;
let receiver: Receiver;
let tenant: { id: string; key: string };
let staff: Caller;
beforeAll(async () => {
  receiver = await startReceiver();
  const settings = { WEBHOOK_ALLOW_HOSTS: receiver.host, WEBHOOK_RETRY_DELAYS: '0s,50ms,50ms,50ms,50ms,50ms' };
  server = await startTestServer(settings);
  other = await startTestServer(settings, server);
});
beforeEach(async () => {
  tenant = await server.createTenant('enterprise');
  staff = await createCaller(server, tenant.key);
});
afterEach(() => {
  receiver.received.length = 0;
  receiver.answer = () => 200;
});
afterAll(async () => {
  await other.stop();
  await server.stop();
  await receiver.stop();
});

const sql = () => server.database.db.sql;
async function subscribe(fields: Record<string, unknown> = {}) {
  const body = { url: `${receiver.url}/hook`, eventType: 'BotDetected', ...fields };
  return (await server.call('POST', '/v1/webhooks', { key: tenant.key, body })).body.data as {
    id: string;
    secret: string;
  };
}
const patch = (id: string, body: unknown) => server.call('PATCH', `/v1/webhooks/${id}`, { key: tenant.key, body });
async function detectBot(botScore = 0.9) {
  const { sessionId, facts } = scoredSession(botScore);
  expect((await server.ingest(tenant.id, facts)).status).toBe(200);
  return sessionId;
}
/** Of one subscription, because those of earlier tests may still send. */
const sentSessions = (id: string) =>
  receiver.received
    .filter(({ headers }) => headers['x-webhook-id'] === id)
    .map(({ body }) => JSON.parse(body).sessionId);
async function settle() {
  await waitUntil(async () => {
    const [row] = await sql()`
      select count(*)::int as n from webhook_deliveries where integration_id = ${tenant.id} and status = 'Pending'`;
    return row!.n === 0;
  });
}
const none = { count: 0, isMore: false };
/** Adds skipped events, the first one the oldest. */
const addSkipped = (id: string, count: number, reason = 'disabled') => sql()`
  insert into domain_events (integration_id, id, type, natural_key, payload, skips, created_at)
  select ${tenant.id}, ${reason} || n, 'BotDetected', ${reason} || n, json_build_object('sessionId', n)::text,
         jsonb_build_object(${id}::text, ${reason}::text), now() - (${count} - n) * interval '1 s' - interval '1 minute'
    from generate_series(1, ${count}) n`;

describe('events that were skipped while a subscription was disabled', () => {
  it('are sent as deliveries with the stored payload, oldest first, and then are no longer skipped', async () => {
    const { id, secret } = await subscribe();
    await patch(id, { enabled: false });
    const sessions = [await detectBot(), await detectBot(), await detectBot()];
    await patch(id, { enabled: true });
    expect(receiver.received).toEqual([]);
    expect(await staff.deliveries.countSkipped({ id })).toEqual({ count: 3, isMore: false });
    const skipped = (await staff.deliveries.listSkipped({ id })).data.reverse();
    expect(await staff.deliveries.sendSkipped({ id })).toEqual({ sent: 3, remaining: none });
    await receiver.waitFor(3);
    await settle();
    expect(sentSessions(id).sort()).toEqual([...sessions].sort());
    for (const received of receiver.received) expectSigned(received, secret);
    expect(receiver.received.map(({ body }) => body).sort()).toEqual(skipped.map(({ payload }) => payload).sort());
    const deliveries = (await staff.deliveries.list({ id })).data.reverse();
    expect(deliveries.map(({ eventId, createdAt }) => [eventId, createdAt])).toEqual(
      skipped.map(({ eventId, createdAt }) => [eventId, createdAt]),
    );
    expect((await staff.deliveries.listSkipped({ id })).data).toEqual([]);
    expect(await staff.deliveries.sendSkipped({ id })).toEqual({ sent: 0, remaining: none });
  });

  it('are sent by a recovery of their window, next to what failed: those under new ids, these under their own', async () => {
    const { id } = await subscribe();
    await addSkipped(id, 6);
    await addSkipped(id, 2, 'threshold');
    receiver.answer = () => 404;
    const failed = await detectBot();
    await settle();
    receiver.answer = () => 200;
    receiver.received.length = 0;
    const [bounds] = await sql()`
      select (created_at - interval '0.5 s')::text as after_third, (created_at + interval '2.5 s')::text as until
        from domain_events where integration_id = ${tenant.id} and id = 'disabled4'`;
    const toInstant = (text: string) => new Date(text).toISOString();
    const path = `/v1/webhooks/${id}/recover`;
    const recover = async (body: object) => (await server.call('POST', path, { key: tenant.key, body })).body.data;
    const window = { startDate: toInstant(bounds!.after_third), endDate: toInstant(bounds!.until) };
    expect(await recover(window)).toEqual({ recovered: 0, skippedSent: 0, hasMore: false });
    expect(await recover({ ...window, includeSkipped: true })).toEqual({
      recovered: 0,
      skippedSent: 3,
      hasMore: false,
    });
    await settle();
    expect(sentSessions(id).sort()).toEqual([4, 5, 6]);
    const before = (await staff.deliveries.list({ id, status: 'PermanentFailure' })).data[0]!;
    expect(await recover({ startDate: '2020-01-01' })).toEqual({ recovered: 1, skippedSent: 0, hasMore: false });
    await settle();
    expect(receiver.received.at(-1)!.headers['x-webhook-delivery-id']).toBe(before.id);
    expect(sentSessions(id).at(-1)).toBe(failed);
    expect(await recover({ startDate: '2020-01-01', includeSkipped: true })).toMatchObject({ skippedSent: 3 });
  });

  it('are due in their order, behind what waits already', async () => {
    const { id } = await subscribe();
    // Nothing is sent, so that all wait.
    await sql()`update webhook_subscriptions set nudged_at = now() + interval '1 hour' where id = ${id}`;
    await addSkipped(id, 50);
    await detectBot();
    await staff.deliveries.sendSkipped({ id });
    const rows = await sql()`
      select event_id as event from webhook_deliveries where subscription_id = ${id} order by next_attempt_at`;
    expect(rows.map(({ event }) => event)).toEqual([
      expect.stringMatching(/^evt_/),
      ...Array.from({ length: 50 }, (_, n) => `disabled${n + 1}`),
    ]);
    await patch(id, { enabled: false });
  });

  it('are sent once, however many ask for it in two processes', async () => {
    const { id } = await subscribe();
    await addSkipped(id, 30);
    const there = await createCaller(other, tenant.key);
    const answers = await Promise.all(
      [staff, there, staff, there, staff, there].map((caller) => caller.deliveries.sendSkipped({ id })),
    );
    expect(answers.map(({ sent }) => sent).sort((a, b) => b - a)).toEqual([30, 0, 0, 0, 0, 0]);
    await settle();
    expect(new Set(sentSessions(id)).size).toBe(30);
    expect(sentSessions(id)).toHaveLength(30);
  });

  it('are looked for without the lock of the subscription, for which results of its deliveries wait', async () => {
    const { id } = await subscribe();
    await addSkipped(id, 1);
    let sent: Promise<unknown> = Promise.resolve();
    await sql().begin(async (tx) => {
      await tx`lock table domain_events in access exclusive mode`;
      sent = staff.deliveries.sendSkipped({ id });
      await waitUntil(async () => {
        const [looking] = await sql()`
          select from pg_stat_activity where wait_event_type = 'Lock' and query like '%e.skips is not null%'`;
        return looking !== undefined;
      });
      await sql()`select from webhook_subscriptions where id = ${id} for no key update nowait`;
    });
    expect(await sent).toMatchObject({ sent: 1 });
  });

  it('are sent once by two recoveries with idempotency keys at the same time, which do not block each other', async () => {
    const { id } = await subscribe();
    await addSkipped(id, 30);
    const recover = (to: TestServer) =>
      to.call('POST', `/v1/webhooks/${id}/recover`, {
        key: tenant.key,
        headers: { 'idempotency-key': randomUUID() },
        body: { startDate: '2020-01-01', includeSkipped: true },
      });
    // Each recovery stops at the first lock that does not agree with the test's, with the locks before that one.
    let answers: ReturnType<typeof recover>[] = [];
    await sql().begin(async (tx) => {
      await tx`select from webhook_subscriptions where integration_id = ${tenant.id} and id = ${id} for share`;
      answers = [server, other].map(recover);
      await waitForLocks(sql(), 2);
    });
    const sent = (await Promise.all(answers)).map(({ status, body }) => [status, body.data?.skippedSent]);
    expect(sent.toSorted()).toEqual([
      [200, 0],
      [200, 30],
    ]);
  });

  it('are at most 1,000 at a time, and the answer says how many remain', async () => {
    const { id } = await subscribe();
    // Without a receiver that takes them all, which is tested above.
    await sql()`update webhook_subscriptions set nudged_at = now() + interval '1 hour' where id = ${id}`;
    await addSkipped(id, 1_203);
    expect(await staff.deliveries.sendSkipped({ id })).toEqual({
      sent: 1_000,
      remaining: { count: 203, isMore: false },
    });
    const rows = await sql()`
      select extract(epoch from next_attempt_at)::float8 as due from webhook_deliveries where subscription_id = ${id} order by created_at`;
    expect(rows.filter(({ due }, place) => place > 0 && due <= rows[place - 1]!.due)).toEqual([]);
    const [oldest] = (await staff.deliveries.listSkipped({ id, pageSize: 100 })).data.slice(-1);
    expect(oldest!.reason).toBe('disabled');
    expect(await staff.deliveries.sendSkipped({ id })).toEqual({ sent: 203, remaining: none });
    await patch(id, { enabled: false });
  });

  it('are not those below its threshold, of another type, or skipped because of the plan', async () => {
    const { id } = await subscribe({ threshold: { field: 'botScore', operator: 'gte', value: 0.95 } });
    await patch(id, { enabled: false });
    await detectBot(0.9);
    const above = await detectBot(0.96);
    await sql()`update webhook_subscriptions set disabled_reason = 'auto:plan-limit' where id = ${id}`;
    await detectBot(0.97);
    const reasons = (await staff.deliveries.listSkipped({ id })).data.map(({ reason }) => reason);
    expect(reasons).toEqual(['plan', 'disabled', 'threshold']);
    await patch(id, { enabled: true });
    await patch(id, { enabled: false });
    // The plan forbids it now, although a person had disabled it before.
    await sql()`update integrations set plan = 'starter' where id = ${tenant.id}`;
    await detectBot(0.98);
    await sql()`update integrations set plan = 'enterprise' where id = ${tenant.id}`;
    expect((await staff.deliveries.listSkipped({ id })).data[0]!.reason).toBe('plan');
    await patch(id, { enabled: true });
    expect(await staff.deliveries.countSkipped({ id })).toEqual({ count: 1, isMore: false });
    await patch(id, { eventType: 'ReportReady' });
    expect(await staff.deliveries.sendSkipped({ id })).toEqual({ sent: 0, remaining: none });
    await patch(id, { eventType: 'BotDetected' });
    expect(await staff.deliveries.sendSkipped({ id })).toEqual({ sent: 1, remaining: none });
    await settle();
    expect(sentSessions(id)).toEqual([above]);
  });

  it('are found in short statements behind many that were skipped for another one', async () => {
    const [{ id }, many] = [await subscribe(), await subscribe()];
    await addSkipped(many.id, 25_000, 'threshold');
    await addSkipped(id, 1);
    await sql()`analyze domain_events`;
    await sql()`update domain_events set created_at = now() - interval '20 days' where id = 'disabled1' and integration_id = ${tenant.id}`;
    const recording = recordStatements(server.service.db);
    const shown = (await staff.deliveries.listSkipped({ id })).data;
    const looks = recording.take();
    expect(await staff.deliveries.countSkipped({ id })).toEqual({ count: 0, isMore: true });
    recording.take();
    await sql()`update domain_events set created_at = now() where id = 'disabled1' and integration_id = ${tenant.id}`;
    expect(await staff.deliveries.sendSkipped({ id })).toMatchObject({ sent: 1 });
    looks.push(...recording.take());
    recording.stop();
    expect(shown).toMatchObject([{ eventId: 'disabled1', reason: 'disabled' }]);
    const reads = looks.filter(({ text }) => /^\s*select\b/.test(text) && text.includes('domain_events'));
    expect(reads.length).toBeGreaterThanOrEqual(2);
    for (const statement of reads) {
      const nodes = await explainStatement(sql(), statement, 'custom');
      const read = nodes.filter((node) => node['Relation Name'] === 'domain_events').map(countRead);
      expect(Math.max(...read)).toBeLessThanOrEqual(MAX_EXAMINED_AT_ONCE);
    }
    await settle();
  });

  it('keep the reasons of other subscriptions', async () => {
    const [one, two] = [await subscribe(), await subscribe()];
    for (const { id } of [one, two]) await patch(id, { enabled: false });
    await detectBot();
    await patch(one.id, { enabled: true });
    await staff.deliveries.sendSkipped({ id: one.id });
    expect((await staff.deliveries.listSkipped({ id: one.id })).data).toEqual([]);
    expect((await staff.deliveries.listSkipped({ id: two.id })).data).toMatchObject([{ reason: 'disabled' }]);
    await settle();
  });

  it('are not sent while the subscription is disabled, deleted or another tenant’s', async () => {
    const { id } = await subscribe();
    await patch(id, { enabled: false });
    await detectBot();
    const refusal = async (caller: Caller) =>
      (await caller.deliveries.sendSkipped({ id }).catch((error) => error)).cause.code;
    expect(await refusal(staff)).toBe('UNSUPPORTED_OPERATION');
    const stranger = await createCaller(server, (await server.createTenant()).key);
    expect(await refusal(stranger)).toBe('NOT_FOUND');
    await server.call('DELETE', `/v1/webhooks/${id}`, { key: tenant.key });
    expect(await refusal(staff)).toBe('NOT_FOUND');
    expect(sentSessions(id)).toEqual([]);
  });

  it('are in the audit log when they were sent', async () => {
    const { id } = await subscribe({ name: 'Mine' });
    await addSkipped(id, 2);
    await staff.deliveries.sendSkipped({ id });
    await staff.deliveries.sendSkipped({ id });
    const acts = await sql()`
      select subject_id, details from audit_entries where integration_id = ${tenant.id} and action = 'SkippedEventsSent'`;
    expect(acts).toEqual([{ subject_id: id, details: { name: 'Mine', sent: 2 } }]);
    await settle();
  });
});

describe('the state of a subscription', () => {
  const stateOf = async (id: string) => (await staff.webhookStates.list()).find((one) => one.id === id)!;

  it('is one of no deliveries, healthy, failing since its first failure, and disabled by failures or by hand', async () => {
    const { id } = await subscribe({ name: 'Mine' });
    const common = { id, name: 'Mine', disabledAfter: 3 };
    const quiet = { ...common, since: null, isSinceExact: true, consecutiveFailures: 0, fault: null };
    expect(await stateOf(id)).toEqual({ ...quiet, state: 'NoDeliveries' });
    await detectBot();
    await settle();
    expect(await stateOf(id)).toEqual({ ...quiet, state: 'Healthy' });
    // A test changes nothing, whatever becomes of it.
    receiver.answer = () => 404;
    await server.call('POST', `/v1/webhooks/${id}/test`, { key: tenant.key });
    expect(await stateOf(id)).toEqual({ ...quiet, state: 'Healthy' });

    receiver.answer = () => 500;
    await detectBot();
    await settle();
    const [failed] = (await staff.deliveries.list({ id })).data;
    const { attemptLog } = await staff.deliveries.get({ id: failed!.id });
    receiver.answer = () => 200;
    await server.call('POST', `/v1/webhooks/${id}/test`, { key: tenant.key });
    expect(await stateOf(id)).toEqual({
      ...{ ...common, state: 'Failing', since: attemptLog[0]!.startedAt, isSinceExact: true, consecutiveFailures: 1 },
      fault: { errorCode: 'HTTP_500', failureClass: '5xx' },
    });
    expect(await staff.webhookStates.count()).toEqual({ failing: 1, disabled: 0 });

    receiver.answer = () => 410;
    await Promise.all([detectBot(), detectBot()]);
    await settle();
    const { lastDeliveryAt } = (await server.call('GET', `/v1/webhooks/${id}`, { key: tenant.key })).body.data;
    expect(await stateOf(id)).toEqual({
      ...{ ...common, state: 'DisabledByFailures', since: lastDeliveryAt, isSinceExact: true, consecutiveFailures: 3 },
      fault: { errorCode: 'HTTP_410', failureClass: '4xx' },
    });
    expect(await staff.webhookStates.count()).toEqual({ failing: 0, disabled: 1 });

    await patch(id, { enabled: true });
    expect(await stateOf(id)).toEqual({ ...quiet, state: 'NoDeliveries' });
    await patch(id, { enabled: false });
    expect(await stateOf(id)).toEqual({ ...quiet, state: 'DisabledByHand' });
    await sql()`update webhook_subscriptions set disabled_reason = 'auto:plan-limit' where id = ${id}`;
    expect(await stateOf(id)).toEqual({ ...quiet, state: 'DisabledByPlan' });
    expect(await staff.webhookStates.count()).toEqual({ failing: 0, disabled: 0 });
  });

  it('is failing while an attempt is to be repeated', async () => {
    const { id } = await subscribe();
    // A sweep may look meanwhile.
    await sql()`
      insert into webhook_deliveries (integration_id, id, subscription_id, attempts, next_attempt_at)
      values (${tenant.id}, 'dlv-1', ${id}, 1, now() + interval '1 hour')`;
    await sql()`update webhook_subscriptions set last_delivery_status = 'Pending' where id = ${id}`;
    expect(await stateOf(id)).toMatchObject({ state: 'Failing', since: null });
  });

  it('is found along indexes, and says if it is failing for longer than was searched', async () => {
    const { id } = await subscribe();
    await sql()`
      insert into webhook_attempts (integration_id, delivery_id, subscription_id, attempt, started_at, duration_ms, failure_class)
      select ${tenant.id}, 'dlv-' || n, ${id}, 1, now() - n * interval '1 minute', 5, case when n = 5900 then null else '5xx' end
        from generate_series(1, 6000) n`;
    await sql()`update webhook_subscriptions set consecutive_failures = 1 where id = ${id}`;
    await sql()`analyze webhook_attempts`;
    const state = await stateOf(id);
    expect(state).toMatchObject({ state: 'Failing', isSinceExact: false });
    const minutesAgo = (Date.now() - Date.parse(state.since!)) / 60_000;
    expect(Math.round(minutesAgo)).toBe(5_000);

    await sql()`update webhook_attempts set failure_class = null where integration_id = ${tenant.id} and delivery_id = 'dlv-9'`;
    const recorder = recordStatements(server.service.db);
    expect((await stateOf(id)).isSinceExact).toBe(true);
    const statement = recorder.take().find(({ text }) => text.includes('webhook_attempts'))!;
    recorder.stop();
    for (const plan of ['custom', 'generic'] as const) {
      const nodes = await explainStatement(sql(), statement, plan);
      const ofAttempts = nodes.filter(
        (node) => node['Relation Name'] === 'webhook_attempts' && node['Actual Loops'] > 0,
      );
      expect(ofAttempts.length).toBeGreaterThan(2);
      for (const node of ofAttempts)
        expect([plan, node['Index Name'], countRead(node) < 20]).toEqual([plan, 'webhook_attempts_recent', true]);
    }
  });
});
