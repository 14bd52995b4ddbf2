import type { Typing } from '../features';

const MIN_MULTILINE_KEYS = 10;
const MIN_KEYS = 40;

/** Whether keys are more than a password manager types or a card reader sends: several in a text area, or many. */
export const isEnoughTyping = ({ times, multiline }: Typing): boolean =>
  times.count >= MIN_KEYS || multiline >= MIN_MULTILINE_KEYS;

/** Whether somebody chooses key after key, as with a switch, an eye tracker or an on-screen keyboard. */
export const isSlowTyping = ({ intervals, slow }: Typing): boolean => intervals > 0 && slow * 2 >= intervals;
