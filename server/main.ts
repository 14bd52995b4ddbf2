import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import next from 'next';
import { findFaultLevel } from '../db/errors';
import { type Demo, loadDemoIntegration, openDemoSite } from './demo/integration';
import { createHttpServer, type Handler, stopHttpServer } from './http-server';
import { startMetricsServer } from './metrics-server';
import { ignoreEnvFiles } from './next-internals';
import { redirectConsole } from './platform/console';
import { type Env, readEnv, SettingError } from './platform/env';
import { writeLocalAddress } from './platform/local-address';
import { createLogger, type Logger } from './platform/log';
import { obtainService } from './platform/service';
import { escapeLines } from './platform/terminal';
import { describeFault, prepareRuntime, warnOfUnreadableSecrets } from './runtime';
import { closeService, createService, type Service } from './service';

// The self-hosted entry: one process with the API, the dashboard, the workflow engine and, if DATABASE_URL is not set,
// Postgres.

const GRACE_MS = 10_000;
/** Attempts under way have so long at least, also if a request took all of that. One that is cut off is sent again. */
const ATTEMPTS_GRACE_MS = 3_000;
/**
 * Connections that may wait to be accepted. The system allows fewer if its own limit is lower. When more come at once, for
 * example many browsers, it drops them, and each tries again after 1, 3 and 7 s. Node's default is 511.
 */
const CONNECTION_BACKLOG = 4_096;

/**
 * Starts everything and returns how to stop it. A stop lets requests in flight finish and ends the embedded Postgres
 * last.
 */
async function start(env: Env, log: Logger, signal: AbortSignal): Promise<{ stop(): Promise<void> }> {
  const runtime = await prepareRuntime(env, log, signal);
  let service: Service;
  try {
    service = obtainService(() => createService(runtime.options));
  } catch (error) {
    // A setting may name a file that cannot be read.
    await runtime.embedded?.stop();
    throw error;
  }
  let showDashboard = () => {};
  const dashboard = new Promise<void>((resolve) => {
    showDashboard = resolve;
  }).then(() => openDashboard(env));
  const server = createHttpServer(service, dashboard);
  // Avoids an unhandled rejection; `await dashboard` below reports the error.
  dashboard.catch(() => {});
  const stop = async () => {
    const deadline = performance.now() + GRACE_MS;
    service.readiness.isDraining = true;
    // A run that an Inngest server has begun is a request, which may take twice as long as the stop.
    if (service.inngestHandler) service.dispatcher.endRuns();
    const remainingMs = () => Math.max(0, deadline - performance.now());
    try {
      await stopHttpServer(server, remainingMs());
      await closeService(service, Math.max(remainingMs(), ATTEMPTS_GRACE_MS));
    } finally {
      await runtime.embedded?.stop();
    }
  };
  try {
    await warnOfUnreadableSecrets(service);
    // Before all else, because it takes a moment until a process that died is taken for dead.
    await service.dispatcher.start();
    await service.engine?.start();
    void service.dispatcher.requestSweep();
    service.collector.start();
    service.findings.start();
    // Listen before loading the demo: a start that finds the port taken must not use up the only display of the demo
    // key.
    await listen(server, env);
    await startMetricsServer(service);
    const base = writeLocalAddress(env.HOST, (server.address() as AddressInfo).port);
    const isDemoOn = env.DEMO ?? runtime.embedded !== null;
    const demo = isDemoOn ? await loadDemoIntegration(service, signal) : null;
    if (isDemoOn) service.demo = await openDemoSite(service, listOwnOrigins(base, env));
    printWelcome(base, service, demo);
    // Last: loading Next keeps the process from everything else, and a start that finds the port taken does not need it.
    showDashboard();
    await dashboard;
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openDashboard(env: Env): Promise<Handler> {
  const dev = process.env.NODE_ENV === 'development';
  ignoreEnvFiles();
  // Next handles the upgrade events of its server. In production it would close the connection of every client that
  // offers an upgrade (`curl --http2`), so it gets a server that never listens.
  const app = next({ dev, hostname: env.HOST, port: env.PORT, ...(dev ? {} : { httpServer: createServer() }) });
  await app.prepare();
  return app.getRequestHandler();
}

function listen(server: Server, env: Env): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new SettingError(describeListenFault(error.code, env)));
    });
    server.listen(env.PORT, env.HOST, CONNECTION_BACKLOG, resolve);
  });
}

function describeListenFault(code: string | undefined, { HOST, PORT }: Env): string {
  if (code === 'EADDRINUSE') return `PORT: ${PORT} is in use on ${HOST}`;
  // The system keeps low ports for itself; an address has no such rule.
  if (code === 'EACCES') return `PORT: this user may not listen on ${PORT}`;
  return `HOST: cannot listen on ${HOST} (${code})`;
}

/** Lists the origins under which browsers may open the server's own pages. */
function listOwnOrigins(base: string, { publicUrl }: Env): string[] {
  const { port } = new URL(base);
  const urls = [base, `http://127.0.0.1:${port}`, `http://localhost:${port}`, ...(publicUrl ? [publicUrl] : [])];
  return [...new Set(urls.map((url) => new URL(url).origin))];
}

function printWelcome(base: string, service: Service, demo: Demo | null) {
  const lines = [
    '',
    `  Bot Detection API   ${base}`,
    `  Dashboard           ${base}/dashboard`,
    `  Documentation       ${base}/swagger`,
  ];
  if (service.demo) lines.push('', `  Try it: ${base}/demo`);
  if (demo) {
    lines.push(
      '',
      `  Demo sign-in        ${demo.email}   ${demo.password}   (shown this once)`,
      `  Demo API key        ${demo.key}   (shown this once)`,
      '',
      `  curl -s '${base}/v1/sessions?pageSize=3' -H 'Authorization: Bearer ${demo.key}'`,
      '',
      '  Make a bot session happen:',
      `  npm run -s admin -- demo session --integration ${demo.id}`,
    );
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

/** Why a start was given up. */
class StoppedError extends Error {}

/**
 * Ends the process once, no matter how many signals arrive. A signal during the start waits for the start, unless that waits itself
 * for what may take long.
 */
function endOnSignals(starting: Promise<{ stop(): Promise<void> }>, log: Logger, stopping: AbortController) {
  let isEnding = false;
  const end = async (code: number) => {
    if (isEnding) return;
    isEnding = true;
    stopping.abort(new StoppedError());
    try {
      const started = await starting.catch(() => null);
      await started?.stop();
      process.exit(code);
    } catch (error) {
      log.error({ err: error }, 'could not stop cleanly');
      process.exit(1);
    }
  };
  // SIGHUP: its terminal was closed. Postgres would stay behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(0));
  for (const fault of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(fault, (error: unknown) => {
      log.fatal({ err: error }, 'unexpected error; stopping');
      end(1);
    });
  }
}

async function main() {
  const env = readEnv(process.env);
  const log = createLogger(env);
  if (process.env.NODE_ENV === 'production') redirectConsole(log, findFaultLevel);
  // Only the welcome goes there, perhaps into a file on a full disk.
  process.stdout.on('error', () => {});
  const stopping = new AbortController();
  const starting = start(env, log, stopping.signal);
  endOnSignals(starting, log, stopping);
  await starting;
}

main().catch((error: unknown) => {
  // What has given it up ends the process.
  if (error instanceof StoppedError) return;
  process.stderr.write(`${escapeLines(describeFault(error))}\n`);
  process.exit(1);
});
