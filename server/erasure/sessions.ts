import type { Database } from '../../db/client';
import { addCounts, type RunningErasure } from './running-erasure';

/** The most sessions of a statement. Facts about them wait for it. */
export const SESSIONS_PER_BATCH = 500;

/**
 * Gives some sessions of the user to the pseudonym, and empties what they say in addition to what counts need. Returns how many.
 */
export function eraseSessions(db: Database, erasure: RunningErasure): Promise<number> {
  const { integrationId, userId, pseudonym } = erasure;
  return db.transact(
    async (query) => {
      const { length } = await query(ERASE, [integrationId, userId, pseudonym]);
      if (length > 0) await addCounts(query, erasure, { sessions: length });
      return length;
    },
    { isLong: true },
  );
}

const inChosen = 't.integration_id = $1 and t.session_id = any (array(select id from chosen))';

// An anomaly about somebody else, who had the session before them, is looked through like those of other sessions.
// In the order of the keys, like the ingester, so that the two cannot deadlock.
const ERASE = `
  with named as materialized (
    select id from sessions where integration_id = $1 and user_id = $2 order by created_at, id limit ${SESSIONS_PER_BATCH}),
  chosen as materialized (
    select s.id from sessions s where s.integration_id = $1 and s.id = any (array(select id from named)) and s.user_id = $2
     order by s.id for update),
  happened as (
    update session_events t set url = null, metadata = null
     where ${inChosen} and (url is not null or metadata is not null)),
  correlated as (update session_correlations t set user_id = $3 where ${inChosen} and user_id = $2),
  judged as (update session_verdicts t set notes = null where ${inChosen} and notes is not null),
  found as (
    update anomalies t set metadata = null, user_id = case when user_id = $2 then $3 else user_id end
     where ${inChosen} and coalesce(user_id, $2) = $2)
  update sessions s
     set user_id = $3, page_url = s.origin || '/', label_notes = null, location = null
   where s.integration_id = $1 and s.id = any (array(select id from chosen))
  returning 1`;

/** Lists the next sessions that have the pseudonym, by their key. */
export async function listErasedSessions(
  db: Database,
  { integrationId, pseudonym }: RunningErasure,
  after: { createdAt: string; id: string } | null,
): Promise<{ createdAt: string; id: string }[]> {
  return after === null
    ? db.query(LIST, [integrationId, pseudonym])
    : db.query(LIST_AFTER, [integrationId, pseudonym, after.createdAt, after.id]);
}

const list = (condition: string) => `
  select created_at as "createdAt", id from sessions
   where integration_id = $1 and user_id = $2 ${condition} order by created_at, id limit ${SESSIONS_PER_BATCH}`;
const LIST = list('');
const LIST_AFTER = list('and (created_at, id) > ($3::timestamptz, $4)');
