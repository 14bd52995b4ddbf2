import type { RiskThresholds } from '../../contract/risk-thresholds';
import type { GeoLocation } from '../../contract/sessions';
import type { Database } from '../../db/client';
import { createDocuments, isComplete, type TraceDocuments } from '../detection/documents';
import { createPresenceReader, type SessionPresence } from '../detection/presence';
import { createScorer, type Scorer } from '../detection/score';
import { type Coverage, coversBatch } from './coverage';
import { COMMIT_DELAY_MS, type StoredBatch } from './intake';
import { type KeptBatch, type NamedUser, toDocumentId, unpackBatch } from './packing';
import type { Replay } from './replays';
import { SESSION_BYTES, weighBatch, weighMeasured } from './session-weight';
import { IS_UNSENT, JOIN_SENT } from './unsent-cuts';
import { findConfidence } from './visitors';

/**
 * What the latest cut of a session covers and sends. It is written before its facts are sent. If a process dies in between,
 * the next one computes the same facts from it and sends them again; those that were committed are duplicates.
 */
export interface Progress {
  /** The batches that the cut judges, and those among them that the cut before did not have. */
  covered: Coverage;
  added: Coverage;
  /** The time of the cut and of its score: when its last batch arrived, but later than that of the cut before. */
  cutAt: string;
  started: { at: string; pageUrl: string; fingerprint: string | null };
  /** The first sequence number of the events that the cut sends, and how many it sends. */
  events: [first: number, count: number];
  /** The cut sends the start, a score, a correlation. */
  isFirst: boolean;
  isScored: boolean;
  isCorrelated: boolean;
  /** The cut sends scores of what was written. Absent in cuts of versions that knew none. */
  isWritingScored?: boolean;
  /** The latest score that was sent. */
  told: { bin: number; flags: string[] };
  /** The latest user that was sent. */
  user: NamedUser | null;
  closedAt: string | null;
}

/** An open session in the memory of this process. Everything in it can be read from the database again. */
export interface OpenSession {
  key: string;
  day: string;
  integrationId: string;
  sessionId: string;
  userAgent: string;
  country: string | null;
  location: GeoLocation | null;
  createdAtMs: number;
  thresholds: RiskThresholds;
  version: number;
  progress: Progress | null;
  /** Whether the facts of the latest cut were committed, as far as this process knows. */
  isSent: boolean;
  dueAtMs: number;
  batches: KeptBatch[];
  /** The same batches, and what follows from all of them. */
  documents: TraceDocuments;
  readPresence(): SessionPresence | null;
  score: Scorer;
  /** The batch that says who the visitor is: the latest of those with the highest confidence. */
  named: KeptBatch | null;
  /** The batches that no cut covers yet. */
  fresh: KeptBatch[];
  /** About how many numbers all batches have, how many segments begin in them, and how many bytes the session takes at most. */
  values: number;
  segments: number;
  bytes: number;
  /** How many of these bytes a judgement frees when a segment is over. */
  measuredBytes: number;
  /** The latest arrival among the batches when the database was read last. Null if it was not. */
  readUpToMs: number | null;
  /** What was looked up when the session was about to close, or read from the database after that. */
  replay: Replay | null;
  /** Whether what was written is scored: asked when the session is about to close. */
  isWritingScored: boolean;
  /** When the latest cut was written, and when the session was judged last, on the monotonic clock. */
  recordedAtMs: number;
  judgedAtMs: number;
  /** How long it took to read the session from the database, without waiting for that, and how long the latest judgement took. */
  readingMs: number;
  judgementMs: number;
  /** The shorter of the latest two. One may have been interrupted, and the first one of a process waits for the compiler. */
  usualJudgementMs: number;
  /** How much longer its judgements took, until the latest, than the share of the process that a session may use. */
  debtMs: number;
}

/** A session whose judgements take long is judged less often, so that it takes at most this share of the process. */
export const JUDGING_SHARE = 0.005;

/** The default thresholds of an integration, until the first cut brings the real ones. */
const DEFAULT_THRESHOLDS: RiskThresholds = { mediumAt: 40, botAt: 70 };
/**
 * Limits the sessions in memory: 800 tabs fit in which somebody moved and typed for 50 batches, or 7,000 that hardly did anything. Others are
 * read from the database when they are judged.
 */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
