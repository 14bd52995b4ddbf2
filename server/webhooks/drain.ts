import type { ClaimedDelivery } from './deliveries';

/** Attempts that one subscription may have under way at a time, whatever its receiver does. */
const WINDOW = 25;
/** What the window grows to while the receiver takes what it is sent. */
const MAX_WINDOW = 100;
/** Answered, and not on record yet: a slow database must not have a fast receiver's answers pile up. */
const MAX_UNRECORDED = 200;
/** A run in which nothing happens stays this long, so that a steady trickle needs no new run for each delivery. */
const LINGER_MS = 2_000;
/** How often a run with free places looks by itself: commits of other processes do not wake it. */
const LOOK_MS = 500;
/** A run ends after this long and lets the engine start the next: no run outlives a serverless limit. */
const RUN_MS = 20_000;

export interface DrainPorts {
  claim(limit: number): Promise<ClaimedDelivery[]>;
  /** Attempts and records one delivery; tells when the receiver is done with it. Never rejects. */
  deliver(delivery: ClaimedDelivery, onAnswered: (isDelivered: boolean) => void): Promise<void>;
  /** How many attempts this drain may have under way, of the `inFlight` that it has and the `window` that it wants. */
  allow(inFlight: number, window: number): number;
  /** An attempt is on record while no run was there to make use of its place. */
  onFree(): void;
}

/**
 * Sends what is due to one subscription: a sliding window of attempts, refilled as they finish. Attempts outlive the run
 * that began them, so that a receiver that hangs costs the engine no run, and a place that it frees is filled by the next.
 */
export class Drain {
  readonly #ports: DrainPorts;
  readonly #settled: (() => void)[] = [];
  /** Attempts under way, and places that are kept for some. */
  #inFlight = 0;
  #unrecorded = 0;
  #window = WINDOW;
  /** Whether more was due than there were places for. */
  #isShort = false;
  #mayHaveMore = true;
  #isRunning = false;
  #isStopping = false;
  #lastMovedAt = 0;
  #resume: (() => void) | null = null;

  constructor(ports: DrainPorts) {
    this.#ports = ports;
  }

  get inFlight() {
    return this.#inFlight;
  }

  /** Whether a run is there; what is then woken is looked at. */
  get isRunning() {
    return this.#isRunning;
  }

  get isIdle() {
    return this.#inFlight === 0 && this.#unrecorded === 0;
  }

  get hasPlace() {
    return this.#places > 0;
  }

  /** Whether rows may wait that no run has looked at. */
  get mayHaveMore() {
    return this.#mayHaveMore;
  }

  /** There may be new rows. Same thread as the publisher: between its look-up and this call no run can end. */
  wake() {
    this.#mayHaveMore = true;
    this.#move();
  }

  /** Keeps a place for a delivery that is about to be committed, so that it need not be claimed; not before what is due. */
  reserve(): boolean {
    if (!this.#isRunning || this.#isStopping || this.#mayHaveMore || this.#places <= 0) return false;
    this.#inFlight++;
    return true;
  }

  /** Sends the delivery that a place was kept for. */
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

  /** Gives a place back that was kept. */
  release() {
    this.#inFlight--;
    this.#unrecorded++;
    this.#record();
  }

  /** Claims nothing more. */
  stop() {
    this.#isStopping = true;
    this.#resume?.();
  }

  /**
   * Resolves when nothing has happened for a while, when it is stopped or when its time is over. Rejects with what a claim
   * threw.
   */
  async run(): Promise<void> {
    this.#isRunning = true;
    this.#mayHaveMore = true;
    try {
      const endAt = performance.now() + RUN_MS;
      this.#lastMovedAt = performance.now();
      let isWoken = true;
      while (!this.#isStopping) {
        const remainingMs = Math.min(endAt, this.#lastMovedAt + LINGER_MS) - performance.now();
        if (remainingMs <= 0) break;
        if ((this.#mayHaveMore || !isWoken) && this.#places > 0) {
          isWoken = true;
          await this.#refill();
        } else {
          isWoken = await this.#wait(Math.min(remainingMs, LOOK_MS));
        }
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Resolves when nothing is under way: for processes in which nothing outlives a run. */
  async settle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.#settled.push(resolve));
  }

  get #places() {
    if (this.#unrecorded >= MAX_UNRECORDED) return 0;
    return this.#ports.allow(this.#inFlight, this.#window) - this.#inFlight;
  }

  async #refill() {
    // Before the claim: a wake that comes during it counts.
    this.#mayHaveMore = false;
    const places = this.#places;
    this.#inFlight += places;
    try {
      const claimed = await this.#ports.claim(places);
      this.#inFlight -= places - claimed.length;
      this.#isShort = claimed.length === places;
      if (this.#isShort) this.#mayHaveMore = true;
      if (claimed.length > 0) this.#lastMovedAt = performance.now();
      for (const delivery of claimed) this.start(delivery);
    } catch (error) {
      this.#inFlight -= places;
      this.#mayHaveMore = true;
      throw error;
    }
  }

  /** The receiver is done with a delivery: its place is free. */
  #answer(isDelivered: boolean) {
    if (!isDelivered) this.#window = Math.max(WINDOW, this.#window >> 1);
    else if (this.#isShort) this.#window = Math.min(MAX_WINDOW, this.#window + 1);
    this.#inFlight--;
    this.#unrecorded++;
    this.#move();
  }

  #record() {
    this.#unrecorded--;
    this.#move();
    if (this.isIdle) for (const resolve of this.#settled.splice(0)) resolve();
    if (!this.#isRunning) this.#ports.onFree();
  }

  #move() {
    this.#lastMovedAt = performance.now();
    this.#resume?.();
  }

  /** Resolves after `ms`, or sooner and with true when there is a reason to go on. */
  #wait(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isWoken: boolean) => {
        clearTimeout(timer);
        this.#resume = null;
        resolve(isWoken);
      };
      const timer = setTimeout(() => end(false), ms);
      this.#resume = () => end(true);
    });
  }
}
