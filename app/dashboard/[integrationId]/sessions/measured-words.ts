import type { Finding } from '../../../../contract/evidence';

/** What numbers of our rules are: a share of something, or a number of something. */
const UNITS = new Map<string, { shareOf: string } | { unit: string }>([
  ['devtools-protocol', { unit: 'reads' }],
  ['untrusted-events', { shareOf: 'the deeds' }],
  ['zero-pressure', { shareOf: 'the presses' }],
  ['fractional-coordinates', { shareOf: 'the presses' }],
  ['movement-mismatch', { shareOf: 'the moves' }],
  ['capital-without-shift', { shareOf: 'the capitals' }],
  ['no-approach', { shareOf: 'the presses' }],
  ['exact-centre', { shareOf: 'the presses' }],
  ['instant-press', { unit: 'ms' }],
  ['uncoalesced-moves', { unit: 'at once' }],
  ['instant-keys', { unit: 'ms' }],
  ['uniform-typing', { unit: 'variation' }],
  ['text-without-keys', { shareOf: 'the text' }],
  ['focus-without-cause', { shareOf: 'the fields' }],
  ['page-jumps', { shareOf: 'the jumps' }],
  ['act-think', { shareOf: 'the pauses' }],
  ['telemetry-gap', { unit: 'batches and events' }],
  ['clock-inconsistent', { unit: 'ms' }],
  ['insufficient-evidence', { unit: 'deeds' }],
  ['off-grid-times', { unit: 'fractions' }],
]);

/** Rules say some of their limits as shares of one. */
const SHARE = /\b[01]\.\d\b(?= of )/g;
const DIGITS = 3;

const showNumber = (value: number) => String(Number(value.toPrecision(DIGITS)));
const showShare = (share: number) => `${showNumber(share * 100)} %`;

/** Describes what a rule measured, with its unit if we know the rule. */
export function describeMeasured({ flag, measured }: Pick<Finding, 'flag'> & { measured: number | string }): string {
  if (typeof measured === 'string') return measured;
  const unit = UNITS.get(flag);
  if (!unit) return showNumber(measured);
  return 'shareOf' in unit ? `${showShare(measured)} of ${unit.shareOf}` : `${showNumber(measured)} ${unit.unit}`;
}

/** Describes the usual range in the same notation. */
export const describeUsual = ({ flag, expected }: Pick<Finding, 'flag'> & { expected: string }): string =>
  UNITS.has(flag) ? expected.replace(SHARE, (share) => showShare(Number(share))) : expected;
