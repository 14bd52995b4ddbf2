import { type BeaconUser, EventCode } from '../../contract/beacon';
import {
  anchorDocuments,
  findServerTime,
  PAGE_AT,
  rememberByBatch,
  sortBatches,
  type Trace,
  type TraceBatch,
  visitEvents,
} from './trace';

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
  const sorted = sortBatches(batches);
  const anchors = anchorDocuments(sorted);
  const documents = new Map<string, DocumentState>();
  const presence: SessionPresence = {
    ...{ startedAtMs: 0, pageUrl: null, lastSignMs: Number.NEGATIVE_INFINITY },
    ...{ isGone: false, goneSinceMs: null, hasEnded: false, user: null },
  };
  let named: TraceBatch | null = null;
  for (const batch of sorted) {
    const anchor = anchors.get(batch.d)!;
    const signs = readSigns(batch);
    let state = documents.get(batch.d);
    if (state === undefined) {
      state = { leftTimeMs: null, goneSinceMs: null };
      documents.set(batch.d, state);
      if (anchor.isFirst) {
        const { firstTimeMs } = signs;
        presence.startedAtMs = firstTimeMs === null ? batch.receivedAtMs : findServerTime(firstTimeMs, batch, anchor);
        presence.pageUrl = signs.firstPage;
      }
    }
    followSigns(state, signs, batch.receivedAtMs);
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

const readSigns = rememberByBatch((batch): Signs => {
  const signs: Signs = {
    ...{ firstTimeMs: null, firstPage: null, hasPage: false, latestTimeMs: Number.NEGATIVE_INFINITY },
    ...{ hasLeave: false, leftTimeMs: null },
  };
  visitEvents(batch, (code, timeMs, fieldsAt) => {
    signs.firstTimeMs ??= timeMs;
    signs.latestTimeMs = Math.max(signs.latestTimeMs, timeMs);
    const isPage = code === EventCode.Page;
    if (isPage && !signs.hasPage) signs.firstPage = batch.p?.[batch.ev[fieldsAt + PAGE_AT]!] ?? null;
    signs.hasPage ||= isPage;
    if (code === EventCode.Leave) {
      signs.hasLeave = true;
      signs.leftTimeMs = timeMs;
    } else if (signs.leftTimeMs !== null && (isPage || timeMs > signs.leftTimeMs + LEAVING_MS)) {
      signs.leftTimeMs = null;
    }
  });
  return signs;
});

function followSigns(state: DocumentState, { hasLeave, leftTimeMs, hasPage, latestTimeMs }: Signs, atMs: number): void {
  if (hasLeave) {
    state.leftTimeMs = leftTimeMs;
    state.goneSinceMs = leftTimeMs === null ? null : atMs;
  } else if (state.leftTimeMs !== null && (hasPage || latestTimeMs > state.leftTimeMs + LEAVING_MS)) {
    state.leftTimeMs = null;
    state.goneSinceMs = null;
  }
}
