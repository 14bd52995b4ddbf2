import { mkdir, realpath } from 'node:fs/promises';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { type Cluster, openCluster } from './embedded-cluster';
import { readComplaint } from './embedded-output';
import {
  choosePort,
  hasEnded,
  isPostmaster,
  LOCKED_EXIT_CODE,
  readOutput,
  readServer,
  type Started,
  startServer,
} from './embedded-server';

interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface EmbeddedDatabase {
  url: string;
  /** Whether this start initialised the cluster. */
  isNew: boolean;
  /** Stops the server if no other user is left. Close your own connections first. Never rejects. */
  stop(): Promise<void>;
}

const POLL_MS = 30;
const RETRY_PAUSE_MS = 200;
/** Each start replays the WAL. On a full disk, starts fail until the operator makes space. */
const RESTART_PAUSE_LIMIT_MS = 10_000;
/** Backends of a killed server may remain for a moment. */
const RETRY_LIMIT_MS = 15_000;
/** What Postgres prints about addresses, lock files and shared memory of a server that has just ended. */
const TEMPORARY = ['Address already in use', '" already exists', '" is empty', 'is still in use'];
const LOCKED = 'another server runs on this directory, perhaps in another container: stop it first';
/** Crash recovery may have a lot of WAL to replay. */
const READY_LIMIT_MS = 5 * 60_000;
/** A server that is being started again, or is paused, answers nobody. Its last user waits so long to be told that it is the last one. */
const LEAVE_LIMIT_MS = 5_000;
/**
 * After this time a start says what it waits for, and can be given up. Supervisors often kill a process ten seconds after the signal,
 * and would leave Postgres.
 */
const LONG_WAIT_MS = 5_000;
/** During an immediate shutdown, Postgres itself kills remaining backends after 5 s. */
const STOP_SIGNALS = [
  { signal: 'SIGINT', limitMs: 10_000 },
  { signal: 'SIGQUIT', limitMs: 6_000 },
] as const;

/** Advisory locks in the database `postgres`, so they cannot collide with the application's. */
const USERS_LOCK = 1;
const CREATION_LOCK = 2;

/**
 * Starts the Postgres of this machine in `dataDir`, or joins it if it already runs. Rejects with a one-line Error. An aborted `signal`
 * ends a wait for long recovery.
 */
export async function startEmbeddedDatabase(options: {
  dataDir: string;
  log: Log;
  signal?: AbortSignal;
}): Promise<EmbeddedDatabase> {
  const { dataDir, log, signal } = options;
  try {
    await mkdir(dataDir, { recursive: true });
    const cluster = await openCluster(await realpath(dataDir));
    const { port, reference } = await joinServer(cluster, log, signal);
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= leaveServer(cluster, reference, log);
      return stopped;
    };
    await createDatabase(reference.sql).catch(async (error) => {
      await stop();
      throw error;
    });
    return { url: `postgres://postgres:${cluster.password}@127.0.0.1:${port}/app`, isNew: cluster.isNew, stop };
  } catch (cause) {
    const { stderr, message } = cause as Error & { stderr?: string };
    throw new Error(`Embedded Postgres in ${dataDir}: ${readComplaint(stderr || message)}`, { cause });
  }
}

