import { setTimeout as sleep } from 'node:timers/promises';
import type { Beacon } from '../../contract/beacon';
import { moved, PAGE_ORIGIN, Tab, typed } from '../support/beacon';
import { CHROME } from '../support/facts';
import { endProducts } from '../support/product';
import { startFloor } from './bench-server';
import { measureEvidence } from './evidence';
import { measureForged } from './forged';
import { measureOverload } from './overload';
import { createPoster, type Poster } from './poster';
import { openProductBench, type ProductBench, runOperator } from './product-bench';
import { fillSessions, listReads } from './reads';
import { type BenchOptions, compareToFloor, describeDistribution, type Figure, type Report } from './report';

const CONNECTIONS = 64;
const LEAST_SHARE = 0.6;
/** Batches of each tab in the measurement of the rate. */
const BATCHES = 5;
/** A page sends every two seconds while something happens. */
const PERIOD_MS = 2_000;
const WARM_UP_MS = 3_000;
/** How many tabs begin at a time. */
const STARTING = 50;
/** When a batch that was not taken is sent again in the measurement of the rate. */
const RETRY_MS = 50;
/** The sessions that are read while the flood comes. */
const READ_SESSIONS = 1_000;
const NO_LIMIT = '100000000';
export const NO_LIMITS = { COLLECT_NEW_PER_MINUTE: NO_LIMIT, COLLECT_BATCHES_PER_MINUTE: NO_LIMIT };

/** Measures the collector: its rate next to that of a bare route, and many sessions at once at their natural rate. */
export async function measureCollect(options: BenchOptions): Promise<Report> {
  const { figures, notes, details } = await measureLoads(options);
  const forged = await measureForgedFlood(options);
  return { figures: [...figures, ...forged.figures], notes, details: { ...details, forged: forged.details } };
}

async function measureForgedFlood({ say }: BenchOptions) {
  say('starting a product with its default limits');
  const bench = await openProductBench();
  try {
    const { siteKey } = await openSite(bench);
    say('forged beacons');
    return await measureForged(bench, siteKey, HEADERS);
  } finally {
    await bench.close();
  }
}

async function measureLoads({ sessions, seconds, say }: BenchOptions): Promise<Report> {
  say('starting the product');
  const bench = await openProductBench(NO_LIMITS);
  try {
    const site = await openSite(bench);
    const reader = await bench.createTenant('reads');
    await fillSessions(bench.databaseUrl, reader.id, READ_SESSIONS);
    say('marks of automation, with other tabs live');
    const evidence = await measureEvidence(bench.dataDir, site);
    const floor = await startFloor(bench.dataDir, bench.databaseUrl);
    say(`${sessions} tabs begin`);
    const tabs = await startTabs(site, sessions);
    const [ours, theirs] = [site.url, floor.url].map((url) => openBeaconPoster(url)) as [Poster, Poster];
    const pages = openPoster(site.url);
    // Both are warm, and the facts of the new sessions are written, before anything is measured. Both take the same batches, so
    // that the product misses none of a session.
    const warmUp = makeBatches(tabs);
    for (const poster of [ours, theirs]) await poster.postAll(warmUp);
    await sleep(WARM_UP_MS);
    say(`${sessions * BATCHES} batches as fast as they are taken, and the same ones through the bare route`);
    const bodies = Array.from({ length: BATCHES }, () => makeBatches(tabs)).flat();
    const measureRate = async (poster: Poster) => {
      const from = performance.now();
      return (bodies.length * 1_000) / ((await poster.postAll(bodies)) - from);
    };
    const rate = { name: 'batches', unit: '/s', value: await measureRate(ours), floor: await measureRate(theirs) };
    say(`${sessions} tabs at their natural rate for ${seconds} s`);
    const { latencies, lost } = await sendNaturally(pages, tabs, seconds * 1_000);
    for (const poster of [ours, theirs, pages]) poster.close();
    const latency = describeDistribution(latencies);
    const overload = await measureOverload({
      ...{ product: bench.product, floor, seconds, say, headers: HEADERS, capacity: rate.value },
      reads: { key: reader.key, paths: listReads(READ_SESSIONS)[1]!.paths },
      templates: tabs.map(makeTemplate),
    });
    const figures: Figure[] = [
      ...compareToFloor(rate, { atLeast: LEAST_SHARE }),
      { name: `batches lost, ${sessions} tabs`, value: lost, unit: '', goal: { atMost: 0 } },
      { name: 'answer to a batch, p95', value: latency.p95, unit: 'ms' },
      ...evidence.figures,
      ...overload.figures,
    ];
    const details = { rate, latency, lost, evidence: evidence.details, overload: overload.details };
    return { figures, notes: NOTES, details };
  } finally {
    await bench.close();
    await endProducts();
  }
}

