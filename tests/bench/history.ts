import postgres from 'postgres';
import type { Database } from '../../db/client';
import { createQuery } from '../../db/transaction';
import { foldSessionDeltas } from '../../server/domain/rollups';

/** A tenant with a long history: its sessions are spread evenly over the last 90 days. */
export interface History {
  integrationId: string;
  sessions: number;
}

/** Called after each piece of work. */
export type OnProgress = (what: string, done: number, total: number) => void;

/**
 * The numbers of users, courses and devices that a history's sessions name. They depend only on its number of sessions.
 */
export function describeHistory(sessions: number) {
  const users = Math.min(Math.max(Math.round(sessions / 100), 10), 100_000);
  return {
    users,
    devicesPerUser: Math.max(1, Math.round(sessions / 10 / users)),
    courses: Math.min(Math.max(Math.round(sessions / 500), 20), 20_000),
    origins: 12,
    flags: ['webdriver', 'headless', 'fast-typing', 'no-mouse'],
  };
}

export const userId = (n: number) => `user-${String(n).padStart(6, '0')}`;
export const courseId = (n: number) => `course-${String(n).padStart(5, '0')}`;
export const fingerprint = (n: number) => `device-${String(n).padStart(7, '0')}`;
export const origin = (n: number) => `https://lms${n}.example.edu`;

const CHUNK = 100_000;
/** Larger steps cost less per session but need more memory. */
const FOLD_EVERY = 2_000_000;

/** The fold reads these indexes, so they are there from the start. The others are built at the end, which is quicker. */
const READ_BY_FOLD = ['sessions_user', 'sessions_user_score', 'sessions_course'];

/** Settings of the connection, which nobody else uses. */
const SETTINGS = {
  synchronous_commit: 'off',
  work_mem: '256MB',
  maintenance_work_mem: '512MB',
  hash_mem_multiplier: '4',
};

/**
 * Writes tenants straight into the tables of a database that nobody else uses, as if the pipeline had written them:
 * sessions in the order of their times, with users, courses, devices and flags, and all counts. Events are left out.
 * Updates the statistics.
 */
