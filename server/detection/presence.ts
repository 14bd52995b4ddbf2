import { type BeaconUser, EventCode } from '../../contract/beacon';
import { anchorDocuments, readEvents, sortBatches, type Trace, type TraceBatch, type TraceEvent } from './trace';

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
  /** Who the latest batch that names somebody says the visitor is. */
  user: BeaconUser | null;
}

/** Reads from all batches of a session whether its pages are still there. Answers null for a trace without batches. */
export function readPresence({ batches }: Pick<Trace, 'batches'>): SessionPresence | null {
  if (batches.length === 0) return null;
  const anchors = anchorDocuments(batches);
  const documents = new Map<string, DocumentState>();
  const presence: SessionPresence = {
    ...{ startedAtMs: 0, pageUrl: null, lastSignMs: Number.NEGATIVE_INFINITY },
    ...{ isGone: false, goneSinceMs: null, hasEnded: false, user: null },
  };
  let named: TraceBatch | null = null;
  for (const batch of sortBatches(batches)) {
    const anchor = anchors.get(batch.d)!;
    const events = readEvents(batch, anchor);
    let state = documents.get(batch.d);
    if (state === undefined) {
      state = { leftTimeMs: null, goneSinceMs: null };
      documents.set(batch.d, state);
      if (anchor.isFirst) {
        presence.startedAtMs = events[0]?.atMs ?? batch.receivedAtMs;
        presence.pageUrl = findFirstPage(batch, events);
      }
    }
    for (const event of events) followEvent(state, event, batch.receivedAtMs);
    presence.lastSignMs = Math.max(presence.lastSignMs, batch.receivedAtMs);
    if (batch.x) presence.hasEnded = true;
    if (batch.u && (named === null || batch.receivedAtMs >= named.receivedAtMs)) named = batch;
  }
  presence.user = named?.u ?? null;
  const times = [...documents.values()].map(({ goneSinceMs }) => goneSinceMs);
  if (times.every((time) => time !== null)) {
    presence.isGone = true;
    presence.goneSinceMs = Math.max(...times);
  }
  return presence;
}

interface DocumentState {
  /** When the document was left, by its own clock. */
  leftTimeMs: number | null;
  goneSinceMs: number | null;
}

/** What a page that is being left still notes. Anything later comes from a page that was restored. */
const LEAVING_MS = 2_000;

function followEvent(state: DocumentState, { code, timeMs }: TraceEvent, receivedAtMs: number): void {
  if (code === EventCode.Leave) {
    state.leftTimeMs = timeMs;
    state.goneSinceMs = receivedAtMs;
  } else if (state.leftTimeMs !== null && (code === EventCode.Page || timeMs > state.leftTimeMs + LEAVING_MS)) {
    state.leftTimeMs = null;
    state.goneSinceMs = null;
  }
}

function findFirstPage(batch: TraceBatch, events: readonly TraceEvent[]): string | null {
  const page = events.find((event) => event.code === EventCode.Page);
  return (page && batch.p?.[page.page]) ?? null;
}
