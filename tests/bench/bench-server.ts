import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '../support/ports';
import { BARE_SERVER, type Settings, type Started, spawnProduct } from '../support/product';
import type { FloorRequest } from './floor-server';
import { SETTINGS } from './product-bench';

const START_LIMIT_MS = 60_000;
const POLL_MS = 5;

/** A running server. `endProducts` stops those that are left. */
export interface BenchServer extends Started {
  url: string;
  /** Time from its start to the first 200 of /health, in ms. */
  readyAfterMs: number;
}

/** Starts the product on a data directory. */
export const startBareServer = (dataDir: string, settings: Settings = {}) =>
  startServer(dataDir, () => BARE_SERVER, { ...SETTINGS, ...settings });

/** Starts Fastify with bare routes on the product's database. */
export function startFloor(dataDir: string, databaseUrl: string): Promise<BenchServer> {
  const script = fileURLToPath(new URL('floor-server.ts', import.meta.url));
  const command = (port: number) => {
    const request: FloorRequest = { databaseUrl, port };
    return [process.execPath, '--import', 'tsx', script, JSON.stringify(request)];
  };
  return startServer(dataDir, command, { NODE_ENV: 'production' });
}

const NEXT = 'node_modules/next/dist/bin/next';
const startNext = (folder: string) => (port: number) => [
  ...[process.execPath, NEXT, 'start', folder, '-p', String(port), '-H', '127.0.0.1'],
];

/** Starts `next start` with only the route handlers on the product's database, as on a serverless platform. */
export function startNextHandlers(dataDir: string, databaseUrl: string): Promise<BenchServer> {
  const appSecret = randomBytes(32).toString('base64');
  const settings = { NODE_ENV: 'production', VERCEL: '1', DATABASE_URL: databaseUrl, APP_SECRET: appSecret };
  return startServer(dataDir, startNext('.'), { ...SETTINGS, ...settings });
}

/**
 * Builds a Next app of bare route handlers and starts it on the product's database. Turbopack would give it the
 * product's `proxy.ts` and `instrumentation.ts`, because it looks for them at the root of the repository.
 */
export async function startNextFloor(dataDir: string, databaseUrl: string): Promise<BenchServer> {
  const folder = fileURLToPath(new URL('next-floor', import.meta.url));
  const settings = { NODE_ENV: 'production' as const, NEXT_TELEMETRY_DISABLED: '1' };
  await promisify(execFile)(process.execPath, [NEXT, 'build', '--webpack', folder], {
    env: { ...process.env, ...settings },
  });
  return startServer(dataDir, startNext(folder), { ...settings, DATABASE_URL: databaseUrl });
}

async function startServer(
  dataDir: string,
  command: (port: number) => string[],
  settings: Settings,
): Promise<BenchServer> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const from = performance.now();
  const started = spawnProduct(dataDir, { PORT: String(port), ...settings }, command(port));
  let hasEnded = false;
  const onEnd = () => {
    hasEnded = true;
  };
  started.ended.then(onEnd, onEnd);
  while (!(await isHealthy(url))) {
    if (hasEnded || performance.now() - from > START_LIMIT_MS)
      throw new Error(`${command(port).join(' ')} does not answer:\n${started.stderr().slice(-4_000)}`);
    await sleep(POLL_MS);
  }
  return { ...started, url, readyAfterMs: performance.now() - from };
}

const isHealthy = (url: string) =>
  fetch(`${url}/health`, { headers: { connection: 'close' } }).then(
    (response) => response.ok,
    () => false,
  );
