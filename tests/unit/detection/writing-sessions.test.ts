import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_FIELDS, EVENT_FLAGS, EventCode } from '../../../contract/beacon';
import { PROVENANCES, type Provenance } from '../../../contract/writing';
import { addToPace, createPace, measureUnevenness } from '../../../server/detection/writing-pace';
import { scoreWriting } from '../../../server/detection/writing-score';
import { MAX_WRITING_SESSIONS, measureWriting } from '../../../server/detection/writing-sessions';
import * as writers from '../../support/writers';
import { WrittenPage } from '../../support/writers';

const { trusted, hasCode } = EVENT_FLAGS;

/** The characters of the only text by where they came from, without those of which there are none. */
function countSources(page: WrittenPage): Partial<Record<Provenance, number>> {
  const [text, ...others] = measureWriting(page.send());
  expect(others).toEqual([]);
  return Object.fromEntries(Object.entries(text!.characters).filter(([, count]) => count > 0));
}
const measure = (page: WrittenPage) => measureWriting(page.send())[0]!;
/** Types so many characters, none as fast as a program. */
function type(page: WrittenPage, count: number): WrittenPage {
  for (let n = 0; n < count; n++) page.wait(150).type();
  return page;
}
/** A press of a mouse: only that there is one matters. */
const PRESS = EVENT_FIELDS[EventCode.Press].map(() => 0);
const begin = (count = 20) => type(new WrittenPage(), count);

