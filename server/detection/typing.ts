import type { Keystroke } from './keystroke';
import {
  add,
  countShare,
  mergeFields,
  mergeSamples,
  mergeShares,
  type Sample,
  type Share,
  takeSample,
} from './statistics';
import type { TraceSource } from './trace';

/** Times of typed keys: of holding them, or between them. */
export interface Typing {
  times: Sample;
  /** How many of the keys wrote into a text area. */
  multiline: number;
  /** How many came long after the key before, as with a switch or an eye tracker: these can take many seconds for a key. */
  slow: number;
  /** Those that nobody holds so shortly; of intervals all. */
  suspected: Share;
}

/** Whether a keyboard wrote a character. Dictation, input methods and text expanders send keys without a code. */
export const isTyped = ({ isCharacter, hasCode, isTrusted }: Keystroke): boolean => isCharacter && hasCode && isTrusted;

/**
 * Finds the capitals next to a small letter. Unicode calls all usual letters of Cherokee capitals, whose keys need no Shift: a word of
 * them has no small letter.
 */
export const listCapitals = (typed: readonly Keystroke[]): Keystroke[] =>
  typed.filter(
    ({ kind }, place) =>
      kind === 'capital' && (typed[place - 1]?.kind === 'letter' || typed[place + 1]?.kind === 'letter'),
  );

const MIN_SLOW_INTERVAL_MS = 350;
/** A finger holds a key longer. */
export const MIN_HELD_MS = 30;

/**
 * Whether software may have posted a character, as on a Macintosh that somebody controls by a phone: its keys have a code, are released at
 * once, and need no Shift.
 */
export const mayBePosted = ({ userAgent }: TraceSource, { heldMs }: Keystroke): boolean =>
  userAgent.includes('Macintosh') && heldMs !== null && heldMs < MIN_HELD_MS;

/** Sums up the times of those keys that have one. */
export function sumUpTyping(
  typed: readonly Keystroke[],
  findTime: (key: Keystroke) => number | null,
  isSuspected: (ms: number) => boolean,
): Typing {
  const keys = typed.filter((key) => findTime(key) !== null);
  return {
    times: takeSample(keys.map((key) => findTime(key)!)),
    multiline: keys.filter(({ isMultiline }) => isMultiline).length,
    slow: keys.filter(({ intervalMs }) => intervalMs === null || intervalMs >= MIN_SLOW_INTERVAL_MS).length,
    suspected: countShare(keys, (key) => isSuspected(findTime(key)!)),
  };
}

/** Puts the times of two parts of a session together. */
export const mergeTyping = mergeFields<Typing>({
  times: mergeSamples,
  multiline: add,
  slow: add,
  suspected: mergeShares,
});
