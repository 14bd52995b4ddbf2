import { z } from 'zod';

// What staff see of a recording: what pointer and keys did in a session, out of what the pixel sent. Never what was written.

/** The most bytes that a recording has as JSON. */
export const MAX_RECORDING_BYTES = 200_000;

/**
 * `kept`: it can be shown. `removed`: the pixel recorded the session, and what it sent was removed after its time. `none`: no
 * pixel recorded the session, because its facts came from a pipeline.
 */
export const RECORDING_STATES = ['kept', 'removed', 'none'] as const;

export const recordingStateSchema = z.object({
  state: z.enum(RECORDING_STATES),
  /** The last day on which it is kept, and the day on which it was removed, in UTC. Null where it is not known. */
  keptUntil: z.string().nullable(),
  removedOn: z.string().nullable(),
});
export type RecordingState = z.infer<typeof recordingStateSchema>;

/** Rows of numbers, one after the other. The first number of a row is the time since the row before, in milliseconds. */
const rows = z.array(z.number());

/**
 * A document of a session: what was done on it. Times of first rows are since the start of the document. Places are CSS pixels
 * of its window.
 */
const recordedDocumentSchema = z.object({
  /** Since the start of the session. */
  startMs: z.number(),
  isFramed: z.boolean(),
  /** Time, width, height of the window. */
  windows: rows,
  /** Time, index in `urls` (−1: one that is not listed). */
  pages: rows,
  /** Time, x, y. Between two rows the pointer moves evenly. */
  path: rows,
  /** Time, y. Between two rows the page scrolls evenly. */
  scrolls: rows,
  /** Time, pointer, x, y, left, top, width and height of what was pressed, its role, held for ms (−1: unknown), 1 if by a script. */
  presses: rows,
  /** Time, held for ms (−1: unknown), index of RECORDED_KEYS. */
  keys: rows,
  /** Instead of keys, if there are too many to show each: time, how long in ms, how many keys. */
  typing: rows,
  /** Time, role of what got the focus. */
  focuses: rows,
  /** Time, index of RECORDED_TEXTS, class of the length (an index of TEXT_LENGTHS, −1: unknown). */
  texts: rows,
  /** Time, 0 visible, 1 hidden, 2 left. */
  visibility: rows,
});
export type RecordedDocument = z.infer<typeof recordedDocumentSchema>;

export const recordingSchema = z.object({
  /** When its last event was, since the start of the session. */
  endMs: z.number(),
  urls: z.array(z.string()),
  documents: z.array(recordedDocumentSchema),
  /** No point of the pointer's path, or of the scrolling, is further away from where it was than so many pixels in x and in y. */
  pathTolerancePx: z.number(),
  scrollTolerancePx: z.number(),
  /** If the recording is longer than what is shown: until when it is shown. */
  cutMs: z.number().nullable(),
  /** How many presses and other events there were beyond those that are shown, evenly spread. */
  leftOut: z.number(),
  /** How the parts of the session look by themselves: their start, and a score of 0 to 1. Empty if there are too few. */
  segments: z.array(z.object({ startMs: z.number(), score: z.number() })),
});
export type Recording = z.infer<typeof recordingSchema>;

export const foundRecordingSchema = recordingStateSchema.extend({ recording: recordingSchema.nullable() });
export type FoundRecording = z.infer<typeof foundRecordingSchema>;
