import { CLIPBOARD_KINDS, EVENT_FLAGS, EventCode, INPUT_TYPES, KEY_CLASSES } from '../../contract/beacon';
import type { TraceBatch } from '../../server/detection/trace';
import { packNumbers } from '../../server/detection/varints';
import { DESKTOP, seedRandom } from './trace';

// Pages on which somebody writes, and how: what people and programs would leave in a trace, as far as we know. No person made
// them, so they show that the measures work, not how often a score is right.

type KeyClass = (typeof KEY_CLASSES)[number];
type InputType = (typeof INPUT_TYPES)[number];
const { trusted, hasCode, control, multiline, autofilled } = EVENT_FLAGS;

/** An event, and for an Input what its Writing event says. */
interface WrittenEvent {
  timeMs: number;
  code: EventCode;
  fields: number[];
  writing?: { field: number; documentId: string; fromEnd: number };
}

/** A page with fields in which somebody writes. Times are milliseconds of its clock; `wait` moves it on. */
export class WrittenPage {
  timeMs = 1_000;
  readonly random: () => number;
  private readonly events: WrittenEvent[] = [];
  private readonly lengths = new Map<number, number>();
  private fromEnd = 0;
  private slot = 0;
  field = 0;
  documentId = 'essay';

  constructor(private readonly options: { seed?: number; document?: string; originMs?: number } = {}) {
    this.random = seedRandom(options.seed ?? 1);
    this.add(EventCode.Focus, 0, 5, trusted);
  }

  get length(): number {
    return this.lengths.get(this.field) ?? 0;
  }

  add(code: EventCode, ...fields: number[]): this {
    this.events.push({ timeMs: this.timeMs, code, fields });
    return this;
  }

  wait(ms: number): this {
    this.timeMs += ms;
    return this;
  }

  /** From here on, writes into another field. */
  into(field: number, documentId: string, length = 0): this {
    Object.assign(this, { field, documentId });
    if (!this.lengths.has(field)) this.lengths.set(field, length);
    return this;
  }

  /** Moves the caret. */
  caretTo(fromEnd: number): this {
    this.fromEnd = fromEnd;
    return this;
  }

  /** What the page does to the field by itself. */
  change(by: number): this {
    this.lengths.set(this.field, this.length + by);
    return this;
  }

  input(type: InputType, inserted: number, grownBy = inserted, flags: number = trusted): this {
    this.change(grownBy);
    const { field, documentId, fromEnd } = this;
    this.events.push({
      ...{ timeMs: this.timeMs, code: EventCode.Input },
      fields: [field, INPUT_TYPES.indexOf(type), inserted, this.length, flags | multiline],
      writing: { field, documentId, fromEnd },
    });
    return this;
  }

  key(kind: KeyClass, write?: () => void, flags: number = trusted | hasCode): this {
    const slot = this.slot++ % 64;
    this.add(EventCode.KeyDown, KEY_CLASSES.indexOf(kind), slot, flags);
    write?.();
    this.wait(60).add(EventCode.KeyUp, slot, flags & trusted);
    return this.wait(-60);
  }

  /** Types a character: words of five letters, sentences of twelve words. */
  type(place = this.length): this {
    const kind: KeyClass = place % 72 === 70 ? 'punctuation' : place % 6 === 5 ? 'space' : 'letter';
    return this.key(kind, () => this.input('insertText', 1));
  }

  backspace(): this {
    return this.key('backspace', () => this.input('deleteContent', 0, -1));
  }

  clipboard(kind: (typeof CLIPBOARD_KINDS)[number], length = -1, flags: number = trusted): this {
    return this.add(EventCode.Clipboard, CLIPBOARD_KINDS.indexOf(kind), length, flags);
  }

  paste(length: number): this {
    const paste = () => this.clipboard('paste', length).input('insertFromPaste', length);
    return this.key('letter', paste, trusted | hasCode | control);
  }

