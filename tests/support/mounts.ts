import { OpenApiDocument } from './document';
import { startNextServer } from './next-server';
import { findPgBouncer, type Pooler, startPooler } from './pooler';
import { type Relay, startRelay } from './relay';
import { type Client, createClient, startTestServer, type TestServer } from './server';

/** The last two are what runs behind a transaction pooler. */
export const MOUNT_NAMES = ['the self-hosted server', 'Next’s route handlers', 'plain next start'] as const;
export type MountName = (typeof MOUNT_NAMES)[number];

/** The API as one of its servers answers it. */
export interface Mount extends Client {
  url: string;
  /** What it serves as its document. */
  document: OpenApiDocument;
  stop(): Promise<void>;
}

export interface Mounts {
  /** A server that is not under test, on the same database. */
  base: TestServer;
  get(name: MountName): Mount;
  /** The mounts' way to the database; the base has its own. */
  databaseRelay: Pick<Relay, 'cut' | 'hangUp' | 'restore'>;
  /** Between the relay and Postgres for the mounts of Next; null where there is no PgBouncer. */
  pooler: Pooler | null;
  stop(): Promise<void>;
}

/** Starts the mounts, each a server of its own, on one database with one secret. Needs the build. */
export async function startMounts(
  settings: Record<string, string>,
  baseSettings: Record<string, string> = settings,
): Promise<Mounts> {
  const base = await startTestServer(baseSettings);
  const program = findPgBouncer(process.env);
  const pooler = program === null ? null : await startPooler(program, base.database.url);
  const directPort = Number(new URL(base.database.url).port);
  const relays = await Promise.all([startRelay(directPort), startRelay(pooler?.port ?? directPort)]);
  const [direct, pooled] = relays.map(({ port }) => through(base, port));
  // Also without a pooler as they run behind one.
  const ofNext = { ...settings, DATABASE_POOLER: 'transaction' };
  const [selfHosted, handlers, next] = await Promise.all([
    startTestServer(settings, direct),
    // As a serverless platform runs them: under plain `next start` the self-hosted mount would answer.
    startNextServer(pooled!, { ...ofNext, VERCEL: '1', WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1' }),
    startNextServer(pooled!, ofNext),
  ]);
  const mounts: Record<MountName, Mount> = {
    'the self-hosted server': await toMount(selfHosted),
    'Next’s route handlers': await toMount(handlers),
    'plain next start': await toMount(next),
  };
  const all = (change: (relay: Relay) => Promise<void>) => Promise.all(relays.map(change)).then(() => {});
  const databaseRelay = {
    cut: () => all((relay) => relay.cut()),
    hangUp: () => all((relay) => relay.hangUp()),
    restore: () => all((relay) => relay.restore()),
  };
  return {
    base,
    get: (name) => mounts[name],
    databaseRelay,
    pooler,
    async stop() {
      await databaseRelay.restore();
      await Promise.all(Object.values(mounts).map((mount) => mount.stop()));
      await databaseRelay.cut();
      await pooler?.stop();
      await base.stop();
    },
  };
}

/** A server's database as it is reached at another port of the loopback. */
function through(server: TestServer, port: number): TestServer {
  const url = new URL(server.database.url);
  url.port = String(port);
  return { ...server, database: { ...server.database, url: url.href } };
}

async function toMount({ url, stop }: { url: string; stop(): Promise<void> }): Promise<Mount> {
  const client = createClient(url);
  const document = new OpenApiDocument((await client.call('GET', '/openapi/v3.json')).body);
  let stopping: Promise<void> | null = null;
  return { url, document, stop: () => (stopping ??= stop()), ...client };
}
