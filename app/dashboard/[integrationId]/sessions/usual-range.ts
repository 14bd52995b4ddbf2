import type { Finding } from '../../../../contract/evidence';

/** A range of numbers, with its ends. */
export interface UsualRange {
  from: number;
  to: number;
}

const BELOW = /below (\d+(?:\.\d+)?)/;
const OR_MORE = /(\d{1,9}(?:\.\d{1,9})?)[^,\d]{0,40} or more/;
const OR_FEWER = /(\d{1,9}(?:\.\d{1,9})?)[^,\d]{0,40} or fewer/;
const NONE = /^0 /;

/** Reads the usual range of a finding from its words. Null if they name no numbers. */
export function readUsualRange(expected: string): UsualRange | null {
  const find = (pattern: RegExp) => pattern.exec(expected)?.[1];
  const [below, least, most] = [find(BELOW), find(OR_MORE), find(OR_FEWER)];
  if (below !== undefined) return { from: 0, to: Number(below) };
  if (least !== undefined) return { from: Number(least), to: Number.POSITIVE_INFINITY };
  if (most !== undefined) return { from: 0, to: Number(most) };
  return NONE.test(expected) ? { from: 0, to: 0 } : null;
}

/** Whether a number alone says what a rule found: it is outside of the range, or at its end, and inside if nothing was found. */
export function isDecided({ from, to }: UsualRange, state: Finding['state'], measured: number): boolean {
  return state === 'found' ? measured <= from || measured >= to : measured >= from && measured <= to;
}

/** How far beyond the usual range a scale goes, if what is measured does not go further. */
const BEYOND = 2;
const MIN_SCALE = 1;

/** Chooses where a scale ends that shows a range and what was measured: at one for shares of something. */
export function chooseScaleEnd({ from, to }: UsualRange, measured: number, isShare: boolean): number {
  if (isShare && measured <= 1) return 1;
  const bound = Number.isFinite(to) ? to : from;
  return Math.max(bound * BEYOND, measured, MIN_SCALE);
}
