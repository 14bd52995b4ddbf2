import { describe, expect, it } from 'vitest';
import { EVENT_FLAGS, type KEY_CLASSES } from '../../../contract/beacon';
import { Keystroke } from '../../../server/detection/keystroke';
import { isSpokenPhrase, leaveOutPhrases } from '../../../server/detection/phrases';
import { addPiece, createTextStream, isFasterThanSpeech } from '../../../server/detection/text-stream';

// Whose keys and pieces of text are no hands', each on both sides of its limit.

const { trusted, hasCode } = EVENT_FLAGS;

interface Stretch {
  count: number;
  /** Before its first key, and between the others. */
  pauseMs?: number;
  everyMs?: number;
  heldMs?: number | null;
  kind?: (typeof KEY_CLASSES)[number];
  /** How long nothing else was done before it. */
  quietMs?: number;
}

/** Types stretches one after the other. `since` is the time from a key of the segment before. */
function type(stretches: readonly Stretch[], sinceMs = Number.POSITIVE_INFINITY): Keystroke[] {
  let timeMs = 100_000;
  let beforeMs = timeMs - sinceMs;
  let isFirst = true;
  return stretches.flatMap(({ count, pauseMs = 3_000, everyMs = 120, heldMs = 80, kind = 'letter', quietMs = 0 }) =>
    Array.from({ length: count }, (_, place) => {
      if (!isFirst) timeMs += place === 0 ? pauseMs : everyMs;
      isFirst = false;
      const key = new Keystroke({ atMs: timeMs, kind, flags: trusted | hasCode, timeMs, beforeMs, quietMs });
      if (heldMs !== null) key.noteRelease(timeMs + heldMs);
      if (key.isCharacter) beforeMs = timeMs;
      return key;
    }),
  );
}

const HAND: Stretch = { count: 60 };
const countLeft = (stretches: readonly Stretch[], sinceMs?: number) =>
  leaveOutPhrases(type(stretches, sinceMs)).filter(({ kind }) => kind !== 'backspace').length;

describe('keys after those of a hand', () => {
  it.each<[what: string, isLeftOut: boolean, stretch: Stretch]>([
    ['a phrase after a pause', true, { count: 8, pauseMs: 350, everyMs: 60 }],
    ['after a shorter one', false, { count: 8, pauseMs: 349.9, everyMs: 60 }],
    ['a phrase that can be spoken in the pause', true, { count: 20, pauseMs: 500, everyMs: 60 }],
    ['one that cannot', false, { count: 20, pauseMs: 499.9, everyMs: 60 }],
    ['a phrase as it is typed on a busy machine', true, { count: 8, everyMs: 80 }],
    ['one as fast hands type it', false, { count: 8, everyMs: 80.1 }],
    ['two keys', true, { count: 2, everyMs: 5 }],
    ['one key', false, { count: 1 }],
    ['a clause of 80 characters', true, { count: 80, everyMs: 5 }],
    ['one that is longer', false, { count: 81, everyMs: 5 }],
    ['the same, if it can have been dictated', true, { count: 81, everyMs: 5, quietMs: 4_050 }],
    ['if it cannot', false, { count: 81, everyMs: 5, quietMs: 4_049.9 }],
    ['a word after a short pause', true, { count: 4, pauseMs: 150, everyMs: 5 }],
    ['after a shorter one', false, { count: 4, pauseMs: 149.9, everyMs: 5 }],
    ['a word that can be spoken in the pause', true, { count: 8, pauseMs: 200, everyMs: 5 }],
    ['one that cannot', false, { count: 8, pauseMs: 199.9, everyMs: 5 }],
    ['a word as it is typed on a busy machine', true, { count: 4, pauseMs: 200, everyMs: 50 }],
    ['one as hands can type it', false, { count: 4, pauseMs: 200, everyMs: 50.1 }],
  ])('%s: left out %s', (_, isLeftOut, stretch) => {
    expect(countLeft([HAND, stretch])).toBe(HAND.count + (isLeftOut ? 0 : stretch.count));
  });

  it('are all left out if most are words of a machine, which are at most 24 characters long', () => {
    const word: Stretch = { count: 4, pauseMs: 200, everyMs: 5 };
    expect(countLeft([{ count: 12 }, word, word, word])).toBe(12);
    expect(countLeft([{ count: 12 }, word, word, { ...word, count: 5 }])).toBe(0);
    const long = (count: number) => Array<Stretch>(4).fill({ count, everyMs: 5 });
    expect(countLeft([{ count: 10 }, ...long(24)])).toBe(0);
    expect(countLeft([{ count: 10 }, ...long(25)])).toBe(10);
  });
});

