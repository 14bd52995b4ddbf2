import { type Beacon, type BeaconContent, EVENT_FIELDS, EventCode, MAX_SESSION_MS } from '../../contract/beacon';
import { type PackedNumbers, unpackNumbers } from './varints';

// A trace is what one session sent. Nothing here depends on the order in which its batches arrived. A batch never changes, so
// what follows from it alone can be remembered as long as the batch is in memory.

/** A batch as it is kept: its content, what else a replay of the session needs, and when it arrived. */
export interface TraceBatch extends Omit<BeaconContent, 'ev'>, Pick<Beacon, 'u' | 'x'> {
  /** The numbers of `ev`. They stay packed, so that an open session takes little memory; each reader unpacks them. */
  events: PackedNumbers;
  receivedAtMs: number;
  /** The agent that signed the request, and the number of the network (autonomous system) that it came from, if known. */
  agent?: string;
  network?: number;
}

/** What is known of a session in addition to its batches. */
export interface TraceSource {
  userAgent: string;
}

/** All batches of one session, in any order. */
export interface Trace extends TraceSource {
  batches: readonly TraceBatch[];
  /** Whether the same input was seen before in another session. Null or absent: not known. */
  isReplay?: boolean | null;
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

/** Where a document stands in the server's time. */
export interface Anchor {
  /** The server's time at the document's time origin. */
  originMs: number;
  /** When its first batch arrived. */
  firstReceivedAtMs: number;
  /** The time of its wall clock at its time origin. */
  wallOriginMs: number;
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

const LAYOUTS: (readonly string[])[] = [];
for (const [code, names] of Object.entries(EVENT_FIELDS)) LAYOUTS[Number(code)] = names;
/** Where the index of the page stands among the fields of a Page. */
export const PAGE_AT = EVENT_FIELDS[EventCode.Page].indexOf('page');

/**
 * Finds the server's time of a moment of a document: not after its batch arrived, and not further before the document's
 * first batch than a session can last.
 */
export function findServerTime(timeMs: number, batch: TraceBatch, anchor: Anchor): number {
  const earliestMs = anchor.firstReceivedAtMs - MAX_SESSION_MS;
  const atMs = anchor.originMs + timeMs + measureSleep(batch, anchor);
  return Math.floor(Math.min(Math.max(atMs, earliestMs), batch.receivedAtMs));
}

const MIN_SLEEP_MS = 60_000;

/**
 * Measures how long the computer slept since the document's first batch. The monotonic clock of a page stands still
 * meanwhile. A wall clock can be set, and a batch can arrive late, so the lesser of what they say counts.
 */
function measureSleep({ c: [timeMs, wallMs], receivedAtMs }: TraceBatch, anchor: Anchor): number {
  const sleepMs = Math.min(wallMs - timeMs - anchor.wallOriginMs, receivedAtMs - timeMs - anchor.originMs);
  return sleepMs >= MIN_SLEEP_MS ? sleepMs : 0;
}

/** Visits the events of a batch: code, time in the document's clock, and where its fields begin in `ev`. */
export function visitEvents(
  ev: readonly number[],
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
export function readEvents(batch: TraceBatch, anchor: Anchor): TraceEvent[] {
  const events: TraceEvent[] = [];
  const ev = unpackNumbers(batch.events);
  let [x, y] = [0, 0];
  visitEvents(ev, (code, timeMs, fieldsAt) => {
    const event = readEvent(ev, { code, timeMs, atMs: findServerTime(timeMs, batch, anchor) }, fieldsAt);
    if (event.code === EventCode.Move) {
      x += event.dx;
      y += event.dy;
      event.x = x;
      event.y = y;
    }
    events.push(event);
  });
  return events;
}

/** Decodes one event, whose fields begin at `fieldsAt`. Where a move is follows from those before it. */
export function readEvent(
  ev: readonly number[],
  { code, timeMs, atMs }: { code: EventCode; timeMs: number; atMs: number },
  fieldsAt: number,
): TraceEvent {
  const event: Record<string, number> = { code, timeMs, atMs };
  let at = fieldsAt;
  for (const name of LAYOUTS[code]!) event[name] = ev[at++]!;
  return event as unknown as TraceEvent;
}