export async function loadHistories(
  databaseUrl: string,
  histories: History[],
  onProgress: OnProgress = () => {},
): Promise<void> {
  // Not the product's pool: it gives up a database that is too busy to answer a probe in time. Without a `max_lifetime`, postgres.js
  // would open another connection after 30 to 60 minutes, in the middle of a transaction of several statements.
  const sql = postgres(databaseUrl, { max: 1, max_lifetime: null, connection: SETTINGS, onnotice: () => {} });
  try {
    // Building the indexes at once afterwards takes a fraction of the time.
    const all = await sql<{ name: string; definition: string }[]>`
      select i.indexname as name, i.indexdef as definition from pg_indexes i
       where i.tablename = 'sessions' and not exists (select 1 from pg_constraint c where c.conname = i.indexname)`;
    const indexes = all.filter(({ name }) => !READ_BY_FOLD.includes(name));
    for (const { name } of indexes) await sql`drop index ${sql(name)}`;
    for (const history of histories) await writeHistory(sql, history, onProgress);
    for (const [index, { name, definition }] of indexes.entries()) {
      onProgress(`index ${name}`, index, indexes.length);
      await sql.unsafe(definition);
    }
    onProgress('statistics', 0, 1);
    await sql`vacuum analyze`;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function writeHistory(
  sql: postgres.Sql,
  { integrationId, sessions }: History,
  onProgress: OnProgress,
): Promise<void> {
  const { users, devicesPerUser, courses, origins, flags } = describeHistory(sessions);
  for (let from = 0; from < sessions; from += CHUNK) {
    onProgress(`sessions of ${integrationId}`, from, sessions);
    const to = Math.min(from + CHUNK, sessions);
    const values = [integrationId, sessions, from, to - 1, users, devicesPerUser, courses, origins];
    await sql.unsafe(INSERT_SESSIONS, [...values, `{${flags.join()}}`]);
    if (to !== sessions && to % FOLD_EVERY !== 0) continue;
    onProgress(`counts of ${integrationId}`, to, sessions);
    await sql`analyze session_deltas`;
    await foldSessionDeltas({ transact: transactOn(sql) });
    await sql`vacuum session_deltas`;
  }
  onProgress(`names of ${integrationId}`, sessions, sessions);
  for (const statement of INSERT_NAMED) await sql.unsafe(statement, [integrationId]);
}

/** On a connection that nobody else uses. Whatever fails ends the load, and with it the connection. */
export const transactOn =
  (sql: postgres.Sql): Database['transact'] =>
  async (work) => {
    const query = createQuery(sql);
    await query('begin', []);
    const result = await work(query, query);
    await query('commit', []);
    return result;
  };

/** Picks a number below `count`, always the same for a session and salt. */
const pick = (salt: number, count: string) => `((hashint8extended(n, ${salt}) & 2147483647) % ${count})::int`;
const name = (prefix: string, digits: number, n: string) => `'${prefix}-' || lpad((${n})::text, ${digits}, '0')`;

/**
 * A fifth of all sessions have no user, a twentieth no device, a twentieth flags, a fiftieth a label; one in 200 is
 * active.
 */
const INSERT_SESSIONS = `
  with drawn as (
    select n, now() - interval '1 second' - ($2::bigint - n) * (interval '90 days' / $2::bigint) as at,
           ${pick(1, '$5::int')} as person, ${pick(2, '$6::int')} as device, ${pick(3, '5')} as choice,
           ${pick(4, '$8::int')} as host, ${pick(5, '101')} as bin, ${pick(6, '600')} as fate, ${pick(7, '100')} as mark
      from generate_series($3::bigint, $4::bigint) n),
  written as (
    insert into sessions (integration_id, id, created_at, updated_at, closed_at, status, page_url, origin, user_agent,
        user_agent_summary, device_type, browser, country, fingerprint, bot_score, score_bin, scored_at, detection_flags,
        user_id, correlation_confidence, correlated_at, course_id, event_count, label, labeled_at)
    select $1, 'ses-' || lpad(n::text, 9, '0'), at, at, case when not is_active then at end,
           case when is_active then 'Active' else 'Scored' end, origin || '/courses/' || course, origin, 'a browser',
           'Chrome 142 on Windows', (array['desktop', 'mobile', 'tablet'])[1 + fate % 3],
           (array['Chrome', 'Safari', 'Firefox', 'Edge'])[1 + fate % 4], 'US',
           case when fate % 20 > 0 then ${name('device', 7, 'person * $6::int + device')} end,
           case when not is_active then bin / 100.0 end, case when not is_active then bin end,
           case when not is_active then at end, case when mark < 5 then ($9::text[])[1 + mark % 4 : 1 + mark % 4] else '{}' end,
           case when fate % 5 > 0 then ${name('user', 6, 'person')} end, case when fate % 5 > 0 then 0.5 + fate / 1200.0 end,
           case when fate % 5 > 0 then at end, ${name('course', 5, 'course')}, fate % 40,
           case mark when 98 then 1 when 99 then -1 end, case when mark >= 98 then at end
      from (select *, (person::bigint * 7919 + choice * 31) % $7::int as course, 'https://lms' || host || '.example.edu' as origin, fate % 200 = 1 as is_active from drawn) d
    returning integration_id, id, created_at, detection_flags)
  insert into session_flags (integration_id, flag, created_at, session_id)
  select integration_id, unnest(detection_flags), created_at, id from written`;

const INSERT_NAMED = [
  `insert into users (integration_id, id, name, described_at)
   select distinct integration_id, user_id, 'Somebody', now() from sessions where integration_id = $1 and user_id is not null`,
  `insert into courses (integration_id, id, name, url)
   select distinct integration_id, course_id, 'Course', 'https://lms1.example.edu/courses/1' from sessions where integration_id = $1`,
  `insert into anomalies (integration_id, id, type, severity, detected_at, session_id, user_id)
   select integration_id, 'anomaly-' || id, 'SharedDevice', 'high', created_at, id, user_id from sessions
    where integration_id = $1 and event_count = 39 and score_bin < 10`,
  `insert into device_confirmations (integration_id, user_id, fingerprint)
   select distinct integration_id, user_id, fingerprint from sessions
    where integration_id = $1 and user_id is not null and fingerprint is not null and event_count = 38 and score_bin < 10`,
];
