import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../server/demo/session-facts';
import type { Received, Receiver } from '../support/receiver';
import type { Ledger } from './ledger';
import type { SoakTenant } from './tenant';

const REFUSED_SHARE = 0.05;
const SLOWEST_MS = 100;
/** Attempts of a delivery (specification: Retries). After the last one it is given up. */
const MAX_ATTEMPTS = 6;

export type ReceiverMode = 'well' | 'failing' | 'silent';

export interface DeliveryAccount {
  expected: number;
  lost: string[];
  /** Refused here so often that no further attempt was left. */
  givenUp: number;
  repeated: number;
  /** Repeats that no fault explains by cutting off the first arrival. */
  unexplained: string[];
}

/** A customer's receiver that is sometimes unavailable and records what it accepted. */
export class ReceiverAccount {
  mode: ReceiverMode = 'well';
  /** When a delivery about a session was accepted, by path and session id. */
  readonly #accepted = new Map<string, number[]>();
  /** How often a delivery arrived and was not accepted. */
  readonly #refused = new Map<string, number>();
  readonly #random: Random;

  constructor(receiver: Receiver, random: Random) {
    this.#random = random;
    receiver.answer = (request) => this.#answer(request, receiver);
  }

  async #answer({ at, path, body }: Received, receiver: Receiver): Promise<number | null> {
    // The account keeps what it needs; the requests of hours would fill the memory.
    receiver.received.length = 0;
    const name = `${path} ${JSON.parse(body).sessionId}`;
    if (this.mode !== 'well' || this.#random() < REFUSED_SHARE) {
      this.#refused.set(name, (this.#refused.get(name) ?? 0) + 1);
      return this.mode === 'silent' ? null : 500;
    }
    this.#accepted.set(name, [...(this.#accepted.get(name) ?? []), at]);
    await sleep(this.#random() * SLOWEST_MS);
    return 200;
  }

  /** Counts the tenants' deliveries that have not been accepted yet. */
  countMissing(tenants: SoakTenant[], paths: string[]): number {
    return listExpected(tenants, paths).filter((name) => this.#isMissing(name)).length;
  }

  #isGivenUp(name: string): boolean {
    return !this.#accepted.has(name) && (this.#refused.get(name) ?? 0) >= MAX_ATTEMPTS;
  }

  #isMissing(name: string): boolean {
    return !this.#accepted.has(name) && !this.#isGivenUp(name);
  }

  judge(tenants: SoakTenant[], paths: string[], ledger: Ledger): DeliveryAccount {
    const expected = listExpected(tenants, paths);
    const again = [...this.#accepted].filter(([, times]) => times.length > 1);
    return {
      expected: expected.length,
      lost: expected.filter((name) => this.#isMissing(name)),
      givenUp: expected.filter((name) => this.#isGivenUp(name)).length,
      repeated: again.length,
      unexplained: again
        .filter(([, times]) => ledger.findFaults(times[0]!, times[0]! + SLOWEST_MS).length === 0)
        .map(([name]) => name),
    };
  }
}

const listExpected = (tenants: SoakTenant[], paths: string[]) =>
  tenants.flatMap((tenant) => paths.flatMap((path) => tenant.listBots().map((id) => `/${tenant.id}${path} ${id}`)));
