import { describe, expect, it } from 'vitest';
import {
  CLIPBOARD_KINDS,
  EVENT_FIELDS,
  EVENT_FLAGS,
  EventCode,
  INPUT_TYPES,
  KEY_CLASSES,
} from '../../../contract/beacon';
import type { Event } from '../../../server/detection/document-state';
import {
  createPageState,
  followKey,
  followPage,
  noticeInput,
  type PageState,
} from '../../../server/detection/writing-page';
import { type FieldState, traceInput } from '../../../server/detection/writing-provenance';

// Where the characters of an Input came from, on both sides of each length and time.

const { trusted, hasCode, control, alt, repeated, autofilled } = EVENT_FLAGS;
const NOW_MS = 100_000;

type Before = (state: PageState) => unknown;
interface Written {
  type?: (typeof INPUT_TYPES)[number];
  length: number;
  /** What was there without an Input. */
  more?: number;
  flags?: number;
  field?: Partial<FieldState>;
  before?: Before[];
}

/** A field of 1,000 characters in which something was done just now, so nothing can have been spoken since. */
function trace({ type = 'insertText', length, more = 0, flags = trusted, field = {}, before = [] }: Written) {
  const state = createPageState();
  state.noticedMs = NOW_MS - 1;
  for (const follow of before) follow(state);
  const known: FieldState = { length: 1_000, inputMs: 0, missing: 0, earlier: 0, ...field };
  const valueLength = known.length! + length + more;
  return traceInput(state, known, {
    ...{ code: EventCode.Input, timeMs: NOW_MS, atMs: 0, field: 0, type: INPUT_TYPES.indexOf(type) },
    ...{ insertedLength: Math.max(0, length), valueLength, flags },
  });
}

const key =
  (beforeMs: number, { kind = 'letter' as (typeof KEY_CLASSES)[number], flags = trusted | hasCode } = {}): Before =>
  (state) =>
    followKey(state, KEY_CLASSES.indexOf(kind), flags, NOW_MS - beforeMs);
const toggle = (beforeMs: number, flags = trusted | hasCode): Before => key(beforeMs, { kind: 'other', flags });
const clipboard =
  (kind: (typeof CLIPBOARD_KINDS)[number], beforeMs: number, length: number, flags: number = trusted): Before =>
  (state) =>
    followPage(state, {
      ...{ code: EventCode.Clipboard, timeMs: NOW_MS - beforeMs, atMs: 0 },
      ...{ kind: CLIPBOARD_KINDS.indexOf(kind), length, flags },
    });
const compose =
  (phase: number, beforeMs: number): Before =>
  (state) =>
    followPage(state, { code: EventCode.Composition, timeMs: NOW_MS - beforeMs, atMs: 0, phase, length: 0 });
const leave: Before = (state) =>
  followPage(state, { code: EventCode.Leave, timeMs: NOW_MS - 9, atMs: 0, persisted: 1 });
const quiet =
  (ms: number): Before =>
  (state) => {
    state.noticedMs = NOW_MS - ms;
  };
const remove =
  (beforeMs: number, length: number): Before =>
  (state) =>
    traceInput(
      state,
      { length: 1_000, inputMs: 0, missing: 0, earlier: 0 },
      {
        ...{ code: EventCode.Input, timeMs: NOW_MS - beforeMs, atMs: 0, field: 0, flags: trusted },
        ...{ type: INPUT_TYPES.indexOf('deleteContent'), insertedLength: 0, valueLength: 1_000 - length },
      },
    );
const write60: Before = (state) => {
  const event = { code: EventCode.Input, timeMs: NOW_MS - 4, atMs: 0, field: 0, flags: trusted } as const;
  const fields = { type: INPUT_TYPES.indexOf('insertText'), insertedLength: 60, valueLength: 1_000 };
  traceInput(state, { length: 940, inputMs: 0, missing: 0, earlier: 0 }, { ...event, ...fields });
};
const press =
  (beforeMs: number, flags: number = trusted, x10 = 0): Before =>
  (state) => {
    const fields = Object.fromEntries(EVENT_FIELDS[EventCode.Press].map((name) => [name, 0]));
    followPage(state, {
      ...{ code: EventCode.Press, timeMs: NOW_MS - beforeMs, atMs: 0 },
      ...{ ...fields, flags, x10 },
    } as Event<EventCode.Press>);
  };
