import { PLANS } from '../../contract/tiers';
import { type Database, isTimeout, type Query } from '../../db/client';
import { BATCH_SIZE, removeBatches } from '../domain/retention';

const PARTITIONED = ['session_batches', 'session_traces'];
/** Partitions are made for today and this many days. */
const DAYS_AHEAD = 3;
const DAY_MS = 86_400_000;
/** Postgres: rows of the day are already in the default partition. */
const CHECK_VIOLATION = '23514';
/** Making or dropping a partition locks the table for a moment. If that takes longer, as while a backup reads, a later run does it. */
const LOCK_LIMIT_MS = 2_000;

const writeDay = (dayMs: number) => new Date(dayMs).toISOString().slice(0, 10);
const nameOf = (table: string, day: string) => `${table}_${day.replaceAll('-', '')}`;

/** Reads the time of the database, which dates all rows. The clock of a process may be wrong, and what is dropped does not come back. */
async function readNow(db: Database): Promise<number> {
  const [row] = await db.query<{ now: string }>('select now()', []);
  return Date.parse(row!.now);
}

/** Makes the partitions of today and the next days. Returns how many it made. */
export async function createPartitions(db: Database, givenMs?: number): Promise<number> {
  const nowMs = givenMs ?? (await readNow(db));
  let made = 0;
  const names = new Set((await listPartitions(db)).map(({ name }) => name));
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    const [from, to] = [nowMs + ahead * DAY_MS, nowMs + (ahead + 1) * DAY_MS].map(writeDay) as [string, string];
    for (const table of PARTITIONED) {
      if (names.has(nameOf(table, from))) continue;
      const statement = `create table if not exists ${nameOf(table, from)} partition of ${table} for values from ('${from}') to ('${to}')`;
      try {
        await changePartitions(db, statement);
        made++;
      } catch (error) {
        // The day began before its partition was made. Its rows stay in the default partition and are removed from there.
        if ((error as { code?: unknown }).code !== CHECK_VIOLATION) throw error;
      }
    }
  }
  return made;
}

/**
 * Drops the partitions of days that are older than `traceDays`, and removes older rows of the default partitions. Also removes
 * traces that are older than the retention of their integration's plan, and what is known of the sessions of all of them, however
 * many they are. Returns how many sessions it forgot.
 */
export async function pruneTraces(db: Database, traceDays: number, givenMs?: number): Promise<number> {
  const nowMs = givenMs ?? (await readNow(db));
  const firstDay = writeDay(nowMs - traceDays * DAY_MS);
  for (const { name, table } of await listPartitions(db)) {
    if (name >= nameOf(table, firstDay) || name === `${table}_default`) continue;
    await changePartitions(db, `drop table if exists ${name}`).catch((error: unknown) => {
      if (!isTimeout(error)) throw error;
    });
  }
  let pruned = 0;
  for (const [plan, { retentionDays }] of Object.entries(PLANS)) {
    const keptFrom = writeDay(nowMs - Math.min(traceDays, retentionDays) * DAY_MS);
    const find = (query: Query) => query<{ id: string }>(FIND_OLD, [plan, keptFrom]);
    for (const { id } of await db.transact(find, { isLong: true }))
      pruned += await removeBatches(db, PRUNE, [id, keptFrom]);
  }
  return pruned;
}

function changePartitions(db: Database, statement: string): Promise<unknown> {
  return db.transact(
    async (query) => {
      await query(`set local lock_timeout = ${LOCK_LIMIT_MS}`, []);
      // Processes that start at the same time do this one after the other.
      await query("select pg_advisory_xact_lock(hashtext('trace partitions'))", []);
      await query(statement, []);
    },
    { isLong: true },
  );
}

const listPartitions = (db: Database) =>
  db.query<{ name: string; table: string }>(
    `select c.relname as name, p.relname as table from pg_inherits h
       join pg_class c on c.oid = h.inhrelid join pg_class p on p.oid = h.inhparent
      where p.relname in ('session_batches', 'session_traces') and c.relkind = 'r' order by 1`,
    [],
  );

/** Along the index on the day. All others, perhaps thousands, have nothing to remove. */
const FIND_OLD = `
  select distinct c.integration_id as id from collected_sessions c join integrations i on i.id = c.integration_id
   where i.plan = $1 and c.day < $2::date order by 1`;

const PRUNE = `
  with old as (
    select integration_id, key, day from collected_sessions
     where integration_id = $1 and day < $2::date order by key limit ${BATCH_SIZE} for update skip locked),
  batches as (delete from session_batches b using old where b.day = old.day and b.session_key = old.key),
  traces as (delete from session_traces t using old where t.day = old.day and t.session_key = old.key)
  delete from collected_sessions c using old where c.integration_id = old.integration_id and c.key = old.key
  returning 1`;
