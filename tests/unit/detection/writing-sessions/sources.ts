import { describe, expect, it } from 'vitest';
import { EVENT_FLAGS, EventCode } from '../../../../contract/beacon';
import type { Provenance } from '../../../../contract/writing';
import { measureWriting } from '../../../../server/detection/writing-sessions';
import * as writers from '../../../support/writers';
import { WrittenPage } from '../../../support/writers';
import { begin, countSources, hasCode, PRESS, trusted, type } from './written-pages';

export function registerSourceTests(): void {
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
      [
        'a spoken phrase that a script writes',
        begin().wait(3_000).input('none', 60, 60, 0),
        { typed: 20, composed: 60 },
      ],
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
}
