import { computeDeviation, computeMedian } from '../statistics';
import { decide, hasCoarseClock, NOT_MEASURED, type Rule } from './rule';

export const instantPressRule: Rule = {
  ...{ flag: 'instant-press', group: 'pointer', expected: 'a median of 12 ms or more, and not always the same' },
  sees: 'Buttons that are held for no time, for 5 to 12 ms, or always equally long.',
  needs: '3 presses of a mouse, 5 to call them equal; a clock that is not rounded to 100 ms',
  plainly: 'The mouse button was held for almost no time, or always equally long. A finger cannot do that.',
  exempts: {
    touch: 'only a mouse is judged',
    'tap-to-click': 'holds of 1 to 5 ms are not judged',
    'switch-access': 'short presses of 1 to 5 ms are not judged',
    'remote-desktop': 'presses keep about the length that they have at the desk',
  },
  touches: {
    dictation: 'voice control presses and releases at once',
  },
  reference: null,
  judge(features) {
    const { holds, released } = features.mousePresses;
    if (holds.count < 3 || hasCoarseClock(features)) return NOT_MEASURED;
    const median = computeMedian(holds);
    if (median >= MIN_TAP_MS && median <= MAX_TAP_MS) return NOT_MEASURED;
    const isConstant = holds.count >= 5 && computeDeviation(holds) < MAX_CONSTANT_MS;
    return decide(median < MIN_HOLD_MS || isConstant, median, released.momentsMs);
  },
};

const MIN_HOLD_MS = 12;
const MIN_TAP_MS = 1;
const MAX_TAP_MS = 5;
const MAX_CONSTANT_MS = 1;
