import type { Database } from './client';

/** After these numbers of writes, a process looks whether the statistics of what it writes are older. */
const LOOK_AFTER = [100, 1_000, 10_000];

/** Finds the tables that had fewer rows when their statistics were made. */
const FIND_GROWN = `
  select name from json_array_elements_text($1::text::json) name join pg_class c on c.oid = to_regclass(name)
   where c.reltuples < $2::int`;

/**
 * Creates a function that counts writes to the given tables. When the process has written more than a table had rows when its statistics
 * were made, it updates them, without being waited for. Postgres keeps the plan of a prepared statement until then, and one that was made
 * for an almost empty table reads all of the table for each row that it looks up.
 */
export function createStatisticsUpdater(
  db: Database,
  tables: readonly string[],
  log: { warn(fields: object, message: string): void },
): (writes: number) => void {
  const warn = (error: unknown) => log.warn({ err: error }, 'could not update the table statistics');
  let count = 0;

  const updateStatistics = (rows: number) =>
    db.transact(
      async (query) => {
        const grown = await query<{ name: string }>(FIND_GROWN, [JSON.stringify(tables), rows]);
        if (grown.length > 0) await query(`analyze ${grown.map(({ name }) => name).join(', ')}`, []);
      },
      { isLong: true },
    );

  return (writes) => {
    const before = count;
    count += writes;
    const reached = LOOK_AFTER.findLast((limit) => before < limit && count >= limit);
    if (reached !== undefined) updateStatistics(reached).catch(warn);
  };
}
