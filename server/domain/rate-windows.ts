import type { Database } from '../../db/client';

/** Removes rate-limit windows that began over five minutes ago. Returns how many. */
export async function pruneRateWindows(db: Database): Promise<number> {
  const { count } = await db.sql.unsafe("delete from rate_windows where window_start < now() - interval '5 minutes'");
  return count;
}
