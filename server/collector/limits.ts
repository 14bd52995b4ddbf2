/** Counts events of many keys in fixed minutes, in the memory of this process. */
export interface MinuteCounter {
  /** Counts one event of a key. Returns false if the key is over its limit; then the event is not counted. */
  take(key: string): boolean;
}

const MINUTE_MS = 60_000;
/** The most keys that are counted separately. Further keys of the minute share one count. */
const MAX_KEYS = 50_000;
const OTHERS = '';

/** Creates a counter that lets `limit` events of each key pass in a minute. */
export function createMinuteCounter(limit: number, now: () => number = Date.now): MinuteCounter {
  let minute = 0;
  const counts = new Map<string, number>();
  return {
    take(key) {
      const current = Math.floor(now() / MINUTE_MS);
      if (current !== minute) {
        minute = current;
        counts.clear();
      }
      const counted = counts.has(key) || counts.size < MAX_KEYS ? key : OTHERS;
      const count = counts.get(counted) ?? 0;
      if (count >= limit) return false;
      counts.set(counted, count + 1);
      return true;
    },
  };
}

/** Lets work take a share of the process. */
export interface TimeBudget {
  /** Whether the work may take time now. */
  hasTime(): boolean;
  /** Notes how long it took. */
  spend(ms: number): void;
}

/** Creates a budget of a share of the process, of which `burstMs` can be spent at once. */
export function createTimeBudget(share: number, burstMs: number, now = () => performance.now()): TimeBudget {
  let leftMs = burstMs;
  let sinceMs = now();
  return {
    hasTime() {
      const nowMs = now();
      leftMs = Math.min(burstMs, leftMs + share * (nowMs - sinceMs));
      sinceMs = nowMs;
      return leftMs > 0;
    },
    spend(ms) {
      leftMs -= ms;
    },
  };
}

const MIN_RETRY_SECONDS = 2;
const RETRY_SPREAD_SECONDS = 8;

/** How long a page should wait before it sends again: spread, so that pages do not come back together. */
export const chooseRetrySeconds = () => MIN_RETRY_SECONDS + Math.floor(Math.random() * (RETRY_SPREAD_SECONDS + 1));
