import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../server/demo/session-facts';
import type { Received, Receiver } from '../support/receiver';
import type { Ledger } from './ledger';
import type { SoakTenant } from './tenant';

const REFUSED_SHARE = 0.05;
const SLOWEST_MS = 100;
/** The timeout of an attempt in the soak. */
export const ATTEMPT_LIMIT_MS = 2_000;
/** Attempts of a delivery (specification: Retries). After the last one it is given up. */
const MAX_ATTEMPTS = 6;

export type ReceiverMode = 'well' | 'failing' | 'silent';

/** A delivery as the product has recorded it. */
export interface RecordedDelivery {
  /** The path of the receiver's URL, and the session that the event is about. */
  path: string;
  sessionId: string;
  status: string;
  /** When each logged attempt began, and why it failed. */
  attempts: { at: number; failureClass: string | null }[];
}

export interface DeliveryAccount {
  expected: number;
  /** Never accepted, and not given up for a reason that this account knows. */
  lost: string[];
  /** Never accepted, and recorded as given up after six attempts, each of which was refused here or hit by a fault. */
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

  /**
   * Whether the product was right to give a delivery up. The count of refusals alone does not tell: an attempt may fail before
   * it arrives, and one that arrived does not count if the process died before it was recorded.
   */
  #isGivenUp(name: string, { status, attempts }: RecordedDelivery, ledger: Ledger): boolean {
    if (status !== 'MaxRetriesExceeded' || attempts.length !== MAX_ATTEMPTS) return false;
    const refused = attempts.filter(({ failureClass }) => failureClass === '5xx');
    const cutOff = attempts.filter(({ failureClass }) => failureClass === 'Timeout' || failureClass === 'Network');
    return (
      refused.length + cutOff.length === MAX_ATTEMPTS &&
      refused.length <= (this.#refused.get(name) ?? 0) &&
      cutOff.every(({ at }) => ledger.findFaults(at, at + ATTEMPT_LIMIT_MS).length > 0)
    );
  }

  judge(tenants: SoakTenant[], paths: string[], recorded: RecordedDelivery[], ledger: Ledger): DeliveryAccount {
    const expected = listExpected(tenants, paths);
    const rows = new Map(recorded.map((row) => [`${row.path} ${row.sessionId}`, row]));
    const missing = expected.filter((name) => !this.#accepted.has(name));
    const isGivenUp = (name: string) => rows.has(name) && this.#isGivenUp(name, rows.get(name)!, ledger);
    const again = [...this.#accepted].filter(([, times]) => times.length > 1);
    return {
      expected: expected.length,
      lost: missing
        .filter((name) => !isGivenUp(name))
        .map(
          (name) =>
            `${name}: ${JSON.stringify(rows.get(name) ?? 'no delivery')}, refused ${this.#refused.get(name) ?? 0}`,
        ),
      givenUp: missing.filter(isGivenUp).length,
      repeated: again.length,
      unexplained: again
        // On a busy machine the answer and its record take longer than the receiver does.
        .filter(([, times]) => ledger.findFaults(times[0]!, times[0]! + ATTEMPT_LIMIT_MS).length === 0)
        .map(([name]) => name),
    };
  }
}

const listExpected = (tenants: SoakTenant[], paths: string[]) =>
  tenants.flatMap((tenant) => paths.flatMap((path) => tenant.listBots().map((id) => `/${tenant.id}${path} ${id}`)));
