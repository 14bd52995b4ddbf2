import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventCode } from '../../../contract/beacon';
import { readPresence } from '../../../server/detection/presence';
import { TraceBuilder } from '../../support/trace';

const ORIGIN_MS = 1_800_000_000_000;
const page = (document: string, laterMs: number) =>
  new TraceBuilder({ document, originMs: ORIGIN_MS + laterMs, url: `https://lms.example.edu/${laterMs}` }).wait(900);
const FIRST = '00000000000000d9';
const SECOND = '00000000000000d1';

describe('readPresence', () => {
  it('sees a session begin, go on and end', () => {
    const first = page(FIRST, 0).send();
    expect(readPresence(first)).toEqual({
      ...{ startedAtMs: ORIGIN_MS + 140, pageUrl: 'https://lms.example.edu/0', lastSignMs: ORIGIN_MS + 1_040 },
      ...{ isGone: false, goneSinceMs: null, hasEnded: false },
    });
    first.wait(1_000).add(EventCode.Leave).send();
    expect(readPresence(first)).toMatchObject({ isGone: true, goneSinceMs: ORIGIN_MS + 2_040 });
    const second = page(SECOND, 3_000).send();
    const batches = [...second.batches, ...first.batches];
    expect(readPresence({ batches })).toMatchObject({
      ...{ startedAtMs: ORIGIN_MS + 140, pageUrl: 'https://lms.example.edu/0', lastSignMs: ORIGIN_MS + 4_040 },
      ...{ isGone: false, goneSinceMs: null, hasEnded: false },
    });
    second.wait(10).add(EventCode.Leave).send({ x: 1 });
    expect(readPresence({ batches: [...second.batches, ...first.batches] })).toMatchObject({
      ...{ isGone: true, goneSinceMs: ORIGIN_MS + 4_050, hasEnded: true },
    });
  });

  it('takes a page that the browser restores as there again', () => {
    const builder = page(FIRST, 0).add(EventCode.Leave, { persisted: 1 }).send();
    builder.wait(5).add(EventCode.Visibility, { state: 1 }).send();
    expect(readPresence(builder)).toMatchObject({ isGone: true });
    builder.page('https://lms.example.edu/0', 2).send();
    expect(readPresence(builder)).toMatchObject({ isGone: false, goneSinceMs: null });
    const alive = page(FIRST, 0).add(EventCode.Leave).send().wait(60_000).add(EventCode.Alive).send();
    expect(readPresence(alive)).toMatchObject({ isGone: false });
  });

  const leave = () => page(FIRST, 0).add(EventCode.Leave);
  it.each([
    ['nothing', leave(), true],
    ['what it notes while it is left', leave().wait(2_000).add(EventCode.Visibility, { state: 1 }), true],
    ['something that it notes later', leave().wait(2_001).add(EventCode.Visibility, { state: 0 }), false],
    ['a page, as if the browser brought it back', leave().wait(1).page('https://lms.example.edu/0', 2), false],
    ['that it is left again', leave().wait(2_001).add(EventCode.Alive).wait(1).add(EventCode.Leave), true],
    ['what it notes while it is left, in another batch', leave().send().wait(2_000).add(EventCode.Alive), true],
    ['something later, in another batch', leave().send().wait(2_001).add(EventCode.Alive), false],
  ])('after its Leave, a page tells %s', (_, builder, isGone) => {
    expect(readPresence(builder.send())).toMatchObject({ isGone });
    // And stays what it is.
    expect(readPresence(builder.wait(1).send())).toMatchObject({ isGone });
  });

  it('begins with the first page that a batch names', () => {
    const builder = page(FIRST, 0).page('https://lms.example.edu/later', 1).send();
    expect(readPresence(builder)).toMatchObject({ pageUrl: 'https://lms.example.edu/0' });
  });

  it('answers null for no batches, and survives batches without events', () => {
    expect(readPresence({ batches: [] })).toBeNull();
    expect(readPresence(new TraceBuilder({ url: null }).send())).toMatchObject({
      ...{ startedAtMs: ORIGIN_MS + 140, pageUrl: null, isGone: false },
    });
  });

  it('answers the same for any order and for repeats', () => {
    const first = page(FIRST, 0).send().wait(500).add(EventCode.Leave).send();
    const second = page(SECOND, 2_000)
      .send()
      .wait(100)
      .key('letter', 50)
      .send({ u: { id: 'bob' } });
    const batches = [...first.batches, ...second.batches];
    const expected = readPresence({ batches });
    fc.assert(
      fc.property(fc.shuffledSubarray(batches, { minLength: batches.length }), fc.subarray(batches), (all, some) => {
        expect(readPresence({ batches: [...some, ...all] })).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });
});
