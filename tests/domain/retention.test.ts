import { describe, expect, it, vi } from 'vitest';
import { EVENT_TYPE_NAMES } from '../../contract/events';
import { type Database, openDatabase } from '../../db/client';
import { pruneTraces } from '../../server/collector/retention';
import { MAX_KEY_ENTRIES, pruneAuditEntries } from '../../server/domain/audit-entries';
import { pruneIdempotencyKeys } from '../../server/domain/idempotency-keys';
import { pruneRateWindows } from '../../server/domain/rate-windows';
import { BATCH_SIZE, pruneFindings, pruneReviewDraws, pruneSessions } from '../../server/domain/retention';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { pruneDeliveries, pruneEvents, pruneSubscriptions } from '../../server/webhooks/retention';
import { Customer } from '../support/customer';
import { waitForLocks } from '../support/database';
import { TABLE_BOUNDS } from '../support/table-bounds';
import { registerFindingTests } from './retention/findings';
import { registerSessionTests } from './retention/sessions';
import { insertWebhooks, server, sessionOf, shareRetentionServer } from './retention/shared-server';
import { registerWebhookTests } from './retention/webhooks';

shareRetentionServer();
registerSessionTests();
registerWebhookTests();
registerFindingTests();

it('windows of the rate limit are removed five minutes after they began', async () => {
  const { db } = server.database;
  await db.sql`
    insert into rate_windows (bucket, window_start, requests)
    values ('own', now() - interval '6 minutes', 1), ('own', now() - interval '4 minutes', 2)`;
  expect(await pruneRateWindows(db)).toBeGreaterThan(0);
  expect(await db.sql`select requests from rate_windows where bucket = 'own'`).toEqual([{ requests: 2 }]);
});

describe('an integration with more old rows than one run removes', () => {
  it('keeps no rows of another integration, and no events of another type', async () => {
    const [busy, other] = (await Promise.all([1, 2].map(() => Customer.create(server, [], 'enterprise')))).sort(
      (a, b) => (a.id < b.id ? -1 : 1),
    ) as [Customer, Customer];
    const { db } = server.database;
    for (const customer of [busy, other]) {
      await insertWebhooks(customer, [['gone', 120]]);
      await db.sql`
        insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
        select ${customer.id}, type, type, 'k', '{}', now() - interval '800 days'
          from (values (${EVENT_TYPE_NAMES[0]}), (${EVENT_TYPE_NAMES.at(-1)!})) t(type)`;
    }
    // Instead of a hundred thousand rows: each batch of the busy integration, and of its events of the first type, is full.
    const batch = Array.from({ length: BATCH_SIZE }, () => ({}));
    let full = 0;
    const fill = (query: Database['query']) =>
      (async (statement, parameters) => {
        const [id, type = EVENT_TYPE_NAMES[0]] = parameters;
        if (id !== busy.id || type !== EVENT_TYPE_NAMES[0]) return query(statement, parameters);
        full++;
        return batch;
      }) as Database['query'];
    const transact: Database['transact'] = (work, options) =>
      db.transact((query, commitWith) => work(fill(query), commitWith), options);
    for (const prune of [pruneSubscriptions, pruneEvents]) await prune({ ...db, transact });
    expect(full).toBeGreaterThan(400);
    const [left] = await db.sql`
      select (select count(*)::int from webhook_subscriptions where integration_id = ${other.id}) as subscriptions,
             (select count(*)::int from domain_events where integration_id = ${other.id}) as events,
             (select count(*)::int from domain_events where integration_id = ${busy.id}) as "otherEvents"`;
    // The rows of the busy integration that its full batches stand for are left.
    expect(left).toEqual({ subscriptions: 0, events: 0, otherEvents: 1 });
    for (const prune of [pruneSubscriptions, pruneEvents]) await prune(db);
  });
});

