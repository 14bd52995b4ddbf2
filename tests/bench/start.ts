import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedDatabase } from '../../db/embedded';
import type { Tab } from '../support/beacon';
import { type BenchServer, startBareServer, startFloor } from './bench-server';
import { makeBatches, NO_LIMITS, openBeaconPoster, openSite, type Site, startTabs } from './collect';
import { runLoad } from './load';
import { readResidentMemory } from './memory';
import { openProductBench, SILENT, type Tenant } from './product-bench';
import { fillSessions, listReads } from './reads';
import { type BenchOptions, type Figure, findMedian, type Report } from './report';

const STARTS = 5;
const START_GOAL_MS = 3_000;
const STOP_LIMIT_MS = 20_000;
const CONNECTIONS = 16;
/** The goal is for 100,000 requests and 100,000 beacons, which is what the default of `--sessions` results in. */
const REQUESTS_PER_SESSION = 20;
const TABS = 2_000;
const MEMORY_GOAL_MB = 300;
/** Every n-th request is for a page; the others are for one session. */
const PAGE_EVERY = 10;
const SETTLE_MS = 1_000;

/** Measures how long the built product takes to start, and how much memory it uses after many requests. */
export async function measureStart({ sessions, say }: BenchOptions): Promise<Report> {
  say('filling the database');
  const { dataDir, tenant, site } = await makeDatabase(sessions);
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
  const memory = await measureMemory(dataDir, tenant, site, { sessions, requests, say });
  const start: Figure = {
    name: `start → first 200 of /health, median of ${STARTS}`,
    value: findMedian(starts),
    unit: 'ms',
    floor: findMedian(floors),
    goal: { atMost: START_GOAL_MS },
  };
  return { figures: [start, ...memory], details: { starts, floors }, notes: makeNotes(requests) };
}

/** Makes a database with one tenant and one site, and leaves nothing running on it. */
async function makeDatabase(sessions: number): Promise<{ dataDir: string; tenant: Tenant; site: Site }> {
  const bench = await openProductBench();
  const tenant = await bench.createTenant('start');
  const site = await openSite(bench);
  await fillSessions(bench.databaseUrl, tenant.id, sessions);
  await bench.close();
  await stop(bench.product);
  return { dataDir: bench.product.dataDir, tenant, site };
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
 * Measures the memory of the product and of the floor's server after the same requests, and after the same beacons. Skipped if
 * the system does not report it.
 */
async function measureMemory(
  dataDir: string,
  { key }: Tenant,
  site: Site,
  { sessions, requests, say }: { sessions: number; requests: number; say(progress: string): void },
): Promise<Figure[]> {
  const product = await startBareServer(dataDir, NO_LIMITS);
  const embedded = await startEmbeddedDatabase({ dataDir, log: SILENT });
  try {
    const floor = await startFloor(dataDir, embedded.url);
    const [page, byId] = listReads(sessions).map(({ paths }) => paths) as [string[], string[]];
    const paths = Array.from({ length: PAGE_EVERY * 100 }, (_, index) =>
      index % PAGE_EVERY === 0 ? page[0]! : byId[index % byId.length]!,
    );
    const measure = async (name: string, { url, pid }: BenchServer, tabs: Tab[]) => {
      const sayEach = (what: string) => (count: number) => {
        if (count % Math.ceil(requests / 10) === 0) say(`${name}: ${count} of ${requests} ${what}`);
      };
      await runLoad({ url, key, paths }, CONNECTIONS, { requests, onRequest: sayEach('requests') });
      await sleep(SETTLE_MS);
      const afterRequests = readResidentMemory(pid);
      const poster = openBeaconPoster(url);
      const sayBeacons = sayEach('beacons');
      for (let sent = TABS; sent <= requests; sent += TABS) {
        await poster.postAll(makeBatches(tabs));
        sayBeacons(sent);
      }
      poster.close();
      await sleep(SETTLE_MS);
      return [afterRequests, readResidentMemory(pid)];
    };
    const starts = [product, floor].map(({ pid }) => readResidentMemory(pid));
    const tabs = await startTabs({ ...site, url: product.url }, TABS);
    const own = [starts[0], ...(await measure('product', product, tabs))];
    const other = [starts[1], ...(await measure('floor', floor, tabs))];
    const names = ['the start', `${requests} requests`, `${requests} beacons too`];
    return names.flatMap((name, index) => {
      const [value, floorValue] = [own[index], other[index]];
      if (value == null || floorValue == null) return [];
      const goal = index === 2 ? { goal: { atMost: MEMORY_GOAL_MB } } : {};
      return { name: `resident memory after ${name}`, value, unit: 'MB', floor: floorValue, ...goal };
    });
  } finally {
    await embedded.stop();
    await stop(product);
  }
}

const makeNotes = (requests: number) => [
  'Start: the built server on an initialised database, Postgres included; floor: this Postgres alone.',
  `Memory: of the server's process without Postgres, ${requests} requests over ${CONNECTIONS} connections, every tenth for a`,
  `page of 50, the others for a session by id, then as many beacons of ${TABS} open tabs as fast as they are taken; floor:`,
  'Fastify and postgres.js after the same.',
];
