import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pruneDeliveries } from '../../server/webhooks/retention';
import { scoredSession } from '../support/facts';
import { expectExactOutcomes } from '../support/outcome-counts';
import { explainStatement } from '../support/plans';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { type Caller, createCaller } from '../support/staff';
import { recordStatements } from '../support/statements';

// What staff see of deliveries and do about them, through the procedures that the dashboard calls.

const WEBHOOK_TIMEOUT_MS = 1_000;

let server: TestServer;
let receiver: Receiver;
let tenant: { id: string; key: string };
let staff: Caller;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_RETRY_DELAYS: '0s,50ms,50ms,50ms,50ms,50ms',
    WEBHOOK_TIMEOUT: `${WEBHOOK_TIMEOUT_MS}ms`,
  });
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
  await server.stop();
  await receiver.stop();
});

const sql = () => server.database.db.sql;
async function subscribe(fields: Record<string, unknown> = {}) {
  const body = { url: `${receiver.url}/hook`, eventType: 'BotDetected', ...fields };
  const answer = await server.call('POST', '/v1/webhooks', { key: tenant.key, body });
  expect(answer.status).toBe(200);
  return answer.body.data as { id: string; secret: string };
}
const patch = (id: string, body: unknown) => server.call('PATCH', `/v1/webhooks/${id}`, { key: tenant.key, body });
const remove = (id: string) => server.call('DELETE', `/v1/webhooks/${id}`, { key: tenant.key });
const list = async (id: string, input: Partial<Parameters<Caller['deliveries']['list']>[0]> = {}) =>
  (await staff.deliveries.list({ id, ...input })).data;

/** Sends facts of `count` bot sessions and waits until all deliveries have ended. */
async function detectBots(count = 1, botScore = 0.9) {
  const sessions = Array.from({ length: count }, () => scoredSession(botScore));
  for (const { facts } of sessions) expect((await server.ingest(tenant.id, facts)).status).toBe(200);
  await waitUntil(async () => (await countPending()) === 0);
  return sessions.map(({ sessionId }) => sessionId);
}
async function countPending() {
  const [row] = await sql()<{ n: number }[]>`
    select count(*)::int as n from webhook_deliveries where integration_id = ${tenant.id} and status = 'Pending'`;
  return row!.n;
}
const refusal = (code: string, message: string) => expect.objectContaining({ code, message });
const refused = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (thrown) => thrown,
  );
  return error?.cause;
};