/** A session that takes more is large. An hour of somebody who writes without a pause takes about as much. */
const LARGE_BYTES = 2 * 1024 * 1024;
export interface OpenSessions {
  get(key: string): OpenSession | undefined;
  /** Whether a session is in memory. */
  has(key: string): boolean;
  /** Adds a batch that was stored, if the session is in memory or begins with it. */
  addBatch(session: NewSession, stored: StoredBatch, batch: KeptBatch): void;
  /** Reads an open session. Null if there is none, or if its close is complete; `large` if it is and may not be. */
  load(key: string, mayBeLarge: () => boolean): Promise<OpenSession | 'large' | null>;
  /** Reads the batches that reached other processes. */
  refresh(session: OpenSession): Promise<void>;
  /** Notes how long a judgement took, and frees what it has forgotten. */
  noteJudged(session: OpenSession, tookMs: number): void;
  drop(key: string): void;
  count(): number;
}

export type NewSession = Pick<OpenSession, 'integrationId' | 'sessionId' | 'userAgent' | 'country' | 'location'>;

/** Creates the process's memory of open sessions. The one that was used least recently leaves it first. */
export function createSessions(db: Database): OpenSessions {
  const kept = new Map<string, OpenSession>();
  /** Batches that arrive while their session is being read. */
  const arriving = new Map<string, KeptBatch[]>();
  let bytes = 0;

  function use(session: OpenSession) {
    kept.delete(session.key);
    kept.set(session.key, session);
  }

  function keep(session: OpenSession) {
    drop(session.key);
    use(session);
    bytes += session.bytes;
    trim();
  }

  function drop(key: string) {
    const session = kept.get(key);
    if (!session) return;
    kept.delete(key);
    bytes -= session.bytes;
  }

  function trim() {
    for (const key of kept.keys()) {
      if (bytes <= MAX_KEPT_BYTES) return;
      if (kept.size > 1) drop(key);
    }
  }

  function addTo(session: OpenSession, batch: KeptBatch) {
    if (session.documents.has(batch)) return;
    const documentCount = session.documents.count();
    session.batches.push(batch);
    session.documents.add([batch]);
    if (batch.user && (!session.named || isBetter(batch, session.named))) session.named = batch;
    if (!session.progress || !coversBatch(session.progress.covered, batch)) session.fresh.push(batch);
    const isFurther = documentCount > 0 && session.documents.count() > documentCount;
    const weight = weighBatch(batch, { isFurther, knownSegments: session.segments });
    session.segments += weight.segments;
    session.values += weight.values;
    session.measuredBytes += weight.measuredBytes;
    addBytes(session, weight.bytes + weight.measuredBytes);
  }

  function addBytes(session: OpenSession, added: number) {
    session.bytes += added;
    if (kept.get(session.key) === session) bytes += added;
  }

  /** Returns whether the session was read to its end: one that may not be large is left at that point. */
  async function readBatches(session: OpenSession, sinceMs: number, mayBeLarge = () => true): Promise<boolean> {
    const upToMs = findLastArrival(session);
    const rows = await db.query<BatchRow>(READ_BATCHES, [session.day, session.key, new Date(sinceMs).toISOString()]);
    const startedAtMs = performance.now();
    for (const { document, sequence, receivedAt, body } of rows) {
      const row = { d: toDocumentId(document), n: sequence, receivedAtMs: Date.parse(receivedAt) };
      if (!session.documents.has(row)) addTo(session, unpackBatch(body, row));
      if (session.bytes > LARGE_BYTES && !mayBeLarge()) return false;
    }
    session.readingMs = performance.now() - startedAtMs;
    session.readUpToMs = upToMs;
    return true;
  }

  return {
    get(key) {
      const session = kept.get(key);
      if (session) use(session);
      return session;
    },
    has: (key) => kept.has(key),
    addBatch(named, { sessionKey: key, day, isNewSession, createdAt }, batch) {
      let session = kept.get(key);
      if (!session && isNewSession) {
        session = createSession({ ...named, key, day, createdAt, version: 0, progress: null, dueAt: createdAt });
        keep(session);
      }
      if (session) addTo(session, batch);
      else arriving.get(key)?.push(batch);
      trim();
    },
    async load(key, mayBeLarge) {
      arriving.set(key, []);
      try {
        const [row] = await db.query<SessionRow>(READ_SESSION, [key]);
        if (!row) return null;
        const session = createSession(row);
        session.thresholds = { mediumAt: row.mediumAt, botAt: row.botAt };
        if (!(await readBatches(session, 0, mayBeLarge))) return 'large';
        for (const batch of arriving.get(key) ?? []) addTo(session, batch);
        keep(session);
        return session;
      } finally {
        arriving.delete(key);
      }
    },
    async refresh(session) {
      // A batch that is missing for good must not have all of them read again and again.
      const knownMs = isComplete(session.documents) ? findLastArrival(session) : session.readUpToMs;
      await readBatches(session, knownMs === null ? 0 : Math.max(0, knownMs - COMMIT_DELAY_MS));
      trim();
    },
    noteJudged(session, tookMs) {
      const nowMs = performance.now();
      session.debtMs = Math.max(0, session.debtMs - JUDGING_SHARE * (nowMs - session.judgedAtMs)) + tookMs;
      session.judgedAtMs = nowMs;
      session.usualJudgementMs = Math.min(session.judgementMs, tookMs);
      session.judgementMs = tookMs;
      const measured = weighMeasured(session.score.countMeasured());
      addBytes(session, measured - session.measuredBytes);
      session.measuredBytes = measured;
    },
    drop,
    count: () => kept.size,
  };
}

