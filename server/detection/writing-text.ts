import type { EventCode } from '../../contract/beacon';
import { PROVENANCES, type Provenance } from '../../contract/writing';
import type { Event } from './document-state';
import { isSpokenPhrase, MIN_PHRASE_PAUSE_MS } from './phrases';
import { addToPace, createPace, type Pace } from './writing-pace';
import type { FieldState, TextChange } from './writing-provenance';

// What is measured of a text while it grows.

/** A text that was written in a browsing session, in one or several fields and pages. */
export interface WritingMeasures {
  /** Tells the texts of a session apart. */
  key: string;
  /** Null if the page gives none. */
  documentId: string | null;
  characters: Record<Provenance, number>;
  finalLength: number;
  /** From when somebody turned to the text to its last change, and of it the time without pauses. */
  durationMs: number;
  activeMs: number;
  pastes: { count: number; longest: number };
  pauses: {
    count: number;
    totalMs: number;
    longestMs: number;
    afterMark: number;
    afterWord: number;
    withinWord: number;
  };
  bursts: { count: number; total: number; longest: number };
  revisions: { count: number; deletedCharacters: number };
  /** New characters with text after them, among those of which that is known. */
  caret: { middle: number; known: number };
  /** Keys that wrote, those that ended a word, and how many came long after the key before. */
  keys: { count: number; wordEnds: number; intervals: number; slow: number };
  /** Whether something was lost, so that part of how it came about is not known. */
  hasGaps: boolean;
  pace: Pace;
}

/** Writing research counts pauses from 2 s on: shorter ones come from typing itself. */
const MIN_PAUSE_MS = 2_000;
/** As with a switch or an eye tracker. */
const MIN_SLOW_INTERVAL_MS = 350;
/** Many texts end with a line break that stays behind the caret. */
const NEAR_END = 2;

/** A text while its events are read. */
export interface WrittenText extends WritingMeasures {
  /** How long its fields were at the end of the page before. */
  fieldLengths: number[];
  /** In the server's time. */
  startMs: number | null;
  lastMs: number;
  burst: number;
  isDeleting: boolean;
}

export const createText = (key: string, documentId: string | null): WrittenText => ({
  key,
  documentId,
  characters: Object.fromEntries(PROVENANCES.map((name) => [name, 0])) as Record<Provenance, number>,
  ...{ finalLength: 0, durationMs: 0, activeMs: 0, hasGaps: false },
  pastes: { count: 0, longest: 0 },
  pauses: { count: 0, totalMs: 0, longestMs: 0, afterMark: 0, afterWord: 0, withinWord: 0 },
  bursts: { count: 0, total: 0, longest: 0 },
  revisions: { count: 0, deletedCharacters: 0 },
  caret: { middle: 0, known: 0 },
  keys: { count: 0, wordEnds: 0, intervals: 0, slow: 0 },
  pace: createPace(),
  ...{ fieldLengths: [], startMs: null, lastMs: 0, burst: 0, isDeleting: false },
});

/** A field that belongs to a text. */
export interface WrittenField extends FieldState {
  text: WrittenText;
  /** Whether a script keeps in it what another field of the text has. */
  isCopy: boolean;
  /** How long its text was after its last Input, also after a loss. */
  lastLength: number;
  /** −1 where unknown. */
  fromEnd: number;
  /** What the last keys wrote. A space after a punctuation mark is still after the mark. */
  place: 'withinWord' | 'afterWord' | 'afterMark';
  isAfterGap: boolean;
  keyMs: number | null;
  phrase: { length: number; tookMs: number; pauseMs: number };
}

export const createField = (text: WrittenText, fromEnd: number): WrittenField => ({
  ...{
    text,
    isCopy: false,
    lastLength: 0,
    fromEnd,
    length: null,
    inputMs: Number.NEGATIVE_INFINITY,
    missing: 0,
    earlier: Math.max(0, ...text.fieldLengths),
    place: 'afterMark',
    isAfterGap: true,
  },
  ...{ keyMs: null, phrase: { length: 0, tookMs: 0, pauseMs: 0 } },
});

