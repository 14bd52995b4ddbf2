import type { Database } from '../../db/client';
import { COMMIT_DELAY_MS } from './intake';
import type { PlannedSession } from './waiting-sessions';

// Whether the facts of a session's latest cut were committed. They are committed together, so one of them says it, and nothing
// is written for this.

/** The process that wrote a cut sends its facts within this time, unless it died or the database is slow. */
const SENDING_MS = 2_000;

/** Looks up one row of the latest cut by itself, so that no plan depends on statistics. */
const findOne = (name: string, table: string, isToldBy: string, condition: string) => `
  left join lateral (
    select true as exists from ${table} f
     where ${isToldBy} and f.integration_id = c.integration_id and f.session_id = c.session_id and ${condition}
     limit 1) ${name} on true`;
const CUT_AT = "(c.progress ->> 'cutAt')::timestamptz";
const IS_SCORED = "(c.progress ->> 'isScored')::boolean";
const HAS_EVENTS = "(c.progress #>> '{events,1}')::int > 0";
const IS_CORRELATED = "(c.progress ->> 'isCorrelated')::boolean";

/** Joins what `IS_UNSENT` reads to the session `c`. */
export const JOIN_SENT = [
  findOne('score', 'session_scores', IS_SCORED, `f.scored_at = ${CUT_AT}`),
  findOne('event', 'session_events', HAS_EVENTS, "f.sequence = (c.progress #>> '{events,0}')::int"),
  findOne('correlation', 'session_correlations', IS_CORRELATED, `f.correlated_at = ${CUT_AT}`),
].join('');

/** The latest cut of the session `c` has facts, and none of them exist. False without a cut. */
export const IS_UNSENT = `
  case when ${IS_SCORED} then score.exists is null
       when ${HAS_EVENTS} then event.exists is null
       when ${IS_CORRELATED} then correlation.exists is null
       else false end`;

export interface UnsentCut extends PlannedSession {
  version: number;
}

/**
 * Finds sessions of which no facts of the latest cut exist, among those whose cut was written within the last `sinceMs`. With
 * null, looks at all cuts, as a process does when it starts.
 */
export const findUnsentCuts = (db: Database, sinceMs: number | null): Promise<UnsentCut[]> =>
  sinceMs === null
    ? db.transact((query) => query<UnsentCut>(FIND_ALL_UNSENT, []), { isLong: true })
    : db.query<UnsentCut>(FIND_UNSENT, [SENDING_MS, SENDING_MS + COMMIT_DELAY_MS + sinceMs]);

const UNSENT = `select c.key, c.integration_id as "integrationId", c.version from collected_sessions c ${JOIN_SENT} where ${IS_UNSENT} and c.due_at is not null`;

const FIND_UNSENT = `${UNSENT} and c.judged_at < now() - $1::int * interval '1 ms'
     and c.judged_at > now() - $2::float8 * interval '1 ms'`;

const FIND_ALL_UNSENT = `${UNSENT} and c.judged_at < now() - ${SENDING_MS} * interval '1 ms'`;
