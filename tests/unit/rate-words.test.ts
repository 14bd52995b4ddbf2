import { expect, it } from 'vitest';
import { noteSample } from '../../app/dashboard/[integrationId]/settings/rate-words';
import type { SampleRates } from '../../contract/error-rates';

const SAMPLE: SampleRates = {
  ...{ days: 3, population: 900, humans: 40, bots: 9, waiting: 0, ratesByCut: [] },
  ...{ skipped: 0, unblinded: 0, setAside: 0 },
};

it('what is special about a sample is said of one and of several', () => {
  expect(noteSample(SAMPLE)).toBe('');
  expect(noteSample({ ...SAMPLE, skipped: 1, unblinded: 1, setAside: 1 })).toBe(
    '1 session without a verdict counts as whatever widens the interval. 1 label was given elsewhere, with the score in sight. ' +
      '1 verdict is set aside, so that each day counts as much as it has sessions.',
  );
  expect(noteSample({ ...SAMPLE, skipped: 1_200, unblinded: 2, setAside: 3 })).toBe(
    '1,200 sessions without a verdict count as whatever widens the interval. 2 labels were given elsewhere, with the score in ' +
      'sight. 3 verdicts are set aside, so that each day counts as much as it has sessions.',
  );
});
