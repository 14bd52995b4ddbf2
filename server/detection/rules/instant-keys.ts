import type { Features } from '../features';
import { computeMedian } from '../statistics';
import { decide, hasCoarseClock, isTapping, mayTypeOnScreen, NOT_MEASURED, type Rule } from './rule';
import { isAtPaceOfHands, isEnoughTyping, isSlowTyping, TYPING_EXEMPTIONS, TYPING_REFERENCE } from './typing';

export const instantKeysRule: Rule = {
  ...{ flag: 'instant-keys', group: 'typing', expected: 'a median of 30 ms or more, or one key in ten held that long' },
  sees:
    'Keys that are released at once: nine of ten in less than 30 ms. Keyboards on which a key writes when it is tapped and ' +
    'does something else when it is held (home row modifiers, Auto Shift) release those keys at once, but not all keys.',
  needs:
    '10 keys in a text area, or 40 in all, so more than a typed password or a scanned card, without what a text ' +
    'expander types; a clock that is not rounded to 100 ms; and not keys at the pace of hands, with Shift for capitals, beside a ' +
    'mouse that misses the middle of what it presses and jumps to it or releases it at once, as where a tablet or a phone is tapped ' +
    'that controls the desktop',
  plainly:
    'Keys were released as soon as they were pressed. Fingers take longer; a tablet that controls a remote desktop ' +
    'does not tell how long.',
  exempts: {
    ...TYPING_EXEMPTIONS,
    'keyboard-only': 'presses of a browser for the keyboard only keep it from speaking (link hints)',
    'screen-reader': 'presses that assistive technology can have made only keep it from speaking',
    'tap-to-click': 'presses that are released at once only keep it from speaking',
    'slow-machine': 'moves that are missing only keep it from speaking',
  },
  touches: {
    'remote-desktop':
      'the keyboard on the screen of a tablet or a phone presses and releases each key of the desktop at once; where it is tapped, this ' +
      'is not judged, but some that move the mouse like a trackpad hold its button',
  },
  reference: TYPING_REFERENCE,
  judge(features) {
    const { keyHolds } = features;
    if (!isEnoughTyping(keyHolds) || isSlowTyping(keyHolds) || hasCoarseClock(features) || mayTypeOnScreen(features))
      return NOT_MEASURED;
    const { marked, count, momentsMs } = keyHolds.suspected;
    const isInstant = marked / count >= MIN_INSTANT_SHARE;
    if (isInstant && isFromTablet(features)) return NOT_MEASURED;
    return decide(isInstant, computeMedian(keyHolds.times), momentsMs);
  },
};

const MIN_INSTANT_SHARE = 0.9;

/** Whether the keyboard on the screen of a tablet or a phone may write here, on the desktop that it controls: hands do, and with Shift. */
const isFromTablet = (features: Features): boolean =>
  isTapping(features) && features.unshiftedCapitals.marked === 0 && isAtPaceOfHands(features.keyIntervals);
