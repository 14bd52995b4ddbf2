import { findApiError } from '../../contract/errors';
import type { RiskThresholds } from '../../contract/risk-thresholds';
import { type Database, findFaultLevel, isUnavailable } from '../../db/client';
import { isComplete } from '../detection/documents';
import { isRuleEnabled } from '../domain/finding-rules';
import type { Fact } from '../pipeline/facts';
import { type Ingester, isInvalidFactError } from '../pipeline/ingest';
import { createBatcher } from '../platform/batcher';
import type { Logger } from '../platform/log';
import type { Metrics } from '../platform/metrics';
import { compactSession, discardSession } from './closing';
import { planCut, RECORD_INTERVAL_MS, readSession, repeatFacts, type SessionLimits } from './cuts';
import { findReplay } from './replays';
import type { OpenSession, OpenSessions, Progress } from './session-state';
import type { JudgeRequest } from './waiting-sessions';

export interface Judge {
  /**
   * Judges a session: writes the next cut if there is something to tell, then sends its facts. Returns when to judge it again. One that
   * must be read and is large is judged only if it may be.
   */
  judge(key: string, request: JudgeRequest, mayBeLarge: () => boolean): Promise<JudgeResult>;
}

export interface JudgeResult {
  /** In how many milliseconds to judge the session again although nothing arrives. Null: when something arrives. */
  againInMs: number | null;
  isClosed: boolean;
  /** It is large, and was not judged. */
  isPutOff?: true;
}

const DONE: JudgeResult = { againInMs: null, isClosed: false };
const MAX_GROUP = 64;
/** Other processes judge the session at the same time, or it is locked. */
const MAX_TRIES = 5;

export function createJudge(dependencies: {
  db: Database;
  log: Logger;
  metrics: Pick<Metrics, 'observeJudgement' | 'countClose'>;
  ingester: Ingester;
  sessions: OpenSessions;
  limits: SessionLimits;
}): Judge {
  const { db, log, metrics, ingester, sessions, limits } = dependencies;
  const writeCut = createCutWriter(db);

  async function judge(key: string, request: JudgeRequest, mayBeLarge: () => boolean): Promise<JudgeResult> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const session = sessions.get(key) ?? (await sessions.load(key, mayBeLarge));
      if (!session) return DONE;
      if (session === 'large') return { ...DONE, isPutOff: true };
      const result = await judgeOnce(session, request);
      if (result) return result;
      // Another process wrote a cut, or is about to. Go on from there.
      sessions.drop(key);
    }
    return { againInMs: RETRY_MS, isClosed: false };
  }

  /** Judges a session once. Null if another process has written a cut in the meantime. */
  async function judgeOnce(session: OpenSession, request: JudgeRequest): Promise<JudgeResult | null> {
    const { isDue } = request;
    if (isDue || !isComplete(session.documents)) await sessions.refresh(session);
    if (session.progress) {
      if (!session.isSent && !(await sendFacts(session, repeatFacts(session, session.progress))))
        return dropSession(session);
      if (session.progress.closedAt !== null) return endSession(session, session.progress);
    }
    // What was looked up for other batches says nothing any more.
    if (session.replay?.batchCount !== session.batches.length) session.replay = null;
    const startedAt = performance.now();
    const reading = readSession(session, limits);
    if (!reading) return DONE;
    const nowMs = request.nowMs ?? reading.presence.lastSignMs;
    const isOver = nowMs >= reading.dueAtMs;
    // Other processes may have batches of the session. Read them before it closes.
    if (isOver && !isDue) return judgeOnce(session, { nowMs, isDue: true });
    if (isOver && session.replay?.batchCount !== session.batches.length) {
      session.replay = await findReplay(db, session);
      session.isWritingScored = await isRuleEnabled(db, session.integrationId, 'WritingSessionScored');
      return judgeOnce(session, request);
    }
    const cut = planCut(session, { reading, nowMs, isDue });
    const tookMs = performance.now() - startedAt;
    sessions.noteJudged(session, tookMs);
    metrics.observeJudgement(tookMs);
    if (!cut) {
      const isWaiting = session.fresh.length > 0;
      return { ...DONE, againInMs: isWaiting ? RECORD_INTERVAL_MS - (performance.now() - session.recordedAtMs) : null };
    }
    const { progress, facts } = cut;
    const covered = new Set(session.fresh);
    const { key, version } = session;
    const { closedAt } = progress;
    const replay = closedAt === null ? null : session.replay;
    const dueAt = new Date(closedAt === null ? reading.dueAtMs : nowMs + CLOSE_AGAIN_MS).toISOString();
    const batches = closedAt === null ? null : session.batches.length;
    const thresholds = await writeCut({
      ...{ key, version, progress, dueAt, closedAt, day: session.day, batches },
      ...{ digests: replay?.digests ?? null, isReplay: replay?.isReplay ?? null },
    });
    if (!thresholds) return null;
    Object.assign(session, { version: version + 1, progress, thresholds, isSent: false });
    Object.assign(session, { recordedAtMs: performance.now(), dueAtMs: Date.parse(dueAt) });
    session.fresh = session.fresh.filter((batch) => !covered.has(batch));
    if (!(await sendFacts(session, facts))) return dropSession(session);
    return closedAt === null ? DONE : endSession(session, progress);
  }

  /** Sends the facts of the latest cut. Returns false if its start was refused: then no later fact has a session, or not this one. */
  async function sendFacts(session: OpenSession, facts: Fact[]): Promise<boolean> {
    let isRefused = false;
    try {
      if (facts.length > 0) await ingester.ingestFacts({ integrationId: session.integrationId, facts, isOurs: true });
    } catch (error) {
      if (!isInvalidFactError(error) && !findApiError(error)) throw error;
      // No repeat would help. The session goes on with its next cut.
      const { integrationId, sessionId } = session;
      log.error({ err: error, integrationId, sessionId }, 'facts of the collector were refused');
      isRefused = true;
    }
    session.isSent = true;
    return !(isRefused && session.progress?.isFirst);
  }

  async function dropSession({ key, day }: OpenSession): Promise<JudgeResult> {
    await discardSession(db, { key, day });
    sessions.drop(key);
    return { againInMs: null, isClosed: true };
  }

  async function endSession(session: OpenSession, progress: Progress): Promise<JudgeResult> {
    await compactSession(db, session, progress);
    sessions.drop(session.key);
    metrics.countClose();
    return { againInMs: null, isClosed: true };
  }

  return {
    async judge(key, request, mayBeLarge) {
      try {
        return await judge(key, request, mayBeLarge);
      } catch (error) {
        log[findFaultLevel(error)]({ err: error }, 'a session could not be judged');
        return { againInMs: isUnavailable(error) ? RETRY_MS : RETRY_FAULT_MS, isClosed: false };
      }
    },
  };
}

