import { EVENT_FIELDS, EventCode } from '../../contract/beacon';
import { type Event, isTrusted } from './document-state';
import { anchorDocument, sortDocuments, type TraceDocument } from './documents';
import { readEvent, type TraceBatch, visitEvents } from './trace';
import { unpackNumbers } from './varints';
import { createPageState, followKey, followPage, noticeInput, type PageState } from './writing-page';
import { traceInput } from './writing-provenance';
import {
  countChange,
  createField,
  createText,
  finishText,
  followTime,
  settlePhrase,
  type WritingMeasures,
  type WrittenField,
  type WrittenText,
} from './writing-text';

// How each text of a browsing session came about. Reads the events once; what it keeps does not grow with them.

/** A session may name any number of documents. Those after the first few are not measured. */
export const MAX_WRITING_SESSIONS = 16;
/** Fields of a page that are followed. */
const MAX_FIELDS = 64;

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

interface PageReading {
  state: PageState;
  fields: Map<number, WrittenField>;
  /** When a field got the focus. */
  focusMs: Map<number, number>;
  /** How long the fields are that the page shows again, and in which nobody has written yet. */
  untouched: Map<WrittenText, number[]>;
  originMs: number;
}

function readPage(page: TraceDocument, written: Map<string, WrittenText>): void {
  const anchor = anchorDocument(page);
  const reading: PageReading = {
    ...{ state: createPageState(), fields: new Map(), focusMs: new Map(), untouched: new Map() },
    originMs: anchor.originMs,
  };
  let next = 0;
  for (const batch of page.batches) {
    if (batch.n !== next || (batch.l?.[1] ?? 0) > 0) loseEvents(reading);
    next = batch.n + 1;
    const ev = unpackNumbers(batch.events);
    visitEvents(ev, (code, timeMs, fieldsAt) => {
      if (code === EventCode.Input) takeInput(reading, readInput(ev, timeMs, fieldsAt));
      else if (code === EventCode.KeyDown) followKey(reading.state, ev[fieldsAt]!, ev[fieldsAt + 2]!, timeMs);
      else if (FOLLOWED[code]) {
        const event = readEvent(ev, { code, timeMs, atMs: 0 }, fieldsAt);
        if (event.code === EventCode.Writing) nameField(reading, event, findText(event, batch, written));
        else if (event.code === EventCode.Focus) noteFocus(reading, event);
        else followPage(reading.state, event);
      }
    });
  }
  const lengths = new Map<WrittenText, number[]>();
  for (const field of reading.fields.values()) {
    settlePhrase(field);
    if (!field.isCopy) lengths.set(field.text, [...(lengths.get(field.text) ?? []), field.lastLength]);
  }
  for (const [text, changed] of lengths) {
    text.fieldLengths = [...changed, ...(reading.untouched.get(text) ?? [])].slice(0, MAX_FIELDS);
    text.finalLength = text.fieldLengths.reduce((sum, length) => sum + length);
  }
}

/** The events that matter, in addition to keys and inputs. */
const FOLLOWED: boolean[] = [];
for (const code of [
  ...[EventCode.Writing, EventCode.Focus, EventCode.Clipboard, EventCode.Composition],
  ...[EventCode.Visibility, EventCode.Leave, EventCode.Press, EventCode.Touch],
])
  FOLLOWED[code] = true;

// Most events are keys and inputs, so these are read by their places, which the compiler compares.
EVENT_FIELDS[EventCode.KeyDown] satisfies readonly ['class', 'slot', 'flags'];
EVENT_FIELDS[EventCode.Input] satisfies readonly ['field', 'type', 'insertedLength', 'valueLength', 'flags'];

const readInput = (ev: readonly number[], timeMs: number, at: number): Event<EventCode.Input> => ({
  code: EventCode.Input,
  timeMs,
  atMs: 0,
  field: ev[at]!,
  type: ev[at + 1]!,
  insertedLength: ev[at + 2]!,
  valueLength: ev[at + 3]!,
  flags: ev[at + 4]!,
});

/** After a loss, nobody can tell where new text came from. */
function loseEvents({ fields }: PageReading): void {
  for (const field of fields.values()) {
    field.text.hasGaps = true;
    field.text.finalLength = Math.max(field.text.finalLength, field.length ?? 0);
    field.length = null;
  }
}

