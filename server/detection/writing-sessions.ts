import { EventCode } from '../../contract/beacon';
import { NEW_TEXT, PROVENANCES, type Provenance } from '../../contract/writing';
import { anchorDocument, sortDocuments, type TraceDocument } from './documents';
import { isSpokenPhrase, MIN_PHRASE_PAUSE_MS } from './phrases';
import { readEvent, type TraceBatch, type TraceEvent, visitEvents } from './trace';
import { addToPace, createPace, type Pace } from './writing-pace';
import {
  type Change,
  createPageState,
  type FieldState,
  followPage,
  type PageState,
  traceInput,
} from './writing-provenance';

// How each text of a browsing session came about. Reads the events once; what it keeps does not grow with them.

/** A text that was written in a browsing session, in one or several fields and pages. */
export interface WritingMeasures {
  /** Empty if the page gives none. */
  documentId: string;
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

/** A session may name any number of documents. Those after the first few are not measured. */
export const MAX_WRITING_SESSIONS = 16;
/** Fields of a page that are followed. */
const MAX_FIELDS = 64;
/** Writing research counts pauses from 2 s on: shorter ones come from typing itself. */
const MIN_PAUSE_MS = 2_000;
/** As with a switch or an eye tracker. */
const MIN_SLOW_INTERVAL_MS = 350;
/** Many texts end with a line break that stays behind the caret. */
const NEAR_END = 2;

/** Measures the texts that were written in a session. Repeats and the order of its batches change nothing. */
export function measureWriting(batches: readonly TraceBatch[]): WritingMeasures[] {
  if (!batches.some(({ w }) => w !== undefined)) return [];
  const written = new Map<string, WrittenText>();
  const pages = sortDocuments(batches)
    .filter((page) => page.batches.some(({ w }) => w !== undefined))
    .sort((a, b) => anchorDocument(a).originMs - anchorDocument(b).originMs);
  for (const page of pages) readPage(page, written);
  return [...written.values()].map(finishText);
}

/** A text while its events are read. */
interface WrittenText extends WritingMeasures {
  /** In the server's time. */
  startMs: number | null;
  lastMs: number;
  burst: number;
  isDeleting: boolean;
}

const createText = (documentId: string): WrittenText => ({
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
  ...{ startMs: null, lastMs: 0, burst: 0, isDeleting: false },
});

/** A field that belongs to a text. */
interface WrittenField extends FieldState {
  text: WrittenText;
  /** −1 where unknown. */
  fromEnd: number;
  /** What the last keys wrote. A space after a punctuation mark is still after the mark. */
  place: 'withinWord' | 'afterWord' | 'afterMark';
  isAfterGap: boolean;
  keyMs: number | null;
  phrase: { length: number; tookMs: number; pauseMs: number };
}

interface PageReading {
  state: PageState;
  fields: Map<number, WrittenField>;
  /** When a field got the focus. */
  focusMs: Map<number, number>;
  originMs: number;
}

function readPage(page: TraceDocument, written: Map<string, WrittenText>): void {
  const anchor = anchorDocument(page);
  const reading: PageReading = {
    ...{ state: createPageState(), fields: new Map(), focusMs: new Map(), originMs: anchor.originMs },
  };
  let next = 0;
  for (const batch of page.batches) {
    if (batch.n !== next || (batch.l?.[1] ?? 0) > 0) loseEvents(reading);
    next = batch.n + 1;
    visitEvents(batch, (code, timeMs, fieldsAt) => {
      if (code === EventCode.Move) return;
      const event = readEvent(batch, { code, timeMs, atMs: 0 }, fieldsAt);
      if (event.code === EventCode.Writing) nameField(reading, event, batch.w![event.document]!, written);
      else if (event.code === EventCode.Input) takeInput(reading, event);
      else {
        if (event.code === EventCode.Focus) noteFocus(reading, event);
        followPage(reading.state, event);
      }
    });
  }
  const lengths = new Map<WrittenText, number>();
  for (const field of reading.fields.values()) {
    settlePhrase(field);
    lengths.set(field.text, (lengths.get(field.text) ?? 0) + (field.length ?? 0));
  }
  for (const [text, length] of lengths) text.finalLength = length;
}

/** After a loss, nobody can tell where new text came from. */
function loseEvents({ fields }: PageReading): void {
  for (const field of fields.values()) {
    field.text.hasGaps = true;
    field.text.finalLength = Math.max(field.text.finalLength, field.length ?? 0);
    field.length = null;
  }
}

type Of<Code extends EventCode> = Extract<TraceEvent, { code: Code }>;

function noteFocus({ focusMs }: PageReading, { field, timeMs }: Of<EventCode.Focus>): void {
  if (field >= 0 && focusMs.size < MAX_FIELDS && !focusMs.has(field)) focusMs.set(field, timeMs);
}

/** Notes that a field belongs to a text, and where its caret is. */
function nameField(
  { fields }: PageReading,
  { field: number, fromEnd }: Of<EventCode.Writing>,
  documentId: string,
  written: Map<string, WrittenText>,
): void {
  let text = written.get(documentId);
  if (!text) {
    if (written.size >= MAX_WRITING_SESSIONS) return;
    text = createText(documentId);
    written.set(documentId, text);
  }
  const field = fields.get(number);
  if (field?.text === text) field.fromEnd = fromEnd;
  else if (field || fields.size < MAX_FIELDS) {
    if (field) settlePhrase(field);
    fields.set(number, {
      ...{ text, fromEnd, length: null, inputMs: Number.NEGATIVE_INFINITY },
      ...{ place: 'afterMark', isAfterGap: true, keyMs: null, phrase: { length: 0, tookMs: 0, pauseMs: 0 } },
    });
  }
}

function takeInput({ state, fields, focusMs, originMs }: PageReading, event: Of<EventCode.Input>): void {
  const field = fields.get(event.field);
  if (!field) {
    state.noticedMs = event.timeMs;
    return;
  }
  const { text } = field;
  const isFirst = field.length === null;
  const change = traceInput(state, field, event);
  // What the pages before left is not new.
  if (isFirst) text.characters.unseen += Math.max(0, change.lengthBefore - text.finalLength);
  const focusedMs = isFirst ? (focusMs.get(event.field) ?? event.timeMs) : event.timeMs;
  followTime(field, originMs + focusedMs);
  if (focusedMs < event.timeMs) followTime(field, originMs + event.timeMs);
  countChange(field, event, change);
}

/** Counts the time since the last change: activity, or a pause. */
function followTime({ text, place }: WrittenField, atMs: number): void {
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

function countChange(field: WrittenField, { timeMs }: Of<EventCode.Input>, { added, deleted, key }: Change): void {
  const { text, fromEnd } = field;
  if (deleted > 0) {
    text.revisions.deletedCharacters += deleted;
    if (!text.isDeleting) text.revisions.count++;
  }
  text.isDeleting = deleted > 0 && Object.keys(added).length === 0;
  for (const name of PROVENANCES) {
    const length = added[name];
    if (length === undefined) continue;
    if (name !== 'typed') text.characters[name] += length;
    if (name === 'pasted' || name === 'dropped' || name === 'moved') {
      text.pastes.count++;
      text.pastes.longest = Math.max(text.pastes.longest, length);
    }
    if (!(NEW_TEXT as readonly Provenance[]).includes(name)) continue;
    if (name === 'typed' || name === 'composed') {
      text.burst += length;
      addToPace(text.pace, text.lastMs - text.startMs!, length);
      if (fromEnd >= 0) text.caret.known += length;
      if (fromEnd > NEAR_END) text.caret.middle += length;
    }
  }
  if (added.typed !== undefined) countTyped(field, timeMs, added.typed);
  if (added.typed !== undefined && key) countKey(field, key.kind);
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

function settlePhrase({ text, phrase }: WrittenField): void {
  text.characters[isSpokenPhrase(phrase) ? 'composed' : 'typed'] += phrase.length;
  phrase.length = 0;
}

const GAPS = new Set(['space', 'enter', 'tab']);
const MARKS = new Set(['punctuation', 'enter']);

function countKey(field: WrittenField, kind: NonNullable<Change['key']>['kind']): void {
  const { keys } = field.text;
  const isGap = GAPS.has(kind);
  keys.count++;
  if (isGap && !field.isAfterGap) keys.wordEnds++;
  field.isAfterGap = isGap;
  if (MARKS.has(kind)) field.place = 'afterMark';
  else if (!isGap) field.place = 'withinWord';
  else if (field.place === 'withinWord') field.place = 'afterWord';
}

function finishText(text: WrittenText): WritingMeasures {
  endBurst(text);
  const { startMs, lastMs, burst: _, isDeleting: __, ...measures } = text;
  return { ...measures, durationMs: startMs === null ? 0 : lastMs - startMs };
}