/** Counts the time since the last change: activity, or a pause. */
export function followTime({ text, place }: WrittenField, atMs: number): void {
  if (text.startMs === null) text.startMs = text.lastMs = atMs;
  const gapMs = Math.max(0, atMs - text.lastMs);
  text.lastMs = Math.max(text.lastMs, atMs);
  text.activeMs += Math.min(gapMs, MIN_PAUSE_MS);
  if (gapMs < MIN_PAUSE_MS) return;
  const { pauses } = text;
  pauses.count++;
  pauses.totalMs += gapMs;
  pauses.longestMs = Math.max(pauses.longestMs, gapMs);
  pauses[place]++;
  endBurst(text);
}

function endBurst(text: WrittenText): void {
  if (text.burst === 0) return;
  text.bursts.count++;
  text.bursts.total += text.burst;
  text.bursts.longest = Math.max(text.bursts.longest, text.burst);
  text.burst = 0;
}

/** Counts what an Input changed. */
export function countChange(field: WrittenField, { timeMs }: Event<EventCode.Input>, change: TextChange): void {
  const { text } = field;
  const { source, length, earlierSource, earlierLength, deleted, key } = change;
  if (deleted > 0) {
    text.revisions.deletedCharacters += deleted;
    if (!text.isDeleting) text.revisions.count++;
  }
  text.isDeleting = deleted > 0 && length === 0;
  if (earlierLength > 0) addCharacters(field, earlierSource, earlierLength);
  if (length === 0) return;
  if (source === 'typed') {
    addWritten(field, length);
    countTyped(field, timeMs, length);
    if (key) countKey(field, key.kind);
  } else addCharacters(field, source, length);
}

/** Adds characters that were not typed. */
function addCharacters(field: WrittenField, source: Provenance, length: number): void {
  const { characters, pastes } = field.text;
  characters[source] += length;
  if (source === 'composed') addWritten(field, length);
  if (source !== 'pasted' && source !== 'dropped') return;
  pastes.count++;
  pastes.longest = Math.max(pastes.longest, length);
}

/** Counts characters that somebody wrote one after the other. */
function addWritten({ text, fromEnd }: WrittenField, length: number): void {
  text.burst += length;
  addToPace(text.pace, text.lastMs - text.startMs!, length);
  if (fromEnd >= 0) text.caret.known += length;
  if (fromEnd > NEAR_END) text.caret.middle += length;
}

/** Counts typed text. Programs that write what was spoken type phrases faster than hands, after a pause to speak in. */
function countTyped(field: WrittenField, timeMs: number, length: number): void {
  const { phrase, keyMs, text } = field;
  const intervalMs = keyMs === null ? Number.POSITIVE_INFINITY : Math.max(0, timeMs - keyMs);
  field.keyMs = timeMs;
  if (intervalMs < MIN_PAUSE_MS) {
    text.keys.intervals++;
    if (intervalMs >= MIN_SLOW_INTERVAL_MS) text.keys.slow++;
  }
  if (intervalMs >= MIN_PHRASE_PAUSE_MS) {
    settlePhrase(field);
    field.phrase = { length, tookMs: 0, pauseMs: intervalMs };
  } else {
    phrase.length += length;
    phrase.tookMs += intervalMs;
  }
}

/** Decides of the keys since the last pause whether hands typed them. */
export function settlePhrase({ text, phrase }: WrittenField): void {
  text.characters[isSpokenPhrase(phrase) ? 'composed' : 'typed'] += phrase.length;
  phrase.length = 0;
}

const GAPS = new Set(['space', 'enter', 'tab']);
const MARKS = new Set(['punctuation', 'enter']);

function countKey(field: WrittenField, kind: NonNullable<TextChange['key']>['kind']): void {
  const { keys } = field.text;
  const isGap = GAPS.has(kind);
  keys.count++;
  if (isGap && !field.isAfterGap) keys.wordEnds++;
  field.isAfterGap = isGap;
  if (MARKS.has(kind)) field.place = 'afterMark';
  else if (!isGap) field.place = 'withinWord';
  else if (field.place === 'withinWord') field.place = 'afterWord';
}

/** What is known of a text when all of its events are read. */
export function finishText(text: WrittenText): WritingMeasures {
  endBurst(text);
  const { startMs, lastMs, burst: _, isDeleting: __, fieldLengths: ___, ...measures } = text;
  return { ...measures, durationMs: startMs === null ? 0 : lastMs - startMs };
}
