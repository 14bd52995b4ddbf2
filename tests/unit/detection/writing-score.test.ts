import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_FIELDS, EVENT_FLAGS, EventCode } from '../../../contract/beacon';
import { MAX_WRITING_EVIDENCE_BYTES, writingEvidenceSchema } from '../../../contract/writing';
import { readBeacon } from '../../../server/detection/batch';
import type { TraceBatch } from '../../../server/detection/trace';
import { packNumbers } from '../../../server/detection/varints';
import { MIN_NEW_CHARACTERS, scoreWriting, WRITING_BASE, WRITING_RULES } from '../../../server/detection/writing-score';
import * as writers from '../../support/writers';
import { WrittenPage } from '../../support/writers';

// What the formula says of imitated writers. The controls are people whom it must not accuse.

const SEEDS = Array.from({ length: 5 }, (_, n) => n + 1);
const COPYING = WRITING_RULES.filter(({ group }) => group === 'copying').map(({ name }) => name);

const { trusted } = EVENT_FLAGS;
/** A press of a mouse. */
const PRESS = EVENT_FIELDS[EventCode.Press].map((name) => (name === 'flags' ? trusted : 0));

type Act = (page: WrittenPage) => unknown;

/** The score of the only text, and the names of the reasons that count. */
function judge(act: Act, seed = 1) {
  const page = new WrittenPage({ seed });
  act(page);
  const [score, ...others] = scoreWriting(page.send());
  expect(others).toEqual([]);
  const counting = score!.evidence.reasons.filter(({ weight }) => weight > 0).map(({ name }) => name);
  return { ...score!, counting };
}
const scoresOf = (act: Act) => SEEDS.map((seed) => judge(act, seed).aiScore);

const ENOUGH = 2_000;
const composed = judge((page) => writers.compose(page, ENOUGH)).aiScore;

describe('what is found', () => {
  it('a text that a script wrote, or a command of a driver', () => {
    for (const act of [
      (page: WrittenPage) => writers.fill(page, ENOUGH),
      (page: WrittenPage) => writers.typeByScript(page.wait(2_000), ENOUGH),
      (page: WrittenPage) => writers.stream(page.wait(2_000), ENOUGH, 40, 0),
      (page: WrittenPage) => page.wait(2_000).input('insertText', ENOUGH),
      (page: WrittenPage) => writers.compose(page, 100).change(ENOUGH).wait(9_000).type(),
      (page: WrittenPage) => writers.stream(page.wait(2_000), ENOUGH),
      (page: WrittenPage) => writers.stream(page.wait(2_000), ENOUGH, 40),
      (page: WrittenPage) => writers.stream(page.wait(90_000), 2 * ENOUGH),
    ]) {
      const { aiScore, counting } = judge(act);
      expect(counting).toEqual(['text-inserted']);
      expect(aiScore).toBeGreaterThan(0.9);
    }
  });

  it('text that a script wrote into what somebody composed, for the part that it is', () => {
    const { aiScore, counting } = judge((page) =>
      writers.compose(page, 1_000).wait(2_000).input('none', 1_000, 1_000, 0),
    );
    expect(counting).toEqual(['text-inserted']);
    expect(aiScore).toBeGreaterThan(composed);
    expect(aiScore).toBeLessThan(0.7);
  });

  it('a paste, which is said to be one and stays below a half', () => {
    const { aiScore, counting } = judge((page) => page.wait(2_000).paste(ENOUGH));
    expect(counting).toEqual(['text-pasted']);
    expect(aiScore).toBe(0.45);
  });

  it('a paste that an editor inserts only after it has asked how, which is no other than a paste', () => {
    const { aiScore, counting } = judge((page) =>
      page.wait(2_000).clipboard('paste', ENOUGH).wait(5_000).input('none', ENOUGH, ENOUGH, 0),
    );
    expect([aiScore, counting]).toEqual([0.45, ['text-pasted']]);
  });

  it('copy-typing, which stays below 0.7, because a draft on paper is copied in the same way', () => {
    for (const seed of SEEDS) {
      const { aiScore, counting } = judge((page) => writers.copyOut(page, ENOUGH), seed);
      expect(counting.toSorted()).toEqual(COPYING.toSorted());
      expect(aiScore).toBeGreaterThan(0.55);
      expect(aiScore).toBeLessThan(0.7);
    }
  });

  it('no mix of pasting and copy-typing passes 0.7', () => {
    for (const share of [0.1, 0.3, 0.5]) {
      const { aiScore } = judge((page) => writers.copyOut(page, (1 - share) * 4_000).paste(share * 4_000));
      expect(aiScore).toBeLessThan(0.7);
    }
  });
});

