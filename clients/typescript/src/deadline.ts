import { BotDetectionError, ConnectionError, TimeoutError } from './errors.js';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Throws for a time limit that no answer could keep. A timer takes NaN for 1 ms. */
export function checkTimeout(timeoutMs: number): void {
  if (!(timeoutMs > 0)) throw new BotDetectionError('timeoutMs must be a number above 0');
}

type Act = (reason: unknown) => void;

/** What waits for each signal, and its listener. */
const waiting = new WeakMap<AbortSignal, { acts: Set<Act>; listener: () => void }>();

/**
 * Calls `act` when the signal is aborted, or at once if it is. Returns what takes this back. All calls that share a signal
 * share one listener of it: Node warns of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal | undefined, act: Act): () => void {
  if (signal?.aborted) act(signal.reason);
  if (!signal || signal.aborted) return () => {};
  const { acts, listener } = waiting.get(signal) ?? listen(signal);
  acts.add(act);
  return () => {
    acts.delete(act);
    if (acts.size > 0) return;
    signal.removeEventListener('abort', listener);
    waiting.delete(signal);
  };
}

function listen(signal: AbortSignal) {
  const acts = new Set<Act>();
  const listener = () => {
    for (const act of acts) act(signal.reason);
  };
  signal.addEventListener('abort', listener, { once: true });
  const entry = { acts, listener };
  waiting.set(signal, entry);
  return entry;
}

/** Aborts its signal when the time is over or when the caller's signal is aborted. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #leaveCaller: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(timeoutMs: number, callerSignal: AbortSignal | undefined) {
    checkTimeout(timeoutMs);
    this.#timeoutMs = timeoutMs;
    this.#leaveCaller = onAbort(callerSignal, (reason) => this.#controller.abort(reason));
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Gives the whole time again. */
  restart(): void {
    this.pause();
    this.#timer = setTimeout(
      () => this.#controller.abort(new TimeoutError(this.#timeoutMs)),
      Math.min(this.#timeoutMs, LONGEST_TIMER_MS),
    );
  }

  /** Stops the clock. The caller can still cancel. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    this.pause();
    this.#leaveCaller();
  }

  /** Returns what to throw for an error under this deadline: why it was aborted, or else that the connection failed. */
  explain(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason;
    if (error instanceof BotDetectionError) return error;
    return new ConnectionError('the connection failed, or the answer broke off', { cause: error });
  }
}
