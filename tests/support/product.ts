import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { WAIT_LIMIT_MS } from './limits.mjs';
import { OLDEST_NODE } from './oldest-node.mjs';
import { findFreePort } from './ports';

// The product as an operator runs it: its commands in separate processes, each with its own data directory.

const COMMAND_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;
const POLL_MS = 50;

export type Settings = Record<string, string>;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A started server. It leads its own process group, like a job of a terminal. */
export interface Started {
  pid: number;
  dataDir: string;
  stdout(): string;
  stderr(): string;
  /** Resolves when the process has ended and everything that held its output has ended too. */
  ended: Promise<Ended>;
  /** The same with a limit, by default one that only a process that hangs reaches. */
  endWithin(limitMs?: number): Promise<Ended & { afterMs: number }>;
  signal(signal: NodeJS.Signals): void;
  signalGroup(signal: NodeJS.Signals): void;
}

/** A server that answers. */
export interface Product extends Started {
  url: string;
  port: number;
  readyAfterMs: number;
  call(method: string, path: string, options?: { key?: string; body?: unknown }): Promise<Answer>;
  /** Posts facts to the pipeline's endpoint with the generated token. */
  ingest(integrationId: string, facts: unknown[]): Promise<Answer>;
}

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any;
}

/** What the first start prints for its operator. */
export interface Screen {
  demoKey: string;
  curl: string;
  botCommand: string;
  integrationId: string;
}

const children = new Map<ChildProcess, string>();
const directories: string[] = [];

/** Only what a program needs of its environment. No setting and no npm configuration comes from outside. */
function makeEnvironment(settings: Settings): Record<string, string | undefined> {
  const names = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'TMPDIR'];
  const inherited = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  const npm = { npm_config_userconfig: join(tmpdir(), 'no-such-npmrc'), npm_config_update_notifier: 'false' };
  // As `npm start` sets it, for the floors of benchmarks and for commands too.
  return { ...inherited, ...npm, ...OLDEST_NODE, MALLOC_ARENA_MAX: '2', ...settings };
}

/** Makes a directory that `endProducts` removes. */
export async function makeDataDir(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bot-detection-e2e-'));
  directories.push(directory);
  return join(directory, 'data');
}

/** The documented command. npm itself takes half a second of CPU time each time, so only its own tests use it. */
export const NPM_START = ['npm', 'start'];
/** What `npm start` runs, with the Node of this process. The process with the returned pid is the server itself. */
export const BARE_SERVER = ['sh', '-c', readStartScript().replace('exec node ', `exec '${process.execPath}' `)];
const BARE_ADMIN = [process.execPath, 'server/start.mjs', 'admin'];
const NPM_ADMIN = ['npm', 'run', '-s', 'admin', '--'];

function readStartScript(): string {
  return JSON.parse(readFileSync('package.json', 'utf8')).scripts.start;
}

export function spawnProduct(dataDir: string, settings: Settings = {}, command: string[] = BARE_SERVER): Started {
  const env = makeEnvironment({ DATA_DIR: dataDir, ...settings }) as NodeJS.ProcessEnv;
  const child = spawn(command[0]!, command.slice(1), { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  children.set(child, dataDir);
  const pid = child.pid!;
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      children.delete(child);
      resolve({ code, signal, stdout, stderr });
    });
  });
  return {
    pid,
    dataDir,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    async endWithin(limitMs = COMMAND_LIMIT_MS) {
      const from = Date.now();
      const result = await Promise.race([ended, sleep(limitMs, null, { ref: false })]);
      if (result === null) throw new Error(`still running after ${limitMs} ms:\n${stderr.slice(-2_000)}`);
      return { ...result, afterMs: Date.now() - from };
    },
    signal: (signal) => void child.kill(signal),
    signalGroup: (signal) => void process.kill(-pid, signal),
  };
}

/** Starts the product on a free port and waits until it has printed its first lines and answers. */
export async function startProduct(
  dataDir: string,
  settings: Settings = {},
  command: string[] = BARE_SERVER,
): Promise<Product> {
  const port = settings.PORT === undefined ? await findFreePort() : Number(settings.PORT);
  const from = Date.now();
  const started = spawnProduct(dataDir, { PORT: String(port), ...settings }, command);
  const url = `http://127.0.0.1:${port}`;
  let hasEnded = false;
  void started.ended.then(() => {
    hasEnded = true;
  });
  while (!started.stdout().includes('/swagger') || !(await answers(url))) {
    if (hasEnded || Date.now() > from + WAIT_LIMIT_MS) {
      const why = hasEnded ? 'ended instead of starting' : `not ready after ${WAIT_LIMIT_MS} ms`;
      throw new Error(`${command.join(' ')} ${why}:\n${started.stdout()}\n${started.stderr().slice(-4_000)}`);
    }
    await sleep(POLL_MS);
  }
  return {
    ...started,
    url,
    port,
    readyAfterMs: Date.now() - from,
    call: (method, path, { key, body } = {}) =>
      request(`${url}${path}`, {
        method,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    ingest: async (integrationId, facts) =>
      request(`${url}/api/trpc/pipeline.ingest`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${settings.PIPELINE_TOKEN ?? (await readFile(join(dataDir, 'pipeline-token'), 'utf8')).trim()}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ integrationId, facts }),
      }),
  };
}

