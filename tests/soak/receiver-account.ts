import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../server/demo/session-facts';
import type { Received, Receiver } from '../support/receiver';
import type { Ledger } from './ledger';
import type { SoakTenant } from './tenant';

const REFUSED_SHARE = 0.05;
const SLOWEST_MS = 100;

export type ReceiverMode = 'well' | 'failing' | 'silent';

export interface DeliveryAccount {
  expected: number;
  lost: string[];
  repeated: number;
  /** Came again without a fault that had cut its first arrival off. */
  unexplained: string[];
}

/** A customer's receiver that is at times unwell, and knows what it has accepted. */
export class ReceiverAccount {
  mode: ReceiverMode = 'well';
  /** When a delivery about a session was accepted, by path and session id. */
  readonly #accepted = new Map<string, number[]>();
  readonly #random: Random;

  constructor(receiver: Receiver, random: Random) {
    this.#random = random;
    receiver.answer = (request) => this.#answer(request, receiver);
  }

  async #answer({ at, path, body }: Received, receiver: Receiver): Promise<number | null> {
    // It is kept here; hours of requests would fill the memory.
    receiver.received.length = 0;
    if (this.mode === 'silent') return null;
    if (this.mode === 'failing' || this.#random() < REFUSED_SHARE) return 500;
    const name = `${path} ${JSON.parse(body).sessionId}`;
    this.#accepted.set(name, [...(this.#accepted.get(name) ?? []), at]);
    await sleep(this.#random() * SLOWEST_MS);
    return 200;
  }

  /** How many deliveries of the tenants have not been accepted yet. */
  countMissing(tenants: SoakTenant[], paths: string[]): number {
    return listExpected(tenants, paths).filter((name) => !this.#accepted.has(name)).length;
  }

  judge(tenants: SoakTenant[], paths: string[], ledger: Ledger): DeliveryAccount {
    const expected = listExpected(tenants, paths);
    const again = [...this.#accepted].filter(([, times]) => times.length > 1);
    return {
      expected: expected.length,
      lost: expected.filter((name) => !this.#accepted.has(name)),
      repeated: again.length,
      unexplained: again
        .filter(([, times]) => ledger.findFaults(times[0]!, times[0]! + SLOWEST_MS).length === 0)
        .map(([name]) => name),
    };
  }
}

const listExpected = (tenants: SoakTenant[], paths: string[]) =>
  tenants.flatMap((tenant) => paths.flatMap((path) => tenant.listBots().map((id) => `/${tenant.id}${path} ${id}`)));
