import type { ErrorRate, SampleRates } from '../../../../contract/error-rates';
import { showCount } from '../../components/count';

/** Says an interval in whole parts of so many, rounded outwards: `2 to 9`, `at most 1`. */
export function showRange({ low, high }: ErrorRate, per: number): string {
  const [least, most] = [Math.floor(low * per), Math.ceil(high * per)];
  return least === 0 ? `at most ${showCount(most)}` : `${showCount(least)} to ${showCount(most)}`;
}

/** Counts something in words: `1 session`, `12 sessions`. */
export const countWords = (count: number, one: string, many = `${one}s`) =>
  `${showCount(count)} ${count === 1 ? one : many}`;

/** Says what is special about the verdicts of the sample, in sentences. */
export function noteSample({ skipped, unblinded, setAside }: SampleRates): string {
  const notes = [
    skipped > 0 &&
      `${countWords(skipped, 'session without a verdict counts', 'sessions without a verdict count')} as whatever widens the interval.`,
    unblinded > 0 && `${countWords(unblinded, 'label was', 'labels were')} given elsewhere, with the score in sight.`,
    setAside > 0 &&
      `${countWords(setAside, 'verdict is', 'verdicts are')} set aside, so that each day counts as much as it has sessions.`,
  ];
  return notes.filter(Boolean).join(' ');
}