describe('the audit log', () => {
  it('keeps what staff and operators did, and the newest changes of each action by API keys of each integration', async () => {
    const customer = await Customer.create(server, [], 'enterprise');
    const { sql } = server.database.db;
    await sql`
      insert into audit_entries (id, occurred_at, action, actor_kind, integration_id, subject_id, details)
      select ${customer.id} || kind || n, now() - n * interval '1 s', 'ThresholdsChanged', kind, ${customer.id}, '', '{}'
        from generate_series(1, ${MAX_KEY_ENTRIES + 7}) n, (values ('ApiKey'), ('Staff')) k(kind)`;
    // Older than all of them, and of another action.
    await sql`
      insert into audit_entries (id, occurred_at, action, actor_kind, integration_id, subject_id, details)
      values (${customer.id} || 'label', now() - interval '1 day', 'SessionLabeled', 'ApiKey', ${customer.id}, '', '{}')`;
    expect(await pruneAuditEntries(server.database.db)).toBe(7);
    const left = await sql`
      select actor_kind as kind, count(*)::int, min(occurred_at) > now() - ${MAX_KEY_ENTRIES + 5} * interval '1 s' as "isNewest"
        from audit_entries where integration_id = ${customer.id} and actor_kind <> 'Operator' group by action, 1 order by 1, 2`;
    expect(left).toEqual([
      { kind: 'ApiKey', count: 1, isNewest: false },
      { kind: 'ApiKey', count: MAX_KEY_ENTRIES, isNewest: true },
      { kind: 'Staff', count: MAX_KEY_ENTRIES + 7, isNewest: false },
    ]);
  });

  it('loses old changes by API keys also if that takes longer than a statement may', async () => {
    const customer = await Customer.create(server, [], 'enterprise');
    const { url, db } = server.database;
    await db.sql`
      insert into audit_entries (id, occurred_at, action, actor_kind, integration_id, subject_id, details)
      select ${customer.id} || n, now() - n * interval '1 s', 'SessionLabeled', 'ApiKey', ${customer.id}, '', '{}'
        from generate_series(1, ${MAX_KEY_ENTRIES + 1}) n`;
    const limited = openDatabase({ url, maxConnections: 1, statementLimitMs: 1_000 });
    let pruning = Promise.resolve(0);
    await db.sql.begin(async (tx) => {
      // Instead of so many entries that it takes long.
      await tx`select 1 from audit_entries where id = ${customer.id + (MAX_KEY_ENTRIES + 1)} for update`;
      pruning = pruneAuditEntries(limited);
      pruning.catch(() => {});
      await waitForLocks(db.sql, 1);
      await tx`select pg_sleep(1.2)`;
    });
    expect(await pruning).toBe(1);
    await limited.close();
  });
});

it('what is old is looked for however long that takes, as with thousands of integrations', async () => {
  const { url, db } = server.database;
  const jobs = [pruneSessions, pruneFindings, pruneReviewDraws, pruneDeliveries, pruneEvents, pruneIdempotencyKeys];
  const limited = openDatabase({ url, maxConnections: jobs.length, statementLimitMs: 1_000 });
  const pruning = await db.sql.begin(async (tx) => {
    await tx`lock table integrations in access exclusive mode`;
    const begun = jobs.map((prune) => prune(limited));
    for (const one of begun) one.catch(() => {});
    await waitForLocks(db.sql, jobs.length);
    await tx`select pg_sleep(1.2)`;
    return { begun };
  });
  await Promise.all(pruning.begun);
  await limited.close();
});

it('what is old is removed with no statement more for each integration that has nothing old', async () => {
  const { db } = server.database;
  const prune = async () => {
    for (const job of [pruneSessions, pruneFindings, pruneDeliveries, pruneEvents, pruneSubscriptions]) await job(db);
    await pruneReviewDraws(db);
    await pruneIdempotencyKeys(db);
    await pruneAuditEntries(db);
    await pruneTraces(db, 30);
  };
  const countSent = async () => {
    const spies = [vi.spyOn(db, 'query'), vi.spyOn(db, 'transact')];
    try {
      await prune();
      return spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  };
  await prune();
  const before = await countSent();
  for (const plan of ['free', 'pro', 'enterprise'] as const) {
    const customer = await Customer.create(server, sessionOf('fresh', 1, 0.9), plan);
    await customer.label('fresh', { verdict: 'bot' });
  }
  await foldSessionDeltas(db);
  expect(await countSent()).toBe(before);
});

describe('docs/operating.md', () => {
  it('says what bounds each table of the database', async () => {
    const tables = await server.database.db.sql<{ schema: string; name: string }[]>`
      select table_schema as schema, table_name as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema', 'graphile_worker')
         and not (select relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass)`;
    const names = tables.map(({ schema, name }) => (schema === 'engine' ? `engine.${name}` : name));
    expect(names.length).toBeGreaterThan(30);
    expect(Object.keys(TABLE_BOUNDS).sort()).toEqual(names.sort());
  });
});