export type Site = Awaited<ReturnType<typeof openSite>>;

/** Creates a tenant with a site that takes beacons. */
export async function openSite({ dataDir, product, createTenant }: ProductBench) {
  const { id, key } = await createTenant('collect');
  await runOperator(dataDir, 'integration', 'set-origins', '--integration', id, '--origin', PAGE_ORIGIN);
  const { id: siteId, siteKey } = await runOperator(dataDir, 'site', 'create', '--integration', id);
  return { url: product.url, siteKey: siteKey as string, siteId: siteId as string, key };
}

const HEADERS = [`origin: ${PAGE_ORIGIN}`, `user-agent: ${CHROME}`, 'content-type: text/plain;charset=UTF-8'];

const openPoster = (url: string, retryMs?: number) =>
  createPoster({
    ...(retryMs !== undefined && { retryMs }),
    url: `${url}/collect`,
    headers: HEADERS,
    connections: CONNECTIONS,
  });

/** Opens a poster that sends a beacon again until it is taken. */
export const openBeaconPoster = (url: string) => openPoster(url, RETRY_MS);

/** Begins the sessions of tabs. */
export async function startTabs(site: { url: string; siteKey: string }, count: number): Promise<Tab[]> {
  const tabs = Array.from({ length: count }, () => new Tab(site));
  for (let from = 0; from < count; from += STARTING) {
    await Promise.all(
      tabs.slice(from, from + STARTING).map(async (tab) => {
        const beacon = tab.make();
        while ((await tab.post(beacon)).status !== 200) await sleep(PERIOD_MS);
      }),
    );
  }
  return tabs;
}

/** Two seconds of somebody who moves and writes. */
const makeBatch = (tab: Tab): Beacon => tab.make({ ev: [...moved(tab.now10, 8), ...typed(200, 4)] });

/** The next batch of each tab. */
export const makeBatches = (tabs: Tab[]) => tabs.map((tab) => JSON.stringify(makeBatch(tab)));

/** The batches of a tab from now on: all the same, except for their number. */
const makeTemplate = (tab: Tab): string =>
  JSON.stringify(makeBatch(tab)).replace(/"n":(\d+)/, (_, n) => `"n":‹n ${n}›`);

async function sendNaturally(poster: Poster, tabs: Tab[], ms: number) {
  const latencies: number[] = [];
  let lost = 0;
  const until = performance.now() + ms;
  const visit = async (tab: Tab, place: number) => {
    await sleep((place / tabs.length) * PERIOD_MS);
    for (let at = performance.now(); at < until; at += PERIOD_MS) {
      await sleep(Math.max(0, at - performance.now()));
      const from = performance.now();
      await poster.post(JSON.stringify(makeBatch(tab))).then(
        (answeredAt) => latencies.push(answeredAt - from),
        () => lost++,
      );
    }
  };
  await Promise.all(tabs.map(visit));
  return { latencies, lost };
}

const NOTES = [
  'Poster, server and Postgres share the cores of this machine. The product judges the sessions meanwhile.',
  `Floor: Fastify inserts one row of the same table for each beacon and does nothing else. ${CONNECTIONS} connections.`,
];
