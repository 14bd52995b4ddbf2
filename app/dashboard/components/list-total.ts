import type { Total } from '../../../contract/totals';
import { showCount } from './count';

/** What one row of a list is called, and several. */
export type Noun = readonly [one: string, many: string];

interface Progress {
  shown: number;
  hasMore: boolean;
  total?: Total | undefined;
}

const ROWS: Noun = ['row', 'rows'];

/** Writes a count with its noun: `1 session`, `1,204 users`. */
export const countOf = (count: number, [one, many]: Noun) => `${showCount(count)} ${count === 1 ? one : many}`;

/** Says how many rows a list has: `12 sessions`, or `more than 1,000 sessions` where nobody has counted them. */
export function showTotal({ shown, hasMore, total }: Progress, noun: Noun = ROWS): string {
  if (!hasMore) return countOf(shown, noun);
  // A count may be a moment older than the list.
  const count = Math.max(shown, total?.count ?? 0);
  return total?.isExact && total.count > shown ? countOf(total.count, noun) : `more than ${countOf(count, noun)}`;
}

/** Says how far a list is loaded: `50 of 1,204 users`. */
export function showProgress(progress: Progress, noun: Noun = ROWS): string {
  const all = showTotal(progress, noun);
  return progress.hasMore ? `${showCount(progress.shown)} of ${all}` : all;
}
