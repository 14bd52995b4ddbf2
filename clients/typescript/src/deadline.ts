import { BotDetectionError, ConnectionError, TimeoutError } from './errors.js';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Throws for a time limit that no answer could keep. A timer takes NaN for 1 ms. */
export function checkTimeout(timeoutMs: number): void {
  if (!(timeoutMs > 0)) throw new BotDetectionError('timeoutMs must be a number above 0');
}

/** Aborts its signal when the time is over or when the caller's signal is aborted. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #cancel = () => this.#controller.abort(this.#callerSignal!.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(timeoutMs: number, callerSignal: AbortSignal | undefined) {
    checkTimeout(timeoutMs);
    this.#timeoutMs = timeoutMs;
    this.#callerSignal = callerSignal;
    if (callerSignal?.aborted) this.#cancel();
    else callerSignal?.addEventListener('abort', this.#cancel, { once: true });
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
    this.#callerSignal?.removeEventListener('abort', this.#cancel);
  }

  /** Returns what to throw for an error under this deadline: why it was aborted, or else that the connection failed. */
  explain(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason;
    if (error instanceof BotDetectionError) return error;
    return new ConnectionError('the connection failed, or the answer broke off', { cause: error });
  }
}
