import type { Database } from '../../db/client';
import { foldIncidents } from '../../server/domain/minute-counts';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { foldOutcomes } from '../../server/domain/usage';

/** The tables that sessions are counted in. */
export const COUNT_TABLES = [
  ...['session_rollups', 'dimension_rollups', 'entity_rollups', 'entity_pairs', 'entity_others'],
  ...['seen_hours', 'seen_steps', 'minute_counts'],
];

/**
 * Reads what a row of counts means: a tally ends where its zeros begin. Null if the row counts nothing, because a value
 * that sessions had only for a while stays as zero.
 */
export function readCounts(row: Record<string, unknown>): Record<string, unknown> | null {
  const trim = (value: unknown) =>
    Array.isArray(value) ? value.slice(0, value.findLastIndex((count) => count !== 0) + 1) : value;
  const counts = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, trim(value)]));
  const { bin: _, ...values } = counts;
  const isZero = Object.values(values).every((value) =>
    Array.isArray(value) ? value.length === 0 : typeof value !== 'number' || value === 0,
  );
  return isZero ? null : counts;
}

/** Folds until nothing is pending. A comparison of rows must not meet the minute's fold between its two readings. */
export async function foldCounts(db: Database): Promise<void> {
  for (;;) {
    const [left] = await db.sql<{ isAny: boolean }[]>`
      select exists (select from session_deltas) or exists (select from row_counts where entry > 0)
             or exists (select from incident_counts where entry > 0)
             or exists (select from outcome_counts where entry > 0) as "isAny"`;
    if (!left!.isAny) return;
    // Another process may fold at the same time, so look again.
    await foldSessionDeltas(db);
    await foldIncidents(db);
    await foldOutcomes(db);
  }
}
