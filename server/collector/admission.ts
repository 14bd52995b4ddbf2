import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Decides how many batches a process takes while it has too much to do. All of its work shares one thread, so batches that
 * come faster than they can be kept would also delay every answer of the API.
 */
export interface Admission {
  /** Starts measuring. Until then every batch is taken. */
  start(): void;
  stop(): void;
  /** Whether the batch may be taken. If not, the page should send it again later. */
  take(): boolean;
}

/** What is measured: how late the event loop comes to its timers, on average since the last reading. */
export type DelayReader = { start(): void; stop(): void; readMs(): number };

const WINDOW_MS = 100;
/** Above this delay there is too much to do. A request of the API waits for the event loop about three times. */
const MAX_DELAY_MS = 10;
/** So many windows in a row must be late before anything is refused: a single long task is no overload. */
const LATE_WINDOWS = 3;
/** Batches of a window that are always taken, however busy the process is. */
const LEAST_BATCHES = 50;
const GROWTH = 1.15;
const MAX_CUT = 0.7;
/** So many windows in a row in which nothing was refused end the overload. */
const CALM_WINDOWS = 10;

/** Creates an admission. It lowers the number of batches in a window while the event loop is late, and raises it when it is not. */
export function createAdmission(delay: DelayReader = createDelayReader(), now = () => performance.now()): Admission {
  let isMeasuring = false;
  let sinceMs = 0;
  let limit = Number.POSITIVE_INFINITY;
  let [taken, refused] = [0, 0];
  let [lateWindows, calmWindows] = [0, 0];

  function endWindow(nowMs: number) {
    const windows = (nowMs - sinceMs) / WINDOW_MS;
    const delayMs = delay.readMs();
    const isLate = delayMs > MAX_DELAY_MS;
    lateWindows = isLate ? lateWindows + 1 : 0;
    calmWindows = isLate || refused > 0 ? 0 : calmWindows + windows;
    if (calmWindows >= CALM_WINDOWS) limit = Number.POSITIVE_INFINITY;
    else if (isLate && (lateWindows >= LATE_WINDOWS || limit < Number.POSITIVE_INFINITY))
      limit = Math.max(LEAST_BATCHES, (taken / windows) * Math.max(MAX_CUT, MAX_DELAY_MS / delayMs));
    else if (!isLate && refused > 0) limit = limit * GROWTH + 1;
    [taken, refused, sinceMs] = [0, 0, nowMs];
  }

  return {
    start() {
      delay.start();
      sinceMs = now();
      isMeasuring = true;
    },
    stop() {
      isMeasuring = false;
      delay.stop();
    },
    take() {
      if (!isMeasuring) return true;
      const nowMs = now();
      if (nowMs - sinceMs >= WINDOW_MS) endWindow(nowMs);
      const mayTake = taken < limit;
      if (mayTake) taken++;
      else refused++;
      return mayTake;
    },
  };
}

const RESOLUTION_MS = 10;

function createDelayReader(): DelayReader {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  return {
    start: () => void histogram.enable(),
    stop: () => void histogram.disable(),
    readMs() {
      // Without a measurement the mean is NaN: the event loop did not come to its timer at all, or only just now.
      const meanMs = histogram.mean / 1e6;
      histogram.reset();
      return Number.isNaN(meanMs) ? 0 : Math.max(0, meanMs - RESOLUTION_MS);
    },
  };
}