const touch =
  (beforeMs: number): Before =>
  (state) =>
    followPage(state, { code: EventCode.Touch, timeMs: NOW_MS - beforeMs, atMs: 0, touches: 1, flags: trusted });
/** Something was written in another field. */
const write =
  (beforeMs: number): Before =>
  (state) =>
    noticeInput(state, NOW_MS - beforeMs);
/** So much came without keys that nobody can have spoken it. */
const hurry: Before = (state) => {
  state.stream = { length: 400, timeMs: state.noticedMs, sinceMs: state.noticedMs };
};
const noCode = { flags: trusted };
const lately = { inputMs: NOW_MS - 500 };
const justNow = { inputMs: NOW_MS - 249 };

describe('text of an Input', () => {
  it.each<[what: string, source: string, written: Written]>([
    ['a key', 'typed', { length: 10, before: [key(1_999.9)] }],
    ['a key long ago', 'composed', { length: 10, before: [key(2_000)] }],
    ['a key that accepts a completion', 'corrected', { length: 11, before: [key(5)] }],
    ['the longest one', 'corrected', { length: 60, before: [key(5)] }],
    ['a longer one', 'inserted', { length: 61, before: [key(5)] }],
    ['a script that completes what a key wrote', 'inserted', { length: 11, flags: 0, before: [key(5)] }],
    ['a key without a code', 'composed', { length: 500, before: [key(5, noCode)] }],
    ['a script after such a key', 'inserted', { length: 11, flags: 0, before: [key(5, noCode)] }],
    ['a key of an input method', 'composed', { length: 5, before: [key(5, { kind: 'composition' })] }],
    ['a key with AltGr', 'corrected', { length: 11, before: [key(5, { flags: trusted | hasCode | control | alt })] }],
    ['a command', 'inserted', { length: 11, before: [key(5, { flags: trusted | hasCode | control })] }],
    ['a key of a script', 'inserted', { length: 11, before: [key(5, { flags: hasCode })] }],
    ['a key that writes nothing', 'inserted', { length: 11, before: [key(5, { kind: 'shift' })] }],

    ['a paste', 'pasted', { type: 'insertFromPaste', length: 500 }],
    ['a paste that a script claims', 'inserted', { type: 'insertFromPaste', length: 500, flags: 0 }],
    [
      'a paste of an editor',
      'pasted',
      { type: 'none', length: 126, field: lately, before: [clipboard('paste', 999.9, 100)] },
    ],
    [
      'a paste of an editor that added more',
      'inserted',
      { type: 'none', length: 127, before: [clipboard('paste', 5, 100)] },
    ],
    [
      'a paste before the last Input',
      'inserted',
      { type: 'none', length: 100, field: lately, before: [clipboard('paste', 1_000, 100)] },
    ],
    [
      'a paste of which an editor asked',
      'pasted',
      { type: 'none', length: 100, before: [clipboard('paste', 9_000, 100)] },
    ],
    ['a paste of an unknown length', 'pasted', { type: 'none', length: 500, before: [clipboard('paste', 5, -1)] }],
    ['a paste that a script made', 'inserted', { type: 'none', length: 100, before: [clipboard('paste', 5, 100, 0)] }],
    [
      'two pastes',
      'pasted',
      { type: 'none', length: 126, before: [clipboard('paste', 9, 50), clipboard('drop', 5, 50)] },
    ],
    [
      'two pastes that are shorter',
      'inserted',
      { type: 'none', length: 127, before: [clipboard('paste', 9, 50), clipboard('drop', 5, 50)] },
    ],
    [
      'two pastes, the first unknown',
      'pasted',
      { type: 'none', length: 500, before: [clipboard('paste', 9, -1), clipboard('paste', 5, 50)] },
    ],
    [
      'two pastes, the last unknown',
      'pasted',
      { type: 'none', length: 500, before: [clipboard('paste', 9, 50), clipboard('paste', 5, -1)] },
    ],
    ['a character after a paste', 'composed', { type: 'none', length: 1, before: [clipboard('paste', 5, 1)] }],

    [
      'a paste of what was copied',
      'moved',
      { type: 'insertFromPaste', length: 102, before: [clipboard('copy', 9_000, 100)] },
    ],
    ['a paste of more', 'pasted', { type: 'insertFromPaste', length: 103, before: [clipboard('copy', 9_000, 100)] }],
    [
      'a paste of as much as there was',
      'moved',
      { type: 'insertFromPaste', length: 1_002, before: [clipboard('copy', 9_000, -1)] },
    ],
    [
      'a paste of more than there was',
      'pasted',
      { type: 'insertFromPaste', length: 1_003, before: [clipboard('copy', 9_000, -1)] },
    ],
    [
      'a paste of what may have been cut',
      'moved',
      { type: 'insertFromPaste', length: 1_052, field: { missing: 50 }, before: [clipboard('cut', 9_000, -1)] },
    ],
    [
      'a paste after the page was left',
      'pasted',
      { type: 'insertFromPaste', length: 100, before: [clipboard('copy', 90, 100), leave] },
    ],
    [
      'a paste of what was cut',
      'moved',
      { type: 'insertFromPaste', length: 42, before: [clipboard('cut', 2_999.9, -1), remove(2_000, 40)] },
    ],
    [
      'a paste of more than was cut',
      'pasted',
      { type: 'insertFromPaste', length: 43, before: [clipboard('cut', 2_999.9, -1), remove(2_000, 40)] },
    ],
    [
      'a paste of what was cut before something was deleted',
      'moved',
      { type: 'insertFromPaste', length: 43, before: [clipboard('cut', 3_000, -1), remove(2_000, 40)] },
    ],

    ['a drag within the text', 'moved', { type: 'insertFromDrop', length: 42, before: [remove(999.9, 40)] }],
    ['a drag of more', 'dropped', { type: 'insertFromDrop', length: 43, before: [remove(5, 40)] }],
    ['a drag of less', 'dropped', { type: 'insertFromDrop', length: 37, before: [remove(5, 40)] }],
    ['a drag long after a removal', 'dropped', { type: 'insertFromDrop', length: 40, before: [remove(1_000, 40)] }],
    [
      'a drag that a script claims',
      'inserted',
      { type: 'insertFromDrop', length: 40, flags: 0, before: [remove(5, 20)] },
    ],
    ['a spell-checker', 'corrected', { type: 'insertReplacement', length: 40 }],
    ['a script that claims to be one', 'inserted', { type: 'insertReplacement', length: 40, flags: 0 }],
    ['the browser, which fills in', 'autofilled', { length: 2, flags: trusted | autofilled }],
    ['a character in a filled field', 'composed', { length: 1, flags: trusted | autofilled }],
    ['a key in a filled field', 'typed', { length: 2, flags: trusted | autofilled, before: [key(5)] }],

    ['an input method', 'composed', { length: 50, before: [compose(0, 9_000)] }],
    ['a composition', 'composed', { type: 'insertComposition', length: 50 }],
    ['one that has just ended', 'composed', { length: 50, before: [compose(0, 9_000), compose(1, 99.9)] }],
    ['one that has ended', 'inserted', { length: 50, before: [compose(0, 9_000), compose(1, 100)] }],
    ['speech', 'composed', { length: 40, before: [quiet(1_000)] }],
    ['what is faster', 'inserted', { length: 40, before: [quiet(999.9)] }],
    ['speech before a modifier', 'composed', { length: 40, before: [quiet(1_000), key(5, { kind: 'modifier' })] }],
    ['the same before another key', 'inserted', { length: 40, before: [quiet(1_000), key(5, { kind: 'other' })] }],
    [
      'speech while a key is held',
      'composed',
      { length: 40, before: [quiet(1_000), key(5, { kind: 'other', flags: trusted | hasCode | repeated })] },
    ],
    ['long speech', 'composed', { length: 301, before: [quiet(90_000)] }],
    ['speech that a script writes', 'composed', { type: 'none', length: 300, flags: 0, before: [quiet(90_000)] }],
    ['more than that', 'inserted', { type: 'none', length: 301, flags: 0, before: [quiet(90_000)] }],
    ['a word that a script writes as spoken', 'composed', { length: 10, flags: 0, before: [quiet(250)] }],
    ['a word of a script that is faster', 'inserted', { length: 10, flags: 0, before: [quiet(249.9)] }],
    [
      'speech between two presses of a button',
      'composed',
      { length: 200, flags: 0, before: [press(5_000), press(9, trusted, 400)] },
    ],
    ['faster speech between two presses', 'inserted', { length: 200, flags: 0, before: [press(4_999), press(9)] }],
    [
      'speech between two touches of a button',
      'composed',
      { length: 200, flags: 0, before: [touch(5_000), press(5_000), touch(9), press(9)] },
    ],
    ['more than a script may write', 'inserted', { length: 301, flags: 0, before: [press(9_000), press(9)] }],
    ['a press of two buttons', 'inserted', { length: 200, flags: 0, before: [press(5_000), press(9, trusted, 401)] }],
    ['a press long before', 'inserted', { length: 200, flags: 0, before: [press(5_000), write(900), press(9)] }],
    [
      'a press before the last two',
      'inserted',
      { length: 200, flags: 0, before: [press(5_000), press(900), press(9)] },
    ],
    ['a press before a touch', 'inserted', { length: 200, flags: 0, before: [press(5_000), write(900), touch(9)] }],
    ['two presses of a script', 'inserted', { length: 200, flags: 0, before: [press(5_000, 0), press(9, 0)] }],
    ['speech between two presses of a key', 'composed', { length: 200, flags: 0, before: [toggle(5_000), toggle(9)] }],
    ['faster speech between them', 'inserted', { length: 200, flags: 0, before: [toggle(4_999), toggle(9)] }],
    ['a press before that of a key', 'inserted', { length: 200, flags: 0, before: [press(5_000), toggle(9)] }],
    ['a key before a press', 'inserted', { length: 200, flags: 0, before: [toggle(5_000), press(9)] }],
    ['a key long before', 'inserted', { length: 200, flags: 0, before: [toggle(5_000), write(900), toggle(9)] }],
    ['a key of a script', 'inserted', { length: 200, flags: 0, before: [toggle(5_000, hasCode), toggle(9, hasCode)] }],
    ['a letter that a script writes', 'inserted', { length: 1, flags: 0, before: [quiet(9_000)] }],
    ['the shortest word', 'composed', { length: 2, flags: 0, before: [quiet(9_000)] }],
    ['Control+Y', 'moved', { type: 'other', length: 50, field: { missing: 48 } }],
    ['Control+Y of more than is missing', 'inserted', { type: 'other', length: 50, field: { missing: 47 } }],
    ['Control+Y of a script', 'inserted', { type: 'other', length: 50, flags: 0, field: { missing: 48 } }],
    ['a tool that checks what was written', 'corrected', { length: 60, more: -30 }],
    ['one that checks words in a row', 'corrected', { length: 8, more: -8, before: [hurry] }],
    ['one that writes more', 'inserted', { length: 61, more: -61 }],
    ['one that takes away less', 'inserted', { type: 'none', length: 60, more: -29 }],
    ['a word that was pressed', 'corrected', { length: 60, before: [press(1_499)] }],
    ['a word that was pressed long ago', 'inserted', { length: 81, before: [press(2_000)] }],
    ['more than a word that was pressed', 'inserted', { length: 61, before: [press(9)] }],
    ['the second text after a press', 'inserted', { length: 60, before: [press(9), write(5)] }],
    ['a letter of a keyboard on the page', 'composed', { length: 1, flags: 0, before: [press(1_999)] }],
    ['several letters', 'composed', { length: 10, flags: 0, before: [press(9)] }],
    ['the second letter after a press', 'inserted', { length: 1, flags: 0, before: [press(9), write(5)] }],
    ['a letter long after a press', 'inserted', { length: 1, flags: 0, before: [press(2_000)] }],
    ['a letter after a press of a script', 'inserted', { length: 1, flags: 0, before: [press(9, 0)] }],
    ['a script that writes after a press', 'inserted', { length: 11, flags: 0, before: [press(9)] }],
    ['a press of a script', 'inserted', { length: 11, before: [press(9, 0)] }],
    ['a script that brings a draft back', 'restored', { type: 'none', length: 502, flags: 0, field: { earlier: 500 } }],
    ['one that brings more', 'inserted', { type: 'none', length: 503, flags: 0, field: { earlier: 500 } }],
    ['a script that types after that', 'inserted', { length: 10, flags: 0, field: { earlier: 500 } }],
    ['speech where a draft is missing', 'composed', { length: 300, before: [quiet(90_000)], field: { earlier: 500 } }],
    ['an editor that undoes', 'restored', { type: 'none', length: 50, field: { missing: 48 } }],
    ['an editor that writes more than is missing', 'inserted', { type: 'none', length: 50, field: { missing: 47 } }],
    [
      'a script that writes what is missing',
      'inserted',
      { type: 'none', length: 50, flags: 0, field: { missing: 48 } },
    ],
  ])('of %s is %s', (_, source, written) => {
    expect(trace(written)).toMatchObject({ source, length: written.length });
  });
});

