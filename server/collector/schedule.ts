import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Judge } from './judge';
import { createTimeBudget } from './limits';
import { JUDGING_SHARE, type OpenSession, type OpenSessions } from './session-state';
import {
  createWaitingSessions,
  type JudgeRequest,
  type PlannedJudgement,
  type PlannedSession,
} from './waiting-sessions';

/** A session is judged at most this often. */
const JUDGE_EVERY_MS = 2_000;
/** Interruptions may make the judgements of a session take this much longer. A page can make every other one take long. */
const INTERRUPTED_MS = 500;
const TICK_MS = 50;
const MAX_RUNNING = 32;
/** Judgements take this long in one turn of the event loop. Then requests are answered. */
const MAX_TURN_MS = 4;
/**
 * All sessions that must be read from the database may take this share of the process, and this long at once: if more are
 * open than memory holds, they are judged later. Those that are over do not wait.
 */
const READ_SHARE = 0.1;
const READ_BURST_MS = 2_000;
/** What a judgement of a session takes that was not judged before. */
const FIRST_MS = 0.2;

export interface Schedule {
  /** Has a session judged, because a batch of it arrived: at once if the batch ends the session. */
  notice(session: PlannedSession, isLast: boolean): void;
  /** Has sessions judged at once, because they are over by the database's time `nowMs`. With null, they were left behind. */
  take(sessions: PlannedSession[], nowMs: number | null): void;
  /** Counts the sessions that wait, of an integration or of all. */
  count(integrationId?: string): number;
  /** Counts those of them that are over, of each integration that has some. */
  countOver(): Map<string, number>;
  /** Without timers: judges everything that waits. With timers: waits for the judgements that run. */
  flush(): Promise<void>;
  /** Starts nothing more, and waits for what runs. */
  stop(): Promise<void>;
}

/** Finds how long to wait after a judgement. A page can say of each batch that it is the last one. */
function findPause({ usualJudgementMs, debtMs }: OpenSession, isLast: boolean): number {
  const owedMs = Math.max(0, debtMs - INTERRUPTED_MS) / JUDGING_SHARE;
  return isLast ? owedMs : Math.max(JUDGE_EVERY_MS, usualJudgementMs / JUDGING_SHARE, owedMs);
}

/** Creates the process's schedule of judgements. A session is never judged twice at the same time. */
export function createSchedule(judge: Judge, sessions: OpenSessions, hasTimers: boolean): Schedule {
  const waiting = createWaitingSessions();
  const running = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | null = null;
  /** When it was looked last, more sessions were ready than may run at the same time. */
  let isFull = false;
  /**
   * Large sessions that must be read, and the one that is judged. One at a time: 32 at once would take hundreds of
   * megabytes, and no request would be answered meanwhile.
   */
  const large = new Set<string>();
  let runningLarge: string | null = null;
  let isStopped = false;
  /** How long the judgements of the running turn of the event loop are expected to take. */
  let turnMs = 0;
  const readingTime = createTimeBudget(READ_SHARE, READ_BURST_MS);

  /** Waits until the event loop has time for a judgement. Otherwise all that are ready would run in one turn. */
  async function waitForTurn(key: string) {
    const expectedMs = Math.max(FIRST_MS, sessions.get(key)?.judgementMs ?? 0);
    do await yieldToOthers();
    while (turnMs > 0 && turnMs + expectedMs > MAX_TURN_MS);
    // This runs before those that wait, because they wait again later.
    if (turnMs === 0)
      setImmediate(() => {
        turnMs = 0;
      });
    turnMs += expectedMs;
  }

  function plan(session: PlannedSession, judgement: PlannedJudgement) {
    waiting.add(session, judgement);
    if (hasTimers && !isStopped) timer ??= setInterval(startReady, TICK_MS, false).unref();
  }

  /** Whether a session may start now. Those that must be read first wait for their share of the process. */
  const createCheck = (isForced: boolean) => {
    const nowMs = performance.now();
    const isReading = isForced || readingTime.hasTime();
    return (key: string, judgement: PlannedJudgement) =>
      (isForced || judgement.atMs <= nowMs) &&
      !running.has(key) &&
      !(runningLarge !== null && large.has(key)) &&
      (isReading || judgement.nowMs !== null || sessions.has(key));
  };

  function startReady(isForced: boolean) {
    const mayStart = createCheck(isForced);
    isFull = running.size >= MAX_RUNNING;
    if (isFull || isStopped) return;
    for (const { judgement, ...session } of waiting.take(mayStart)) {
      start(session, judgement);
      isFull = running.size >= MAX_RUNNING;
      if (isFull) return;
    }
    if (waiting.count() > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  /** Starts a session at once, without a look at all that wait, unless some of them could start too. */
  function startSoon(session: PlannedSession) {
    const judgement = waiting.get(session);
    if (!judgement || isFull || isStopped || running.size >= MAX_RUNNING || !createCheck(false)(session.key, judgement))
      return;
    waiting.remove(session);
    start(session, judgement);
  }

  function start(session: PlannedSession, request: JudgeRequest) {
    running.set(session.key, run(session, request));
  }

  async function run(session: PlannedSession, request: JudgeRequest) {
    const { key } = session;
    const mayBeLarge = () => {
      runningLarge ??= key;
      return runningLarge === key;
    };
    if (large.delete(key)) mayBeLarge();
    await waitForTurn(key);
    const before = sessions.get(key);
    const { againInMs, isPutOff } = await judge.judge(key, request, mayBeLarge);
    running.delete(key);
    if (runningLarge === key) runningLarge = null;
    if (isPutOff) {
      large.add(key);
      return plan(session, { ...request, atMs: 0 });
    }
    // Also one that another process had cut, and that was read again.
    const read = sessions.get(key);
    if (read && read !== before) readingTime.spend(read.readingMs + read.judgementMs);
    if (againInMs !== null && hasTimers)
      plan(session, { atMs: performance.now() + Math.max(againInMs, TICK_MS), nowMs: null, isDue: false });
  }

  return {
    notice(planned, isLast) {
      const session = sessions.get(planned.key);
      const atMs = session ? session.judgedAtMs + findPause(session, isLast) : 0;
      plan(planned, { atMs, nowMs: null, isDue: false });
      if (hasTimers) startSoon(planned);
    },
    take(taken, nowMs) {
      for (const session of taken) plan(session, { atMs: 0, nowMs, isDue: true });
      if (hasTimers) startReady(false);
    },
    count: waiting.count,
    countOver: waiting.countOver,
    async flush() {
      // With timers, sessions may wait for a later time, and need no help.
      if (hasTimers) return void (await Promise.all(running.values()));
      do {
        startReady(true);
        await Promise.all(running.values());
      } while (waiting.count() > 0 && !isStopped);
    },
    async stop() {
      isStopped = true;
      if (timer) clearInterval(timer);
      await Promise.all(running.values());
    },
  };
}
