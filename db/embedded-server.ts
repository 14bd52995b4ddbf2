import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { constrainedMemory, platform } from 'node:process';
import { type Cluster, run } from './embedded-cluster';

const LOG_LIMIT_BYTES = 5 * 1024 * 1024;
/** The exit code of `flock` if another process has the lock. */
export const LOCKED_EXIT_CODE = 97;

const MIB = 2 ** 20;
/** Postgres' own default. */
const LEAST_CACHE_MIB = 128;
const MOST_CACHE_MIB = 2048;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 200,
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** A start of the server. The process may not have got as far as its lock file. */
export interface Started {
  process: ChildProcess;
  /** Where this server's output begins in the log file. */
  logOffset: number;
}

/**
 * Picks a port below 32768, which outgoing connections do not use. The same directory gets the same port while it is
 * free.
 */
export function choosePort({ directory }: Cluster, attempt: number): number {
  const seed = createHash('sha256').update(directory).digest().readUInt32BE();
  return 20_000 + ((seed + attempt * 7919) % 12_000);
}

/**
 * Chooses how much of the database Postgres may keep in its own memory, in MiB: an eighth of what the machine or the container has.
 * Counts of long histories read far more rows than 128 MiB hold. A system that promises no more memory than it has may refuse more.
 */
export function chooseCacheMib(system: Awaited<ReturnType<typeof readMemory>>): number {
  if (system.isStrict) return LEAST_CACHE_MIB;
  // Without a limit, Node answers zero or a number that no machine has.
  const memoryBytes = Math.min(system.memoryBytes, system.limitBytes || Number.POSITIVE_INFINITY);
  return Math.max(LEAST_CACHE_MIB, Math.min(MOST_CACHE_MIB, Math.floor(memoryBytes / 8 / MIB)));
}

export async function readMemory() {
  const overcommit = await readFile('/proc/sys/vm/overcommit_memory', 'utf8').catch(() => '');
  return { memoryBytes: totalmem(), limitBytes: constrainedMemory(), isStrict: overcommit.trim() === '2' };
}

/** Starts the server on `port`. `stalePid` is the one in the lock file of a server that has ended. */
export async function startServer(cluster: Cluster, port: number, stalePid: number): Promise<Started> {
  const shared_buffers = `${chooseCacheMib(await readMemory())}MB`;
  const settings = Object.entries({ ...SETTINGS, port, shared_buffers }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const [program, parameters, options] = cluster.command('postgres', ['-D', cluster.directory, ...settings]);
  const [file, args] = (await hasLocks()) ? lockDirectory(cluster, program, parameters) : [program, parameters];
  const log = await open(cluster.logFile, 'a', 0o600);
  try {
    if ((await log.stat()).size > LOG_LIMIT_BYTES) await log.truncate();
    const logOffset = (await log.stat()).size;
    // The pid in a stale postmaster.pid may now belong to another program (after a reboot, or in a container), and
    // Postgres would refuse to start. PG_GRANDPARENT_PID, meant for pg_ctl's shell, names a pid that is not a Postgres
    // server.
    const env = { ...options.env, PG_GRANDPARENT_PID: String(stalePid) };
    // In its own session: Ctrl-C signals the terminal's whole process group, but Postgres must outlive our shutdown.
    const process = spawn(file, args, { ...options, env, detached: true, stdio: ['ignore', log.fd, log.fd] });
    process.on('error', () => {}); // the exit code reports it
    process.unref();
    return { process, logOffset };
  } finally {
    await log.close();
  }
}

/**
 * Lets the server hold a lock on its directory until it and its children have ended. Postgres' own lock file names a pid, which means
 * nothing to a server in another container that has the same volume: both would run, and destroy the data.
 */
const lockDirectory = ({ directory }: Cluster, program: string, parameters: string[]): [string, string[]] => [
  'flock',
  ['--no-fork', '--nonblock', `--conflict-exit-code=${LOCKED_EXIT_CODE}`, directory, program, ...parameters],
];

/** Whether this system has the `flock` of util-linux. Other systems have no containers on one volume, or go without. */
const hasLocks = async () => {
  if (platform !== 'linux') return false;
  const { stdout } = await run('flock', ['--version']).catch(() => ({ stdout: '' }));
  return stdout.includes('util-linux');
};

export const hasEnded = ({ process }: Started) => process.exitCode !== null || process.signalCode !== null;

export const readOutput = async ({ logFile }: Cluster, { logOffset }: Started) =>
  (await readFile(logFile)).subarray(logOffset).toString();

/** Lines of postmaster.pid: pid, data directory, start time, port, socket directory, address, shared memory, status. */
export async function readServer({ directory }: Cluster) {
  const lines = (await readFile(join(directory, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  const isAlive = pid > 0 && (await isPostmaster(pid, directory));
  return { pid, isAlive, port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' };
}

/** A pid alone proves nothing: it may be reused, or belong to a zombie. The command line contains our directory. */
export async function isPostmaster(pid: number, directory: string): Promise<boolean> {
  const commandLine =
    platform === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8').then((args) => args.replaceAll('\0', ' '))
      : run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(({ stdout }) => stdout);
  return (await commandLine.catch(() => '')).includes(` -D ${directory} `);
}
