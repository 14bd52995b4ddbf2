import { computeDeviation, computeMean, computeMedian } from '../statistics';
import type { Typing } from '../typing';
import type { Rule } from './rule';

/** How rules on what is written exempt touch screens. */
export const SCREEN_KEYBOARD =
  'is not judged, nor are phones, tablets, and other touch screens on which no mouse was used: a keyboard on the screen has ' +
  'codes that nobody holds, capitals without Shift, and text without keys';
/** Whom the rules on typed keys exempt. They judge the same keys. */
export const TYPING_EXEMPTIONS: Rule['exempts'] = {
  touch: SCREEN_KEYBOARD,
  'switch-access': 'slow typing and short phrases after a pause (word completion) are not judged',
  dictation: 'its keys have no code, or come as phrases or words after a pause in which they can be spoken',
  'input-method': 'its keys write no characters, or have no code',
  autofill: 'too few keys in a single line, or made by a script',
};
export const TYPING_REFERENCE = 'Dhakal et al., Observations on Typing from 136 Million Keystrokes, CHI 2018';

const MIN_MULTILINE_KEYS = 10;
const MIN_KEYS = 40;

/** Whether keys are more than a password manager types or a card reader sends: several in a text area, or many. */
export const isEnoughTyping = ({ times, multiline }: Typing): boolean =>
  times.count >= MIN_KEYS || multiline >= MIN_MULTILINE_KEYS;

/** Whether somebody chooses key after key, as with a switch, an eye tracker or an on-screen keyboard. */
export const isSlowTyping = ({ times, slow }: Typing): boolean => slow * 2 >= times.count;

const MIN_INTERVAL_MS = 40;
const MIN_VARIATION = 0.3;

export function measureVariation({ times }: Typing): number {
  const mean = computeMean(times);
  return mean > 0 ? computeDeviation(times) / mean : 0;
}

/** Whether keys follow each other as slowly and as unevenly as hands press them. */
export const isAtPaceOfHands = (intervals: Typing): boolean =>
  computeMedian(intervals.times) >= MIN_INTERVAL_MS && measureVariation(intervals) >= MIN_VARIATION;
