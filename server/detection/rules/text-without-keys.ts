import { decide, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees text in a text area that no key wrote and that came faster than anybody speaks. Needs 30 characters. Exempts
 * dictation (slower), input methods, paste and drop, undo, spelling corrections, autofill and password managers, text
 * that scripts of the page set, single lines, and touch devices, whose keyboards need not send keys.
 * Reference: W3C Input Events, `inputType`.
 */
export const textWithoutKeysRule: Rule = {
  ...{ flag: 'text-without-keys', group: 'typing', expected: 'below 0.5 of the text' },
  judge({ insertions, hasTouch }) {
    if (hasTouch) return NOT_MEASURED;
    const { length, keylessLength, momentsMs } = insertions;
    if (length < MIN_LENGTH) return NOT_MEASURED;
    const share = keylessLength / length;
    return decide(keylessLength >= MIN_LENGTH && share >= 0.5, share, momentsMs);
  },
};

const MIN_LENGTH = 30;
