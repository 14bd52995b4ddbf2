import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EVENT_TYPE_NAMES } from '../../contract/events';
import type { Plan } from '../../contract/tiers';
import { type Database, openDatabase } from '../../db/client';
import { pruneTraces } from '../../server/collector/retention';
import { MAX_KEY_ENTRIES, pruneAuditEntries } from '../../server/domain/audit-entries';
import { pruneIdempotencyKeys } from '../../server/domain/idempotency-keys';
import { pruneRateWindows } from '../../server/domain/rate-windows';
import { BATCH_SIZE, pruneFindings, pruneReviewDraws, pruneSessions } from '../../server/domain/retention';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { sweepDeliveries } from '../../server/webhooks/deliveries';
import {
  pruneAnswers,
  pruneDeliveries,
  pruneEvents,
  prunePreviousSecrets,
  pruneSubscriptions,
} from '../../server/webhooks/retention';
import { Customer } from '../support/customer';
import { waitForLocks } from '../support/database';
import { closed, correlated, happened, scored, started } from '../support/facts';
import { countRead, explainStatement } from '../support/plans';
import { startTestServer, type TestServer } from '../support/server';
import { recordStatements } from '../support/statements';
import { TABLE_BOUNDS } from '../support/table-bounds';

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  // Its crons would remove what these tests count.
  await server.service.engine!.stop(0);
});
afterAll(() => server.stop());

/** Creates a customer in whose sessions the rules on findings look for nothing: what they find is counted when they have found it. */
async function createUnjudged(facts: object[], plan: Plan): Promise<Customer> {
  const customer = await Customer.create(server, [], plan);
  await customer.switchOffFindings();
  await customer.accept(facts);
  return customer;
}

/** A whole session that began so many days ago, with a course and a user. */
const sessionOf = (id: string, days: number, botScore: number) => {
  const at = daysAgo(days);
  return [
    started(id, { startedAt: at, pageUrl: 'https://lms.example.edu/courses/42', deviceFingerprint: `fp-${id}` }),
    happened(id, [{ sequence: 1, timestamp: at }]),
    closed(id, { closedAt: at }),
    scored(id, botScore, { scoredAt: at, detectionFlags: ['webdriver', 'linear-mouse'] }),
    correlated(id, 'u', { correlatedAt: at }),
  ];
};

const readCounts = async (customer: Customer) => {
  const { generatedAt: _, ...stats } = await customer.read('/v1/stats');
  const {
    startDate: __,
    endDate: ___,
    generatedAt: ____,
    ...analytics
  } = await customer.read('/v1/analytics?period=90d&groupBy=week');
  return {
    stats,
    analytics,
    users: await customer.readAll('/v1/users'),
    courses: await customer.readAll('/v1/courses'),
  };
};

const countRows = async ({ id }: Customer) => {
  const [row] = await server.database.db.sql`
    select (select count(*)::int from sessions where integration_id = ${id}) as sessions,
           (select count(*)::int from session_events where integration_id = ${id}) as events,
           (select count(*)::int from session_flags where integration_id = ${id}) as flags,
           (select count(*)::int from session_scores where integration_id = ${id}) as scores,
           (select count(*)::int from session_correlations where integration_id = ${id}) as correlations,
           (select count(*)::int from session_verdicts where integration_id = ${id}) as verdicts`;
  return row;
};