describe('the first keys of a segment', () => {
  it('can be the rest of a phrase, and are not lost if they are not', () => {
    expect(countLeft([{ count: 80, everyMs: 5 }, HAND], 5)).toBe(HAND.count);
    expect(countLeft([{ count: 81, everyMs: 5 }, HAND], 5)).toBe(81 + HAND.count);
    expect(countLeft([HAND], 120)).toBe(HAND.count);
  });

  it('are no rest of what a text expander types', () => {
    expect(
      countLeft([
        { count: 1, kind: 'shift' },
        { ...HAND, pauseMs: 100 },
      ]),
    ).toBe(HAND.count);
  });
});

describe('what follows an abbreviation that was erased', () => {
  const written: Stretch = { count: 3 };
  const erased: Stretch = { count: 3, kind: 'backspace', everyMs: 2, heldMs: 1 };
  /** Too slow for a phrase. */
  const text: Stretch = { count: 20, pauseMs: 4, everyMs: 100, heldMs: 1 };

  it.each<[what: string, isLeftOut: boolean, stretches: Stretch[]]>([
    ['at once', true, [written, erased, text]],
    ['two characters', true, [written, { ...erased, count: 2 }, text]],
    ['one, which is a correction', false, [written, { ...erased, count: 1 }, text]],
    ['as fast as no hand', true, [written, { ...erased, everyMs: 80 }, text]],
    ['as a hand erases', false, [written, { ...erased, everyMs: 80.1 }, text]],
    ['more than was written by hand', false, [{ count: 2 }, erased, text]],
    ['two, of which one was written', false, [{ count: 1 }, { ...erased, count: 2 }, text]],
    ['keys as short as a finger can hold them', true, [{ ...written, heldMs: 30 }, erased, text]],
    ['shorter ones', false, [{ ...written, heldMs: 29.9 }, erased, text]],
    ['keys that are still held', true, [{ ...written, heldMs: null }, erased, text]],
    ['a moment later', true, [written, erased, { ...text, pauseMs: 149.9 }]],
    ['too late', false, [written, erased, { ...text, pauseMs: 150 }]],
    ['slowly', true, [written, erased, { ...text, everyMs: 149.9 }]],
    ['too slowly for all but the first', false, [written, erased, { ...text, count: 1 }, { ...text, pauseMs: 150 }]],
  ])('%s: left out %s', (_, isLeftOut, stretches) => {
    const left = countLeft([...stretches, HAND]) - HAND.count - stretches[0]!.count;
    expect(left).toBe(isLeftOut ? 0 : text.count);
  });

  it('ends where somebody goes on by hand', () => {
    const rest = { ...HAND, pauseMs: 100 };
    const corrected = [written, erased, text, { count: 1, kind: 'backspace' as const, pauseMs: 100 }, rest];
    expect(countLeft(corrected)).toBe(written.count + HAND.count);
  });

  it('is not what was written by hand: if it is erased, another text follows', () => {
    const held = { ...text, heldMs: 80 };
    expect(countLeft([written, erased, held, erased, text, HAND])).toBe(written.count + text.count + HAND.count);
  });
});

it.each([
  ['40 characters', true, 40, 39 * 80, 1_000],
  ['more', false, 41, 0, 10_000],
  ['too slowly', false, 40, 39 * 80 + 0.1, 1_000],
  ['too soon', false, 40, 39 * 80, 999.9],
  ['two characters', true, 2, 80, 50],
  ['one', false, 1, 0, 50],
])('where text came from, a phrase is %s: %s', (_, isPhrase, length, tookMs, pauseMs) => {
  expect(isSpokenPhrase({ length, tookMs, pauseMs })).toBe(isPhrase);
});

describe('pieces of text', () => {
  const piece = { length: 30, timeMs: 1_000, noticedMs: 0, sinceMs: 0 };
  const first = addPiece(createTextStream(), piece);

  it('go on where only pieces were noticed, without a pause', () => {
    const next = { length: 11, timeMs: 1_349.9, noticedMs: 1_000, sinceMs: 1_000 };
    expect(addPiece(first, next)).toEqual({ length: 41, timeMs: 1_349.9, sinceMs: 0 });
    expect(addPiece(first, { ...next, timeMs: 1_350 })).toEqual({ length: 11, timeMs: 1_350, sinceMs: 1_000 });
    const later = { ...next, noticedMs: 1_100 };
    expect(addPiece(first, later)).toEqual({ length: 11, timeMs: 1_349.9, sinceMs: 1_000 });
  });

  it.each([
    ['as fast as speech', false, 41, 1_525],
    ['faster', true, 41, 1_524.9],
    ['a word or two', false, 40, 501],
  ])('come %s: %s', (_, isFaster, length, timeMs) => {
    expect(isFasterThanSpeech({ length, timeMs, sinceMs: 500 })).toBe(isFaster);
  });
});