describe('the delivery log', () => {
  it('shows a delivery with its payload and every attempt: time, duration, status, class, address, Retry-After', async () => {
    const { id } = await subscribe();
    receiver.answer = () => (receiver.received.length === 1 ? 503 : 204);
    receiver.answerHeaders = { 'retry-after': '120' };
    const [sessionId] = await detectBots();
    receiver.answerHeaders = {};
    const [shown, ...others] = await list(id);
    expect(others).toEqual([]);
    expect(shown).toEqual({
      id: receiver.received[0]!.headers['x-webhook-delivery-id'],
      subscriptionId: id,
      eventId: expect.stringMatching(/^evt_/),
      eventType: 'BotDetected',
      test: false,
      status: 'Delivered',
      failureClass: null,
      attempts: 2,
      resends: 0,
      createdAt: expect.stringMatching(/Z$/),
      nextAttemptAt: null,
      finishedAt: expect.stringMatching(/Z$/),
    });
    const { payload, request, attemptLog, ...rest } = await staff.deliveries.get({ id: shown!.id });
    expect(rest).toEqual(shown);
    expect(payload).toBe(receiver.received[0]!.body);
    expect(JSON.parse(payload!).sessionId).toBe(sessionId);
    // The request as the receiver got it at the second attempt, without the time of the first.
    expect(request).toMatchObject({ method: 'POST', url: `${receiver.url}/hook` });
    expect(receiver.received[1]!.headers).toMatchObject(request!.headers);
    expect(request!.headers).toHaveProperty('x-webhook-signature');
    const common = { resend: 0, startedAt: expect.stringMatching(/Z$/), durationMs: expect.any(Number) };
    const answered = { address: '127.0.0.1', retryAfter: '120' };
    // kept-answers.test.ts has what is in it.
    const answer = expect.objectContaining({ headers: expect.objectContaining({ 'retry-after': '120' }), body: '' });
    expect(attemptLog).toEqual([
      { ...common, ...answered, attempt: 1, httpStatus: 503, failureClass: '5xx', errorCode: 'HTTP_503', answer },
      { ...common, ...answered, attempt: 2, httpStatus: 204, failureClass: null, errorCode: null, answer },
    ]);
    for (const { durationMs } of attemptLog) expect(durationMs).toBeLessThan(WEBHOOK_TIMEOUT_MS);
  });

  it('says when the next attempt is due, and shows no time during an attempt', async () => {
    const { id } = await subscribe();
    await detectBots();
    const deliveryId = (await list(id))[0]!.id;
    await sql()`update webhook_deliveries set status = 'Pending', next_attempt_at = '2100-01-01' where id = ${deliveryId}`;
    expect((await list(id))[0]).toMatchObject({ status: 'Pending', nextAttemptAt: '2100-01-01T00:00:00.000Z' });
    await sql()`update webhook_deliveries set lease = gen_random_uuid() where id = ${deliveryId}`;
    expect((await list(id))[0]).toMatchObject({ status: 'Pending', nextAttemptAt: null });
    await sql()`delete from webhook_deliveries where id = ${deliveryId}`;
  });

  it('marks tests as tests, with the event type of their subscription and no payload', async () => {
    const { id } = await subscribe({ eventType: 'ReportReady' });
    const test = await server.call('POST', `/v1/webhooks/${id}/test`, { key: tenant.key });
    const { deliveryId } = test.body.data;
    expect(await list(id)).toMatchObject([
      { id: deliveryId, test: true, eventId: null, eventType: 'ReportReady', status: 'Delivered' },
    ]);
    expect(await staff.deliveries.get({ id: deliveryId })).toMatchObject({
      payload: null,
      attemptLog: [{ httpStatus: 200 }],
    });
  });

  it('is listed newest first without gap or repeat, filtered by status and by the time of the event', async () => {
    const { id } = await subscribe();
    await subscribe({ url: `${receiver.url}/other` });
    // Two failures: a third in a row would disable the subscription.
    let hooks = 0;
    receiver.answer = ({ path }) => (path === '/hook' && ++hooks % 5 === 0 ? 404 : 200);
    await detectBots(12);
    const all = await list(id, { pageSize: 100 });
    expect(all).toHaveLength(12);
    expect(all).toEqual([...all].sort((a, b) => (`${a.createdAt}${a.id}` < `${b.createdAt}${b.id}` ? 1 : -1)));
    const walked: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await staff.deliveries.list({ id, pageSize: 5, cursor });
      walked.push(...page.data.map((one) => one.id));
      if (!page.pagination.hasMore) break;
      cursor = page.pagination.nextCursor;
    }
    expect(walked).toEqual(all.map((one) => one.id));
    const failed = await list(id, { status: 'PermanentFailure' });
    expect(failed).toEqual(all.filter(({ status }) => status === 'PermanentFailure'));
    expect(failed.length).toBeGreaterThan(0);
    const { createdAt } = all[6]!;
    expect(await list(id, { startDate: createdAt })).toEqual(all.filter((one) => one.createdAt >= createdAt));
    expect(await list(id, { endDate: createdAt })).toEqual(all.filter((one) => one.createdAt < createdAt));
    const { nextCursor } = (await staff.deliveries.list({ id, pageSize: 5 })).pagination;
    expect(await refused(staff.deliveries.list({ id, status: 'Failed', cursor: nextCursor }))).toEqual(
      refusal('INVALID_REQUEST', 'cursor is not valid for this request'),
    );
  });

  it('is read from where a cursor stands: a page has no second bound at which Postgres could begin instead', async () => {
    const { id } = await subscribe();
    await detectBots(3);
    const window = { id, startDate: '2020-01-01', endDate: '2100-01-01', pageSize: 1 };
    const recording = recordStatements(server.service.db);
    for (const [sort, second] of [
      ['newest', /created_at <=? '/],
      ['oldest', /created_at >=? '/],
    ] as const) {
      const { pagination } = await staff.deliveries.list({ ...window, sort });
      recording.take();
      await staff.deliveries.list({ ...window, sort, cursor: pagination.nextCursor! });
      const [statement] = recording.take().filter(({ text }) => text.includes('order by'));
      const nodes = await explainStatement(sql(), statement!, 'custom');
      const [condition] = nodes.map((node) => node['Index Cond'] ?? '').filter((text) => text.includes('ROW('));
      expect(condition).toBeDefined();
      expect(condition).not.toMatch(second);
    }
    recording.stop();
  });

  it('remains when its subscription is deleted', async () => {
    const { id } = await subscribe();
    await detectBots(2);
    await remove(id);
    expect(await list(id)).toHaveLength(2);
  });
});

describe('a resend', () => {
  it('sends a finished delivery again, under the same id and with all attempts', async () => {
    const { id, secret } = await subscribe();
    receiver.answer = () => 500;
    await detectBots();
    const [failed] = await list(id);
    expect(failed).toMatchObject({ status: 'MaxRetriesExceeded', attempts: 6 });
    // The first attempt stays unanswered until the resend is, which shows the delivery as it was before any outcome.
    receiver.answer = async () => {
      const status = receiver.received.length === 7 ? 500 : 200;
      await resending;
      return status;
    };
    const resending = staff.deliveries.resend({ id: failed!.id });
    expect(await resending).toMatchObject({
      id: failed!.id,
      status: 'Pending',
      resends: 1,
      failureClass: null,
      finishedAt: null,
    });
    await receiver.waitFor(8);
    await waitUntil(async () => (await countPending()) === 0);
    const after = await staff.deliveries.get({ id: failed!.id });
    expect(after).toMatchObject({ status: 'Delivered', attempts: 2, resends: 1 });
    expect(after.attemptLog.map(({ resend, attempt }) => [resend, attempt])).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((attempt) => [0, attempt]),
      [1, 1],
      [1, 2],
    ]);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-webhook-delivery-id'])).size).toBe(1);
    expectSigned(receiver.received.at(-1)!, secret);
  });

  it('also sends a delivery that succeeded', async () => {
    const { id } = await subscribe();
    await detectBots();
    const [delivery] = await list(id);
    await staff.deliveries.resend({ id: delivery!.id });
    await receiver.waitFor(2);
  });

  it('is refused for pending deliveries, for tests, and if the subscription is disabled or deleted', async () => {
    const { id } = await subscribe();
    await detectBots();
    const deliveryId = (await list(id))[0]!.id;
    const test = (await server.call('POST', `/v1/webhooks/${id}/test`, { key: tenant.key })).body.data.deliveryId;
    const resend = (one: string) => refused(staff.deliveries.resend({ id: one }));
    expect(await resend(test)).toEqual(
      refusal('UNSUPPORTED_OPERATION', 'A test delivery cannot be sent again: send another test'),
    );
    await sql()`update webhook_deliveries set status = 'Pending', next_attempt_at = '2100-01-01' where id = ${deliveryId}`;
    expect(await resend(deliveryId)).toEqual(
      refusal('UNSUPPORTED_OPERATION', 'The delivery is pending: it will be attempted on schedule'),
    );
    await sql()`update webhook_deliveries set status = 'Delivered', next_attempt_at = null where id = ${deliveryId}`;
    const count = receiver.received.length;
    await patch(id, { enabled: false });
    const why = refusal(
      'UNSUPPORTED_OPERATION',
      'The subscription is disabled or deleted: only enabled ones are sent to',
    );
    expect(await resend(deliveryId)).toEqual(why);
    await remove(id);
    expect(await resend(deliveryId)).toEqual(why);
    expect(receiver.received).toHaveLength(count);
    expect(await list(id)).toMatchObject([{}, { id: deliveryId, status: 'Delivered', resends: 0 }]);
  });

  it('is refused after a thousand, and a recovery leaves such a delivery out', async () => {
    const { id } = await subscribe();
    receiver.answer = () => 410;
    await detectBots(2);
    const [worn, fresh] = await list(id);
    await sql()`update webhook_deliveries set resends = 1000 where id = ${worn!.id}`;
    receiver.answer = () => 200;
    const path = `/v1/webhooks/${id}/deliveries/${worn!.id}/resend`;
    expect(await server.call('POST', path, { key: tenant.key })).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'UNSUPPORTED_OPERATION',
          message: 'The delivery was sent again 1,000 times, the most that is allowed',
        },
      },
    });
    expect(await staff.deliveries.recover({ id, startDate: '2020-01-01' })).toMatchObject({ recovered: 1 });
    await waitUntil(async () => (await countPending()) === 0);
    expect(await list(id)).toMatchObject([
      { id: worn!.id, status: 'PermanentFailure', resends: 1_000 },
      { id: fresh!.id, status: 'Delivered', resends: 1 },
    ]);
  });

  it('does not make a log that is too long to read, whatever the receiver answers', async () => {
    const { id } = await subscribe();
    await detectBots();
    const deliveryId = (await list(id))[0]!.id;
    // The most that is allowed.
    const resends = 1_000;
    await sql()`
      insert into webhook_attempts (integration_id, delivery_id, subscription_id, resend, attempt, started_at, duration_ms)
      select ${tenant.id}, ${deliveryId}, ${id}, n, 1, now(), 1 from generate_series(1, ${resends}::int) n`;
    await sql()`
      insert into webhook_answers (integration_id, delivery_id, resend, attempt, received_at, headers, body, is_cut)
      select ${tenant.id}, ${deliveryId}, n, 1, now(), headers, '', false
        from (select jsonb_object_agg('x-' || h, repeat(md5(h::text), 8)) as headers from generate_series(1, 40) h) kept,
             generate_series(1, ${resends}::int) n`;
    const answer = await server.call('GET', `/v1/webhooks/${id}/deliveries/${deliveryId}`, { key: tenant.key });
    expect(answer.status).toBe(200);
    expect(answer.body.data.attemptLog).toHaveLength(resends + 1);
    const { attemptLog } = await staff.deliveries.get({ id: deliveryId });
    const withAnswer = attemptLog.filter((attempt) => attempt.answer !== null);
    expect(withAnswer.map(({ resend }) => resend)).toEqual(Array.from({ length: 100 }, (_, n) => resends - 99 + n));
  });

  it('counts towards disabling like any other outcome', async () => {
    const { id } = await subscribe();
    receiver.answer = () => 410;
    await detectBots();
    const [delivery] = await list(id);
    for (const resends of [1, 2]) {
      await staff.deliveries.resend({ id: delivery!.id });
      await waitUntil(async () => (await countPending()) === 0);
      expect(await list(id)).toMatchObject([{ resends, status: 'PermanentFailure' }]);
    }
    const webhook = await server.call('GET', `/v1/webhooks/${id}`, { key: tenant.key });
    expect(webhook.body.data).toMatchObject({ enabled: false, disabledFailureClass: '4xx' });
  });
});

