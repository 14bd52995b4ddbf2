import { type Database, isUnavailable } from '../../db/client';
import type { Logger } from '../platform/log';
import { findAbandonedSessions, takeDueSessions } from './closing';
import { createPartitions } from './retention';
import type { Schedule } from './schedule';
import type { OpenSessions } from './session-state';
import { findUnsentCuts } from './unsent-cuts';

/** What a process looks for: sessions that are over, and what other processes left behind. */
export interface Sweeps {
  /** Starts looking. */
  start(): void;
  /** Looks once, for processes without timers. Answers how many sessions it took. */
  sweep(): Promise<number>;
  /** Starts nothing more, and waits for what a process does at its start. */
  stop(): Promise<void>;
}

const SWEEP_DUE_MS = 1_000;
const SWEEP_UNSENT_MS = 2_000;
const SWEEP_ABANDONED_MS = 5_000;
/** The most sessions that wait for their close in this process. */
const MAX_BACKLOG = 500;
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

  /** Takes the sessions that are over, as many as this process can close soon. */
  async function takeDue(): Promise<number> {
    let count = 0;
    while (schedule.countOver() < MAX_BACKLOG && !isStopped) {
      const { keys, nowMs } = await takeDueSessions(db);
      if (keys.length === 0) break;
      count += keys.length;
      schedule.take(keys, nowMs);
    }
    return count;
  }

  async function takeAbandoned(sinceMs: number | null): Promise<number> {
    const keys = await findAbandonedSessions(db, sinceMs);
    schedule.take(keys, null);
    return keys.length;
  }

  /** Sends the facts of cuts whose process died before it could. */
  async function takeUnsent(sinceMs: number | null): Promise<number> {
    const cuts = await findUnsentCuts(db, sinceMs);
    for (const { key: sessionKey, version } of cuts) {
      // If this process wrote the cut, it is about to send the facts itself.
      if (sessions.get(sessionKey)?.version === version) continue;
      sessions.drop(sessionKey);
      schedule.notice(sessionKey, true);
    }
    return cuts.length;
  }

  /** What a process does once, one after the other: each takes a connection for as long as it runs. */
  async function prepare() {
    const jobs: [job: () => Promise<unknown>, fault: string][] = [
      [() => createPartitions(db), 'partitions could not be made'],
      [() => takeAbandoned(null), 'sessions that were left behind could not be found'],
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
