import { PLANS, type Plan } from '../../contract/tiers';
import type { Database } from '../../db/client';
import { MINUTES_DAYS } from './minute-counts';

/** The most rows that one retention statement removes. */
export const BATCH_SIZE = 500;
/** The most rows that one run removes for an integration. The next run continues. */
const MAX_REMOVED = 50_000;
const RUN_MS = 20_000;

/**
 * Repeats a statement that removes a batch, or ends one, and returns a row for each, until nothing is left or `maxRows` rows are done.
 * Returns how many. The statement has no time limit: 500 long sessions have a million rows, and what was cut short would begin with
 * the same ones each hour.
 */
export async function removeBatches(
  db: Database,
  statement: string,
  parameters: (string | number)[],
  maxRows = Number.POSITIVE_INFINITY,
): Promise<number> {
  let removed = 0;
  for (let found = BATCH_SIZE; found === BATCH_SIZE && removed < maxRows; removed += found)
    found = await removeBatch(db, statement, parameters);
  return removed;
}

const removeBatch = (db: Database, statements: string | readonly string[], parameters: (string | number)[]) =>
  db.transact(
    async (query) => {
      let rows: unknown[] = [];
      for (const statement of [statements].flat()) rows = await query(statement, parameters);
      return rows.length;
    },
    { isLong: true },
  );

/** Allows work for 20 s: a serverless platform ends what lasts for longer than 60 s, and with it what comes after it. */
function limitRun(): () => boolean {
  const until = performance.now() + RUN_MS;
  return () => performance.now() < until;
}

/**
 * Removes batches as `removeBatches` does, each by a transaction whose last statement removes, of several integrations in turn, so that
 * none waits for all of another one. Begins with what should have been removed first (`findOld`), and ends when there is no time left.
 * The time begins here: a search that took all of it would leave everything where it is, hour after hour. Returns how many were removed.
 */
export async function removeInTurn(
  db: Database,
  statements: string | readonly string[],
  parametersOfAll: (string | number)[][],
  hasTime = limitRun(),
): Promise<number> {
  let removed = 0;
  for (const parameters of parametersOfAll) {
    if (!hasTime()) break;
    const found = await removeBatch(db, statements, parameters);
    removed += found;
    // Its next turn comes after those of the others.
    if (found === BATCH_SIZE) parametersOfAll.push(parameters);
  }
  return removed;
}

/** SQL: for how long the plan of an integration `i` keeps things. */
export const KEPT_BY_PLAN = `(case i.plan ${Object.entries(PLANS)
  .map(([plan, { retentionDays }]) => `when '${plan}' then ${retentionDays}`)
  .join(' ')} end) * interval '1 day'`;

/** SQL: the oldest time of the rows of an integration `i`. It must be the first entry of an index. */
export const selectOldest = (table: string, column: string, condition = 'true') =>
  `(select t.${column} from ${table} t where t.integration_id = i.id and ${condition} order by t.${column} limit 1)`;

/**
 * Lists the integrations that have something older than an age, those first whose oldest should have been removed first: for each of the
 * others, which may be thousands, a statement would remove nothing. It has no time limit, as what it finds is removed. `oldest` and `age` are SQL.
 */
export const findOld = (db: Database, oldest: string, age: string): Promise<{ id: string; plan: Plan }[]> =>
  db.transact(
    (query) =>
      query(
        `select i.id, i.plan from integrations i where ${oldest} < now() - ${age} order by ${oldest} + ${age}, i.id`,
        [],
      ),
    { isLong: true },
  );

/**
 * Removes sessions that are older than the retention of their integration's plan, with everything that belongs to them, in
 * small transactions. Their counts stay, and so do the first and last times and the highest score of users and courses. Also
 * removes counts by minute, hour, day and week that are too old for any window. Returns how many sessions were removed: if there are
 * any, more may be left.
 */
export async function pruneSessions(db: Database, hasTime?: () => boolean): Promise<number> {
  const old = await findOld(db, selectOldest('sessions', 'created_at'), KEPT_BY_PLAN);
  const keys = old.map(({ id, plan }) => [id, PLANS[plan].retentionDays]);
  const pruned = await removeInTurn(db, [CLOSE_SESSIONS, PRUNE_SESSIONS], keys, hasTime);
  for (const { oldest, age, statement } of OLD_COUNTS)
    for (const { id } of await findOld(db, oldest, age))
      await db.transact((query) => query(statement, [id]), { isLong: true });
  return pruned;
}

/**
 * Removes writing scores, alerts and reports that are older than the retention of their integration's plan, in small
 * transactions. A report that can still be downloaded stays. Also removes deleted alert rules without alerts. Returns how many
 * rows were removed.
 */
export async function pruneFindings(db: Database): Promise<number> {
  let pruned = 0;
  for (const { oldest, statement } of OLD_FINDINGS)
    for (const { id, plan } of await findOld(db, oldest, KEPT_BY_PLAN))
      pruned += await removeBatches(db, statement, [id, PLANS[plan].retentionDays], MAX_REMOVED);
  for (const { id } of await db.query<{ id: string }>(FIND_DELETED_RULES, []))
    pruned += (await db.query(PRUNE_RULES, [id])).length;
  return pruned;
}

/**
 * Removes what was drawn for review of days that are older than the retention of their integration's plan. Returns how many days
 * were removed.
 */
