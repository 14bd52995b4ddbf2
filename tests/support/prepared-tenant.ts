import { expect } from 'vitest';
import { EVENT_TYPE_NAMES } from '../../contract/events';
import { foldCounts } from './count-rows';
import type { TestDatabase } from './database';
import { closed, scored, secondsAgo, started } from './facts';
import { addReceipt } from './fixture';
import type { IssuedCursor } from './request-rules';
import type { KnownValues } from './schema-values';
import type { TestServer } from './server';

/** A tenant that has one of everything, so that requests about it find something. */
export interface PreparedTenant {
  id: string;
  key: string;
  /** Values that exist, by the name of the field that takes them. */
  known: KnownValues;
  /** The subscription that may be tested. Nothing else changes its address, which is on the loopback. */
  testable: string;
  /** The enabled subscription, on the loopback too, that has the delivery of the known values. */
  resendable: string;
  cursors: IssuedCursor[];
  /** Restores the subscriptions that were deleted, and removes those that were added. */
  restoreWebhooks(): Promise<void>;
}

// No resolver knows these names, so generated subscriptions are never called.
const ADDRESSES = [
  'https://receiver.invalid/',
  'http://receiver.invalid:80/hook?a=b',
  'https://xn--mnchen-3ya.invalid/',
];

const SESSIONS = ['plain', 'a/b', 'ä ö+%2F', '😀', '__proto__'];

export async function prepareTenant(server: TestServer, receiverUrl: string): Promise<PreparedTenant> {
  const { id, key } = await server.createTenant('enterprise');
  const facts = SESSIONS.flatMap((sessionId, n) => [
    started(sessionId, { deviceFingerprint: `device ${n % 2}`, country: 'DE', startedAt: secondsAgo(3_600 - n) }),
    {
      kind: 'sessionEvents',
      sessionId,
      events: [1, 2, 3].map((sequence) => ({
        sequence,
        type: 'mouse',
        timestamp: secondsAgo(30),
        metadata: { a: null },
      })),
    },
    {
      kind: 'sessionCorrelated',
      sessionId,
      user: { id: `user ${n % 2}`, name: 'Ada' },
      confidence: 0.9,
      correlatedAt: secondsAgo(20),
    },
    closed(sessionId),
    scored(sessionId, n / 4, { detectionFlags: ['webdriver'] }),
  ]);
  expect((await server.ingest(id, facts)).status).toBe(200);
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, path, { key, body });
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body;
  };
  const createWebhook = async (url: string, enabled: boolean): Promise<string> =>
    (await call('POST', '/v1/webhooks', { url, eventType: 'ReportReady', enabled })).data.id;
  const testable = await createWebhook(receiverUrl, false);
  const resendable = await createWebhook(receiverUrl, true);
  const deliveryId = 'dlv_prepared';
  const [delivery] = await server.database.db.sql<{ eventId: string }[]>`
    insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, finished_at)
    select integration_id, ${deliveryId}, ${resendable}, id, 'Delivered', now() from domain_events where integration_id = ${id} limit 1
    returning event_id as "eventId"`;
  const receiptId = 'era_prepared';
  await addReceipt(server, id, receiptId);
  const changeable = [await createWebhook(ADDRESSES[0]!, false), await createWebhook(ADDRESSES[0]!, true)];
  const cursors = await Promise.all(
    [
      { operationId: 'listSessions', path: '/v1/sessions', values: {} },
      { operationId: 'listUsers', path: '/v1/users', values: {} },
      { operationId: 'listSessionEvents', path: '/v1/sessions/plain/events', values: { sessionId: 'plain' } },
      { operationId: 'listUserSessions', path: '/v1/users/user%200/sessions', values: { userId: 'user 0' } },
    ].map(async ({ path, ...walk }) => ({
      ...walk,
      cursor: (await call('GET', `${path}?pageSize=1`)).pagination.nextCursor,
    })),
  );
  const sessions = (await call('GET', '/v1/sessions')).data;
  return {
    id,
    key,
    testable,
    resendable,
    cursors,
    known: {
      sessionId: SESSIONS,
      userId: ['user 0', 'user 1'],
      fingerprint: ['device 0', 'device 1'],
      courseId: [sessions[0].courseId],
      origin: [sessions[0].origin],
      detectionFlag: ['webdriver'],
      cursor: cursors.map(({ cursor }) => cursor),
      id: changeable,
      eventId: [delivery!.eventId],
      deliveryId: [deliveryId],
      receiptId: [receiptId],
      url: ADDRESSES,
      eventType: [...EVENT_TYPE_NAMES, 'botDETECTED'],
      // Pairs that the rules between fields just accept or just refuse.
      mediumAt: [40, 65],
      botAt: [44, 45, 69, 70],
      minBotScore: [0.5],
      maxBotScore: [0.5, 0.4999],
      startDate: ['2025-01-01', '2026-01-01T00:00:00Z'],
      endDate: ['2025-12-31', '2026-01-01', '2026-01-02', '2026-01-01T00:00:00Z'],
      field: ['botScore', 'metadata.otherUserCount', '__proto__.x'],
    },
    restoreWebhooks: () => restore(server.database, [testable, resendable, ...changeable]),
  };
}

async function restore({ db }: TestDatabase, ids: string[]): Promise<void> {
  await db.sql`delete from webhook_subscriptions where id not in ${db.sql(ids)}`;
  await db.sql`update webhook_subscriptions set deleted_at = null where deleted_at is not null`;
}

/** The statement that computes a digest, by database. Its text stays the same, so each connection plans it once. */
const digestStatements = new WeakMap<TestDatabase, Promise<string>>();

/**
 * Computes one digest of all rows of all tables, with counts folded. It leaves out the counts of requests, the last use
 * of keys, and what was sent to the engine.
 */
export async function digestTables(database: TestDatabase): Promise<string> {
  const { db } = database;
  const statement = digestStatements.get(database) ?? writeDigestStatement(database);
  digestStatements.set(database, statement);
  await foldCounts(db);
  return JSON.stringify(await db.query(await statement, []));
}

async function writeDigestStatement({ db }: TestDatabase): Promise<string> {
  const tables = await db.sql<{ name: string }[]>`
    select tablename as name from pg_tables
     where schemaname = 'public' and tablename not in ('rate_windows', 'usage_daily') order by 1`;
  const digests = tables.map(
    ({ name }) =>
      `select '${name}' as name, md5(coalesce(string_agg(row, '' order by row), '')) as digest from (select (to_jsonb(t) - 'nudged_at' - 'last_used_at')::text as row from "${name}" t) r`,
  );
  // Postgres may read the tables in parallel, in any order.
  return `${digests.join(' union all ')} order by name`;
}
