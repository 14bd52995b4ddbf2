import { isFirefox, judgeShare, mayTypeOnScreen, NOT_MEASURED, type Rule } from './rule';
import { SCREEN_KEYBOARD } from './typing';

export const capitalWithoutShiftRule: Rule = {
  ...{ flag: 'capital-without-shift', group: 'integrity', expected: 'below 0.6 of the capitals' },
  sees:
    'Capitals that were typed on a keyboard without Shift and Caps Lock, next to small letters: all usual letters of Cherokee ' +
    'are capitals to a browser, and need no Shift.',
  needs:
    '3 capitals next to small letters, from keys with a code, without phrases after a pause and what a text expander types; not in Firefox, ' +
    'which can hide Shift for privacy; on a Macintosh only those that are held for 30 ms: software posts characters there, with a code and ' +
    'without Shift',
  plainly: 'Capitals were typed without Shift or Caps Lock. A keyboard cannot do that.',
  exempts: {
    touch: SCREEN_KEYBOARD,
    'switch-access': 'an on-screen keyboard holds Shift, or its keys have no code',
    dictation: 'its keys have no code, or come as phrases or words after a pause in which they can be spoken',
    'input-method': 'its keys are no capitals, or have no code',
    autofill: 'its keys have no code, or a script made them',
    'remote-desktop': 'passes Shift on, or posts characters on a Macintosh, whose keys are released at once',
  },
  touches: {},
  reference: 'W3C UI Events, modifier keys',
  judge(features) {
    if (isFirefox(features) || mayTypeOnScreen(features)) return NOT_MEASURED;
    return judgeShare(features.unshiftedCapitals, { needed: 3, share: 0.6 });
  },
};
