import { EVENT_FLAGS, EventCode, INPUT_TYPES, KEY_CLASSES } from '../../../../contract/beacon';
import { FIREFOX, MACINTOSH, type TraceBuilder } from '../../../support/trace';
import {
  autofilled,
  type Build,
  both,
  type Case,
  capsLock,
  focuses,
  hasCode,
  idle,
  type Kind,
  keys,
  mixed,
  multiline,
  nothing,
  pageTurn,
  presses,
  shift,
  text,
  times,
  touch,
  trusted,
} from './builds';

type KeyKind = Kind | typeof mixed;
/** Keys, each of which a script of the page presses or releases, too, as soon as it is pressed. */
const scripted = (count: number, code: EventCode.KeyDown | EventCode.KeyUp, heldMs: number): Build =>
  both(
    ...Array.from({ length: count }, (_, slot) =>
      keys(1, { heldMs, gapMs: () => 110, react: (builder) => builder.add(code, { slot, flags: 0 }) }),
    ),
  );
const erasedByScript: Build = (builder) => {
  keys(4, { flags: hasCode })(builder);
  times(3, () => builder.wait(2).key('backspace', 1, hasCode));
};
/** Text that a dictation program types at once, after somebody spoke it. */
const spoken =
  (count: number, kind: KeyKind = 'letter', spokenMs = 55 * count): Build =>
  (builder) => {
    builder.wait(spokenMs);
    keys(count, { kind, heldMs: 2, gapMs: () => 5 })(builder);
  };
/** Words that a dictation program types one by one, as it hears them. */
const streamed = (count: number, kind: KeyKind = 'letter', pauseMs = (i: number) => 220 + 23 * (i % 5)): Build =>
  keys(count, { kind, heldMs: 1, gapMs: (i) => (i % 6 === 0 ? pauseMs(i) : 3) });
/** Presses that the mouse jumps to, as taps on a tablet become on the desktop that it controls. */
const taps = presses(4, {}, { moves: 1 });
/** Presses of a phone that is a trackpad: the mouse moves there, and a tap is released at once. */
const padTaps = (heldMs: number, fields = {}) => presses(4, fields, { heldMs: () => heldMs });
const exactTaps = presses(4, { offsetX10: 0, offsetY10: 0 }, { moves: 1 });
/** Strokes of a stenographer, each of which writes a word at once, and some of them a phrase. */
const stroked =
  (count: number): Build =>
  (builder) =>
    times(count, (i) => keys(i % 8 === 7 ? 18 : 6, { heldMs: 1, gapMs: () => 1 })(builder.wait(200 + 23 * (i % 5))));
/** Abbreviations, each of which a text expander replaces by a text. */
const expanded =
  (count: number, length: number, { kind = 'letter' as KeyKind, heldMs = 80, erasingMs = 2 } = {}): Build =>
  (builder) =>
    times(count, () => {
      keys(4, { heldMs, gapMs: (i) => 40 + 61 * (i % 3) })(builder.wait(3_000));
      times(3, () => builder.wait(erasingMs).key('backspace', 1, trusted | hasCode | multiline));
      keys(length, { kind, heldMs: 1, gapMs: () => 4 })(builder);
    });
/** Keys on a keyboard whose letters are modifiers while they are held: it sends a letter when the finger leaves it. */
const tapped =
  (count: number, isDual = (i: number) => i % 10 < 8, gapMs = (i: number) => 40 + 61 * (i % 7)): Build =>
  (builder) =>
    times(count, (i) => keys(1, { heldMs: isDual(i) ? 1 : 80, gapMs: () => gapMs(i) })(builder));
/** Keys in a stretch, of which one of so many is held. */
const evenly = (count: number, every: number): Build =>
  tapped(
    count,
    (i) => i % every > 0,
    () => 100,
  );
