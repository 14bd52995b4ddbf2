import type { Database } from '../../db/client';
import { digestTrace, MIN_SHARED_DIGESTS } from '../detection/digests';
import type { TraceBatch } from '../detection/trace';

/**
 * A session that began less than this before does not count as earlier: two sites on one page, or a page that is sent again
 * after its session was closed, see the same person at the same time.
 */
const MIN_DISTANCE_MS = 60_000;

/** What was typed and pressed in a session, by which later ones are recognised. */
export interface Replay {
  digests: string[];
  /** Whether an earlier session has the same. Null: the session has too little to tell. */
  isReplay: boolean | null;
  /** How many batches were digested. */
  batchCount: number;
}

interface ClosingSession {
  integrationId: string;
  userAgent: string;
  createdAtMs: number;
  batches: readonly TraceBatch[];
}

/** Digests a session that is over, and looks for an earlier one of the integration with the same input. */
export async function findReplay(db: Database, session: ClosingSession): Promise<Replay> {
  const { userAgent, batches, integrationId, createdAtMs } = session;
  const digests = digestTrace({ userAgent, batches }).map(String);
  if (digests.length < MIN_SHARED_DIGESTS) return { digests, isReplay: null, batchCount: batches.length };
  const beforeMs = createdAtMs - MIN_DISTANCE_MS;
  const [found] = await db.query<{ isReplay: boolean }>(FIND_EARLIER, [
    ...[integrationId, JSON.stringify(digests), new Date(beforeMs).toISOString(), MIN_SHARED_DIGESTS],
  ]);
  return { digests, isReplay: found!.isReplay, batchCount: batches.length };
}

/** The most sessions with a digest of this one that are looked at. People share none by chance, but somebody can send thousands with one. */
const MAX_CANDIDATES = 200;

/** The candidates are a separate list, for which Postgres uses the index. To find out whether there is any, it would read all sessions. */
const FIND_EARLIER = `
  with d as materialized (select array(select json_array_elements_text($2::text::json)::bigint) as digests),
  candidates as materialized (
    select c.digests from d, collected_sessions c
     where c.integration_id = $1 and c.digests && d.digests and c.created_at <= $3::timestamptz)
  select exists (
    select 1 from d, (select digests from candidates limit ${MAX_CANDIDATES}) c
     where $4::int <= (select count(*) from unnest(c.digests) shared where shared = any (d.digests))) as "isReplay"`;
