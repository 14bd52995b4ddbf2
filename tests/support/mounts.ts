import { OpenApiDocument } from './document';
import { startNextServer } from './next-server';
import { type Relay, startRelay } from './relay';
import { type Client, createClient, startTestServer, type TestServer } from './server';

export const MOUNT_NAMES = ['the self-hosted server', 'Next’s route handlers'] as const;
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
  databaseRelay: Relay;
  stop(): Promise<void>;
}

/** Starts both mounts, each a server of its own, on one database with one secret. Needs the build. */
export async function startMounts(
  settings: Record<string, string>,
  baseSettings: Record<string, string> = settings,
): Promise<Mounts> {
  const base = await startTestServer(baseSettings);
  const url = new URL(base.database.url);
  const databaseRelay = await startRelay(Number(url.port));
  url.port = String(databaseRelay.port);
  const relayed = { ...base, database: { ...base.database, url: url.href } };
  const [selfHosted, next] = await Promise.all([
    startTestServer(settings, relayed),
    // As a serverless platform runs them: under plain `next start` the self-hosted mount would answer.
    startNextServer(relayed, { ...settings, VERCEL: '1', WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1' }),
  ]);
  const mounts: Record<MountName, Mount> = {
    'the self-hosted server': await toMount(selfHosted),
    'Next’s route handlers': await toMount(next),
  };
  return {
    base,
    get: (name) => mounts[name],
    databaseRelay,
    async stop() {
      await databaseRelay.restore();
      await Promise.all(Object.values(mounts).map((mount) => mount.stop()));
      await databaseRelay.cut();
      await base.stop();
    },
  };
}

async function toMount({ url, stop }: { url: string; stop(): Promise<void> }): Promise<Mount> {
  const client = createClient(url);
  const document = new OpenApiDocument((await client.call('GET', '/openapi/v3.json')).body);
  let stopping: Promise<void> | null = null;
  return { url, document, stop: () => (stopping ??= stop()), ...client };
}