describe('sessions older than the plan’s retention', () => {
  it.each([
    ['free', 30],
    ['starter', 90],
    ['pro', 365],
    ['enterprise', 730],
  ] as const)('are removed on %s after %i days, with everything that belongs to them', async (plan, days) => {
    const customer = await Customer.create(
      server,
      [...sessionOf('old', days + 0.01, 1), ...sessionOf('kept', days - 0.01, 0)],
      plan,
    );
    for (const id of ['old', 'kept']) await customer.label(id, { verdict: 'human' });
    await pruneSessions(server.database.db);
    const one = { sessions: 1, events: 1, scores: 1, correlations: 1, verdicts: 1 };
    expect(await countRows(customer)).toEqual({ ...one, flags: 2 });
    expect((await customer.get('/v1/sessions/old')).status).toBe(404);
    expect((await customer.get('/v1/sessions/kept')).status).toBe(200);
  });

  it.each(['before', 'after'])('stay counted when they are folded %s they are removed', async (when) => {
    const facts = [...sessionOf('a', 80, 0.9), ...sessionOf('b', 70, 0.2), ...sessionOf('c', 1, 0.5)];
    const customer = await createUnjudged(facts, 'free');
    if (when === 'before') await foldSessionDeltas(server.database.db);
    const counts = await readCounts(customer);
    await pruneSessions(server.database.db);
    expect(await countRows(customer)).toMatchObject({ sessions: 1 });
    expect(await readCounts(customer)).toEqual(counts);
    await foldSessionDeltas(server.database.db);
    expect(await readCounts(customer)).toEqual(counts);
    expect(counts.users[0]).toMatchObject({ sessionCount: 3, maxBotScore: 0.9, deviceCount: 3, botSessionCount: 1 });
  });

  it.each([
    [0.9, 0.2],
    [0.2, 0.9],
  ])(
    'leave first and last times and the highest score, also if others were removed before: %s, %s',
    async (one, other) => {
      const customer = await createUnjudged([...sessionOf('a', 100, one), ...sessionOf('b', 70, other)], 'starter');
      const readUsers = () => customer.readAll('/v1/users');
      const users = await readUsers();
      expect(users).toMatchObject([{ sessionCount: 2, maxBotScore: 0.9 }]);
      await pruneSessions(server.database.db);
      expect(await countRows(customer)).toMatchObject({ sessions: 1 });
      await server.database.db.sql`update integrations set plan = 'free' where id = ${customer.id}`;
      await pruneSessions(server.database.db);
      expect(await countRows(customer)).toMatchObject({ sessions: 0 });
      expect(await readUsers()).toEqual(users);
      await foldSessionDeltas(server.database.db);
      expect(await readUsers()).toEqual(users);
    },
  );

  it('are active no more if nothing said that they ended', async () => {
    const active = ['a', 'b'].map((id) => started(id, { startedAt: daysAgo(31) }));
    const customer = await createUnjudged([...active, started('kept', { startedAt: daysAgo(29) })], 'free');
    const readStats = () => customer.read('/v1/stats');
    expect(await readStats()).toMatchObject({ activeSessions: 3 });
    await pruneSessions(server.database.db);
    expect(await countRows(customer)).toMatchObject({ sessions: 1 });
    expect(await readStats()).toMatchObject({ activeSessions: 1, totalSessions: 3 });
    await foldSessionDeltas(server.database.db);
    expect(await readStats()).toMatchObject({ activeSessions: 1, totalSessions: 3 });
  });

  it('leave their user with an empty list of sessions', async () => {
    const customer = await Customer.create(server, sessionOf('a', 80, 0.9), 'free');
    await pruneSessions(server.database.db);
    expect(await customer.readAll('/v1/users')).toHaveLength(1);
    expect(await customer.read('/v1/users/u/sessions')).toEqual([]);
    expect((await customer.get('/v1/users/nobody/sessions')).status).toBe(404);
  });

  it('are all removed, in batches', async () => {
    const customer = await Customer.create(server, [], 'free');
    await server.database.db.sql`
      insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser)
      select ${customer.id}, 's-' || n, now() - interval '40 days', 'Closed', '', '', '', '', 'desktop', 'Chrome'
        from generate_series(1, 1234) n`;
    expect(await pruneSessions(server.database.db)).toBe(1234);
    expect(await countRows(customer)).toMatchObject({ sessions: 0 });
    expect(await customer.read('/v1/stats')).toMatchObject({ totalSessions: 1234 });
  });

  it('are removed in turn, those first that are overdue for longest, and no more when the time of a run is over', async () => {
    const [large, small, late] = await Promise.all([1, 2, 3].map(() => Customer.create(server, [], 'free')));
    const insert = ({ id }: Customer, count: number, days: number) => server.database.db.sql`
      insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser)
      select ${id}, ${days} || '-' || n, now() - ${days} * interval '1 day', 'Closed', '', '', '', '', 'desktop', 'Chrome'
        from generate_series(1, ${count}::int) n`;
    await pruneSessions(server.database.db);
    await insert(large!, 500, 90);
    await insert(large!, 600, 70);
    await insert(small!, 10, 80);
    await insert(late!, 10, 40);
    /** Removes so many batches, and answers what is left of each. */
    const prune = async (batches: number) => {
      let left = batches;
      await pruneSessions(server.database.db, () => left-- > 0);
      const counts = await Promise.all([large!, small!, late!].map(countRows));
      return counts.map((count) => count!.sessions);
    };
    expect(await prune(0)).toEqual([1100, 10, 10]);
    expect(await prune(1)).toEqual([600, 10, 10]);
    expect(await prune(1)).toEqual([600, 0, 10]);
    expect(await prune(2)).toEqual([100, 0, 0]);
    expect(await prune(1)).toEqual([0, 0, 0]);
  });
});

