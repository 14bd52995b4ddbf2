import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROVENANCES } from '../../../../contract/writing';
import { addToPace, createPace, measureUnevenness } from '../../../../server/detection/writing-pace';
import { scoreWriting } from '../../../../server/detection/writing-score';
import { MAX_WRITING_SESSIONS, measureWriting } from '../../../../server/detection/writing-sessions';
import * as writers from '../../../support/writers';
import { WrittenPage } from '../../../support/writers';
import { begin, countSources, measure, trusted, type } from './written-pages';

export function registerTextTests(): void {
  describe('a text', () => {
    it('has pauses where it says, bursts between them, and the time without them', () => {
      const page = new WrittenPage();
      // After a letter, after a space, after a full stop and a space.
      type(page, 3).wait(2_850);
      type(page, 3).wait(4_850);
      type(page, 66).wait(9_850);
      type(page, 4);
      const { pauses, bursts, activeMs, durationMs, keys } = measure(page);
      expect(pauses).toEqual({
        ...{ count: 3, totalMs: 18_000, longestMs: 10_000 },
        ...{ withinWord: 1, afterWord: 1, afterMark: 1 },
      });
      expect(bursts).toEqual({ count: 4, total: 76, longest: 66 });
      expect([activeMs, durationMs]).toEqual([3 * 2_000 + 73 * 150, 18_000 + 73 * 150]);
      expect(keys).toMatchObject({ count: 76, wordEnds: 12, slow: 0 });
    });

    it('begins when its field gets the focus', () => {
      const page = type(new WrittenPage().wait(12_000), 3);
      expect(measure(page)).toMatchObject({ durationMs: 12_450, pauses: { count: 1, longestMs: 12_150 } });
    });

    it('has revisions, of which each is a row of deletions, and edits before its end', () => {
      const page = begin(40);
      for (let n = 0; n < 3; n++) page.wait(90).backspace();
      type(page, 10).wait(90).backspace();
      type(page.caretTo(12), 6);
      type(page.caretTo(2), 1);
      type(page.caretTo(-1), 5);
      expect(measure(page)).toMatchObject({
        revisions: { count: 2, deletedCharacters: 4 },
        caret: { middle: 6, known: 57 },
        finalLength: 58,
      });
    });

    it('counts what an input method composed as written', () => {
      const { bursts, caret } = measure(writers.useInputMethod(new WrittenPage().caretTo(40), 8));
      expect([bursts.total, caret]).toEqual([16, { middle: 16, known: 16 }]);
    });

    it('counts no paste for text that is moved within it', () => {
      const page = begin(100).wait(900).clipboard('cut').input('deleteContent', 0, -40).wait(900).paste(40);
      expect(measure(page).pastes).toEqual({ count: 0, longest: 0 });
      expect(measure(page.wait(900).paste(400)).pastes).toEqual({ count: 1, longest: 400 });
    });

    it('goes on in another page, whose text is not new', () => {
      const first = begin(300);
      const second = new WrittenPage({ document: '00000000000000c2', originMs: 1_800_000_600_000 });
      type(second.into(0, 'essay', 300), 50);
      const batches = [...second.send(), ...first.send()];
      expect(measureWriting(batches)).toMatchObject([{ finalLength: 350, characters: { typed: 350, unseen: 0 } }]);
      expect(measureWriting(batches)[0]!.durationMs).toBeGreaterThan(600_000);
    });

    /** A page on which somebody writes into fields of the text: number, length as it is shown, characters. */
    const load = (n: number, ...fields: [number, number, number][]) => {
      const page = new WrittenPage({ document: `00000000000000c${n}`, originMs: 1_800_000_000_000 + n * 600_000 });
      for (const [field, shown, count] of fields) type(page.into(field, 'essay', shown), count);
      return page.send();
    };

    it('keeps the fields that nobody edits after a reload', () => {
      const first = load(1, [0, 0, 200], [1, 0, 100]);
      expect(measureWriting([...first, ...load(2, [0, 100, 10])])).toMatchObject([{ finalLength: 310 }]);
      const twice = [...first, ...load(2, [0, 100, 10]), ...load(3, [5, 110, 5], [6, 200, 7])];
      expect(measureWriting(twice)).toMatchObject([{ finalLength: 322, characters: { unseen: 0 } }]);
      const third = [...first, ...load(2, [0, 100, 10]), ...load(3, [5, 200, 5])];
      expect(measureWriting(third)).toMatchObject([{ finalLength: 315 }]);
    });

    it('has the length of what the next page shows, if that is other text', () => {
      const first = load(1, [0, 0, 200], [1, 0, 100]);
      expect(measureWriting([...first, ...load(2, [0, 0, 50])])).toMatchObject([{ finalLength: 50 }]);
      expect(measureWriting([...first, ...load(2, [0, 300, 50])])).toMatchObject([{ finalLength: 350 }]);
      expect(measureWriting([...first, ...load(2, [0, 203, 10], [1, 100, 5])])).toMatchObject([{ finalLength: 318 }]);
      expect(measureWriting([...first, ...load(2, [1, 100, 5], [0, 203, 10])])).toMatchObject([{ finalLength: 318 }]);
    });

    it('is not new if a script brings it back when its page is loaded again, once', () => {
      const first = load(1, [0, 0, 200]);
      const again = () => new WrittenPage({ document: '00000000000000c2', originMs: 1_800_001_200_000 });
      const told = type(again().wait(9).input('none', 200, 200, 0), 5);
      const untold = type(type(again(), 2).change(198).wait(9), 5);
      const other = type(again().wait(9).input('none', 203, 203, 0), 5);
      const twice = type(again().wait(9).input('none', 200, 200, 0), 5).input('none', 60, 60, 0);
      const countAfter = (page: WrittenPage) => measureWriting([...first, ...page.send()])[0]!.characters;
      expect(countAfter(told)).toMatchObject({ typed: 205, restored: 200, inserted: 0, unseen: 0 });
      expect(countAfter(untold)).toMatchObject({ typed: 207, restored: 198, inserted: 0, unseen: 0 });
      expect(countAfter(other)).toMatchObject({ typed: 205, restored: 0, inserted: 203 });
      expect(countAfter(twice)).toMatchObject({ typed: 205, restored: 200, inserted: 60 });
      // What the page shows again is not missing.
      const shown = type(again().into(0, 'essay', 200), 5)
        .wait(9)
        .input('none', 60, 60, 0);
      expect(countAfter(shown)).toMatchObject({ typed: 205, restored: 0, inserted: 60 });
    });

    it('goes on in another element, if its page draws itself again', () => {
      const page = type(begin(200).into(3, 'essay', 200), 60);
      expect(measure(page)).toMatchObject({ finalLength: 260, characters: { typed: 260, unseen: 0 } });
    });

    it('is counted once if an editor keeps it in a hidden field too', () => {
      const page = new WrittenPage();
      for (let n = 1; n <= 12; n++) {
        type(page.into(0, 'essay'), 25);
        const grown = 25 * n + 9 - page.into(1, 'essay').length;
        page.wait(20).input('none', grown, grown, 0);
      }
      expect(countSources(page)).toEqual({ typed: 300 });
      expect(measure(page).finalLength).toBe(300);
    });

    it.each([
      [50, 0, 'essay', 0],
      [49, 0, 'essay', 49],
      [300, 0, 'essay', 0],
      [301, 0, 'essay', 301],
      // Of a person, or in another text.
      [100, trusted, 'essay', 100],
      [100, 0, 'other', 100],
    ])('of 100 characters, copied as %i with the flags %i into the text %s, has %i more', (...given) => {
      const [length, flags, documentId, more] = given;
      const page = type(
        begin(100).wait(9_000).into(1, documentId).input('none', length, length, flags).into(0, 'essay'),
        1,
      );
      const all = measureWriting(page.send()).flatMap(({ characters }) => Object.values(characters));
      expect(all.reduce((sum, count) => sum + count)).toBe(101 + more);
    });

    it('keeps what was typed when its field becomes that of another one', () => {
      const page = type(new WrittenPage().into(0, 'one'), 5);
      const after = type(page.into(0, 'two'), 3);
      expect(
        measureWriting(after.send([16])).map(({ documentId, characters }) => [documentId, characters.typed]),
      ).toEqual([
        ['one', 5],
        ['two', 3],
      ]);
    });

    it('is one of several that are written at once', () => {
      const page = new WrittenPage();
      for (let n = 0; n < 30; n++) {
        type(page.into(0, 'one'), 3);
        type(page.into(7, ''), 2);
      }
      const texts = measureWriting(page.send([40, 90, 91]));
      expect(texts.map(({ documentId, characters }) => [documentId, characters.typed])).toEqual([
        ['one', 90],
        [null, 60],
      ]);
    });

    it('is another one in each field without a name, and after each load of its page', () => {
      const load = (document: string) => type(type(new WrittenPage({ document }).into(0, ''), 5).into(1, ''), 9);
      const texts = measureWriting([...load('00000000000000c1').send(), ...load('00000000000000c2').send([17, 30])]);
      expect(texts.map(({ documentId, characters }) => [documentId, characters.typed])).toEqual(
        [5, 9, 5, 9].map((count) => [null, count]),
      );
      expect(new Set(texts.map(({ key }) => key)).size).toBe(4);
    });

    it('is not measured if the session names too many, nor if its field is not for writing', () => {
      const page = new WrittenPage();
      for (let n = 0; n < 40; n++) type(page.into(n, `text-${n}`), 2);
      expect(measureWriting(page.send(Array.from({ length: 40 }, (_, n) => n * 6)))).toHaveLength(MAX_WRITING_SESSIONS);
      expect(
        measureWriting(
          begin()
            .send()
            .map(({ w: _, ...batch }) => ({ ...batch, events: '' })),
        ),
      ).toEqual([]);
    });
  });

  describe('the pace', () => {
    const paceOf = (counts: number[], stepMs: number) => {
      const pace = createPace();
      for (const [n, count] of counts.entries()) addToPace(pace, n * stepMs, count);
      return measureUnevenness(pace, counts.length * stepMs)!;
    };

    it('is even if as much is written in each tenth, however long it takes', () => {
      for (const stepMs of [100, 1_000, 60_000]) expect(paceOf(Array(400).fill(3), stepMs)).toBeLessThan(0.05);
    });

    it('is uneven if all is written at the end', () => {
      expect(paceOf([...Array(360).fill(0), ...Array(40).fill(3)], 5_000)).toBeCloseTo(Math.sqrt(10), 1);
    });

    it('is kept in bins that lose no character', () => {
      const pace = createPace();
      for (let n = 0; n < 5_000; n++) addToPace(pace, n * 5_760, 1);
      expect(pace.counts.length).toBeLessThanOrEqual(256);
      expect(pace.counts.reduce((sum, count) => sum + count)).toBe(5_000);
      expect(measureUnevenness(createPace(), 1_000)).toBeNull();
    });
  });

  describe('the same bytes', () => {
    const page = (seed: number) => {
      const written = new WrittenPage({ seed });
      writers.compose(written, 500);
      written.paste(90);
      writers.dictateAsKeys(written.into(1, 'other'), 350);
      return writers.useInputMethod(written, 600);
    };
    const others = writers.copyOut(
      new WrittenPage({ seed: 4, document: '00000000000000a1', originMs: 1_800_000_900_000 }),
      400,
    );

    it('however the events are cut into batches, and in any order of arrival', () => {
      const written = page(3);
      const whole = JSON.stringify(scoreWriting([...written.send(), ...others.send()]));
      expect(JSON.parse(whole)).toHaveLength(2);
      const cuts = fc.array(fc.nat(20_000), { maxLength: 40 });
      fc.assert(
        fc.property(cuts, cuts, fc.infiniteStream(fc.nat()), (one, two, keys) => {
          const batches = [...written.send(one), ...others.send(two)];
          const arrivals = [...batches, ...batches.slice(0, 3)]
            .map((batch) => ({ batch, key: keys.next().value }))
            .sort((a, b) => a.key - b.key);
          expect(JSON.stringify(scoreWriting(arrivals.map(({ batch }) => batch)))).toBe(whole);
        }),
        { numRuns: 40 },
      );
    });

    it('names every source once', () => {
      const [text] = measureWriting(page(5).send());
      expect(Object.keys(text!.characters)).toEqual([...PROVENANCES]);
    });
  });
}