describe('a recovery', () => {
  it('sends all failed deliveries of its window again, and nothing else', async () => {
    const { id } = await subscribe();
    receiver.answer = () => 404;
    for (let n = 0; n < 4; n++) {
      await detectBots();
      await patch(id, { enabled: true });
    }
    receiver.answer = () => 200;
    await detectBots(2);
    const failed = (await list(id)).filter(({ status }) => status === 'PermanentFailure').reverse();
    const [, second, third, fourth] = failed.map(({ createdAt }) => createdAt);
    receiver.received.length = 0;
    expect(await staff.deliveries.recover({ id, startDate: second!, endDate: fourth })).toEqual({
      recovered: 2,
      skippedSent: 0,
      hasMore: false,
    });
    await receiver.waitFor(2);
    await waitUntil(async () => (await countPending()) === 0);
    const recovered = (await list(id)).filter(({ resends }) => resends === 1);
    expect(recovered.map(({ createdAt }) => createdAt).reverse()).toEqual([second, third]);
    expect(recovered.every(({ status }) => status === 'Delivered')).toBe(true);
    expect(await staff.deliveries.recover({ id, startDate: failed[0]!.createdAt })).toMatchObject({ recovered: 2 });
    await receiver.waitFor(4);
    expect(receiver.received).toHaveLength(4);
  });

  it('sends a delivery only once, even if it fails again meanwhile', async () => {
    const { id } = await subscribe();
    await detectBots();
    await sql()`
      insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
      select integration_id, 'evt-' || n, type, 'key-' || n, payload, created_at from domain_events, generate_series(1, 1200) n
       where integration_id = ${tenant.id}`;
    await sql()`
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, attempts, finished_at, failure_class)
      select ${tenant.id}, 'dlv-' || n, ${id}, 'evt-' || n, 'Failed', 1, now(), 'HTTP301' from generate_series(1, 1200) n`;
    // Each fails at once, so that it has failed before the recovery looks for its next thousand. Twice would be an error.
    await sql().unsafe(`create function fail_again() returns trigger language plpgsql as $$ begin
        if new.resends > 1 then raise 'sent twice'; end if;
        new.status := 'Failed'; new.finished_at := clock_timestamp(); new.next_attempt_at := null; return new; end $$;
      create trigger fail_again before update on webhook_deliveries for each row
        when (new.resends > old.resends and new.subscription_id = '${id}') execute function fail_again()`);
    try {
      expect(await staff.deliveries.recover({ id, startDate: '2020-01-01' })).toEqual({
        recovered: 1_200,
        skippedSent: 0,
        hasMore: false,
      });
    } finally {
      await sql().unsafe('drop function fail_again() cascade');
    }
  });

  it('is refused if nothing would be sent', async () => {
    const { id } = await subscribe();
    await patch(id, { enabled: false });
    expect(await refused(staff.deliveries.recover({ id, startDate: '2020-01-01' }))).toEqual(
      refusal('UNSUPPORTED_OPERATION', 'The subscription is disabled or deleted: only enabled ones are sent to'),
    );
  });
});

