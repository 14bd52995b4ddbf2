import { showScore } from '../../../../components/score-bar';

/** Writes an instant in UTC, to the second or, where it has them, to the millisecond. */
export const showUtcInstant = (at: string): string => `${at.replace('T', ' ').replace(/(\.000)?Z$/, '')} UTC`;

/** Writes moments with each day once: `2026-01-31 at 09:30:12, 09:30:14.250 UTC`. */
export function showMoments(moments: readonly string[]): string {
  const days = new Map<string, string[]>();
  for (const moment of moments) {
    const [day = '', time = ''] = showUtcInstant(moment).replace(/ UTC$/, '').split(' ');
    days.set(day, [...(days.get(day) ?? []), time]);
  }
  return [...days].map(([day, times]) => `${day} at ${times.join(', ')} UTC`).join('; ');
}

/** A score on the dashboard's scale, and as the API says it. */
export const showBothScores = (score: number): string => `${showScore(score)} of 100 (${score} in the API)`;

/** Writes a name of the contract as words: `notMeasured` as `Not measured`, `AssistiveTechnology` as `Assistive technology`. */
export function showName(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value of metadata, of any kind, as one line. */
export const showPlain = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
