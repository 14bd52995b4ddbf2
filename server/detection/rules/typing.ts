import type { Features, Keystroke } from '../features';

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
export function isSlowTyping(keys: readonly Keystroke[]): boolean {
  let count = 0;
  let slow = 0;
  for (const { intervalMs } of keys) {
    if (intervalMs === null) continue;
    count++;
    if (intervalMs >= MIN_SLOW_INTERVAL_MS) slow++;
  }
  return count > 0 && slow * 2 >= count;
}