function noteFocus({ focusMs }: PageReading, { field, timeMs }: Event<EventCode.Focus>): void {
  if (field >= 0 && focusMs.size < MAX_FIELDS && !focusMs.has(field)) focusMs.set(field, timeMs);
}

/** Finds the text that a field belongs to, or begins it. A field without a name is a text itself. Null if there are too many. */
function findText(
  { field, document }: Event<EventCode.Writing>,
  { d, w }: TraceBatch,
  written: Map<string, WrittenText>,
): WrittenText | null {
  const documentId = w![document]!;
  // No id has a U+0000.
  const key = documentId === '' ? `\0${d} ${field}` : documentId;
  const known = written.get(key);
  if (known || written.size >= MAX_WRITING_SESSIONS) return known ?? null;
  const text = createText(key, documentId === '' ? null : documentId);
  written.set(key, text);
  return text;
}

/** Notes that a field belongs to a text, and where its caret is. */
function nameField(
  { fields }: PageReading,
  { field: number, fromEnd }: Event<EventCode.Writing>,
  text: WrittenText | null,
): void {
  if (!text) return;
  const field = fields.get(number);
  if (field?.text === text) field.fromEnd = fromEnd;
  else if (field || fields.size < MAX_FIELDS) {
    if (field) settlePhrase(field);
    fields.set(number, createField(text, fromEnd));
  }
}

/** An editor may keep its text in a hidden field too, with markup. */
const MAX_MARKUP = 3;
const MIN_COPY = 0.5;

/** Whether a script writes into a field what another one of the same text already has. */
function isCopyOfOther(
  fields: ReadonlyMap<number, WrittenField>,
  field: WrittenField,
  event: Event<EventCode.Input>,
): boolean {
  if (isTrusted(event)) return false;
  for (const other of fields.values()) {
    if (other === field || other.text !== field.text || other.isCopy || !other.length) continue;
    const ratio = event.valueLength / other.length;
    if (ratio >= MIN_COPY && ratio <= MAX_MARKUP) return true;
  }
  return false;
}

/** Drops the field that another one of the same text replaces: a page that draws itself again makes other elements. */
function takeOver(fields: Map<number, WrittenField>, number: number, length: number): boolean {
  const { text } = fields.get(number)!;
  for (const [other, field] of fields) {
    if (other === number || field.text !== text || field.length !== length || length === 0) continue;
    settlePhrase(field);
    fields.delete(other);
    return true;
  }
  return false;
}

/**
 * Notices a field that shows what a field of the page before had: then the page shows the others again, too. Any other text that
 * is already there may be theirs in another form.
 */
function recogniseField({ untouched }: PageReading, { text }: WrittenField, length: number): void {
  if (length === 0) return;
  const others = untouched.get(text) ?? text.fieldLengths;
  const place = others.indexOf(length);
  untouched.set(text, place < 0 ? [] : others.toSpliced(place, 1));
}

function takeInput(reading: PageReading, event: Event<EventCode.Input>): void {
  const { state, fields, focusMs, originMs } = reading;
  const field = fields.get(event.field);
  if (!field) {
    noticeInput(state, event.timeMs);
    return;
  }
  field.isCopy = isCopyOfOther(fields, field, event);
  if (field.isCopy) {
    field.length = Math.max(0, event.valueLength);
    return;
  }
  const { text } = field;
  const isFirst = field.length === null;
  const isNew = field.inputMs === Number.NEGATIVE_INFINITY;
  const change = traceInput(state, field, event);
  field.lastLength = field.length ?? 0;
  if (isFirst && !takeOver(fields, event.field, change.lengthBefore)) {
    // What the pages before left is not new.
    text.characters.unseen += Math.max(0, change.lengthBefore - text.finalLength);
    if (isNew) recogniseField(reading, field, change.lengthBefore);
  }
  const focusedMs = isFirst ? (focusMs.get(event.field) ?? event.timeMs) : event.timeMs;
  followTime(field, originMs + focusedMs);
  if (focusedMs < event.timeMs) followTime(field, originMs + event.timeMs);
  countChange(field, event, change);
}
