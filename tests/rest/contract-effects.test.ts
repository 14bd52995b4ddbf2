import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { revokeKey } from '../../server/domain/api-keys';
import { createUsageMeter } from '../../server/domain/usage';
import { expectError } from '../support/answers';
import { type ApiServer, startSelfHosted } from '../support/api-servers';
import { Connection, sendRaw } from '../support/connection';
import { scoredSession } from '../support/facts';
import { createFixture, type Fixture } from '../support/fixture';
import { findFreePort } from '../support/ports';
import { type Received, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import type { Answer } from '../support/server';

// Effects of calls beyond their answers, on the self-hosted server: test deliveries, bodies that are not needed, usage.

let api: ApiServer;
let receiver: Receiver;
/** A receiver that only the base server may call. */
let hidden: Receiver;
/** A host where nothing listens. */
let deadHost: string;
beforeAll(async () => {
  [receiver, hidden] = await Promise.all([startReceiver(), startReceiver()]);
  deadHost = `127.0.0.1:${await findFreePort()}`;
  const settings = { WEBHOOK_TIMEOUT: '1500ms', QUOTA_FREE: '3' };
  const allowed = [receiver.host, deadHost];
  api = await startSelfHosted(
    { ...settings, WEBHOOK_ALLOW_HOSTS: allowed.join() },
    { ...settings, WEBHOOK_ALLOW_HOSTS: [...allowed, hidden.host].join() },
  );
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([receiver.stop(), hidden.stop()]);
});

const postTest = async ({ call }: Fixture, id: string): Promise<Answer> => call('POST', `/v1/webhooks/${id}/test`);

/** Computes the signature as the documentation tells receivers to. */
function signatureOf({ headers, body }: Received, secret: string) {
  const text = `${headers['x-webhook-timestamp']}.${body}`;
  return `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
}

const readSubscription = async (id: string) =>
  (await api.base.database.db.sql`select * from webhook_subscriptions where id = ${id}`)[0];

describe('a test delivery', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await createFixture({ base: api.base, api, receiver });
  });
  afterEach(() => {
    receiver.received.length = 0;
    receiver.answer = () => 200;
  });

  async function expectOutcome(id: string, expected: Record<string, unknown>) {
    const answer = await postTest(fixture, id);
    api.document.expectDocumented(answer, 'POST', '/v1/webhooks/{id}/test');
    expect(answer.body).toEqual({ data: { deliveryId: expect.stringMatching(/^dlv_/), attempts: 1, ...expected } });
    return answer.body.data.deliveryId as string;
  }

  it('is a signed POST of the wrapper, marked as a test', async () => {
    const { id, ids, secret } = fixture;
    const deliveryId = await expectOutcome(ids.id, { status: 'Delivered', responseCode: 200, errorClass: null });
    expect(receiver.received).toHaveLength(1);
    const [delivery] = receiver.received as [Received];
    expect(delivery.headers).toMatchObject({
      'content-type': 'application/json',
      'x-webhook-event': 'BotDetected',
      'x-webhook-id': ids.id,
      'x-webhook-delivery-id': deliveryId,
      'x-webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'x-webhook-signature': signatureOf(delivery, secret),
      'x-webhook-test': 'true',
    });
    const body = JSON.parse(delivery.body);
    expect(body).toEqual({
      eventType: 'BotDetected',
      integrationId: id,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { test: true, message: expect.stringMatching(/\S/), subscriptionId: ids.id, deliveryId },
    });
    expect(Math.abs(Date.parse(body.timestamp) - Date.now())).toBeLessThan(60_000);
    expect(Math.abs(Number(delivery.headers['x-webhook-timestamp']) * 1000 - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    [200, 'Delivered', null],
    [204, 'Delivered', null],
    [301, 'Failed', 'HTTP301'],
    [404, 'PermanentFailure', '4xx'],
    [408, 'Failed', 'Timeout'],
    [429, 'Failed', 'RateLimited'],
    [503, 'Failed', '5xx'],
    [null, 'Failed', 'Timeout'],
  ])(
    'that the receiver answers with %s is %s, is not repeated and is not counted',
    async (code, status, errorClass) => {
      const { ids, get } = fixture;
      // One more counted failure would disable it. A success would reset the failures.
      await api.base.database.db.sql`
      update webhook_subscriptions
         set consecutive_failures = 2, last_delivery_at = '2026-01-01', last_delivery_status = 'PoisonAborted'
       where id = ${ids.id}`;
      const before = await readSubscription(ids.id);
      const counted = (await get('/v1/usage')).body.data.webhookDeliveries;
      receiver.answer = () => code;
      await expectOutcome(ids.id, { status, responseCode: code ?? 0, errorClass });
      expect(await readSubscription(ids.id)).toEqual(before);
      expect((await get(`/v1/webhooks/${ids.id}`)).body.data).toMatchObject({
        enabled: true,
        lastDeliveryAt: '2026-01-01T00:00:00.000Z',
        lastDeliveryStatus: 'PoisonAborted',
      });
      expect(receiver.received).toHaveLength(1);
      expect((await get('/v1/usage')).body.data.webhookDeliveries).toEqual(counted);
    },
  );

  it('that nothing receives is Failed as Network', async () => {
    const body = { url: `http://${deadHost}/`, eventType: 'ReportReady' };
    const { id } = (await fixture.call('POST', '/v1/webhooks', { body })).body.data;
    await expectOutcome(id, { status: 'Failed', responseCode: 0, errorClass: 'Network' });
  });

  it('to an address that is forbidden here is PermanentFailure as BlockedSsrf and sends nothing', async () => {
    const body = { url: `${hidden.url}/`, eventType: 'ReportReady' };
    const { id } = (await api.base.call('POST', '/v1/webhooks', { key: fixture.key, body })).body.data;
    await expectOutcome(id, { status: 'PermanentFailure', responseCode: 0, errorClass: 'BlockedSsrf' });
    expect(hidden.received).toHaveLength(0);
    const allowed = await api.base.call('POST', `/v1/webhooks/${id}/test`, { key: fixture.key });
    expect(allowed.body.data.status).toBe('Delivered');
    hidden.received.length = 0;
  });

  it('reaches a disabled subscription and leaves it disabled', async () => {
    const { disabledWebhookId, get } = fixture;
    await expectOutcome(disabledWebhookId, { status: 'Delivered', responseCode: 200, errorClass: null });
    expect(receiver.received[0]?.headers['x-webhook-id']).toBe(disabledWebhookId);
    expect((await get(`/v1/webhooks/${disabledWebhookId}`)).body.data).toMatchObject({
      enabled: false,
      lastDeliveryAt: null,
      lastDeliveryStatus: null,
    });
  });

  it('may fail three times in a row without disabling the subscription', async () => {
    const { ids, get } = fixture;
    receiver.answer = () => 410;
    const deliveryIds = new Set<string>();
    for (let n = 0; n < 3; n++) deliveryIds.add((await postTest(fixture, ids.id)).body.data.deliveryId);
    expect(deliveryIds.size).toBe(3);
    expect((await get(`/v1/webhooks/${ids.id}`)).body.data).toMatchObject({ enabled: true, disabledReason: null });
    expect(await readSubscription(ids.id)).toMatchObject({ consecutive_failures: 0, last_delivery_at: null });
  });

  it('is signed with the new secret as soon as the secret was rotated', async () => {
    const { ids, call, secret } = fixture;
    const rotated = (await call('POST', `/v1/webhooks/${ids.id}/rotate-secret`)).body.data.secret;
    await postTest(fixture, ids.id);
    const [delivery] = receiver.received as [Received];
    expect(delivery.headers['x-webhook-signature']).toBe(signatureOf(delivery, rotated));
    expect(delivery.headers['x-webhook-signature']).not.toBe(signatureOf(delivery, secret));
  });

  it('does not count as a delivery in the usage, as real ones do', async () => {
    const { id, ids, get } = fixture;
    const readDeliveries = async () => (await get('/v1/usage')).body.data.webhookDeliveries;
    const before = await readDeliveries();
    await postTest(fixture, ids.id);
    await api.base.ingest(id, scoredSession(0.95).facts);
    await waitUntil(async () => (await readDeliveries()).delivered > 0);
    expect(await readDeliveries()).toEqual({ ...before, delivered: 1 });
    expect(receiver.received.map(({ headers }) => headers['x-webhook-test'])).toEqual(['true', undefined]);
  });
});

