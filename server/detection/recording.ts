import {
  CLIPBOARD_KINDS,
  ENVIRONMENT_BITS,
  EVENT_FIELDS,
  EVENT_FLAGS,
  EventCode,
  INPUT_TYPES,
  KEY_CLASSES,
} from '../../contract/beacon';
import { RECORDED_KEYS, RECORDED_TEXTS, type RecordedKey, TEXT_LENGTHS } from '../../contract/recorded-kinds';
import type { RecordedDocument, Recording } from '../../contract/recordings';
import { anchorDocument, sortDocuments, type TraceDocument } from './documents';
import { type Anchor, findServerTime, type TraceBatch, visitEvents } from './trace';
import { addPoint, clampPlace, createTrack, fitTracks, MAX_PLACE_PX, type Track } from './tracks';
import { unpackNumbers } from './varints';

// What staff see of a trace: what pointer and keys did. It is bounded whatever a page has sent, and of keys it has only
// their kind.

/** The most points that are chosen of all paths of the pointer, and of all scrolling. */
export const MAX_PATH_POINTS = 2_500;
const MAX_SCROLL_POINTS = 800;
/** More keys are shown as runs of typing. */
export const MAX_KEYS = 5_000;
const MAX_RUNS = 1_500;
const FIRST_RUN_PAUSE_MS = 1_000;
const MAX_DOCUMENTS = 120;
const MAX_URLS = 50;
const MAX_URL_LENGTH = 160;
/** The most rows of each list of all documents. */
const MAX_ROWS = { windows: 200, pages: 300, presses: 600, focuses: 400, texts: 300, visibility: 300 };
type Rows = keyof typeof MAX_ROWS;
const ROW_NAMES = Object.keys(MAX_ROWS) as Rows[];
const MAX_HELD_MS = 9_999;
/** Shorter insertions are those of keys. */
const MIN_INSERTED = 10;

type Row = [atMs: number, ...fields: number[]];

/** What is read of a document. Times are the server's. */
interface Reading extends Record<Rows, Row[]> {
  startMs: number;
  endMs: number;
  isFramed: boolean;
  path: Track;
  scrolls: Track;
  keys: Row[];
}

/** Makes the recording of a session that began at a time. The same batches give the same bytes. */
export function makeRecording(
  batches: readonly TraceBatch[],
  sessionStartMs: number,
): Omit<Recording, 'cutMs' | 'segments'> {
  const urls: Urls = { shown: [], known: new Map() };
  const all = sortDocuments(batches)
    .map((document) => readDocument(document, urls))
    .filter(({ endMs }) => endMs > Number.NEGATIVE_INFINITY)
    .sort((a, b) => a.startMs - b.startMs);
  const readings = all.slice(0, MAX_DOCUMENTS);
  let leftOut = all.slice(MAX_DOCUMENTS).reduce((sum, reading) => sum + countRows(reading), 0);
  for (const name of ROW_NAMES) leftOut += spreadRows(readings, name);
  const paths = fitTracks(
    readings.map(({ path }) => path),
    MAX_PATH_POINTS,
  );
  const scrolls = fitTracks(
    readings.map(({ scrolls: track }) => track),
    MAX_SCROLL_POINTS,
  );
  const typing = joinKeys(readings);
  return {
    endMs: readings.reduce((latest, { endMs }) => Math.max(latest, endMs), sessionStartMs) - sessionStartMs,
    urls: urls.shown,
    documents: readings.map((reading, place) => {
      const { startMs } = reading;
      const show = (rows: readonly Row[]) => writeRows(rows, startMs);
      return {
        startMs: startMs - sessionStartMs,
        isFramed: reading.isFramed,
        path: show(chooseRows(reading.path, paths.chosen[place]!, true)),
        scrolls: show(chooseRows(reading.scrolls, scrolls.chosen[place]!, false)),
        keys: typing === null ? show(reading.keys) : [],
        typing: show(typing?.[place] ?? []),
        ...(Object.fromEntries(ROW_NAMES.map((name) => [name, show(reading[name])])) as Record<Rows, number[]>),
      } satisfies RecordedDocument;
    }),
    pathTolerancePx: paths.tolerancePx,
    scrollTolerancePx: scrolls.tolerancePx,
    leftOut,
  };
}

const countRows = (reading: Reading) => ROW_NAMES.reduce((sum, name) => sum + reading[name].length, 0);

/** Leaves rows out of all documents evenly, if there are too many. Returns how many. */
function spreadRows(readings: readonly Reading[], name: Rows): number {
  const count = readings.reduce((sum, reading) => sum + reading[name].length, 0);
  const most = MAX_ROWS[name];
  if (count <= most) return 0;
  let place = 0;
  for (const reading of readings) {
    reading[name] = reading[name].filter(() => {
      const isKept = Math.floor(((place + 1) * most) / count) > Math.floor((place * most) / count);
      place++;
      return isKept;
    });
  }
  return count - most;
}

