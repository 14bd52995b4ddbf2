import { describe, expect, it } from 'vitest';
import { EVENT_FIELDS, type EventCode } from '../../../contract/beacon';
import { digestTrace, MIN_SHARED_DIGESTS } from '../../../server/detection/digests';
import { anchorDocuments } from '../../../server/detection/documents';
import { readEvents, type Trace } from '../../../server/detection/trace';
import { AGENTS, imitate, type Manner, PEOPLE, RECORDED_HUMAN } from '../../support/synthetic-sessions';
import { buildTrace, seedRandom, TraceBuilder } from '../../support/trace';

const countShared = (one: readonly bigint[], other: readonly bigint[]) =>
  one.filter((digest) => other.includes(digest)).length;

/** The same input at another time, as a program repeats it: each event is late by up to some milliseconds. */
function replay(trace: Trace, seed: number, jitterMs: number): Trace {
  const random = seedRandom(seed);
  let builder: TraceBuilder | null = null;
  const anchors = anchorDocuments(trace.batches);
  for (const batch of trace.batches) {
    builder ??= new TraceBuilder({ originMs: 1_800_500_000_000, document: '00000000000000d9', url: null });
    for (const event of readEvents(batch, anchors.get(batch.d)!)) {
      const lateMs = jitterMs * random();
      builder.timeMs = event.timeMs + lateMs;
      builder.add(event.code, pickFields(event.code, event as unknown as Record<string, number>) as never);
    }
    builder.send({ p: batch.p ?? [] });
  }
  return { ...trace, batches: builder!.batches };
}

const pickFields = (code: EventCode, event: Record<string, number>) =>
  Object.fromEntries(EVENT_FIELDS[code].map((name) => [name, event[name]!]));

describe('the digests of a trace', () => {
  it('are shared by a recording that is repeated with jitter, at another time', () => {
    let recognised = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const person = imitate(RECORDED_HUMAN, seed);
      const shared = countShared(digestTrace(person), digestTrace(replay(person, seed + 1_000, 4)));
      if (shared >= MIN_SHARED_DIGESTS) recognised++;
    }
    expect(recognised).toBeGreaterThanOrEqual(34);
  });

  it('are all shared by an exact repetition', () => {
    const person = imitate(RECORDED_HUMAN);
    expect(digestTrace(replay(person, 1, 0))).toEqual(digestTrace(person));
    expect(digestTrace(person).length).toBeGreaterThan(8);
    expect(digestTrace(person).length).toBeLessThanOrEqual(16);
  });

  it('are never shared by two people who write the same text and press the same answers', () => {
    const seen = new Map<bigint, number>();
    let shared = 0;
    for (let seed = 1; seed <= 400; seed++) {
      for (const digest of digestTrace(imitate(RECORDED_HUMAN, seed))) {
        if (seen.has(digest) && seen.get(digest) !== seed) shared++;
        seen.set(digest, seed);
      }
    }
    expect([shared, seen.size > 4_000]).toEqual([0, true]);
  });

  const few = (build: (builder: TraceBuilder) => unknown) => {
    const builder = new TraceBuilder();
    build(builder);
    return digestTrace(buildTrace(builder));
  };
  it.each([
    ['nothing', () => undefined],
    ['one press', (builder: TraceBuilder) => builder.press(300, 200, 80)],
    [
      'thousands of keys that are nearly all alike, whose stretches would take a second to digest',
      (builder: TraceBuilder) => {
        for (let n = 0; n < 3_900; n++) builder.wait(n < 3_886 ? 90 : 150 + 50 * (n % 7)).key('letter', 70);
      },
    ],
    ['a short word', (builder: TraceBuilder) => Array.from('hello', () => builder.wait(90).key('letter', 70))],
    [
      'presses that hit the same place',
      (builder: TraceBuilder) => Array.from({ length: 30 }, () => builder.wait(700).press(300, 200, 80)),
    ],
  ])('are none for %s', (_, build) => {
    expect(few(build)).toEqual([]);
  });

  /** Presses with a rhythm of their own, each so far from the middle of a large button. */
  const pressAt = (distance10: number) => (builder: TraceBuilder) => {
    const random = seedRandom(7);
    for (let n = 0; n < 12; n++) {
      const offset = { offsetX10: distance10 + n - 6, offsetY10: 6 - n, width: 400, height: 300 };
      builder.wait(600 + 4_000 * random()).press(100 + 60 * n, 200, 60 + 200 * random(), offset);
    }
  };
  it('are none for presses within a pixel of the middle, whose places programs and voice control choose', () => {
    expect(few(pressAt(500)).length).toBeGreaterThanOrEqual(MIN_SHARED_DIGESTS);
    expect(few(pressAt(0))).toEqual([]);
  });

  it('count no key after a pause, whose rhythm is that of nobody', () => {
    const random = seedRandom(3);
    const type = (pauseMs: () => number) => (builder: TraceBuilder) => {
      for (let n = 0; n < 40; n++)
        builder.wait(n % 4 === 0 ? 30 + 60 * random() : pauseMs()).key('letter', 40 + 250 * random());
    };
    expect(few(type(() => 30 + 60 * random())).length).toBeGreaterThanOrEqual(MIN_SHARED_DIGESTS);
    expect(few(type(() => 2_100))).toEqual([]);
  });

  it('are of what was typed: other kinds of keys in one rhythm share none', () => {
    const type = (kind: 'letter' | 'digit') => (builder: TraceBuilder) => {
      const random = seedRandom(5);
      for (let n = 0; n < 60; n++) builder.wait(30 + 250 * random()).key(kind, 40 + 150 * random());
    };
    expect(few(type('letter')).length).toBeGreaterThanOrEqual(MIN_SHARED_DIGESTS);
    expect(countShared(few(type('letter')), few(type('digit')))).toBe(0);
  });

  it('are shared by nobody who has the same text typed in a beat, among what they type themselves', () => {
    const type = (seed: number) =>
      few((builder) => {
        const random = seedRandom(seed);
        for (let n = 0; n < 200; n++) {
          if (n === 150) for (let place = 0; place < 50; place++) builder.wait(8).key('letter', 2);
          builder.wait(60 + 250 * random() ** 2).key('letter', 50 + 80 * random());
        }
      });
    const first = type(1);
    expect(first.length).toBeGreaterThanOrEqual(MIN_SHARED_DIGESTS);
    expect([2, 3, 4, 5, 6].map((seed) => countShared(first, type(seed)))).toEqual([0, 0, 0, 0, 0]);
  });

  const without: [string, Manner][] = [
    ['keys in a beat', { ...AGENTS['playwright paced, with a window']!, isCentred: true }],
    ['touch', { ...PEOPLE.touch!, text: 'paste' }],
    ['dictation', { ...PEOPLE['voice control and dictation']! }],
    ['an input method without a mouse', { ...PEOPLE['input method']!, presses: 'keyboard' }],
    ['a screen reader with dictation', { ...PEOPLE['screen reader']!, text: 'dictation' }],
    ['a switch', { ...PEOPLE['eye tracker or switch']!, isCentred: true }],
    ['a clock that is rounded to 100 ms', PEOPLE['clock rounded to 100 ms']!],
  ];
  it.each(without)('are none for %s', (_, manner) => {
    for (const seed of [1, 2, 3]) expect(digestTrace(imitate(manner, seed))).toEqual([]);
  });
});
