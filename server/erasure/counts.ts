import type { Database, Query } from '../../db/client';
import { ERASED_NAME } from '../domain/erased-users';
import { TRY_LOCK } from '../domain/rollups';
import type { RunningErasure } from './running-erasure';

/** Writers of sessions wait at most this long, and then not again for ten times as long. */
const LOCK_LIMIT = "set local lock_timeout = '2s'";
/**
 * After it, all changes of sessions are committed and appended to the unfolded ones, and later ones see what this transaction does.
 */
const LOCK_SESSIONS = 'lock table sessions in share mode';
const LOCK_REFUSED = '55P03';
const REFUSED_PAUSE_MS = 20_000;
/** Another process folds, or counts sessions of an earlier version. */
const BUSY_PAUSE_MS = 250;

/**
 * Moves the user's counts to the pseudonym at once, so that every number is always right. Nobody else has the pseudonym, so
 * rows only change their name. Returns after how many milliseconds to try again, or null if it is done.
 */
export async function moveCounts(db: Database, erasure: RunningErasure): Promise<number | null> {
  try {
    const isMoved = await db.transact((query) => move(query, erasure), { isLong: true });
    return isMoved ? null : BUSY_PAUSE_MS;
  } catch (error) {
    if ((error as { code?: unknown }).code === LOCK_REFUSED) return REFUSED_PAUSE_MS;
    throw error;
  }
}

/** Moves what was counted under the user's id while sessions were being erased. */
export const moveLateCounts = (query: Query, { integrationId, userId, pseudonym }: RunningErasure) =>
  query(MOVE_INCIDENTS, [integrationId, userId, pseudonym]);

/** New entries, because the pseudonym may have the old ones already. The caller has the lock of the fold. */
const MOVE_INCIDENTS = `
  with late as (
    delete from incident_counts where integration_id = $1 and kind = 'Anomaly' and scope = 'user' and value = $2
    returning integration_id, kind, scope, minute, type, severity, incidents)
  insert into incident_counts (integration_id, kind, scope, value, minute, type, severity, incidents)
  select integration_id, kind, scope, $3, minute, type, severity, incidents from late`;

async function move(query: Query, { integrationId, id, userId, pseudonym }: RunningErasure): Promise<boolean> {
  await query(LOCK_LIMIT, []);
  const [lock] = await query<{ isOurs: boolean }>(TRY_LOCK, []);
  if (!lock!.isOurs) return false;
  // Before writers have to wait. Only a fold adds pairs, and this transaction has its lock.
  const courses = await query<{ value: string }>(FIND_COURSES, [integrationId, userId]);
  await query(LOCK_SESSIONS, []);
  const [row] = await query<{ isMoved: boolean; isRecounting: boolean }>(READ_STATE, [integrationId, id]);
  if (row!.isMoved) return true;
  // The sessions from before an upgrade are still being counted by what they say.
  if (row!.isRecounting) return false;
  const known = await query<object>(READ_USER, [integrationId, userId]);
  await query(REMEMBER, [integrationId, id, JSON.stringify(known[0] ?? {})]);
  for (const statement of RENAME) await query(statement, [integrationId, userId, pseudonym]);
  await query(RENAME_IN_COURSES, [integrationId, userId, pseudonym, JSON.stringify(courses)]);
  await query(DESCRIBE, [integrationId, userId, pseudonym, ERASED_NAME]);
  return true;
}

/** By the key, one look-up for each course of the integration. */
const FIND_COURSES = `
  select c.value from entity_totals c
    join entity_pairs p on p.integration_id = $1 and p.kind = 'course' and p.value = c.value and p.other = $2
   where c.integration_id = $1 and c.kind = 'course'`;
const RENAME_IN_COURSES = `
  update entity_pairs p set other = $3
    from json_to_recordset($4::text::json) c(value text)
   where p.integration_id = $1 and p.kind = 'course' and p.value = c.value and p.other = $2`;

const READ_STATE = `
  select e.are_counts_moved as "isMoved", i.minutes_recounted_to is not null as "isRecounting"
    from user_erasures e join integrations i on i.id = e.integration_id
   where e.integration_id = $1 and e.id = $2 for update of e`;
const READ_USER = 'select name, email, url from users where integration_id = $1 and id = $2 for update';
const REMEMBER = `
  update user_erasures set are_counts_moved = true, known_user = known_user || $3::text::jsonb
   where integration_id = $1 and id = $2`;

const rename = (table: string, condition: string, column = 'value') =>
  `update ${table} set ${column} = $3 where integration_id = $1 and ${condition} and ${column} = $2`;

/** In this order: the totals are written by a trigger when the rollups change, and read the ends. */
const RENAME = [
  rename('session_deltas', 'true', 'user_id'),
  rename('seen_hours', "kind = 'user'"),
  rename('pruned_ends', "kind = 'user'"),
  rename('entity_rollups', "kind = 'user'"),
  "delete from entity_totals where integration_id = $1 and kind = 'user' and value = $3 and $2::text is not null",
  rename('entity_totals', "kind = 'user'"),
  rename('entity_pairs', "kind = 'user'"),
  rename('entity_pairs', "kind = 'all' and value = ''", 'other'),
  rename('entity_others', "kind = 'user'"),
  rename('minute_counts', "scope = 'user'"),
  rename('incident_counts', "kind = 'Anomaly' and scope = 'user'"),
  `update device_confirmations set user_id = $3, notes = null where integration_id = $1 and user_id = $2`,
];

/** A trigger removes the words of the name from the search. */
const DESCRIBE = `
  update users set id = $3, name = $4, email = null, url = null where integration_id = $1 and id = $2`;
