import { ENVIRONMENT_BITS, EventCode } from '../../contract/beacon';
import { type Anchor, PAGE_AT, rememberByBatch, type TraceBatch, visitEvents } from './trace';
import { unpackNumbers } from './varints';

/** A document of a session: its batches in order of their numbers, without repeats. */
export interface TraceDocument {
  batches: [TraceBatch, ...TraceBatch[]];
  /** Rises when a batch is put before others, or replaces one. What was read of the document is then outdated. */
  revision: number;
}

/** The documents of a session, while batches are added to them. */
export interface TraceDocuments {
  /** Adds batches, in any order. Repeats change nothing: the first to arrive counts. */
  add(batches: Iterable<TraceBatch>): void;
  /** Whether there is a batch with this number of this document. */
  has(batch: Pick<TraceBatch, 'd' | 'n'>): boolean;
  count(): number;
  /** In order of their ids. */
  list(): readonly TraceDocument[];
}

export function createDocuments(): TraceDocuments {
  const documents = new Map<string, TraceDocument>();
  let sorted: TraceDocument[] = [];
  return {
    add(batches) {
      for (const batch of batches) {
        const document = documents.get(batch.d);
        if (document) addBatch(document, batch);
        else documents.set(batch.d, { batches: [batch], revision: 0 });
      }
    },
    has: ({ d, n }) => documents.get(d)?.batches.findLast((batch) => batch.n <= n)?.n === n,
    count: () => documents.size,
    list() {
      if (sorted.length < documents.size)
        sorted = [...documents.values()].sort((a, b) => compareText(a.batches[0].d, b.batches[0].d));
      return sorted;
    },
  };
}

function addBatch(document: TraceDocument, batch: TraceBatch): void {
  const { batches } = document;
  const place = batches.findLastIndex(({ n }) => n <= batch.n);
  const isRepeat = place >= 0 && batches[place]!.n === batch.n;
  if (isRepeat && compareRepeats(batches[place]!, batch) <= 0) return;
  if (isRepeat || place < batches.length - 1) document.revision++;
  batches.splice(isRepeat ? place : place + 1, isRepeat ? 1 : 0, batch);
}

const compareRepeats = (a: TraceBatch, b: TraceBatch): number =>
  a.receivedAtMs - b.receivedAtMs || compareText(JSON.stringify(a), JSON.stringify(b));

/** Compares by code units, which no locale changes. */
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Puts batches into documents. */
export function sortDocuments(batches: Iterable<TraceBatch>): readonly TraceDocument[] {
  const documents = createDocuments();
  documents.add(batches);
  return documents.list();
}

/** Sorts batches by document and sequence number, and drops repeats: the first to arrive stays. */
export const sortBatches = (batches: readonly TraceBatch[]): TraceBatch[] =>
  sortDocuments(batches).flatMap((document) => document.batches);

/** Whether no batch is missing so far: the numbers of each document begin with 0 and have no gap. */
export const isComplete = (documents: TraceDocuments): boolean =>
  documents.list().every(({ batches }) => batches.at(-1)!.n === batches.length - 1);

/** Anchors a document in the server's time by the arrival of its first batch. */
export const anchorDocument = ({ batches: [first] }: TraceDocument): Anchor => ({
  originMs: first.receivedAtMs - first.c[0],
  firstReceivedAtMs: first.receivedAtMs,
  wallOriginMs: first.c[1] - first.c[0],
});

/** Finds the document whose first batch arrived before those of all others. Undefined if there are none. */
export function findFirstDocument(documents: readonly TraceDocument[]): TraceDocument | undefined {
  let [first] = documents;
  for (const document of documents)
    if (document.batches[0].receivedAtMs < first!.batches[0].receivedAtMs) first = document;
  return first;
}

/** Where a document stands in the server's time and among the others, and its pages. */
export interface DocumentAnchor extends Anchor {
  /** Whether its first batch arrived before those of all other documents. */
  isFirst: boolean;
  isFramed: boolean;
  /** The address that each batch with pages ends with, by sequence number. */
  pages: readonly { sequence: number; url: string }[];
}
export type DocumentAnchors = ReadonlyMap<string, DocumentAnchor>;

/**
 * Anchors each document of some batches. Batches that arrive later change no anchor, provided that those of a document are
 * passed on from number 0 without gaps.
 */
export function anchorDocuments(batches: readonly TraceBatch[]): DocumentAnchors {
  const documents = sortDocuments(batches);
  const earliest = findFirstDocument(documents);
  return new Map(
    documents.map((document) => {
      const [first] = document.batches;
      const pages = document.batches.flatMap((batch) => {
        const url = findLastPage(batch);
        return url === null ? [] : [{ sequence: batch.n, url }];
      });
      const isFramed = first.e !== undefined && (first.e.b & ENVIRONMENT_BITS.framed) !== 0;
      return [first.d, { isFirst: document === earliest, isFramed, pages, ...anchorDocument(document) }];
    }),
  );
}

/** Finds the address that a batch ends with. Null if it names none. */
const findLastPage = (batch: TraceBatch) => (batch.p === undefined ? null : readLastPage(batch));

const readLastPage = rememberByBatch((batch) => {
  let url: string | undefined;
  const ev = unpackNumbers(batch.events);
  visitEvents(ev, (code, _, fieldsAt) => {
    if (code === EventCode.Page) url = batch.p![ev[fieldsAt + PAGE_AT]!];
  });
  return url ?? null;
});

/** Finds the page that a document shows when a batch begins. */
export const findPage = (anchor: DocumentAnchor, sequence: number): string | null =>
  anchor.pages.findLast((page) => page.sequence < sequence)?.url ?? null;
