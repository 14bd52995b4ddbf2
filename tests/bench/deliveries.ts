import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type Batch,
  type CpuTimes,
  type DeliveryBench,
  makeBatches,
  openDeliveryBench,
  type Tenant,
} from './delivery-bench';
import type { FloorRequest, FloorResult } from './delivery-floor';
import { createPoster } from './poster';
import { type Receiver, startReceiver } from './receiver';
import { type Distribution, describeDistribution, type Figure, findMedian, type Report } from './report';

export interface BenchOptions {
  /** Bot sessions of a throughput run. */
  sessions: number;
  /** Pairs of runs beside a quiet and a hung neighbour. */
  pairs: number;
  /** Length of a latency run. */
  seconds: number;
  say(progress: string): void;
}

const CONNECTIONS = [
  { connections: 16, goal: 2_800 },
  { connections: 64, goal: 4_800 },
];
const WARM_UP = 500;
const EVENTS_PER_SECOND = 20;
const HANGING = 1_000;
const SLOW_SHARE = 0.4;
const ARRIVAL_LIMIT_MS = 120_000;
const SETTLE_MS = 500;

/** From the pipeline's door to the receiver's answer on record, as an operator runs the product. */
export async function measureDeliveries(options: BenchOptions): Promise<Report> {
  const { say, sessions } = options;
  const figures: Figure[] = [];
  say('poster and receiver alone');
  const alone = await measureAlone(sessions);
  figures.push({ name: 'poster and receiver alone, 64 connections', value: alone, unit: 'posts/s' });
  say('the product starts');
  const bench = await openDeliveryBench();
  try {
    say('warm-up');
    await measureThroughput(bench, bench.receivers.fast, WARM_UP, 16);
    const details: Record<string, unknown> = {};
    for (const { connections, goal } of CONNECTIONS) {
      say(`throughput, ${connections} connections`);
      const run = await measureThroughput(bench, bench.receivers.fast, sessions, connections);
      say('floor');
      const floor = await measureFloor(bench, sessions);
      details[`throughput${connections}`] = { ...run, floor };
      figures.push(...describeThroughput(run, floor, connections, goal));
    }
    say('latency');
    const quiet = await measureLatency(bench, options);
    details.latency = quiet;
    figures.push(...describeLatency(quiet));
    const neighbours = await measurePairs(bench, options);
    details.pairs = neighbours;
    figures.push(...describePairs(neighbours));
    say('slow receiver');
    const slow = await measureThroughput(bench, bench.receivers.slow, Math.round(sessions * SLOW_SHARE), 64);
    details.slow = slow;
    figures.push({
      name: 'receiver answers after 100 ms: delivered',
      value: slow.deliveredPerSecond,
      unit: '/s',
      goal: { atLeast: 500 },
    });
    return { figures, details, notes: makeNotes(options) };
  } finally {
    await bench.close();
  }
}

const makeNotes = ({ sessions, pairs, seconds }: BenchOptions) => [
  'Poster, receiver, server and Postgres share the cores of this machine.',
  `Throughput: ${sessions} bot sessions, one fact batch each, one subscription; delivered = first post → last distinct`,
  'arrival, all on record. Floor: a loop without engine reads as many rows from the same Postgres, signs, posts to the same',
  'receiver (undici, 25 in flight) and records in batches of 25.',
  `Latency: from the door's answer to the arrival at ${EVENTS_PER_SECOND} events/s for ${seconds} s, one clock.`,
  `Neighbour: ${pairs} pair(s) of runs, with and without ${HANGING} deliveries that wait for another tenant's hung receiver.`,
];

/** How fast this process posts to itself: what the product is measured with must not be the limit. */
async function measureAlone(count: number): Promise<number> {
  const receiver = await startReceiver();
  const poster = createPoster({ url: receiver.url, token: 'none', connections: 64 });
  const bodies = makeBatches({ id: 'none', key: '' }, count).map(({ text }) => text);
  try {
    await poster.postAll(bodies.slice(0, WARM_UP));
    const from = performance.now();
    return perSecond(count, (await poster.postAll(bodies)) - from);
  } finally {
    poster.close();
    await receiver.stop();
  }
}

