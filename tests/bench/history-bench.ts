import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { startEmbeddedDatabase } from '../../db/embedded';
import { makeDataDir } from '../support/product';
import { startBareServer } from './bench-server';
import { Connection } from './connection';
import { loadHistories } from './history';
import { createTenant, SILENT, type Tenant } from './product-bench';
import { createProgress } from './progress';
import { type BenchOptions, type Distribution, describeDistribution, type Figure } from './report';

/** The number of sessions of the short history. */
export const SMALL = 10_000;
/** Some goals hold for long histories only. */
export const LONG = 10_000_000;

const STOP_LIMIT_MS = 20_000;
const WARM_UP = 20;
const LEAST_ROUNDS = 30;
/** The number of reads in a part. Each gets its share of `--seconds`. */
const READS = 10;

interface Tenants {
  sessions: number;
  small: Tenant;
  large: Tenant;
}

/** The built product with a short and a long history in one database. */
export interface HistoryBench extends Tenants {
  url: string;
  dataDir: string;
  /** Of the server. */
  pid: number;
  sql: postgres.Sql;
  /** Closes the Postgres connections. `endProducts` stops the product itself. */
  close(): Promise<void>;
}

/** Starts the bench. With `data`, it reuses the data that an earlier run left there. */
export async function openHistoryBench(options: BenchOptions): Promise<HistoryBench> {
  const dataDir = options.data === undefined ? await makeDataDir() : resolve(options.data);
  const file = join(dataDir, 'bench-tenants.json');
  const kept: Tenants | null = await readFile(file, 'utf8').then(JSON.parse, () => null);
  if (kept === null && existsSync(dataDir)) throw new Error(`--data: ${dataDir} holds no finished benchmark`);
  const tenants = kept ?? (await makeTenants(dataDir, options));
  if (tenants.sessions !== options.sessions) throw new Error(`--data: holds ${tenants.sessions} sessions`);
  if (options.data !== undefined) await writeFile(file, JSON.stringify(tenants), { mode: 0o600 });
  const { url, pid } = await startBareServer(dataDir);
  const embedded = await startEmbeddedDatabase({ dataDir, log: SILENT });
  const sql = postgres(embedded.url, { max: 1, onnotice: () => {} });
  return {
    ...tenants,
    url,
    dataDir,
    pid,
    sql,
    async close() {
      await sql.end({ timeout: 1 });
      await embedded.stop();
    },
  };
}

/** Nothing else may use the database while it is filled. */
async function makeTenants(dataDir: string, { name, sessions, say }: BenchOptions): Promise<Tenants> {
  await mkdir(dataDir, { recursive: true });
  const server = await startBareServer(dataDir);
  const small = await createTenant(dataDir, 'small');
  const large = await createTenant(dataDir, 'large');
  server.signal('SIGTERM');
  await server.endWithin(STOP_LIMIT_MS);
  const embedded = await startEmbeddedDatabase({ dataDir, log: SILENT });
  const from = performance.now();
  try {
    const histories = [
      { integrationId: small.id, sessions: SMALL },
      { integrationId: large.id, sessions },
    ];
    await hurry(embedded.url, () => loadHistories(embedded.url, histories, createProgress(name)));
  } finally {
    await embedded.stop();
  }
  say(`${sessions + SMALL} sessions written in ${Math.round((performance.now() - from) / 1_000)} s`);
  return { sessions, small, large };
}

/** Safe here: a crash would only lose a benchmark, and no other sessions need autovacuum while the data is written. */
const HURRIED = { fsync: 'off', full_page_writes: 'off', max_wal_size: '2GB', autovacuum: 'off' };

/** Makes a Postgres that nobody else uses write faster while `work` runs. */
async function hurry(databaseUrl: string, work: () => Promise<void>): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  const setAll = async (statementOf: (name: string, value: string) => string) => {
    for (const [name, value] of Object.entries(HURRIED)) await sql.unsafe(statementOf(name, value));
    await sql`select pg_reload_conf()`;
  };
  try {
    await setAll((name, value) => `alter system set ${name} = '${value}'`);
    await work();
    await setAll((name) => `alter system reset ${name}`);
    await sql`checkpoint`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The same read for both tenants. The paths are requested in turn. */
export interface PairedRead {
  name: string;
  small: string[];
  large: string[];
  /** Lines of the request. Without them, it has the tenant's API key. */
  headersOf?(tenant: Tenant): string[];
  /** The maximum ratio of the long history's latency to the short one's. Without it, the figure has no goal. */
  atMost?: number;
}

/** Latencies in ms. */
export interface Pair {
  small: Distribution;
  large: Distribution;
}

/** Sends one request at a time, alternating between the tenants, so that disturbances of the machine affect both. */
export async function measurePair(bench: HistoryBench, read: PairedRead, seconds: number): Promise<Pair> {
  const url = new URL(bench.url);
  const connection = new Connection(url);
  const headersOf = read.headersOf ?? (({ key }: Tenant) => [`authorization: Bearer ${key}`]);
  const ask = async (tenant: Tenant, paths: string[], turn: number) => {
    const path = paths[turn % paths.length]!;
    const request = [`GET ${path} HTTP/1.1`, `host: ${url.host}`, ...headersOf(tenant), '', ''].join('\r\n');
    const from = performance.now();
    await connection.send(request);
    return performance.now() - from;
  };
  const small: number[] = [];
  const large: number[] = [];
  const askBoth = async (turn: number) => {
    if (turn % 2 === 1) large.push(await ask(bench.large, read.large, turn));
    small.push(await ask(bench.small, read.small, turn));
    if (turn % 2 === 0) large.push(await ask(bench.large, read.large, turn));
  };
  try {
    for (let turn = 0; turn < WARM_UP; turn++) await askBoth(turn);
    small.length = 0;
    large.length = 0;
    const until = performance.now() + (seconds * 1_000) / READS;
    for (let turn = 0; turn < LEAST_ROUNDS || performance.now() < until; turn++) await askBoth(turn);
    return { small: describeDistribution(small), large: describeDistribution(large) };
  } finally {
    connection.close();
  }
}

/**
 * Describes the median of the long history next to that of the short one, and their ratio if there is a goal for it.
 */
export function describePair({ name, atMost }: Pick<PairedRead, 'name' | 'atMost'>, { small, large }: Pair): Figure[] {
  const figure: Figure = { name, value: large.p50, unit: 'ms', floor: small.p50 };
  if (atMost === undefined) return [figure];
  const ratio = { name: `${name} ÷ that of ${SMALL}`, value: large.p50 / small.p50, unit: '', goal: { atMost } };
  return [figure, ratio];
}

/** Requests one path and returns the body. */
export async function readAnswer<Body>({ url }: HistoryBench, { key }: Tenant, path: string): Promise<Body> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Body;
}

const ASK_MS = 50;

/** Asks for /v1/stats again and again while something runs, one request at a time. Adds the milliseconds that each took. */
export async function askMeanwhile<Result>(
  bench: HistoryBench,
  tenant: Tenant,
  latencies: number[],
  work: () => Promise<Result>,
): Promise<Result> {
  let isDone = false;
  const asking = (async () => {
    while (!isDone) {
      const from = performance.now();
      await readAnswer(bench, tenant, '/v1/stats');
      latencies.push(performance.now() - from);
      await sleep(ASK_MS);
    }
  })();
  try {
    return await work();
  } finally {
    isDone = true;
    await asking;
  }
}
