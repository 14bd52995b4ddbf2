import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Batch, type CpuTimes, type DeliveryBench, makeBatches, openDeliveryBench } from './delivery-bench';
import {
  describeLatency,
  describePairs,
  describeSlow,
  describeThroughput,
  EVENTS_PER_SECOND,
  HANGING,
  makeNotes,
  type Pair,
  type Throughput,
} from './delivery-figures';
import type { FloorRequest, FloorResult } from './delivery-floor';
import { createPoster } from './poster';
import type { Tenant } from './product-bench';
import { type Receiver, startReceiver } from './receiver';
import { type BenchOptions, type Distribution, describeDistribution, type Figure, type Report } from './report';

const CONNECTIONS = [
  { connections: 16, goal: 2_800 },
  { connections: 64, goal: 4_800 },
];
const WARM_UP = 2_000;
const SLOW_SHARE = 0.4;
const ARRIVAL_LIMIT_MS = 120_000;
const SETTLE_MS = 500;

/**
 * Measures from the pipeline's endpoint to the recorded answer of the receiver, with the product run as an operator
 * runs it.
 */
export async function measureDeliveries(options: BenchOptions): Promise<Report> {
  const { say, sessions } = options;
  const figures: Figure[] = [];
  say('poster and receiver alone');
  const alone = await measureAlone(sessions);
  figures.push({ name: 'poster and receiver alone, 64 connections', value: alone, unit: 'posts/s' });
  say('starting the product');
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
    figures.push(describeSlow(slow));
    return { figures, details, notes: makeNotes(options) };
  } finally {
    await bench.close();
  }
}

/** Measures how fast this process posts to itself, to show that the measuring tools are not the limit. */
async function measureAlone(count: number): Promise<number> {
  const receiver = await startReceiver();
  const poster = createPoster({ url: receiver.url, headers: ['content-type: application/json'], connections: 64 });
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
      const recorded = await bench.waitForRecords(bench.tenant, subscriptionId);
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

/** Runs the floor's loop in its own process, as the product has its own. */
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

/**
 * Posts at a fixed rate, even while earlier posts are unanswered. Measures the ms from each answer to the arrival of
 * its delivery.
 */
function measureLatency(bench: DeliveryBench, { seconds }: BenchOptions): Promise<Distribution> {
  const { fast } = bench.receivers;
  return bench.withSubscription(bench.tenant, fast, async (subscriptionId) => {
    const batches = makeBatches(bench.tenant, EVENTS_PER_SECOND * seconds);
    const poster = bench.openPoster(16);
    try {
      const before = makeBatches(bench.tenant, EVENTS_PER_SECOND);
      await postAtFixedRate(poster.post, before); // starts the drain of this subscription
      const answers = await postAtFixedRate(poster.post, batches);
      await fast.waitFor(before.length + batches.length, ARRIVAL_LIMIT_MS);
      await bench.waitForRecords(bench.tenant, subscriptionId);
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
    const answer = post(text).then((at) => ({ sessionId, at }));
    answer.catch(() => {}); // handled below, once all are sent
    answers.push(answer);
  }
  return Promise.all(answers);
}

/**
 * Measures pairs of latency runs. Every other pair begins with the hung run, so that a drift of the machine does not
 * add up.
 */
async function measurePairs(bench: DeliveryBench, options: BenchOptions): Promise<Pair[]> {
  const { pairs, say } = options;
  const results: Pair[] = [];
  for (let n = 1; n <= pairs; n++) {
    const runs: Record<string, Distribution> = {};
    let hanging = 0;
    for (const kind of n % 2 === 1 ? ['quiet', 'hung'] : ['hung', 'quiet']) {
      say(`neighbour, pair ${n} of ${pairs}: ${kind}`);
      const measure = () => measureLatency(bench, options);
      if (kind === 'quiet') runs.quiet = await measure();
      else ({ result: runs.hung, hanging } = await besideHung(bench, bench.neighbour, measure));
    }
    const { quiet, hung } = runs as { quiet: Distribution; hung: Distribution };
    results.push({ quiet, hung, hanging, change: (hung.p95 / quiet.p95 - 1) * 100 });
  }
  return results;
}

/**
 * Runs `work` while another tenant's deliveries wait for a receiver that never answers. Those that time out make room
 * for others.
 */
function besideHung<T>(
  bench: DeliveryBench,
  neighbour: Tenant,
  work: () => Promise<T>,
): Promise<{ result: T; hanging: number }> {
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
    const hanging = hung.openRequests;
    if (hanging === 0) throw new Error('nothing was still hanging at the end of the run');
    return { result, hanging };
  });
}
