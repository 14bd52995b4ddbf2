import type { Keystroke } from './keystroke';

// Dictation programs, word completion and text expanders type whole phrases at once, with true keys: nerd-dictation,
// Talon and on-screen keyboards do. Such keys say nothing about fingers.

/** A longer stretch of text is typed at once only by a program, or by a fast typist. */
const MAX_PHRASE_LENGTH = 40;
/** Of keys that are left out: people dictate whole clauses. Where text came from is told more narrowly. */
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
 * Leaves out the keys of phrases that somebody could have spoken or chosen in the pause before. The keys are those of a segment,
 * so the first stretch can be the rest of a phrase.
 */
export function leaveOutPhrases(keys: readonly Keystroke[]): Keystroke[] {
  const starts = keys.flatMap((key, place) => (place === 0 || findPause(key) >= MIN_PHRASE_PAUSE_MS ? [place] : []));
  return starts.flatMap((start, place) => {
    const stretch = keys.slice(start, starts[place + 1]);
    return isPhrase(stretch, place === 0) ? [] : stretch;
  });
}

function isPhrase([first, ...others]: readonly Keystroke[], canBeRest: boolean): boolean {
  const length = others.length + 1;
  const tookMs = others.reduce((total, { intervalMs }) => total + intervalMs!, 0);
  const isDictated = first!.quietMs >= length * MS_PER_DICTATED_CHARACTER;
  const maxLength = isDictated ? Number.POSITIVE_INFINITY : MAX_CLAUSE_LENGTH;
  const pauseMs = canBeRest ? Number.POSITIVE_INFINITY : findPause(first!);
  return isSpokenPhrase({ length, tookMs, pauseMs }, maxLength);
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
