import {
  RECORDED_KEYS,
  RECORDED_TEXTS,
  type RecordedKey,
  type RecordedText,
} from '../../../../../contract/recorded-kinds';
import type { RecordedDocument, Recording } from '../../../../../contract/recordings';

// Reads a recording into lists in which a moment can be found. All times are milliseconds since the start of the session.

export interface ScenePlace {
  x: number;
  y: number;
}
/** A track: between two points it moves evenly. */
export interface TrackPoint extends ScenePlace {
  atMs: number;
}

export interface ScenePress extends TrackPoint {
  pointer: number;
  /** The box of what was pressed, in the page: its place in the window, and how far the page had scrolled. */
  box: ScenePlace & { width: number; height: number };
  role: number;
  heldMs: number | null;
  isByScript: boolean;
}

export interface SceneDocument {
  startMs: number;
  isFramed: boolean;
  windows: { atMs: number; width: number; height: number }[];
  pages: { atMs: number; url: string | null }[];
  path: TrackPoint[];
  scrolls: TrackPoint[];
  presses: ScenePress[];
}

export type Mark = { atMs: number } & (
  | { kind: 'page'; url: string | null }
  | { kind: 'focus'; role: number }
  | { kind: 'text'; how: RecordedText; lengthClass: number }
  | { kind: 'visibility'; state: number }
  | { kind: 'press'; press: ScenePress }
);

export interface SceneKey {
  atMs: number;
  heldMs: number | null;
  kind: RecordedKey;
}

export interface Scene {
  startMs: number;
  endMs: number;
  documents: SceneDocument[];
  /** From when on which document is shown: the one in which something happened last. */
  shown: { atMs: number; place: number }[];
  keys: SceneKey[];
  /** Instead of keys, if there are too many. */
  typing: { atMs: number; durationMs: number; count: number }[];
  /** What happened, in order. */
  marks: Mark[];
}

/** Reads rows of numbers, the first of which is the time since the row before. */
function readRows<Row>(
  numbers: number[],
  width: number,
  startMs: number,
  read: (atMs: number, row: number[]) => Row,
): Row[] {
  let atMs = startMs;
  return Array.from({ length: Math.floor(numbers.length / width) }, (_, place) => {
    const row = numbers.slice(place * width, (place + 1) * width);
    atMs += row[0]!;
    return read(atMs, row);
  });
}

const known = (ms: number) => (ms < 0 ? null : ms);
const byTime = (a: { atMs: number }, b: { atMs: number }) => a.atMs - b.atMs;

/** Reads a recording. */
export function readScene({ documents, urls, endMs, segments }: Recording): Scene {
  const read = documents.map((document) => readDocument(document, urls));
  const marks = documents.flatMap((document, place) => listMarks(document, read[place]!));
  return {
    startMs: Math.min(0, ...read.map(({ startMs }) => startMs)),
    endMs: Math.max(endMs, 1, ...segments.map(({ startMs }) => startMs)),
    documents: read,
    shown: findShown(documents, read),
    keys: documents.flatMap(readKeys).sort(byTime),
    typing: documents
      .flatMap(({ typing, startMs }) =>
        readRows(typing, 3, startMs, (atMs, row) => ({ atMs, durationMs: row[1]!, count: row[2]! })),
      )
      .sort(byTime),
    marks: marks.sort(byTime),
  };
}

const readKeys = ({ keys, startMs }: RecordedDocument): SceneKey[] =>
  readRows(keys, 3, startMs, (atMs, row) => ({ atMs, heldMs: known(row[1]!), kind: RECORDED_KEYS[row[2]!]! }));

function readDocument(document: RecordedDocument, urls: readonly string[]): SceneDocument {
  const { startMs, isFramed } = document;
  const scrolls = readRows(document.scrolls, 2, startMs, (atMs, row) => ({ atMs, x: 0, y: row[1]! }));
  return {
    ...{ startMs, isFramed, scrolls },
    windows: readRows(document.windows, 3, startMs, (atMs, row) => ({ atMs, width: row[1]!, height: row[2]! })),
    pages: readRows(document.pages, 2, startMs, (atMs, row) => ({ atMs, url: urls[row[1]!] ?? null })),
    path: readRows(document.path, 3, startMs, (atMs, row) => ({ atMs, x: row[1]!, y: row[2]! })),
    presses: readRows(document.presses, 11, startMs, (atMs, row) => {
      const [pointer, x, y, left, top, width, height, role, heldMs, isByScript] = row.slice(1) as [number, ...number[]];
      const scrolled = findPlace(scrolls, atMs)?.y ?? 0;
      return {
        ...{ atMs, pointer, x: x!, y: y!, role: role!, heldMs: known(heldMs!), isByScript: isByScript === 1 },
        box: { x: left!, y: top! + scrolled, width: width!, height: height! },
      };
    }),
  };
}

function listMarks(document: RecordedDocument, { pages, presses }: SceneDocument): Mark[] {
  const { startMs } = document;
  return [
    ...pages.map((page): Mark => ({ kind: 'page', ...page })),
    ...readRows(document.focuses, 2, startMs, (atMs, row): Mark => ({ kind: 'focus', atMs, role: row[1]! })),
    ...readRows(document.texts, 3, startMs, (atMs, row): Mark => {
      return { kind: 'text', atMs, how: RECORDED_TEXTS[row[1]!]!, lengthClass: row[2]! };
    }),
    ...readRows(document.visibility, 2, startMs, (atMs, row): Mark => ({ kind: 'visibility', atMs, state: row[1]! })),
    ...presses.map((press): Mark => ({ kind: 'press', atMs: press.atMs, press })),
  ];
}

/** Finds which document something happens in, all the time. */
function findShown(documents: readonly RecordedDocument[], read: readonly SceneDocument[]): Scene['shown'] {
  const times = read.flatMap(({ startMs, pages, path, scrolls, presses }, place) => [
    { atMs: startMs, place },
    ...[...pages, ...path, ...scrolls, ...presses, ...readKeys(documents[place]!)].map(({ atMs }) => ({ atMs, place })),
  ]);
  return times.sort(byTime).filter(({ place }, index) => place !== times[index - 1]?.place);
}

/** Finds the last of some things in order that is not after a moment. Undefined if there is none. */
export function findLast<Thing extends { atMs: number }>(things: readonly Thing[], atMs: number): Thing | undefined {
  return things[countUpTo(things, atMs) - 1];
}

/** Counts the things in order that are not after a moment. */
export function countUpTo(things: readonly { atMs: number }[], atMs: number): number {
  let [low, high] = [0, things.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (things[middle]!.atMs > atMs) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Finds where a track is at a moment. Null before its first point. */
export function findPlace(track: readonly TrackPoint[], atMs: number): ScenePlace | null {
  const count = countUpTo(track, atMs);
  const [before, after] = [track[count - 1], track[count]];
  if (!before) return null;
  if (!after) return before;
  const share = (atMs - before.atMs) / (after.atMs - before.atMs);
  return { x: before.x + share * (after.x - before.x), y: before.y + share * (after.y - before.y) };
}

/** Lists the points of a track from one moment to another, with where it is at both. */
export function cutTrack(track: readonly TrackPoint[], fromMs: number, toMs: number): ScenePlace[] {
  const [first, last] = [countUpTo(track, fromMs), countUpTo(track, toMs)];
  const [start, end] = [findPlace(track, fromMs), findPlace(track, toMs)];
  return [start, ...track.slice(first, last), end].filter((place) => place !== null);
}