/** A session whose close was begun by a process that died is closed again after this time. */
const CLOSE_AGAIN_MS = 10_000;
const RETRY_MS = 2_000;
/** A fault of ours probably happens again. */
const RETRY_FAULT_MS = 60_000;

interface CutRow {
  key: string;
  version: number;
  progress: Progress;
  dueAt: string;
  closedAt: string | null;
  day: string;
  /** How many batches the session must have, so that none is left out at its close. Null: any number. */
  batches: number | null;
  digests: string[] | null;
  isReplay: boolean | null;
}

/**
 * Creates a function that writes cuts, those of many sessions in one statement. Returns the integration's thresholds, or
 * null if the session has another version than expected or is locked. An erasure locks sessions until it has cleaned all
 * their batches, and the cuts of all others would wait for it.
 */
export function createCutWriter(db: Database) {
  return createBatcher<CutRow, RiskThresholds | null>(MAX_GROUP, async (group) => {
    const rows = group.map(({ item }) => item).sort((a, b) => Number(a.key) - Number(b.key));
    const written = await db.query<RiskThresholds & { key: string }>(WRITE_CUTS, [JSON.stringify(rows)]);
    const byKey = new Map(written.map(({ key, ...thresholds }) => [key, thresholds]));
    for (const { item, resolve } of group) resolve(byKey.get(item.key) ?? null);
  });
}

const WRITE_CUTS = `
  with r as materialized (
    select * from json_to_recordset($1::text::json) as r(
      key bigint, version int, progress jsonb, "dueAt" timestamptz, "closedAt" timestamptz, day date, batches int,
      digests bigint[], "isReplay" boolean)),
  f as materialized (
    select r.*, c.row from r cross join lateral (
      select c.ctid as row from collected_sessions c
       where c.key = r.key and c.version = r.version and c.closed_at is null limit 1 for update skip locked) c
     where r.batches is null or r.batches = (
       select count(*) from session_batches b where b.day = r.day and b.session_key = r.key))
  update collected_sessions c
     set version = c.version + 1, progress = f.progress, judged_at = now(), due_at = f."dueAt", closed_at = f."closedAt",
         digests = f.digests, is_replay = f."isReplay"
    from f, integrations i
   where c.ctid = any (array(select f.row from f)) and c.key = f.key and c.version = f.version and i.id = c.integration_id
  returning c.key, i.medium_at as "mediumAt", i.bot_at as "botAt"`;