it('windows of the rate limit are removed five minutes after they began', async () => {
  const { db } = server.database;
  await db.sql`
    insert into rate_windows (bucket, window_start, requests)
    values ('own', now() - interval '6 minutes', 1), ('own', now() - interval '4 minutes', 2)`;
  expect(await pruneRateWindows(db)).toBeGreaterThan(0);
  expect(await db.sql`select requests from rate_windows where bucket = 'own'`).toEqual([{ requests: 2 }]);
});

describe('events that fired longer ago than the plan’s retention', () => {
  /** Inserts events that fired so many days ago, each with so many deliveries. */
  const insertEvents = ({ id }: Customer, count: number, days: number, deliveries = 0) => server.database.db.sql`
    with fired as (
      insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
      select ${id}, 'evt-' || ${days}::text || '-' || n, 'BotDetected', ${days}::text || '-' || n, '{}', now() - ${days} * interval '1 day'
        from generate_series(1, ${count}) n returning *)
    insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, attempts, created_at, finished_at)
    select integration_id, id, 'whk', id, 'Delivered', 1, created_at, now() from fired, generate_series(1, ${deliveries})`;
  const listEvents = ({ id }: Customer) => server.database.db.sql<{ days: string; count: number }[]>`
    select split_part(natural_key, '-', 1) as days, count(*)::int from domain_events where integration_id = ${id} group by 1 order by 1`;

  it.each([
    ['free', 31],
    ['pro', 366],
  ] as const)('are removed on %s after %i days, except those that the log of deliveries shows', async (plan, days) => {
    const customer = await Customer.create(server, [], plan);
    const neighbour = await Customer.create(server, [], 'enterprise');
    await insertEvents(customer, 1_200, days);
    await insertEvents(customer, 2, days + 1, 1);
    await insertEvents(customer, 3, days - 2);
    await insertEvents(neighbour, 4, days);
    expect(await pruneEvents(server.database.db)).toBe(1_200);
    expect(await listEvents(customer)).toEqual(
      expect.arrayContaining([
        { days: `${days + 1}`, count: 2 },
        { days: `${days - 2}`, count: 3 },
      ]),
    );
    expect(await listEvents(neighbour)).toEqual([{ days: `${days}`, count: 4 }]);
  });
});

describe('findings older than the plan’s retention', () => {
  it('are removed in batches, except reports that can still be downloaded', async () => {
    const customer = await Customer.create(server, [], 'free');
    const neighbour = await Customer.create(server, [], 'enterprise');
    const { sql } = server.database.db;
    for (const { id } of [customer, neighbour]) {
      await sql`
        insert into writing_scores (integration_id, session_id, scored_at, ai_score)
        select ${id}, 'w-' || n, now() - interval '31 days' + n * interval '1 ms', 0.5 from generate_series(1, 1234) n
        union all select ${id}, 'w-1', now() - interval '29 days', 0.5`;
      await sql`
        insert into alerts (integration_id, id, severity, message, triggered_at)
        select ${id}, 'alr-' || days, 'high', '', now() - days * interval '1 day' from generate_series(29, 31) days`;
      await sql`
        insert into reports (integration_id, id, name, template_id, format, completed_at, expires_at, download_url)
        select ${id}, 'rep-' || coalesce(left_days, 0), '', '', 'csv', now() - interval '31 days', now() + left_days * interval '1 day', '/'
          from (values (-1), (1), (null)) r(left_days)`;
    }
    const list = async ({ id }: Customer) => {
      const [row] = await sql`
        select (select count(*)::int from writing_scores where integration_id = ${id}) as scores,
               (select string_agg(id, ' ' order by id) from alerts where integration_id = ${id}) as alerts,
               (select string_agg(id, ' ' order by id) from reports where integration_id = ${id}) as reports`;
      return row;
    };
    const before = await list(neighbour);
    expect(await pruneFindings(server.database.db)).toBe(1234 + 2 + 2);
    expect(await list(customer)).toEqual({ scores: 1, alerts: 'alr-29', reports: 'rep-1' });
    expect(await list(neighbour)).toEqual(before);
    expect(await pruneFindings(server.database.db)).toBe(0);
  });
});

