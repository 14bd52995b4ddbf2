import { decide, judgeShare, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees a mouse that presses at a new place after at most two moves. Needs three presses that are far from the press
 * before. Exempts keyboards, touch and pens, presses near the last one or within half a second, the first press of a
 * page, and presses after the page was hidden. Remote desktops and eye trackers can jump too, so the rule never decides
 * alone.
 */
export const noApproachRule: Rule = {
  ...{ flag: 'no-approach', group: 'pointer', expected: 'below 0.6 of the presses' },
  judge(features) {
    const { count, unapproached } = features.mousePresses;
    if (unapproached.count < 3) return NOT_MEASURED;
    // Somebody who moves the mouse a lot approaches what is pressed, wherever the moves were counted.
    const isMoving = features.moves.count > count * MAX_MOVES_PER_PRESS;
    return isMoving ? decide(false, 0, []) : judgeShare(unapproached, { needed: 3, share: 0.6 });
  },
};

const MAX_MOVES_PER_PRESS = 6;
