import { decide, mayTypeOnScreen, NOT_MEASURED, type Rule } from './rule';
import { SCREEN_KEYBOARD } from './typing';

export const textWithoutKeysRule: Rule = {
  ...{ flag: 'text-without-keys', group: 'typing', expected: 'below 0.5 of the text' },
  sees:
    'Text in a text area that no key wrote and that came faster than anybody speaks, at once or in pieces. After a ' +
    'button, or a key that writes nothing, that was pressed twice it can have been spoken since the first press. A key that writes or ' +
    'accepts a proposal has written the next text within ten seconds, unless somebody pressed something or entered another field. ' +
    'Paste, drop, undo, corrections and text that scripts of the page set do not count.',
  needs: '30 characters in a text area',
  plainly: 'Text appeared that nobody typed, pasted or dictated. It came faster than anybody speaks.',
  exempts: {
    touch: SCREEN_KEYBOARD,
    'switch-access': 'an on-screen keyboard sends keys, and word completion short texts',
    'input-method': 'comes as a composition, which does not count',
    autofill: 'filled fields and inputs of scripts do not count',
  },
  touches: {
    dictation: 'a spoken command can insert a kept text; what is dictated comes slower than 25 ms a character',
  },
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
