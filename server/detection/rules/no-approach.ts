import { findPresses } from '../mouse-presses';
import { decide, isMovingFreely, judgeShare, NOT_MEASURED, type Rule } from './rule';

export const noApproachRule: Rule = {
  ...{ flag: 'no-approach', group: 'pointer', expected: 'below 0.6 of the presses' },
  sees: 'A mouse that presses at a new place after at most two moves.',
  needs:
    '3 presses that are far from the press before, not within half a second of it, and not the first of a page, ' +
    'after a finger or a pen, or after it was hidden',
  plainly: 'The mouse pressed at a new place without moving there. Remote desktops and eye trackers can do that too.',
  exempts: {
    touch: 'only a mouse is judged',
    'screen-reader': 'presses that assistive technology can have made are not judged',
    'slow-machine': 'three moves before a press are enough',
  },
  touches: {
    'switch-access': 'an eye tracker or a switch moves the pointer at once',
    'keyboard-only': 'a browser for the keyboard moves the pointer at once (link hints)',
    dictation: 'voice control moves the pointer at once',
    'remote-desktop': 'sends few moves when the connection is slow',
  },
  reference: null,
  judge(features) {
    const unapproached = findPresses(features, 'unapproached');
    if (unapproached.count < 3) return NOT_MEASURED;
    // Somebody who moves the mouse a lot approaches what is pressed, wherever the moves were counted.
    return isMovingFreely(features) ? decide(false, 0, []) : judgeShare(unapproached, { needed: 3, share: 0.6 });
  },
};
