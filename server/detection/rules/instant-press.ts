import { computeDeviation, computeMedian } from '../statistics';
import { decide, hasCoarseClock, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees buttons that are held for no time, for 5 to 12 ms, or always equally long. Needs three presses of a mouse, five to
 * call them equal. Exempts holds of 1 to 5 ms, which tap-to-click trackpads make, keyboards, touch and pens, and browsers
 * that round times.
 */
export const instantPressRule: Rule = {
  ...{ flag: 'instant-press', group: 'pointer', expected: 'a median of 12 ms or more, and not always the same' },
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
