import { decide, NOT_MEASURED, type Rule } from './rule';

export const insufficientEvidenceRule: Rule = {
  ...{ flag: 'insufficient-evidence', group: 'context', expected: '3 deeds or more' },
  sees: 'A session in which too little was done to judge it. Without proof such a session is never a bot.',
  needs: 'a session',
  plainly: 'Too little was done to judge the session. It never counts, but keeps the score below `bot`.',
  exempts: {
    autofill: 'clicks of scripts count as deeds too, and the rule only protects',
  },
  touches: {},
  reference: null,
  judge({ telemetry, untrustedPresses, keyCount, insertions, untrustedClicks }) {
    if (telemetry === null) return NOT_MEASURED;
    const deeds = untrustedPresses.count + keyCount + insertions.count + untrustedClicks.count;
    return decide(deeds < MIN_JUDGED_DEEDS, deeds, []);
  },
};

const MIN_JUDGED_DEEDS = 3;
