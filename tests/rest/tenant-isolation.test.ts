import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSettled } from '../../db/event-positions';
import { asOperator } from '../../server/audit/acts';
import { mintKey, revokeKey } from '../../server/domain/api-keys';
import { createSite } from '../../server/domain/sites';
import type { Fact } from '../../server/pipeline/facts';
import { NATURAL_KEYS } from '../../server/webhooks/natural-keys';
import { expectError, fingerprintOf } from '../support/answers';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { findUncalled, listRouteCalls, type RouteCall, type Subject } from '../support/route-calls';
import { type Answer, startTestServer, type TestServer } from '../support/server';
import { makeTenantFacts, SHARED, SHARED_COURSE } from '../support/tenant-facts';
import { hashTenantRows } from '../support/tenant-rows';
import { TENANT_TABLES } from '../support/tenant-tables';

// Two tenants whose sessions, users, devices, anomalies and courses have the same ids and addresses, but different
// content.

interface Tenant {
  id: string;
  key: string;
  keyId: string;
  /** A word in every text of the tenant, and nowhere else. */
  marker: string;
  /** Its subscriptions, by event type. */
  webhooks: { id: string; eventType: string; secret: string }[];
  /** One of the first webhook. */
  delivery: { deliveryId: string; eventId: string };
  groups: Fact[][];
}

const EVENT_TYPES = Object.keys(NATURAL_KEYS).sort();
/** Of what facts say. */
const LISTS = [
  'sessions',
  `sessions/${SHARED.sessions[0]}/events`,
  'users',
  `users/${SHARED.users[0]}/sessions`,
  'courses',
];
const ALL_LISTS = [...LISTS, 'audit-log'];
/** Fields that make facts fire: a bot, and an anomaly of a type that no confirmed device suppresses. */
const FIRING: Partial<Record<Fact['kind'], object>> = {
  sessionScored: { botScore: 0.99 },
  anomalyDetected: { anomalyId: 'anomaly-of-both', anomalyType: 'ImpossibleTravel' },
  reportReady: { reportId: 'report-of-both' },
  alertFired: { alertId: 'alert-of-both' },
};
const HOUR_MS = 3_600_000;

let server: TestServer;
let receiver: Receiver;
let ours: Tenant;
let theirs: Tenant;
/** What our routes answered before the other tenant's facts arrived. */
let alone: Map<string, string>;

