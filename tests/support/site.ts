import { randomBytes } from 'node:crypto';
import type { Database } from '../../db/client';
import { asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import { createIntegration } from '../../server/domain/integrations';
import { findFreePort } from './ports';
import { makeDataDir, type Product, type Settings, startProduct } from './product';
import { waitUntil } from './receiver';
import { type Client, createClient, PIPELINE_TOKEN } from './server';

/** A process of the self-hosted server. */
export type Server = Omit<Product, keyof Client> & Client;

export interface Tenant {
  id: string;
  key: string;
}

export interface Delivery {
  id: string;
  subscriptionId: string;
  status: string;
  attempts: number;
  /** When the lease of the running attempt ends. Null if none runs. */
  leaseEndsAt: number | null;
  /** The process that runs the attempt. */
  leaseOwner: number | null;
  /** How many attempts are in the log. */
  logged: number;
  /** How many of them the receiver answered too late. */
  late: number;
}

/** A database that outlives the server's processes on it. */
export interface Site {
  db: Database;
  /** Starts a process, with the same port each time unless `settings` has another. */
  start(settings?: Settings): Promise<Server>;
  createTenant(): Promise<Tenant>;
  /** Subscribes a receiver's URL to BotDetected. */
  subscribe(server: Client, tenant: Tenant, url: string): Promise<{ id: string; secret: string }>;
  listDeliveries(tenant: Tenant): Promise<Delivery[]>;
  /** Lists the processes of which nothing shows any more that they live. */
  listDeadOwners(): Promise<number[]>;
  /** Ends the connection by which a process shows that it lives. */
  endPresence(leaseOwner: number): Promise<void>;
  /** Resolves when Postgres does no more work for a process that was killed. */
  waitForQuiet(): Promise<void>;
}

/** The time between the end of an attempt's timeout and the end of its lease (architecture: A delivery). */
export const LEASE_MARGIN_MS = 15_000;
/**
 * How long it may take until other servers send again what was in flight when a server was killed. It takes 3 s (`npm run test:faults`);
 * on a machine that is many times slower it is still well before the end of the leases.
 */
export const TAKE_OVER_LIMIT_MS = LEASE_MARGIN_MS - 5_000;
/**
 * How long it takes at most until a lost attempt is repeated, after the first healthy answer or after its lease ended.
 */
export const RECOVERY_LIMIT_MS = 15_000;

/** Opens a site on a migrated database. `url` is how the processes reach it. */
export async function openSite({ db, url }: { db: Database; url: string }, settings: Settings): Promise<Site> {
  const common = {
    DATABASE_URL: url,
    APP_SECRET: randomBytes(32).toString('base64'),
    PIPELINE_TOKEN,
    PORT: String(await findFreePort()),
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'error',
    ...settings,
  };
  const dataDir = await makeDataDir();
  return {
    db,
    async start(more = {}) {
      const product = await startProduct(dataDir, { ...common, ...more });
      return { ...product, ...createClient(product.url) };
    },
    async createTenant() {
      const { id } = await createIntegration(asOperator(db), {
        name: 'A tenant',
        plan: 'enterprise',
        allowedOrigins: [],
      });
      const { key } = await mintKey(asOperator(db), { integrationId: id, name: 'test' });
      return { id, key };
    },
    async subscribe(server, { key }, receiverUrl) {
      const body = { url: receiverUrl, eventType: 'BotDetected' };
      const answer = await server.call('POST', '/v1/webhooks', { key, body });
      if (answer.status !== 200) throw new Error(`not subscribed: ${answer.status} ${answer.text}`);
      return answer.body.data;
    },
    async listDeliveries(tenant) {
      return db.query<Delivery>(LIST_DELIVERIES, [tenant.id]);
    },
    async listDeadOwners() {
      const rows = await db.query<{ id: number }>(LIST_DEAD_OWNERS, []);
      return rows.map(({ id }) => id);
    },
    async endPresence(leaseOwner) {
      await db.query(END_PRESENCE, [leaseOwner]);
    },
    async waitForQuiet() {
      await waitUntil(async () => {
        const [row] = await db.query<{ busy: number }>(COUNT_BUSY, []);
        return row!.busy === 0;
      });
    },
  };
}

const LIST_DELIVERIES = `
  select d.id, d.subscription_id as "subscriptionId", d.status, d.attempts,
         case when d.lease is not null then (extract(epoch from d.next_attempt_at) * 1000)::float8 end as "leaseEndsAt",
         d.lease_owner as "leaseOwner", a.logged, a.late
    from webhook_deliveries d cross join lateral (
         select count(*)::int as logged, count(*) filter (where failure_class = 'Timeout')::int as late
           from webhook_attempts where integration_id = d.integration_id and delivery_id = d.id) a
   where d.integration_id = $1 order by d.created_at, d.id`;

const PRESENCE_LOCKS = `pg_locks where locktype = 'advisory' and classid = 7201005
   and database = (select oid from pg_database where datname = current_database())`;

const LIST_DEAD_OWNERS = `select id from lease_owners where id not in (select objid::int from ${PRESENCE_LOCKS})`;

const END_PRESENCE = `select pg_terminate_backend(pid, 1000) from ${PRESENCE_LOCKS} and objid = $1`;

const COUNT_BUSY = `
  select count(*)::int as busy from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle'`;