describe('deleted alert rules', () => {
  it('are removed after an hour, once no alert is left of them', async () => {
    const customer = await Customer.create(server, [], 'free');
    const { sql } = server.database.db;
    await sql`
      insert into alert_rules (integration_id, id, name, metric, scope, scope_value, window_minutes, comparison, value, min_sessions,
                               severity, message, cool_down_minutes, enabled, deleted_at, unsent)
      select ${customer.id}, name, '', 'botSessions', 'integration', '', 5, 'gte', 1, 1, 'low', '', 5, false,
             now() - minutes * interval '1 minute', unsent::jsonb
        from (values ('gone', 61, null), ('told', 61, null), ('claimed', 61, '[]'), ('fresh', 59, null), ('live', null, null))
             r(name, minutes, unsent)`;
    await sql`insert into alerts (integration_id, id, severity, message, triggered_at, rule_id)
              values (${customer.id}, 'a', 'low', '', now() - interval '29 days', 'told')`;
    const left = async () =>
      (await sql`select id from alert_rules where integration_id = ${customer.id} order by id`).map(({ id }) => id);
    await sql.begin(async (tx) => {
      // The server would send what is unsent.
      const locked = await tx`
        select unsent from alert_rules where integration_id = ${customer.id} and id = 'claimed' for update`;
      expect(locked).toEqual([{ unsent: [] }]);
      expect(await pruneFindings(server.database.db)).toBe(1);
      expect(await left()).toEqual(['claimed', 'fresh', 'live', 'told']);
      await sql`update alerts set triggered_at = now() - interval '31 days' where integration_id = ${customer.id}`;
      expect(await pruneFindings(server.database.db)).toBe(2);
      expect(await left()).toEqual(['claimed', 'fresh', 'live']);
    });
  });
});

describe('counts by minute', () => {
  it('are removed after 38 days', async () => {
    const customer = await Customer.create(server, [], 'enterprise');
    const { sql } = server.database.db;
    await sql`insert into minute_counts (integration_id, scope, value, minute, sessions, scored, score_micros)
              select ${customer.id}, 'user', 'u', now() - days * interval '1 day', '{1}', 0, 0 from generate_series(37, 39) days`;
    await sql`insert into incident_counts (integration_id, kind, scope, value, minute, type, severity, incidents)
              select ${customer.id}, 'FailedDelivery', 'integration', '', now() - days * interval '1 day', '', '', 1
                from generate_series(37, 39) days`;
    await pruneSessions(server.database.db);
    const [left] = await sql`
      select (select count(*)::int from minute_counts where integration_id = ${customer.id}) as sessions,
             (select count(*)::int from incident_counts where integration_id = ${customer.id}) as incidents`;
    expect(left).toEqual({ sessions: 1, incidents: 1 });
  });
});

describe('counts by hour, day and week', () => {
  it('are removed after 100 days, and those of all time stay', async () => {
    const customer = await Customer.create(server, [], 'enterprise');
    const { sql } = server.database.db;
    const starts = (grains: string[]) => sql`
      (select grain, now() - days * interval '1 day' as start
         from unnest(${`{${grains}}`}::text::text[]) grain, generate_series(99, 101) days) s`;
    await sql`insert into session_rollups
              select ${customer.id}, grain, start, '{1}', 0, 0, 0, 0, 0, 0, 0, 0, '{}' from ${starts(['hour', 'day', 'all'])}`;
    await sql`insert into dimension_rollups (integration_id, grain, start, dimension, value, sessions)
              select ${customer.id}, grain, start, 'origin', 'o', '{1}' from ${starts(['hour', 'day', 'week'])}`;
    for (const kind of ['user', 'device'])
      await sql`insert into seen_steps (integration_id, kind, grain, start, count)
                select ${customer.id}, ${kind}, grain, start, '{1}' from ${starts(['hour', 'day'])}`;
    await pruneSessions(server.database.db);
    const left = await sql`
      select name, count(*)::int from (
        select integration_id, grain as name from session_rollups
         union all select integration_id, 'dimension ' || grain from dimension_rollups
         union all select integration_id, kind || ' ' || grain from seen_steps) r
       where integration_id = ${customer.id} group by 1`;
    expect(Object.fromEntries(left.map(({ name, count }) => [name, count]))).toEqual({
      ...{ hour: 1, day: 1, all: 3, 'dimension hour': 1, 'dimension day': 1, 'dimension week': 1 },
      ...{ 'user hour': 1, 'user day': 1, 'device hour': 1, 'device day': 1 },
    });
  });
});

