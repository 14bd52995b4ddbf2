import { EventCode } from '../../contract/beacon';
import {
  anchorDocument,
  createDocuments,
  findFirstDocument,
  type TraceDocument,
  type TraceDocuments,
} from './documents';
import { findServerTime, PAGE_AT, type Trace, type TraceBatch, visitEvents } from './trace';
import { unpackNumbers } from './varints';

/** Whether a session goes on, and what its first and last batches say. All times are the server's. */
export interface SessionPresence {
  /** When the session's first document noted its first event. */
  startedAtMs: number;
  /** The first page of the first document; null if it named none. */
  pageUrl: string | null;
  /** When the last batch arrived. */
  lastSignMs: number;
  /** Whether every document was left, and none was restored. */
  isGone: boolean;
  /** When the last of them was left: the arrival of the batch that says so. Null while one is there. */
  goneSinceMs: number | null;
  /** Whether the page asked to end the session. */
  hasEnded: boolean;
}

/** Reads from all batches of a session whether its pages are still there. Returns null for a trace without batches. */
export function readPresence({ batches }: Pick<Trace, 'batches'>): SessionPresence | null {
  const documents = createDocuments();
  documents.add(batches);
  return createPresenceReader(documents)();
}

/** Creates a function that reads what is new in some documents, and answers for all of it. */
export function createPresenceReader(documents: TraceDocuments): () => SessionPresence | null {
  const states = new Map<TraceDocument, DocumentState>();
  return () => {
    const all = documents.list();
    const first = findFirstDocument(all);
    if (!first) return null;
    const read = all.map((document) => {
      const known = states.get(document);
      const state = known?.revision === document.revision ? known : beginState(document);
      for (; state.count < document.batches.length; state.count++) followBatch(state, document.batches[state.count]!);
      states.set(document, state);
      return state;
    });
    const gone = read.map(({ goneSinceMs }) => goneSinceMs).filter((time) => time !== null);
    const isGone = gone.length === read.length;
    return {
      lastSignMs: read.reduce((latest, state) => Math.max(latest, state.lastSignMs), Number.NEGATIVE_INFINITY),
      isGone,
      goneSinceMs: isGone ? gone.reduce((latest, time) => Math.max(latest, time)) : null,
      hasEnded: read.some((state) => state.hasEnded),
      ...readStart(first, states.get(first)!.start!),
    };
  };
}

function readStart(
  first: TraceDocument,
  { firstTimeMs, firstPage }: Signs,
): Pick<SessionPresence, 'startedAtMs' | 'pageUrl'> {
  const [batch] = first.batches;
  const startedAtMs =
    firstTimeMs === null ? batch.receivedAtMs : findServerTime(firstTimeMs, batch, anchorDocument(first));
  return { startedAtMs, pageUrl: firstPage };
}

/** What the first `count` batches of a document say. */
interface DocumentState {
  count: number;
  revision: number;
  /** What the first of them says. */
  start: Signs | null;
  /** When the document was left, by its own clock. */
  leftTimeMs: number | null;
  goneSinceMs: number | null;
  lastSignMs: number;
  hasEnded: boolean;
}

const beginState = ({ revision }: TraceDocument): DocumentState => ({
  count: 0,
  revision,
  start: null,
  leftTimeMs: null,
  goneSinceMs: null,
  lastSignMs: Number.NEGATIVE_INFINITY,
  hasEnded: false,
});

function followBatch(state: DocumentState, batch: TraceBatch): void {
  const signs = readSigns(batch);
  state.start ??= signs;
  followSigns(state, signs, batch.receivedAtMs);
  state.lastSignMs = Math.max(state.lastSignMs, batch.receivedAtMs);
  if (batch.x) state.hasEnded = true;
}

/** What a page that is being left still notes. Anything later comes from a page that was restored. */
const LEAVING_MS = 2_000;

/** What a batch says of its document being there. Times are of the document's clock. */
interface Signs {
  firstTimeMs: number | null;
  /** The page of its first Page event. */
  firstPage: string | null;
  hasPage: boolean;
  /** The latest time, which need not be that of the last event. */
  latestTimeMs: number;
  /** Whether the document was left, and when, if it was not restored after that. */
  hasLeave: boolean;
  leftTimeMs: number | null;
}

function readSigns(batch: TraceBatch): Signs {
  // One literal: in Node 20 each object that begins with a spread gets its own hidden class.
  const signs: Signs = {
    firstTimeMs: null,
    firstPage: null,
    hasPage: false,
    latestTimeMs: Number.NEGATIVE_INFINITY,
    hasLeave: false,
    leftTimeMs: null,
  };
  const ev = unpackNumbers(batch.events);
  visitEvents(ev, (code, timeMs, fieldsAt) => {
    signs.firstTimeMs ??= timeMs;
    signs.latestTimeMs = Math.max(signs.latestTimeMs, timeMs);
    const isPage = code === EventCode.Page;
    if (isPage && !signs.hasPage) signs.firstPage = batch.p?.[ev[fieldsAt + PAGE_AT]!] ?? null;
    signs.hasPage ||= isPage;
    if (code === EventCode.Leave) {
      signs.hasLeave = true;
      signs.leftTimeMs = timeMs;
    } else if (signs.leftTimeMs !== null && (isPage || timeMs > signs.leftTimeMs + LEAVING_MS)) {
      signs.leftTimeMs = null;
    }
  });
  return signs;
}

function followSigns(state: DocumentState, { hasLeave, leftTimeMs, hasPage, latestTimeMs }: Signs, atMs: number): void {
  if (hasLeave) {
    state.leftTimeMs = leftTimeMs;
    state.goneSinceMs = leftTimeMs === null ? null : atMs;
  } else if (state.leftTimeMs !== null && (hasPage || latestTimeMs > state.leftTimeMs + LEAVING_MS)) {
    state.leftTimeMs = null;
    state.goneSinceMs = null;
  }
}
