import { MIN_PHRASE_PAUSE_MS, MS_PER_SPOKEN_CHARACTER } from './phrases';

// Pieces of text without keys that follow each other: the words of somebody who dictates, or of a language model.

/** Fewer characters are a word or two, as a keyboard on the screen proposes them. */
const MIN_STREAM_LENGTH = 40;

export interface TextStream {
  /** The characters of all pieces. */
  length: number;
  /** When the last piece came. */
  timeMs: number;
  /** Since when all of it could be spoken. */
  sinceMs: number;
}

export const createTextStream = (): TextStream => ({
  length: 0,
  timeMs: Number.NEGATIVE_INFINITY,
  sinceMs: Number.NEGATIVE_INFINITY,
});

/**
 * Adds a piece to the stream that it goes on. After a pause or any event but a piece (the last one before it was at `noticedMs`), it
 * begins another, which could be spoken since `sinceMs`.
 */
export function addPiece(
  stream: TextStream,
  { length, timeMs, noticedMs, sinceMs }: TextStream & { noticedMs: number },
): TextStream {
  const goesOn = stream.timeMs === noticedMs && timeMs - noticedMs < MIN_PHRASE_PAUSE_MS;
  return goesOn ? { ...stream, length: stream.length + length, timeMs } : { length, timeMs, sinceMs };
}

/** Whether a stream came faster than anybody speaks. */
export const isFasterThanSpeech = ({ length, timeMs, sinceMs }: TextStream): boolean =>
  length > MIN_STREAM_LENGTH && timeMs - sinceMs < length * MS_PER_SPOKEN_CHARACTER;
