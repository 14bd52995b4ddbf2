import { isDeepStrictEqual } from 'node:util';
import { MAX_SESSION_BATCHES, MAX_SESSION_MS } from '../../contract/beacon';
import type { ScoredSegment } from '../../contract/evidence';
import { parseUrl } from '../../contract/urls';
import { MIN_SEGMENTS } from '../detection/change-point';
import { anchorDocuments, isComplete } from '../detection/documents';
import { summariseEvents } from '../detection/events';
import type { SessionPresence } from '../detection/presence';
import { type Judgement, scoreSegments, scoreTrace } from '../detection/score';
import { classifyRisk, computeScoreBin } from '../domain/risk';
import type { Fact } from '../pipeline/facts';
import { coverBatches, coversBatch } from './coverage';
import type { KeptBatch } from './packing';
import type { OpenSession, Progress } from './session-state';
import { findConfidence, findForeignDocuments, isAnybodyNamed, isOtherUser } from './visitors';
import { listWritingFacts } from './written-texts';

// A cut is a set of batches of a session, and the facts that follow from it. The same cut of the same batches always gives
// the same facts.

/** When a session is over without being ended by its page. */
export interface SessionLimits {
  /** After its last page is gone. */
  goneMs: number;
  /** Without any sign. */
  idleMs: number;
}

/** The numbers in all events of a session. A session with more is over, so that no visitor fills the memory. */
const MAX_SESSION_VALUES = 500_000;
/**
 * A cut that changes neither class nor flags waits until this time has passed since the cut before. Each cut writes at least one
 * row for each type of event, so a shorter time would cost more than the batches themselves.
 */
export const RECORD_INTERVAL_MS = 30_000;
/** A time to look again that is earlier by less than this is not worth a write. */
const DUE_TOLERANCE_MS = 250;
const MAX_EVENT_COUNT = 100_000;
/** A session whose first batch came later than this after its start says nothing of where the visitor was then. */
const MAX_PLACE_DELAY_MS = 10 * 60_000;

/** What a session's batches say now. */
export interface Reading {
  presence: SessionPresence;
  judgement: Judgement;
  dueAtMs: number;
}

/** Judges all batches of a session. Null if there are none. */
export function readSession(session: OpenSession, limits: SessionLimits): Reading | null {
  const presence = session.readPresence();
  const judgement = session.score(session.replay?.isReplay);
  return presence && { presence, judgement, dueAtMs: findDueTime(session, presence, limits) };
}

/** Finds when a session is over if nothing more comes. */
function findDueTime(session: OpenSession, presence: SessionPresence, { goneMs, idleMs }: SessionLimits): number {
  const { lastSignMs, goneSinceMs, hasEnded } = presence;
  const isFull = session.batches.length >= MAX_SESSION_BATCHES || session.values >= MAX_SESSION_VALUES;
  // A batch that was refused or lost is sent again, perhaps after the one that ends the session.
  if (isFull || (hasEnded && isComplete(session.documents))) return lastSignMs;
  return Math.min(
    lastSignMs + (hasEnded ? goneMs : idleMs),
    session.createdAtMs + MAX_SESSION_MS,
    goneSinceMs === null ? Number.POSITIVE_INFINITY : goneSinceMs + goneMs,
  );
}

export interface CutRequest {
  reading: Reading;
  /** The database's time. */
  nowMs: number;
  /** The session was found due, so a time to look again must be written. */
  isDue: boolean;
}

/** A cut that is to be written, and its facts. */
export interface Cut {
  progress: Progress;
  facts: Fact[];
}

/** Plans the next cut of a session. Null if there is nothing to tell yet. */
export function planCut(session: OpenSession, { reading, nowMs, isDue }: CutRequest): Cut | null {
  const { presence, judgement, dueAtMs } = reading;
  const before = session.progress;
  const isOver = nowMs >= dueAtMs;
  const bin = computeScoreBin(judgement.botScore);
  const user = session.named?.user ?? null;
  const isChanged = !before || isOtherVerdict(session, before, bin, judgement.detectionFlags);
  const isCorrelated = user !== null && isOtherUser(user, before?.user ?? null);
  const isWaiting = session.fresh.length > 0 && performance.now() - session.recordedAtMs >= RECORD_INTERVAL_MS;
  const isSooner = dueAtMs < session.dueAtMs - DUE_TOLERANCE_MS;
  if (!(isChanged || isCorrelated || isWaiting || isSooner || isDue || isOver)) return null;

  const { batches } = session;
  const arrivedMs = Math.max(...batches.map(({ receivedAtMs }) => receivedAtMs));
  const cutAtMs = before ? Math.max(arrivedMs, Date.parse(before.cutAt) + 1) : arrivedMs;
  const isScored = isChanged || isOver;
  const started = before?.started ?? describeStart(session, presence, batches);
  const progress: Progress = {
    covered: coverBatches(batches),
    added: coverBatches(session.fresh),
    cutAt: new Date(cutAtMs).toISOString(),
    started,
    events: [before ? before.events[0] + before.events[1] : 0, 0],
    isFirst: !before,
    isScored,
    isCorrelated,
    isWritingScored: isOver && session.isWritingScored,
    told: isScored || !before ? { bin, flags: judgement.detectionFlags } : before.told,
    user: isCorrelated ? user : (before?.user ?? null),
    closedAt: isOver ? new Date(Math.max(presence.lastSignMs, Date.parse(started.at))).toISOString() : null,
  };
  const events = listEvents(progress, batches);
  progress.events[1] = events.length;
  const segments = isScored ? session.score.listSegments() : [];
  return { progress, facts: listFacts(session, progress, { segments, ...judgement }, events) };
}

