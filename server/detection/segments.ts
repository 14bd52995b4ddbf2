import { type BeaconEnvironment, EventCode } from '../../contract/beacon';
import { createDeeds, type Deeds } from './deeds';
import { createDocumentState, type DocumentState, findOpenDeeds } from './document-state';
import { anchorDocument, createDocuments, type TraceDocument, type TraceDocuments } from './documents';
import type { Telemetry } from './features';
import { measureEvent, measureMove } from './measure';
import { type Anchor, findServerTime, readEvent, type Trace, type TraceBatch, visitEvents } from './trace';
import { unpackNumbers } from './varints';

// Rules judge segments: a page, and at most a minute of activity on it. So a program that takes over after a person is
// seen, and the evidence can say when.

export interface Segment {
  startMs: number;
  eventCount: number;
  deeds: Deeds;
  /** Whether no later event can change its deeds. */
  isOver: boolean;
}

export interface TraceReading {
  /** In the order in which they begin. */
  segments: readonly Segment[];
  telemetry: Telemetry;
}

export const MAX_ACTIVITY_MS = 60_000;
/** A pause counts as activity for at most this long. */
export const MAX_PAUSE_MS = 2_000;
/** Documents beyond have one segment each. */
export const MAX_TRACE_SEGMENTS = 1_000;
/** A session of eight hours has far fewer values. What is sent in excess is not judged. */
const MAX_TRACE_VALUES = 1_000_000;

/** Reads all batches of a trace at once. */
export function readTrace({ batches }: Trace): TraceReading {
  const documents = createDocuments();
  documents.add(batches);
  return createTraceReader(documents)();
}

/** Creates a function that reads what is new in some documents, and answers for all of it. */
export function createTraceReader(documents: TraceDocuments): () => TraceReading {
  const readings = new Map<TraceDocument, DocumentReading>();
  const environments = new Map<string, BeaconEnvironment>();
  let segments: Segment[] = [];

  /** Finds the object that stands for all equal environments. */
  function findEnvironment(environment: BeaconEnvironment): BeaconEnvironment {
    const key = JSON.stringify(environment);
    const known = environments.get(key);
    if (!known) environments.set(key, environment);
    return known ?? environment;
  }

  /** Reads the document's batches that were not read yet, or all if what was read is outdated. */
  function readDocument(document: TraceDocument, limits: Limits): DocumentReading {
    const known = readings.get(document);
    // A reading that is left halfway is of no use.
    readings.delete(document);
    const reading = known && isContinued(known, document, limits) ? known : beginReading(document, limits);
    reading.limits = limits;
    const anchor = anchorDocument(document);
    const knownCount = reading.count;
    for (; reading.count < document.batches.length; reading.count++) {
      const batch = document.batches[reading.count]!;
      const ev = unpackNumbers(batch.events);
      reading.values += ev.length;
      followTelemetry(reading.telemetry, document, reading.count);
      if (limits.valuesBefore + reading.values > MAX_TRACE_VALUES) reading.telemetry.droppedEvents += ev.length;
      else readBatch(reading, { batch, ev }, anchor, findEnvironment);
    }
    if (reading.count > knownCount) noticeEnds(reading);
    readings.set(document, reading);
    return reading;
  }

  return () => {
    const telemetry: Telemetry = { missingBatches: 0, droppedEvents: 0, clockErrorMs: 0 };
    const limits: Limits = { valuesBefore: 0, room: MAX_TRACE_SEGMENTS };
    let isOther = false;
    for (const document of documents.list()) {
      const known = readings.get(document);
      const knownCount = known?.segments.length;
      const reading = readDocument(document, { ...limits });
      isOther ||= reading !== known || knownCount !== reading.segments.length;
      limits.valuesBefore += reading.values;
      limits.room -= reading.segments.length;
      telemetry.missingBatches += reading.telemetry.missingBatches;
      telemetry.droppedEvents += reading.telemetry.droppedEvents;
      telemetry.clockErrorMs = Math.max(telemetry.clockErrorMs, reading.telemetry.clockErrorMs);
    }
    if (isOther) {
      // Segments of one document keep their order, because the sort is stable.
      const all = documents.list().flatMap((document) => readings.get(document)!.segments);
      segments = all.sort((a, b) => a.startMs - b.startMs);
    }
    return { segments, telemetry };
  };
}

/** What documents before one leave to it. */
interface Limits {
  /** How many values they have. */
  valuesBefore: number;
  /** The most segments that the document may have. The first one needs no room. */
  room: number;
}

/** What was read of the first batches of a document. Later batches are read from there on. */
interface DocumentReading {
  /** How many batches, and how many values they have. */
  count: number;
  values: number;
  revision: number;
  limits: Limits;
  telemetry: Telemetry;
  segments: Segment[];
  state: DocumentState;
  /** Of the last segment. */
  activityMs: number;
  lastTimeMs: number;
}

