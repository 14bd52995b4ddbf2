import type { Features, Keystroke } from '../features';
import { computeMedian } from '../statistics';

/** The characters that a keyboard wrote. Dictation, input methods and text expanders send keys without a code. */
export const findTypedKeys = ({ keys }: Features): Keystroke[] =>
  keys.filter(({ isCharacter, hasCode, isTrusted }) => isCharacter && hasCode && isTrusted);

const MIN_MULTILINE_KEYS = 10;
const MIN_KEYS = 40;

/** Whether keys are more than a password manager types or a card reader sends: several in a text area, or many. */
export const isEnoughTyping = (keys: readonly Keystroke[]): boolean =>
  keys.length >= MIN_KEYS || keys.filter(({ isMultiline }) => isMultiline).length >= MIN_MULTILINE_KEYS;

const MIN_SLOW_INTERVAL_MS = 350;

/** Whether somebody chooses key after key, as with a switch, an eye tracker or an on-screen keyboard. */
export const isSlowTyping = (keys: readonly Keystroke[]): boolean =>
  computeMedian(keys.flatMap(({ intervalMs }) => intervalMs ?? [])) >= MIN_SLOW_INTERVAL_MS;