describe('an action that needs no body', () => {
  const EMPTY: [what: string, headers: Record<string, string>, body: string][] = [
    ['nothing', {}, ''],
    ['Content-Length: 0', { 'Content-Length': '0' }, ''],
    ['no chunk', { 'Transfer-Encoding': 'chunked' }, '0\r\n\r\n'],
    ...['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'nonsense', ''].map(
      (type): [string, Record<string, string>, string] => [
        `nothing as ${type || '(empty)'}`,
        { 'Content-Type': type },
        '',
      ],
    ),
  ];
  const UNREAD: [type: string, body: string][] = [
    ['application/json', '{"'],
    ['application/json', '[1]'],
    ['text/plain', 'x'.repeat(60_000)],
    ['nonsense', 'x'.repeat(300_000)],
  ];
  const toPath = {
    'rotate-secret': ({ ids }: Fixture) => `/v1/webhooks/${ids.id}/rotate-secret`,
    test: ({ ids }: Fixture) => `/v1/webhooks/${ids.id}/test`,
    confirm: ({ ids }: Fixture) => `/v1/users/${encodeURIComponent(ids.userId)}/devices/${ids.fingerprint}/confirm`,
  };

  it.each(['rotate-secret', 'test', 'confirm'] as const)(
    '%s works without a body and with an empty one',
    async (action) => {
      const fixture = await createFixture({ base: api.base, api, receiver });
      for (const [what, headers, body] of EMPTY) {
        const connection = await Connection.open(api.url);
        connection.writeHead('POST', toPath[action](fixture), { Authorization: `Bearer ${fixture.key}`, ...headers });
        connection.write(body);
        const answer = await connection.read();
        expect([what, answer.status, answer.body?.error]).toEqual([what, 200, undefined]);
        // The connection can carry the next request, or the answer announces that it closes: unread chunks have no known
        // length.
        if (answer.header('connection') === 'close') {
          expect(headers).toHaveProperty('Transfer-Encoding');
          await connection.closed;
          continue;
        }
        connection.writeHead('GET', '/v1/integration', { Authorization: `Bearer ${fixture.key}` });
        expect((await connection.read()).body.data.id).toBe(fixture.id);
        connection.close();
      }
    },
  );

  it('a test ignores the body', async () => {
    const fixture = await createFixture({ base: api.base, api, receiver });
    for (const [type, body] of UNREAD) {
      const headers = { Authorization: `Bearer ${fixture.key}`, 'Content-Type': type };
      const answer = await sendRaw(api.url, 'POST', toPath.test(fixture), { headers, body });
      expect([type, answer.status, answer.body?.error]).toEqual([type, 200, undefined]);
    }
  });
});