/** Computes the facts of the latest cut once more. */
export function repeatFacts(session: OpenSession, progress: Progress): Fact[] {
  const batches = session.batches.filter((batch) => coversBatch(progress.covered, batch));
  const trace = { userAgent: session.userAgent, batches, isReplay: session.replay?.isReplay ?? null };
  const judgement = { ...scoreTrace(trace), segments: progress.isScored ? scoreSegments(trace) : [] };
  return listFacts(session, progress, judgement, listEvents(progress, batches).slice(0, progress.events[1]));
}

const isOtherVerdict = ({ thresholds }: OpenSession, { told }: Progress, bin: number, flags: string[]) =>
  classifyRisk(told.bin, thresholds) !== classifyRisk(bin, thresholds) || !isDeepStrictEqual(told.flags, flags);

function describeStart(session: OpenSession, presence: SessionPresence, batches: KeptBatch[]): Progress['started'] {
  const first = batches.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs || a.n - b.n);
  const origin = first.find((batch) => batch.origin !== undefined)?.origin;
  const atMs = Math.max(presence.startedAtMs, session.createdAtMs - MAX_SESSION_MS);
  return {
    at: new Date(atMs).toISOString(),
    pageUrl: isOfOrigin(presence.pageUrl, origin) ? presence.pageUrl : `${origin}/`,
    fingerprint: first.find((batch) => batch.fingerprint !== undefined)?.fingerprint ?? null,
  };
}

/** Whether a page's address has the origin that the browser said. Anybody can invent the others, and each would be counted. */
const isOfOrigin = (pageUrl: string | null, origin: string | undefined): pageUrl is string =>
  pageUrl !== null && (origin === undefined || parseUrl(pageUrl)?.origin === origin);

type SessionEventsFact = Extract<Fact, { kind: 'sessionEvents' }>;

/** Sums up the events of the batches that a cut adds. */
function listEvents({ covered, added, cutAt, user, events: [first] }: Progress, batches: KeptBatch[]) {
  const cutAtMs = Date.parse(cutAt);
  const known = batches.filter((batch) => coversBatch(covered, batch));
  const news = known.filter((batch) => coversBatch(added, batch));
  return summariseEvents(news, anchorDocuments(known), findForeignDocuments(known, user)).map(
    ({ timestampMs, eventCount, ...event }, place): SessionEventsFact['events'][number] => ({
      sequence: first + place,
      timestamp: new Date(Math.min(timestampMs, cutAtMs)).toISOString(),
      eventCount: Math.min(eventCount, MAX_EVENT_COUNT),
      ...event,
    }),
  );
}

function listFacts(
  session: OpenSession,
  progress: Progress,
  judgement: Judgement & { segments: ScoredSegment[] },
  events: SessionEventsFact['events'],
): Fact[] {
  const { sessionId, userAgent, country } = session;
  const { started, cutAt, user, closedAt } = progress;
  const facts: Fact[] = [];
  if (progress.isFirst) {
    const { at: startedAt, pageUrl, fingerprint: deviceFingerprint } = started;
    const location = session.createdAtMs - Date.parse(startedAt) <= MAX_PLACE_DELAY_MS ? session.location : null;
    const network = { country, location };
    facts.push({ kind: 'sessionStarted', sessionId, startedAt, pageUrl, userAgent, deviceFingerprint, ...network });
  }
  if (events.length > 0) facts.push({ kind: 'sessionEvents', sessionId, events });
  if (progress.isCorrelated && user) {
    const { id, name, email, url, context: contextId } = user;
    const described = { id, name: name ?? id, email, url };
    facts.push({
      kind: 'sessionCorrelated',
      sessionId,
      user: described,
      confidence: findConfidence(user),
      contextId,
      correlatedAt: cutAt,
      isUnverified: !user.isSigned,
    });
  }
  if (progress.isScored) {
    const { botScore, detectionFlags, findings: evidence, ruleSetVersion, segments } = judgement;
    facts.push({
      kind: 'sessionScored',
      sessionId,
      botScore,
      detectionFlags,
      scoredAt: cutAt,
      evidence,
      ruleSetVersion,
      // Fewer cannot show a change.
      ...(segments.length >= MIN_SEGMENTS && { segments }),
    });
  }
  if (progress.isWritingScored) facts.push(...listWritingFacts(session, progress));
  if (closedAt !== null) {
    const isNamed = isAnybodyNamed(session.batches.filter((batch) => coversBatch(progress.covered, batch)));
    facts.push({ kind: 'sessionClosed', sessionId, closedAt, isNamed });
  }
  return facts;
}