interface Throughput {
  acceptedPerSecond: number;
  deliveredPerSecond: number;
  repeats: number;
  /** Processor time per delivery in µs. */
  cpu: { [part in keyof CpuTimes]: number | null };
}

function measureThroughput(
  bench: DeliveryBench,
  receiver: Receiver,
  count: number,
  connections: number,
): Promise<Throughput> {
  return bench.withSubscription(bench.tenant, receiver, async (subscriptionId) => {
    const bodies = makeBatches(bench.tenant, count).map(({ text }) => text);
    const poster = bench.openPoster(connections);
    try {
      await sleep(SETTLE_MS);
      const before = bench.readCpu();
      const from = performance.now();
      const arrived = receiver.waitFor(count, ARRIVAL_LIMIT_MS);
      const [accepted] = await Promise.all([poster.postAll(bodies), arrived]);
      const recorded = await bench.waitForRecords(subscriptionId);
      const after = bench.readCpu();
      const spent = (part: keyof CpuTimes) =>
        before[part] === null || after[part] === null ? null : ((after[part] - before[part]) * 1_000) / count;
      return {
        acceptedPerSecond: perSecond(count, accepted - from),
        deliveredPerSecond: perSecond(count, recorded - from),
        repeats: receiver.repeats,
        cpu: { product: spent('product'), postgres: spent('postgres'), bench: spent('bench') },
      };
    } finally {
      poster.close();
    }
  });
}

const perSecond = (count: number, ms: number) => (count * 1_000) / ms;

function describeThroughput(run: Throughput, floor: FloorResult, connections: number, goal: number): Figure[] {
  const at = `${connections} connections:`;
  const { acceptedPerSecond, deliveredPerSecond, repeats, cpu } = run;
  const figures: Figure[] = [
    { name: `${at} accepted`, value: acceptedPerSecond, unit: '/s' },
    { name: `${at} delivered`, value: deliveredPerSecond, unit: '/s', floor: floor.perSecond, goal: { atLeast: goal } },
    { name: `${at} delivered ÷ floor`, value: deliveredPerSecond / floor.perSecond, unit: '', goal: { atLeast: 0.5 } },
    { name: `${at} repeated`, value: repeats, unit: '' },
  ];
  const names = { product: 'server', postgres: 'Postgres', bench: 'poster and receiver' };
  for (const [part, name] of Object.entries(names)) {
    const value = cpu[part as keyof CpuTimes];
    if (value === null) continue;
    const floorCpu = part === 'product' ? { floor: floor.cpuPerDelivery } : {};
    figures.push({ name: `${at} processor time per delivery, ${name}`, value, unit: 'µs', ...floorCpu });
  }
  return figures;
}