/** Waits for the running server, or starts one. If several start at once, Postgres' lock file lets only one run. */
async function joinServer(
  cluster: Cluster,
  log: Log,
  signal?: AbortSignal,
): Promise<{ port: number; reference: Reference }> {
  const startedAt = performance.now();
  let started: Started | undefined;
  let retryUntil: number | undefined;
  let isTold = false;
  try {
    for (let attempt = 0; performance.now() < startedAt + READY_LIMIT_MS; await sleep(POLL_MS)) {
      const { isAlive, isReady, pid, port } = await readServer(cluster);
      if (performance.now() >= startedAt + LONG_WAIT_MS) {
        signal?.throwIfAborted();
        if (isAlive && !isTold) {
          isTold = true;
          log.warn({ pid, logFile: cluster.logFile }, 'the embedded Postgres does not answer; waiting for it');
        }
      }
      if (isAlive) {
        const reference = isReady ? await acquire(cluster, port, log) : undefined;
        if (!reference) continue;
        const message =
          pid === started?.process.pid ? 'embedded Postgres started' : 'reusing running embedded Postgres';
        log.info({ pid, port, durationMs: Math.round(performance.now() - startedAt) }, message);
        return { port, reference };
      }
      if (!started) {
        started = await startServer(cluster, choosePort(cluster, attempt++), pid);
      } else if (hasEnded(started)) {
        const output = await readOutput(cluster, started);
        retryUntil ??= performance.now() + RETRY_LIMIT_MS;
        const isLocked = started.process.exitCode === LOCKED_EXIT_CODE;
        const isTemporary = isLocked || TEMPORARY.some((sign) => output.includes(sign));
        if (!isTemporary || performance.now() >= retryUntil)
          throw new Error(isLocked ? LOCKED : output || 'postgres exited without output');
        started = undefined;
        await sleep(RETRY_PAUSE_MS);
      }
    }
    throw new Error(`not ready after ${READY_LIMIT_MS / 1000} s, see ${cluster.logFile}`);
  } catch (error) {
    started?.process.kill('SIGINT');
    throw error;
  }
}

/**
 * Creates a function that restarts a server which has just died on its known port. If the server ends again, it says why, and makes
 * longer and longer pauses.
 */
function createReviver(cluster: Cluster, port: number, log: Log): () => Promise<Started | undefined> {
  let started: Started | undefined;
  let pauseMs = RETRY_PAUSE_MS;
  let pauseUntil = 0;
  return async () => {
    const { isAlive, pid } = await readServer(cluster);
    if (isAlive || (started && !hasEnded(started)) || performance.now() < pauseUntil) return started;
    // Before the start, which fails by itself if the directory is away.
    pauseUntil = performance.now() + pauseMs;
    pauseMs = Math.min(pauseMs * 2, RESTART_PAUSE_LIMIT_MS);
    const lastFault = started && readComplaint(await readOutput(cluster, started));
    started = await startServer(cluster, port, pid);
    log.warn(
      { pid: started.process.pid, port, lastFault },
      lastFault
        ? 'the embedded Postgres ended again; restarting it'
        : 'the embedded Postgres was not running; restarting it',
    );
    return started;
  };
}

/** A user of the server: a connection that holds the users' lock shared, so that the count survives any crash. */
interface Reference {
  sql: postgres.Sql;
  /**
   * Returns true if there is no other user. From then on, nobody can become one. May be called again if it fails. Returns null if the
   * server says nothing for five seconds.
   */
  release(): Promise<boolean | null>;
  /** The server that this user has started again last. It may not have got as far as its lock file. */
  readonly revived: Started | undefined;
}

/**
 * Registers a user. Returns undefined while the server takes none, because it is starting or its last user is stopping
 * it.
 */
