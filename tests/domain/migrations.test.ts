import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isUnavailable, openDatabase } from '../../db/client';
import { migrateDatabase, RegionMismatchError, UnsuitableDatabaseError } from '../../db/migrate';
import { findCourse } from '../../server/domain/courses';
import { recountMinutes } from '../../server/domain/minute-counts';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { createEmptyDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { expectExactOutcomes } from '../support/outcome-counts';

const directory = 'db/migrations';
const journal: { entries: { tag: string }[] } = JSON.parse(readFileSync(`${directory}/meta/_journal.json`, 'utf8'));
const [first, ...later] = journal.entries.map(({ tag }) => tag);

/** Applies the first `count` migrations to a new database. */
async function migrateBy(url: string, count: number): Promise<void> {
  const before = await mkdtemp(join(tmpdir(), 'migrations-'));
  await cp(directory, before, { recursive: true });
  const old = { ...journal, entries: journal.entries.slice(0, count) };
  await writeFile(join(before, 'meta/_journal.json'), JSON.stringify(old));
  await migrateDatabase({ url, directory: before, region: 'us' });
  await rm(before, { recursive: true });
}

describe('migrations', () => {
  let database: { url: string; drop(): Promise<void> };
  beforeEach(async () => {
    database = await createEmptyDatabase();
  });
  afterEach(() => database.drop());

  it('are applied once when several processes start together', async () => {
    const { url } = database;
    const applied = await Promise.all([1, 2, 3].map(() => migrateDatabase({ url, directory, region: 'us' })));
    expect(applied.flat()).toEqual([first, ...later]);
    expect(await migrateDatabase({ url, directory, region: 'us' })).toEqual([]);
  });

  it('whose connection is lost in the middle fail as by an outage, leave nothing behind, and are applied by the next start', async () => {
    const { url } = database;
    const slow = await mkdtemp(join(tmpdir(), 'migrations-'));
    await cp(directory, slow, { recursive: true });
    await writeFile(join(slow, `${later.at(-1)}.sql`), 'select pg_sleep(60)');
    const failed = expect(migrateDatabase({ url, directory: slow, region: 'us' })).rejects.toSatisfy(isUnavailable);
    const admin = postgres(url, { max: 1 });
    const endMigration = () => admin`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query = 'select pg_sleep(60)'`;
    await eventually(async () => expect(await endMigration()).toHaveLength(1));
    await failed;
    expect(await admin`select from information_schema.tables where table_schema = 'public'`).toEqual([]);
    await admin.end();
    expect(await migrateDatabase({ url, directory, region: 'us' })).toEqual([first, ...later]);
    await rm(slow, { recursive: true });
  });

  it('bind a database to the region of its first start', async () => {
    const { url } = database;
    await migrateDatabase({ url, directory, region: 'eu' });
    const refused = migrateDatabase({ url, directory, region: 'us' });
    await expect(refused).rejects.toThrow(RegionMismatchError);
    await expect(refused).rejects.toThrow('REGION: is us, but this database belongs to region eu');
  });

  it('change nothing in a database of another region', async () => {
    const { url } = database;
    await migrateBy(url, journal.entries.length - 1);
    await expect(migrateDatabase({ url, directory, region: 'eu' })).rejects.toThrow(RegionMismatchError);
    expect(await migrateDatabase({ url, directory, region: 'us' })).toEqual(later.slice(-1));
  });

  it('refuse a database into which not every text fits', async () => {
    const admin = postgres(database.url, { max: 1 });
    const url = new URL(database.url);
    url.pathname += '_latin';
    const name = url.pathname.slice(1);
    await admin.unsafe(`create database ${name} encoding 'LATIN1' locale_provider libc locale 'C' template template0`);
    const refused = migrateDatabase({ url: url.href, directory, region: 'us' });
    await expect(refused).rejects.toThrow(new UnsuitableDatabaseError('has the encoding LATIN1, but needs UTF8'));
    await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end();
  });

  it('refuse a Postgres that is too old, and change nothing in it', async () => {
    const admin = postgres(database.url, { max: 1 });
    // Looks to a connection like Postgres 14.
    await admin.unsafe(`
      create schema old;
      create function old.current_setting(name text) returns text language sql as $$
        select case name when 'server_version' then '14.23 (Debian 14.23-1)' else pg_catalog.current_setting(name) end $$`);
    const url = `${database.url}?search_path=old,pg_catalog,public`;
    const refused = migrateDatabase({ url, directory, region: 'us' });
    const message = 'is Postgres 14.23 (Debian 14.23-1), but needs 15 or later';
    await expect(refused).rejects.toThrow(new UnsuitableDatabaseError(message));
    expect(await admin`select from pg_catalog.pg_class where relname = 'meta'`).toHaveLength(0);
    await admin.end();
  });

  describe('while processes of the version before use the database', () => {
    let sql: postgres.Sql;
    beforeEach(async () => {
      await migrateBy(
        database.url,
        journal.entries.findIndex(({ tag }) => tag.endsWith('_key_scopes')),
      );
      // The limits are for what hangs. A short one of the deadlock would choose a victim by chance.
      sql = postgres(database.url, {
        ...{ max: 3, onnotice: () => {} },
        connection: { statement_timeout: 30_000, deadlock_timeout: '60s' },
      });
    });
    afterEach(() => sql.end({ timeout: 1 }));

    const migrateAll = () => migrateDatabase({ url: database.url, directory, region: 'us' });
    const expectWaiting = (table: string) =>
      expect
        .poll(
          () => sql`select 1 from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
                     where not granted and mode = 'AccessExclusiveLock' and relation = ${table}::regclass`,
          { interval: 20 },
        )
        .toHaveLength(1);

    it('hold up no statement as long as a transaction that reads, such as a backup', async () => {
      const backup = await sql.reserve();
      await backup`begin`;
      await backup`select from api_keys`;
      const migrating = migrateAll();
      await expectWaiting('api_keys');
      expect(await sql`select id from api_keys`).toEqual([]);
      await backup`commit`;
      backup.release();
      expect((await migrating)[0]).toMatch(/_key_scopes$/);
    });

    it('keep their connection while they try again, and with it the lock that keeps other processes from migrating', async () => {
      const backup = await sql.reserve();
      await backup`begin`;
      await backup`select from api_keys`;
      const url = new URL(database.url);
      // postgres.js ends a connection after half an hour or more, if nobody says otherwise.
      url.searchParams.set('max_lifetime', '0.1');
      const warnings: string[] = [];
      const log = { warn: (_: object, message: string) => void warnings.push(message) };
      const migrating = migrateDatabase({ url: url.href, directory, region: 'us', log });
      await expect.poll(() => warnings.length).toBe(1);
      await expectWaiting('api_keys');
      expect(
        await sql`select 1 from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
                   where locktype = 'advisory' and granted`,
      ).toHaveLength(1);
      await backup`commit`;
      backup.release();
      expect((await migrating)[0]).toMatch(/_key_scopes$/);
    });

    it('are given up on request while they try again, and while they wait for another process', async () => {
      const backup = await sql.reserve();
      await backup`begin`;
      await backup`select from api_keys`;
      const stopping = new AbortController();
      const warnings: string[] = [];
      const log = { warn: (_: object, message: string) => void warnings.push(message) };
      const options = { url: database.url, directory, region: 'us', log, signal: stopping.signal };
      const ends = [migrateDatabase(options), migrateDatabase(options)].map((one) => one.catch((error) => error));
      await expect.poll(() => warnings.length).toBeGreaterThan(0);
      stopping.abort(new Error('enough'));
      expect(await Promise.all(ends)).toEqual([stopping.signal.reason, stopping.signal.reason]);
      await backup`commit`;
      backup.release();
      expect((await migrateAll())[0]).toMatch(/_key_scopes$/);
    });

    it('try again after a deadlock', async () => {
      const reader = await sql.reserve();
      await reader`begin`;
      await reader`select from domain_events`;
      const migrating = migrateAll();
      await expectWaiting('domain_events');
      // Another migration of the same transaction has this one.
      expect(await reader`select id from webhook_subscriptions`).toEqual([]);
      await reader`commit`;
      reader.release();
      expect((await migrating)[0]).toMatch(/_key_scopes$/);
    });
  });

  it('keep the rate windows out of the write-ahead log, and ids in bytewise order', async () => {
    const { url } = database;
    await migrateDatabase({ url, directory, region: 'us' });
    const sql = postgres(url, { max: 1 });
    const [table] = await sql`select relpersistence from pg_class where relname = 'rate_windows'`;
    expect(table).toEqual({ relpersistence: 'u' });
    const columns = await sql`select collation_name from information_schema.columns
      where table_name = 'sessions' and column_name in ('id', 'integration_id', 'user_id')`;
    expect(columns.map((column) => column.collation_name)).toEqual(['C', 'C', 'C']);
    await sql.end();
  });

  it('find and count the courses of existing rows, and find their flags and subscriptions, as the pipeline would name them', async () => {
    const { url } = database;
    await migrateBy(url, 1);
    const pages = [
      'https://c.example.edu/courses/42/quizzes/1?x=1',
      'HTTPS://C.example.edu:443/courses/42',
      'https://m.example.edu/moodle/course/view.php?section=2&id=7#top',
      'https://b.example.edu/ultra/courses/_10_1/outline',
      'https://l.example.edu/webapps/blackboard/execute/courseMain?type=Course&course_id=_5_1',
      'https://d.example.edu/d2l/home/6606',
      'https://d.example.edu/d2l/le/content/6607/viewContent/1/View',
      'https://s.example.edu/course/99/materials',
      'https://x.example.edu/courses/course-v1:MITx+6.00.1x+2T2024/home',
      'https://x.example.edu/about',
    ];
    const sql = postgres(url, { max: 1 });
    for (const [index, page] of pages.entries()) {
      const courseId = findCourse(page)?.id ?? null;
      await sql`insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent,
                                      user_agent_summary, device_type, browser, course_id, detection_flags)
        values ('i', ${index}, now(), 'Active', ${page}, ${new URL(page).origin}, '', '', 'desktop', '', ${courseId},
                ${index === 3 ? '{b,a,b}' : '{}'}::text[])`;
    }
    await sql`insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status)
              values ('i', 'd', 'w', 'e', 'Failed')`;
    await sql`insert into webhook_attempts (integration_id, delivery_id, attempt, started_at, duration_ms)
              values ('i', 'd', 1, now(), 5)`;
    expect(await migrateDatabase({ url, directory, region: 'us' })).toEqual(later);
    expect([...(await sql`select subscription_id from webhook_attempts`)]).toEqual([{ subscription_id: 'w' }]);
    const courses = await sql`select id, name, code, url from courses where integration_id = 'i' order by id`;
    const expected = new Map(pages.flatMap((page) => findCourse(page) ?? []).map((course) => [course.id, course]));
    expect([...courses]).toEqual([...expected.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
    const counted =
      await sql`select kind, sum(rows)::int as rows from row_counts where integration_id = 'i' group by kind`;
    expect([...counted]).toEqual([{ kind: 'courses', rows: expected.size }]);
    const flags = await sql`select integration_id || session_id || flag as text from session_flags order by flag`;
    expect(flags.map(({ text }) => text)).toEqual(['i3a', 'i3b']);
    await sql.end();
  });

  it('keep every count when they turn counts by bin into counts by least bin', async () => {
    const { url } = database;
    await migrateBy(
      url,
      journal.entries.findIndex(({ tag }) => tag.endsWith('_tallies')),
    );
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    const cells = (count: number) => sql`
      (select '2026-01-01'::timestamptz + h * interval '1 hour' as at, b::smallint as bin, (random() * ${count}::int)::int as n
         from generate_series(1, 40) h, generate_series(-2, 101) b where random() < 0.2) c`;
    await sql`insert into session_rollups select 'i', 'hour', at, bin, n, n + 1, 1, 2, n * 1000, 3, 4, 5, 6, n / 2 from ${cells(9)}`;
    await sql`insert into dimension_rollups select 'i', 'day', at, 'origin', 'o', bin, n from ${cells(9)}`;
    await sql`insert into dimension_rollups select 'i', 'day', at, 'device', 'd', 0, n from ${cells(9)} where bin = 7`;
    await sql`insert into seen_steps select 'i', 'device', 'day', at, bin, n - 4 from ${cells(9)}`;
    // The sums over the rows by bin, for every bin.
    const levels = sql`generate_series(-2, 101) level`;
    await sql`create table expected as
      select 'sessions' as name, start, level, sum(sessions) filter (where bin >= level) as n from session_rollups, ${levels} group by 2, 3
       union all
      select 'deviceless', start, level, sum(deviceless) filter (where bin >= level) from session_rollups, ${levels} group by 2, 3
       union all
      select value, start, level, sum(sessions) filter (where bin >= level) from dimension_rollups, ${levels}
       where dimension = 'origin' or level = -2 group by 1, 2, 3
       union all
      select kind, start, level, sum(count) filter (where bin >= level) from seen_steps, ${levels} group by 1, 2, 3`;
    const readTotals = () => sql`
      select sum(events) as events, sum(active) as active, sum(scored) as scored, sum(score_micros) as score, sum(matched) as matched,
             sum(confidence_micros) as confidence, sum(labeled_bot) as bot, sum(labeled_human) as human from session_rollups`;
    const totals = [...(await readTotals())];
    await migrateDatabase({ url, directory, region: 'us' });
    expect([...(await readTotals())]).toEqual(totals);
    const differing = await sql`
      select name, start, level, coalesce(n, 0)::int as n, coalesce(tally[level + 3], 0) as tallied
        from expected left join (
          select 'sessions' as name, start, sessions as tally from session_rollups
           union all select 'deviceless', start, deviceless from session_rollups
           union all select value, start, sessions from dimension_rollups
           union all select kind, start, count from seen_steps) t using (name, start)
       where coalesce(n, 0) <> coalesce(tally[level + 3], 0)`;
    expect([...differing]).toEqual([]);
    await sql.end();
  });

  it('bound what visitors invented before, and keep every count', async () => {
    const { url } = database;
    await migrateBy(
      url,
      journal.entries.findIndex(({ tag }) => tag.endsWith('_bounded_values')),
    );
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    const browsers = ['Chrome', 'Chrome', 'Other', `x${'y'.repeat(2_000)}`, '__proto__', ''];
    for (const [index, browser] of browsers.entries())
      await sql`insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent,
                                      user_agent_summary, device_type, browser, bot_score, score_bin)
        values ('i', ${index}, '2026-03-01T10:00:00Z', 'Active', ${`https://x.edu/${'p'.repeat(8_000)}`}, 'https://x.edu', '',
                ${`${browser} 1`}, 'desktop', ${browser}, 0.9, 90)`;
    const longMetadata = { text: 'x'.repeat(30_000) };
    for (const [sequence, metadata] of [longMetadata, { text: 'short' }].entries())
      await sql`insert into session_events (integration_id, session_id, sequence, type, timestamp, event_count, metadata)
                values ('i', '0', ${sequence}, 'mouse', now(), 1, ${sql.json(metadata)})`;
    await sql`insert into anomalies (integration_id, id, type, severity, detected_at, metadata)
              values ('i', 'a', 'SharedDevice', 'low', now(), ${sql.json(longMetadata)})`;
    // Half of the changes are folded, by the statements of the product.
    const db = openDatabase({ url, maxConnections: 2 });
    await foldSessionDeltas(db);
    await sql`update sessions set bot_score = 0.1, score_bin = 10 where id in ('0', '3', '4')`;
    const countBrowsers = async () => {
      const counts = await sql<{ name: string; n: number }[]>`
        select name, sum(n)::int as n from (
          select value as name, sessions[1] as n from dimension_rollups where dimension = 'browser' and grain = 'day'
           union all select browser, sign from session_deltas) c group by name having sum(n) <> 0`;
      return Object.fromEntries(counts.map(({ name, n }) => [name, n]));
    };
    expect(Object.keys(await countBrowsers())).toHaveLength(5);
    const [pending] = await sql`select count(*)::int as n from session_deltas`;
    await migrateDatabase({ url, directory, region: 'us' });
    expect(await countBrowsers()).toEqual({ Chrome: 2, Other: 4 });
    expect(await sql`select count(*)::int as n from session_deltas`).toEqual([pending]);
    await foldSessionDeltas(db);
    expect(await countBrowsers()).toEqual({ Chrome: 2, Other: 4 });
    // Triggers work again: a change is counted.
    await sql`update sessions set browser = 'Chrome' where id = '5'`;
    expect(await countBrowsers()).toEqual({ Chrome: 3, Other: 3 });
    const [longest] = await sql`
      select max(length(browser)) as browser, max(length(user_agent_summary)) as summary, max(length(page_url)) as page from sessions`;
    expect(longest).toEqual({ browser: 6, summary: 128, page: 2048 });
    const [{ sessions }] = (await sql`
      select sessions from dimension_rollups where dimension = 'browser' and value = 'Other' and grain = 'hour'`) as unknown as [
      { sessions: number[] },
    ];
    expect(sessions).toHaveLength(1);
    const metadata = await sql`
      select metadata from session_events union all select metadata from anomalies`;
    expect(metadata.map((row) => Object.keys(row.metadata)[0]).sort()).toEqual([
      'omittedBytes',
      'omittedBytes',
      'text',
    ]);
    await db.close();
    await sql.end();
  });

  it('have the sessions, anomalies and failed deliveries that are there already counted by minute, and later changes once', async () => {
    const { url } = database;
    await migrateBy(
      url,
      journal.entries.findIndex(({ tag }) => tag.endsWith('_alert_rules')),
    );
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    // Read once: a minute or a day may begin meanwhile.
    const [minute] = await sql<{ text: string }[]>`select date_trunc('minute', now())::text as text`;
    const today = sql`${minute!.text}::text::timestamptz`;
    const insert = (id: string, days: number, bin: number) => sql`
      insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser,
                            bot_score, score_bin, user_id, correlation_confidence, course_id)
      values ('i', ${id}, ${today} - ${days} * interval '1 day', 'Active', '', 'o', '', '', 'desktop', '',
              ${bin / 100}, ${bin}, 'u', 1, 'c')`;
    await insert('a', 1, 90);
    await insert('b', 1, 30);
    await sql`insert into integrations (id, name, plan) values ('i', 'i', 'pro')`;
    await insert('old', 39, 90);
    const db = openDatabase({ url, maxConnections: 2 });
    // Some changes are folded, by a process of that version, and others are not.
    await foldSessionDeltas(db);
    await sql`update sessions set score_bin = 95, bot_score = 0.95 where id = 'a'`;
    await insert('c', 2, 80);
    await sql`insert into anomalies (integration_id, id, type, severity, detected_at, user_id)
              select 'i', n, 'SharedDevice', 'high', ${today} - interval '1 day', case n when '1' then 'u' end
                from (values ('1'), ('2')) a(n)`;
    await sql`insert into webhook_deliveries (integration_id, id, subscription_id, status, finished_at)
              values ('i', '1', 'w', 'Failed', now()), ('i', '2', 'w', 'Delivered', now())`;
    expect(await migrateDatabase({ url, directory, region: 'us' })).toHaveLength(
      journal.entries.length - journal.entries.findIndex(({ tag }) => tag.endsWith('_alert_rules')),
    );
    const count = async () => {
      const rows = await sql`
        select scope, (${today}::date - minute::date)::int as days, sessions[1] as sessions, coalesce(sessions[70 + 3], 0) as bots,
               scored::int, score_micros::int as micros from minute_counts where value in ('', 'u') order by 1, 2`;
      return rows.map(({ scope, days, ...counts }) => [scope, days, ...Object.values(counts)]);
    };
    const both = (list: number[][]) => ['integration', 'user'].flatMap((scope) => list.map((row) => [scope, ...row]));
    const counted = both([
      [1, 2, 1, 2, 1_150_000],
      [2, 1, 1, 1, 800_000],
    ]);
    // Not counted before the job has come so far: a change of such a session leaves what it is counted as then.
    await sql`update sessions set score_bin = 20, bot_score = 0.2 where id = 'b'`;
    expect(await recountMinutes(db, 1)).toBe(1);
    expect(await recountMinutes(db)).toBe(0);
    await foldSessionDeltas(db);
    expect(await count()).toEqual(counted);
    expect(await sql`select 1 from integrations where minutes_counted_to is not null`).toEqual([]);
    expect(await sql`select 1 from integrations where minutes_recounted_to is not null`).toEqual([]);
    await sql`update sessions set label = -1 where id in ('a', 'old')`;
    // As a process of an older version folds.
    await sql`delete from session_deltas`;
    expect(await count()).toEqual(
      both([
        [1, 2, 0, 2, 1_150_000],
        [2, 1, 1, 1, 800_000],
      ]),
    );
    const incidents = await sql`
      select kind || ' ' || scope || ' ' || incidents as text from incident_counts where entry = 0 order by 1`;
    expect(incidents.map(({ text }) => text)).toEqual([
      ...['Anomaly integration 2', 'Anomaly user 1', 'FailedDelivery integration 1'],
    ]);
    expect([...(await sql`select delivered::int, failed::int from outcome_counts`)]).toEqual([
      { delivered: 1, failed: 1 },
    ]);
    await expectExactOutcomes(db);
    await db.close();
    await sql.end();
  });

  it('have sessions of claimed users not counted as theirs any more, by no process of an older version', async () => {
    const { url } = database;
    await migrateBy(
      url,
      journal.entries.findIndex(({ tag }) => tag.endsWith('_reliable_minute_counts')),
    );
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    await sql`insert into integrations (id, name, plan, minutes_counted_to) values ('i', 'i', 'pro', now())`;
    const insert = (id: string, confidence: number) => sql`
      insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser,
                            bot_score, score_bin, user_id, correlation_confidence)
      values ('i', ${id}, now() - interval '1 day', 'Active', '', 'o', '', '', 'desktop', '', 0.9, 90, 'u', ${confidence})`;
    const count = () => sql`
      select scope, sum(sessions[1])::int as sessions from minute_counts where scope in ('integration', 'user') group by 1 order by 1`;
    for (const [id, confidence] of [
      ['signed', 1],
      ['claimed', 0.5],
      ['inferred', 0.3],
    ] as const)
      await insert(id, confidence);
    await sql`delete from session_deltas`;
    expect(await count()).toMatchObject([{ sessions: 3 }, { sessions: 3 }]);
    await insert('pending', 0.5);
    await migrateDatabase({ url, directory, region: 'us' });
    expect(await sql`select 1 from integrations where minutes_counted_to is not null`).toEqual([]);
    const db = openDatabase({ url, maxConnections: 2 });
    await recountMinutes(db);
    await foldSessionDeltas(db);
    expect(await count()).toMatchObject([{ sessions: 4 }, { sessions: 1 }]);
    await db.close();
    await sql.end();
  });
});
