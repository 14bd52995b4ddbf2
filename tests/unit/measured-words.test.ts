import { expect, it } from 'vitest';
import { describeMeasured, describeUsual } from '../../app/dashboard/[integrationId]/sessions/measured-words';
import { listVisits } from '../../server/demo/visits';
import { RULES } from '../../server/detection/rules/table';

it('a number that one of our rules measures has a unit', () => {
  const findings = listVisits().flatMap((visit) => visit.findings);
  const numbers = findings.flatMap(({ flag, measured }) => (typeof measured === 'number' ? [{ flag, measured }] : []));
  expect(new Set(numbers.map(({ flag }) => flag)).size).toBeGreaterThan(15);
  expect(numbers.filter((number) => /^\d+(\.\d+)?$/.test(describeMeasured(number))).map(({ flag }) => flag)).toEqual(
    [],
  );
});

it('a share is a percentage, in the usual range too', () => {
  expect(describeMeasured({ flag: 'exact-centre', measured: 2 / 3 })).toBe('66.7 % of the presses');
  expect(describeUsual({ flag: 'exact-centre', expected: 'below 0.6 of the presses' })).toBe(
    'below 60 % of the presses',
  );
  expect(describeUsual({ flag: 'uniform-typing', expected: 'a variation of 0.3 or more' })).toBe(
    'a variation of 0.3 or more',
  );
  const left = RULES.map(({ rule: { flag, expected } }) => describeUsual({ flag, expected }));
  expect(left.filter((text) => /0\.\d+ of /.test(text))).toEqual([]);
});

it('one of a thing is one, a count is exact, and nearly all is not all', () => {
  const describe = (flag: string, ...counts: number[]) =>
    counts.map((measured) => describeMeasured({ flag, measured }));
  expect(describe('insufficient-evidence', 0, 1, 2, 1_234)).toEqual([
    '0 actions',
    '1 action',
    '2 actions',
    '1,234 actions',
  ]);
  expect(describe('telemetry-gap', 1, 2)).toEqual(['1 batch or event', '2 batches and events']);
  expect(describe('exact-centre', 0.9994, 0.9996, 1)).toEqual(
    ['99.9 %', '>99 %', '100 %'].map((share) => `${share} of the presses`),
  );
});

it('what an unknown rule or text measured is shown as it is', () => {
  expect(describeMeasured({ flag: 'constructor', measured: 0.123456 })).toBe('0.123');
  expect(describeMeasured({ flag: 'headless', measured: 'Headless' })).toBe('Headless');
  expect(describeUsual({ flag: 'no-such-rule', expected: 'below 0.5 of the moon' })).toBe('below 0.5 of the moon');
});
