import type { ScoredSegment } from '../../contract/evidence';
import { MIN_INSTANT_MS } from '../../contract/fields';
import type { FindingRuleName } from '../../contract/findings';
import type { SessionEventType } from '../../contract/session-events';
import type { DeviceType, GeoLocation } from '../../contract/sessions';
import { type Database, isUnavailable } from '../../db/client';
import { hasReliableUser, RELIABLE_CONFIDENCE } from '../domain/correlation';
import { createBatcher, type PendingItem } from '../platform/batcher';

// What the rules look up. Each statement reads a bounded number of rows along one index, however long the history is.

/** For how long a user or a device is remembered. */
export const MEMORY_DAYS = 30;
/** The most sessions of a user or device that are looked at: the latest ones. */
export const MAX_VISITS = 200;
/** The most sessions of a device that are counted. */
const MAX_COUNTED = 1_000;
/** The most matches and events of a session that are looked at. */
const MAX_MATCHES = 100;
const MAX_EVENTS = 500;
const DAY_MS = 86_400_000;

/** A session as the rules see it. */
export interface Visit {
  id: string;
  createdAt: string;
  closedAt: string | null;
  origin: string;
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
  /** Whether the pixel began it. Others come from the customer's own pipeline. */
  isCollected: boolean;
  isLabeledHuman: boolean;
}

/** A session whose user is known reliably: the only ones that rules about users read. */
export type NamedVisit = Visit & { userId: string; correlatedAt: string; correlationConfidence: number };
export const isNamed = (visit: Visit): visit is NamedVisit => hasReliableUser(visit) && visit.correlatedAt !== null;

/** One that has a device too. */
export type MatchedVisit = NamedVisit & { fingerprint: string };
export const isMatched = (visit: Visit): visit is MatchedVisit => isNamed(visit) && visit.fingerprint !== null;

/** Orders sessions by their start. */
export const comesBefore = (one: Visit, other: Visit) =>
  one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.id < other.id);

/** Lists the sessions before one that are remembered when it begins. */
export function listRemembered<One extends Visit>(visit: Visit, visits: One[]): One[] {
  const from = new Date(Date.parse(visit.createdAt) - MEMORY_DAYS * DAY_MS).toISOString();
  return visits.filter((other) => other.createdAt >= from && comesBefore(other, visit));
}

/**
 * Lists with what a user or a device was seen for the first time in some sessions, oldest first: in the session itself, or
 * after it, because facts can arrive late. What was seen before the session was judged then.
 */
export function listFirsts<One extends Visit>(session: Visit, visits: One[], keyOf: (visit: One) => string): One[] {
  const firsts = new Map<string, One>();
  for (const visit of visits) if (!firsts.has(keyOf(visit))) firsts.set(keyOf(visit), visit);
  return [...firsts.values()].filter((first) => first.id === session.id || comesBefore(session, first));
}

export interface Match {
  userId: string;
  confidence: number;
  correlatedAt: string;
}

/**
 * Finds from when on a session is its user's, if another one had it before, known reliably: what happened until then is not the
 * user's. Null if nobody had.
 */
export async function findTaken({ id, userId, correlatedAt }: NamedVisit, history: History): Promise<string | null> {
  const matches = await history.listMatches(id);
  const known = matches.filter((match) => match.correlatedAt <= correlatedAt && isReliable(match));
  const last = known.findLastIndex((match) => match.userId !== userId);
  return last < 0 ? null : (known[last + 1]?.correlatedAt ?? correlatedAt);
}

/** Whether a match says something about its user. */
export const isReliable = ({ confidence }: Match) => confidence >= RELIABLE_CONFIDENCE;

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
  /** Lists the sessions of the user, likewise. They may be of several people (`areComparable`). */
  listUserVisits(): Promise<Visit[]>;
  /** Lists the latest sessions of a user before a session, however long ago. */
  listVisitsBefore(visit: NamedVisit): Promise<Visit[]>;
  /**
   * Whether the user had the device in sessions that are not listed as theirs: in ones that retention has removed, which the
   * counts still know, or before the match in ones that another user has now.
   */
  hadDevice(visit: MatchedVisit): Promise<boolean>;
  /** Lists whom a session was matched with, reliably or not, oldest first. */
  listMatches(sessionId: string): Promise<Match[]>;
  /** Lists the latest events of a session. */
  listEvents(sessionId: string): Promise<StoredEvent[]>;
  /** Reads the parts of the session's latest score. */
  readSegments(): Promise<{ scoredAt: string; segments: ScoredSegment[] } | null>;
  /** Reads the name of a user. */
  readUserName(userId: string): Promise<string | null>;
}

