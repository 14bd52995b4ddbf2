import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchServer } from './bench-server';
import { Connection, openConnections } from './connection';
import { type Flooder, type FloodResult, startFlooder } from './flooder';
import { alternate } from './load';
import { compareToFloor, describeDistribution, type Figure } from './report';

// What "equal load" means: product and floor are the same kind of process (one process of Node on the same Postgres), and
// take turns. Each gets the same reads of one session at the same steady rate, and the same flood of beacons: three times the
// batches a second that the product kept when it got them one after the other. The floor's `/collect` inserts a row for each
// beacon and sheds nothing. Reads are sent by this process, which does nothing else meanwhile, and the flood by another one.
// Neither waits for answers before it sends the next request; both use keep-alive
// connections that are open before. The flood has CONNECTIONS of
// them, about as many as it takes to offer so much. More would make the floor slower, because they are its queue, and the
// comparison easier. What was really offered is printed: a server that is busy takes less than the rate that is tried.

const TIMES = 3;
const CONNECTIONS = 512;
const READS_PER_SECOND = 100;
/** More are never needed unless a server stands still for ten seconds. */
const READ_CONNECTIONS = 1_000;
/** Those that are open when the reads begin. */
const OPEN_READ_CONNECTIONS = 200;
const ROUNDS = 2;
/** The beginning of a flood. The product finds within it how much it can take. */
const RAMP_MS = 2_000;
const SETTLE_MS = 3_000;
const QUIET_MS = 4_000;
const MAX_TAIL = 2;

interface Target {
  url: string;
  key: string;
  paths: string[];
}

interface Reads {
  /** In the order in which the reads were sent. */
  latencies: number[];
  /** Reads that were not answered with 200. */
  failed: number;
}

export interface OverloadOptions {
  product: Pick<BenchServer, 'url'>;
  floor: Pick<BenchServer, 'url'>;
  /** What is read. */
  reads: Omit<Target, 'url'>;
  headers: string[];
  templates: string[];
  /** The batches a second that the product can take. */
  capacity: number;
  seconds: number;
  say(progress: string): void;
}

/** Offers product and floor three times what the product can take, and reads from them at the same time. */
export async function measureOverload(options: OverloadOptions) {
  const { product, floor, reads, capacity, seconds, say } = options;
  const perSecond = Math.round(TIMES * capacity);
  const flooder = await startFlooder();
  try {
    say(`${READS_PER_SECOND} reads a second without a flood`);
    const quiet: Reads[] = [];
    for (const { url } of [product, floor]) quiet.push(await read({ url, ...reads }, QUIET_MS));
    say(`the same reads while ${perSecond} batches a second are offered, ${ROUNDS} rounds`);
    const ms = (seconds * 1_000) / ROUNDS;
    const run = (url: string) => async () => {
      const measured = await floodAndRead(flooder, { ...options, url }, perSecond, ms);
      await sleep(SETTLE_MS);
      return measured;
    };
    const [ours, theirs] = (await alternate(ROUNDS, run(product.url), run(floor.url))).map(joinRounds) as [
      Measured,
      Measured,
    ];
    return {
      figures: listFigures(ours, theirs, quiet),
      details: { perSecond, ours, theirs, quiet: quiet.map(describe) },
    };
  } finally {
    flooder.close();
  }
}

interface Round {
  flood: FloodResult;
  reads: Reads;
  rampReads: Reads;
}

async function floodAndRead(
  flooder: Flooder,
  { url, headers, templates, reads }: Omit<OverloadOptions, 'product' | 'floor'> & { url: string },
  perSecond: number,
  ms: number,
): Promise<Round> {
  const target = { url, ...reads };
  const flooding = flooder.flood({
    ...{ url: `${url}/collect`, headers, templates, perSecond, ms: RAMP_MS + ms, connections: CONNECTIONS },
  });
  const all = await read(target, RAMP_MS + ms);
  const isRamp = (_: number, place: number) => place < (RAMP_MS * READS_PER_SECOND) / 1_000;
  return {
    flood: await flooding,
    reads: { ...all, latencies: all.latencies.filter((latency, place) => !isRamp(latency, place)) },
    rampReads: { failed: 0, latencies: all.latencies.filter(isRamp) },
  };
}

