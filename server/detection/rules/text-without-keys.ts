import type { Insertion } from '../features';
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
    const sum = (some: Insertion[]) => some.reduce((total, { length }) => total + length, 0);
    const keyless = insertions.filter(({ isKeyless }) => isKeyless);
    const total = sum(insertions);
    if (total < MIN_LENGTH) return NOT_MEASURED;
    const share = sum(keyless) / total;
    return decide(
      sum(keyless) >= MIN_LENGTH && share >= 0.5,
      share,
      keyless.map(({ atMs }) => atMs),
    );
  },
};

const MIN_LENGTH = 30;
