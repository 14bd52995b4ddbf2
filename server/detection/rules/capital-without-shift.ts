import { isFirefox, judgeShare, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees capitals that were typed on a keyboard without Shift and Caps Lock. Needs three capitals from keys with a code.
 * Exempts touch and on-screen keyboards, input methods, dictation and text expanders (their keys have no code), and
 * Firefox, which can hide Shift for privacy.
 * Reference: W3C UI Events, modifier keys.
 */
export const capitalWithoutShiftRule: Rule = {
  ...{ flag: 'capital-without-shift', group: 'integrity', expected: 'below 0.6 of the capitals' },
  judge(features) {
    if (isFirefox(features) || features.hasTouch) return NOT_MEASURED;
    return judgeShare(features.unshiftedCapitals, { needed: 3, share: 0.6 });
  },
};
