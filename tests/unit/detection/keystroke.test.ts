import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EVENT_FLAGS } from '../../../contract/beacon';
import { Keystroke } from '../../../server/detection/keystroke';

const { trusted, hasCode, shift, capsLock, multiline } = EVENT_FLAGS;
const press = (stroke: Partial<ConstructorParameters<typeof Keystroke>[0]>) =>
  new Keystroke({
    atMs: 0,
    kind: 'letter',
    flags: 0,
    timeMs: 5_000,
    beforeMs: Number.NEGATIVE_INFINITY,
    quietMs: 0,
    ...stroke,
  });

it('a keystroke has the very times that lie between its key, the character before and its release', () => {
  const time10 = fc.integer({ min: -600_000, max: 2 ** 40 });
  fc.assert(
    fc.property(
      time10,
      fc.integer({ min: -50, max: 19_999 }),
      fc.integer({ max: 2 ** 40 }),
      (at10, interval10, up10) => {
        const [timeMs, beforeMs, releasedMs] = [at10 / 10, (at10 - interval10) / 10, up10 / 10];
        const stroke = press({ timeMs, beforeMs });
        expect(stroke.heldMs).toBeNull();
        stroke.noteRelease(releasedMs);
        expect(stroke.heldMs).toBe(releasedMs - timeMs);
        expect(stroke.intervalMs).toBe(timeMs - beforeMs);
      },
    ),
  );
});

it('a keystroke has no interval after 2 s, nor if it writes nothing', () => {
  expect(press({ beforeMs: 3_000 }).intervalMs).toBeNull();
  expect(press({ beforeMs: 3_000.1 }).intervalMs).toBeCloseTo(1_999.9);
  expect(press({ beforeMs: 4_900, kind: 'shift' }).intervalMs).toBeNull();
  expect(press({}).intervalMs).toBeNull();
});

it('a keystroke tells its flags apart, and is of a text area only if the text says so', () => {
  const tell = ({ isTrusted, hasCode, hasShift, hasCapsLock, isMultiline }: Keystroke) => [
    ...[isTrusted, hasCode, hasShift, hasCapsLock, isMultiline],
  ];
  const flags = [trusted, hasCode, shift, capsLock, multiline];
  for (const [place, flag] of flags.entries())
    expect(tell(press({ flags: flag }))).toEqual(flags.map((_, at) => at === place && flag !== multiline));
  const stroke = press({});
  stroke.noteMultiline();
  expect(tell(stroke)).toEqual([false, false, false, false, true]);
});
