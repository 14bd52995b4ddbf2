import { isDeepStrictEqual } from 'node:util';
import { openDatabase } from '../../db/client';
import { loadVolumes } from '../support/volume';
import { startFloor, startNextHandlers } from './bench-server';
import { alternate, describeRuns, type Load, runLoad, type Target } from './load';
import { openProductBench } from './product-bench';
import { type BenchOptions, compareToFloor, type Figure, type Report } from './report';

const CONNECTIONS = 16;
const ROUNDS = 4;
const MAX_TAIL = 1.5;

interface Read {
  name: string;
  paths: string[];
  /** The minimum share of the floor's requests per second. */
  leastShare: number;
}

/** Lists the measured calls for a tenant with this number of sessions of `loadVolumes`. */
export const listReads = (sessions: number): Read[] => [
  { name: 'page of 50', paths: ['/v1/sessions?pageSize=50'], leastShare: 0.8 },
  {
    name: 'session by id',
    paths: Array.from({ length: Math.min(sessions, 1_000) }, (_, index) => `/v1/sessions/ses-${index + 1}`),
    leastShare: 0.7,
  },
];

/** Writes a tenant's sessions straight into the tables. */
export async function fillSessions(databaseUrl: string, integrationId: string, sessions: number): Promise<void> {
  const db = openDatabase({ url: databaseUrl, maxConnections: 1 });
  try {
    await loadVolumes(db, [{ integrationId, sessions }]);
  } finally {
    await db.close();
  }
}

/**
 * Measures two reads of the built product, compared to Fastify with postgres.js on the same database, and through
 * Next's handlers.
 */
export async function measureReads({ sessions, seconds, say }: BenchOptions): Promise<Report> {
  say('starting the product');
  const bench = await openProductBench();
  try {
    const { id, key } = await bench.createTenant('reads');
    say(`writing ${sessions} sessions`);
    await fillSessions(bench.databaseUrl, id, sessions);
    const { product, databaseUrl } = bench;
    const floor = await startFloor(product.dataDir, databaseUrl);
    const next = await startNextHandlers(product.dataDir, databaseUrl);
    const figures: Figure[] = [];
    const details: Record<string, unknown> = {};
    for (const read of listReads(sessions)) {
      const at = ({ url }: { url: string }): Target => ({ url, key, paths: read.paths });
      await compareAnswers(at(product), at(floor));
      const run = (target: Target) => runLoad(target, CONNECTIONS, { ms: (seconds * 1_000) / ROUNDS });
      say(`${read.name}: warm-up`);
      for (const server of [product, floor, next]) await run(at(server));
      say(`${read.name}: product and floor, ${ROUNDS} rounds`);
      const [runs, floorRuns] = await alternate(
        ROUNDS,
        () => run(at(product)),
        () => run(at(floor)),
      );
      say(`${read.name}: Next`);
      const loads = {
        product: describeRuns(runs),
        floor: describeRuns(floorRuns),
        next: describeRuns([await run(at(next))]),
      };
      details[read.name] = loads;
      figures.push(...describeRead(read, loads.product, loads.floor), ...describeNext(read, loads.next, loads.floor));
    }
    return { figures, details, notes: makeNotes(sessions, seconds) };
  } finally {
    await bench.close();
  }
}

/** Checks that the floor does the same work: apart from the cursor, it must return the same answers. */
async function compareAnswers(...targets: [Target, Target]): Promise<void> {
  const [product, floor] = await Promise.all(
    targets.map(async ({ url, key, paths }) => {
      const response = await fetch(url + paths[0], { headers: { authorization: `Bearer ${key}` } });
      return ((await response.json()) as { data: unknown }).data;
    }),
  );
  if (isDeepStrictEqual(product, floor)) return;
  const [given, expected] = [floor, product].map((data) => JSON.stringify([data].flat()[0]));
  throw new Error(`the floor returns different data, first ${given} instead of ${expected}`);
}

function describeRead({ name, leastShare }: Read, load: Load, floor: Load): Figure[] {
  const rate = { name, value: load.perSecond, unit: '/s', floor: floor.perSecond };
  const tail = { name: `${name}, p99`, value: load.latency.p99, unit: 'ms', floor: floor.latency.p99 };
  return [
    ...compareToFloor(rate, { atLeast: leastShare }),
    { name: `${name}, p50`, value: load.latency.p50, unit: 'ms', floor: floor.latency.p50 },
    ...compareToFloor(tail, { atMost: MAX_TAIL }),
  ];
}

const describeNext = ({ name }: Read, load: Load, floor: Load): Figure[] => [
  { name: `${name} through Next`, value: load.perSecond, unit: '/s', floor: floor.perSecond },
  { name: `${name} through Next, p50`, value: load.latency.p50, unit: 'ms', floor: floor.latency.p50 },
  { name: `${name} through Next, p99`, value: load.latency.p99, unit: 'ms', floor: floor.latency.p99 },
];

const makeNotes = (sessions: number, seconds: number) => [
  'Client, servers and Postgres share the cores of this machine.',
  `${CONNECTIONS} keep-alive connections over loopback, a tenant with ${sessions} sessions;`,
  `${ROUNDS} alternating rounds, ${seconds} s for each target in all.`,
  'Floor: Fastify 5 and postgres.js in their own process on the same database, one statement for key and limit and',
  'one for the data, JSON by hand; it returns the same data. Next: `next start` with only the route handlers.',
];
