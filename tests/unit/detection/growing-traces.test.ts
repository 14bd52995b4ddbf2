import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_FIELDS, EVENT_FLAGS, EventCode } from '../../../contract/beacon';
import { createDocuments, isComplete } from '../../../server/detection/documents';
import { createPresenceReader, readPresence } from '../../../server/detection/presence';
import { createScorer, scoreSegments, scoreTrace } from '../../../server/detection/score';
import { createTraceReader, readTrace, type Segment } from '../../../server/detection/segments';
import type { TraceBatch, TraceSource } from '../../../server/detection/trace';
import { packNumbers } from '../../../server/detection/varints';
import { readAllRecordings, readTrace as readRecordedTrace, readRecordings } from '../../lab/recordings';
import { CHROME, TraceBuilder } from '../../support/trace';

// A session is scored while it goes on. However its batches arrive, each score is that of the trace as a whole.

const SOURCE = { userAgent: CHROME };
const { trusted, hasCode } = EVENT_FLAGS;
const START_MS = 1_800_000_000_000;

/**
 * Creates a function that adds the batches of a trace in groups, and compares what is read after each group with what a new
 * reader reads of all of them.
 */
function compareGrowth(source: TraceSource = SOURCE): (groups: readonly (readonly TraceBatch[])[]) => void {
  const known = new Map<string, string[]>();
  const readWhole = (batches: readonly TraceBatch[]) => {
    const key = batches
      .map(({ d, n, receivedAtMs }) => `${d} ${n} ${receivedAtMs}`)
      .sort()
      .join();
    const whole = known.get(key) ?? [
      JSON.stringify(scoreTrace({ ...source, batches })),
      JSON.stringify(scoreSegments({ ...source, batches })),
      JSON.stringify(readTrace({ ...source, batches })),
      JSON.stringify(readPresence({ batches })),
    ];
    known.set(key, whole);
    return whole;
  };
  return (groups) => {
    const documents = createDocuments();
    const score = createScorer(source, documents);
    const read = createTraceReader(documents);
    const readPages = createPresenceReader(documents);
    const batches: TraceBatch[] = [];
    const over = new Map<Segment, string>();
    for (const group of groups) {
      documents.add(group);
      batches.push(...group);
      for (const segment of read().segments.filter(({ isOver }) => isOver)) {
        const text = JSON.stringify(segment);
        expect(over.get(segment) ?? text).toBe(text);
        over.set(segment, text);
      }
      expect([score(), score.listSegments(), read(), readPages()].map((answer) => JSON.stringify(answer))).toEqual(
        readWhole(batches),
      );
    }
  };
}

/** All ways to cut a list into groups. */
function listCuts<Item>(items: readonly Item[]): Item[][][] {
  return Array.from({ length: 2 ** (items.length - 1) }, (_, cuts) => {
    const groups: Item[][] = [[]];
    for (const [i, item] of items.entries()) {
      if (i > 0 && (cuts >> (i - 1)) % 2 === 1) groups.push([]);
      groups.at(-1)!.push(item);
    }
    return groups;
  });
}

