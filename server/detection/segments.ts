import { type BeaconEnvironment, EventCode } from '../../contract/beacon';
import {
  anchorDocuments,
  findServerTime,
  readEvents,
  sortBatches,
  type Trace,
  type TraceBatch,
  type TraceEvent,
} from './trace';

// Rules judge segments: a page, and at most a minute of activity on it. So a program that takes over after a person is
// seen, and the evidence can say when.

/** Something that was seen at a time of the server. */
export interface Seen<Thing> {
  thing: Thing;
  atMs: number;
}

export interface Segment {
  documentId: string;
  startMs: number;
  /** The environments in effect. */
  environments: Seen<BeaconEnvironment>[];
  /** Indexes in AUTOMATION_MARKS. */
  marks: Seen<number>[];
  events: TraceEvent[];
}

/** What the batches say about themselves. */
export interface Telemetry {
  /** Batches that are missing between others. */
  missingBatches: number;
  /** Events that the pixel dropped. */
  droppedEvents: number;
  /** By how much a clock of the page disagrees with the other clocks. */
  clockErrorMs: number;
}

export interface TraceReading {
  userAgent: string;
  /** In the order in which they begin. */
  segments: Segment[];
  telemetry: Telemetry;
}

const MAX_ACTIVITY_MS = 60_000;
/** A pause counts as activity for at most this long. */
const MAX_PAUSE_MS = 2_000;
const MAX_SEGMENTS = 1_000;
/** A session of eight hours has far fewer values. What is sent in excess is not judged. */
const MAX_TRACE_VALUES = 1_000_000;

/** Reads a trace: the same for any order in which its batches arrived, and for repeats. */
export function readTrace({ userAgent, batches }: Trace): TraceReading {
  const anchors = anchorDocuments(batches);
  const telemetry: Telemetry = { missingBatches: 0, droppedEvents: 0, clockErrorMs: 0 };
  const segments: Segment[] = [];
  let values = 0;
  let open: OpenSegment | null = null;
  let first: TraceBatch | null = null;
  let last: TraceBatch | null = null;
  for (const batch of sortBatches(batches)) {
    if (last?.d !== batch.d) {
      open = null;
      first = batch;
    }
    telemetry.missingBatches += batch.n - (last?.d === batch.d ? last.n + 1 : 0);
    telemetry.droppedEvents += (batch.l?.[0] ?? 0) + (batch.l?.[1] ?? 0);
    telemetry.clockErrorMs = Math.max(telemetry.clockErrorMs, measureClockError(first!, batch));
    last = batch;
    values += batch.ev.length;
    if (values > MAX_TRACE_VALUES) {
      telemetry.droppedEvents += batch.ev.length;
      continue;
    }
    open = readBatch(batch, open, segments);
  }
  return { userAgent, segments: sortSegments(segments), telemetry };

  function readBatch(batch: TraceBatch, before: OpenSegment | null, into: Segment[]): OpenSegment {
    const anchor = anchors.get(batch.d)!;
    const madeAtMs = findServerTime(batch.c[0], batch, anchor);
    const events = readEvents(batch, anchor);
    let current = before ?? openSegment(batch.d, events[0]?.atMs ?? madeAtMs, [], into);
    if (batch.e) current.segment.environments.push({ thing: batch.e, atMs: events[0]?.atMs ?? madeAtMs });
    for (const event of events) {
      const { segment } = current;
      const pauseMs = Math.min(Math.max(event.timeMs - current.lastTimeMs, 0), MAX_PAUSE_MS);
      const isNewPage = event.code === EventCode.Page && segment.events.length > 0;
      const isOver = isNewPage || current.activityMs + pauseMs > MAX_ACTIVITY_MS;
      if (isOver && into.length < MAX_SEGMENTS) {
        const inEffect = segment.environments.slice(-1).map(({ thing }) => ({ thing, atMs: event.atMs }));
        current = openSegment(batch.d, event.atMs, inEffect, into);
      } else if (segment.events.length > 0) {
        current.activityMs += pauseMs;
      }
      current.segment.events.push(event);
      current.lastTimeMs = event.timeMs;
    }
    for (const mark of batch.m ?? []) current.segment.marks.push({ thing: mark, atMs: madeAtMs });
    return current;
  }
}

interface OpenSegment {
  segment: Segment;
  activityMs: number;
  lastTimeMs: number;
}

function openSegment(
  documentId: string,
  startMs: number,
  environments: Seen<BeaconEnvironment>[],
  into: Segment[],
): OpenSegment {
  const segment: Segment = { documentId, startMs, environments, marks: [], events: [] };
  into.push(segment);
  return { segment, activityMs: 0, lastTimeMs: 0 };
}

/** Sorts by time. Segments of one document keep their order, because the sort is stable. */
const sortSegments = (segments: Segment[]): Segment[] => segments.sort((a, b) => a.startMs - b.startMs);

/**
 * Measures how far the clocks of a page disagree. A computer that sleeps stops the monotonic clock only, and a batch can
 * arrive late: neither is an error. A wall clock that runs back is one, or one that runs ahead of both other clocks.
 */
function measureClockError(first: TraceBatch, batch: TraceBatch): number {
  const monotonicMs = batch.c[0] - first.c[0];
  const wallMs = batch.c[1] - first.c[1];
  const arrivalMs = batch.receivedAtMs - first.receivedAtMs;
  return Math.round(Math.max(monotonicMs - wallMs, wallMs - Math.max(monotonicMs, arrivalMs), 0));
}
