import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/client';

/**
 * Begins a test in a clock window of the database (a minute, a quarter of an hour) that lasts long enough for it. If
 * too little time is left, it waits for the next window. Windows begin so long after midnight in UTC.
 */
export async function beginWindow(
  { sql }: Pick<Database, 'sql'>,
  lengthMs: number,
  neededMs: number,
  afterMidnightMs = 0,
): Promise<void> {
  const [row] = await sql<{ ms: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  const leftMs = lengthMs - ((row!.ms - afterMidnightMs) % lengthMs);
  if (leftMs < neededMs) await sleep(leftMs + 50);
}
