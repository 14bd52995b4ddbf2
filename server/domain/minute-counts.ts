import type { Database } from '../../db/client';
import { RELIABLE_CONFIDENCE } from './correlation';
import { composeEntryFold } from './entry-folds';
import { aggregateTally, TRY_LOCK } from './rollups';

// Counts by minute (docs/counts.md). A trigger writes those of sessions when their changes are folded.

/** Counts by minute reach as far back as a preview of alert rules: 30 days, and a window of 7 days before. */
export const MINUTES_DAYS = 38;

const RELIABLE_USER = `case when confidence_micros >= ${RELIABLE_CONFIDENCE * 1e6} then user_id end`;

/**
 * Splits a change into rows for the scopes of `minute_counts`. The trigger that counts by minute has the same list. Only users who are
 * known reliably are counted, because an alert accuses the user of its rule.
 */
export const MINUTE_SCOPES = `cross join lateral (
  values ('integration', ''), ('course', course_id), ('user', ${RELIABLE_USER}), ('origin', origin)) m(scope, value)`;

/**
 * Adds up the entries of anomalies and failed deliveries by minute. Returns how many rows it wrote: none if another process is folding,
 * or if an erasure renames a user.
 */
export const foldIncidents = (db: Database): Promise<number> =>
  db.transact(
    async (query) => {
      const [lock] = await query<{ isOurs: boolean }>(TRY_LOCK, []);
      return lock!.isOurs ? (await query(FOLD_INCIDENTS, [])).length : 0;
    },
    { isLong: true },
  );

const FOLD_INCIDENTS = composeEntryFold('incident_counts', {
  key: ['integration_id', 'kind', 'scope', 'value', 'minute', 'type', 'severity'],
  counts: ['incidents'],
  isKept: `minute >= now() - interval '${MINUTES_DAYS} days'`,
});

/** About how many sessions are counted in one transaction. Nobody folds meanwhile. */
const CHUNK_SESSIONS = 10_000;
/** A run ends after this long. The next one goes on. */
const RUN_MS = 20_000;

/**
 * Counts the sessions that are older than the counts by minute, oldest first. `integrations.minutes_recounted_to` says how far this has
 * come; null if there is nothing left to count. Returns how many stretches of time it counted, without the last one.
 */
export async function recountMinutes(db: Database, chunkSessions = CHUNK_SESSIONS): Promise<number> {
  let counted = 0;
  const left = await db.query<{ id: string }>(FIND_UNCOUNTED, []);
  const until = performance.now() + RUN_MS;
  for (const { id } of left) while (performance.now() < until && (await recountChunk(db, id, chunkSessions))) counted++;
  return counted;
}

/** Counts the next stretch of time of an integration. Returns false if nothing is left, or if another process is folding. */
const recountChunk = (db: Database, integrationId: string, chunkSessions: number): Promise<boolean> =>
  db.transact(
    async (query) => {
      await query('set transaction isolation level repeatable read', []);
      const [lock] = await query<{ isOurs: boolean }>(TRY_LOCK, []);
      if (!lock!.isOurs) return false;
      const [chunk] = await query<{ from: string; to: string | null }>(FIND_CHUNK, [integrationId, chunkSessions]);
      if (!chunk) return false;
      const { from, to } = chunk;
      await query(REMOVE_MINUTES, [integrationId, from, to]);
      await query(RECOUNT, [integrationId, from, to]);
      await query(MARK_COUNTED, [integrationId, to]);
      return to !== null;
    },
    { isLong: true },
  );

const FIND_UNCOUNTED = 'select id from integrations where minutes_recounted_to is not null order by id';

const FIND_CHUNK = `
  select minutes_recounted_to as "from",
         (select date_trunc('minute', created_at, 'UTC') + interval '1 minute' from sessions
           where integration_id = $1 and created_at >= i.minutes_recounted_to order by created_at offset $2::int limit 1) as "to"
    from integrations i where i.id = $1 and i.minutes_recounted_to is not null`;

const isInChunk = (column: string) =>
  `${column} >= $2::timestamptz and ${column} < coalesce($3::timestamptz, 'infinity')`;

const REMOVE_MINUTES = `delete from minute_counts where integration_id = $1 and ${isInChunk('minute')}`;

/** What the trigger will still add when pending changes are folded is left out. */
const RECOUNT = `
  with changes as (
    select date_trunc('minute', created_at, 'UTC') as minute, coalesce(effective_bin, -2) as bin, 1 as sign, course_id, user_id, origin,
           round(bot_score * 1e6)::int as score_micros, round(correlation_confidence * 1e6)::int as confidence_micros
      from sessions where integration_id = $1 and ${isInChunk('created_at')}
     union all
    select minute, bin, -sign, course_id, user_id, origin, score_micros, confidence_micros
      from session_deltas where integration_id = $1 and ${isInChunk('minute')}),
  cells as (
    select scope, value, minute, bin, sum(sign) as n, coalesce(sum(sign) filter (where score_micros is not null), 0) as scored,
           coalesce(sum(sign * score_micros::bigint), 0) as score_micros
      from changes ${MINUTE_SCOPES} where value is not null group by scope, value, minute, bin)
  insert into minute_counts (integration_id, scope, value, minute, sessions, scored, score_micros)
  select $1, scope, value, minute, ${aggregateTally('n')}, sum(scored), sum(score_micros)
    from cells where n <> 0 or scored <> 0 or score_micros <> 0 group by scope, value, minute`;

const MARK_COUNTED = 'update integrations set minutes_recounted_to = $2::timestamptz where id = $1';