describe('the reason why an event was not delivered', () => {
  it('is shown for thresholds, disabled subscriptions and plans, newest first', async () => {
    const strict = await subscribe({ threshold: { field: 'botScore', operator: 'gte', value: 0.95 } });
    const open = await subscribe();
    const [first] = await detectBots();
    await patch(open.id, { enabled: false });
    const [second] = await detectBots();
    await sql()`update webhook_subscriptions set disabled_reason = 'auto:plan-limit' where id = ${open.id}`;
    const [third] = await detectBots(1, 0.96);
    const skipped = async (id: string) =>
      (await staff.deliveries.listSkipped({ id })).data.map(({ reason, payload }) => [
        JSON.parse(payload).sessionId,
        reason,
      ]);
    expect(await skipped(strict.id)).toEqual([
      [second, 'threshold'],
      [first, 'threshold'],
    ]);
    expect(await skipped(open.id)).toEqual([
      [third, 'plan'],
      [second, 'disabled'],
    ]);
    const page = await staff.deliveries.listSkipped({ id: open.id, pageSize: 1 });
    expect(page.data).toMatchObject([{ eventType: 'BotDetected', reason: 'plan' }]);
    const { nextCursor } = page.pagination;
    expect(await staff.deliveries.listSkipped({ id: open.id, pageSize: 1, cursor: nextCursor })).toMatchObject({
      data: [{ reason: 'disabled' }],
      pagination: { hasMore: false },
    });
  });
});

