import type { ScoredSegment } from '../../contract/evidence';
import type { FindingRuleName } from '../../contract/findings';
import type { SessionEventType } from '../../contract/session-events';
import type { DeviceType, GeoLocation } from '../../contract/sessions';
import type { Database } from '../../db/client';
import { hasReliableUser, RELIABLE_CONFIDENCE } from '../domain/correlation';

// What the rules look up. Each statement reads a bounded number of rows along one index, however long the history is.

/** For how long a user or a device is remembered. */
export const MEMORY_DAYS = 30;
/** The most sessions of a user or device that are looked at: the latest ones. */
export const MAX_VISITS = 200;
/** The most matches and events of a session that are looked at. */
const MAX_MATCHES = 100;
const MAX_EVENTS = 500;
const DAY_MS = 86_400_000;

/** A session as the rules see it. */
export interface Visit {
  id: string;
  createdAt: string;
  closedAt: string | null;
  fingerprint: string | null;
  userId: string | null;
  correlationConfidence: number | null;
  correlatedAt: string | null;
  isInferred: boolean | null;
  deviceType: DeviceType;
  browser: string;
  userAgentSummary: string;
  location: GeoLocation | null;
}

/** The session that is judged. */
export interface JudgedSession extends Visit {
  /** The rules that the integration has switched off. */
  disabledRules: FindingRuleName[];
}

/** A session whose user is known reliably: the only ones that rules about users read. */
export type NamedVisit = Visit & { userId: string; correlatedAt: string };
export const isNamed = (visit: Visit): visit is NamedVisit => hasReliableUser(visit) && visit.correlatedAt !== null;

/** One that has a device too. */
export type MatchedVisit = NamedVisit & { fingerprint: string };
export const isMatched = (visit: Visit): visit is MatchedVisit => isNamed(visit) && visit.fingerprint !== null;

/** Orders sessions by their start. */
export const comesBefore = (one: Visit, other: Visit) =>
  one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.id < other.id);

export interface Match {
  userId: string;
  correlatedAt: string;
}

export interface StoredEvent {
  type: SessionEventType;
  timestamp: string;
  durationMs: number | null;
  metadata: Record<string, unknown> | null;
}

/** What is known about a session and around it. Each look-up is made at most once. */
export interface History {
  /** Lists the sessions of the device within 30 days before and after the session, oldest first. */
  listDeviceVisits(): Promise<Visit[]>;
  /** Lists the sessions of the user, likewise. */
  listUserVisits(): Promise<Visit[]>;
  /** Lists whom the session was reliably matched with, oldest first. */
  listMatches(): Promise<Match[]>;
  /** Lists the latest events of a session. */
  listEvents(sessionId: string): Promise<StoredEvent[]>;
  /** Reads the parts of the session's latest score. */
  readSegments(): Promise<{ scoredAt: string; segments: ScoredSegment[] } | null>;
  /** Reads the name of a user. */
  readUserName(userId: string): Promise<string | null>;
}

/** Reads a session that is to be judged. Null if it does not exist any more. */
export async function readJudgedSession(
  db: Pick<Database, 'query'>,
  integrationId: string,
  sessionId: string,
): Promise<JudgedSession | null> {
  const [row] = await db.query<JudgedSession>(READ_SESSION, [integrationId, sessionId]);
  return row ?? null;
}

export function createHistory(db: Pick<Database, 'query'>, integrationId: string, session: Visit): History {
  const atMs = Date.parse(session.createdAt);
  const from = new Date(atMs - MEMORY_DAYS * DAY_MS).toISOString();
  const to = new Date(atMs + MEMORY_DAYS * DAY_MS).toISOString();
  const known = new Map<string, Promise<Visit[]>>();
  const list = (statement: string, value: string | null) => {
    if (value === null) return Promise.resolve([]);
    let visits = known.get(statement);
    if (!visits) {
      visits = db.query<Visit>(statement, [integrationId, value, from, to]).then((rows) => rows.reverse());
      known.set(statement, visits);
    }
    return visits;
  };
  return {
    listDeviceVisits: () => list(LIST_DEVICE_VISITS, session.fingerprint),
    listUserVisits: () => list(LIST_USER_VISITS, session.userId),
    listMatches: () => db.query<Match>(LIST_MATCHES, [integrationId, session.id]),
    listEvents: (sessionId) => db.query<StoredEvent>(LIST_EVENTS, [integrationId, sessionId]),
    async readSegments() {
      type Row = { scoredAt: string; segments: ScoredSegment[] | null };
      const [row] = await db.query<Row>(READ_SEGMENTS, [integrationId, session.id]);
      return row?.segments ? { scoredAt: row.scoredAt, segments: row.segments } : null;
    },
    async readUserName(userId) {
      const [row] = await db.query<{ name: string }>(READ_NAME, [integrationId, userId]);
      return row?.name ?? null;
    },
  };
}

const VISIT = `
  s.id, s.created_at as "createdAt", s.closed_at as "closedAt", s.fingerprint, s.user_id as "userId",
  s.correlation_confidence as "correlationConfidence", s.correlated_at as "correlatedAt", s.is_inferred as "isInferred",
  s.device_type as "deviceType", s.browser, s.user_agent_summary as "userAgentSummary", s.location`;

const READ_SESSION = `
  select ${VISIT}, coalesce((select array_agg(r.rule) from finding_rules r
          where r.integration_id = s.integration_id and not r.is_enabled), '{}') as "disabledRules"
    from sessions s where s.integration_id = $1 and s.id = $2`;

/** The order is that of an index, so that the limit ends the scan. */
const listVisits = (column: string) => `
  select ${VISIT} from sessions s
   where s.integration_id = $1 and s.${column} = $2 and s.created_at >= $3::timestamptz and s.created_at <= $4::timestamptz
   order by s.created_at desc, s.id desc limit ${MAX_VISITS}`;
export const LIST_DEVICE_VISITS = listVisits('fingerprint');
export const LIST_USER_VISITS = listVisits('user_id');

export const LIST_MATCHES = `
  select m.user_id as "userId", m.correlated_at as "correlatedAt" from (
    select user_id, correlated_at, confidence from session_correlations
     where integration_id = $1 and session_id = $2 order by correlated_at limit ${MAX_MATCHES}) m
   where m.confidence >= ${RELIABLE_CONFIDENCE} order by m.correlated_at`;

export const LIST_EVENTS = `
  select type, timestamp, duration_ms as "durationMs", metadata from session_events
   where integration_id = $1 and session_id = $2 order by sequence desc limit ${MAX_EVENTS}`;

export const READ_SEGMENTS = `
  select scored_at as "scoredAt", segments from session_scores
   where integration_id = $1 and session_id = $2 order by scored_at desc limit 1`;

const READ_NAME = 'select name from users where integration_id = $1 and id = $2';
