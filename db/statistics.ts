import type { Database } from './client';

/**
 * After these numbers of writes, a process updates the statistics of what it writes. Postgres keeps the plan of a prepared statement until
 * then, and one that was made for an almost empty table reads all of the table for each row that it looks up.
 */
const UPDATE_AFTER = [100, 1_000, 10_000];

/**
 * Creates a function that counts writes to the given tables, and now and then updates their statistics without being waited for. Errors
 * go to `onError`.
 */
export function createStatisticsUpdater(
  db: Database,
  tables: readonly string[],
  onError: (error: unknown) => void,
): (writes: number) => void {
  const statement = `analyze ${tables.join(', ')}`;
  let count = 0;
  return (writes) => {
    const before = count;
    count += writes;
    if (!UPDATE_AFTER.some((limit) => before < limit && count >= limit)) return;
    db.transact((query) => query(statement, []), { isLong: true }).catch(onError);
  };
}