const halfLate = (i: number) => (i % 2 === 0 ? 398 : 118);
/** A key repeats itself while somebody holds it. */
const heldDown =
  (count: number): Build =>
  (builder) =>
    times(count, (i) => {
      const flags = trusted | hasCode | (i > 0 ? EVENT_FLAGS.repeated : 0);
      builder.wait(33).add(EventCode.KeyDown, { slot: 9, flags });
      builder.add(EventCode.Input, { flags: trusted | multiline, valueLength: i + 1 });
    });
const space = keys(1, { kind: 'space' });
/** So many capitals, each next to a small letter. */
const capitals = (count: number, flags = trusted | hasCode): Build => keys(2 * count, { kind: mixed, flags });
const shifted = (count: number): Build => capitals(count, trusted | hasCode | shift);
/** Text that comes at once when a key is pressed, as a proposal of the browser. */
const accepted =
  (length: number, afterMs = 5): Build =>
  (builder) => {
    builder.wait(3_000).add(EventCode.Focus, { field: 1, role: 5 }).wait(50);
    builder.key('tab', afterMs).add(EventCode.Input, {
      ...{ field: 1, type: INPUT_TYPES.indexOf('insertText'), insertedLength: length, valueLength: length },
      flags: trusted | multiline,
    });
  };
/** Words that come at once, each in a field that just got the focus. */
const words =
  (count: number, length: number): Build =>
  (builder) =>
    times(count, (field) => {
      builder.wait(3_000).add(EventCode.Focus, { field, role: 5 }).wait(5);
      builder.add(EventCode.Input, { field, insertedLength: length, valueLength: length, flags: trusted | multiline });
    });
/** A hundred characters at once, so long after something. */
const after =
  (cause: Build, ms: number): Build =>
  (builder) => {
    cause(builder.wait(3_000));
    const fields = { field: 1, type: INPUT_TYPES.indexOf('insertText'), insertedLength: 100, valueLength: 101 };
    builder.wait(ms).add(EventCode.Input, { ...fields, flags: trusted | multiline });
  };
const writeOne: Build = (builder) => {
  builder.add(EventCode.KeyDown, { flags: trusted | hasCode });
  builder.add(EventCode.Input, { field: 1, flags: trusted | multiline });
};
const other: Build = (builder) => builder.key('other', 80);
const modifier: Build = (builder) => builder.key('modifier', 80);
const tab: Build = (builder) => builder.key('tab', 80);
const wait =
  (ms: number): Build =>
  (builder) =>
    builder.wait(ms);
/** A key that is held for so long, and says so again and again. */
const heldFor =
  (ms: number): Build =>
  (builder) => {
    const write = () =>
      times(ms / 100, () =>
        builder.wait(100).add(EventCode.KeyDown, {
          class: KEY_CLASSES.indexOf('other'),
          slot: 0,
          flags: trusted | EVENT_FLAGS.repeated,
        }),
      );
    builder.key('other', 0, trusted | hasCode, write);
  };
/** Pieces of four characters without keys. */
const stream =
  (count: number, { everyMs = 15, beforeMs = 300, field = 0 } = {}): Build =>
  (builder) => {
    builder.wait(beforeMs);
    times(count, (i) =>
      builder.wait(everyMs).add(EventCode.Input, {
        ...{ field, type: INPUT_TYPES.indexOf('insertText'), flags: trusted | multiline },
        ...{ insertedLength: 4, valueLength: 4 * (i + 1) },
      }),
    );
  };

const fill =
  (flags: number): Build =>
  (builder) =>
    builder.add(EventCode.Input, { field: 2, flags });
