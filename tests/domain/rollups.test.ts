import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../db/client';
import { asOperator } from '../../server/audit/acts';
import { getAnalytics, getStats } from '../../server/domain/analytics';
import type { DomainContext } from '../../server/domain/context';
import { createIntegration } from '../../server/domain/integrations';
import { pruneSessions } from '../../server/domain/retention';
import { createFolder, foldSessionDeltas } from '../../server/domain/rollups';
import { createLogger } from '../../server/platform/log';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let integrationId: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  integrationId = (
    await createIntegration(asOperator(database.db), { name: 'own', plan: 'enterprise', allowedOrigins: [] })
  ).id;
});

const contextWith = (mediumAt: number, botAt: number): DomainContext => ({
  integration: { id: integrationId, plan: 'enterprise', tier: 'enterprise', mediumAt, botAt },
  db: database.db,
  cursorKey: Buffer.alloc(32),
});

/**
 * Inserts sessions of few users, devices and hours, so that they share them. They lie in 100 days, most of them in the
 * latest.
 */
const insertSessions = (from: number, count: number) => database.db.sql`
  insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type,
                        browser, fingerprint, bot_score, score_bin, user_id, course_id, correlation_confidence, event_count)
  select ${integrationId}, 's-' || n, now() - random() ^ 3 * interval '100 days', 'Scored', '', 'https://o' || n % 13 || '.example.edu',
         '', '', (array['desktop', 'mobile', 'tablet'])[1 + n % 3], 'Chrome',
         case when random() < 0.9 then 'fp-' || (random() * 40)::int end, bin / 100.0, bin,
         case when random() < 0.7 then 'u-' || (random() * 40)::int end, 'c-' || n % 5, 0.5, n % 7
    from (select n, (random() * 100)::int as bin from generate_series(${from}::int, ${from + count - 1}::int) n) s`;

/** Scores sessions again, dates them by a fact that came late, labels them and matches them to others. */
const changeSessions = (share: number) => database.db.sql`
  update sessions set score_bin = (random() * 100)::int, bot_score = random(), created_at = created_at - random() * interval '2 minutes',
         label = (array[null, null, 1, -1])[1 + (random() * 3)::int],
         user_id = 'u-' || (random() * 45)::int, event_count = event_count + 1
   where integration_id = ${integrationId} and random() < ${share}`;

const countDeltas = async () => {
  const [row] = await database.db.sql<{ n: number }[]>`
    select count(*)::int as n from session_deltas where integration_id = ${integrationId}`;
  return row!.n;
};

/** Counts one by one what an answer about a window must say. */
async function countRaw(start: string, end: string, botAt: number) {
  const [row] = await database.db.sql`
    select count(*)::int as "totalSessions", coalesce(sum(event_count), 0)::int as "totalEvents",
           count(distinct user_id)::int as "uniqueUsers",
           (count(distinct fingerprint) filter (where effective_bin >= ${botAt})
            + count(*) filter (where effective_bin >= ${botAt} and fingerprint is null))::int as "uniqueBots"
      from sessions where integration_id = ${integrationId} and created_at >= ${start} and created_at < ${end}`;
  return row;
}

const CUTS = [5, 40, 70, 99, 100];
const WINDOWS = [
  ['24h', 'hour'],
  ['7d', 'hour'],
  ['30d', 'day'],
  ['90d', 'hour'],
  ['90d', 'week'],
] as const;

async function expectExact() {
  for (const [period, groupBy] of WINDOWS) {
    for (const botAt of CUTS) {
      const { summary, startDate, endDate } = await getAnalytics(contextWith(0, botAt), { period, groupBy });
      const { averageBotScore: _, averageEventsPerSession: __, ...counts } = summary;
      expect({ period, groupBy, botAt, ...counts }).toEqual({
        ...{ period, groupBy, botAt },
        ...(await countRaw(startDate, endDate, botAt)),
      });
    }
  }
  const [raw] = await database.db.sql<{ users: number; sessions: number; recent: number }[]>`
    select count(distinct user_id)::int as users, count(*)::int as sessions,
           (count(*) filter (where created_at >= now() - interval '24 hours'))::int as recent
      from sessions where integration_id = ${integrationId}`;
  const { totalUsers, totalSessions, sessionsLast24h } = await getStats(contextWith(40, 70));
  expect({ users: totalUsers, sessions: totalSessions, recent: sessionsLast24h }).toEqual(raw);
}

