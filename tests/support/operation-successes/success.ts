import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Fixture } from '../fixture';
import type { Answer } from '../server';

/** A call of an operation that succeeds, for a fixture's own ids unless the query or the body says more. */
export interface Success {
  status: 200 | 204;
  query?: string;
  body?: (fixture: Fixture) => unknown;
  /** Checks real values: those of the answer, and what the call has changed. */
  check(answer: Answer, fixture: Fixture): void | Promise<void>;
}

export const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const URL_OF_COURSE = 'https://lms.example.edu/courses/42';
export const courseId = (url: string) => createHash('sha256').update(url).digest('hex').slice(0, 16);
export const sumOf = <T>(items: T[], read: (item: T) => number) => items.reduce((sum, item) => sum + read(item), 0);

export function expectRecent(instant: string) {
  expect(instant).toEqual(INSTANT);
  expect(Math.abs(Date.parse(instant) - Date.now())).toBeLessThan(60_000);
}
