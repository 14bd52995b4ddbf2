import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres';
import { arrayOf } from './array-literal';
import { QUEUE_SCHEMA } from './schema';

// Everything that reaches into the inside of graphile-worker 0.16: its private tables and its notifications.
// `tests/domain/library-internals.test.ts` fails when an upgrade moves what stands here.

/**
 * Writes the query for the times at which the next `limit` jobs are due. Reads `_private_jobs`: the public view hides the
 * column of the index, and among 50,000 jobs each look would take 15 ms instead of 0.03.
 */
export const selectDueTimes = (sql: Sql, limit: number): PendingQuery<Row[]> => sql`
  select run_at from ${sql(QUEUE_SCHEMA)}._private_jobs where is_available and priority = 0 order by run_at limit ${limit}`;

/**
 * Unlocks jobs that nobody works on: those of a worker that is not among `selectLiveWorkers`, and those of `ownWorkers` that are
 * not among `ownJobs` (given a few seconds to become known). Answers how many. Writes `_private_jobs`: the public
 * `force_unlock_workers` unlocks all jobs of a worker, also the one that it works on.
 */
export async function unlockLostJobs(
  sql: Sql,
  workers: { selectLiveWorkers: PendingQuery<Row[]>; ownWorkers: string[]; ownJobs: string[] },
): Promise<number> {
  const unlocked = await sql`
    with live (worker_id) as (${workers.selectLiveWorkers})
    update ${sql(QUEUE_SCHEMA)}._private_jobs set locked_at = null, locked_by = null
    where locked_by is not null and (
      locked_by not in (select worker_id from live)
      or (locked_by = any(${arrayOf(workers.ownWorkers)}::text::text[])
        and id <> all(${arrayOf(workers.ownJobs)}::text::bigint[])
        and locked_at < now() - interval '10 seconds'))`;
  return unlocked.count;
}

/**
 * Lets idle workers of all processes look for jobs. Sends the notification of `add_jobs`: `force_unlock_workers` sends none, and
 * its jobs would wait for the next look.
 */
export async function announceJobs(sql: Sql, count: number): Promise<void> {
  await sql`select pg_notify('jobs:insert', ${JSON.stringify({ count })})`;
}

/**
 * Sets the sequence of task ids back to the last id in use. Changes the sequence of `_private_tasks`: `add_jobs` takes a number
 * of its 32 bits for every job, although there is only one task, and fails when none is left.
 */
export async function resetTaskSequence(sql: Sql | TransactionSql): Promise<void> {
  await sql`select setval(pg_get_serial_sequence(${`${QUEUE_SCHEMA}._private_tasks`}, 'id'),
    (select coalesce(max(id), 1) from ${sql(QUEUE_SCHEMA)}._private_tasks))`;
}