describe('the log of one integration', () => {
  it('does not exist for another integration', async () => {
    const { id } = await subscribe();
    receiver.answer = () => 404;
    await detectBots();
    const [delivery] = await list(id);
    const other = await createCaller(server, (await server.createTenant('enterprise')).key);
    const noWebhook = refusal('NOT_FOUND', 'Webhook not found');
    expect(await refused(other.deliveries.list({ id }))).toEqual(noWebhook);
    expect(await refused(other.deliveries.listSkipped({ id }))).toEqual(noWebhook);
    expect(await refused(other.deliveries.recover({ id, startDate: '2020-01-01' }))).toEqual(noWebhook);
    const noDelivery = refusal('NOT_FOUND', 'Delivery not found');
    expect(await refused(other.deliveries.get({ id: delivery!.id }))).toEqual(noDelivery);
    expect(await refused(other.deliveries.resend({ id: delivery!.id }))).toEqual(noDelivery);
    expect(await list(id)).toEqual([delivery]);
  });
});

describe('the sweep', () => {
  it('gives back an attempt whose process died, and ends a delivery after five such attempts', async () => {
    const { id } = await subscribe();
    await detectBots();
    const deliveryId = (await list(id))[0]!.id;
    const die = () => sql()`
      update webhook_deliveries set status = 'Pending', finished_at = null, attempts = 1, lease = gen_random_uuid(),
             next_attempt_at = now() - interval '1 s' where id = ${deliveryId}`;
    await patch(id, { enabled: false });
    for (let crashes = 1; crashes <= 4; crashes++) {
      await die();
      await server.service.dispatcher.sweep();
      expect((await list(id))[0]).toMatchObject({ status: 'Pending', attempts: 0 });
    }
    await die();
    await server.service.dispatcher.sweep();
    expect((await list(id))[0]).toMatchObject({ status: 'PoisonAborted', nextAttemptAt: null });
    expect((await list(id))[0]!.finishedAt).not.toBeNull();
  });
});