describe('text without a key that replaces other text', () => {
  const composed =
    (length: number): Before =>
    (state) => {
      state.composedLength = length;
    };
  it.each<[what: string, source: string, length: number, written: Written]>([
    ['what was dictated', 'composed', 6, { length: 96, more: -90, before: [composed(90)] }],
    ['it, and is shorter', 'composed', 0, { length: 80, more: -90, before: [composed(90)] }],
    ['more than was dictated', 'inserted', 96, { length: 96, more: -90, before: [composed(89)] }],
    ['it by what nobody can have spoken', 'inserted', 11, { length: 101, more: -90, before: [composed(90)] }],
    ['it by what was spoken', 'composed', 11, { length: 101, more: -90, before: [composed(90), quiet(275)] }],
    ['it by what is faster', 'inserted', 11, { length: 101, more: -90, before: [composed(90), quiet(274)] }],
    ['what was deleted just now', 'composed', 6, { length: 96, before: [composed(90), remove(999.9, 90)] }],
    ['what was deleted before', 'inserted', 96, { length: 96, before: [composed(90), remove(1_000, 90)] }],
    [
      'it, as a correction',
      'corrected',
      6,
      { type: 'insertReplacement', length: 96, more: -90, before: [composed(90)] },
    ],
    [
      'more, as a correction',
      'corrected',
      96,
      { type: 'insertReplacement', length: 96, more: -90, before: [composed(89)] },
    ],
    ['a typed word, as a correction', 'corrected', 60, { type: 'insertReplacement', length: 60, more: -56 }],
    ['a typed word, as a phone proposes', 'corrected', 60, { length: 60, more: -56 }],
    ['less than half of a typed word', 'inserted', 31, { length: 60, more: -29 }],
    ['a typed sentence', 'inserted', 61, { length: 61, more: -57 }],
    ['a word, as an editor pastes', 'pasted', 60, { length: 60, more: -56, before: [clipboard('paste', 999.9, 60)] }],
    ['a word after a paste', 'corrected', 60, { length: 60, more: -56, before: [clipboard('paste', 1_000, 60)] }],
    ['what was dictated, by a page', 'inserted', 96, { type: 'none', length: 96, more: -90, before: [composed(90)] }],
  ])('%s is %s', (_, source, length, written) => {
    expect(trace(written)).toMatchObject({ source, length });
  });

  it('replaces what was deleted once', () => {
    const written = { length: 60, before: [remove(5, 60), write60] };
    expect(trace(written)).toMatchObject({ source: 'inserted', length: 60 });
    expect(trace({ ...written, before: [remove(5, 60)] })).toMatchObject({ source: 'composed', length: 0 });
  });

  it('counts what was composed until something else is written', () => {
    const state = createPageState();
    const field: FieldState = { length: 0, inputMs: 0, missing: 0, earlier: 0 };
    let timeMs = NOW_MS;
    const write = (
      type: (typeof INPUT_TYPES)[number],
      insertedLength: number,
      valueLength: number,
      afterMs = 5_000,
    ) => {
      timeMs += afterMs;
      const event = { code: EventCode.Input, timeMs, atMs: 0, field: 0, flags: trusted } as const;
      traceInput(state, field, { ...event, type: INPUT_TYPES.indexOf(type), insertedLength, valueLength });
      return state.composedLength;
    };
    expect(write('insertText', 40, 40)).toBe(40);
    expect(write('insertText', 46, 46)).toBe(46);
    expect(write('insertReplacement', 8, 45)).toBe(45);
    expect(write('insertComposition', 5, 50)).toBe(50);
    expect(write('deleteContent', 0, 0)).toBe(50);
    expect(write('insertText', 52, 52, 5)).toBe(52);
    followKey(state, KEY_CLASSES.indexOf('letter'), trusted | hasCode, timeMs + 4_990);
    expect(write('insertText', 1, 53)).toBe(0);
  });
});

