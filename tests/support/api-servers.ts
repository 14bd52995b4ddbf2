import { OpenApiDocument } from './document';
import { startNextServer } from './next-server';
import { findPgBouncer, type Pooler, startPooler } from './pooler';
import { type Relay, startRelay } from './relay';
import { type Client, createClient, startTestServer, type TestServer } from './server';

/** The API as one of its servers answers it: the self-hosted one, or Next with its route handlers. */
export interface ApiServer extends Client {
  url: string;
  /** The document that it serves. */
  document: OpenApiDocument;
  /** A server that is not under test, on the same database with the same secret. */
  base: TestServer;
  /** The way of the server under test to the database. The base has a separate one. */
  databaseRelay: Relay;
  /** Between that relay and Postgres. Null if there is no pooler. */
  pooler: Pooler | null;
  /** What the server under test has written to its streams. Empty if it runs in this process. */
  output(): string;
  /** Ends only the server under test. */
  end(): Promise<void>;
  /** Ends everything. */
  stop(): Promise<void>;
}

type Settings = Record<string, string>;
interface Server {
  url: string;
  output?(): string;
  stop(): Promise<void>;
}

/** Starts the self-hosted server: node:http in front, with a direct connection to Postgres. */
export const startSelfHosted = (settings: Settings, baseSettings: Settings = settings): Promise<ApiServer> =>
  startApiServer(baseSettings, null, (database) => startTestServer(settings, database));

/**
 * Starts plain `next start`, which answers through Next's route handlers, behind a transaction pooler if PgBouncer is
 * installed. Needs the build.
 */
export function startRouteHandlers(settings: Settings, baseSettings: Settings = settings): Promise<ApiServer> {
  // Without a pooler, they run with the same setting as behind one.
  const pooled = { ...settings, DATABASE_POOLER: 'transaction' };
  return startApiServer(baseSettings, findPgBouncer(process.env), (database) => startNextServer(database, pooled));
}

async function startApiServer(
  baseSettings: Settings,
  poolerProgram: string | null,
  startServer: (database: TestServer) => Promise<Server>,
): Promise<ApiServer> {
  const base = await startTestServer(baseSettings);
  const pooler = poolerProgram === null ? null : await startPooler(poolerProgram, base.database.url);
  const databaseRelay = await startRelay(pooler?.port ?? Number(new URL(base.database.url).port));
  const server = await startServer(through(base, databaseRelay.port));
  const client = createClient(server.url);
  let ending: Promise<void> | null = null;
  const end = () => (ending ??= server.stop());
  return {
    url: server.url,
    document: new OpenApiDocument((await client.call('GET', '/openapi/v3.json')).body),
    base,
    databaseRelay,
    pooler,
    output: () => server.output?.() ?? '',
    end,
    async stop() {
      await databaseRelay.restore();
      await end();
      await databaseRelay.cut();
      await pooler?.stop();
      await base.stop();
    },
    ...client,
  };
}

/** A server's database as it is reached at another port of the loopback. */
function through(server: TestServer, port: number): TestServer {
  const url = new URL(server.database.url);
  url.port = String(port);
  return { ...server, database: { ...server.database, url: url.href } };
}
