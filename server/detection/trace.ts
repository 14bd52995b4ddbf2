import {
  type Beacon,
  type BeaconContent,
  ENVIRONMENT_BITS,
  EVENT_FIELDS,
  EventCode,
  MAX_SESSION_MS,
} from '../../contract/beacon';

// A trace is what one session sent. Nothing here depends on the order in which its batches arrived. A batch never changes, so
// what follows from it alone is computed once and remembered as long as the batch is in memory.

/** A batch as it is kept: its content, what else a replay of the session needs, and when it arrived. */
export interface TraceBatch extends BeaconContent, Pick<Beacon, 'u' | 'x'> {
  receivedAtMs: number;
}

/** All batches of one session, in any order. */
export interface Trace {
  userAgent: string;
  batches: readonly TraceBatch[];
}

/**
 * A decoded event. `timeMs` is of the document's monotonic clock, `atMs` of the server's. A move has its place, `x` and
 * `y`.
 */
export type TraceEvent = {
  [Code in EventCode]: { code: Code; timeMs: number; atMs: number } & Record<
    (typeof EVENT_FIELDS)[Code][number],
    number
  > &
    (Code extends EventCode.Move ? { x: number; y: number } : unknown);
}[EventCode];

/** Where a document stands in the server's time, and its pages. */
export interface DocumentAnchor {
  /** The server's time at the document's time origin. */
  originMs: number;
  /** When its first batch arrived. */
  firstReceivedAtMs: number;
  /** Whether its first batch arrived before those of all other documents. */
  isFirst: boolean;
  isFramed: boolean;
  /** The address that each batch with pages ends with, by sequence number. */
  pages: readonly { sequence: number; url: string }[];
}
export type DocumentAnchors = ReadonlyMap<string, DocumentAnchor>;

/** Sorts batches by document and sequence number, and drops repeats: the first to arrive stays. */
export function sortBatches(batches: readonly TraceBatch[]): TraceBatch[] {
  const sorted = [...batches].sort(
    (a, b) => compareText(a.d, b.d) || a.n - b.n || a.receivedAtMs - b.receivedAtMs || compareContent(a, b),
  );
  return sorted.filter((batch, i) => i === 0 || batch.d !== sorted[i - 1]!.d || batch.n !== sorted[i - 1]!.n);
}

/**
 * Anchors each document in the server's time by the arrival of its first batch. Batches that arrive later change no
 * anchor, provided that those of a document are passed on from number 0 without gaps.
 */
export function anchorDocuments(batches: readonly TraceBatch[]): DocumentAnchors {
  const anchors = new Map<string, DocumentAnchor & { pages: { sequence: number; url: string }[] }>();
  for (const batch of sortBatches(batches)) {
    let anchor = anchors.get(batch.d);
    if (anchor === undefined) {
      const isFramed = batch.e !== undefined && (batch.e.b & ENVIRONMENT_BITS.framed) !== 0;
      const originMs = batch.receivedAtMs - batch.c[0];
      anchor = { originMs, firstReceivedAtMs: batch.receivedAtMs, isFirst: false, isFramed, pages: [] };
      anchors.set(batch.d, anchor);
    }
    const url = findLastPage(batch);
    if (url !== null) anchor.pages.push({ sequence: batch.n, url });
  }
  let first: DocumentAnchor | null = null;
  for (const anchor of anchors.values())
    if (first === null || anchor.firstReceivedAtMs < first.firstReceivedAtMs) first = anchor;
  if (first) first.isFirst = true;
  return anchors;
}

/** Makes a function remember its answer for each batch. */
export function rememberByBatch<Answer>(find: (batch: TraceBatch) => Answer): (batch: TraceBatch) => Answer {
  const known = new WeakMap<TraceBatch, { answer: Answer }>();
  return (batch) => {
    let entry = known.get(batch);
    if (entry === undefined) {
      entry = { answer: find(batch) };
      known.set(batch, entry);
    }
    return entry.answer;
  };
}

/** Finds the address that a batch ends with. Null if it names none. */
const findLastPage = rememberByBatch((batch) => {
  let url: string | undefined;
  if (batch.p === undefined) return null;
  visitEvents(batch, (code, _, fieldsAt) => {
    if (code === EventCode.Page) url = batch.p![batch.ev[fieldsAt + PAGE_AT]!];
  });
  return url ?? null;
});

/** Finds the page that a document shows when a batch begins. */
export const findPage = (anchor: DocumentAnchor, sequence: number): string | null =>
  anchor.pages.findLast((page) => page.sequence < sequence)?.url ?? null;

const LAYOUTS: (readonly string[])[] = [];
for (const [code, names] of Object.entries(EVENT_FIELDS)) LAYOUTS[Number(code)] = names;
/** Where the index of the page stands among the fields of a Page. */
export const PAGE_AT = EVENT_FIELDS[EventCode.Page].indexOf('page');

/** Splits sorted batches by their document. */
export function splitDocuments(sorted: readonly TraceBatch[]): [TraceBatch, ...TraceBatch[]][] {
  const documents: [TraceBatch, ...TraceBatch[]][] = [];
  for (const batch of sorted) {
    const document = documents.at(-1);
    if (document?.[0].d === batch.d) document.push(batch);
    else documents.push([batch]);
  }
  return documents;
}

/**
 * Finds the server's time of a moment of a document: not in the future of its batch's arrival, nor further in the past of
 * the document's first batch than a session can last.
 */
export function findServerTime(timeMs: number, { receivedAtMs }: TraceBatch, anchor: DocumentAnchor): number {
  const earliestMs = anchor.firstReceivedAtMs - MAX_SESSION_MS;
  return Math.floor(Math.min(Math.max(anchor.originMs + timeMs, earliestMs), receivedAtMs));
}

/** Visits the events of a batch: code, time in the document's clock, and where its fields begin in `ev`. */
export function visitEvents(
  { ev }: TraceBatch,
  visit: (code: EventCode, timeMs: number, fieldsAt: number) => void,
): void {
  let time10 = 0;
  for (let at = 0; at < ev.length; ) {
    const code = ev[at]!;
    time10 += ev[at + 1]!;
    visit(code, time10 / 10, at + 2);
    at += 2 + LAYOUTS[code]!.length;
  }
}

/** Decodes the events of a batch. */
export function readEvents(batch: TraceBatch, anchor: DocumentAnchor): TraceEvent[] {
  const { ev } = batch;
  const events: TraceEvent[] = [];
  let [x, y] = [0, 0];
  visitEvents(batch, (code, timeMs, fieldsAt) => {
    const event: Record<string, number> = { code, timeMs, atMs: findServerTime(timeMs, batch, anchor) };
    let at = fieldsAt;
    for (const name of LAYOUTS[code]!) event[name] = ev[at++]!;
    if (code === EventCode.Move) {
      x += event.dx!;
      y += event.dy!;
      event.x = x;
      event.y = y;
    }
    events.push(event as unknown as TraceEvent);
  });
  return events;
}

/** Compares by code units, which no locale changes. */
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const compareContent = (a: TraceBatch, b: TraceBatch) => compareText(JSON.stringify(a), JSON.stringify(b));