  /** Cuts the events into batches: before each of these places. The first Input of a field in a batch is named, as the pixel does. */
  send(cuts: readonly number[] = []): TraceBatch[] {
    const { document = '00000000000000d1', originMs = 1_800_000_000_000 } = this.options;
    const places = [...new Set(cuts.map((cut) => cut % (this.events.length + 1)))].sort((a, b) => a - b);
    const bounds = [0, ...places, this.events.length];
    const told = new Map<number, number>();
    return bounds.slice(1).map((end, n) => {
      const w: string[] = [];
      const ev: number[] = [];
      const named = new Set<number>();
      let last10 = 0;
      const put = (code: EventCode, timeMs: number, fields: number[]) => {
        const time10 = Math.round(timeMs * 10);
        ev.push(code, time10 - last10, ...fields);
        last10 = time10;
      };
      for (const { timeMs, code, fields, writing } of this.events.slice(bounds[n], end)) {
        if (writing) {
          const { field, documentId, fromEnd } = writing;
          if (!w.includes(documentId)) w.push(documentId);
          if (!named.has(field) || fromEnd !== 0 || told.get(field) !== fromEnd)
            put(EventCode.Writing, timeMs, [field, w.indexOf(documentId), fromEnd]);
          named.add(field);
          told.set(field, fromEnd);
        }
        put(code, timeMs, fields);
      }
      // Each batch takes equally long, so that the page begins at the same time however it is cut.
      const endMs = Math.ceil(this.events[end - 1]?.timeMs ?? 0);
      return {
        ...{
          d: document,
          n,
          c: [endMs, originMs + endMs],
          events: packNumbers(ev),
          receivedAtMs: originMs + endMs + 40,
        },
        ...(n === 0 ? { e: DESKTOP } : {}),
        ...(w.length > 0 ? { w } : {}),
      };
    });
  }
}

/** Between `from` and `to`, more often near `from`. */
const between = (page: WrittenPage, from: number, to: number) => from + (to - from) * page.random() ** 2;

/** Composes at a keyboard: thinks before sentences, deletes, goes back into the text. */
export function compose(page: WrittenPage, characters: number, meanMs = 170): WrittenPage {
  while (page.length < characters) {
    page.wait(between(page, meanMs / 2, meanMs * 3)).type();
    if (page.length % 72 === 0) page.wait(between(page, 3_000, 40_000));
    else if (page.length % 6 === 0 && page.random() < 0.12) page.wait(between(page, 2_000, 9_000));
    if (page.random() < 0.02) for (let n = Math.ceil(page.random() * 10); n > 0; n--) page.wait(140).backspace();
    if (page.length > 200 && page.random() < 0.004) {
      page.wait(between(page, 2_000, 8_000)).caretTo(60 + Math.floor(100 * page.random()));
      for (let n = 0; n < 18; n++) page.wait(between(page, 90, 400)).type();
      page.wait(1_500).caretTo(0);
    }
  }
  return page;
}

/** Copies a text that lies next to the keyboard: evenly, with few slips, from beginning to end. */
export function copyOut(page: WrittenPage, characters: number, meanMs = 190): WrittenPage {
  while (page.length < characters) {
    page.wait(between(page, meanMs / 2, meanMs * 2.5)).type();
    if (page.length % 72 === 0) page.wait(between(page, 700, 3_500));
    if (page.random() < 0.01) page.wait(160).backspace().wait(160).type();
  }
  return page;
}

/** Chooses letters with a switch or an eye tracker, as a keyboard. */
export const scan = (page: WrittenPage, characters: number): WrittenPage => copyOut(page, characters, 900);

/** Presses keys of an on-screen keyboard that sends text and no keys. */
export function tap(page: WrittenPage, characters: number): WrittenPage {
  while (page.length < characters) page.wait(between(page, 150, 500)).input('insertText', 1);
  return page;
}

/** Speaks: each phrase appears when it was spoken. */
export function dictate(page: WrittenPage, characters: number, flags: number = trusted): WrittenPage {
  while (page.length < characters) {
    const length = 20 + Math.floor(60 * page.random());
    page.wait(length * between(page, 45, 90)).input('insertText', length, length, flags);
  }
  return page;
}