describe('people who are not accused', () => {
  const quiet: [string, Act][] = [
    ['composing at a keyboard', (page) => writers.compose(page, ENOUGH)],
    ['a fast typist', (page) => writers.compose(page, ENOUGH, 75)],
    ['a slow typist', (page) => writers.compose(page, ENOUGH, 420)],
    ['dictation', (page) => writers.dictate(page, ENOUGH)],
    ['dictation that a script of the page or an extension writes', (page) => writers.dictate(page, ENOUGH, 0)],
    ['dictation whose words come one after the other', (page) => writers.dictateWords(page, ENOUGH)],
    ['dictation to an iPhone', (page) => writers.dictateToPhone(page, ENOUGH)],
    ['dictation that an iPhone corrects', (page) => writers.dictateToPhone(page, ENOUGH, 'insertReplacement')],
    ['dictation to an iPhone that deletes first', (page) => writers.dictateToPhone(page, ENOUGH, 'insertText', true)],
    ['words that a phone proposes', (page) => writers.chooseOnPhone(page, ENOUGH)],
    ['dictation that a script writes word by word', (page) => writers.speakWords(page, ENOUGH)],
    ['dictation that a program types', (page) => writers.dictateAsKeys(page, ENOUGH)],
    ['an input method', (page) => writers.useInputMethod(page, ENOUGH)],
    ['an on-screen keyboard', (page) => writers.tap(page, ENOUGH)],
    [
      'an on-screen keyboard of the page or an extension, whose keys are pressed and write by a script',
      (page) => {
        while (page.length < ENOUGH)
          page
            .wait(300 + 500 * page.random())
            .add(EventCode.Press, ...PRESS)
            .wait(20)
            .input('none', 1, 1, 0);
      },
    ],
    ['a switch, or an eye tracker', (page) => writers.scan(page, ENOUGH)],
    [
      'the clipboard of a keyboard on the screen',
      (page) => page.wait(1_500).key('composition', () => page.input('insertText', 900), trusted),
    ],
    ['autofill', (page) => writers.autofill(page, ENOUGH)],
    ['a draft that the page brings', (page) => writers.compose(page.into(0, 'essay', 4_000), 4_900)],
    [
      'a spell-checker that corrects every fifth word',
      (page) => {
        for (let n = 0; n < 60; n++) {
          writers.compose(page, page.length + 30);
          page.wait(700).input('insertReplacement', 7, 1);
        }
      },
    ],
    [
      'a tool that replaces words when its proposal is pressed, or all of them at once',
      (page) => {
        for (let n = 0; n < 40; n++) {
          writers.compose(page, page.length + 40);
          page
            .wait(900)
            .add(EventCode.Press, ...PRESS)
            .wait(30);
          for (let words = 0; words < 4; words++) page.wait(2).input('insertText', 14, 1);
        }
      },
    ],
    [
      'words that a tool proposes and somebody presses',
      (page) => {
        for (let n = 0; n < 60; n++) {
          writers.compose(page, page.length + 20);
          page
            .wait(900)
            .add(EventCode.Press, ...PRESS)
            .wait(30)
            .input('insertText', 14);
        }
      },
    ],
    [
      'paragraphs that are moved about',
      (page) => {
        writers.compose(page, ENOUGH);
        for (let n = 0; n < 9; n++)
          page.wait(900).clipboard('cut').input('deleteContent', 0, -400).wait(2_000).paste(400);
      },
    ],
    [
      'quotations that are pasted',
      (page) => {
        for (let n = 0; n < 4; n++) writers.compose(page, page.length + 500).paste(100);
      },
    ],
  ];

  it.each(quiet)('%s', (_, act) => {
    for (const score of scoresOf(act)) expect(score).toBeLessThanOrEqual(0.12);
  });

  it.each([
    ['as text', 'insertText'],
    ['as corrections', 'insertReplacement'],
  ] as const)('what a phone writes again %s is counted once', (_, type) => {
    const { evidence } = judge((page) => writers.dictateToPhone(page, ENOUGH, type));
    const { composed, corrected, inserted } = evidence.characters;
    expect([composed + corrected, inserted]).toEqual([evidence.finalLength, 0]);
  });

  it('somebody who pastes their own notes and works on them', () => {
    for (const score of scoresOf((page) => writers.compose(page.wait(2_000).paste(1_500), 2_500))) {
      expect(score).toBeGreaterThan(composed);
      expect(score).toBeLessThan(0.4);
    }
  });

  it('somebody whose page loses what was sent', () => {
    const page = writers.copyOut(new WrittenPage(), ENOUGH);
    const batches = page.send([2_000, 2_300]).filter((_, n) => n !== 1);
    expect(scoreWriting(batches)[0]!.aiScore).toBe(composed);
  });
});