/** Joins the keys of each document to runs of typing, if there are too many keys in all. Null: there are not. */
function joinKeys(readings: readonly Reading[]): Row[][] | null {
  if (readings.reduce((sum, { keys }) => sum + keys.length, 0) <= MAX_KEYS) return null;
  for (let pauseMs = FIRST_RUN_PAUSE_MS; ; pauseMs *= 2) {
    const runs = readings.map(({ keys }) => {
      const joined: Row[] = [];
      for (const [atMs] of keys) {
        const last = joined.at(-1);
        if (last && atMs - last[0] - last[1]! <= pauseMs) {
          last[1] = atMs - last[0];
          last[2]!++;
        } else joined.push([atMs, 0, 1]);
      }
      return joined;
    });
    if (runs.reduce((sum, { length }) => sum + length, 0) <= MAX_RUNS) return runs;
  }
}

const chooseRows = ({ timesMs, xs, ys }: Track, chosen: readonly number[], hasX: boolean): Row[] =>
  chosen.map((index) => (hasX ? [timesMs[index]!, xs[index]!, ys[index]!] : [timesMs[index]!, ys[index]!]));

/** Writes rows one after the other, each with the time since the one before. */
function writeRows(rows: readonly Row[], startMs: number): number[] {
  const written: number[] = [];
  let beforeMs = startMs;
  for (const row of rows) {
    written.push(row[0] - beforeMs);
    for (let place = 1; place < row.length; place++) written.push(row[place]!);
    beforeMs = row[0];
  }
  return written;
}

function readDocument(document: TraceDocument, urls: Urls): Reading {
  const reading: Reading = {
    ...{ startMs: Number.POSITIVE_INFINITY, endMs: Number.NEGATIVE_INFINITY, isFramed: false },
    ...{ path: createTrack(), scrolls: createTrack(), keys: [] },
    ...{ windows: [], pages: [], presses: [], focuses: [], texts: [], visibility: [] },
  };
  const anchor = anchorDocument(document);
  const state: State = { reading, urls, press: null, keys: new Map() };
  for (const batch of document.batches) readBatch(state, batch, anchor);
  for (const rows of [reading.keys, ...ROW_NAMES.map((name) => reading[name])]) rows.sort((a, b) => a[0] - b[0]);
  return reading;
}

/** What a document has left open: the press and the keys that are down. */
interface State {
  reading: Reading;
  urls: Urls;
  press: Row | null;
  keys: Map<number, Row>;
}

/** Where the fields of an event stand. */
const placesOf = <Code extends EventCode>(code: Code) =>
  Object.fromEntries(EVENT_FIELDS[code].map((name, place) => [name, place])) as Record<
    (typeof EVENT_FIELDS)[Code][number],
    number
  >;
const PRESS = placesOf(EventCode.Press);
const RELEASE = placesOf(EventCode.Release);
const KEY_DOWN = placesOf(EventCode.KeyDown);
const KEY_UP = placesOf(EventCode.KeyUp);
const INPUT = placesOf(EventCode.Input);
const CLIPBOARD = placesOf(EventCode.Clipboard);
const FOCUS = placesOf(EventCode.Focus);

function readBatch(state: State, batch: TraceBatch, anchor: Anchor): void {
  const { reading } = state;
  const ev = unpackNumbers(batch.events);
  let [x, y] = [0, 0];
  if (batch.e) {
    const atMs = findServerTime(ev.length > 0 ? ev[1]! / 10 : batch.c[0], batch, anchor);
    reading.isFramed ||= (batch.e.b & ENVIRONMENT_BITS.framed) !== 0;
    reading.windows.push([atMs, clampSize(batch.e.v[2]), clampSize(batch.e.v[3])]);
    noteTime(reading, atMs);
  }
  visitEvents(ev, (code, timeMs, at) => {
    const atMs = findServerTime(timeMs, batch, anchor);
    noteTime(reading, atMs);
    switch (code) {
      case EventCode.Move:
        x += ev[at]!;
        y += ev[at + 1]!;
        addPoint(reading.path, atMs, x, y);
        break;
      case EventCode.Scroll:
        addPoint(reading.scrolls, atMs, 0, ev[at]!);
        break;
      case EventCode.Press:
        state.press = readPress(ev, at, atMs);
        reading.presses.push(state.press);
        break;
      case EventCode.Release:
        if (state.press) state.press[HELD_AT] = clampHeld(ev[at + RELEASE.held10]! / 10);
        state.press = null;
        break;
      case EventCode.KeyDown:
        readKeyDown(state, ev, at, atMs);
        break;
      case EventCode.KeyUp:
        readKeyUp(state, ev[at + KEY_UP.slot]!, atMs);
        break;
      case EventCode.Input:
        readInput(reading, ev, at, atMs);
        break;
      case EventCode.Clipboard: {
        const how = RECORDED_TEXTS.indexOf(CLIPBOARD_KINDS[ev[at + CLIPBOARD.kind]!]!);
        reading.texts.push([atMs, how, classifyLength(ev[at + CLIPBOARD.length]!)]);
        break;
      }
      case EventCode.Focus:
        reading.focuses.push([atMs, ev[at + FOCUS.role]!]);
        break;
      case EventCode.Visibility:
        reading.visibility.push([atMs, ev[at]!]);
        break;
      case EventCode.Leave:
        reading.visibility.push([atMs, 2]);
        break;
      case EventCode.Page:
        reading.pages.push([atMs, listUrl(state.urls, batch.p![ev[at]!]!)]);
        break;
      default:
    }
  });
}

