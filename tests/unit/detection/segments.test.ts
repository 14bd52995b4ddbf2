import { describe, expect, it } from 'vitest';
import { EventCode } from '../../../contract/beacon';
import { readTrace } from '../../../server/detection/segments';
import { buildTrace, DESKTOP, TraceBuilder } from '../../support/trace';

const ORIGIN_MS = 1_800_000_000_000;
const read = (...builders: TraceBuilder[]) => readTrace(buildTrace(builders));
const startsOf = (...builders: TraceBuilder[]) => read(...builders).segments.map(({ startMs }) => startMs - ORIGIN_MS);

describe('a segment', () => {
  it('is a page', () => {
    const builder = new TraceBuilder().wait(500).key('letter', 80).wait(420).page('https://lms.example.edu/2', 1);
    const { segments } = read(builder.wait(100).key('letter', 80));
    // The builder's batches arrive 40 ms after they were made.
    expect(segments.map(({ startMs, eventCount }) => [startMs - ORIGIN_MS, eventCount])).toEqual([
      [140, 3],
      [1_140, 3],
    ]);
    // What was in effect before is in effect on the next page.
    expect(segments[1]!.deeds.environments).toEqual([{ thing: DESKTOP, atMs: ORIGIN_MS + 1_140 }]);
  });

  it('has at most a minute of activity, of which long pauses are no part', () => {
    const busy = new TraceBuilder();
    for (let i = 0; i < 130; i++) busy.wait(1_000).add(EventCode.Scroll, { y: i });
    expect(startsOf(busy)).toEqual([140, 61_140, 122_140]);
    const idle = new TraceBuilder();
    for (let i = 0; i < 20; i++) idle.wait(60_000).add(EventCode.Scroll, { y: i });
    expect(startsOf(idle)).toEqual([140]);
  });

  it('is over once another one has begun and none of its deeds is open', () => {
    const builder = new TraceBuilder().wait(500).add(EventCode.KeyDown, { slot: 7 });
    const areOver = () => read(builder).segments.map(({ isOver }) => isOver);
    expect(areOver()).toEqual([false]);
    builder.page('https://lms.example.edu/2', 1).wait(500).key('letter', 80);
    builder.page('https://lms.example.edu/3', 1);
    // The key of the first page is down, and an Input may follow that of the second.
    expect(areOver()).toEqual([false, false, false]);
    builder.add(EventCode.KeyUp, { slot: 7 });
    expect(areOver()).toEqual([true, false, false]);
    builder.wait(500).key('letter', 80);
    expect(areOver()).toEqual([true, true, false]);
  });

  it('measures the same with and without what is said of an Input', () => {
    const type = (isTold: boolean) => {
      const builder = new TraceBuilder().wait(3_000);
      for (let i = 1; i < 9; i++) {
        if (isTold) builder.add(EventCode.Writing, { document: 0, fromEnd: i });
        builder.add(EventCode.Input, { valueLength: 30 * i, insertedLength: 30 }).wait(i * 900);
        builder.add(EventCode.Clipboard, { kind: 0, length: 30 }).wait(20);
      }
      return read(builder).segments.map(({ startMs, deeds }) => ({ startMs, deeds }));
    };
    expect(type(true)).toEqual(type(false));
  });

  it('belongs to one document; all are in order of time', () => {
    const later = new TraceBuilder({ document: '00000000000000a0', originMs: ORIGIN_MS + 5_000 }).wait(900);
    const earlier = new TraceBuilder({ document: '00000000000000b0' }).wait(900);
    expect(startsOf(later, earlier)).toEqual([140, 5_140]);
  });

  it('has the right time after the computer slept, whatever the wall clock alone says', () => {
    const timesOf = (wallMs: number, arrivalMs: number) => {
      const builder = new TraceBuilder({ url: null }).send().wait(1_000).key('letter', 80);
      const [timeMs, receivedAtMs] = [builder.timeMs, ORIGIN_MS + builder.timeMs + 40 + arrivalMs];
      builder.send({ c: [timeMs, ORIGIN_MS + timeMs + wallMs], receivedAtMs });
      const { atMs } = readTrace(traceOf(builder)).segments.at(-1)!.deeds.keys[0]!;
      return atMs - (ORIGIN_MS + timeMs - 80 + 40);
    };
    const SLEEP_MS = 1_500_000;
    expect(timesOf(SLEEP_MS, SLEEP_MS)).toBe(SLEEP_MS);
    // A clock that was set, and a batch that arrived late.
    expect(timesOf(SLEEP_MS, 0)).toBe(0);
    expect(timesOf(0, SLEEP_MS)).toBe(0);
    // Clocks drift, and connections wait.
    expect(timesOf(59_000, 59_000)).toBe(0);
  });

  it('keeps to the arrival of its batch, and to the length of a session', () => {
    const lying = new TraceBuilder({ url: null }).send().wait(90_000).key('letter', 80);
    lying.send({ receivedAtMs: ORIGIN_MS + 1_000 });
    expect(readTrace(traceOf(lying)).segments.at(-1)!.deeds.keys[0]!.atMs).toBe(ORIGIN_MS + 1_000);
    const old = new TraceBuilder({ url: null }).add(EventCode.Alive).send({ c: [10 ** 10, 0] });
    expect(readTrace(traceOf(old)).segments[0]!.startMs).toBe(ORIGIN_MS + 140 - 8 * 3_600_000);
  });
});

const traceOf = ({ batches }: TraceBuilder) => ({ userAgent: '', batches });

describe('telemetry', () => {
  it('counts batches that are missing and events that were dropped', () => {
    const builder = new TraceBuilder()
      .send({ l: [2, 1] })
      .send({ n: 4 })
      .send({ n: 5, l: [0, 1] });
    expect(readTrace(traceOf(builder)).telemetry).toMatchObject({ missingBatches: 3, droppedEvents: 4 });
    expect(readTrace(traceOf(new TraceBuilder().send({ n: 2 }))).telemetry.missingBatches).toBe(2);
  });
});
