import type { Features } from '../features';
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
  judge(features) {
    if (features.telemetry === null) return NOT_MEASURED;
    return decide(isInsufficient(features), countDeeds(features), []);
  },
};

const MIN_JUDGED_DEEDS = 3;

const countDeeds = ({ untrustedPresses, keyCount, insertions, untrustedClicks }: Features) =>
  untrustedPresses.count + keyCount + insertions.count + untrustedClicks.count;

/** Whether a session, or a part of one, has too little to be judged by. */
export const isInsufficient = (features: Features) => countDeeds(features) < MIN_JUDGED_DEEDS;
