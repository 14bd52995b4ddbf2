import { expect, it } from 'vitest';
import { showPercent } from '../../app/dashboard/components/count';

it('a share is 0% only if it is nothing, and 100% only if it is all', () => {
  expect([0, 0.001, 0.01, 0.5, 0.99, 0.996, 1].map(showPercent)).toEqual([
    ...['0%', '<1%', '1%', '50%', '99%', '>99%', '100%'],
  ]);
});