describe('text that is there without an Input', () => {
  const keys = (count: number): Before[] => Array<Before>(count).fill(key(5));
  it.each<[what: string, source: string, written: Omit<Written, 'length'>]>([
    ['the page, which formats', 'corrected', { more: 9, field: lately }],
    ['a script', 'inserted', { more: 10, field: justNow }],
    ['keys', 'typed', { more: 10, field: justNow, before: keys(5) }],
    ['fewer keys', 'inserted', { more: 10, field: justNow, before: keys(4) }],
    ['a paste', 'pasted', { more: 500, before: [clipboard('paste', 9_000, 500)] }],
    ['what was deleted', 'restored', { more: 50, field: { ...lately, missing: 48 } }],
    ['more than that', 'inserted', { more: 50, field: { ...lately, missing: 47 } }],
    ['a draft that the page brings back', 'restored', { more: 502, field: { ...lately, earlier: 500 } }],
    ['more than the draft', 'inserted', { more: 503, field: { ...lately, earlier: 500 } }],
    ['speech', 'composed', { more: 20, field: lately }],
    ['what is faster', 'inserted', { more: 21, field: lately }],
    ['speech of a script', 'composed', { more: 300 }],
    ['more than that', 'inserted', { more: 301 }],
  ])('of %s is %s', (_, earlierSource, written) => {
    expect(trace({ length: 1, ...written })).toMatchObject({ earlierSource, earlierLength: written.more });
  });
});

it.each<[what: string, deleted: number, length: number, written: Written]>([
  ['a deletion', 5, 0, { type: 'deleteContent', length: -5 }],
  ['one while an input method writes', 0, 0, { type: 'deleteContent', length: -5, before: [compose(0, 9)] }],
  ['what an editor cuts', 5, 0, { type: 'none', length: -5 }],
  ['undo that removes', 5, 0, { type: 'history', length: -5 }],
  ['undo that brings back', 0, 5, { type: 'history', length: 5 }],
  ['a composition', 0, 5, { type: 'insertComposition', length: 5 }],
  ['a key that replaces a selection', 7, 3, { length: 3, more: -7, before: [key(5)] }],
  ['a spell-checker that replaces a word', 0, 3, { type: 'insertReplacement', length: 3, more: -7 }],
  ['an input method that replaces one', 0, 0, { length: 3, more: -7, before: [compose(0, 9)] }],
])('%s deletes %i and writes %i', (_, deleted, length, written) => {
  expect(trace(written)).toMatchObject({ deleted, length });
});
