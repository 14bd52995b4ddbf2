import type { Finding } from '../../../../contract/evidence';
import { writeShare } from '../../components/count';
import { countOf } from '../../components/list-total';

/** Rules say some of their limits as shares of one. */
const SHARE = /\b[01]\.\d\b(?= of )/g;
const DIGITS = 3;

const showNumber = (value: number) => String(Number(value.toPrecision(DIGITS)));
const showShare = (share: number) => writeShare(share, DIGITS);
const shareOf = (things: string) => (measured: number) => `${showShare(measured)} of ${things}`;
const unit = (name: string) => (measured: number) => `${showNumber(measured)} ${name}`;
const counted = (one: string, many: string) => (measured: number) => countOf(measured, [one, many]);
const medianMs = (measured: number) => `a median of ${showNumber(measured)} ms`;

/** The numbers of our rules in words: a share of something, or a number of something. */
const WORDS = new Map<string, (measured: number) => string>([
  ['devtools-protocol', counted('read', 'reads')],
  ['untrusted-events', shareOf('the actions')],
  ['zero-pressure', shareOf('the presses')],
  ['fractional-coordinates', shareOf('the presses')],
  ['movement-mismatch', shareOf('the moves')],
  ['capital-without-shift', shareOf('the capitals')],
  ['no-approach', shareOf('the presses')],
  ['exact-centre', shareOf('the presses')],
  ['instant-press', medianMs],
  ['uncoalesced-moves', unit('at once')],
  ['instant-keys', medianMs],
  ['uniform-typing', (measured) => `a variation of ${showNumber(measured)}`],
  ['text-without-keys', shareOf('the text')],
  ['focus-without-cause', shareOf('the fields')],
  ['page-jumps', shareOf('the jumps')],
  ['act-think', shareOf('the pauses')],
  ['telemetry-gap', counted('batch or event', 'batches and events')],
  ['clock-inconsistent', unit('ms')],
  ['insufficient-evidence', counted('action', 'actions')],
  ['off-grid-times', counted('fraction', 'fractions')],
]);

/** Describes what a rule measured, with its unit if we know the rule. */
export function describeMeasured({ flag, measured }: Pick<Finding, 'flag'> & { measured: number | string }): string {
  if (typeof measured === 'string') return measured;
  return (WORDS.get(flag) ?? showNumber)(measured);
}

/** Describes the usual range in the same notation. */
export const describeUsual = ({ flag, expected }: Pick<Finding, 'flag'> & { expected: string }): string =>
  WORDS.has(flag) ? expected.replace(SHARE, (share) => showShare(Number(share))) : expected;
