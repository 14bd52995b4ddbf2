import type { Keystroke } from './keystroke';
import { isTyped, MIN_HELD_MS } from './typing';

// Dictation programs, word completion and text expanders type whole phrases at once, with true keys: nerd-dictation,
// Talon and on-screen keyboards do. Such keys say nothing about fingers.

/** A longer stretch of text is typed at once only by a program, or by a fast typist. */
const MAX_PHRASE_LENGTH = 40;
/** For keys that are left out: people dictate whole clauses. The source of text has a narrower limit. */
const MAX_CLAUSE_LENGTH = 80;
/** People who dictate sentences or paragraphs speak no faster, and programs rarely wait as long for their next text. */
const MS_PER_DICTATED_CHARACTER = 50;
/** A pause that begins a phrase. */
export const MIN_PHRASE_PAUSE_MS = 350;
/** Nobody speaks 40 characters in a second, so text that comes faster was not dictated. */
export const MS_PER_SPOKEN_CHARACTER = 25;

/** Programs type the keys of a phrase faster than hands. On a busy machine the 12 ms of xdotool become 50. */
const MAX_MEAN_INTERVAL_MS = 80;

/**
 * Streaming dictation types each word as soon as it is heard, a stenographer's machine at each stroke. At most a long word
 * comes after a shorter pause.
 */
const MIN_WORD_PAUSE_MS = 150;
const MAX_WORD_LENGTH = 24;
/** Hands write a few keys of a word almost as fast as a phrase comes on a busy machine, but not faster than this. */
const MAX_WORD_MEAN_INTERVAL_MS = 50;

/**
 * Leaves out the keys of phrases, and of words, that somebody could have spoken or chosen in the pause before, and those of text
 * expanders. The keys are all those of a segment, so the first stretch can be the rest of a phrase.
 */
export function leaveOutPhrases(keys: readonly Keystroke[]): Keystroke[] {
  const typed = leaveOutExpansions(keys.filter(({ isTrusted }) => isTrusted)).filter(isTyped);
  // Somebody whose machine writes words at once: a stenographer has phrases, too, that come as fast as words.
  if (leaveOutWords(typed).length * 2 < typed.length) return [];
  return leaveOutWords(leaveOutStretches(typed, MIN_PHRASE_PAUSE_MS, isPhrase));
}

const leaveOutWords = (keys: readonly Keystroke[]) => leaveOutStretches(keys, MIN_WORD_PAUSE_MS, isWord);

/** Leaves out some of the stretches between pauses. */
function leaveOutStretches(
  keys: readonly Keystroke[],
  minPauseMs: number,
  isLeftOut: (stretch: readonly Keystroke[], isFirst: boolean) => boolean,
): Keystroke[] {
  const starts = keys.flatMap((key, place) => (place === 0 || findPause(key) >= minPauseMs ? [place] : []));
  return starts.flatMap((start, place) => {
    const stretch = keys.slice(start, starts[place + 1]);
    return isLeftOut(stretch, place === 0) ? [] : stretch;
  });
}

function isPhrase(stretch: readonly Keystroke[], canBeRest: boolean): boolean {
  const [first] = stretch;
  const isDictated = first!.quietMs >= stretch.length * MS_PER_DICTATED_CHARACTER;
  const maxLength = isDictated ? Number.POSITIVE_INFINITY : MAX_CLAUSE_LENGTH;
  return isSpokenPhrase(describeStretch(stretch, canBeRest ? Number.POSITIVE_INFINITY : findPause(first!)), maxLength);
}

function isWord(stretch: readonly Keystroke[]): boolean {
  const word = describeStretch(stretch, findPause(stretch[0]!));
  return word.tookMs <= (word.length - 1) * MAX_WORD_MEAN_INTERVAL_MS && isSpokenPhrase(word, MAX_WORD_LENGTH);
}

const describeStretch = ([, ...others]: readonly Keystroke[], pauseMs: number) => ({
  length: others.length + 1,
  tookMs: others.reduce((total, { intervalMs }) => total + intervalMs!, 0),
  pauseMs,
});

/** A text expander erases an abbreviation of at least this many characters. */
const MIN_ABBREVIATION_LENGTH = 2;

/**
 * Leaves out the output of a text expander: somebody writes an abbreviation, a program erases it faster than hands can, and
 * types its long form at once. Programs that write by themselves hold no key as long as a finger, so nothing before was
 * written by hand.
 */
function leaveOutExpansions(keys: readonly Keystroke[]): Keystroke[] {
  let writtenByHand = 0;
  let erased = 0;
  let isExpansion = false;
  let last: Keystroke | undefined;
  return keys.filter((key) => {
    const pauseMs = last ? key.pressedMs - last.pressedMs : Number.POSITIVE_INFINITY;
    if (key.kind === 'backspace') {
      isExpansion = false;
      erased = pauseMs <= MAX_MEAN_INTERVAL_MS ? erased + 1 : 1;
    }
    if (key.isCharacter) {
      const isErasedAtOnce = erased >= MIN_ABBREVIATION_LENGTH && writtenByHand >= erased;
      isExpansion = (isExpansion || isErasedAtOnce) && pauseMs < MIN_WORD_PAUSE_MS;
      const isOfHand = !isExpansion && (key.heldMs === null || key.heldMs >= MIN_HELD_MS);
      writtenByHand = isOfHand ? writtenByHand + 1 : 0;
      erased = 0;
    }
    last = key;
    return !isExpansion;
  });
}

/** Whether a program typed what could have been spoken or chosen in the pause before it. */
export function isSpokenPhrase(
  { length, tookMs, pauseMs }: { length: number; tookMs: number; pauseMs: number },
  maxLength = MAX_PHRASE_LENGTH,
): boolean {
  if (length < 2 || length > maxLength) return false;
  return tookMs <= (length - 1) * MAX_MEAN_INTERVAL_MS && pauseMs >= length * MS_PER_SPOKEN_CHARACTER;
}

/** The pause before a key. There was a long one if it has no interval. */
const findPause = ({ intervalMs }: Keystroke): number => intervalMs ?? Number.POSITIVE_INFINITY;