describe('retention', () => {
  it('removes deliveries that ended over 30 days ago, in batches, and keeps their counts for usage', async () => {
    const { id } = await subscribe();
    receiver.answer = () => (receiver.received.length === 1 ? 404 : 200);
    await detectBots(3);
    await sql()`
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, attempts, finished_at)
      select ${tenant.id}, 'dlv-' || n, ${id}, 'old-' || n, case when n % 4 = 0 then 'Failed' else 'Delivered' end, 1, now() - interval '31 days'
        from generate_series(1, 1200) n`;
    await sql()`
      insert into webhook_attempts (integration_id, delivery_id, subscription_id, attempt, started_at, duration_ms)
      select ${tenant.id}, 'dlv-' || n, ${id}, 1, now() - interval '31 days', 5 from generate_series(1, 1200) n`;
    await sql()`
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id, attempts, next_attempt_at, created_at)
      values (${tenant.id}, 'waiting', ${id}, 'old-0', 1, '2100-01-01', now() - interval '40 days')`;
    const startDate = new Date(Date.now() - 60 * 86_400_000).toISOString().slice(0, 10);
    const readUsage = async () =>
      (await server.call('GET', `/v1/usage?startDate=${startDate}`, { key: tenant.key })).body.data.webhookDeliveries;
    const before = await readUsage();
    expect(before).toEqual({ delivered: 902, failed: 301 });
    // Of all tests before too: what failed, was sent again, recovered and aborted.
    await expectExactOutcomes(server.service.db);
    expect(await pruneDeliveries(server.service.db)).toBe(1_200);
    await expectExactOutcomes(server.service.db);
    expect(await pruneDeliveries(server.service.db)).toBe(0);
    expect(await readUsage()).toEqual(before);
    expect((await list(id, { pageSize: 100 })).map(({ status }) => status).sort()).toEqual([
      'Delivered',
      'Delivered',
      'Pending',
      'PermanentFailure',
    ]);
    const [left] =
      await sql()`select count(*)::int as attempts from webhook_attempts where integration_id = ${tenant.id}`;
    expect(left).toEqual({ attempts: 3 });
    await remove(id);
  });
});
