import type { ClaimedDelivery } from './deliveries';

/** The smallest window: how many attempts one subscription may have in flight, even if its receiver keeps failing. */
const WINDOW = 25;
/** The window grows up to this while the receiver accepts deliveries. */
const MAX_WINDOW = 100;
/** Answered attempts that are not recorded yet: with a slow database, answers of a fast receiver must not pile up. */
const MAX_UNRECORDED = 200;
/** An idle run waits this long, so that a slow but steady flow needs no new run for each delivery. */
const LINGER_MS = 2_000;
/** How often a run with free places polls the database, because commits of other processes do not wake it. */
const POLL_MS = 500;
/** A run ends after this time and the engine starts the next, so that no run exceeds the limit of a serverless platform. */
const RUN_MS = 20_000;

export interface DrainPorts {
  claim(limit: number): Promise<ClaimedDelivery[]>;
  /** Attempts and records one delivery. Calls `onAnswered` when the receiver has answered or failed. Never rejects. */
  deliver(delivery: ClaimedDelivery, onAnswered: (isDelivered: boolean) => void): Promise<void>;
  /** Returns how many attempts this drain may have in flight. It has `inFlight` now and wants `window`. */
  allow(inFlight: number, window: number): number;
  /** Called when an attempt was recorded and no run exists that could use its place. */
  onFree(): void;
}

/**
 * Sends the due deliveries of one subscription: a sliding window of attempts, refilled as they finish. Attempts outlive the
 * run that started them, so a hanging receiver does not block a run of the engine. The next run uses the freed places.
 */
export class Drain {
  readonly #ports: DrainPorts;
  readonly #settled: (() => void)[] = [];
  /** Attempts in flight, and reserved places. */
  #inFlight = 0;
  #unrecorded = 0;
  #window = WINDOW;
  /** The last claim filled all places, so more may be due. */
  #wasLastClaimFull = false;
  #mayHaveMore = true;
  #isRunning = false;
  #isStopping = false;
  #lastActiveAt = 0;
  #resume: (() => void) | null = null;

  constructor(ports: DrainPorts) {
    this.#ports = ports;
  }

  get inFlight() {
    return this.#inFlight;
  }

  /** Whether a run exists. It reacts to `wake`. */
  get isRunning() {
    return this.#isRunning;
  }

  get isIdle() {
    return this.#inFlight === 0 && this.#unrecorded === 0;
  }

  get hasPlace() {
    return this.#places > 0;
  }

  /** Whether there may be due rows that no run has read. */
  get mayHaveMore() {
    return this.#mayHaveMore;
  }

  /**
   * Tells the run that there may be new rows. The publisher calls this in the same tick as its look-up of the drain, so the
   * run cannot end in between.
   */
  wake() {
    this.#mayHaveMore = true;
    this.#noteActivity();
  }

  /**
   * Reserves a place for a delivery that is about to be committed, so that it need not be claimed. Refuses if other rows may
   * be due, because those come first.
   */
  reserve(): boolean {
    if (!this.#isRunning || this.#isStopping || this.#mayHaveMore || this.#places <= 0) return false;
    this.#inFlight++;
    return true;
  }

  /** Sends a delivery that has a place. */
  start(delivery: ClaimedDelivery) {
    let isAnswered = false;
    const onAnswered = (isDelivered: boolean) => {
      if (!isAnswered) this.#answer(isDelivered);
      isAnswered = true;
    };
    void this.#ports.deliver(delivery, onAnswered).then(() => {
      onAnswered(false);
      this.#record();
    });
  }

  /** Releases a reserved place. */
  release() {
    this.#inFlight--;
    this.#unrecorded++;
    this.#record();
  }

  /** Stops claiming. */
  stop() {
    this.#isStopping = true;
    this.#resume?.();
  }

  /**
   * Claims and starts deliveries. Resolves if nothing has happened for a while, after a stop, or when the run's time is over.
   * Rejects if a claim fails.
   */
  async run(): Promise<void> {
    this.#isRunning = true;
    this.#mayHaveMore = true;
    try {
      const endAt = performance.now() + RUN_MS;
      this.#lastActiveAt = performance.now();
      let claimedAt = Number.NEGATIVE_INFINITY;
      while (!this.#isStopping) {
        const now = performance.now();
        const remainingMs = Math.min(endAt, this.#lastActiveAt + LINGER_MS) - now;
        if (remainingMs <= 0) break;
        const pollInMs = this.#mayHaveMore ? 0 : claimedAt + POLL_MS - now;
        if (pollInMs > 0) await this.#wait(Math.min(remainingMs, pollInMs));
        else if (this.#places <= 0) await this.#wait(Math.min(remainingMs, POLL_MS));
        else {
          claimedAt = now;
          await this.#refill();
        }
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Resolves when no attempt is in flight. For processes in which nothing may outlive a run. */
  async settle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.#settled.push(resolve));
  }

  get #places() {
    if (this.#unrecorded >= MAX_UNRECORDED) return 0;
    return this.#ports.allow(this.#inFlight, this.#window) - this.#inFlight;
  }

  async #refill() {
    // Reset before the claim, so that a wake during the claim is not lost.
    this.#mayHaveMore = false;
    const places = this.#places;
    this.#inFlight += places;
    try {
      const claimed = await this.#ports.claim(places);
      this.#inFlight -= places - claimed.length;
      this.#wasLastClaimFull = claimed.length === places;
      if (this.#wasLastClaimFull) this.#mayHaveMore = true;
      if (claimed.length > 0) this.#lastActiveAt = performance.now();
      for (const delivery of claimed) this.start(delivery);
    } catch (error) {
      this.#inFlight -= places;
      this.#mayHaveMore = true;
      throw error;
    }
  }

  /** The receiver has answered or failed: adapts the window and frees the place. */
  #answer(isDelivered: boolean) {
    if (!isDelivered) this.#window = Math.max(WINDOW, this.#window >> 1);
    else if (this.#wasLastClaimFull) this.#window = Math.min(MAX_WINDOW, this.#window + 1);
    this.#inFlight--;
    this.#unrecorded++;
    this.#noteActivity();
  }

  #record() {
    this.#unrecorded--;
    this.#noteActivity();
    if (this.isIdle) for (const resolve of this.#settled.splice(0)) resolve();
    if (!this.#isRunning) this.#ports.onFree();
  }

  #noteActivity() {
    this.#lastActiveAt = performance.now();
    this.#resume?.();
  }

  /** Resolves after `ms`, or earlier if something happens. */
  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#resume = null;
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#resume = end;
    });
  }
}