export async function pruneReviewDraws(db: Database): Promise<number> {
  let pruned = 0;
  for (const { id, plan } of await findOld(db, selectOldest('review_draws', 'day'), KEPT_BY_PLAN))
    pruned += (await db.query(PRUNE_DRAWS, [id, PLANS[plan].retentionDays])).length;
  return pruned;
}

const isOldDay = "integration_id = $1 and day < (now() at time zone 'UTC')::date - $2::int";
const PRUNE_DRAWS = `
  with sampled as (delete from review_sample where ${isOldDay})
  delete from review_draws where ${isOldDay} returning 1`;

const oldFindings = (table: string, key: string, time: string, condition = 'true') => ({
  oldest: selectOldest(table, time),
  statement: `
  with old as (
    select ${key} from ${table}
     where integration_id = $1 and ${time} < now() - $2::int * interval '1 day' and ${condition}
     order by ${time} limit ${BATCH_SIZE} for update skip locked)
  delete from ${table} t using old where t.integration_id = $1 and (${key.replace(/\w+/g, 't.$&')}) = (${key.replace(/\w+/g, 'old.$&')})
  returning 1`,
});

const OLD_FINDINGS = [
  oldFindings('writing_scores', 'session_id, scored_at', 'scored_at'),
  oldFindings('alerts', 'id', 'triggered_at'),
  oldFindings('reports', 'id', 'completed_at', 'coalesce(expires_at < now(), true)'),
];

const FIND_DELETED_RULES = `
  select distinct integration_id as id from alert_rules where deleted_at < now() - interval '1 hour' order by 1`;

/** An alert that is under way when its rule is deleted is written within the hour. */
const PRUNE_RULES = `
  delete from alert_rules r
   where r.integration_id = $1 and r.deleted_at < now() - interval '1 hour' and r.unsent is null
     and not exists (select from alerts a where a.integration_id = r.integration_id and a.rule_id = r.id)
  returning 1`;

const removeOf = (table: string) => `
    delete from ${table} t using old where t.integration_id = old.integration_id and t.session_id = old.id`;

const lockOldSessions = (condition = 'true') => `
    select integration_id, id, status, created_at, bot_score, user_id, course_id, detection_flags from sessions
     where integration_id = $1 and created_at < now() - $2::int * interval '1 day' and ${condition}
     order by created_at limit ${BATCH_SIZE} for update skip locked`;

/** A pipeline may never say that a session ended. The counts stay, and would have it as active for ever. */
const CLOSE_SESSIONS = `
  with old as (${lockOldSessions()})
  update sessions s set status = 'Closed' from old
   where s.integration_id = old.integration_id and s.id = old.id and old.status = 'Active'`;

const PRUNE_SESSIONS = `
  with old as (${lockOldSessions("status <> 'Active'")}),
  ended as (
    insert into pruned_ends as p (integration_id, kind, value, first_seen_at, last_seen_at, max_bot_score)
    select integration_id, kind, value, min(created_at), max(created_at), max(bot_score)
      from old cross join lateral (values ('user', user_id), ('course', course_id), ('all', '')) e(kind, value)
     where value is not null group by integration_id, kind, value
    on conflict (integration_id, kind, value) do update
      set first_seen_at = least(p.first_seen_at, excluded.first_seen_at),
          last_seen_at = greatest(p.last_seen_at, excluded.last_seen_at),
          max_bot_score = greatest(p.max_bot_score, excluded.max_bot_score)),
  flagged as (
    delete from session_flags t using old cross join lateral unnest(old.detection_flags) f(flag)
     where t.integration_id = old.integration_id and t.flag = f.flag and t.created_at = old.created_at and t.session_id = old.id),
  happened as (${removeOf('session_events')}),
  scored as (${removeOf('session_scores')}),
  correlated as (${removeOf('session_correlations')}),
  judged as (${removeOf('session_verdicts')}),
  collected as (${removeOf('collected_sessions')} and t.due_at is null returning t.day, t.key),
  batches as (delete from session_batches b using collected c where b.day = c.day and b.session_key = c.key),
  traces as (delete from session_traces t using collected c where t.day = c.day and t.session_key = c.key)
  delete from sessions s using old where s.integration_id = old.integration_id and s.id = old.id
  returning 1`;

/** Longer than the longest window and the bucket in which it may begin. Counts of all time are stored separately. */
const WINDOW_DAYS = 100;

const oldCounts = (table: string, column: string, days: number, condition = 'true') => ({
  oldest: selectOldest(table, column, condition),
  age: `interval '${days} days'`,
  statement: `delete from ${table} t where t.integration_id = $1 and ${condition} and t.${column} < now() - interval '${days} days'`,
});
const oldSteps = (table: string, grain: string, condition = 'true') =>
  oldCounts(table, 'start', WINDOW_DAYS, `${condition} and t.grain = '${grain}'`);

/** Each is looked up and removed along the primary key, or the index on the minute. */
const OLD_COUNTS = [
  ...['hour', 'day'].flatMap((grain) => [
    oldSteps('session_rollups', grain),
    ...['user', 'device'].map((kind) => oldSteps('seen_steps', grain, `t.kind = '${kind}'`)),
  ]),
  ...['hour', 'day', 'week'].map((grain) => oldSteps('dimension_rollups', grain)),
  ...['minute_counts', 'incident_counts'].map((table) => oldCounts(table, 'minute', MINUTES_DAYS)),
];
