import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { closed, happened, scored, started } from '../support/facts';
import { BARE_SERVER, findPostgres, type Product } from '../support/product';
import { readFamilyCpu, readProcessCpu } from './cpu';
import type { Poster } from './poster';
import { openProductBench, type Tenant } from './product-bench';
import { type Receiver, startReceiver } from './receiver';

const RECORD_LIMIT_MS = 60_000;
const POLL_MS = 5;

/** Processor time so far, in ms; null if the system does not report it. */
export interface CpuTimes {
  product: number | null;
  postgres: number | null;
  /** This process: poster and receiver. */
  bench: number;
}

/** The product in its own process on new data, with two tenants, and receivers that it may call. */
export interface DeliveryBench {
  tenant: Tenant;
  neighbour: Tenant;
  receivers: { fast: Receiver; slow: Receiver; hung: Receiver };
  /** A second database in the product's Postgres. */
  floorUrl: string;
  openPoster(connections: number): Poster;
  /** Subscribes a receiver to a tenant's bot sessions while `work` runs. */
  withSubscription<T>(tenant: Tenant, receiver: Receiver, work: (subscriptionId: string) => Promise<T>): Promise<T>;
  /** Resolves with the time at which the subscription has no waiting or running deliveries. */
  waitForRecords(tenant: Tenant, subscriptionId: string): Promise<number>;
  /** Reads the text of some delivered payload. */
  readPayload(): Promise<string>;
  readCpu(): CpuTimes;
  /** Closes the Postgres connections and stops the receivers. `endProducts` stops the product itself. */
  close(): Promise<void>;
}

const SLOW_ANSWER_MS = 100;

/** Starts everything. `command` runs the server, for example under a profiler. */
export async function openDeliveryBench(command = BARE_SERVER): Promise<DeliveryBench> {
  const fast = await startReceiver();
  const slow = await startReceiver(SLOW_ANSWER_MS);
  const hung = await startReceiver(null);
  const hosts = [fast, slow, hung].map(({ host }) => host).join(',');
  const bench = await openProductBench({ WEBHOOK_ALLOW_HOSTS: hosts }, command);
  const { product, sql } = bench;
  const tenant = await bench.createTenant('bench');
  const neighbour = await bench.createTenant('neighbour');
  await sql.unsafe('create database floor');
  const floorUrl = new URL(bench.databaseUrl);
  floorUrl.pathname = '/floor';
  const postgresPid = await findPostgres(product.dataDir);

  const countOpen = async ({ id }: Tenant, subscriptionId: string, condition: string) => {
    const [row] = await sql.unsafe<{ open: number }[]>(
      `select count(*)::int as open from webhook_deliveries where integration_id = $1 and subscription_id = $2 and status = 'Pending' and ${condition}`,
      [id, subscriptionId],
      { prepare: true },
    );
    return row!.open;
  };
  const waitForNone = async (owner: Tenant, subscriptionId: string, condition: string) => {
    for (const until = performance.now() + RECORD_LIMIT_MS; ; await sleep(POLL_MS)) {
      const open = await countOpen(owner, subscriptionId, condition);
      if (open === 0) return performance.now();
      if (performance.now() > until) throw new Error(`${open} deliveries are still open (${condition})`);
    }
  };

  return {
    tenant,
    neighbour,
    receivers: { fast, slow, hung },
    floorUrl: floorUrl.href,
    openPoster: bench.openPoster,
    async withSubscription(owner, receiver, work) {
      const { key } = owner;
      receiver.reset();
      const id = await subscribe(product, key, receiver.url);
      try {
        return await work(id);
      } finally {
        await unsubscribe(product, key, id);
        // Ends hanging requests now, so that they do not affect the next measurement.
        receiver.disconnect();
        await waitForNone(owner, id, 'lease is not null');
      }
    },
    waitForRecords: (owner, subscriptionId) => waitForNone(owner, subscriptionId, 'true'),
    async readPayload() {
      const [row] = await sql<{ payload: string }[]>`select payload from domain_events limit 1`;
      return row!.payload;
    },
    readCpu: () => ({
      product: readProcessCpu(product.pid),
      postgres: postgresPid === null ? null : readFamilyCpu(postgresPid),
      bench: Object.values(process.cpuUsage()).reduce((sum, us) => sum + us / 1_000, 0),
    }),
    async close() {
      await bench.close();
      for (const receiver of [fast, slow, hung]) await receiver.stop();
    },
  };
}

async function subscribe(product: Product, key: string, url: string): Promise<string> {
  const { status, body } = await product.call('POST', '/v1/webhooks', { key, body: { url, eventType: 'BotDetected' } });
  if (status >= 300) throw new Error(`the subscription could not be created: ${status} ${JSON.stringify(body)}`);
  return body.data.id;
}

async function unsubscribe(product: Product, key: string, id: string): Promise<void> {
  const { status } = await product.call('DELETE', `/v1/webhooks/${id}`, { key });
  if (status >= 300) throw new Error(`the subscription could not be deleted: ${status}`);
}

export interface Batch {
  sessionId: string;
  facts: unknown[];
  /** The request body. */
  text: string;
}

/** One batch of facts for each of `count` bot sessions. */
export const makeBatches = (tenant: Tenant, count: number): Batch[] =>
  Array.from({ length: count }, () => {
    const sessionId = randomUUID();
    const facts = [
      started(sessionId, { deviceFingerprint: randomUUID(), country: 'DE' }),
      happened(sessionId, [{ sequence: 1 }, { sequence: 2, type: 'keyboard' }, { sequence: 3, type: 'scroll' }]),
      closed(sessionId),
      scored(sessionId, 0.97, { detectionFlags: ['webdriver', 'linear-mouse'] }),
    ];
    return { sessionId, facts, text: JSON.stringify({ integrationId: tenant.id, facts }) };
  });