const answers = (url: string) =>
  fetch(`${url}/health`).then(
    (response) => response.ok,
    () => false,
  );

async function request(url: string, init: RequestInit): Promise<Answer> {
  // A new connection each time, so that none remains to a server that has been stopped or killed.
  const response = await fetch(url, { ...init, headers: { ...init.headers, connection: 'close' } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

/** Reads the output of a first start. Throws if something is missing. */
export function readScreen({ stdout, url }: Pick<Product, 'stdout' | 'url'>): Screen {
  const text = stdout();
  const find = (pattern: RegExp) => {
    const found = pattern.exec(text)?.[1];
    if (found === undefined) throw new Error(`${pattern} is not on the screen:\n${text}`);
    return found;
  };
  if (!text.includes(url)) throw new Error(`the base URL is not on the screen:\n${text}`);
  return {
    demoKey: find(/Demo API key\s+(aik_v1_[\w-]{40})\s/),
    curl: find(/^\s*(curl .*)$/m),
    botCommand: find(/^\s*(npm run -s admin -- demo session .*)$/m),
    integrationId: find(/--integration (\S+)/),
  };
}

/** Starts what `npm run -s admin -- …` runs. */
export const spawnAdmin = (dataDir: string, args: string[], settings: Settings = {}): Started =>
  spawnProduct(dataDir, settings, [...BARE_ADMIN, ...args]);

/** Runs it to its end. */
export const runAdmin = (dataDir: string, args: string[], settings: Settings = {}): Promise<Ended> =>
  spawnAdmin(dataDir, args, settings).endWithin();

/** The same through npm. */
export function runNpmAdmin(dataDir: string, args: string[], settings: Settings = {}): Promise<Ended> {
  return spawnProduct(dataDir, settings, [...NPM_ADMIN, ...args]).endWithin();
}

/** Runs a line that the product printed, through the shell, in its operator's directory and environment. */
export function runPrinted(line: string, dataDir: string, settings: Settings = {}): Promise<Ended> {
  return spawnProduct(dataDir, settings, ['sh', '-c', line]).endWithin();
}

/** Finds the pid of the embedded Postgres on a data directory by its command line. Null if none runs. */
export async function findPostgres(dataDir: string): Promise<number | null> {
  const directory = join(dataDir, 'postgres');
  const file = await readFile(join(directory, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(file.split('\n')[0]);
  if (!(pid > 0)) return null;
  const commandLine = await readCommandLine(pid).catch(() => '');
  return commandLine.includes(` -D ${directory} `) ? pid : null;
}

async function readCommandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  return stdout;
}

/** Waits until no Postgres runs on a data directory. */
export async function waitForNoPostgres(dataDir: string, limitMs: number): Promise<void> {
  for (const until = Date.now() + limitMs; ; await sleep(POLL_MS)) {
    const pid = await findPostgres(dataDir);
    if (pid === null) return;
    if (Date.now() > until) throw new Error(`Postgres ${pid} is still there after ${limitMs} ms`);
  }
}

/** Ends everything that was started, first with SIGTERM, and removes the data. For `afterAll`. */
export async function endProducts(): Promise<void> {
  const running = [...children.keys()];
  signalGroups(running, 'SIGTERM');
  for (const until = Date.now() + STOP_LIMIT_MS; running.some((child) => children.has(child)); await sleep(POLL_MS)) {
    if (Date.now() > until) break;
  }
  signalGroups([...children.keys()], 'SIGKILL');
  for (const directory of directories.splice(0)) {
    const dataDir = join(directory, 'data');
    const pid = await findPostgres(dataDir);
    if (pid !== null) {
      signalOne(pid, 'SIGQUIT');
      await waitForNoPostgres(dataDir, STOP_LIMIT_MS).catch(() => signalOne(pid, 'SIGKILL'));
    }
    await rm(directory, { recursive: true, force: true });
  }
}

function signalGroups(started: ChildProcess[], signal: NodeJS.Signals) {
  for (const child of started) if (child.pid !== undefined) signalOne(-child.pid, signal);
}

function signalOne(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal);
  } catch {} // it has just ended
}

// The run may be ended in the middle of a test. Then everything it started ends too.
process.once('exit', () => signalGroups([...children.keys()], 'SIGTERM'));
process.once('SIGTERM', () => process.exit(1));
