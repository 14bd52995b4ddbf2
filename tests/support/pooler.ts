import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import postgres from 'postgres';
import { WAIT_LIMIT_MS } from './limits.mjs';
import { findFreePort } from './ports';
import { waitUntil } from './receiver';

/** A real PgBouncer in transaction mode in front of one Postgres. */
export interface Pooler {
  port: number;
  /** Counts the transactions that it has carried for a database. */
  countTransactions(database: string): Promise<number>;
  stop(): Promise<void>;
}

/** Finds the program `pgbouncer`, on the PATH or where Debian installs it. Null if there is none. */
export function findPgBouncer(env: NodeJS.ProcessEnv): string | null {
  const directories = [...(env.PATH ?? '').split(delimiter).filter(Boolean), '/usr/sbin', '/usr/local/sbin'];
  const isProgram = (path: string) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  return directories.map((directory) => join(directory, 'pgbouncer')).find(isProgram) ?? null;
}

/** Starts a pooler to the server of `databaseUrl`. Behind it, every client is the user of that URL. */
export async function startPooler(program: string, databaseUrl: string): Promise<Pooler> {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const directory = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  const [file, port] = [join(directory, 'pgbouncer.ini'), await findFreePort()];
  // All other settings keep their defaults: no startup parameter is ignored for our sake.
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = admin
pool_mode = transaction
default_pool_size = 10
max_client_conn = 200
server_login_retry = 1
query_wait_timeout = 2
`,
  );
  // PgBouncer refuses to run as root.
  await Promise.all([chmod(directory, 0o755), chmod(file, 0o644)]);
  const isRoot = process.getuid?.() === 0;
  const child = spawn(program, ['-q', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}),
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4_000);
  });
  child.once('error', (error) => {
    output += error.message;
  });
  const stop = async () => {
    await endProcess(child);
    await rm(directory, { recursive: true, force: true });
  };
  const isUp = () => {
    if (hasEnded(child)) throw new Error(`${program} ended instead of starting: ${output}`);
    return canConnect(port);
  };
  try {
    await waitUntil(isUp, WAIT_LIMIT_MS, () => `${program} does not listen: ${output}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, countTransactions: (database) => countTransactions(port, database), stop };
}

/** Reads from its console, which speaks only the simple protocol. */
async function countTransactions(port: number, database: string): Promise<number> {
  const console = postgres({
    ...{ host: '127.0.0.1', port, user: 'admin', database: 'pgbouncer', max: 1 },
    ...{ fetch_types: false, connection: { application_name: 'tests' } },
  });
  try {
    const rows = await console.unsafe<{ database: string; total_xact_count: string }[]>('show stats').simple();
    return Number(rows.find((row) => row.database === database)?.total_xact_count ?? 0);
  } finally {
    await console.end({ timeout: 5 });
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

const hasEnded = (child: ChildProcess) =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}