const insertAtOnce = (builder: TraceBuilder, length: number) => {
  const text = { field: 1, type: INPUT_TYPES.indexOf('insertText'), insertedLength: length, valueLength: length };
  builder.add(EventCode.Input, { ...text, flags: trusted | multiline });
};
/** A button that begins a dictation and is pressed again after so long; then a text comes at once. */
const dictated =
  (
    length: number,
    spokenMs: number,
    { between = nothing as Build, x = 700, fields = {} as Parameters<TraceBuilder['press']>[3] } = {},
  ): Build =>
  (builder) => {
    builder.wait(3_000).add(EventCode.Focus, { field: 1, role: 5 });
    builder.wait(900).press(700, 200, 90, fields);
    between(builder.wait(spokenMs - 99));
    builder.press(x, 200, 5, fields).wait(4).add(EventCode.Focus, { field: 1, role: 5 });
    insertAtOnce(builder, length);
  };
/** The same with a key. The text comes two seconds after its second press. */
const dictatedByKey =
  (
    length: number,
    spokenMs: number,
    { between = nothing as Build, kind = 'other' as (typeof KEY_CLASSES)[number], flags = trusted | hasCode } = {},
  ): Build =>
  (builder) => {
    builder.wait(3_000).add(EventCode.Focus, { field: 1, role: 5 });
    builder.wait(900).key(kind, 90, flags);
    between(builder.wait(spokenMs - 2_090));
    insertAtOnce(builder.key(kind, 90, flags).wait(1_910), length);
  };