describe('answers of receivers', () => {
  it('are removed after seven days, each by itself', async () => {
    const customer = await Customer.create(server, [], 'free');
    const neighbour = await Customer.create(server, [], 'free');
    const { sql } = server.database.db;
    await sql`
      insert into webhook_answers (integration_id, delivery_id, resend, attempt, received_at, headers, body, is_cut)
      select integration_id, delivery_id, resend, attempt, now() - days * interval '1 day', '{}', '', false
        from (values (${customer.id}, 'one', 0, 1, 8), (${customer.id}, 'one', 0, 2, 6), (${customer.id}, 'one', 1, 1, 6),
                     (${customer.id}, 'two', 0, 1, 6), (${neighbour.id}, 'one', 0, 1, 6))
             a(integration_id, delivery_id, resend, attempt, days)`;
    expect(await pruneAnswers(server.database.db, true)).toBe(1);
    const left = await sql`
      select delivery_id || resend || attempt as answer from webhook_answers
       where integration_id in (${customer.id}, ${neighbour.id}) order by 1`;
    expect(left.map(({ answer }) => answer)).toEqual(['one01', 'one02', 'one11', 'two01']);
  });
});

describe('deliveries beyond the log', () => {
  it('are removed in turn, and no more when the time of a run is over', async () => {
    const [large, small] = await Promise.all([1, 2].map(() => Customer.create(server, [], 'free')));
    const insert = ({ id }: Customer, count: number, days: number) => server.database.db.sql`
      insert into webhook_deliveries (integration_id, id, subscription_id, status, finished_at)
      select ${id}, 'dlv-' || n, 'whk', 'Delivered', now() - ${days} * interval '1 day' from generate_series(1, ${count}::int) n`;
    await pruneDeliveries(server.database.db);
    await insert(large!, 600, 50);
    await insert(small!, 10, 40);
    const prune = async (batches: number) => {
      let left = batches;
      await pruneDeliveries(server.database.db, () => left-- > 0);
      const rows = await server.database.db.sql`
        select integration_id as id from webhook_deliveries where integration_id in (${large!.id}, ${small!.id})`;
      return [large!, small!].map((customer) => rows.filter(({ id }) => id === customer.id).length);
    };
    expect(await prune(0)).toEqual([600, 10]);
    expect(await prune(2)).toEqual([100, 0]);
    expect(await prune(1)).toEqual([0, 0]);
  });
});

