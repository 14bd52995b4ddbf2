import { expect, it } from 'vitest';
import { showRange } from '../../app/dashboard/[integrationId]/settings/rate-words';
import { showRateParts } from '../../app/dashboard/charts/rate-curve';
import { showPercent } from '../../app/dashboard/components/count';

it('a share is 0% only if it is nothing, and 100% only if it is all', () => {
  expect([0, 0.001, 0.01, 0.5, 0.99, 0.996, 1].map(showPercent)).toEqual([
    ...['0%', '<1%', '1%', '50%', '99%', '>99%', '100%'],
  ]);
});

it('an interval in the table of a rate is no narrower than the one in the sentence', () => {
  const rates = [
    { low: 0.916, estimate: 0.95, high: 0.9841, of: 100 },
    { low: 0.9996, estimate: 1, high: 1, of: 9_000 },
    { low: 0, estimate: 0, high: 0.000401, of: 9_000 },
    { low: 0.0567, estimate: 0.07, high: 0.09941, of: 40 },
  ];
  expect(rates.map((rate) => showRateParts(rate, 100))).toEqual([
    ['91', '95', '99'],
    ['99', '100', '100'],
    ['0', '0', '0.1'],
    ['5.6', '7.0', '10.0'],
  ]);
  expect(rates.map((rate) => showRange(rate, 100))).toEqual(['91 to 99', '99 to 100', 'at most 1', '5 to 10']);
});
