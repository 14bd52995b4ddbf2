import { setTimeout as sleep } from 'node:timers/promises';
import { scoredSession } from '../support/facts';
import type { Received, Receiver } from '../support/receiver';
import type { Client } from '../support/server';
import type { Delivery, Server, Site, Tenant } from '../support/site';

// Sends bot sessions to a server that may fail at any moment, and accounts for what arrived.

const CONNECTIONS = 5;
const BATCH = 4;
const PAUSE_MS = 60;
const REPEAT_PAUSE_MS = 100;
const SLOWEST_MS = 400;
const PATHS = ['/one', '/two'];

const FIND_PENDING = `select 1 from webhook_deliveries where integration_id = $1 and status = 'Pending' limit 1`;

/** The arrivals of one event at one subscription. */
interface Arrivals {
  deliveryIds: Set<string>;
  times: number[];
  accepted: number;
  /** Refused on purpose, so that another attempt must follow. */
  refused: number;
}

export interface Account {
  /** One for each event and subscription. */
  deliveries: number;
  arrivals: number;
  /** Attempts that had begun and were not recorded when the fault happened. */
  inFlight: number;
  /** Deliveries that the receiver never accepted, or that are not recorded as delivered. */
  lost: string[];
  /** Deliveries that arrived more often than the receiver's answers explain. */
  repeated: string[];
  /** Repeated deliveries that were not in flight. */
  unexplained: string[];
  /** Deliveries that arrived under more than one id. */
  secondIds: string[];
  /** The longest wait after the recovery, of what was in flight and of all else. */
  longestWaitMs: { inFlight: number; others: number };
}

/** A tenant's pipeline and receiver. Both keep working, whatever happens to the server between them. */
export class Traffic {
  readonly tenant: Tenant;
  readonly #site: Site;
  readonly #random: () => number;
  readonly #sessions: ReturnType<typeof scoredSession>[];
  readonly #paths: string[];
  readonly #arrivals = new Map<string, Arrivals>();

  private constructor(site: Site, tenant: Tenant, random: () => number, events: number) {
    this.#site = site;
    this.tenant = tenant;
    this.#random = random;
    this.#sessions = Array.from({ length: events }, () => scoredSession(0.95));
    // Paths of this traffic only, so that late arrivals of earlier traffic are not counted here.
    this.#paths = PATHS.map((path) => `/${tenant.id}${path}`);
  }

  /** Subscribes the receiver twice and takes over its answers: some fail once, some are slow. */
  static async open(site: Site, server: Server, receiver: Receiver, random: () => number, events: number) {
    const traffic = new Traffic(site, await site.createTenant(), random, events);
    for (const path of traffic.#paths) await site.subscribe(server, traffic.tenant, `${receiver.url}${path}`);
    receiver.answer = (request) => traffic.#answer(request);
    return traffic;
  }

  async #answer({ at, path, headers, body }: Received): Promise<number> {
    const arrivals = this.#arrivalsOf(path, JSON.parse(body).sessionId);
    const isRefused = arrivals.times.length === 0 && this.#random() < 0.2;
    arrivals.times.push(at);
    arrivals.deliveryIds.add(String(headers['x-webhook-delivery-id']));
    arrivals[isRefused ? 'refused' : 'accepted']++;
    if (this.#random() < 0.3) await sleep(this.#random() * SLOWEST_MS);
    return isRefused ? 500 : 200;
  }

  #arrivalsOf(path: string, sessionId: string): Arrivals {
    const key = `${path} ${sessionId}`;
    const known = this.#arrivals.get(key) ?? { deliveryIds: new Set(), times: [], accepted: 0, refused: 0 };
    this.#arrivals.set(key, known);
    return known;
  }

  /** Posts all sessions over several connections. A batch that gets no answer or a temporary error is posted again. */
  async post(client: Client, deadline: number): Promise<void> {
    const batches: unknown[][] = [];
    for (let from = 0; from < this.#sessions.length; from += BATCH) {
      batches.push(this.#sessions.slice(from, from + BATCH).flatMap(({ facts }) => facts));
    }
    const connection = async () => {
      for (let batch = batches.shift(); batch; batch = batches.shift()) {
        for (;;) {
          const status = await client.ingest(this.tenant.id, batch).then(
            (answer) => answer.status,
            () => null,
          );
          if (status === 200) break;
          if (status !== null && status < 500) throw new Error(`a batch was refused for good: ${status}`);
          if (Date.now() > deadline) throw new Error('a batch was not taken in time');
          await sleep(REPEAT_PAUSE_MS);
        }
        await sleep(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  }

  /** Waits until every delivery is over, plus a moment in which a repeat would arrive, or until the deadline. */
  async settle(deadline: number): Promise<void> {
    const isOver = () =>
      this.#site.db.query(FIND_PENDING, [this.tenant.id]).then(
        (rows) => rows.length === 0,
        () => false,
      );
    while (!(await isOver()) && Date.now() < deadline) await sleep(100);
    await sleep(1_000);
  }

  /**
   * Judges what arrived, after a recovery at `recoveredAt` from a fault that interrupted `inFlight`. `isTakenOver`: those are
   * due at the recovery, and not only when their leases end.
   */
  async judge(inFlight: Delivery[], recoveredAt: number, isTakenOver: boolean): Promise<Account> {
    const interrupted = new Map(inFlight.map(({ id, leaseEndsAt }) => [id, isTakenOver ? recoveredAt : leaseEndsAt!]));
    const rows = await this.#site.listDeliveries(this.tenant);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const account: Account = {
      deliveries: this.#sessions.length * this.#paths.length,
      arrivals: 0,
      inFlight: inFlight.length,
      lost: [],
      repeated: [],
      unexplained: [],
      secondIds: [],
      longestWaitMs: { inFlight: 0, others: 0 },
    };
    for (const path of this.#paths) {
      for (const { sessionId } of this.#sessions) {
        const name = `${path} ${sessionId}`;
        const { deliveryIds, times, accepted, refused } = this.#arrivalsOf(path, sessionId);
        const ids = [...deliveryIds];
        const [row] = ids.flatMap((id) => byId.get(id) ?? []);
        account.arrivals += times.length;
        if (accepted === 0 || row?.status !== 'Delivered') account.lost.push(name);
        // More arrivals than logged attempts mean that an unrecorded attempt was repeated. More arrivals than refusals,
        // late answers and one success mean that an attempt after a success had no reason.
        const { logged, late } = row ?? { logged: 0, late: 0 };
        if (times.length > Math.min(logged, refused + late + 1)) {
          account.repeated.push(name);
          if (!ids.some((id) => interrupted.has(id))) account.unexplained.push(name);
        }
        if (ids.length > 1) account.secondIds.push(name);
        const next = times.find((at) => at > recoveredAt);
        if (next === undefined) continue;
        const kind = ids.some((id) => interrupted.has(id)) ? 'inFlight' : 'others';
        const dueAt = Math.max(recoveredAt, ...ids.map((id) => interrupted.get(id) ?? 0));
        account.longestWaitMs[kind] = Math.max(account.longestWaitMs[kind], next - dueAt);
      }
    }
    if (rows.length > account.deliveries) account.secondIds.push(`${rows.length} rows for ${account.deliveries}`);
    return account;
  }
}
