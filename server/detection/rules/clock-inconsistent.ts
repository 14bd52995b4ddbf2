import { decide, NOT_MEASURED, type Rule } from './rule';

export const clockInconsistentRule: Rule = {
  ...{ flag: 'clock-inconsistent', group: 'context', expected: 'below 5000 ms' },
  sees: 'Clocks of a page that disagree by more than five seconds. Sleep and late batches are no disagreement.',
  needs: 'a session',
  plainly: 'The clocks of the computer disagree. People set their clocks; it never counts.',
  exempts: {
    'slow-machine': 'late batches and sleep are no disagreement',
  },
  touches: {},
  reference: null,
  judge({ telemetry }) {
    if (telemetry === null) return NOT_MEASURED;
    return decide(telemetry.clockErrorMs >= MAX_CLOCK_ERROR_MS, telemetry.clockErrorMs, []);
  },
};

const MAX_CLOCK_ERROR_MS = 5_000;
