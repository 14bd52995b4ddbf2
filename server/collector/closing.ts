import type { Database } from '../../db/client';
import { coversBatch } from './coverage';
import { RECORD_INTERVAL_MS } from './cuts';
import { COMMIT_DELAY_MS } from './intake';
import { packTrace, toDocumentNumber } from './packing';
import type { OpenSession, Progress } from './session-state';
import type { PlannedSession } from './waiting-sessions';

/** The most sessions that are taken at a time. */
const MAX_TAKEN = 100;
/** For how long a session that was taken is left to the process that took it. */
const TAKEN_MS = 30_000;
/** A batch that is not judged after this time was received by a process that died, or by one without timers. */
const ABANDONED_MS = RECORD_INTERVAL_MS + 5_000;

/**
 * Takes sessions that are over, unless another process has taken them. They are not taken again for 30 s. Those of `busy`
 * integrations are left for later.
 */
export async function takeDueSessions(
  db: Database,
  busy: string[],
): Promise<{ sessions: PlannedSession[]; nowMs: number }> {
  const rows = await db.query<PlannedSession & { now: string }>(TAKE_DUE, [MAX_TAKEN, TAKEN_MS, JSON.stringify(busy)]);
  const sessions = rows.map(({ key, integrationId }) => ({ key, integrationId }));
  return { sessions, nowMs: rows[0] ? Date.parse(rows[0].now) : Date.now() };
}

const TAKE_DUE = `
  update collected_sessions set due_at = now() + $2::int * interval '1 ms'
   where key = any (array(
     select key from collected_sessions
      where due_at <= now() and integration_id not in (select json_array_elements_text($3::text::json))
      order by due_at limit $1::int for update skip locked))
  returning key, integration_id as "integrationId", now() as now`;

/**
 * Finds open sessions with batches that nobody judged, among those that arrived within the last `sinceMs`. With null, looks at
 * all batches, as a process does when it starts.
 */
export const findAbandonedSessions = (db: Database, sinceMs: number | null): Promise<PlannedSession[]> =>
  sinceMs === null
    ? db.transact((query) => query<PlannedSession>(FIND_ALL_ABANDONED, []), { isLong: true })
    : db.query<PlannedSession>(FIND_ABANDONED, [ABANDONED_MS, ABANDONED_MS + COMMIT_DELAY_MS + sinceMs]);

const FIND_ABANDONED = `
  select k.key, c."integrationId" from (
    select distinct session_key as key from session_batches
     where received_at < now() - $1::int * interval '1 ms' and received_at > now() - $2::int * interval '1 ms') k
  cross join lateral (
    select integration_id as "integrationId", judged_at, closed_at, day from collected_sessions c where c.key = k.key limit 1) c
   where c.closed_at is null and exists (
    select 1 from session_batches b where b.day = c.day and b.session_key = k.key
       and b.received_at < now() - $1::int * interval '1 ms' and b.received_at > coalesce(c.judged_at, '-infinity'))`;

const FIND_ALL_ABANDONED = `
  select key, integration_id as "integrationId" from collected_sessions c
   where due_at is not null and closed_at is null and exists (
     select 1 from session_batches b where b.day = c.day and b.session_key = c.key
        and b.received_at > coalesce(c.judged_at, '-infinity'))`;

/**
 * Joins the batches of a closed session into one row, and ends the work on it. Batches that came too late stay as they are.
 * Who the visitor is stays out of the trace: the session says it.
 */
export async function compactSession(db: Database, session: OpenSession, progress: Progress): Promise<void> {
  const batches = session.batches.filter((batch) => coversBatch(progress.covered, batch));
  const names = batches.map(({ d, n }) => ({ document: toDocumentNumber(d), sequence: n }));
  const body = await packTrace(batches.map(({ user: _, hasRefusedUser: __, ...batch }) => batch));
  await db.query(COMPACT, [
    ...[session.day, session.key, session.version, JSON.stringify(names)],
    ...[batches.length, body.toString('base64')],
  ]);
}

const COMPACT = `
  with ended as (
    update collected_sessions set due_at = null, progress = null
     where key = $2::bigint and version = $3::int and due_at is not null
    returning key),
  joined as (
    insert into session_traces (day, session_key, batches, body)
    select $1::date, key, $5::int, decode($6, 'base64') from ended on conflict do nothing)
  delete from session_batches b using ended
   where b.day = $1::date and b.session_key = $2::bigint and (b.document, b.sequence) in (
     select r.document, r.sequence from json_to_recordset($4::text::json) as r(document bigint, sequence int))`;

/** Closes a session that cannot be told, and removes its batches. */
export const discardSession = (db: Database, { key, day }: Pick<OpenSession, 'key' | 'day'>): Promise<unknown> =>
  db.query(DISCARD, [day, key]);

const DISCARD = `
  with ended as (
    update collected_sessions set due_at = null, progress = null, closed_at = now(), version = version + 1
     where key = $2::bigint and due_at is not null
    returning key)
  delete from session_batches b using ended where b.day = $1::date and b.session_key = ended.key`;
