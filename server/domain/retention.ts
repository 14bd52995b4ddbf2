import { PLANS, type Plan } from '../../contract/tiers';
import type { Database } from '../../db/client';

/** Rows that a statement of retention removes at most. */
export const BATCH_SIZE = 500;
/** Of one run for one integration: what is left is for the next. */
const MAX_REMOVED = 50_000;

/** Runs a statement that removes a batch and returns a row for each until nothing, or so many, are gone. Answers how many. */
export async function removeBatches(
  db: Database,
  statement: string,
  parameters: (string | number)[],
  most: number,
): Promise<number> {
  let removed = 0;
  for (let found = BATCH_SIZE; found === BATCH_SIZE && removed < most; removed += found) {
    found = (await db.query(statement, parameters)).length;
  }
  return removed;
}

/**
 * Removes the sessions that are older than their integration's plan keeps them, with all that belongs to them, in small
 * transactions. Counts stay, and so do first and last times and the highest score of users and courses. Answers how many
 * were removed. Counts by hour and day that no window reaches any more are forgotten too.
 */
export async function pruneSessions(db: Database): Promise<number> {
  let pruned = 0;
  const integrations = await db.query<{ id: string; plan: Plan }>('select id, plan from integrations order by id', []);
  for (const { id, plan } of integrations) {
    pruned += await removeBatches(db, PRUNE_SESSIONS, [id, PLANS[plan].retentionDays], MAX_REMOVED);
    for (const statement of FORGET_HOURS) await db.transact((query) => query(statement, [id]), { isLong: true });
  }
  return pruned;
}

const removeOf = (table: string) => `
    delete from ${table} t using old where t.integration_id = old.integration_id and t.session_id = old.id`;

const PRUNE_SESSIONS = `
  with old as (
    select integration_id, id, created_at, bot_score, user_id, course_id, detection_flags from sessions
     where integration_id = $1 and created_at < now() - $2::int * interval '1 day'
     order by created_at limit ${BATCH_SIZE} for update skip locked),
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
  correlated as (${removeOf('session_correlations')})
  delete from sessions s using old where s.integration_id = old.integration_id and s.id = old.id
  returning 1`;

/** The longest window and the bucket that it may begin in; what is for all time has counts of its own. */
const WINDOW_DAYS = 100;

const FORGET_HOURS = [
  "delete from session_rollups where integration_id = $1 and grain in ('hour', 'day') and start",
  "delete from dimension_rollups where integration_id = $1 and grain in ('hour', 'day', 'week') and start",
  'delete from seen_steps where integration_id = $1 and start',
].map((statement) => `${statement} < now() - interval '${WINDOW_DAYS} days'`);