/** Everything that rules look up. What is asked at the same time is read by one statement. */
export interface LookUps {
  /** Reads a session that is to be judged. Null if it does not exist any more. */
  readSession(integrationId: string, sessionId: string): Promise<JudgedSession | null>;
  openHistory(integrationId: string, session: Visit): History;
}

/** What a statement looks for: rows with a value in a tenant, some of them within a time. */
interface Key {
  integrationId: string;
  value: string;
  fingerprint?: string;
  from?: string;
  to?: string;
}

/** The most keys of one statement. */
const MAX_KEYS = 32;

export function createLookUps(db: Pick<Database, 'query'>): LookUps {
  const findSession = createLookUp<JudgedSession>(db, READ_SESSION);
  const findDeviceVisits = createLookUp<Visit>(db, LIST_DEVICE_VISITS);
  const findUserVisits = createLookUp<Visit>(db, LIST_USER_VISITS);
  const findVisitsBefore = createLookUp<Visit>(db, LIST_VISITS_BEFORE);
  const findHadDevice = createLookUp<{ hadDevice: boolean }>(db, READ_HAD_DEVICE);
  const findMatches = createLookUp<Match>(db, LIST_MATCHES);
  const findEvents = createLookUp<StoredEvent>(db, LIST_EVENTS);
  const findScore = createLookUp<{ scoredAt: string; segments: ScoredSegment[] | null }>(db, READ_SEGMENTS);
  const findName = createLookUp<{ name: string }>(db, READ_NAME);
  return {
    readSession: async (integrationId, value) => (await findSession({ integrationId, value }))[0] ?? null,
    openHistory(integrationId, session) {
      const atMs = Date.parse(session.createdAt);
      // Postgres writes earlier years in another form.
      const from = new Date(Math.max(MIN_INSTANT_MS, atMs - MEMORY_DAYS * DAY_MS)).toISOString();
      const to = new Date(atMs + MEMORY_DAYS * DAY_MS).toISOString();
      const listVisits = (find: typeof findUserVisits, value: string | null) =>
        remember(async () =>
          value === null ? [] : (await find({ integrationId, value, from, to })).toSorted(compareVisits),
        );
      return {
        listDeviceVisits: listVisits(findDeviceVisits, session.fingerprint),
        listUserVisits: listVisits(findUserVisits, session.userId),
        async listVisitsBefore(visit) {
          const visits = await findVisitsBefore({ integrationId, value: visit.userId, to: visit.createdAt });
          return visits.filter((other) => comesBefore(other, visit));
        },
        async hadDevice({ userId, fingerprint, correlatedAt }) {
          const [found] = await findHadDevice({ integrationId, value: userId, fingerprint, to: correlatedAt });
          return found!.hadDevice;
        },
        listMatches: (value) => findMatches({ integrationId, value }),
        listEvents: (value) => findEvents({ integrationId, value }),
        async readSegments() {
          const [row] = await findScore({ integrationId, value: session.id });
          return row?.segments ? { scoredAt: row.scoredAt, segments: row.segments } : null;
        },
        readUserName: async (value) => (await findName({ integrationId, value }))[0]?.name ?? null,
      };
    },
  };
}

const compareVisits = (one: Visit, other: Visit) => (comesBefore(one, other) ? -1 : 1);

/** Makes a function call its work only once. */
function remember<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | null = null;
  return () => (result ??= work());
}

/**
 * Creates a look-up. Its statement is given many keys and answers rows with the place of theirs. If it fails, each key is read
 * by itself, so that one that cannot be read fails alone.
 */
function createLookUp<Row>(db: Pick<Database, 'query'>, statement: string): (key: Key) => Promise<Row[]> {
  async function read(group: PendingItem<Key, Row[]>[]) {
    const keys = group.map(({ item }, place) => ({ place, ...item }));
    const rows = await db.query<Row & { place: number }>(statement, [JSON.stringify(keys)]);
    const found: Row[][] = group.map(() => []);
    for (const { place, ...row } of rows) found[place]!.push(row as Row);
    for (const [place, { resolve }] of group.entries()) resolve(found[place]!);
  }

  return createBatcher<Key, Row[]>(MAX_KEYS, async (group) => {
    try {
      await read(group);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      for (const one of group) await read([one]).catch(one.reject);
    }
  });
}

