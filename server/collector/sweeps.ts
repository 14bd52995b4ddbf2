import { type Database, isUnavailable } from '../../db/client';
import type { Logger } from '../platform/log';
import { findAbandonedSessions, takeDueSessions } from './closing';
import { createPartitions } from './retention';
import type { Schedule } from './schedule';
import type { OpenSessions } from './session-state';
import { findUnsentCuts } from './unsent-cuts';
import type { PlannedSession } from './waiting-sessions';

/** What a process looks for: sessions that are over, and what other processes left behind. */
export interface Sweeps {
  /** Starts looking. */
  start(): void;
  /** Looks once, for processes without timers. Returns how many sessions it took. */
  sweep(): Promise<number>;
  /** Starts nothing more, and waits for what a process does at its start. */
  stop(): Promise<void>;
}

const SWEEP_DUE_MS = 1_000;
const SWEEP_UNSENT_MS = 2_000;
const SWEEP_ABANDONED_MS = 5_000;
/** The most sessions that wait for their close in this process, and of one integration: others' are looked for behind them. */
const MAX_BACKLOG = 1_000;
const MAX_BACKLOG_EACH = 500;
/** While so many sessions wait, a start adds none of those that were left behind, so that pages are not refused. */
const MAX_WAITING_AT_START = 10_000;
/** Longer than the pause between two runs of the cron. */
const SWEEP_EVERY_MINUTE_MS = 90_000;

/** Creates the sweeps of a process. What they find, the schedule judges. */
export function createSweeps(dependencies: {
  db: Database;
  log: Logger;
  sessions: OpenSessions;
  schedule: Schedule;
}): Sweeps {
  const { db, log, sessions, schedule } = dependencies;
  const timers = new Set<NodeJS.Timeout>();
  let isStopped = false;
  let preparation = Promise.resolve();
  /** What this process found at its start, and has yet to have judged. */
  let leftBehind: PlannedSession[] = [];

  /** Takes the sessions that are over, as many as this process can close soon. */
  async function takeDue(): Promise<number> {
    let count = 0;
    while (!isStopped) {
      const over = [...schedule.countOver()];
      if (over.reduce((sum, [, waiting]) => sum + waiting, 0) >= MAX_BACKLOG) break;
      const busy = over.filter(([, waiting]) => waiting >= MAX_BACKLOG_EACH).map(([integrationId]) => integrationId);
      const { sessions: taken, nowMs } = await takeDueSessions(db, busy);
      if (taken.length === 0) break;
      count += taken.length;
      schedule.take(taken, nowMs);
    }
    return count;
  }

  async function takeAbandoned(sinceMs: number): Promise<number> {
    const abandoned = await findAbandonedSessions(db, sinceMs);
    schedule.take(abandoned, null);
    return abandoned.length;
  }

  /** Most of these are open in other processes. To cut them all would have those read them again. */
  async function noticeLeftBehind() {
    const noticed = leftBehind.splice(0, Math.max(0, MAX_WAITING_AT_START - schedule.count()));
    for (const session of noticed) schedule.notice(session, false);
  }

  async function findLeftBehind() {
    leftBehind = await findAbandonedSessions(db, null);
    await noticeLeftBehind();
  }

  /** Sends the facts of cuts whose process died before it could. */
  async function takeUnsent(sinceMs: number | null): Promise<number> {
    const cuts = await findUnsentCuts(db, sinceMs);
    for (const { version, ...cut } of cuts) {
      // If this process wrote the cut, it is about to send the facts itself.
      if (sessions.get(cut.key)?.version === version) continue;
      sessions.drop(cut.key);
      schedule.notice(cut, true);
    }
    return cuts.length;
  }

  /** What a process does once, one after the other: each takes a connection for as long as it runs. */
  async function prepare() {
    const jobs: [job: () => Promise<unknown>, fault: string][] = [
      [() => createPartitions(db), 'partitions could not be made'],
      [findLeftBehind, 'sessions that were left behind could not be found'],
      [() => takeUnsent(null), 'facts that were not sent could not be found'],
    ];
    for (const [job, fault] of jobs)
      if (!isStopped) await job().catch((error: unknown) => log.warn({ err: error }, fault));
  }

  /** Repeats a job with pauses. An outage of the database is logged elsewhere. */
  function repeat(job: () => Promise<unknown>, pauseMs: number) {
    const timer = setTimeout(async () => {
      timers.delete(timer);
      await job().catch((error: unknown) =>
        log[isUnavailable(error) ? 'debug' : 'error']({ err: error }, 'a sweep of the collector failed'),
      );
      if (!isStopped) repeat(job, pauseMs);
    }, pauseMs).unref();
    timers.add(timer);
  }

  return {
    start() {
      preparation = prepare();
      repeat(takeDue, SWEEP_DUE_MS);
      repeat(noticeLeftBehind, SWEEP_DUE_MS);
      repeat(() => takeUnsent(SWEEP_UNSENT_MS), SWEEP_UNSENT_MS);
      repeat(() => takeAbandoned(SWEEP_ABANDONED_MS), SWEEP_ABANDONED_MS);
    },
    async sweep() {
      const every = SWEEP_EVERY_MINUTE_MS;
      return (await takeDue()) + (await takeAbandoned(every)) + (await takeUnsent(every));
    },
    async stop() {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
      await preparation;
    },
  };
}