/** The cases of the rules on how text is written, by flag. */
export const TYPING_CASES: Record<string, Case[]> = {
  'capital-without-shift': [
    ['capitals without Shift', 'found', capitals(3)],
    ['capitals with Shift', 'notFound', shifted(3)],
    ['capitals with Caps Lock', 'notFound', capitals(3, trusted | hasCode | capsLock)],
    ['two capitals', 'notMeasured', capitals(2)],
    ['an on-screen keyboard or dictation', 'notMeasured', capitals(5, trusted)],
    ['dictation that brings its own keymap', 'notMeasured', spoken(10, mixed)],
    ['sentences that are dictated so', 'notMeasured', spoken(100, mixed)],
    ['words that are dictated so one by one', 'notMeasured', streamed(60, mixed)],
    ['a text expander that brings its own keymap', 'notMeasured', expanded(2, 100, { kind: mixed })],
    ['a program that types at once', 'found', keys(100, { kind: mixed, heldMs: 1, gapMs: () => 5 })],
    ['touch', 'notMeasured', both(touch, capitals(5))],
    ['a finger that presses', 'notMeasured', both(presses(1, { pointer: 2 }), capitals(5))],
    ['Firefox', 'notMeasured', capitals(5), {}, FIREFOX],
    ['three of five without Shift', 'found', both(capitals(3), shifted(2))],
    ['half of them', 'notFound', both(capitals(3), shifted(3))],
    ['a keyboard of Cherokee, whose usual letters are capitals', 'notMeasured', keys(40, { kind: 'capital' })],
    [
      'the same with Shift for some letters',
      'notMeasured',
      both(keys(40, { kind: 'capital' }), keys(9, { kind: 'capital', flags: trusted | hasCode | shift })),
    ],
    ['Cherokee among other words', 'notFound', both(keys(20), space, keys(40, { kind: 'capital' }), space, shifted(3))],
    [
      'characters that software posts on a Macintosh',
      'notMeasured',
      keys(40, { kind: mixed, heldMs: 29.9 }),
      {},
      MACINTOSH,
    ],
    ['capitals without Shift there', 'found', keys(40, { kind: mixed, heldMs: 30 }), {}, MACINTOSH],
    ['keys that a program releases at once elsewhere', 'found', keys(40, { kind: mixed, heldMs: 2 })],
    ['capitals that end words', 'found', keys(9, { kind: (i) => (['letter', 'capital', 'space'] as const)[i % 3]! })],
  ],
  'instant-keys': [
    ['keys that are released at once', 'found', keys(10, { heldMs: 2 })],
    ['keys that a script repeats', 'found', scripted(10, EventCode.KeyDown, 2)],
    ['keys that are held, which a script releases at once', 'notFound', scripted(10, EventCode.KeyUp, 80)],
    [
      'keys after some that a script makes and erases',
      'found',
      both(erasedByScript, keys(40, { heldMs: 2, gapMs: () => 110 })),
    ],
    ['many in a single line', 'found', keys(40, { heldMs: 2, field: 0 })],
    ['keys of a tablet that is tapped and controls the desktop', 'notMeasured', both(taps, keys(40, { heldMs: 2 }))],
    ['the same beside a mouse that moves to what it presses', 'found', both(presses(4), keys(40, { heldMs: 2 }))],
    ['keys of a phone that is a trackpad, too', 'notMeasured', both(padTaps(11), keys(40, { heldMs: 2 }))],
    ['the same on a later page', 'notMeasured', both(padTaps(1), idle(4_000), pageTurn, keys(40, { heldMs: 2 }))],
    ['beside presses that a finger can hold', 'found', both(padTaps(12), keys(40, { heldMs: 2 }))],
    ['beside two of them', 'found', both(presses(2, {}, { heldMs: () => 1 }), keys(40, { heldMs: 2 }))],
    [
      'beside instant presses in the exact middle',
      'found',
      both(padTaps(1, { offsetX10: 0, offsetY10: 0 }), keys(40, { heldMs: 2 })),
    ],
    ['beside instant presses in a beat', 'found', both(padTaps(1), keys(40, { heldMs: 2, gapMs: () => 110 }))],
    ['beside one that moves a lot', 'found', both(taps, idle(4_000), keys(40, { heldMs: 2 }))],
    ['beside presses in the exact middle', 'found', both(exactTaps, keys(40, { heldMs: 2 }))],
    ['in a beat', 'found', both(taps, keys(40, { heldMs: 2, gapMs: () => 110 }))],
    ['faster than hands', 'found', both(taps, keys(200, { heldMs: 2, gapMs: (i) => 5 + 15 * (i % 3) }))],
    ['capitals without Shift', 'found', both(taps, keys(40, { heldMs: 2, kind: mixed }))],
    ['the same on a Macintosh', 'notMeasured', both(taps, keys(40, { heldMs: 2, kind: mixed })), {}, MACINTOSH],
    ['keys that are held', 'notFound', keys(10)],
    ['a keyboard that sends most keys when they are tapped', 'notFound', tapped(100)],
    ['a program that holds a key now and then', 'found', tapped(100, (i) => i % 20 > 0)],
    ['a keyboard on the screen', 'notMeasured', both(touch, pageTurn, keys(40, { heldMs: 2 }))],
    ['few keys', 'notMeasured', keys(9, { heldMs: 2, gapMs: () => 110 })],
    ['ten', 'found', keys(10, { heldMs: 2, gapMs: () => 110 })],
    ['keys that are held a little', 'found', keys(10, { heldMs: 29.9 })],
    ['keys that are held a little longer', 'notFound', keys(10, { heldMs: 30 })],
    ['keys of a script', 'notMeasured', keys(40, { heldMs: 2, flags: hasCode })],
    ['keys of which half come late, as with a switch', 'notMeasured', keys(20, { heldMs: 2, gapMs: halfLate })],
    ['keys of which fewer come late', 'found', keys(20, { heldMs: 2, gapMs: (i) => (i === 2 ? 120 : halfLate(i)) })],
    ['keys that all come late', 'notMeasured', keys(20, { heldMs: 2, gapMs: () => 348 })],
    ['keys that come a little sooner', 'found', keys(20, { heldMs: 2, gapMs: () => 347.9 })],
    ['eighteen of twenty keys', 'found', evenly(20, 10)],
    ['fewer', 'notFound', evenly(19, 9)],
    ['a clause that a dictation program types', 'notMeasured', keys(80, { heldMs: 2, gapMs: () => 5 })],
    ['a paragraph that a dictation program types', 'notMeasured', both(spoken(100), spoken(300), spoken(81))],
    ['a paragraph that goes on in the next minute', 'notMeasured', both(idle(57_500), spoken(300))],
    [
      'a text that is typed too soon after a press',
      'found',
      both(idle(60_000), presses(1), spoken(100, 'letter', 800)),
    ],
    [
      'a text that is typed too soon after the field was entered',
      'found',
      both(idle(60_000), focuses(1), spoken(100, 'letter', 800)),
    ],
    ['words that a dictation program types one by one', 'notMeasured', streamed(120)],
    ['strokes of a stenographer', 'notMeasured', stroked(40)],
    ['words that come faster than anybody speaks', 'found', streamed(120, 'letter', () => 140)],
    ['what a text expander types', 'notFound', expanded(3, 150)],
    ['a text expander of which a program writes the abbreviation', 'found', expanded(3, 150, { heldMs: 2 })],
    ['a text that is typed after somebody erased some letters', 'found', expanded(3, 150, { erasingMs: 130 })],
    ['a password that a program types', 'notMeasured', keys(30, { heldMs: 2, field: 0 })],
    ['a switch, an eye tracker, an on-screen keyboard', 'notMeasured', keys(40, { heldMs: 2, gapMs: () => 700 })],
    ['a switch that takes seconds for each key', 'notMeasured', keys(20, { heldMs: 2, gapMs: () => 3_000 })],
    [
      'a switch that takes seconds, with word completion',
      'notMeasured',
      keys(20, { heldMs: 2, gapMs: (i) => (i % 4 === 3 ? 30 : 3_000) }),
    ],
    ['dictation or a text expander', 'notMeasured', keys(40, { heldMs: 0, flags: trusted })],
    [
      'a browser that rounds times',
      'notMeasured',
      (builder) => {
        builder.wait(-builder.timeMs + 1_000);
        keys(20, { heldMs: 0, gapMs: () => 100 })(builder);
      },
    ],
    ['nine of ten keys', 'found', tapped(100, (i) => i % 10 < 9)],
    ['fewer in a single line', 'notMeasured', keys(39, { heldMs: 2, field: 0 })],
    [
      'a text that is typed too soon after the focus came to its field',
      'found',
      both(idle(60_000), (builder) => builder.add(EventCode.Focus, { field: 3, role: 5 }), spoken(100, 'letter', 800)),
    ],
  ],
  'uniform-typing': [
    ['keys in a beat', 'found', keys(25, { gapMs: (i) => 60 + (i % 3) })],
    ['keys without a pause', 'found', keys(81, { heldMs: 1, gapMs: (i) => 5 + 9 * (i % 3) })],
    ['paragraphs that a dictation program types', 'notMeasured', both(spoken(100), spoken(300))],
    ['as people do', 'notFound', keys(25)],
    [
      'phrases that a dictation program types',
      'notMeasured',
      keys(80, { heldMs: 2, gapMs: (i) => (i % 20 === 0 ? 1_500 : 5) }),
    ],
    ['words that a dictation program types one by one', 'notMeasured', streamed(120)],
    ['strokes of a stenographer', 'notMeasured', stroked(40)],
    ['what a text expander types', 'notMeasured', expanded(3, 150)],
    ['few keys', 'notMeasured', keys(15, { gapMs: () => 60 })],
    [
      'a browser that rounds times',
      'notMeasured',
      (builder) => keys(25, { heldMs: 0, gapMs: () => 100 })(builder.wait(1_000 - builder.timeMs)),
    ],
    ['a key that is held down', 'notMeasured', heldDown(100)],
    ['keys at one moment', 'found', (builder) => keys(81, { heldMs: 0, gapMs: () => 0 })(builder.wait(0.7))],
    ['a keyboard on the screen', 'notMeasured', both(touch, pageTurn, keys(25, { gapMs: (i) => 60 + (i % 3) }))],
    ['a password that a program types', 'notMeasured', keys(30, { gapMs: () => 5, field: 0 })],
    ['a switch that keeps a beat', 'notMeasured', keys(40, { gapMs: () => 500 })],
    ['twenty intervals', 'found', keys(21, { gapMs: (i) => 60 + (i % 3) })],
    ['nineteen', 'notMeasured', keys(20, { gapMs: (i) => 60 + (i % 3) })],
    ['a variation of a quarter', 'found', keys(41, { heldMs: 40, gapMs: (i) => 35 + 50 * (i % 2) })],
    ['a variation of 0.3', 'notFound', keys(41, { heldMs: 40, gapMs: (i) => 30 + 60 * (i % 2) })],
    ['half of the intervals below 40 ms', 'found', keys(81, { heldMs: 5, gapMs: (i) => [5, 34.9, 95][i % 3]! })],
    ['hands that are as fast', 'notFound', keys(81, { heldMs: 5, gapMs: (i) => [5, 35, 95][i % 3]! })],
  ],
  'text-without-keys': [
    ['text from nowhere', 'found', text('insertText', 200)],
    ['the words of a language model, as they come', 'found', stream(100)],
    ['words as fast as speech', 'notFound', stream(100, { everyMs: 120 })],
    [
      'words that come late, when they were spoken',
      'notFound',
      (builder) => times(20, (field) => stream(15, { everyMs: 20, beforeMs: 2_000, field })(builder)),
    ],
    ['typed text', 'notFound', keys(40)],
    ['dictation', 'notFound', text('insertText', 200, { beforeMs: 12_000 })],
    ['an input method', 'notFound', text('insertComposition', 60)],
    ['little text', 'notMeasured', text('insertText', 29)],
    ['a little more', 'found', text('insertText', 30)],
    ['words that come at once', 'found', words(3, 11)],
    ['words that are as short as proposals', 'notFound', words(3, 10)],
    ['text that can have been spoken', 'notFound', text('insertText', 32, { beforeMs: 800 })],
    ['text that came too soon', 'found', text('insertText', 32, { beforeMs: 799.9 })],
    ['text that was spoken between two presses of a button', 'notFound', dictated(200, 5_000)],
    ['faster speech', 'found', dictated(200, 4_999)],
    ['two buttons', 'found', dictated(200, 5_000, { x: 740.1 })],
    ['the same button at another place', 'notFound', dictated(200, 5_000, { x: 740 })],
    ['something else that was written meanwhile', 'found', dictated(200, 5_000, { between: fill(trusted) })],
    ['what a script wrote meanwhile', 'notFound', dictated(200, 5_000, { between: fill(0) })],
    [
      'a page that was left meanwhile',
      'notFound',
      dictated(200, 5_000, { between: (b) => b.add(EventCode.Visibility) }),
    ],
    ['a field that is pressed twice', 'found', dictated(200, 5_000, { fields: { role: 5 } })],
    ['two presses of a script', 'found', dictated(200, 5_000, { fields: { flags: 0 } })],
    ['text that was spoken between two presses of a key', 'notFound', dictatedByKey(200, 5_000)],
    ['faster speech', 'found', dictatedByKey(200, 4_999)],
    ['the same with a modifier', 'notFound', dictatedByKey(200, 5_000, { between: modifier })],
    ['a press of a button meanwhile', 'found', dictatedByKey(200, 5_000, { between: (b) => b.press(700, 200, 5) })],
    ['something else that was written meanwhile', 'found', dictatedByKey(200, 5_000, { between: fill(trusted) })],
    ['another key meanwhile', 'found', dictatedByKey(200, 5_000, { between: (b) => b.key('backspace', 80) })],
    ['two presses of a key that erases', 'found', dictatedByKey(200, 5_000, { kind: 'backspace' })],
    ['two presses of a key by a script', 'found', dictatedByKey(200, 5_000, { flags: hasCode })],
    ['text soon after an input method', 'notFound', after((b) => b.add(EventCode.Composition, { phase: 1 }), 999.9)],
    ['text later', 'found', after((b) => b.add(EventCode.Composition, { phase: 1 }), 1_000)],
    ['text soon after a paste', 'notMeasured', after((b) => b.add(EventCode.Clipboard), 999.9)],
    ['text later', 'found', after((b) => b.add(EventCode.Clipboard), 1_000)],
    ['text soon after a key that has written', 'notFound', after(writeOne, 999.9)],
    ['text later', 'found', after(writeOne, 1_000)],
    ['text soon after a key that writes nothing', 'notFound', after(other, 919.9)],
    ['text later', 'found', after(other, 920)],
    ['text long after it', 'found', both(other, wait(20_000), text('insertText', 200))],
    ['text after a key, and a press', 'found', after(both(tab, presses(1, {}, { moves: 0 })), 1_000)],
    [
      'text after a key, and another field',
      'found',
      after(
        both(tab, (b) => b.add(EventCode.Focus, { field: 1, role: 5 })),
        1_000,
      ),
    ],
    ['text after a key of a script', 'found', after((b) => b.key('tab', 80, hasCode), 1_000)],
    ['text that was spoken while a key was held', 'notFound', after((b) => b.key('other', 2_000), 1_000)],
    ['the same while the key repeats itself', 'notFound', after(heldFor(2_000), 1_000)],
    ['text that was spoken before a modifier key', 'notFound', after(modifier, 1_000)],
    ['text that was spoken while a key was held too shortly', 'found', after((b) => b.key('other', 1_000), 1_000)],
    ['a single line', 'notMeasured', text('insertText', 200, { flags: trusted })],
    ['autofill', 'notMeasured', text('insertText', 200, { flags: trusted | multiline | autofilled })],
    ['a password manager or the page', 'notMeasured', text('none', 200, { flags: multiline })],
    ['a paste', 'notMeasured', text('insertFromPaste', 200)],
    [
      'a paste that says insertText',
      'notMeasured',
      both(
        (builder) => builder.wait(2_000).add(EventCode.Clipboard),
        (builder) => text('insertText', 200)(builder.wait(-2_900)),
      ),
    ],
    ['a drop', 'notMeasured', text('insertFromDrop', 200)],
    ['a corrected word', 'notMeasured', text('insertReplacement', 60)],
    ['undo', 'notMeasured', text('history', 200)],
    ['touch', 'notMeasured', both(touch, text('insertText', 200))],
    ['half of the text', 'found', both(keys(60), text('insertText', 60))],
    ['less than half', 'notFound', both(keys(61), text('insertText', 60))],
    ['a few words in a short text', 'notFound', both(keys(10), text('insertText', 29))],
    ['a sentence that a key accepts', 'notFound', accepted(60)],
    ['a paragraph that comes late after a key', 'notFound', accepted(100, 1_500)],
    ['a text that comes very late', 'notFound', accepted(500, 9_999.9)],
    ['a text that comes too late', 'found', accepted(500, 10_000)],
    [
      'text that a script of the page adds to what was written',
      'notMeasured',
      both(text('insertText', 5), (builder) =>
        builder
          .wait(5)
          .add(EventCode.Input, { field: 1, insertedLength: 5, valueLength: 305, flags: trusted | multiline }),
      ),
    ],
    [
      'text from nowhere, most of which is replaced',
      'found',
      both(text('insertText', 60), (builder) =>
        builder
          .wait(5)
          .add(EventCode.Input, { field: 1, insertedLength: 1, valueLength: 5, flags: trusted | multiline }),
      ),
    ],
    [
      'a text that an editor writes again',
      'notMeasured',
      both(text('insertText', 20), (builder) =>
        builder
          .wait(5)
          .add(EventCode.Input, { field: 1, insertedLength: 200, valueLength: 20, flags: trusted | multiline }),
      ),
    ],
  ],
};
