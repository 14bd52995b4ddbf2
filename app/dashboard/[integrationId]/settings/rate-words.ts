import type { ErrorRate } from '../../../../contract/error-rates';
import { showCount } from '../../components/count';

/** Says an interval in whole parts of so many, rounded outwards: `2 to 9`, `at most 1`. */
export function showRange({ low, high }: ErrorRate, per: number): string {
  const [least, most] = [Math.floor(low * per), Math.ceil(high * per)];
  return least === 0 ? `at most ${showCount(most)}` : `${showCount(least)} to ${showCount(most)}`;
}

/** Counts something in words: `1 session`, `12 sessions`. */
export const countWords = (count: number, one: string, many = `${one}s`) =>
  `${showCount(count)} ${count === 1 ? one : many}`;