/** After a fold, users and courses are sorted by what their sessions say. */
async function expectExactTotals() {
  const totals = await database.db.sql`
    select kind, value, sessions::int, last_seen_at, max_bot_score from entity_totals
     where integration_id = ${integrationId} and sessions <> 0 order by kind, value`;
  expect(totals).not.toEqual([]);
  expect([...totals]).toEqual([
    ...(await database.db.sql`
      select kind, value, count(*)::int as sessions, max(created_at) as last_seen_at,
             case kind when 'user' then coalesce(max(bot_score), -1) else -1 end as max_bot_score
        from sessions cross join lateral (values ('user', user_id), ('course', course_id)) e(kind, value)
       where integration_id = ${integrationId} and value is not null group by kind, value order by kind, value`),
  ]);
}

describe('the counts of sessions', () => {
  it('are exact before a fold, after it, and with changes of what was folded', async () => {
    await insertSessions(1, 600);
    await expectExact();
    await foldSessionDeltas(database.db);
    expect(await countDeltas()).toBe(0);
    await expectExact();
    for (const share of [0.01, 0.3, 1]) {
      await changeSessions(share);
      await expectExact();
      await foldSessionDeltas(database.db);
      await expectExact();
    }
  });

  it('sort users and courses by their sessions, whichever sessions changed', async () => {
    await insertSessions(1, 600);
    await foldSessionDeltas(database.db);
    await expectExactTotals();
    for (const [round, share] of [0.01, 0.05, 0.05, 0.05, 0.3, 1].entries()) {
      await changeSessions(share);
      await insertSessions(1_000 + 5 * round, 5);
      await foldSessionDeltas(database.db);
      await expectExactTotals();
    }
  });

  it('count a user once whose last session became somebody else’s before another one came', async () => {
    const { sql } = database.db;
    const insert = (id: string, daysAgo: number) => sql`
      insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary,
                            device_type, browser, user_id)
      values (${integrationId}, ${id}, now() - ${daysAgo} * interval '1 day', 'Closed', '', 'https://o.example.edu', '', '', 'desktop',
              'Chrome', 'u-1')`;
    await insert('s-1', 60);
    await insert('s-2', 20);
    await foldSessionDeltas(database.db);
    await sql`update sessions set user_id = 'u-2' where integration_id = ${integrationId} and id = 's-2'`;
    await foldSessionDeltas(database.db);
    await expectExact();
    await insert('s-3', 1);
    await foldSessionDeltas(database.db);
    await expectExact();
  });

  it('are not read from the sessions, which may have been removed', async () => {
    await insertSessions(1, 200);
    await foldSessionDeltas(database.db);
    await insertSessions(201, 50);
    const before = (await getAnalytics(contextWith(40, 70), { period: '90d', groupBy: 'day' })).summary;
    await database.db.sql`delete from sessions where integration_id = ${integrationId}`;
    expect((await getAnalytics(contextWith(40, 70), { period: '90d', groupBy: 'day' })).summary).toEqual(before);
  });

  it('of windows and of all time stay exact when hours that no window reaches are removed', async () => {
    await insertSessions(1, 300);
    await database.db
      .sql`update sessions set created_at = created_at - interval '60 days' where integration_id = ${integrationId}`;
    await foldSessionDeltas(database.db);
    await pruneSessions(database.db);
    const [row] = await database.db.sql<{ oldest: string }[]>`
      select min(start) as oldest from session_rollups where integration_id = ${integrationId} and grain = 'hour'`;
    expect(Date.parse(row!.oldest)).toBeGreaterThan(Date.now() - 101 * 86_400_000);
    await expectExact();
    await changeSessions(0.5);
    await expectExact();
    await foldSessionDeltas(database.db);
    await expectExact();
  });

  it('are folded in the background when a process has written 4,000 changes, one fold at a time', async () => {
    let folds = 0;
    let latest: Promise<unknown> | undefined;
    const transact: Database['transact'] = (work, options) => {
      folds++;
      const fold = database.db.transact(work, options);
      latest = fold;
      return fold;
    };
    const countChanges = createFolder({ ...database.db, transact }, createLogger({ LOG_LEVEL: 'silent' }));
    await insertSessions(1, 10);
    countChanges(3_999);
    expect(folds).toBe(0);
    countChanges(1);
    countChanges(4_000);
    expect(folds).toBe(1);
    await expect.poll(countDeltas).toBe(0);
    // Those that were counted meanwhile wait for the next one.
    const goOn = () => {
      countChanges(0);
      return folds;
    };
    await expect.poll(goOn).toBe(2);
    expect(goOn()).toBe(2);
    // As long as it runs, the folds of the next test do nothing.
    await latest;
  });

  it('leave no trace of a session that changed back', async () => {
    await insertSessions(1, 100);
    await foldSessionDeltas(database.db);
    const change = (sign: number) => database.db.sql`
      update sessions set event_count = event_count + ${sign} where integration_id = ${integrationId}`;
    await change(1);
    await foldSessionDeltas(database.db);
    await change(-1);
    await database.db.sql`update sessions set label_notes = 'not counted' where integration_id = ${integrationId}`;
    expect(await countDeltas()).toBe(200);
    await expectExact();
  });

  it('lose and double nothing while several processes fold and others write', async () => {
    let isWriting = true;
    const fold = async () => {
      let folded = 0;
      // If two folds meet, one may be refused. The next one folds its deltas.
      while (isWriting) folded += await foldSessionDeltas(database.db).catch(() => 0);
      return folded;
    };
    const folders = [fold(), fold(), fold()];
    const write = async (from: number) => {
      for (let n = 0; n < 8; n++) {
        await insertSessions(from + n * 25, 25);
        await changeSessions(0.05).catch(() => {}); // two updates of the same sessions may deadlock
      }
    };
    await Promise.all([write(1), write(1_000), write(2_000)]);
    isWriting = false;
    const folded = await Promise.all(folders);
    expect(folded.reduce((sum, count) => sum + count)).toBeGreaterThan(0);
    await expectExact();
    await foldSessionDeltas(database.db);
    await expectExact();
    await expectExactTotals();
  });

  it('count the rows of other tables, each row once, before and after a fold', async () => {
    const { sql } = database.db;
    const write = (from: number) => sql`
      with courses as (
        insert into courses (integration_id, id, name, url) select ${integrationId}, 'c-' || n, '', '' from generate_series(${from}::int, ${from + 2}::int) n
        on conflict (integration_id, id) do nothing),
      anomalies as (
        insert into anomalies (integration_id, id, type, severity, detected_at)
        select ${integrationId}, 'a-' || n, 'SharedDevice', 'low', now() from generate_series(${from}::int, ${from + 3}::int) n on conflict do nothing)
      insert into device_confirmations (integration_id, user_id, fingerprint)
      select ${integrationId}, 'u', 'fp-' || n from generate_series(${from}::int, ${from + 4}::int) n
      on conflict (integration_id, user_id, fingerprint) do update set confirmed_at = now()`;
    for (let n = 1; n <= 6; n++) {
      await write(n);
      for (const isFolded of [false, true]) {
        if (isFolded) await foldSessionDeltas(database.db);
        const { totalCourses, anomalies, confirmedDevices } = await getStats(contextWith(40, 70));
        expect({ totalCourses, anomalies, confirmedDevices }).toEqual({
          totalCourses: n + 2,
          anomalies: n + 3,
          confirmedDevices: n + 4,
        });
      }
    }
    expect(await sql`select 1 from row_counts where integration_id = ${integrationId}`).toHaveLength(3);
  });
});