describe('deleted subscriptions', () => {
  it('are removed after an hour, once the log of deliveries shows nothing of them', async () => {
    const customer = await Customer.create(server, [], 'enterprise');
    const { sql } = server.database.db;
    await sql`
      insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed, deleted_at)
      select ${customer.id}, name, 'https://example.com/', 'BotDetected', '', false, '', now() - minutes * interval '1 minute'
        from (values ('gone', 61), ('logged', 61), ('fresh', 59), ('live', null)) s(name, minutes)`;
    await sql`
      insert into webhook_deliveries (integration_id, id, subscription_id, status, finished_at)
      values (${customer.id}, 'dlv', 'logged', 'Delivered', now())`;
    expect(await pruneSubscriptions(server.database.db)).toBe(1);
    const left = await sql`select id from webhook_subscriptions where integration_id = ${customer.id} order by id`;
    expect(left.map(({ id }) => id)).toEqual(['fresh', 'live', 'logged']);
  });

  it('are not waited for by deliveries, also if no sweep ran while they were deleted', async () => {
    const customer = await Customer.create(server, [], 'enterprise');
    const { sql } = server.database.db;
    await sql`
      insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed, deleted_at)
      select ${customer.id}, name, 'https://example.com/', 'BotDetected', '', false, '', now() - minutes * interval '1 minute'
        from (values ('gone', 61), ('live', null)) s(name, minutes)`;
    await sql`
      insert into webhook_deliveries (integration_id, id, subscription_id, next_attempt_at)
      select ${customer.id}, name, name, now() - interval '1 hour' from (values ('gone'), ('live')) s(name)`;
    await pruneSubscriptions(server.database.db);
    const left = await sql`select id, status from webhook_deliveries where integration_id = ${customer.id} order by id`;
    expect(left).toEqual([
      { id: 'gone', status: 'PoisonAborted' },
      { id: 'live', status: 'Pending' },
    ]);
  });

  it('have their deliveries ended in small transactions', async () => {
    const customer = await Customer.create(server, [], 'enterprise');
    const { sql } = server.database.db;
    await sql`
      insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed, deleted_at)
      values (${customer.id}, 'gone', 'https://example.com/', 'BotDetected', '', false, '', now() - interval '2 hours')`;
    await sql`
      insert into webhook_deliveries (integration_id, id, subscription_id, next_attempt_at)
      select ${customer.id}, 'dlv-' || n, 'gone', now() from generate_series(1, ${BATCH_SIZE + 1}::int) n`;
    await pruneSubscriptions(server.database.db);
    const transactions = await sql`
      select status, count(*)::int from webhook_deliveries where integration_id = ${customer.id} group by status, xmin::text order by 2`;
    expect(transactions).toEqual([1, BATCH_SIZE].map((count) => ({ status: 'PoisonAborted', count })));
  });

  it('are read by none of the statements that run often, however many there are', async () => {
    const customer = await Customer.create(server, [], 'enterprise');
    const { db, log } = server.service;
    const body = { url: 'https://example.com/', eventType: 'BotDetected', enabled: false };
    const { id } = (await customer.post('/v1/webhooks', body)).body.data;
    await db.sql`
      insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed, deleted_at)
      select ${customer.id}, 'gone-' || n, 'https://example.com/', 'BotDetected', '', false, '', now() - interval '2 hours' from generate_series(1, 30000) n`;
    await db.sql`insert into webhook_deliveries (integration_id, id, subscription_id, status, finished_at)
                 select ${customer.id}, 'dlv-' || n, 'gone-' || n, 'Delivered', now() from generate_series(1, 30000) n`;
    await db.sql`analyze webhook_subscriptions, webhook_deliveries`;
    const recording = recordStatements(db);
    await customer.accept(sessionOf('s', 1, 0.9));
    await customer.get('/v1/webhooks');
    await customer.post('/v1/webhooks', body);
    await server.call('PATCH', `/v1/webhooks/${id}`, { key: customer.key, body: { enabled: true } });
    await sweepDeliveries(db, log);
    await prunePreviousSecrets(db);
    const statements = recording.take().filter(({ text }) => /^\s*(select|with) .*webhook_subscriptions/s.test(text));
    recording.stop();
    expect(statements.length).toBeGreaterThan(8);
    for (const statement of statements)
      for (const plan of ['custom', 'generic'] as const) {
        const nodes = await explainStatement(db.sql, statement, plan);
        const reads = nodes.filter((node) => node['Relation Name'] === 'webhook_subscriptions').map(countRead);
        expect(Math.max(...reads), statement.text).toBeLessThan(100);
      }
  });
});

describe('an integration with more old rows than one run removes', () => {
  it('keeps no rows of another integration, and no events of another type', async () => {
    const [busy, other] = (await Promise.all([1, 2].map(() => Customer.create(server, [], 'enterprise')))).sort(
      (a, b) => (a.id < b.id ? -1 : 1),
    ) as [Customer, Customer];
    const { db } = server.database;
    for (const { id } of [busy, other]) {
      await db.sql`
        insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed, deleted_at)
        values (${id}, 'gone', 'https://example.com/', 'BotDetected', '', false, '', now() - interval '2 hours')`;
      await db.sql`
        insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
        select ${id}, type, type, 'k', '{}', now() - interval '800 days'
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
    const limited = openDatabase({ url, maxConnections: 1, statementLimitMs: 100 });
    let pruning = Promise.resolve(0);
    await db.sql.begin(async (tx) => {
      // Instead of so many entries that it takes long.
      await tx`select 1 from audit_entries where id = ${customer.id + (MAX_KEY_ENTRIES + 1)} for update`;
      pruning = pruneAuditEntries(limited);
      pruning.catch(() => {});
      await waitForLocks(db.sql, 1);
      await tx`select pg_sleep(0.3)`;
    });
    expect(await pruning).toBe(1);
    await limited.close();
  });
});

it('what is old is looked for however long that takes, as with thousands of integrations', async () => {
  const { url, db } = server.database;
  const limited = openDatabase({ url, maxConnections: 1, statementLimitMs: 100 });
  for (const prune of [
    pruneSessions,
    pruneFindings,
    pruneReviewDraws,
    pruneDeliveries,
    pruneEvents,
    pruneIdempotencyKeys,
  ]) {
    let pruning = Promise.resolve(0);
    await db.sql.begin(async (tx) => {
      await tx`lock table integrations in access exclusive mode`;
      pruning = prune(limited);
      pruning.catch(() => {});
      await waitForLocks(db.sql, 1);
      await tx`select pg_sleep(0.3)`;
    });
    await pruning;
  }
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
