import type { Features } from '../features';
import { decide, NOT_MEASURED, type Rule } from './rule';

export const insufficientEvidenceRule: Rule = {
  ...{ flag: 'insufficient-evidence', group: 'context', expected: '3 actions or more' },
  sees: 'A session in which too little was done to judge it. Without proof such a session is never a bot.',
  needs: 'a session',
  plainly: 'Too little was done to judge the session. It never counts, but keeps the score below `bot`.',
  exempts: {
    'keyboard-only': 'presses of an extension count as actions too, and the rule only protects',
    dictation: 'presses of an extension count as actions too, and the rule only protects',
    autofill: 'clicks of scripts count as actions too, and the rule only protects',
  },
  touches: {},
  reference: null,
  judge(features) {
    if (features.telemetry === null) return NOT_MEASURED;
    return decide(isInsufficient(features), countActions(features), []);
  },
};

const MIN_JUDGED_ACTIONS = 3;

const countActions = ({ untrustedPresses, keyCount, insertions, untrustedClicks }: Features) =>
  untrustedPresses.count + keyCount + insertions.count + untrustedClicks.count;

/** Whether a session, or a part of one, has too little to be judged by. */
export const isInsufficient = (features: Features) => countActions(features) < MIN_JUDGED_ACTIONS;
