/**
 * After so long without a statement, a connection is not used again. On a serverless platform a process is frozen between two
 * requests: it does not notice that a pooler has closed its connections, and the network may have forgotten them.
 */
export const STALE_MS = 30_000;
/** postgres.js learns of an end within milliseconds. If it does not, the statement takes what there is. */
const LIMIT_MS = 250;

/** Replaces the connections of a pool that has rested. */
export interface Renewal {
  noteOpened(): void;
  /** postgres.js knows that a connection has ended, which is a moment after its socket does. */
  noteClosed(): void;
  noteUse(): void;
  /** Returns what a statement must wait for until it gets a new connection; null if it can have one at once. */
  begin(isResting: boolean): Promise<void> | null;
}

/** Creates the renewal of a pool. `closeAll` closes its connections. */
export function createRenewal(closeAll: () => void): Renewal {
  let known = 0;
  let usedAt = performance.now();
  let running: Promise<void> | null = null;
  let finish = () => {};
  return {
    noteOpened: () => void known++,
    noteClosed() {
      if (--known === 0) finish();
    },
    noteUse() {
      usedAt = performance.now();
    },
    begin(isResting) {
      const isStale = isResting && known > 0 && performance.now() - usedAt > STALE_MS;
      if (running || !isStale) return running;
      running = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LIMIT_MS);
        finish = () => {
          clearTimeout(timer);
          resolve();
        };
      }).then(() => {
        running = null;
      });
      closeAll();
      return running;
    },
  };
}
