import { EventCode } from '../../contract/beacon';
import { createFeatures, type Features, type Telemetry } from './features';
import { createDocumentState, type DocumentState, measureEvent } from './measure';
import {
  anchorDocuments,
  type DocumentAnchor,
  findServerTime,
  readEvents,
  sortBatches,
  splitDocuments,
  type Trace,
  type TraceBatch,
} from './trace';

// Rules judge segments: a page, and at most a minute of activity on it. So a program that takes over after a person is
// seen, and the evidence can say when.

export interface Segment {
  startMs: number;
  eventCount: number;
  features: Features;
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
  const sorted = sortBatches(batches);
  const anchors = anchorDocuments(sorted);
  const telemetry: Telemetry = { missingBatches: 0, droppedEvents: 0, clockErrorMs: 0 };
  const segments: Segment[] = [];
  let values = 0;
  for (const document of splitDocuments(sorted)) {
    const [first] = document;
    const judged: TraceBatch[] = [];
    let next = 0;
    for (const batch of document) {
      telemetry.missingBatches += batch.n - next;
      telemetry.droppedEvents += (batch.l?.[0] ?? 0) + (batch.l?.[1] ?? 0);
      telemetry.clockErrorMs = Math.max(telemetry.clockErrorMs, measureClockError(first, batch));
      next = batch.n + 1;
      values += batch.ev.length;
      if (values > MAX_TRACE_VALUES) telemetry.droppedEvents += batch.ev.length;
      else judged.push(batch);
    }
    if (judged.length === 0) continue;
    const room = MAX_SEGMENTS - segments.length;
    for (const segment of readDocument(userAgent, anchors.get(first.d)!, judged, room)) segments.push(segment);
  }
  return { userAgent, segments: sortSegments(segments), telemetry };
}

/** What was read of the first batches of a document. Later batches are read from there on. */
interface DocumentReading {
  userAgent: string;
  batches: readonly TraceBatch[];
  /** The most segments that it could have. The first one needs no room. */
  room: number;
  segments: Segment[];
  state: DocumentState;
  /** Of the last segment. */
  activityMs: number;
  lastTimeMs: number;
}

/**
 * The readings of documents, by their first batch. They only save time: a session is judged again and again while it goes
 * on, and its batches do not change. A reading is used if all that it was made from is the same.
 */
const readings = new WeakMap<TraceBatch, DocumentReading>();

/** Reads the batches of a document, which are sorted, into at most `room` segments. */
function readDocument(
  userAgent: string,
  anchor: DocumentAnchor,
  batches: readonly TraceBatch[],
  room: number,
): readonly Segment[] {
  const first = batches[0]!;
  const known = readings.get(first);
  const reading =
    known && known.userAgent === userAgent && isContinued(known, batches, room)
      ? known
      : createReading(userAgent, batches, room);
  const from = reading === known ? known.batches.length : 0;
  // A reading that was left halfway is of no use.
  readings.delete(first);
  reading.batches = batches;
  reading.room = room;
  for (let i = from; i < batches.length; i++) readBatch(reading, batches[i]!, anchor);
  readings.set(first, reading);
  return reading.segments;
}

const createReading = (userAgent: string, batches: readonly TraceBatch[], room: number): DocumentReading => ({
  ...{ userAgent, batches, room, segments: [], state: createDocumentState(), activityMs: 0, lastTimeMs: 0 },
});

/** Whether reading all batches gives what is known so far, and then more. */
function isContinued(known: DocumentReading, batches: readonly TraceBatch[], room: number): boolean {
  const isSameRoom = room === known.room || known.segments.length < Math.min(room, known.room);
  return (
    isSameRoom &&
    known.batches.length <= batches.length &&
    known.batches.every((batch, place) => batch === batches[place])
  );
}

function readBatch(reading: DocumentReading, batch: TraceBatch, anchor: DocumentAnchor): void {
  const { segments, state } = reading;
  const madeAtMs = findServerTime(batch.c[0], batch, anchor);
  const events = readEvents(batch, anchor);
  const startMs = events[0]?.atMs ?? madeAtMs;
  let segment = segments.at(-1) ?? openSegment(reading, startMs);
  if (batch.e) segment.features.environments.push({ thing: batch.e, atMs: startMs });
  for (const event of events) {
    const pauseMs = Math.min(Math.max(event.timeMs - reading.lastTimeMs, 0), MAX_PAUSE_MS);
    const isNewPage = event.code === EventCode.Page && segment.eventCount > 0;
    const isOver = isNewPage || reading.activityMs + pauseMs > MAX_ACTIVITY_MS;
    if (isOver && segments.length < reading.room) {
      const inEffect = segment.features.environments.at(-1);
      segment = openSegment(reading, event.atMs);
      if (inEffect) segment.features.environments.push({ thing: inEffect.thing, atMs: event.atMs });
    } else if (segment.eventCount > 0) {
      reading.activityMs += pauseMs;
    }
    segment.eventCount++;
    measureEvent(state, event, segment.features);
    reading.lastTimeMs = event.timeMs;
  }
  for (const mark of batch.m ?? []) segment.features.marks.push({ thing: mark, atMs: madeAtMs });
}

function openSegment(reading: DocumentReading, startMs: number): Segment {
  const segment: Segment = { startMs, eventCount: 0, features: createFeatures(reading.userAgent) };
  reading.segments.push(segment);
  reading.activityMs = 0;
  return segment;
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
