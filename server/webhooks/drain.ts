import type { ClaimedDelivery } from './deliveries';

/** Attempts that one subscription may have under way at a time. */
const WINDOW = 25;
/** An idle drain stays this long, so that a steady trickle needs no new run for each delivery. */
const LINGER_MS = 2_000;
/** How often a drain with free places looks by itself: commits of other processes do not wake it. */
const LOOK_MS = 500;
/** A run ends after this long and lets the engine start the next: no run outlives a serverless limit. */
const RUN_MS = 20_000;

export interface DrainPorts {
  claim(limit: number): Promise<ClaimedDelivery[]>;
  /** Attempts and records one delivery. Never rejects. */
  deliver(delivery: ClaimedDelivery): Promise<void>;
}

/**
 * Sends the due first attempts of one subscription: a sliding window of attempts, refilled as they finish, for as long
 * as there is work, it is not stopped and its run has time.
 */
export class Drain {
  readonly #ports: DrainPorts;
  readonly #lingerMs: number;
  #inFlight = 0;
  #mayHaveMore = true;
  #isStopping = false;
  #resume: (() => void) | null = null;

  constructor(ports: DrainPorts, lingerMs = LINGER_MS) {
    this.#ports = ports;
    this.#lingerMs = lingerMs;
  }

  /** There may be new rows. Same thread as the publisher: between its look-up and this call nothing can end the drain. */
  wake() {
    this.#mayHaveMore = true;
    this.#resume?.();
  }

  /** Claims nothing more; `run` resolves when what is in flight has ended. */
  stop() {
    this.#isStopping = true;
    this.#resume?.();
  }

  /** Resolves when the drain is over; true when rows may be left that it had no time for. */
  async run(): Promise<boolean> {
    const endAt = performance.now() + RUN_MS;
    let idleSince = performance.now();
    while (!this.#isStopping && performance.now() < endAt) {
      const remainingMs = endAt - performance.now();
      if (this.#mayHaveMore && this.#inFlight < WINDOW) {
        await this.#refill();
      } else if (this.#inFlight === WINDOW) {
        await this.#wait(remainingMs);
      } else {
        const lingerMs = this.#inFlight > 0 ? remainingMs : idleSince + this.#lingerMs - performance.now();
        if (lingerMs <= 0) break;
        const isWoken = await this.#wait(Math.min(lingerMs, remainingMs, LOOK_MS));
        if (!isWoken) this.#mayHaveMore = true;
      }
      if (this.#inFlight > 0) idleSince = performance.now();
    }
    while (this.#inFlight > 0) await this.#wait(RUN_MS);
    return this.#mayHaveMore;
  }

  async #refill() {
    // Before the claim: a wake that comes during it counts.
    this.#mayHaveMore = false;
    const free = WINDOW - this.#inFlight;
    const claimed = await this.#ports.claim(free);
    if (claimed.length === free) this.#mayHaveMore = true;
    for (const delivery of claimed) {
      this.#inFlight++;
      void this.#ports.deliver(delivery).then(() => {
        this.#inFlight--;
        this.#resume?.();
      });
    }
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
