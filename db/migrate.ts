import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import { isLockFailure } from './errors';
import { advanceEventPositions } from './event-positions';
import { openSocket } from './postgres-internals';
import { LIFT_TRANSACTION_LIMIT, SESSION_SETTINGS } from './session-settings';

/** The community maintains no earlier one (docs/operating.md). */
const OLDEST_POSTGRES = 15;
const LOCK_KEY = 7_201_001;
/**
 * While a migration waits for its lock on a table, every later statement on the table waits behind it: in a rolling upgrade, those of the
 * old processes. A backup may keep it waiting for hours.
 */
const LOCK_LIMIT = "set lock_timeout = '2s'";
const RETRY_PAUSE_MS = 3_000;

interface Log {
  warn(fields: object, message: string): void;
}

interface Journal {
  entries: { tag: string }[];
}

/** An invalid setting: the database belongs to another region. */
export class RegionMismatchError extends Error {}

/** The database cannot hold what the product stores: its encoding, or its version of Postgres. */
export class UnsuitableDatabaseError extends Error {}

/** Postgres gives this address no session: it is wrong in some part, or nobody answers. */
export class NoSessionError extends Error {}

/**
 * Applies the missing migrations under an advisory lock: if several processes start together, one migrates and the others wait.
 * Writes the region into a new database, and refuses an unsuitable one and one of another region, which stay as they are. Lets positions of
 * events go on after a restore. Returns the names of the applied migrations. `url` must reach Postgres itself, not a transaction
 * pooler. An aborted `signal` ends what may last for hours: the wait for another process, or for the locks of others. It rejects
 * with its reason.
 */
export async function migrateDatabase(options: {
  url: string;
  directory: string;
  region: string;
  log?: Log;
  signal?: AbortSignal;
}): Promise<string[]> {
  const { signal } = options;
  const journal = JSON.parse(await readFile(join(options.directory, 'meta/_journal.json'), 'utf8')) as Journal;
  const socket = openSocket(options.url, new Set());
  const sql = postgres(options.url, {
    ...(socket ? { socket } : {}),
    ...{ max: 1, onnotice: () => {}, connect_timeout: 10 },
    // The connection holds the lock of migrations and the limit of locks. After half an hour, postgres.js would open another one.
    max_lifetime: null,
    connection: SESSION_SETTINGS,
  });
  try {
    await takeLock(sql, signal);
    await assertSuitable(sql);
    const before = await countApplied(sql);
    const region = before === 0 ? null : await readRegion(sql);
    if (region !== null && region !== options.region)
      throw new RegionMismatchError(`REGION: is ${options.region}, but this database belongs to region ${region}`);
    await applyMissing(sql, options);
    if (region === null) await sql`insert into meta (region) values (${options.region})`;
    if (!(await advanceEventPositions(sql)))
      options.log?.warn(
        {},
        'positions of events were not moved, because another transaction keeps domain_events (docs/operating.md)',
      );
    return journal.entries.slice(before).map((entry) => entry.tag);
  } finally {
    await sql.end({ timeout: signal?.aborted ? 0 : 5 });
  }
}

/** An aborted signal ends the wait for another process, and nothing if there is none. */
async function takeLock(sql: postgres.Sql, signal?: AbortSignal): Promise<void> {
  const [tried] = await sql<{ isTaken: boolean }[]>`select pg_try_advisory_lock(${LOCK_KEY}) as "isTaken"`.catch(
    (cause: Error) => {
      throw new NoSessionError(cause.message || 'no answer', { cause });
    },
  );
  await sql.unsafe(LIFT_TRANSACTION_LIMIT);
  if (tried!.isTaken) return;
  await awaitUnlessAborted(sql`select pg_advisory_lock(${LOCK_KEY})`, signal);
}

/** Waits for what may take long. If `signal` is aborted meanwhile, rejects with its reason. */
export function awaitUnlessAborted<Result>(work: PromiseLike<Result>, signal?: AbortSignal): Promise<Result> {
  const aborted = new Promise<never>((_resolve, reject) => {
    const end = () => reject(signal?.reason);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
  return Promise.race([work, aborted]);
}

/** Applies all or nothing, and tries again while transactions of others have locks that a migration needs. */
async function applyMissing(
  sql: postgres.Sql,
  { directory, log, signal }: { directory: string; log?: Log; signal?: AbortSignal },
): Promise<void> {
  await sql.unsafe(LOCK_LIMIT);
  for (let isApplied = false; !isApplied; ) {
    try {
      await migrate(drizzle(sql), { migrationsFolder: directory });
      isApplied = true;
    } catch (error) {
      if (!isLockFailure(error)) throw error;
      log?.warn({ err: error }, 'another transaction keeps a table that a migration needs; trying again');
      await sleep(RETRY_PAUSE_MS, undefined, { signal }).catch(() => {});
      signal?.throwIfAborted();
    }
  }
  await sql`reset lock_timeout`;
}

async function assertSuitable(sql: postgres.Sql): Promise<void> {
  const [settings] = await sql<{ encoding: string; version: string }[]>`
    select current_setting('server_encoding') as encoding, current_setting('server_version') as version`;
  const { encoding, version } = settings!;
  if (Number.parseInt(version, 10) < OLDEST_POSTGRES)
    throw new UnsuitableDatabaseError(`is Postgres ${version}, but needs ${OLDEST_POSTGRES} or later`);
  if (encoding !== 'UTF8') throw new UnsuitableDatabaseError(`has the encoding ${encoding}, but needs UTF8`);
}

async function countApplied(sql: postgres.Sql): Promise<number> {
  const [found] = await sql<{ table: string | null }[]>`select to_regclass('drizzle.__drizzle_migrations') as table`;
  if (!found?.table) return 0;
  const [counted] = await sql<{ n: number }[]>`select count(*)::int as n from drizzle.__drizzle_migrations`;
  return counted!.n;
}

/** Null if the first start ended before it wrote one. */
async function readRegion(sql: postgres.Sql): Promise<string | null> {
  const [meta] = await sql<{ region: string }[]>`select region from meta`;
  return meta?.region ?? null;
}
