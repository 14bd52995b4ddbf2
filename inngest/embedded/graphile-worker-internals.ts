import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres';
import { arrayOf } from './array-literal';
import { QUEUE_SCHEMA } from './schema';

// Everything that uses internals of graphile-worker 0.16: its private tables and its notifications.
// `tests/domain/library-internals.test.ts` fails if an upgrade changes one of them.

/**
 * Writes the query for the times at which the next `limit` jobs are due. Reads `_private_jobs`, because the public view hides
 * the indexed column: with 50,000 jobs, the query would take 15 ms instead of 0.03.
 */
export const selectDueTimes = (sql: Sql, limit: number): PendingQuery<Row[]> => sql`
  select run_at from ${sql(QUEUE_SCHEMA)}._private_jobs where is_available and priority = 0 order by run_at limit ${limit}`;

/**
 * Unlocks jobs that nobody works on: those of `deadWorkers`, and those of `ownWorkers` that are not among `ownJobs` and were
 * locked over ten seconds ago. Returns how many. Writes `_private_jobs`, because the public `force_unlock_workers` unlocks all
 * jobs of a worker, including the one that it works on.
 */
export async function unlockLostJobs(
  sql: Sql,
  workers: { deadWorkers: string[]; ownWorkers: string[]; ownJobs: string[] },
): Promise<number> {
  const unlocked = await sql`
    update ${sql(QUEUE_SCHEMA)}._private_jobs set locked_at = null, locked_by = null
    where locked_by = any(${arrayOf(workers.deadWorkers)}::text::text[])
      or (locked_by = any(${arrayOf(workers.ownWorkers)}::text::text[])
        and id <> all(${arrayOf(workers.ownJobs)}::text::bigint[])
        and locked_at < now() - interval '10 seconds')`;
  return unlocked.count;
}

/**
 * Wakes idle workers of all processes. Sends the same notification as `add_jobs`, because `force_unlock_workers` sends none
 * and its jobs would wait for the next poll.
 */
export async function announceJobs(sql: Sql, count: number): Promise<void> {
  await sql`select pg_notify('jobs:insert', ${JSON.stringify({ count })})`;
}

/**
 * Resets the sequence of task ids to the last id in use. Changes the sequence of `_private_tasks`, because `add_jobs` uses up
 * one of its 32-bit numbers for every job, although there is only one task, and fails when none is left.
 */
export async function resetTaskSequence(sql: Sql | TransactionSql): Promise<void> {
  await sql`select setval(pg_get_serial_sequence(${`${QUEUE_SCHEMA}._private_tasks`}, 'id'),
    (select coalesce(max(id), 1) from ${sql(QUEUE_SCHEMA)}._private_tasks))`;
}
