import type { Database } from '../../db/client';

/** Forgets rate-limit windows that ended over five minutes ago. Answers how many. */
export async function pruneRateWindows(db: Database): Promise<number> {
  const { count } = await db.sql`delete from rate_windows where window_start < now() - interval '5 minutes'`;
  return count;
}