beforeAll(async () => {
  // The buckets of analytics change every hour. The hour must not end in the middle of this.
  const untilHour = HOUR_MS - (Date.now() % HOUR_MS);
  if (untilHour < 45_000) await sleep(untilHour);
  receiver = await startReceiver();
  server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
  ours = await createTenant('alpha-6b1f', 0);
  theirs = await createTenant('bravo-93e7', 1);
  await send(ours, ours.groups);
  await mark(ours);
  await settle();
  await nameDelivery(ours);
  alone = await readAll(ours);
  await send(theirs, theirs.groups);
  await mark(theirs);
  await settle();
  await nameDelivery(theirs);
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

async function createTenant(marker: string, variety: number): Promise<Tenant> {
  const created = await server.createTenant();
  const { sql } = server.database.db;
  await sql`update integrations set name = ${marker}, allowed_origins = ${`{https://${marker}.example.edu}`}::text[]
             where id = ${created.id}`;
  // Rows as pruned deliveries and sessions leave them.
  await sql`insert into pruned_outcomes (integration_id, day, delivered, failed)
            values (${created.id}, (now() - interval '40 days')::date, ${variety}, 0)`;
  await sql`insert into pruned_ends (integration_id, kind, value, first_seen_at, last_seen_at)
            values (${created.id}, 'all', '', now() - interval '900 days', now() - interval '800 days')`;
  await sql`insert into saved_views (integration_id, id, page, name, query)
    values (${created.id}, 'vie_same', 'sessions', 'Bots', 'riskLevel=bot')`;
  await sql`insert into operator_notices (integration_id, id, subscription_id, payload, next_attempt_at)
            values (${created.id}, 'ntc_same', ${marker}, '{}', 'infinity')`;
  await sql`insert into review_draws (integration_id, day, population) values (${created.id}, '2026-01-01', 3)`;
  await sql`insert into review_sample (integration_id, day, position, session_id) values (${created.id}, '2026-01-01', 1, 'drawn')`;
  await sql`insert into finding_rules (integration_id, rule, is_enabled) values (${created.id}, 'Correlation', ${variety > 0})`;
  const site = await createSite(asOperator(server.service.db), { integrationId: created.id, name: marker });
  await sql`insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent)
            values (${created.id}, 'session-1', ${site.id}, now(), now()::date, ${marker})`;
  await sql`insert into report_jobs (integration_id, id, name, template, format, parameters, start_at, end_at, state, expires_at)
            values (${created.id}, ${`rep-${marker}`}, ${marker}, 'sessions', 'csv', '{}', now(), now(), 'Ready', now() + interval '1 day')`;
  await sql`insert into report_chunks (integration_id, report_id, part, number, content)
            values (${created.id}, ${`rep-${marker}`}, '0', 0, ${Buffer.from(marker)})`;
  await sql`insert into report_schedules (integration_id, id, name, template, format, parameters, cadence, hour, time_zone, next_due_at)
            values (${created.id}, ${`sch-${marker}`}, ${marker}, 'sessions', 'csv', '{}', 'daily', 0, 'UTC', now() + interval '1 year')`;
  // Off, so that no alert comes while answers are compared.
  await sql`
    insert into alert_rules (integration_id, id, name, metric, scope, scope_value, window_minutes, comparison, value, min_sessions,
                             severity, message, cool_down_minutes, enabled)
    values (${created.id}, 'rul_shared', ${marker}, 'botSessions', 'course', ${SHARED_COURSE}, 60, 'gte', 1, 20,
            'high', ${marker}, 60, false)`;
  await sql`
    insert into user_erasures (integration_id, id, refused_until, completed_at, position, counts)
    values (${created.id}, 'era_shared', now(), now(), '{"step": 0}', '{"sessions": 0, "traces": 0, "events": 0, "deliveries": 0, "reports": 0, "texts": 0}')`;
  const delivery = { deliveryId: '', eventId: '' };
  const tenant = { ...created, marker, webhooks: [], delivery, groups: makeTenantFacts(marker, variety) } as Tenant;
  for (const eventType of EVENT_TYPES) {
    const body = { url: `${receiver.url}/${marker}`, eventType, name: marker };
    const headers = { 'idempotency-key': eventType };
    tenant.webhooks.push((await server.call('POST', '/v1/webhooks', { key: created.key, body, headers })).body.data);
  }
  return tenant;
}

const call = ({ key }: Tenant, { method, path, body }: RouteCall) =>
  server.call(method, path, { key, ...(body === undefined ? {} : { body }) });
const get = (tenant: Tenant, path: string) => call(tenant, { method: 'GET', path: `/v1/${path}` });

async function send({ id }: Tenant, groups: Fact[][]) {
  for (const facts of groups) expect((await server.ingest(id, facts)).status).toBe(200);
}

/** Writes the tenant's marker wherever customers can write. */
async function mark(tenant: Tenant) {
  const { marker } = tenant;
  const session = `/v1/sessions/${SHARED.sessions[1]}/label`;
  await call(tenant, { method: 'POST', path: session, body: { verdict: 'bot', notes: marker } });
  const device = `/v1/users/${SHARED.users[0]}/devices/${SHARED.fingerprints[0]}/confirm`;
  await call(tenant, { method: 'POST', path: device, body: { notes: marker } });
}

/** Waits until all background work is done. */
async function settle() {
  const { sql } = server.database.db;
  await server.service.findings.flush();
  await server.service.dispatcher.publisher.flush();
  await waitUntil(async () => {
    const [counted] = await sql<{ open: number }[]>`
      select ((select count(*) from webhook_deliveries where status = 'Pending')
              + (select count(*) from webhook_subscriptions where nudged_at is not null)
              + (select count(*) from domain_events where not ${sql.unsafe(isSettled('position'))}))::int as open`;
    return counted!.open === 0;
  });
  await server.service.usage.flush();
}

/** Finds a delivery of the first webhook. */
async function nameDelivery(tenant: Tenant) {
  const [delivery] = await server.database.db.sql<Tenant['delivery'][]>`
    select id as "deliveryId", event_id as "eventId" from webhook_deliveries
     where integration_id = ${tenant.id} and subscription_id = ${tenant.webhooks[0]!.id} order by id limit 1`;
  tenant.delivery = delivery!;
}

const subjectOf = ({ marker, webhooks, delivery }: Tenant): Subject => ({
  sessionId: SHARED.sessions[0]!,
  userId: SHARED.users[0]!,
  fingerprint: SHARED.fingerprints[0]!,
  courseId: SHARED_COURSE,
  origin: SHARED.origin,
  detectionFlag: 'shared',
  webhookId: webhooks[0]!.id,
  ...delivery,
  receiptId: 'era_shared',
  webhookUrl: `${receiver.url}/${marker}`,
});

/** Every reading call, with the shared ids, and every page. */
function listReads(tenant: Tenant): string[] {
  const routes = listRouteCalls(subjectOf(tenant));
  expect(findUncalled(routes)).toEqual([]);
  const paths = [...routes.values()].flat().filter(({ method }) => method === 'GET');
  const sessions = SHARED.sessions.flatMap((id) =>
    ['', '/details', '/events', '/evidence'].map((rest) => `sessions/${id}${rest}`),
  );
  const users = SHARED.users.map((id) => `users/${id}/sessions`);
  return [...paths.map(({ path }) => path.slice('/v1/'.length)), ...sessions, ...users];
}

/**
 * Reads what all reading routes answer, without the times of asking. `usage` is left out because it counts these
 * requests.
 */
async function readAll(tenant: Tenant): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for (const path of listReads(tenant))
    if (!path.startsWith('usage')) answers.set(path, hideTimes(await get(tenant, path)));
  for (const path of ALL_LISTS) {
    let cursor = '';
    for (let page = 1; page === 1 || cursor !== ''; page++) {
      const answer = await get(tenant, `${path}?pageSize=1${cursor}`);
      answers.set(`${path} page ${page}`, hideTimes(answer));
      cursor = answer.body.pagination.hasMore ? `&cursor=${answer.body.pagination.nextCursor}` : '';
    }
  }
  return answers;
}

const hideTimes = ({ status, text }: Answer) =>
  `${status} ${text.replaceAll(/"(generatedAt|exportedAt|startDate|endDate)":"[^"]+"/g, '"$1":"…"')}`;

/** Everything by which the other tenant could be recognised. The end of a key as a value of JSON: it can be part of a word. */
const tracesOf = ({ marker, id, webhooks, key, keyId }: Tenant) => [
  ...[marker, id, key, keyId, JSON.stringify(key.slice(-4))],
  ...webhooks.flatMap((webhook) => [webhook.id, webhook.secret]),
];

describe('of two tenants with the same ids', () => {
  it.each(['ours', 'theirs'] as const)('%s are shown nothing that belongs to the other', async (whose) => {
    const [own, other] = whose === 'ours' ? [ours, theirs] : [theirs, ours];
    for (const path of listReads(own)) {
      const { status, text, headers } = await get(own, path);
      expect([path, status]).toEqual([path, 200]);
      const bytes = text + JSON.stringify([...headers]);
      expect([path, tracesOf(other).filter((trace) => bytes.includes(trace))]).toEqual([path, []]);
    }
    for (const [path, text] of await readAll(own))
      expect([path, tracesOf(other).filter((trace) => text.includes(trace))]).toEqual([path, []]);
    // The markers are where the texts are.
    const marked = [
      'exports/sessions',
      'exports/users',
      'exports/webhook-events',
      'exports/audit-log',
      'sessions',
      'users',
      'courses',
      'analytics',
      'webhooks',
      'integration',
      ...ALL_LISTS,
    ];
    const session = `sessions/${SHARED.sessions[0]}`;
    for (const path of [...marked, `${session}/details`, `${session}/evidence`])
      expect([path, (await get(own, path)).text]).toEqual([path, expect.stringContaining(own.marker)]);
  });

  it('each reads what it read before the other’s facts arrived', async () => {
    const now = await readAll(ours);
    expect(alone.size).toBeGreaterThan(60);
    for (const [path, text] of alone) expect([path, now.get(path)]).toEqual([path, text]);
    expect(now.size).toBe(alone.size);
  });

  it('each counts only its own requests', async () => {
    const usageOf = async (tenant: Tenant) => (await get(tenant, 'usage')).body.data;
    const [before, others] = [await usageOf(ours), await usageOf(theirs)];
    for (let n = 0; n < 3; n++) await get(theirs, 'stats');
    const after = await usageOf(ours);
    // The second answer counts the first answer's request.
    expect(after.totalRequests).toBe(before.totalRequests + 1);
    expect((await usageOf(theirs)).totalRequests).toBe(others.totalRequests + 4);
    expect(after.webhookDeliveries.delivered).not.toBe(others.webhookDeliveries.delivered);
    expect((await get(ours, 'integration')).body.data.webhooks.active).toBe(EVENT_TYPES.length);
  });

  it.each(ALL_LISTS)('each continues in %s only with its own cursors', async (path) => {
    const first = await get(ours, `${path}?pageSize=1`);
    const other = await get(theirs, `${path}?pageSize=1`);
    const next = (tenant: Tenant, { body }: Answer) =>
      get(tenant, `${path}?pageSize=1&cursor=${body.pagination.nextCursor}`);
    expect((await next(ours, first)).status).toBe(200);
    expect((await next(theirs, other)).status).toBe(200);
    expectError(await next(ours, other), 'INVALID_REQUEST', 'cursor');
    expectError(await next(theirs, first), 'INVALID_REQUEST', 'cursor');
  });

  it('something that only the other has is as unknown as something nobody has', async () => {
    const calls = ({ session, user, webhook }: { session: string; user: string; webhook: string }): RouteCall[] => [
      ...['', '/details', '/events', '/evidence'].map((rest) => ({
        method: 'GET',
        path: `/v1/sessions/${session}${rest}`,
      })),
      { method: 'POST', path: `/v1/sessions/${session}/label`, body: { verdict: 'human', notes: ours.marker } },
      { method: 'GET', path: `/v1/users/${user}/sessions` },
      { method: 'GET', path: `/v1/webhooks/${webhook}` },
      { method: 'PATCH', path: `/v1/webhooks/${webhook}`, body: { name: ours.marker } },
      { method: 'PATCH', path: `/v1/webhooks/${webhook}`, body: { enabled: false } },
      { method: 'PATCH', path: `/v1/webhooks/${webhook}`, body: { enabled: true } },
      { method: 'POST', path: `/v1/webhooks/${webhook}/rotate-secret` },
      { method: 'POST', path: `/v1/webhooks/${webhook}/test` },
      { method: 'DELETE', path: `/v1/webhooks/${webhook}` },
    ];
    await server.service.usage.flush();
    const before = await hashTenantRows(server.database.db, theirs.id);
    const { marker, webhooks } = theirs;
    const foreign = calls({ session: `${marker}-session-1`, user: `${marker}-user`, webhook: webhooks[0]!.id });
    const unknown = calls({ session: 'nobody', user: 'nobody', webhook: 'whk_nobody' });
    for (const [index, one] of foreign.entries()) {
      const answer = await call(ours, one);
      expectError(answer, 'NOT_FOUND');
      expect(fingerprintOf(answer)).toEqual(fingerprintOf(await call(ours, unknown[index]!)));
    }
    expect(await hashTenantRows(server.database.db, theirs.id)).toEqual(before);
    expect((await get(theirs, `sessions/${marker}-session-1`)).status).toBe(200);
    for (const filter of [`userId=${marker}-user`, `fingerprint=${marker}-fingerprint`, `detectionFlag=${marker}`])
      expect((await get(ours, `sessions?${filter}`)).body.data).toEqual([]);
  });

  it('nothing that one writes changes any row of the other', async () => {
    const seen = await readAll(theirs);
    await settle();
    const rows = await hashTenantRows(server.database.db, theirs.id);
    const own = await hashTenantRows(server.database.db, ours.id);
    expect(Object.keys(rows).sort()).toEqual(TENANT_TABLES.map(({ name }) => name).sort());
    // All deltas are folded, and all findings judged.
    const empty = Object.keys(rows).filter((name) => rows[name]!.startsWith('0 '));
    expect(empty).toEqual(['fact_outbox', 'session_deltas']);

    // A webhook that may be deleted.
    const body = { url: `${receiver.url}/${ours.marker}`, eventType: 'ReportReady' };
    const spare = (await call(ours, { method: 'POST', path: '/v1/webhooks', body })).body.data;
    await server.database.db.sql`
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, finished_at)
      values (${ours.id}, 'dlv_spare', ${spare.id}, ${ours.delivery.eventId}, 'Failed', now())`;
    const subject = { ...subjectOf(ours), webhookId: spare.id, deliveryId: 'dlv_spare' };
    const writes = [...listRouteCalls(subject).values()].flat();
    for (const one of writes.filter(({ method }) => method !== 'GET'))
      expect([one, (await call(ours, one)).status]).toEqual([
        one,
        one.path.startsWith('/v1/webhooks/') && one.method === 'DELETE' ? 204 : 200,
      ]);
    await send(ours, makeTenantFacts(ours.marker, 5));
    await send(
      ours,
      SHARED.sessions.map((sessionId) => [
        { kind: 'sessionScored', sessionId, botScore: 1, detectionFlags: [], scoredAt: new Date().toISOString() },
      ]),
    );
    await settle();

    expect(await hashTenantRows(server.database.db, theirs.id)).toEqual(rows);
    expect(await hashTenantRows(server.database.db, ours.id)).not.toEqual(own);
    const now = await readAll(theirs);
    for (const [path, text] of seen) expect([path, now.get(path)]).toEqual([path, text]);
  });

  it('facts of one fire only its own webhooks', async () => {
    receiver.received.length = 0;
    const fire = ({ id, marker }: Tenant, sessionId: string) => {
      const facts = makeTenantFacts(marker, 0).slice(0, 2).flat();
      const about = facts.map((fact) => ({ ...fact, sessionId, ...FIRING[fact.kind] }) as Fact);
      return server.ingest(id, about);
    };
    // While one batch is being written, the batches that arrive share the next transaction.
    await Promise.all([
      send(ours, [[ours.groups[0]![0]!]]),
      fire(ours, 'session-of-both'),
      fire(theirs, 'session-of-both'),
    ]);
    await receiver.waitFor(2 * EVENT_TYPES.length);
    await settle();
    expect(receiver.received).toHaveLength(2 * EVENT_TYPES.length);
    for (const [own, other] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const came = receiver.received.filter(({ path }) => path === `/${own.marker}`);
      expect(came.map(({ headers }) => headers['x-webhook-event']).sort()).toEqual(EVENT_TYPES);
      for (const received of came) {
        const { id, secret } = own.webhooks.find(({ eventType }) => eventType === received.headers['x-webhook-event'])!;
        expect(received.headers['x-webhook-id']).toBe(id);
        expectSigned(received, secret);
        const bytes = received.body + JSON.stringify(received.headers);
        expect(tracesOf(other).filter((trace) => bytes.includes(trace))).toEqual([]);
      }
    }
    receiver.received.length = 0;
    await fire(ours, 'session-of-ours');
    await receiver.waitFor(2);
    await settle();
    expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set([`/${ours.marker}`]));
  });

  it('a key opens its own tenant’s data, whatever happens to other keys', async () => {
    const { db } = server.service;
    const second = { ...ours, ...(await mintKey(asOperator(db), { integrationId: ours.id, name: 'second' })) };
    const spare = { ...theirs, ...(await mintKey(asOperator(db), { integrationId: theirs.id, name: 'spare' })) };
    const sessions = await get(ours, 'sessions');
    expect((await get(second, 'sessions')).text).toBe(sessions.text);
    expect((await get(spare, 'integration')).body.data.id).toBe(theirs.id);
    await revokeKey(asOperator(db), { id: spare.id });
    expectError(await get(spare, 'sessions'), 'INVALID_API_KEY');
    expect((await get(ours, 'sessions')).text).toBe(sessions.text);
    expect((await get(theirs, 'integration')).body.data.id).toBe(theirs.id);
    const both = { authorization: `Bearer ${ours.key}`, 'x-api-key': theirs.key };
    expect((await server.call('GET', '/v1/sessions', { headers: both })).text).toBe(sessions.text);
  });

  it('however their facts are interleaved, each reads what it would read alone', async () => {
    const step = fc.constantFrom('left', 'right', 'both');
    const variety = fc.nat({ max: 9 });
    await fc.assert(
      fc.asyncProperty(variety, variety, fc.array(step, { maxLength: 20 }), async (left, right, steps) => {
        const groups = { left: makeTenantFacts('left', left), right: makeTenantFacts('right', right) };
        const together = { left: await server.createTenant(), right: await server.createTenant() };
        const waiting = { left: [...groups.left], right: [...groups.right] };
        const sendNext = async (side: 'left' | 'right') => {
          const facts = waiting[side].shift();
          if (facts) expect((await server.ingest(together[side].id, facts)).status).toBe(200);
        };
        const rest = groups.left.map(() => 'both' as const);
        for (const one of [...steps, ...rest])
          await Promise.all((one === 'both' ? (['left', 'right'] as const) : [one]).map(sendNext));
        for (const side of ['left', 'right'] as const) {
          const single = await server.createTenant();
          for (const facts of groups[side]) await server.ingest(single.id, facts);
          expect(await readFacts(together[side].key)).toEqual(await readFacts(single.key));
        }
      }),
      { numRuns: 4 },
    );
  });
});

/** Reads what depends on facts only, without what differs from tenant to tenant. */
async function readFacts(key: string): Promise<Record<string, string>> {
  const paths = ['sessions?pageSize=5', 'users', 'courses', 'analytics', 'stats', ...LISTS];
  const answers = await Promise.all(paths.map((path) => server.call('GET', `/v1/${path}`, { key })));
  return Object.fromEntries(
    answers.map((answer, index) => [
      paths[index]!,
      hideTimes(answer).replaceAll(/"(updatedAt|nextCursor)":"[^"]+"/g, '"$1":"…"'),
    ]),
  );
}