function findLastArrival({ batches }: OpenSession): number {
  let lastMs = 0;
  for (const { receivedAtMs } of batches) lastMs = Math.max(lastMs, receivedAtMs);
  return lastMs;
}

type SessionFields = NewSession &
  Pick<OpenSession, 'key' | 'day' | 'version' | 'progress'> & {
    createdAt: string;
    dueAt: string;
    isReplay?: boolean | null;
    isUnsent?: boolean;
    /** How long ago the latest cut was written. Null without one. */
    cutAgeMs?: number | null;
  };

function isBetter(one: KeptBatch, other: KeptBatch): boolean {
  const more = findConfidence(one.user!) - findConfidence(other.user!);
  if (more !== 0) return more > 0;
  return one.receivedAtMs > other.receivedAtMs || (one.receivedAtMs === other.receivedAtMs && one.n > other.n);
}

function createSession({ createdAt, dueAt, isUnsent = false, cutAgeMs = null, ...fields }: SessionFields): OpenSession {
  const documents = createDocuments();
  return {
    key: fields.key,
    day: fields.day,
    integrationId: fields.integrationId,
    sessionId: fields.sessionId,
    userAgent: fields.userAgent,
    country: fields.country,
    location: fields.location,
    createdAtMs: Date.parse(createdAt),
    thresholds: DEFAULT_THRESHOLDS,
    version: fields.version,
    progress: fields.progress,
    isSent: !isUnsent,
    dueAtMs: Date.parse(dueAt),
    batches: [],
    documents,
    readPresence: createPresenceReader(documents),
    score: createScorer({ userAgent: fields.userAgent }, documents),
    named: null,
    fresh: [],
    values: 0,
    segments: 0,
    bytes: SESSION_BYTES,
    measuredBytes: 0,
    readUpToMs: null,
    // Of a session that is closing, of which only this is needed.
    replay: fields.isReplay == null ? null : { digests: [], isReplay: fields.isReplay, batchCount: 0 },
    isWritingScored: false,
    recordedAtMs: cutAgeMs === null ? Number.NEGATIVE_INFINITY : performance.now() - cutAgeMs,
    judgedAtMs: Number.NEGATIVE_INFINITY,
    readingMs: 0,
    judgementMs: 0,
    usualJudgementMs: 0,
    debtMs: 0,
  };
}

type SessionRow = SessionFields & RiskThresholds;
interface BatchRow {
  document: string;
  sequence: number;
  receivedAt: string;
  body: Buffer;
}

const READ_SESSION = `
  select c.key, c.day::text, c.integration_id as "integrationId", c.session_id as "sessionId", c.user_agent as "userAgent",
         c.country, c.location, c.created_at as "createdAt", c.due_at as "dueAt", c.version, c.progress,
         c.is_replay as "isReplay", ${IS_UNSENT} as "isUnsent",
         extract(epoch from now() - c.judged_at)::float8 * 1000 as "cutAgeMs",
         i.medium_at as "mediumAt", i.bot_at as "botAt"
    from collected_sessions c join integrations i on i.id = c.integration_id ${JOIN_SENT}
   where c.key = $1::bigint and c.due_at is not null`;

const READ_BATCHES = `
  select document, sequence, received_at as "receivedAt", body from session_batches
   where day = $1::date and session_key = $2::bigint and received_at > $3::timestamptz
   order by received_at, document, sequence`;