/** Runs the loop without engine in a process of its own, as the product has one. */
async function measureFloor(bench: DeliveryBench, count: number): Promise<FloorResult> {
  bench.receivers.fast.reset();
  const request: FloorRequest = {
    databaseUrl: bench.floorUrl,
    receiverUrl: bench.receivers.fast.url,
    payload: await bench.readPayload(),
    count,
    warmUp: WARM_UP,
  };
  const script = fileURLToPath(new URL('delivery-floor.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = () => child.kill();
  process.once('exit', end);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  process.off('exit', end);
  if (code !== 0) throw new Error(`the floor ended with ${code}`);
  return JSON.parse(output);
}

/** Posts at fixed moments whatever is still unanswered; the ms from each answer to the arrival of its delivery. */
function measureLatency(bench: DeliveryBench, { seconds }: BenchOptions): Promise<Distribution> {
  const { fast } = bench.receivers;
  return bench.withSubscription(bench.tenant, fast, async (subscriptionId) => {
    const batches = makeBatches(bench.tenant, EVENTS_PER_SECOND * seconds);
    const poster = bench.openPoster(16);
    try {
      const before = makeBatches(bench.tenant, EVENTS_PER_SECOND);
      await postAtFixedRate(poster.post, before); // so that the drain of this subscription is there
      const answers = await postAtFixedRate(poster.post, batches);
      await fast.waitFor(before.length + batches.length, ARRIVAL_LIMIT_MS);
      await bench.waitForRecords(subscriptionId);
      return describeDistribution(answers.map(({ sessionId, at }) => fast.arrivals.get(sessionId)! - at));
    } finally {
      poster.close();
    }
  });
}

async function postAtFixedRate(post: (body: string) => Promise<number>, batches: Batch[]) {
  const from = performance.now();
  const answers: Promise<{ sessionId: string; at: number }>[] = [];
  for (const [index, { sessionId, text }] of batches.entries()) {
    await sleep(Math.max(0, from + (index * 1_000) / EVENTS_PER_SECOND - performance.now()));
    answers.push(post(text).then((at) => ({ sessionId, at })));
  }
  return Promise.all(answers);
}

function describeLatency({ p50, p95, p99, max }: Distribution): Figure[] {
  const name = (what: string) => `answer → arrival at ${EVENTS_PER_SECOND}/s, ${what}`;
  return [
    { name: name('p50'), value: p50, unit: 'ms', goal: { below: 1 } },
    { name: name('p95'), value: p95, unit: 'ms' },
    { name: name('p99'), value: p99, unit: 'ms', goal: { below: 4 } },
    { name: name('max'), value: max, unit: 'ms' },
  ];
}

interface Pair {
  quiet: Distribution;
  hung: Distribution;
  /** Of the p95, in percent. */
  change: number;
}

/** Pairs of latency runs, the hung one first in every other pair, so that a drift of the machine does not add up. */
async function measurePairs(bench: DeliveryBench, options: BenchOptions): Promise<Pair[]> {
  const { pairs, say } = options;
  const results: Pair[] = [];
  for (let n = 1; n <= pairs; n++) {
    const runs: Record<string, Distribution> = {};
    for (const kind of n % 2 === 1 ? ['quiet', 'hung'] : ['hung', 'quiet']) {
      say(`neighbour, pair ${n} of ${pairs}: ${kind}`);
      runs[kind] =
        kind === 'quiet'
          ? await measureLatency(bench, options)
          : await besideHung(bench, bench.neighbour, () => measureLatency(bench, options));
    }
    const { quiet, hung } = runs as { quiet: Distribution; hung: Distribution };
    results.push({ quiet, hung, change: (hung.p95 / quiet.p95 - 1) * 100 });
  }
  return results;
}

/** Has another tenant's deliveries wait for a receiver that never answers. Those that time out make room for others. */
function besideHung<T>(bench: DeliveryBench, neighbour: Tenant, work: () => Promise<T>): Promise<T> {
  const { hung } = bench.receivers;
  return bench.withSubscription(neighbour, hung, async () => {
    const poster = bench.openPoster(16);
    try {
      await poster.postAll(makeBatches(neighbour, HANGING).map(({ text }) => text));
    } finally {
      poster.close();
    }
    await hung.waitFor(1, ARRIVAL_LIMIT_MS);
    await sleep(SETTLE_MS);
    const result = await work();
    if (hung.openRequests === 0) throw new Error('nothing was hanging any more at the end of the run');
    return result;
  });
}

function describePairs(pairs: Pair[]): Figure[] {
  if (pairs.length === 0) return [];
  const changes = pairs.map(({ change }) => change);
  const name = (what: string) => `neighbour's receiver hangs, ${what}`;
  return [
    {
      name: name('p95'),
      value: findMedian(pairs.map(({ hung }) => hung.p95)),
      unit: 'ms',
      floor: findMedian(pairs.map(({ quiet }) => quiet.p95)),
    },
    {
      name: name(`change of p95, median of ${pairs.length}`),
      value: findMedian(changes),
      unit: '%',
      goal: { below: 10 },
    },
    { name: name('change of p95, min'), value: Math.min(...changes), unit: '%' },
    { name: name('change of p95, max'), value: Math.max(...changes), unit: '%' },
  ];
}