function listOrders<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, i) => listOrders(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

/** Batches in any order, some of them twice, in groups. */
const arrive = (batches: readonly TraceBatch[], { farthest }: { farthest: number }) =>
  fc
    .record({
      repeats: fc.array(
        fc.record({ place: fc.nat(batches.length - 1), laterMs: fc.integer({ min: -50, max: 5_000 }) }),
      ),
      delays: fc.array(fc.nat(farthest), { minLength: batches.length, maxLength: batches.length }),
      cuts: fc.infiniteStream(fc.integer({ min: 1, max: 6 })),
    })
    .map(({ repeats, delays, cuts }) => {
      const all = [
        ...batches.map((batch, i) => ({ batch, order: i + delays[i]! })),
        ...repeats.map(({ place, laterMs }) => ({
          batch: { ...batches[place]!, receivedAtMs: batches[place]!.receivedAtMs + laterMs },
          order: place + 1,
        })),
      ];
      const arrivals = all.sort((a, b) => a.order - b.order).map(({ batch }) => batch);
      const groups: TraceBatch[][] = [];
      while (arrivals.length > 0) groups.push(arrivals.splice(0, cuts.next().value));
      return groups;
    });

/** A page on which deeds end in a later segment. */
function buildOpenDeeds(): TraceBatch[] {
  const builder = new TraceBuilder();
  // Three keys one after the other, as nobody chooses them with a switch.
  const slotsOf = (i: number) => [3 * i, 3 * i + 1, 3 * i + 2];
  for (let i = 0; i < 70; i++) {
    builder.wait(1_900);
    for (const slot of slotsOf(i))
      builder.wait(150).add(EventCode.KeyDown, { class: 0, slot, flags: trusted | hasCode });
    builder.wait(1_900).press(50 + i, 60, i % 3 === 0 ? 4_000 : 90);
    if (i >= 20) for (const slot of slotsOf(i - 20)) builder.add(EventCode.KeyUp, { slot, flags: trusted });
    if (i % 7 === 3) builder.page(`https://lms.example.edu/${i}`, 1);
    if (i % 9 === 5) builder.add(EventCode.Leave);
    builder.send();
  }
  return builder.batches;
}

describe('a score while a session goes on is that of the whole', () => {
  it('for every order and every way to split a short trace', () => {
    const press = { pressurePercent: 0 };
    const page = (document: string) => {
      const builder = new TraceBuilder({ document }).wait(500).press(300, 200, 0, press).send();
      builder.page('https://lms.example.edu/2', 1).wait(700).press(900.5, 640, 30, press).send();
      return builder.wait(65_000).press(40, 200, 4, press).send().batches;
    };
    const batches = [...page('00000000000000d1'), page('00000000000000d0')[0]!];
    expect(readTrace({ ...SOURCE, batches }).segments).toHaveLength(3);
    const compare = compareGrowth();
    for (const order of listOrders(batches)) for (const groups of listCuts(order)) compare(groups);
  });

  it.each(['patchright', 'pydoll', 'page-script', 'touch', 'screen-reader-firefox', 'keyboard-only-chromium'])(
    'for every way to split the first batches of a recording: %s',
    (name) => {
      const trace = readRecordedTrace(readRecordings(name)!.recordings.at(-1)!);
      const compare = compareGrowth(trace);
      for (const groups of listCuts(trace.batches.slice(0, 8))) compare(groups);
    },
  );

  it.each([
    ['nearly in order', 3],
    ['in any order', 1_000],
  ])('for batches that arrive %s, some of them twice', (_, farthest) => {
    const recorded = readAllRecordings().map(({ recordings }) => readRecordedTrace(recordings.at(-1)!));
    const numRuns = 6;
    for (const trace of recorded)
      fc.assert(fc.property(arrive(trace.batches, { farthest }), compareGrowth(trace)), { numRuns: 1 });
    fc.assert(fc.property(arrive(buildOpenDeeds(), { farthest }), compareGrowth()), { numRuns });
  });

  it('for deeds that end in a later segment', () => {
    const batches = buildOpenDeeds();
    expect(readTrace({ ...SOURCE, batches }).segments.length).toBeGreaterThan(4);
    const instantKeys = scoreTrace({ ...SOURCE, batches }).findings.find(({ flag }) => flag === 'instant-keys')!;
    expect(instantKeys.measured).toBeGreaterThan(60_000);
    compareGrowth()(batches.map((batch) => [batch]));
  });

  it('when documents share the most segments that are judged', () => {
    const pages = (document: string, count: number) => {
      const builder = new TraceBuilder({ document });
      for (let i = 0; i < count; i++) {
        builder.wait(10).page('https://lms.example.edu/a', 1).key('letter', 80);
        if (i % 300 === 299) builder.send();
      }
      return builder.send().batches;
    };
    const [before, full] = [pages('00000000000000d1', 500), pages('00000000000000d2', 900)];
    const arrivals = full.flatMap((batch, i) => (before[i] ? [batch, before[i]] : [batch]));
    expect(readTrace({ ...SOURCE, batches: arrivals }).segments).toHaveLength(1_000);
    const compare = compareGrowth();
    for (const order of [arrivals, [...full, ...before]]) compare(order.map((batch) => [batch]));
  });

  it('when documents share the most values that are judged', () => {
    const press = [EventCode.Press, 10, ...EVENT_FIELDS[EventCode.Press].map(() => 0)];
    const events = packNumbers(Array.from({ length: 20_000 }, () => press).flat());
    const page = (d: string) => [0, 1].map((n): TraceBatch => ({ d, n, c: [0, 0], receivedAtMs: START_MS, events }));
    const batches = ['1', '2'].flatMap((digit) => page(digit.repeat(16)));
    expect(readTrace({ ...SOURCE, batches }).telemetry.droppedEvents).toBe(300_000);
    // The last one has more than what is left.
    compareGrowth()([batches.slice(1).toReversed(), batches.slice(0, 1)]);
  });
});

it('documents are complete if no number of a batch is missing', () => {
  const isCompleteWith = (...numbers: number[]) => {
    const documents = createDocuments();
    documents.add(numbers.map((n) => ({ d: 'a', n, c: [0, 0], events: '', receivedAtMs: 0 })));
    return isComplete(documents);
  };
  const cases = [[0], [2, 0, 1], [], [1], [0, 2], [0, 0], [1, 1, 0]];
  expect(cases.map((numbers) => isCompleteWith(...numbers))).toEqual([true, true, true, false, false, true, true]);
});
