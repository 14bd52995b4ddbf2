import { EventCode } from '../../contract/beacon';
import type { MeasuredDeeds } from '../detection/score';
import { MAX_ACTIVITY_MS, MAX_PAUSE_MS, MAX_TRACE_SEGMENTS } from '../detection/segments';
import { visitEvents } from '../detection/trace';
import { unpackNumbers } from '../detection/varints';
import type { KeptBatch } from './packing';

// What an open session takes in memory at most. A page can send anything, so everything that it sends has a weight.

/** What is known of a session without its batches, and of its first document. */
export const SESSION_BYTES = 9_000;
/** What a batch without events takes, and as how many numbers it counts. */
const BATCH_BYTES = 300;
const BATCH_VALUES = 50;
/** What a character takes, if one of its text is beyond Latin-1. */
const TEXT_BYTES = 2;
/** What a segment takes once it is summed up. A document and a page begin one, and so does a minute of activity. */
const SEGMENT_BYTES = 2_800;
/** What is known of a document without its segments, and of a mark of automation. */
const DOCUMENT_BYTES = 700;
const MARK_BYTES = 75;
/** What is measured of an event, until its segment is over. Of others hardly anything is kept. */
const MEASURED_BYTES = { keys: 200, presses: 300, insertions: 110, focuses: 80 };
const MEASURED_EVENTS: { [Code in EventCode]?: keyof MeasuredDeeds } = {
  [EventCode.KeyDown]: 'keys',
  [EventCode.Press]: 'presses',
  [EventCode.Input]: 'insertions',
  [EventCode.Focus]: 'focuses',
};

interface BatchWeight {
  /** How many numbers it counts as. Text counts one for eight characters. */
  values: number;
  /** How many segments begin in it, besides the one that its document begins with. */
  segments: number;
  /** The bytes that it takes for good, and those until the segments of its events are over. */
  bytes: number;
  measuredBytes: number;
}

/** Weighs a batch. `isFurther`: it begins a document that is not the session's first. `knownSegments`: of the batches before. */
export function weighBatch(
  { events, p = [], w = [], m = [], e, user }: KeptBatch,
  { isFurther, knownSegments }: { isFurther: boolean; knownSegments: number },
): BatchWeight {
  const ev = unpackNumbers(events);
  const measureJson = (value: unknown) => (value === undefined ? 0 : JSON.stringify(value).length);
  // A segment keeps its environment as a key, too.
  const textLength =
    [...p, ...w].reduce((length, text) => length + text.length, 0) + measureJson(user) + 2 * measureJson(e);
  let activeMs = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  let pages = 0;
  let measuredBytes = 0;
  visitEvents(ev, (code, timeMs) => {
    const measured = MEASURED_EVENTS[code];
    if (measured) measuredBytes += MEASURED_BYTES[measured];
    if (code === EventCode.Page) pages++;
    activeMs += Math.min(Math.max(timeMs - lastMs, 0), MAX_PAUSE_MS);
    lastMs = timeMs;
  });
  const begun = Math.max(0, pages + activeMs / MAX_ACTIVITY_MS - (isFurther ? 1 : 0));
  const segments = Math.min(begun, MAX_TRACE_SEGMENTS - knownSegments);
  return {
    values: BATCH_VALUES + ev.length + Math.ceil(textLength / 8),
    segments,
    bytes:
      BATCH_BYTES +
      events.length +
      TEXT_BYTES * textLength +
      MARK_BYTES * m.length +
      Math.ceil(segments * SEGMENT_BYTES) +
      (isFurther ? DOCUMENT_BYTES + SEGMENT_BYTES : 0),
    measuredBytes,
  };
}

/** Weighs what was measured of events whose segments are not over, in bytes. */
export const weighMeasured = (counts: MeasuredDeeds): number =>
  Object.entries(MEASURED_BYTES).reduce((sum, [deed, each]) => sum + each * counts[deed as keyof MeasuredDeeds], 0);
