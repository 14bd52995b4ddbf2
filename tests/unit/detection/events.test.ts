import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIPBOARD_KINDS, EventCode, MAX_BEACON_ITEMS, MAX_SESSION_BATCHES } from '../../../contract/beacon';
import { MAX_INT32 } from '../../../contract/fields';
import { anchorDocuments } from '../../../server/detection/documents';
import { summariseEvents } from '../../../server/detection/events';
import type { TraceBatch } from '../../../server/detection/trace';
import { DESKTOP, TraceBuilder } from '../../support/trace';

const ORIGIN_MS = 1_800_000_000_000;
/** The rows as they are easy to read. */
const rows = (batches: readonly TraceBatch[], all = batches) =>
  summariseEvents(batches, anchorDocuments(all)).map(({ type, timestampMs, url, durationMs, eventCount, metadata }) => [
    ...[type, timestampMs - ORIGIN_MS, url?.replace('https://lms.example.edu', ''), durationMs, eventCount, metadata],
  ]);
const QUIZ = 'https://lms.example.edu/quiz';

describe('summariseEvents', () => {
  it('marks what happened in documents that name nobody', () => {
    const { batches } = new TraceBuilder({ url: null }).add(EventCode.KeyDown).send();
    const list = (unnamed: Set<string>) =>
      summariseEvents(batches, anchorDocuments(batches), unnamed).map(({ metadata }) => metadata);
    expect([list(new Set()), list(new Set([batches[0]!.d]))]).toEqual([[null], [{ signedIn: false }]]);
  });

  it('maps each event to the type that the API has for it', () => {
    const types = (code: EventCode, fields = {}) =>
      summariseOne(new TraceBuilder({ url: null }).add(code, fields)).map(({ type }) => type);
    const mouse = [EventCode.Move, EventCode.Press, EventCode.Release, EventCode.Click];
    for (const code of mouse) expect([code, types(code)]).toEqual([code, ['mouse']]);
    for (const code of [EventCode.Press, EventCode.Release]) expect(types(code, { pointer: 2 })).toEqual(['touch']);
    expect(types(EventCode.Touch)).toEqual(['touch']);
    expect(types(EventCode.KeyDown)).toEqual(['keyboard']);
    expect(types(EventCode.KeyUp)).toEqual(['keyboard']);
    expect(types(EventCode.Scroll)).toEqual(['scroll']);
    expect(types(EventCode.Wheel)).toEqual(['scroll']);
    expect(types(EventCode.Input)).toEqual(['form']);
    expect(types(EventCode.Focus)).toEqual(['form']);
    for (const kind of CLIPBOARD_KINDS.keys()) expect(types(EventCode.Clipboard, { kind })).toEqual(['clipboard']);
    expect(types(EventCode.Visibility)).toEqual(['visibility']);
    expect(types(EventCode.Alive)).toEqual([]);
    expect(types(EventCode.Leave)).toEqual([]);
    expect(types(EventCode.Writing, { document: 0 })).toEqual([]);
    const summaries = summariseOne(
      new TraceBuilder({ url: null }).add(EventCode.Press, { pointer: 2 }).add(EventCode.Click),
    );
    expect(summaries.map(({ type, eventCount }) => [type, eventCount])).toEqual([['touch', 2]]);
  });

  it('makes one row per type, page and stretch of half a minute', () => {
    const builder = new TraceBuilder().wait(900).move(5, 5).wait(100).key('letter', 80).wait(4_000).key('letter', 80);
    builder.wait(28_000).key('letter', 80).send();
    // The builder's batches arrive 40 ms after they were made, so every time is 40 ms later.
    expect(rows(builder.batches)).toEqual([
      ['mouse', 1_040, '/quiz', 0, 1, null],
      ['keyboard', 1_140, '/quiz', 4_160, 4, null],
      ['keyboard', 33_300, '/quiz', 80, 2, null],
    ]);
  });

  it('ends a stretch with its latest event, also if an earlier one is told after it', () => {
    const builder = new TraceBuilder().wait(1_000).add(EventCode.Scroll).wait(10_000).add(EventCode.Scroll);
    builder.wait(-5_000).add(EventCode.Scroll).wait(20_000).send();
    expect(rows(builder.batches)).toEqual([['scroll', 1_140, '/quiz', 10_000, 3, null]]);
  });

  it.each([
    [30_000, [['scroll', 1_140, 30_000, 2]]],
    [
      30_001,
      [
        ['scroll', 1_140, 0, 1],
        ['scroll', 31_141, 0, 1],
      ],
    ],
    // Told later, but earlier.
    [-500, [['scroll', 640, 500, 2]]],
    [
      -30_001,
      [
        ['scroll', -28_861, 0, 1],
        ['scroll', 1_140, 0, 1],
      ],
    ],
  ])('puts an event that is %i ms after another one into %j', (laterMs, expected) => {
    const builder = new TraceBuilder({ url: null }).wait(1_000).add(EventCode.Scroll).wait(laterMs);
    builder.add(EventCode.Scroll).wait(40_000).send();
    expect(rows(builder.batches).map(([type, atMs, , durationMs, count]) => [type, atMs, durationMs, count])).toEqual(
      expected,
    );
  });

  it('shows pages, clipboard and visibility one by one, and not the first load', () => {
    const builder = new TraceBuilder().wait(1_000).add(EventCode.Clipboard, { kind: 0, length: 12 });
    builder.wait(10).add(EventCode.Clipboard, { kind: 1, length: -1 }).wait(10).page(`${QUIZ}/2`, 1);
    builder.add(EventCode.Clipboard, { kind: 2, length: 0 });
    builder.wait(10).add(EventCode.Visibility, { state: 1 }).wait(10).add(EventCode.Visibility, { state: 0 }).send();
    expect(rows(builder.batches)).toEqual([
      ['clipboard', 1_140, '/quiz', null, 1, { kind: 'paste', length: 12 }],
      ['clipboard', 1_150, '/quiz', null, 1, { kind: 'copy' }],
      ['navigation', 1_160, '/quiz/2', null, 1, { cause: 'history' }],
      ['clipboard', 1_160, '/quiz/2', null, 1, { kind: 'cut', length: 0 }],
      ['visibility', 1_170, '/quiz/2', null, 1, { state: 'hidden' }],
      ['visibility', 1_180, '/quiz/2', null, 1, { state: 'visible' }],
    ]);
  });

  it('shows the load of a later document, and no load of a frame', () => {
    const first = new TraceBuilder().wait(1_000).send();
    const second = new TraceBuilder({ document: '00000000000000d0', originMs: ORIGIN_MS + 5_000 }).wait(500).send();
    const frame = new TraceBuilder({
      ...{ document: '00000000000000d2', originMs: ORIGIN_MS + 6_000, environment: { ...DESKTOP, b: 1 } },
    }).send();
    const all = [...second.batches, ...frame.batches, ...first.batches];
    expect(rows(all)).toEqual([['navigation', 5_140, '/quiz', null, 1, { cause: 'load' }]]);
  });

  it('knows the page that an earlier batch named', () => {
    const builder = new TraceBuilder().wait(1_000).page(`${QUIZ}/2`, 1).send().wait(500).key('letter', 80).send();
    expect(rows(builder.batches.slice(1), builder.batches)).toEqual([['keyboard', 1_640, '/quiz/2', 80, 2, null]]);
  });

  it('says which events no person made, and counts moves before they were thinned', () => {
    const builder = new TraceBuilder().wait(100).move(1, 1).add(EventCode.MoveSummary, { count: 40 });
    builder.wait(10).add(EventCode.Input, { flags: 0 }).wait(10).add(EventCode.Input);
    const summaries = summariseOne(builder).map(({ type, eventCount, metadata }) => [type, eventCount, metadata]);
    // The builder adds a summary of its one move.
    expect(summaries).toEqual([
      ['mouse', 41, null],
      ['form', 2, { trusted: false }],
    ]);
  });

  it('puts no event into the future of its arrival', () => {
    const builder = new TraceBuilder({ url: null }).send().wait(60_000).key('letter', 80);
    builder.send({ receivedAtMs: ORIGIN_MS + 5_000 });
    expect(rows(builder.batches)).toEqual([['keyboard', 5_000, undefined, 0, 2, null]]);
  });

  it('answers the same for any order and for repeats, also in parts as they were cut', () => {
    const builder = new TraceBuilder();
    for (let i = 0; i < 8; i++) {
      builder
        .wait(1_700)
        .move(i, i)
        .key('letter', 60)
        .add(EventCode.Clipboard, { kind: i % 4 });
      if (i % 3 === 2) builder.page(`${QUIZ}/${i}`, 1);
      builder.send();
    }
    const { batches } = builder;
    const expected = rows(batches);
    const firstPart = rows(batches.slice(0, 4), batches.slice(0, 4));
    fc.assert(
      fc.property(fc.shuffledSubarray(batches), fc.shuffledSubarray(batches, { minLength: 8 }), (repeats, shuffled) => {
        const late = repeats.map((batch) => ({ ...batch, receivedAtMs: batch.receivedAtMs + 9_000 }));
        expect(rows([...late, ...shuffled])).toEqual(expected);
        // Batches that arrive later change nothing about the rows that were made before.
        expect(
          rows(
            shuffled.filter(({ n }) => n < 4),
            shuffled,
          ),
        ).toEqual(firstPart);
      }),
      { numRuns: 25 },
    );
  });

  it('makes a bounded number of rows of a batch, whatever it says', () => {
    const builder = new TraceBuilder();
    for (let i = 0; i < 2_000; i++) builder.wait(11_000).add(EventCode.Page, { page: 0, cause: 1 });
    for (let i = 0; i < 2_000; i++) builder.wait(11_000).add(EventCode.Scroll);
    const summaries = summariseOne(builder);
    expect(summaries.length).toBeLessThanOrEqual(210);
    expect(summaries.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(4_000);
  });

  it('adds what comes after 200 rows to the last row of its type', () => {
    const builder = new TraceBuilder({ url: null });
    for (let i = 0; i < 203; i++) builder.wait(1_000).add(EventCode.Clipboard, { kind: 1, length: -1 });
    const summaries = summariseOne(builder.wait(1_000).add(EventCode.Scroll));
    expect(summaries.slice(198).map(({ type, durationMs, eventCount }) => [type, durationMs, eventCount])).toEqual([
      ['clipboard', null, 1],
      ['clipboard', 3_000, 4],
      ['scroll', 0, 1],
    ]);
  });

  it('counts no more of a batch than a session of such batches can count, whatever it claims', () => {
    const builder = new TraceBuilder();
    for (let page = 1; page < MAX_BEACON_ITEMS; page++) {
      builder.page(`${QUIZ}/${page}`, 1).add(EventCode.MoveSummary, { count: MAX_INT32 });
      builder.add(EventCode.Wheel, { count: MAX_INT32 });
    }
    const count = summariseOne(builder).reduce((sum, { eventCount }) => sum + eventCount, 0);
    expect(count).toBeGreaterThan(100_000);
    expect(count * MAX_SESSION_BATCHES).toBeLessThan(MAX_INT32);
  });
});

function summariseOne(builder: TraceBuilder) {
  const { batches } = builder.send();
  return summariseEvents(batches, anchorDocuments(batches));
}
