import { isDeepStrictEqual } from 'node:util';
import { openDatabase } from '../../db/client';
import type { Product } from '../support/product';
import { loadVolumes } from '../support/volume';
import { type BenchServer, startFloor, startNextFloor, startNextHandlers } from './bench-server';
import { alternate, describeRuns, type Load, runLoad, type Target } from './load';
import { openProductBench } from './product-bench';
import { type BenchOptions, compareToFloor, type Figure, type Report } from './report';

const CONNECTIONS = 16;
const ROUNDS = 4;
const MAX_TAIL = 1.5;
/** The minimum share of the requests per second of bare route handlers in Next. */
const NEXT_SHARE = 0.8;

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
    say('building and starting bare route handlers');
    const nextFloor = await startNextFloor(product.dataDir, databaseUrl);
    const figures: Figure[] = [];
    const details: Record<string, unknown> = {};
    for (const read of listReads(sessions)) {
      const at = ({ url }: { url: string }): Target => ({ url, key, paths: read.paths });
      for (const other of [floor, nextFloor]) await compareAnswers(at(product), at(other));
      const run = (target: Target) => runLoad(target, CONNECTIONS, { ms: (seconds * 1_000) / ROUNDS });
      say(`${read.name}: warm-up`);
      for (const server of [product, floor, next, nextFloor]) await run(at(server));
      const compare = async (ours: BenchServer | Product, theirs: BenchServer) => {
        const [runs, floorRuns] = await alternate(
          ROUNDS,
          () => run(at(ours)),
          () => run(at(theirs)),
        );
        return [describeRuns(runs), describeRuns(floorRuns)] as const;
      };
      say(`${read.name}: product and floor, ${ROUNDS} rounds`);
      const own = await compare(product, floor);
      say(`${read.name}: through Next and bare route handlers, ${ROUNDS} rounds`);
      const handled = await compare(next, nextFloor);
      details[read.name] = { product: own[0], floor: own[1], next: handled[0], nextFloor: handled[1] };
      figures.push(...describeRead(read.name, read.leastShare, ...own));
      figures.push(...describeRead(`${read.name} through Next`, NEXT_SHARE, ...handled));
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

function describeRead(name: string, leastShare: number, load: Load, floor: Load): Figure[] {
  const rate = { name, value: load.perSecond, unit: '/s', floor: floor.perSecond };
  const tail = { name: `${name}, p99`, value: load.latency.p99, unit: 'ms', floor: floor.latency.p99 };
  return [
    ...compareToFloor(rate, { atLeast: leastShare }),
    { name: `${name}, p50`, value: load.latency.p50, unit: 'ms', floor: floor.latency.p50 },
    ...compareToFloor(tail, { atMost: MAX_TAIL }),
  ];
}

const makeNotes = (sessions: number, seconds: number) => [
  'Client, servers and Postgres share the cores of this machine.',
  `${CONNECTIONS} keep-alive connections over loopback, a tenant with ${sessions} sessions;`,
  `${ROUNDS} alternating rounds, ${seconds} s for each target in all.`,
  'Floor: Fastify 5 and postgres.js in their own process on the same database, one statement for key and limit and',
  'one for the data, JSON by hand; it returns the same data. Through Next: `next start` with only the route handlers; its',
  'floor is a Next app of bare route handlers with the statements of the floor.',
];
