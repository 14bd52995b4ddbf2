import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { WAIT_LIMIT_MS } from './limits.mjs';
import { findFreePort } from './ports';

const STOP_LIMIT_MS = 10_000;

/** A real Inngest server that reaches the loopback of this machine. */
export interface InngestServer {
  baseUrl: string;
  eventKey: string | undefined;
  signingKey: string | undefined;
  isDev: boolean;
  patienceMs: number;
  stop(): Promise<void>;
}

export interface FoundInngest {
  /** What was found, for the report. */
  description: string;
  start(): Promise<InngestServer>;
}

/**
 * Finds the server that INNGEST_BASE_URL names (with INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY, or with INNGEST_DEV),
 * or a program to start one: INNGEST_CLI_PATH, an installed `inngest-cli` or `inngest`. Null if there is neither.
 */
export function findInngest(env: NodeJS.ProcessEnv): FoundInngest | null {
  const { INNGEST_BASE_URL: baseUrl, INNGEST_EVENT_KEY: eventKey, INNGEST_SIGNING_KEY: signingKey } = env;
  if (baseUrl) {
    const isDev = Boolean(env.INNGEST_DEV && !/^(0|false)$/i.test(env.INNGEST_DEV));
    // It may wait half a minute and more between two attempts.
    const server = { baseUrl, eventKey, signingKey, isDev, patienceMs: 120_000, stop: async () => {} };
    return { description: `the one at ${baseUrl}`, start: async () => server };
  }
  const program = findProgram(env);
  return program ? { description: `started from ${program}`, start: () => startServer(program) } : null;
}

function findProgram(env: NodeJS.ProcessEnv): string | null {
  if (env.INNGEST_CLI_PATH) {
    if (!isProgram(env.INNGEST_CLI_PATH)) throw new Error(`INNGEST_CLI_PATH is no program: ${env.INNGEST_CLI_PATH}`);
    return resolve(env.INNGEST_CLI_PATH);
  }
  const directories = [join('node_modules', '.bin'), ...(env.PATH ?? '').split(delimiter).filter(Boolean)];
  const names = process.platform === 'win32' ? ['inngest-cli.exe', 'inngest.exe'] : ['inngest-cli', 'inngest'];
  const candidates = directories.flatMap((directory) => names.map((name) => resolve(directory, name)));
  return candidates.find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Starts a server with keys, as in production, that forgets everything when it is stopped. */
async function startServer(program: string): Promise<InngestServer> {
  const directory = await mkdtemp(join(tmpdir(), 'inngest-server-'));
  const [port, gateway, gatewayGrpc, executorGrpc] = await findFreePorts(4);
  const [eventKey, signingKey] = [randomBytes(16).toString('hex'), randomBytes(32).toString('hex')];
  const options = {
    'sqlite-dir': directory,
    'event-key': eventKey,
    'signing-key': signingKey,
    host: '127.0.0.1',
    port,
    'connect-gateway-port': gateway,
    'connect-gateway-grpc-port': gatewayGrpc,
    'connect-executor-grpc-port': executorGrpc,
    'retry-interval': 1,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(program, ['start', ...args, '--no-ui'], {
    // It must not take the settings of another server. What it stores for its user is in the directory too.
    env: { NODE_ENV: 'test', PATH: process.env.PATH, HOME: directory, DO_NOT_TRACK: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4000);
    });
  }
  child.once('error', (error) => {
    output += error.message;
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await endProcess(child);
    await rm(directory, { recursive: true, force: true });
  };
  const deadline = Date.now() + WAIT_LIMIT_MS;
  while (!(await isHealthy(baseUrl))) {
    if (hasEnded(child) || Date.now() > deadline) {
      await stop();
      throw new Error(`${program} does not start:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { baseUrl, eventKey, signingKey, isDev: false, patienceMs: 120_000, stop };
}

async function findFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await findFreePort());
  return [...ports];
}

async function isHealthy(baseUrl: string): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(2000) }).catch(() => null);
  return answer?.ok === true;
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(timer);
}
