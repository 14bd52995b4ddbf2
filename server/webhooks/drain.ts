import type { ClaimedDelivery } from './deliveries';

/** Attempts that one subscription may have under way at a time. */
const WINDOW = 25;
/** An idle drain stays this long, so that a steady trickle needs no new run for each delivery. */
const LINGER_MS = 2_000;
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
    const remainingMs = () => Math.max(0, endAt - performance.now());
    let idleUntil = 0;
    while (!this.#isStopping && remainingMs() > 0) {
      if (this.#mayHaveMore && this.#inFlight < WINDOW) {
        await this.#refill();
        idleUntil = performance.now() + this.#lingerMs;
      } else if (this.#inFlight > 0) {
        await this.#wait(remainingMs());
        idleUntil = performance.now() + this.#lingerMs;
      } else {
        const lingerMs = Math.min(idleUntil - performance.now(), remainingMs());
        if (lingerMs <= 0) break;
        await this.#wait(lingerMs);
      }
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

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        this.#resume = null;
        resolve();
      };
      const timer = setTimeout(resume, ms);
      this.#resume = resume;
    });
  }
}