/** Asks by `x-api-key`. No test here uses up the shared bucket. */
const askShared = (api: ApiServer | ApiServer['base'], key: string, path: string) =>
  api.call('GET', path, { headers: { 'x-api-key': key } });
const readUsage = async (api: ApiServer | ApiServer['base'], key: string, query = '') => {
  const answer = await askShared(api, key, `/v1/usage${query}`);
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  return answer.body.data;
};
const sumSeries = (series: Record<string, number>[]) =>
  Object.fromEntries(
    ['requests', 'errors', 'rateLimited'].map((name) => [name, series.reduce((sum, day) => sum + day[name]!, 0)]),
  );

describe('usage', () => {
  it('counts a fault on our side as a server error alone', async () => {
    const { key } = await api.base.createTenant();
    const { sql } = api.base.database.db;
    await sql`alter table courses rename to courses_gone`;
    const answer = await api
      .call('GET', '/v1/courses', { key })
      .finally(() => sql`alter table courses_gone rename to courses`);
    expect(answer.status).toBe(500);
    expect(await readUsage(api, key)).toMatchObject({
      ...{ totalRequests: 1, successfulRequests: 0, clientErrors: 0, serverErrors: 1 },
      byEndpoint: [{ method: 'GET', path: '/v1/courses', requests: 1, errors: 1 }],
    });
  });

  it('is written within seconds by itself, and by the end of its process what is left', async () => {
    const { id: integrationId, keyId } = await api.base.createTenant();
    const { db } = api.base.database;
    const readRequests = async () => {
      const rows = await db.sql<{ requests: number }[]>`
        select sum(requests)::int as requests from usage_daily where integration_id = ${integrationId} having count(*) > 0`;
      return rows.map(({ requests }) => requests);
    };
    const meter = createUsageMeter({ db, log: api.base.service.log });
    const record = () => meter.record({ integrationId, keyId, method: 'GET', path: '/v1/stats', status: 200 });
    record();
    await expect.poll(readRequests).toEqual([1]);
    record();
    await meter.close();
    expect(await readRequests()).toEqual([2]);
    // A timer would keep a process that ends, and its pool is closed by then.
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    record();
    expect(setTimer).not.toHaveBeenCalled();
    setTimer.mockRestore();
  });

  it('that could not be written is added up with what follows, and keeps when its key was used', async () => {
    const { id: integrationId, keyId } = await api.base.createTenant();
    const { db } = api.base.database;
    const query = vi.fn(db.query).mockRejectedValueOnce(new Error('away'));
    const meter = createUsageMeter({ db: { ...db, query: query as typeof db.query }, log: api.base.service.log });
    const record = () => {
      for (const status of [200, 404, 429, 500, 503])
        meter.record({ integrationId, keyId, method: 'GET', path: '/v1/stats', status });
    };
    const readCounts = () => db.sql`
      select sum(requests)::int as requests, sum(client_errors)::int as "clientErrors", sum(server_errors)::int as "serverErrors",
             sum(rate_limited)::int as "rateLimited"
        from usage_daily where integration_id = ${integrationId}`;
    record();
    await expect(meter.flush()).rejects.toThrow('away');
    record();
    await meter.flush();
    expect([...(await readCounts())]).toEqual([{ requests: 10, clientErrors: 4, serverErrors: 4, rateLimited: 2 }]);
    record();
    await meter.flush();
    expect([...(await readCounts())]).toEqual([{ requests: 15, clientErrors: 6, serverErrors: 6, rateLimited: 3 }]);
    const [key] = await db.sql`select last_used_at is not null as "isUsed" from api_keys where id = ${keyId}`;
    expect(key).toEqual({ isUsed: true });
    await meter.close();
  });

  it('is written once for all answers of a moment where a process may be frozen after each', async () => {
    const { id: integrationId, keyId } = await api.base.createTenant();
    const { db } = api.base.database;
    const query = vi.fn(db.query);
    const meter = createUsageMeter({ db: { ...db, query: query as typeof db.query }, log: api.base.service.log });
    const answer = () => {
      meter.record({ integrationId, keyId, method: 'GET', path: '/v1/stats', status: 200 });
      return meter.flushSoon();
    };
    await Promise.all([answer(), answer(), answer()]);
    expect(query).toHaveBeenCalledTimes(1);
    const rows = await db.sql`select requests::int from usage_daily where integration_id = ${integrationId}`;
    expect([...rows]).toEqual([{ requests: 3 }]);
    await answer();
    expect(query).toHaveBeenCalledTimes(2);
    await meter.close();
  });

  it('counts requests by route, and those over the limit as client errors', async () => {
    const { key } = await api.base.createTenant('free');
    const ask = async (path: string) => (await api.call('GET', path, { key })).status;
    expect(await ask('/v1/sessions/one?x=1')).toBe(404);
    expect(await ask('/v1/sessions/other')).toBe(404);
    // The quota is 3. A new minute may begin in between.
    const statuses: number[] = [];
    while (statuses.filter((status) => status === 429).length < 2) statuses.push(await ask('/v1/stats'));
    const served = statuses.length - 2;
    const usage = await readUsage(api, key);
    expect(usage).toMatchObject({
      totalRequests: statuses.length + 2,
      successfulRequests: served,
      clientErrors: 4,
      serverErrors: 0,
      rateLimitedRequests: 2,
      byEndpoint: [
        { method: 'GET', path: '/v1/stats', requests: statuses.length, errors: 2 },
        { method: 'GET', path: '/v1/sessions/{sessionId}', requests: 2, errors: 2 },
      ],
      limits: { tier: 'free', requestsPerMinute: 3 },
    });
    expect(sumSeries(usage.timeSeries)).toEqual({ requests: statuses.length + 2, errors: 4, rateLimited: 2 });
    // The next answer counts the request of this one.
    expect((await readUsage(api, key)).totalRequests).toBe(usage.totalRequests + 1);
  });

  it('does not count failed authentication', async () => {
    const { id, key, keyId } = await api.base.createTenant();
    const { sql } = api.base.database.db;
    await revokeKey(asOperator(api.base.service.db), { id: keyId });
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }, { 'x-integration-id': id }, {}])
      expect((await api.call('GET', '/v1/stats', { headers: headers as Record<string, string> })).status).toBe(401);
    const witness = await api.base.createTenant();
    expect((await readUsage(api, witness.key)).totalRequests).toBe(0);
    const strayed = await sql`
      select * from usage_daily u
       where u.integration_id = ${id} or not exists (select 1 from integrations i where i.id = u.integration_id)`;
    expect(strayed).toHaveLength(0);
    expect(await sql`select * from rate_windows where bucket = ${`key:${keyId}`}`).toHaveLength(0);
  });

  it('covers the last 30 days by default, in whole UTC days', async () => {
    const { key } = await api.base.createTenant();
    const { startDate, endDate, timeSeries } = await readUsage(api, key);
    expect(Math.abs(Date.parse(endDate) - Date.now())).toBeLessThan(60_000);
    const day = 86_400_000;
    const firstDay = Math.floor(Date.parse(endDate) / day) * day - 30 * day;
    expect(startDate).toBe(new Date(firstDay).toISOString());
    const days = Array.from({ length: 31 }, (_, n) => new Date(firstDay + n * day).toISOString());
    expect(timeSeries.map(({ timestamp }: { timestamp: string }) => timestamp)).toEqual(days);
  });

  it.each([
    ['startDate=2026-03-01&endDate=2026-03-02', '2026-03-01', '2026-03-03T00:00:00.000Z', 11, 2],
    ['startDate=2026-03-02&endDate=2026-03-02', '2026-03-02', '2026-03-03T00:00:00.000Z', 10, 1],
    ['startDate=2026-03-01&endDate=2026-03-03T00:00:00Z', '2026-03-01', '2026-03-03T00:00:00.000Z', 11, 2],
    ['startDate=2026-03-01&endDate=2026-03-03T00:00:00.001Z', '2026-03-01', '2026-03-03T00:00:00.001Z', 111, 3],
    ['startDate=2026-03-02T23:59:59Z&endDate=2026-03-03', '2026-03-02', '2026-03-04T00:00:00.000Z', 110, 2],
    ['startDate=2026-03-02T01:00:00%2B02:00&endDate=2026-03-02', '2026-03-01', '2026-03-03T00:00:00.000Z', 11, 2],
    ['endDate=2026-03-02', '2026-02-01', '2026-03-03T00:00:00.000Z', 11, 30],
    ['startDate=2025-03-04&endDate=2026-03-04', '2025-03-04', '2026-03-05T00:00:00.000Z', 111, 366],
  ])('of %s counts its UTC days', async (query, startDay, endDate, totalRequests, days) => {
    const { id, key } = await api.base.createTenant();
    const { sql } = api.base.database.db;
    for (const [day, requests] of [
      ['2026-03-01', 1],
      ['2026-03-02', 10],
      ['2026-03-03', 100],
    ] as const) {
      await sql`
        insert into usage_daily (integration_id, day, method, path, requests, client_errors, server_errors, rate_limited)
        values (${id}, ${day}, 'GET', '/v1/stats', ${requests}, 0, 0, 0)`;
      for (const table of ['outcome_counts', 'pruned_outcomes'])
        await sql`insert into ${sql(table)} (integration_id, day, delivered, failed) values (${id}, ${day}, ${requests}, 0)`;
    }
    const usage = await readUsage(api, key, `?${query}`);
    expect(usage).toMatchObject({ startDate: `${startDay}T00:00:00.000Z`, endDate, totalRequests });
    // Of the log, and of what was removed from it.
    expect(usage.webhookDeliveries).toEqual({ delivered: 2 * totalRequests, failed: 0 });
    expect(usage.timeSeries).toHaveLength(days);
    expect(sumSeries(usage.timeSeries).requests).toBe(totalRequests);
    expect(usage.byEndpoint).toEqual([{ method: 'GET', path: '/v1/stats', requests: totalRequests, errors: 0 }]);
  });

  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  it.each([
    ['endDate', 'an end before the start', 'startDate=2026-03-02&endDate=2026-03-01'],
    ['endDate', 'an end a moment before', 'startDate=2026-03-02T00:00:00.001Z&endDate=2026-03-02T00:00:00Z'],
    ['endDate', '367 days', 'startDate=2025-03-03&endDate=2026-03-04'],
    ['endDate', 'an end that is no date', 'endDate=2026-3-1'],
    ['startDate', 'a start over 366 days ago', `startDate=${inDays(-367)}`],
    ['startDate', 'a start to come', `startDate=${inDays(1)}`],
  ])('names %s for %s', async (field, _what, query) => {
    const { key } = await api.base.createTenant();
    expectError(await askShared(api, key, `/v1/usage?${query}`), 'INVALID_REQUEST', field);
  });
});

// This test is the last one because it ends the server.
it('the server writes its counts when it ends', async () => {
  const { id, key } = await api.base.createTenant();
  await Promise.all(Array.from({ length: 20 }, () => api.call('GET', '/v1/courses', { key })));
  await api.call('PUT', '/v1/courses', { key });
  await api.end();
  expect((await readUsage(api.base, key)).byEndpoint).toEqual([
    { method: 'GET', path: '/v1/courses', requests: 20, errors: 0 },
    { method: 'PUT', path: '(unmatched)', requests: 1, errors: 1 },
  ]);
  const rows = await api.base.database.db.sql`select day from usage_daily where integration_id = ${id}`;
  expect(rows.length).toBeGreaterThanOrEqual(2);
});
