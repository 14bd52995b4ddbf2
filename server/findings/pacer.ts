/** Collects names and hands them on. */
export interface Pacer {
  note(names: string[]): void;
  /** Waits for the work that is under way, and starts no more. */
  stop(): Promise<void>;
}

/**
 * Creates a pacer that calls `work` with the noted names: at once, but at least `intervalMs` after the previous call began,
 * and never twice at the same time. `work` must not throw.
 */
export function createPacer(intervalMs: number, work: (names: string[]) => Promise<void>): Pacer {
  let noted = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  let working: Promise<void> | null = null;
  let startedMs = Number.NEGATIVE_INFINITY;
  let isStopped = false;

  function schedule() {
    if (isStopped || timer || working || noted.size === 0) return;
    timer = setTimeout(start, Math.max(startedMs + intervalMs - performance.now(), 0));
  }

  function start() {
    timer = null;
    startedMs = performance.now();
    const names = [...noted];
    noted = new Set();
    working = work(names).finally(() => {
      working = null;
      schedule();
    });
  }

  return {
    note(names) {
      for (const name of names) noted.add(name);
      schedule();
    },
    async stop() {
      isStopped = true;
      if (timer) clearTimeout(timer);
      await working;
    },
  };
}
