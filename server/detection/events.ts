import { CLIPBOARD_KINDS, EVENT_FLAGS, EventCode, PAGE_CAUSES, POINTERS } from '../../contract/beacon';
import type { SessionEventType } from '../../contract/session-events';
import { type DocumentAnchors, findPage, sortBatches } from './documents';
import { readEvents, type TraceBatch, type TraceEvent } from './trace';

// What the API shows of a trace: few rows that say what happened when, without the events themselves.

/** One row for the fact `sessionEvents`. */
export interface EventSummary {
  type: SessionEventType;
  timestampMs: number;
  url: string | null;
  durationMs: number | null;
  eventCount: number;
  metadata: Record<string, unknown> | null;
}

/** A summary covers at most this much time. A row of the API costs as much as the batches of ten seconds. */
const STRETCH_MS = 30_000;
/**
 * The fact takes no more events in one row. Summaries of moves and turns in a batch are cut to it, too. A page can claim any
 * number. If 32 bits could not count a session's events, its last facts would be refused, and it would never close.
 */
const MAX_EVENT_COUNT = 100_000;
/** From here on, events join the last summary of their type, so that no batch can make rows without end. */
const MAX_SUMMARIES = 200;

const TOUCH = POINTERS.indexOf('touch');

interface Entry {
  type: SessionEventType;
  count: number;
  isTrusted: boolean;
  /** An entry with metadata stands for itself. */
  metadata: Record<string, unknown> | null;
}

/**
 * Sums up the events of some batches of a session: one row per type, page and stretch of at most 30 s; pages, clipboard
 * and visibility one by one. `anchors` are those of all batches of the session so far. What happened in the documents of `unnamed` is
 * marked: nobody is signed in there.
 */
export function summariseEvents(
  batches: readonly TraceBatch[],
  anchors: DocumentAnchors,
  unnamed: ReadonlySet<string> = new Set(),
): EventSummary[] {
  const summaries: EventSummary[] = [];
  const latest = new Map<SessionEventType, EventSummary>();
  const stretches = new Map<string, EventSummary>();
  const add = (entry: Entry, document: string, url: string | null, atMs: number): void => {
    const key = `${entry.type} ${document} ${url}`;
    const isSingle = entry.metadata !== null;
    const stretch = summaries.length < MAX_SUMMARIES ? stretches.get(key) : latest.get(entry.type);
    const isFull = summaries.length >= MAX_SUMMARIES;
    if (stretch !== undefined && (isFull || (!isSingle && Math.abs(atMs - stretch.timestampMs) <= STRETCH_MS))) {
      extendSummary(stretch, entry, atMs);
      return;
    }
    const summary: EventSummary = {
      ...{ type: entry.type, timestampMs: atMs, url, durationMs: isSingle ? null : 0 },
      ...{ eventCount: Math.min(entry.count, MAX_EVENT_COUNT), metadata: entry.metadata },
    };
    if (!entry.isTrusted) markUntrusted(summary);
    if (unnamed.has(document)) summary.metadata = { ...summary.metadata, signedIn: false };
    summaries.push(summary);
    latest.set(entry.type, summary);
    if (!isSingle) stretches.set(key, summary);
  };

  for (const batch of sortBatches(batches)) {
    const anchor = anchors.get(batch.d);
    if (anchor === undefined) continue;
    const events = readEvents(batch, anchor);
    let url = findPage(anchor, batch.n);
    let isTouch = false;
    let moves = 0;
    let claimable = MAX_EVENT_COUNT;
    for (const event of events) {
      if (event.code === EventCode.Page) url = batch.p?.[event.page] ?? url;
      if (event.code === EventCode.Press) isTouch = event.pointer === TOUCH;
      if (event.code === EventCode.Move) moves++;
      const entry = describeEvent(event, isTouch);
      if (entry !== null && event.code === EventCode.MoveSummary) {
        // The moves that were thinned out. The others are here themselves.
        entry.count -= moves;
        moves = 0;
      }
      if (entry !== null && entry.count > 1) {
        entry.count = Math.min(entry.count, claimable);
        claimable -= entry.count;
      }
      if (entry === null || entry.count <= 0) continue;
      if (event.code === EventCode.Page && (anchor.isFramed || (anchor.isFirst && isLoad(event.cause)))) continue;
      add(entry, batch.d, url, event.atMs);
    }
  }
  return summaries.sort((a, b) => a.timestampMs - b.timestampMs);
}

const isLoad = (cause: number) => PAGE_CAUSES[cause] === 'load' || PAGE_CAUSES[cause] === 'activated';

/** Says what an event is to the API. Returns null for what it does not show. */
function describeEvent(event: TraceEvent, isTouch: boolean): Entry | null {
  const pointer = isTouch ? 'touch' : 'mouse';
  switch (event.code) {
    case EventCode.Move:
      return countEvent('mouse');
    case EventCode.MoveSummary:
      return { ...countEvent('mouse'), count: event.count };
    case EventCode.Press:
    case EventCode.Release:
      return countEvent(event.pointer === TOUCH ? 'touch' : 'mouse', event.flags);
    case EventCode.Click:
      return countEvent(pointer, event.flags);
    case EventCode.Touch:
      return countEvent('touch', event.flags);
    case EventCode.KeyDown:
    case EventCode.KeyUp:
      return countEvent('keyboard', event.flags);
    case EventCode.Composition:
      return countEvent('keyboard');
    case EventCode.Input:
    case EventCode.Focus:
      return countEvent('form', event.flags);
    case EventCode.Scroll:
      return countEvent('scroll');
    case EventCode.Wheel:
      return { ...countEvent('scroll'), count: event.count };
    case EventCode.Clipboard: {
      const kind = CLIPBOARD_KINDS[event.kind];
      const metadata = event.length < 0 ? { kind } : { kind, length: event.length };
      return { ...countEvent('clipboard', event.flags), metadata };
    }
    case EventCode.Visibility:
      return { ...countEvent('visibility'), metadata: { state: event.state === 0 ? 'visible' : 'hidden' } };
    case EventCode.Page:
      return { ...countEvent('navigation'), metadata: { cause: PAGE_CAUSES[event.cause] } };
    case EventCode.Leave:
    case EventCode.Alive:
    // Says more of the Input that follows.
    case EventCode.Writing:
      return null;
  }
}

const countEvent = (type: SessionEventType, flags: number = EVENT_FLAGS.trusted): Entry => ({
  ...{ type, count: 1, isTrusted: (flags & EVENT_FLAGS.trusted) !== 0, metadata: null },
});

function extendSummary(summary: EventSummary, { count, isTrusted }: Entry, atMs: number): void {
  const endMs = Math.max(summary.timestampMs + (summary.durationMs ?? 0), atMs);
  summary.timestampMs = Math.min(summary.timestampMs, atMs);
  summary.durationMs = endMs - summary.timestampMs;
  summary.eventCount = Math.min(summary.eventCount + count, MAX_EVENT_COUNT);
  if (!isTrusted) markUntrusted(summary);
}

function markUntrusted(summary: EventSummary): void {
  summary.metadata = { ...summary.metadata, trusted: false };
}
