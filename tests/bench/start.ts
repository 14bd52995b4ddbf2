import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedDatabase } from '../../db/embedded';
import { type BenchServer, startBareServer, startFloor } from './bench-server';
import { runLoad } from './load';
import { readResidentMemory } from './memory';
import { openProductBench, SILENT, type Tenant } from './product-bench';
import { fillSessions, listReads } from './reads';
import { type BenchOptions, type Figure, findMedian, type Report } from './report';

const STARTS = 5;
const START_GOAL_MS = 3_000;
const STOP_LIMIT_MS = 20_000;
const CONNECTIONS = 16;
/** The goal is for 100,000 requests, which is what the default of `--sessions` results in. */
const REQUESTS_PER_SESSION = 20;
const MEMORY_GOAL_MB = 350;
/** Every n-th request is for a page; the others are for one session. */
const PAGE_EVERY = 10;
const SETTLE_MS = 1_000;

/** Measures how long the built product takes to start, and how much memory it uses after many requests. */
export async function measureStart({ sessions, say }: BenchOptions): Promise<Report> {
  say('filling the database');
  const { dataDir, tenant } = await makeDatabase(sessions);
  const starts: number[] = [];
  const floors: number[] = [];
  for (let n = 1; n <= STARTS; n++) {
    say(`start ${n} of ${STARTS}`);
    floors.push(await timePostgres(dataDir));
    const server = await startBareServer(dataDir);
    starts.push(server.readyAfterMs);
    await stop(server);
  }
  const requests = sessions * REQUESTS_PER_SESSION;
  const memory = await measureMemory(dataDir, tenant, { sessions, requests, say });
  const start: Figure = {
    name: `start → first 200 of /health, median of ${STARTS}`,
    value: findMedian(starts),
    unit: 'ms',
    floor: findMedian(floors),
    goal: { atMost: START_GOAL_MS },
  };
  return { figures: [start, ...memory], details: { starts, floors }, notes: makeNotes(requests) };
}

/** Makes a database with one tenant and leaves nothing running on it. */
async function makeDatabase(sessions: number): Promise<{ dataDir: string; tenant: Tenant }> {
  const bench = await openProductBench();
  const tenant = await bench.createTenant('start');
  await fillSessions(bench.databaseUrl, tenant.id, sessions);
  await bench.close();
  await stop(bench.product);
  return { dataDir: bench.product.dataDir, tenant };
}

/** Times the start of Postgres alone. No start on the embedded database can be faster. */
async function timePostgres(dataDir: string): Promise<number> {
  const from = performance.now();
  const { stop: stopPostgres } = await startEmbeddedDatabase({ dataDir, log: SILENT });
  const ms = performance.now() - from;
  await stopPostgres();
  return ms;
}

async function stop(server: Pick<BenchServer, 'signal' | 'endWithin'>): Promise<void> {
  server.signal('SIGTERM');
  await server.endWithin(STOP_LIMIT_MS);
}

/**
 * Measures the memory of the product and of the floor's server after the same requests. Skipped if the system does not
 * report it.
 */
async function measureMemory(
  dataDir: string,
  { key }: Tenant,
  { sessions, requests, say }: { sessions: number; requests: number; say(progress: string): void },
): Promise<Figure[]> {
  const product = await startBareServer(dataDir);
  const embedded = await startEmbeddedDatabase({ dataDir, log: SILENT });
  try {
    const floor = await startFloor(dataDir, embedded.url);
    const [page, byId] = listReads(sessions).map(({ paths }) => paths) as [string[], string[]];
    const paths = Array.from({ length: PAGE_EVERY * 100 }, (_, index) =>
      index % PAGE_EVERY === 0 ? page[0]! : byId[index % byId.length]!,
    );
    const measure = async (name: string, { url, pid }: BenchServer) => {
      const before = readResidentMemory(pid);
      const onRequest = (count: number) => {
        if (count % Math.ceil(requests / 10) === 0) say(`${name}: ${count} of ${requests} requests`);
      };
      await runLoad({ url, key, paths }, CONNECTIONS, { requests, onRequest });
      await sleep(SETTLE_MS);
      return { before, after: readResidentMemory(pid) };
    };
    const own = await measure('product', product);
    const other = await measure('floor', floor);
    if (own.before === null || own.after === null || other.before === null || other.after === null) return [];
    const goal = { atMost: MEMORY_GOAL_MB };
    return [
      { name: 'resident memory after the start', value: own.before, unit: 'MB', floor: other.before },
      { name: `resident memory after ${requests} requests`, value: own.after, unit: 'MB', floor: other.after, goal },
    ];
  } finally {
    await embedded.stop();
    await stop(product);
  }
}

const makeNotes = (requests: number) => [
  'Start: the built server on an initialised database, Postgres included; floor: this Postgres alone.',
  `Memory: of the server's process without Postgres, ${requests} requests over ${CONNECTIONS} connections, every tenth for a`,
  'page of 50, the others for a session by id; floor: Fastify and postgres.js after the same requests.',
];