/** Reads at a steady rate, in turn over all paths. */
async function read({ url, key, paths }: Target, ms: number): Promise<Reads> {
  const { host } = new URL(url);
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n\r\n`);
  const all = await openConnections(new URL(url), OPEN_READ_CONNECTIONS);
  const idle = [...all];
  const takeConnection = () => {
    const known = idle.pop();
    if (known) return known;
    if (all.length === READ_CONNECTIONS) throw new Error(`${url} does not answer`);
    const connection = new Connection(new URL(url));
    all.push(connection);
    return connection;
  };
  const result: Reads = { latencies: [], failed: 0 };
  const running: Promise<void>[] = [];
  const ask = async (n: number, connection: Connection, request: string) => {
    const from = performance.now();
    const status = await connection.ask(request).catch(() => 0);
    if (status !== 200) result.failed++;
    result.latencies[n] = performance.now() - from;
    idle.push(connection);
  };
  const from = performance.now();
  for (let n = 0; performance.now() - from < ms; n++) {
    await sleep(Math.max(0, (n * 1_000) / READS_PER_SECOND - (performance.now() - from)));
    running.push(ask(n, takeConnection(), requests[n % requests.length]!));
  }
  await Promise.all(running);
  for (const connection of all) connection.close();
  return result;
}

interface Measured {
  offered: number;
  kept: number;
  shed: number;
  /** Answers to batches and reads that are neither 200 nor the 503 of a batch. */
  others: number;
  unsent: number;
  reads: ReturnType<typeof describe>;
  rampReads: ReturnType<typeof describe>;
}

const describe = ({ latencies, failed }: Reads) => ({ ...describeDistribution(latencies), failed });

function joinRounds(rounds: Round[]): Measured {
  const sum = (pick: (round: Round) => number) => rounds.reduce((total, round) => total + pick(round), 0);
  const seconds = sum(({ flood }) => flood.ms) / 1_000;
  const count = (status: number) => sum(({ flood }) => flood.statuses[status] ?? 0);
  const join = (pick: (round: Round) => Reads): Reads => ({
    latencies: rounds.flatMap((round) => pick(round).latencies),
    failed: sum((round) => pick(round).failed),
  });
  const sent = sum(({ flood }) => flood.sent);
  const unsent = sum(({ flood }) => flood.unsent);
  const [kept, shed] = [count(200), count(503)];
  const reads = join((round) => round.reads);
  const rampReads = join((round) => round.rampReads);
  return {
    ...{ offered: sent / seconds, kept: kept / seconds, shed: shed / seconds, unsent: unsent / seconds },
    others: sent - kept - shed + reads.failed + rampReads.failed,
    ...{ reads: describe(reads), rampReads: describe(rampReads) },
  };
}

function listFigures(ours: Measured, theirs: Measured, quiet: Reads[]): Figure[] {
  const [quietOurs, quietTheirs] = quiet.map(describe) as [ReturnType<typeof describe>, ReturnType<typeof describe>];
  const ms = (name: string, value: number, floor: number) => ({ name, value, floor, unit: 'ms' });
  return [
    { name: 'flood: batches offered', value: ours.offered, unit: '/s', floor: theirs.offered },
    { name: 'flood: kept', value: ours.kept, unit: '/s', floor: theirs.kept },
    { name: 'flood: shed with 503', value: ours.shed, unit: '/s' },
    { name: 'flood: other statuses', value: ours.others, unit: '', goal: { atMost: 0 } },
    ms('/v1 without the flood, p99', quietOurs.p99, quietTheirs.p99),
    ms(`/v1 in the first ${RAMP_MS / 1_000} s of the flood, at most`, ours.rampReads.max, theirs.rampReads.max),
    ms('/v1 in the flood, p50', ours.reads.p50, theirs.reads.p50),
    ...compareToFloor(ms('/v1 in the flood, p99', ours.reads.p99, theirs.reads.p99), { atMost: MAX_TAIL }),
  ];
}