describe('where characters come from', () => {
  const cases: [string, WrittenPage, Partial<Record<Provenance, number>>][] = [
    ['keys', begin(), { typed: 20 }],
    ['a paste', begin().wait(900).paste(500), { typed: 20, pasted: 500 }],
    [
      'a paste over the whole text',
      begin().wait(9).clipboard('paste', 500).input('insertFromPaste', 500, 480),
      { typed: 20, pasted: 500 },
    ],
    [
      'a paste as the first event of a field',
      new WrittenPage().wait(9).clipboard('paste', 500).change(500).input('insertFromPaste', 0),
      { pasted: 500 },
    ],
    [
      'a paste that an editor inserts itself',
      begin().wait(9).clipboard('paste', 500).wait(30).input('none', 510, 510, 0),
      { typed: 20, pasted: 510 },
    ],
    [
      'a paste that a script inserts without an event',
      type(begin().wait(9).clipboard('paste', 500).change(505).wait(4_000), 5),
      { typed: 25, pasted: 505 },
    ],
    [
      'a paste that an editor inserts after it has asked how',
      begin()
        .wait(9)
        .clipboard('paste', 500)
        .wait(3_000)
        .add(EventCode.Press, ...PRESS)
        .wait(90)
        .input('none', 510, 510, 0),
      { typed: 20, pasted: 510 },
    ],
    [
      'a script after a paste',
      begin().wait(9).paste(500).wait(3_000).input('none', 500, 500, 0),
      { typed: 20, pasted: 500, inserted: 500 },
    ],
    [
      'the clipboard of a keyboard on the screen',
      begin()
        .wait(1_500)
        .key('composition', () => undefined, trusted)
        .input('insertText', 500),
      { typed: 20, composed: 500 },
    ],
    [
      'a drop from elsewhere',
      begin().wait(9).clipboard('drop', 80).input('insertFromDrop', 80),
      { typed: 20, dropped: 80 },
    ],
    [
      'text that is dragged',
      begin(100).wait(900).input('deleteContent', 0, -30).input('insertFromDrop', 30),
      { typed: 100, moved: 30 },
    ],
    [
      'text that was cut here',
      begin(100).wait(900).clipboard('cut').input('deleteContent', 0, -40).wait(900).paste(40),
      { typed: 100, moved: 40 },
    ],
    [
      'text that was cut here, on a page that makes events itself',
      begin(100).clipboard('cut').input('deleteContent', 0, -40).input('none', 0, 0, 0).wait(900).paste(40),
      { typed: 100, moved: 40 },
    ],
    [
      'text that was copied here',
      begin(100).wait(900).clipboard('copy').wait(2_000).paste(60),
      { typed: 100, moved: 60 },
    ],
    [
      'a paste that is longer than what was copied here',
      begin(100).clipboard('copy').wait(2_000).paste(400),
      { typed: 100, pasted: 400 },
    ],
    [
      'a paste after the page was hidden',
      begin(100)
        .clipboard('copy')
        .wait(9)
        .add(EventCode.Visibility, 1)
        .wait(9_000)
        .add(EventCode.Visibility, 0)
        .paste(60),
      { typed: 100, pasted: 60 },
    ],
    [
      'a paste that a script only claims',
      begin().wait(9).clipboard('paste', 500, 0).input('none', 500, 500, 0),
      { typed: 20, inserted: 500 },
    ],
    ['a script', begin().wait(9_000).input('none', 500, 500, 0), { typed: 20, inserted: 500 }],
    [
      'a script that types without keys',
      [1, 2, 3].reduce((page) => page.wait(90).input('insertText', 1, 1, 0), begin()),
      { typed: 20, inserted: 3 },
    ],
    ['a command of a driver', begin().wait(300).input('insertText', 500), { typed: 20, inserted: 500 }],
    ['a stream of words without keys', writers.stream(begin(), 420), { typed: 20, composed: 40, inserted: 360 }],
    ['a stream as fast as speech', writers.stream(begin(), 420, 120), { typed: 20, composed: 400 }],
    ['words that were spoken', writers.dictateWords(new WrittenPage(), 30), { composed: 60 }],
    ['a script without an event', type(begin().change(400), 5), { typed: 25, inserted: 400 }],
    ['a page that adds a bracket', type(begin().change(2), 5), { typed: 25, corrected: 2 }],
    ['a spell-checker', begin().wait(9).input('insertReplacement', 7, 1), { typed: 20, corrected: 7 }],
    [
      'a completion that Tab accepts',
      begin()
        .wait(900)
        .key('tab', () => undefined)
        .input('insertText', 30),
      { typed: 20, corrected: 30 },
    ],
    ['an input method', writers.useInputMethod(new WrittenPage(), 8), { composed: 16 }],
    ['an on-screen keyboard', writers.tap(new WrittenPage(), 20), { composed: 20 }],
    [
      'keys of a program, without codes',
      new WrittenPage().wait(300).key('letter', undefined, trusted).input('insertText', 1),
      { composed: 1 },
    ],
    ['a phrase that was spoken', begin().wait(3_000).input('insertText', 60), { typed: 20, composed: 60 }],
    ['a spoken phrase that a script writes', begin().wait(3_000).input('none', 60, 60, 0), { typed: 20, composed: 60 }],
    ['a phrase that a program types', type(new WrittenPage(), 1).wait(1_000), { typed: 1 }],
    ['a browser that fills in', writers.autofill(new WrittenPage(), 90), { autofilled: 90 }],
    [
      'an undo',
      begin(50).wait(900).input('deleteContent', 0, -30).wait(900).input('history', 0, 30),
      { typed: 50, restored: 30 },
    ],
    [
      'several pastes that an editor inserts without an event',
      type(begin().wait(9).clipboard('paste', 500).change(500).wait(4_000).clipboard('paste', 300).change(302), 5),
      { typed: 25, pasted: 802 },
    ],
    [
      'a paste that an editor inserts without an event, after one that was seen',
      type(begin().wait(9).paste(500).wait(4_000).clipboard('paste', 300).change(300), 5),
      { typed: 25, pasted: 800 },
    ],
    [
      'a script after a paste in another field',
      type(
        begin()
          .clipboard('paste', 500)
          .add(EventCode.Input, 9, 2, 500, 500, trusted)
          .wait(4_000)
          .clipboard('paste', 30)
          .change(530),
        5,
      ),
      { typed: 25, inserted: 530 },
    ],
    [
      'what an editor undoes by itself',
      type(type(begin(400).wait(900).change(-400), 3).change(397), 5),
      { typed: 408, restored: 397 },
    ],
    [
      'what an editor undoes just after something was copied',
      type(begin(400).wait(900).change(-400), 3).clipboard('copy', 3).input('none', 397, 397),
      { typed: 403, restored: 397 },
    ],
    [
      'a paste that the pixel sees after an editor has inserted it',
      begin().wait(900).clipboard('paste', 500).input('none', 500),
      { typed: 20, pasted: 500 },
    ],
    [
      'such a paste as the first event of a field',
      new WrittenPage().wait(900).clipboard('paste', 500).input('none', 500),
      { pasted: 500 },
    ],
    [
      'text that an editor cuts and pastes by itself',
      begin(400)
        .wait(900)
        .clipboard('cut')
        .input('none', 0, -400)
        .wait(3_000)
        .clipboard('paste', 400)
        .input('none', 400),
      { typed: 400, moved: 400 },
    ],
    [
      'the same, with something typed between',
      type(
        type(begin(400).wait(900).clipboard('cut').change(-400), 3).wait(900).clipboard('paste', 400).change(400),
        3,
      ),
      { typed: 406, moved: 400 },
    ],
    [
      'what a script writes beyond what was deleted',
      type(type(begin(400).wait(900).change(-200), 3).change(600), 5),
      { typed: 408, inserted: 600 },
    ],
    [
      'an answer that a page shows again in the same field, each time',
      [1, 2, 3].reduce((page) => type(type(page.change(-400), 9).change(391), 9), begin(400)),
      { typed: 454, restored: 3 * 391 },
    ],
    [
      'what Control+Y brings back on macOS, twice',
      begin(400)
        .wait(900)
        .input('deleteContent', 0, -90)
        .input('deleteContent', 0, -1)
        .input('other', 91)
        .input('other', 91),
      { typed: 400, moved: 182 },
    ],
    ['a draft that was there', type(new WrittenPage().into(0, 'essay', 700), 5), { typed: 5, unseen: 700 }],
    [
      'a key of a script',
      new WrittenPage().wait(300).key('letter', undefined, hasCode).input('insertText', 1, 1, 0),
      { inserted: 1 },
    ],
    [
      'what a script writes after Shift',
      begin().key('shift').wait(90).input('insertText', 5, 5, 0),
      { typed: 20, inserted: 5 },
    ],
    [
      'what a script writes after a shortcut',
      begin()
        .key('letter', undefined, trusted | hasCode | EVENT_FLAGS.control)
        .wait(90)
        .input('insertText', 5, 5, 0),
      { typed: 20, inserted: 5 },
    ],
    [
      'what a script writes after something was typed into another field',
      begin().wait(9_000).add(EventCode.Input, 9, 1, 1, 1, trusted).wait(90).input('none', 60, 60, 0),
      { typed: 20, inserted: 60 },
    ],
    [
      'keys of an editor that writes without an Input for each',
      type(
        Array.from({ length: 300 }).reduce<WrittenPage>((page) => page.wait(150).key('letter').change(1), begin()),
        5,
      ),
      { typed: 325 },
    ],
  ];

  it.each(cases)('%s', (_, page, expected) => {
    expect(countSources(page)).toEqual(expected);
  });

  it('is unknown for what was written while batches were lost, or dropped', () => {
    const page = type(begin(40), 40);
    const batches = page.send([80, 160]);
    const [, second] = batches;
    for (const known of [
      batches.filter((batch) => batch !== second),
      batches
        .map((batch) => (batch === second ? { ...batch, events: '', w: [] } : batch))
        .map((batch, n) => (n === 2 ? { ...batch, l: [0, 40] as [number, number] } : batch)),
    ]) {
      const [text] = measureWriting(known);
      expect(text).toMatchObject({ hasGaps: true, finalLength: 80 });
      expect(text!.characters.unseen).toBeGreaterThan(20);
      expect(text!.characters.inserted).toBe(0);
      expect(text!.characters.typed + text!.characters.unseen).toBe(80);
    }
  });

  it('leaves a text as long as it was when something is lost after its last change', () => {
    const page = begin(40)
      .wait(900)
      .add(EventCode.Press, ...PRESS);
    const [first, last] = page.send([121]);
    const lost = { ...last!, l: [0, 40] as [number, number] };
    expect(measureWriting([first!, lost])).toMatchObject([{ hasGaps: true, finalLength: 40 }]);
  });
});

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

  it('goes on in another element, if its page draws itself anew', () => {
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
