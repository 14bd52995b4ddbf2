import { decide, mayTypeOnScreen, NOT_MEASURED, type Rule } from './rule';
import { SCREEN_KEYBOARD } from './typing';

export const textWithoutKeysRule: Rule = {
  ...{ flag: 'text-without-keys', group: 'typing', expected: 'below 0.5 of the text' },
  sees:
    'Text in a text area that no key wrote and that came faster than anybody speaks, at once or in pieces. Paste, drop, ' +
    'undo, corrections and text that scripts of the page set do not count.',
  needs: '30 characters in a text area',
  plainly: 'Text appeared that nobody typed, pasted or dictated. It came faster than anybody speaks.',
  exempts: {
    touch: SCREEN_KEYBOARD,
    'switch-access': 'an on-screen keyboard sends keys, and word completion short texts',
    dictation: 'comes slower than 25 ms a character',
    'input-method': 'comes as a composition, which does not count',
    autofill: 'filled fields and inputs of scripts do not count',
  },
  touches: {},
  reference: 'W3C Input Events, `inputType`',
  judge(features) {
    if (mayTypeOnScreen(features)) return NOT_MEASURED;
    const { length, keylessLength, momentsMs } = features.insertions;
    if (length < MIN_LENGTH) return NOT_MEASURED;
    const share = keylessLength / length;
    return decide(keylessLength >= MIN_LENGTH && share >= 0.5, share, momentsMs);
  },
};

const MIN_LENGTH = 30;