/** Speaks: the words of each phrase appear one after the other when it was spoken. */
export function dictateWords(page: WrittenPage, characters: number): WrittenPage {
  while (page.length < characters) {
    const words = 4 + Math.floor(10 * page.random());
    page.wait(words * 6 * between(page, 45, 90));
    for (let n = 0; n < words; n++) page.wait(20).input('insertText', 6);
  }
  return page;
}

/**
 * Speaks to an iPhone: with each word it writes all of the phrase again, in place of what it wrote. At the end it sets the marks, or
 * deletes the phrase and writes it once more.
 */
export function dictateToPhone(
  page: WrittenPage,
  characters: number,
  type: 'insertText' | 'insertReplacement' = 'insertText',
  isDeletedFirst = false,
): WrittenPage {
  while (page.length < characters) {
    const words = 4 + Math.floor(16 * page.random());
    page.wait(between(page, 700, 2_500));
    for (let n = 1; n <= words; n++) page.wait(between(page, 180, 500)).input(type, 6 * n, 6);
    page.wait(between(page, 100, 600));
    if (isDeletedFirst)
      page
        .input('deleteContent', 0, -6 * words)
        .wait(4)
        .input('insertText', 6 * words + 2);
    else page.input(type, 6 * words + 2, 2);
  }
  return page;
}

/** Begins words on the screen of a phone, which proposes the rest: a tap replaces what was typed. */
export function chooseOnPhone(page: WrittenPage, characters: number): WrittenPage {
  for (let words = 0; page.length < characters; words++) {
    if (words % 5 === 4) page.wait(between(page, 3_000, 20_000));
    const typed = 2 + Math.floor(10 * page.random());
    for (let n = 0; n < typed; n++) page.wait(between(page, 90, 220)).key('letter', () => page.input('insertText', 1));
    page.wait(between(page, 160, 400)).input('insertText', typed + 4, 4);
  }
  return page;
}

/** Speaks: a script of the page writes each word as it is heard. */
export function speakWords(page: WrittenPage, characters: number): WrittenPage {
  while (page.length < characters) {
    const length = 2 + Math.floor(9 * page.random());
    page.wait(length * between(page, 45, 90)).input('none', length, length, 0);
  }
  return page;
}

/** An extension writes the words of a language model as they come. */
export function stream(page: WrittenPage, characters: number, everyMs = 15, flags: number = trusted): WrittenPage {
  while (page.length < characters)
    page.wait(between(page, everyMs / 2, everyMs * 2.5)).input('insertText', 4, 4, flags);
  return page;
}

/** An extension writes a text letter by letter, as slowly as hands. */
export function typeByScript(page: WrittenPage, characters: number): WrittenPage {
  while (page.length < characters) page.wait(between(page, 90, 400)).input('insertText', 1, 1, 0);
  return page;
}

/** Speaks to a program that types each phrase with keys. */
export function dictateAsKeys(page: WrittenPage, characters: number): WrittenPage {
  while (page.length < characters) {
    const length = 10 + Math.floor(25 * page.random());
    page.wait(length * between(page, 45, 90));
    for (let n = 0; n < length; n++) page.wait(12).type();
  }
  return page;
}

/** Writes with an input method, as for Chinese: what is composed is replaced until it is chosen. */
export function useInputMethod(page: WrittenPage, characters: number): WrittenPage {
  while (page.length < characters) {
    page.wait(between(page, 200, 900)).add(EventCode.Composition, 0, 0);
    for (let n = 1; n <= 4; n++)
      page.wait(between(page, 90, 250)).key('composition', () => page.input('insertComposition', n, 1));
    page.wait(200).input('insertComposition', 2, -2).add(EventCode.Composition, 1, 2);
  }
  return page;
}

/** A script writes the whole text, with an event of its own. */
export const fill = (page: WrittenPage, characters: number): WrittenPage =>
  page.wait(3_000).input('none', characters, characters, 0);

/** The browser fills the field in. */
export const autofill = (page: WrittenPage, characters: number): WrittenPage =>
  page.wait(900).input('insertText', characters, characters, trusted | autofilled);
