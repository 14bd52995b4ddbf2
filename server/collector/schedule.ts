import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Judge, JudgeRequest } from './judge';
import { createTimeBudget } from './limits';
import type { OpenSessions } from './session-state';

/** A session is judged at most this often. */
const JUDGE_EVERY_MS = 2_000;
/** A session whose judgements take long is judged less often, so that it takes at most this share of the process. */
const MAX_SHARE = 0.005;
const TICK_MS = 50;
const MAX_RUNNING = 32;
/** Judgements take this long in one turn of the event loop. Then requests are answered. */
const MAX_TURN_MS = 4;
/**
 * Sessions that must be read from the database first take this share of the process together, and this long at once: if more are
 * open than memory holds, they are judged later. Those that are over do not wait.
 */
const READ_SHARE = 0.1;
const READ_BURST_MS = 2_000;
/** What a judgement of a session takes that was not judged before. */
const FIRST_MS = 0.2;

export interface Schedule {
  /** Has a session judged, because a batch of it arrived: at once if the batch ends the session. */
  notice(key: string, isLast: boolean): void;
  /** Has sessions judged at once, because they are over by the database's time `nowMs`. With null, they were left behind. */
  take(keys: string[], nowMs: number | null): void;
  /** Counts the sessions that wait. */
  count(): number;
  /** Counts those of them that are over. */
  countOver(): number;
  /** Without timers: judges everything that waits. With timers: waits for the judgements that run. */
  flush(): Promise<void>;
  /** Starts nothing more, and waits for what runs. */
  stop(): Promise<void>;
}

interface Waiting extends JudgeRequest {
  /** When it may be judged, on the monotonic clock, which nobody sets back. */
  atMs: number;
}

/** Creates the process's schedule of judgements. A session is never judged twice at the same time. */
export function createSchedule(judge: Judge, sessions: OpenSessions, hasTimers: boolean): Schedule {
  const waiting = new Map<string, Waiting>();
  const running = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | null = null;
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

  function plan(key: string, request: Waiting) {
    const known = waiting.get(key);
    waiting.set(key, {
      atMs: Math.min(request.atMs, known?.atMs ?? request.atMs),
      nowMs: request.nowMs ?? known?.nowMs ?? null,
      isDue: request.isDue || (known?.isDue ?? false),
    });
    if (hasTimers && !isStopped) timer ??= setInterval(startReady, TICK_MS, false).unref();
  }

  function startReady(isForced: boolean) {
    const nowMs = performance.now();
    const isReading = isForced || readingTime.hasTime();
    for (const [key, { atMs, ...request }] of waiting) {
      if (running.size >= MAX_RUNNING || isStopped) return;
      if ((atMs > nowMs && !isForced) || running.has(key)) continue;
      if (!isReading && request.nowMs === null && !sessions.has(key)) continue;
      waiting.delete(key);
      running.set(key, run(key, request));
    }
    if (waiting.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  async function run(key: string, request: JudgeRequest) {
    await waitForTurn(key);
    const isKnown = sessions.has(key);
    const { againInMs } = await judge.judge(key, request);
    running.delete(key);
    const session = isKnown ? undefined : sessions.get(key);
    if (session) readingTime.spend(session.readingMs + session.judgementMs);
    if (againInMs !== null && hasTimers)
      plan(key, { atMs: performance.now() + Math.max(againInMs, TICK_MS), nowMs: null, isDue: false });
  }

  return {
    notice(key, isLast) {
      const session = isLast ? undefined : sessions.get(key);
      const pauseMs = Math.max(JUDGE_EVERY_MS, (session?.usualJudgementMs ?? 0) / MAX_SHARE);
      const atMs = session ? session.judgedAtMs + pauseMs : 0;
      plan(key, { atMs, nowMs: null, isDue: false });
      if (hasTimers && atMs <= performance.now()) startReady(false);
    },
    take(keys, nowMs) {
      for (const key of keys) plan(key, { atMs: 0, nowMs, isDue: true });
      if (hasTimers) startReady(false);
    },
    count: () => waiting.size,
    countOver: () => [...waiting.values()].filter(({ nowMs }) => nowMs !== null).length,
    async flush() {
      // With timers, sessions may wait for a later time, and need no help.
      if (hasTimers) return void (await Promise.all(running.values()));
      do {
        startReady(true);
        await Promise.all(running.values());
      } while (waiting.size > 0 && !isStopped);
    },
    async stop() {
      isStopped = true;
      if (timer) clearInterval(timer);
      await Promise.all(running.values());
    },
  };
}
