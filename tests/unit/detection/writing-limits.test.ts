import { describe, expect, it } from 'vitest';
import { scoreText } from '../../../server/detection/writing-score';
import { createText, finishText, type WritingMeasures } from '../../../server/detection/writing-text';

// The reasons of the writing score, each on both sides of its limit.

/** A text that was typed as if it was copied: each of the four signs is there. */
function copy(change: (text: WritingMeasures) => void) {
  const text = finishText(createText('k', null));
  text.characters.typed = 2_000;
  text.durationMs = 10_000;
  text.pace = { binMs: 1_000, counts: Array<number>(10).fill(200) };
  text.caret = { middle: 0, known: 2_000 };
  text.keys = { count: 2_000, wordEnds: 400, intervals: 1_000, slow: 0 };
  text.finalLength = 2_000;
  change(text);
  const { evidence, aiScore, wordCount } = scoreText(text);
  const states = Object.fromEntries(evidence.reasons.map(({ name, state }) => [name, state]));
  return { states, aiScore, wordCount };
}

const COPYING = ['few-long-pauses', 'even-pace', 'few-revisions', 'linear-writing'];
const nothing = () => undefined;
/** How uneven the tenths of the time are: half of them so much above the mean, half below. */
const uneven = (by: number) => (text: WritingMeasures) => {
  text.pace.counts = Array.from({ length: 10 }, (_, i) => 100 + (i % 2 === 0 ? by : -by));
};

it.each<[reason: string, state: string, change: (text: WritingMeasures) => void]>([
  ['few-long-pauses', 'found', (text) => (text.pauses.totalMs = 3_999)],
  ['few-long-pauses', 'notFound', (text) => (text.pauses.totalMs = 4_000)],
  ['few-long-pauses', 'notMeasured', (text) => (text.durationMs = 0)],
  ['even-pace', 'found', uneven(28.4)],
  ['even-pace', 'notFound', uneven(28.5)],
  ['few-revisions', 'found', (text) => (text.revisions.deletedCharacters = 119)],
  ['few-revisions', 'notFound', (text) => (text.revisions.deletedCharacters = 120)],
  ['linear-writing', 'found', (text) => (text.caret.middle = 9)],
  ['linear-writing', 'notFound', (text) => (text.caret.middle = 10)],
  ['text-inserted', 'found', (text) => Object.assign(text.characters, { typed: 1_800, inserted: 200 })],
  ['text-inserted', 'notFound', (text) => Object.assign(text.characters, { typed: 1_801, inserted: 199 })],
  ['text-pasted', 'found', (text) => Object.assign(text.characters, { typed: 1_600, pasted: 200, dropped: 200 })],
  ['text-pasted', 'notFound', (text) => Object.assign(text.characters, { typed: 1_601, pasted: 200, dropped: 199 })],
])('%s is %s', (reason, state, change) => {
  expect(copy(change).states[reason]).toBe(state);
});

describe('the signs of copying', () => {
  it('count if all four are found', () => {
    const { aiScore, states } = copy(nothing);
    expect([aiScore, COPYING.map((name) => states[name])]).toEqual([0.599, Array(4).fill('found')]);
  });

  it.each<[what: string, change: (text: WritingMeasures) => void]>([
    ['pauses', (text) => (text.pauses.totalMs = 4_000)],
    ['an uneven pace', uneven(30)],
    ['revisions', (text) => (text.revisions.deletedCharacters = 120)],
    ['text in the middle', (text) => (text.caret.middle = 10)],
  ])('count nothing with %s', (_, change) => {
    expect(copy(change).aiScore).toBe(0.1);
  });

  it.each<[what: string, isMeasured: boolean, change: (text: WritingMeasures) => void]>([
    ['a thousand typed characters', true, (text) => (text.characters.typed = 1_000)],
    ['fewer', false, (text) => (text.characters.typed = 999)],
    ['half of the text typed', true, (text) => (text.characters.pasted = 2_000)],
    ['less', false, (text) => (text.characters.pasted = 2_001)],
    ['half of the keys slow', true, (text) => (text.keys.slow = 500)],
    ['more', false, (text) => (text.keys.slow = 501)],
    ['the caret mostly known', true, (text) => (text.caret.known = 1_800)],
    ['less', false, (text) => (text.caret.known = 1_799)],
    ['events that were lost', false, (text) => (text.hasGaps = true)],
  ])('with %s are measured: %s', (_, isMeasured, change) => {
    const { states } = copy(change);
    expect(COPYING.map((name) => states[name] !== 'notMeasured')).toEqual(Array(4).fill(isMeasured));
  });
});

it.each<[what: string, words: number | null, change: (text: WritingMeasures) => void]>([
  ['many keys', 400, nothing],
  ['a hundred keys', 200, (text) => Object.assign(text.keys, { count: 100, wordEnds: 10 })],
  ['fewer', null, (text) => Object.assign(text.keys, { count: 99, wordEnds: 10 })],
  ['half from an input method', 400, (text) => (text.characters.composed = 2_000)],
  ['more from one', null, (text) => (text.characters.composed = 2_001)],
  ['keys that ended no word', null, (text) => (text.keys.wordEnds = 0)],
])('words are estimated of %s: %s', (_, words, change) => {
  expect(copy(change).wordCount).toBe(words);
});
