import { decide, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees clocks of a page that disagree by more than five seconds. Evidence only: people set their clocks. Needs a session.
 * Exempts sleep and late batches.
 */
export const clockInconsistentRule: Rule = {
  ...{ flag: 'clock-inconsistent', group: 'context', expected: 'below 5000 ms' },
  judge({ telemetry }) {
    if (telemetry === null) return NOT_MEASURED;
    return decide(telemetry.clockErrorMs >= MAX_CLOCK_ERROR_MS, telemetry.clockErrorMs, []);
  },
};

const MAX_CLOCK_ERROR_MS = 5_000;