/** Looks each key up by itself, so that no plan depends on statistics. */
const lookUp = (columns: string, of: string) => `
  select k.place, ${columns} from json_to_recordset($1::text::json) as k(
    place int, "integrationId" text, value text, fingerprint text, "from" timestamptz, "to" timestamptz)
   cross join lateral (${of}) found`;

const VISIT_COLUMNS = `
  found.id, found.created_at as "createdAt", found.closed_at as "closedAt", found.origin, found.fingerprint,
  found.user_id as "userId", found.correlation_confidence as "correlationConfidence", found.correlated_at as "correlatedAt",
  found.is_inferred as "isInferred", found.device_type as "deviceType", found.browser,
  found.user_agent_summary as "userAgentSummary", found.location`;

const READ_SESSION = lookUp(
  `${VISIT_COLUMNS}, coalesce((select array_agg(r.rule) from finding_rules r
      where r.integration_id = k."integrationId" and not r.is_enabled), '{}') as "disabledRules",
   exists (select from collected_sessions c
      where c.integration_id = k."integrationId" and c.session_id = k.value) as "isCollected",
   coalesce(found.label = -1, false) as "isLabeledHuman"`,
  'select * from sessions s where s.integration_id = k."integrationId" and s.id = k.value limit 1',
);

/** The order is that of an index, so that the limit ends the scan. */
const listVisits = (column: string) =>
  lookUp(
    VISIT_COLUMNS,
    `select * from sessions s
      where s.integration_id = k."integrationId" and s.${column} = k.value
        and s.created_at >= k."from" and s.created_at <= k."to"
      order by s.created_at desc, s.id desc limit ${MAX_VISITS}`,
  );
const LIST_DEVICE_VISITS = listVisits('fingerprint');
const LIST_USER_VISITS = listVisits('user_id');

const LIST_VISITS_BEFORE = lookUp(
  VISIT_COLUMNS,
  `select * from sessions s
    where s.integration_id = k."integrationId" and s.user_id = k.value and s.created_at <= k."to"
    order by s.created_at desc, s.id desc limit ${MAX_VISITS}`,
);

/**
 * Compares all sessions that the user ever had with the device, folded or not, with the existing ones. Looks for a match of
 * the user among the latest ones that somebody else has now.
 */
const READ_HAD_DEVICE = lookUp(
  'found."hadDevice"',
  `select coalesce((select p.sessions from entity_pairs p
             where p.integration_id = k."integrationId" and p.kind = 'user' and p.value = k.value and p.other = k.fingerprint), 0)
        + coalesce((select sum(d.sign) from session_deltas d
             where d.integration_id = k."integrationId" and d.user_id = k.value and d.fingerprint = k.fingerprint), 0)
        > (select count(*) filter (where s.user_id = k.value)
             from (select user_id from sessions where integration_id = k."integrationId" and fingerprint = k.fingerprint
                    order by created_at desc, id desc limit ${MAX_COUNTED}) s)
     or exists (
          select from (select id, user_id from sessions
                        where integration_id = k."integrationId" and fingerprint = k.fingerprint and created_at <= k."to"
                        order by created_at desc, id desc limit ${MAX_VISITS}) s
           cross join lateral (
             select from session_correlations m
              where m.integration_id = k."integrationId" and m.session_id = s.id and m.user_id = k.value
                and m.correlated_at < k."to" limit 1) m
           where s.user_id <> k.value) as "hadDevice"`,
);

const LIST_MATCHES = `${lookUp(
  'found.user_id as "userId", found.correlated_at as "correlatedAt", found.confidence',
  `select * from session_correlations m where m.integration_id = k."integrationId" and m.session_id = k.value
    order by m.correlated_at limit ${MAX_MATCHES}`,
)} order by k.place, found.correlated_at`;

const LIST_EVENTS = `${lookUp(
  'found.type, found.timestamp, found.duration_ms as "durationMs", found.metadata',
  `select * from session_events e where e.integration_id = k."integrationId" and e.session_id = k.value
    order by e.sequence desc limit ${MAX_EVENTS}`,
)} order by k.place, found.sequence desc`;

const READ_SEGMENTS = lookUp(
  'found.scored_at as "scoredAt", found.segments',
  `select * from session_scores c where c.integration_id = k."integrationId" and c.session_id = k.value
    order by c.scored_at desc limit 1`,
);

const READ_NAME = lookUp(
  'found.name',
  'select * from users u where u.integration_id = k."integrationId" and u.id = k.value limit 1',
);
