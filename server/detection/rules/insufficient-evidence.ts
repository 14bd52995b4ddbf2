import { decide, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees a session in which too little was done to judge it. Evidence only, but without proof such a session is never a
 * bot. Needs a session.
 */
export const insufficientEvidenceRule: Rule = {
  ...{ flag: 'insufficient-evidence', group: 'context', expected: '5 deeds or more' },
  judge({ telemetry, untrustedPresses, keyCount, insertions, untrustedClicks }) {
    if (telemetry === null) return NOT_MEASURED;
    const deeds = untrustedPresses.count + keyCount + insertions.count + untrustedClicks.count;
    return decide(deeds < MIN_JUDGED_DEEDS, deeds, []);
  },
};

const MIN_JUDGED_DEEDS = 5;