const beginReading = ({ revision }: TraceDocument, limits: Limits): DocumentReading => ({
  count: 0,
  values: 0,
  revision,
  limits,
  telemetry: { missingBatches: 0, droppedEvents: 0, clockErrorMs: 0 },
  segments: [],
  state: createDocumentState(),
  activityMs: 0,
  lastTimeMs: 0,
});

/** Whether reading all batches within these limits gives what is known so far, and then more. */
function isContinued(known: DocumentReading, { revision }: TraceDocument, { valuesBefore, room }: Limits): boolean {
  const { limits, values, segments } = known;
  const isSameRoom = room === limits.room || segments.length < Math.min(room, limits.room);
  const isSameValues =
    valuesBefore === limits.valuesBefore || Math.max(valuesBefore, limits.valuesBefore) + values <= MAX_TRACE_VALUES;
  return known.revision === revision && isSameRoom && isSameValues;
}

function followTelemetry(telemetry: Telemetry, { batches }: TraceDocument, place: number): void {
  const batch = batches[place]!;
  telemetry.missingBatches += batch.n - (batches[place - 1]?.n ?? -1) - 1;
  telemetry.droppedEvents += (batch.l?.[0] ?? 0) + (batch.l?.[1] ?? 0);
  telemetry.clockErrorMs = Math.max(telemetry.clockErrorMs, measureClockError(batches[0], batch));
}

function readBatch(
  reading: DocumentReading,
  { batch, ev }: { batch: TraceBatch; ev: readonly number[] },
  anchor: Anchor,
  findEnvironment: (environment: BeaconEnvironment) => BeaconEnvironment,
): void {
  const { segments, state } = reading;
  const madeAtMs = findServerTime(batch.c[0], batch, anchor);
  // The first event of a batch has its time since the document's time origin.
  const startMs = ev.length > 0 ? findServerTime(ev[1]! / 10, batch, anchor) : madeAtMs;
  let segment = segments.at(-1) ?? openSegment(reading, startMs);
  if (batch.e) addEnvironment(segment, findEnvironment(batch.e), startMs);
  let [x, y] = [0, 0];
  visitEvents(ev, (code, timeMs, fieldsAt) => {
    const pauseMs = Math.min(Math.max(timeMs - reading.lastTimeMs, 0), MAX_PAUSE_MS);
    const isNewPage = code === EventCode.Page && segment.eventCount > 0;
    const isOver = isNewPage || reading.activityMs + pauseMs > MAX_ACTIVITY_MS;
    if (isOver && segments.length < reading.limits.room) {
      const inEffect = segment.deeds.environments.at(-1);
      const atMs = findServerTime(timeMs, batch, anchor);
      segment = openSegment(reading, atMs);
      if (inEffect) addEnvironment(segment, inEffect.thing, atMs);
    } else if (segment.eventCount > 0) {
      reading.activityMs += pauseMs;
    }
    segment.eventCount++;
    if (code === EventCode.Move) {
      x += ev[fieldsAt]!;
      y += ev[fieldsAt + 1]!;
      measureMove(state, timeMs, x, y);
    } else {
      const atMs = findServerTime(timeMs, batch, anchor);
      measureEvent(state, readEvent(ev, { code, timeMs, atMs }, fieldsAt), segment.deeds);
    }
    reading.lastTimeMs = timeMs;
  });
  if (batch.agent !== undefined) {
    segment.deeds.agents.push({ thing: batch.agent, atMs: madeAtMs });
    segment.deeds.isChanged = true;
  }
  if (batch.network !== undefined) {
    segment.deeds.networks.push({ thing: batch.network, atMs: madeAtMs });
    segment.deeds.isChanged = true;
  }
  for (const mark of batch.m ?? []) {
    segment.deeds.marks.push({ thing: mark, atMs: madeAtMs });
    segment.deeds.isChanged = true;
  }
}

/** Notices which segments are over: those before the last, unless a later event can say more of one of their deeds. */
function noticeEnds({ segments, state }: DocumentReading): void {
  const open = findOpenDeeds(state);
  for (let place = 0; place < segments.length - 1; place++)
    segments[place]!.isOver ||= !open.has(segments[place]!.deeds);
}

function openSegment(reading: DocumentReading, startMs: number): Segment {
  const segment: Segment = { startMs, eventCount: 0, deeds: createDeeds(), isOver: false };
  reading.segments.push(segment);
  reading.activityMs = 0;
  return segment;
}

function addEnvironment({ deeds }: Segment, thing: BeaconEnvironment, atMs: number): void {
  deeds.environments.push({ thing, atMs });
  deeds.isChanged = true;
}

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