describe('a score', () => {
  it('is not given for a short text, and says nothing of typing below a thousand characters', () => {
    const scored = (length: number) => scoreWriting(new WrittenPage().wait(900).paste(length).send());
    expect([scored(MIN_NEW_CHARACTERS - 1).length, scored(MIN_NEW_CHARACTERS).length]).toEqual([0, 1]);
    const short = judge((page) => writers.copyOut(page, 900));
    expect(short.aiScore).toBe(composed);
    const copying = short.evidence.reasons.filter(({ name }) => COPYING.includes(name));
    expect(copying.map(({ state, measured }) => [state, measured])).toEqual(COPYING.map(() => ['notMeasured', null]));
  });

  it('is the logistic of the base and of what counts', () => {
    const { aiScore, evidence } = judge((page) => writers.compose(page, 1_500).paste(700));
    const logOdds = evidence.reasons.reduce((sum, { weight }) => sum + weight, WRITING_BASE);
    expect(logOdds).toBeGreaterThan(WRITING_BASE);
    expect(aiScore).toBeCloseTo(1 / (1 + Math.exp(-logOdds)), 2);
  });

  it('names no copy-typing if one of its signs is missing', () => {
    const { aiScore, counting, evidence } = judge((page) => {
      writers.copyOut(page, ENOUGH);
      for (let n = 0; n < 200; n++) page.wait(120).backspace();
      writers.copyOut(page, ENOUGH);
    });
    expect(evidence.reasons.filter(({ name, state }) => COPYING.includes(name) && state === 'found')).toHaveLength(3);
    expect([counting, aiScore]).toEqual([[], composed]);
  });

  it('brings evidence that a fact may have', () => {
    const { evidence } = judge((page) => writers.compose(page, ENOUGH).paste(900));
    expect(writingEvidenceSchema.parse(evidence)).toEqual(evidence);
    expect(JSON.stringify(evidence).length).toBeLessThan(MAX_WRITING_EVIDENCE_BYTES / 2);
  });

  it('estimates words from the spaces that were typed, or says that it cannot', () => {
    // The imitated words have five letters and a space.
    expect(judge((page) => writers.copyOut(page, ENOUGH)).wordCount).toBeCloseTo(ENOUGH / 6, -2);
    const half = judge((page) => writers.compose(page, 1_000).paste(1_000)).wordCount!;
    expect(half).toBeGreaterThan(280);
    expect(half).toBeLessThan(380);
    for (const act of [
      (page: WrittenPage) => page.wait(9).paste(ENOUGH),
      (page: WrittenPage) => writers.useInputMethod(page, ENOUGH),
    ])
      expect(judge(act).wordCount).toBeNull();
  });

  it('belongs to a text, which may have no name', () => {
    const page = writers.compose(new WrittenPage().into(0, ''), 400);
    writers.compose(page.into(1, 'two'), 400);
    expect(scoreWriting(page.send()).map(({ documentId }) => documentId)).toEqual([null, 'two']);
  });

  it('is one that a fact may have, whatever a page sends', () => {
    const length = fc.constantFrom(-1, 0, 1, 7, 40, 600, 2 ** 31 - 1);
    const bit = fc.constantFrom(0, 1);
    const FIELDS: Record<string, fc.Arbitrary<number>> = {
      ...{ field: bit, document: bit, phase: bit, state: bit, insertedLength: length, valueLength: length, length },
      ...{ type: fc.nat(9), class: fc.nat(14), kind: fc.nat(3), fromEnd: fc.constantFrom(-1, 0, 3, 2 ** 31 - 1) },
      flags: fc.constantFrom(0, 1, 3, 3, 11, 513),
    };
    const { Press, KeyDown, Input, Clipboard, Focus, Visibility, Composition, Writing } = EventCode;
    const event = fc
      .tuple(
        fc.constantFrom(
          Press,
          KeyDown,
          KeyDown,
          Input,
          Input,
          Input,
          Clipboard,
          Focus,
          Visibility,
          Composition,
          Writing,
        ),
        fc.oneof({ weight: 5, arbitrary: fc.nat(9_000) }, fc.constantFrom(-5_000, 2 ** 36)),
      )
      .chain(([code, step10]) =>
        fc
          .tuple(...EVENT_FIELDS[code].map((name) => FIELDS[name] ?? fc.constant(0)))
          .map((fields) => [code, step10, ...fields]),
      );
    const common = { v: 1, k: `site_${'a'.repeat(24)}`, s: 'a'.repeat(32), d: 'b'.repeat(16) };
    // Something that has words, so that the rest may spoil their number.
    const written = writers.compose(new WrittenPage(), 400).send();
    const numbers = new Set<number>();
    let scores = 0;
    fc.assert(
      fc.property(
        fc.array(fc.array(event, { minLength: 9, maxLength: 60 }), { maxLength: 4 }),
        fc.nat(),
        (parts, receivedAtMs) => {
          const batches = parts.flatMap((events, n): TraceBatch[] => {
            const beacon = readBeacon({
              ...{ ...common, n: n + (receivedAtMs % 2), c: [0, 0], w: ['', 'x'] },
              ev: events.flat(),
            });
            return beacon ? [{ ...beacon, events: packNumbers(beacon.ev), receivedAtMs }] : [];
          });
          const last = written.at(-1)!;
          const further = batches.map((batch): TraceBatch => ({ ...batch, d: last.d, n: last.n + 1 + batch.n }));
          for (const { aiScore, wordCount, evidence } of [batches, [...written, ...further]].flatMap(scoreWriting)) {
            scores++;
            expect(aiScore).toBeGreaterThanOrEqual(0.1);
            expect(aiScore).toBeLessThan(1);
            if (wordCount !== null) numbers.add(wordCount);
            expect(writingEvidenceSchema.parse(evidence)).toEqual(evidence);
          }
        },
      ),
      { numRuns: 400 },
    );
    expect(scores).toBeGreaterThan(10);
    expect(numbers.size).toBeGreaterThan(1);
    for (const wordCount of numbers) expect(Number.isInteger(wordCount) && wordCount >= 0).toBe(true);
  });
});