function noteTime(reading: Reading, atMs: number): void {
  if (atMs < reading.startMs) reading.startMs = atMs;
  if (atMs > reading.endMs) reading.endMs = atMs;
}

/** The place of `held` in a row of a press and of a key. */
const HELD_AT = 9;
const KEY_HELD_AT = 1;

function readPress(ev: readonly number[], at: number, atMs: number): Row {
  const field = (place: number) => ev[at + place]!;
  const [x, y] = [field(PRESS.x10) / 10, field(PRESS.y10) / 10];
  const [width, height] = [clampSize(field(PRESS.width)), clampSize(field(PRESS.height))];
  const left = clampPlace(x - field(PRESS.offsetX10) / 10 - width / 2);
  const top = clampPlace(y - field(PRESS.offsetY10) / 10 - height / 2);
  const isByScript = (field(PRESS.flags) & EVENT_FLAGS.trusted) === 0;
  return [
    ...([atMs, field(PRESS.pointer), clampPlace(x), clampPlace(y), left, top, width, height] as const),
    ...[field(PRESS.role), -1, Number(isByScript)],
  ];
}

function readKeyDown({ reading, keys }: State, ev: readonly number[], at: number, atMs: number): void {
  if ((ev[at + KEY_DOWN.flags]! & EVENT_FLAGS.repeated) !== 0) return;
  const row: Row = [atMs, -1, KEY_KINDS[ev[at + KEY_DOWN.class]!]!];
  reading.keys.push(row);
  keys.set(ev[at + KEY_DOWN.slot]!, row);
}

function readKeyUp({ keys }: State, slot: number, atMs: number): void {
  const row = keys.get(slot);
  if (row) row[KEY_HELD_AT] = clampHeld(atMs - row[0]);
  keys.delete(slot);
}

const INSERTED = new Set(['insertText', 'insertReplacement', 'other', 'none']);

/** Notes text that came at once and was neither typed key by key, nor pasted or dropped, which has its own event. */
function readInput(reading: Reading, ev: readonly number[], at: number, atMs: number): void {
  const length = ev[at + INPUT.insertedLength]!;
  if (length < MIN_INSERTED || !INSERTED.has(INPUT_TYPES[ev[at + INPUT.type]!]!)) return;
  reading.texts.push([atMs, RECORDED_TEXTS.indexOf('insert'), classifyLength(length)]);
}

const KIND_OF_CLASS: Record<(typeof KEY_CLASSES)[number], RecordedKey> = {
  ...{ letter: 'character', capital: 'character', digit: 'character', space: 'character', punctuation: 'character' },
  ...{ composition: 'character', backspace: 'erase', delete: 'erase', enter: 'navigate', tab: 'navigate' },
  ...{ arrow: 'navigate', shift: 'modifier', capsLock: 'modifier', modifier: 'modifier', other: 'other' },
};
const KEY_KINDS = KEY_CLASSES.map((name) => RECORDED_KEYS.indexOf(KIND_OF_CLASS[name]));

const clampHeld = (ms: number) => (ms < 0 ? -1 : Math.min(MAX_HELD_MS, Math.round(ms)));
const clampSize = (px: number) => Math.max(0, Math.min(MAX_PLACE_PX, px));
const classifyLength = (length: number) => (length < 0 ? -1 : TEXT_LENGTHS.findIndex((most) => length <= most));

/** The addresses of a recording, and the index of each address that a page had. */
interface Urls {
  shown: string[];
  known: Map<string, number>;
}

/** Finds the index of a page's address, which is cut to what tells pages apart. */
function listUrl({ shown, known }: Urls, url: string): number {
  let index = known.get(url);
  if (index === undefined) {
    const cut = url.length <= MAX_URL_LENGTH ? url : `${url.slice(0, MAX_URL_LENGTH - 1).toWellFormed()}…`;
    index = shown.indexOf(cut);
    if (index < 0 && shown.length < MAX_URLS) index = shown.push(cut) - 1;
    known.set(url, index);
  }
  return index;
}