async function acquire(cluster: Cluster, port: number, log: Log): Promise<Reference | undefined> {
  const { password, directory } = cluster;
  let isHeld = false;
  let isReleased = false;
  let revived: Started | undefined;
  let regaining = Promise.resolve();
  const sql = postgres({
    ...{ host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres', ssl: false },
    ...{ max: 1, idle_timeout: 0, max_lifetime: null, connect_timeout: 5, backoff: () => 0, fetch_types: false },
    connection: { application_name: 'embedded-reference' },
    onclose: () => {
      if (isHeld) regaining = regain();
    },
    onnotice() {},
  });
  const take = async () => {
    const [row] = await sql`select pg_try_advisory_lock_shared(${USERS_LOCK}) as held`;
    isHeld = row?.held;
    return isHeld;
  };
  // If one backend crashes, Postgres restarts all of them and every user loses its lock. If Postgres itself is killed,
  // only its users can restart it.
  async function regain() {
    isHeld = false;
    log.warn({ directory }, 'lost the connection to the embedded Postgres');
    const revive = createReviver(cluster, port, log);
    while (!isReleased && !(await take().catch(() => false)) && !isReleased) {
      revived = await revive().catch((error: Error) => {
        log.warn({ error: error.message }, 'could not restart the embedded Postgres');
        return revived;
      });
      await sleep(RETRY_PAUSE_MS);
    }
  }
  const release = async () => {
    isHeld = false;
    isReleased = true;
    await regaining;
    // Release first. If two users left at once while holding the lock, each would think the other stays.
    const unlocking = sql`select pg_advisory_unlock_all()`;
    const locking = unlocking.then(
      () => sql<{ alone: boolean }[]>`select pg_try_advisory_lock(${USERS_LOCK}) as alone`,
    );
    return Promise.race([locking.then(([row]) => row!.alone), sleep(LEAVE_LIMIT_MS, null, { ref: false })]);
  };
  try {
    if (await take())
      return {
        sql,
        release,
        get revived() {
          return revived;
        },
      };
  } catch (error) {
    const { code = '' } = error as { code?: string };
    // Class 57P means starting up or shutting down. The others mean that the connection was refused, reset, closed or
    // timed out.
    if (!/^(57P|ECONN|EPIPE|CONNECT)/.test(code)) throw error;
  }
  await sql.end({ timeout: 0 });
}

async function leaveServer(cluster: Cluster, reference: Reference, log: Log): Promise<void> {
  try {
    if (await isLastUser(cluster, reference, log)) await stopServer(cluster, reference.revived, log);
  } catch (error) {
    log.warn({ error: readComplaint((error as Error).message) }, 'could not stop the embedded Postgres');
  } finally {
    await reference.sql.end({ timeout: 0 });
  }
}

/**
 * Waits for a server that is being started again. Of one that does not come up, users that are left start another. One that says
 * nothing at all may have other users, so it is left running.
 */
async function isLastUser(cluster: Cluster, reference: Reference, log: Log): Promise<boolean> {
  for (const until = performance.now() + LEAVE_LIMIT_MS; ; await sleep(RETRY_PAUSE_MS)) {
    try {
      const isAlone = await reference.release();
      if (isAlone === null)
        log.warn({ logFile: cluster.logFile }, 'the embedded Postgres does not answer; it is left running');
      return isAlone ?? false;
    } catch {
      if (performance.now() >= until || !(await findPostmaster(cluster, reference.revived))) return true;
    }
  }
}

/** Finds the process of the server, also of one that has yet to write its lock file. */
async function findPostmaster(cluster: Cluster, started: Started | undefined): Promise<number | undefined> {
  const { pid, isAlive } = await readServer(cluster);
  if (isAlive) return pid;
  return started && !hasEnded(started) ? started.process.pid : undefined;
}

async function stopServer(cluster: Cluster, revived: Started | undefined, log: Log): Promise<void> {
  const pid = await findPostmaster(cluster, revived);
  if (pid === undefined) return;
  for (const { signal, limitMs } of STOP_SIGNALS) {
    try {
      kill(pid, signal);
    } catch {} // it has just ended, or we may not signal it; the loop below finds out
    for (const until = performance.now() + limitMs; performance.now() < until; await sleep(POLL_MS)) {
      if (await isPostmaster(pid, cluster.directory)) continue;
      log.info({ pid, signal }, 'embedded Postgres stopped');
      return;
    }
  }
  throw new Error(`postgres (pid ${pid}) does not exit`);
}

async function createDatabase(sql: postgres.Sql): Promise<void> {
  await sql`select pg_advisory_lock(${CREATION_LOCK})`;
  const [existing] = await sql`select from pg_database where datname = 'app'`;
  if (!existing) await sql`create database app`;
  await sql`select pg_advisory_unlock(${CREATION_LOCK})`;
}
