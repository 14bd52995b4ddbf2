import { ELEMENT_ROLES, EventCode, INPUT_TYPES } from '../../../../contract/beacon';
import type { TraceBuilder } from '../../../support/trace';
import {
  autofilled,
  type Build,
  both,
  type Case,
  focuses,
  hasCode,
  keys,
  nothing,
  pageTurn,
  presses,
  times,
  touch,
  trusted,
} from './builds';

const later: Build = (builder) => builder.wait(3_000);
/** The browser tells what a click changes as an input. It is trusted even if a script clicked. */
const change = { type: INPUT_TYPES.indexOf('none'), insertedLength: 0, valueLength: 0, flags: trusted };
const scriptClicks =
  (count: number, { role = 'radio', gapMs = 2_000, startMs = 5_000, hasChanges = false } = {}): Build =>
  (builder) => {
    builder.wait(startMs);
    times(count, (field) => {
      builder.wait(gapMs).add(EventCode.Click, { flags: 0, role: ELEMENT_ROLES.indexOf(role as 'radio') });
      if (hasChanges) builder.wait(2).add(EventCode.Input, { field, ...change });
    });
  };
/** Fields that a script enters, and for which it makes keys. */
const filledByKeys =
  (count: number): Build =>
  (builder) =>
    times(count, (field) => {
      builder.wait(4_000).add(EventCode.Focus, { field, role: ELEMENT_ROLES.indexOf('input') });
      builder.wait(2).key('letter', 1, hasCode).add(EventCode.Input, { field, flags: 0 });
    });
/** Clicks of a script, each right after a touch. */
const touchedClicks =
  (flags: number): Build =>
  (builder) =>
    times(4, (i) => {
      builder.wait(i === 0 ? 5_000 : 2_000).add(EventCode.Touch, { touches: 1, flags });
      scriptClicks(1, { startMs: 0, gapMs: 1 })(builder);
    });
/** Clicks of a script, each a while before an input and half a second after the one before. */
const lateChanges =
  (afterMs: number, fields = change): Build =>
  (builder) => {
    times(4, (field) => {
      builder.wait(field === 0 ? 5_000 : 500).add(EventCode.Click, { flags: 0, role: ELEMENT_ROLES.indexOf('radio') });
      builder.wait(afterMs).add(EventCode.Input, { field, ...fields });
    });
  };
/** Jumps of the page from rest, each followed by a press. */
const jumps =
  (
    count: number,
    {
      before = nothing as Build,
      px = 800,
      restMs = 4_000,
      pressAfterMs = 400,
      steps = 1,
      after = nothing as Build,
      fields = {} as Parameters<TraceBuilder['press']>[3],
    } = {},
  ): Build =>
  (builder) => {
    builder.wait(3_000).add(EventCode.Scroll, { y: 10 });
    times(count, (i) => {
      builder.wait(restMs);
      before(builder);
      times(steps, (step) => builder.wait(15).add(EventCode.Scroll, { y: 10 + px * (i + (step + 1) / steps) }));
      after(builder);
      builder.wait(pressAfterMs).press(200 + 90 * i, 300, 80, fields);
    });
  };
/** Presses at changing places after pauses. `inside` happens in the middle of each pause. */
const pauses =
  (count: number, inside: Build = nothing, fields: Parameters<TraceBuilder['press']>[3] = {}): Build =>
  (builder) =>
    times(count + 1, (i) => {
      builder.wait(1_200);
      inside(builder);
      builder
        .wait(1_200)
        .move(200 + 300 * (i % 2), 300)
        .wait(2)
        .press(200 + 300 * (i % 2), 300, 80, fields);
    });
/** The focus goes into a field for a password, of which the pixel tells nothing else, and out of it. */
const intoPassword: Build = (builder) =>
  builder.add(EventCode.Focus, { field: -1, role: ELEMENT_ROLES.indexOf('input') });
const outOfPassword: Build = (builder) =>
  builder.add(EventCode.Focus, { field: -1, role: ELEMENT_ROLES.indexOf('button') });

/** The cases of the rules on what is done, and in what order, by flag. */
export const CONDUCT_CASES: Record<string, Case[]> = {
  'untrusted-events': [
    ['presses that a script made', 'found', presses(3, { flags: 0 })],
    ['many keys that a script made', 'found', keys(12, { flags: hasCode })],
    ['clicks on answers that a script made', 'found', scriptClicks(4)],
    ['such clicks that follow each other soon', 'found', scriptClicks(4, { gapMs: 500, hasChanges: true })],
    [
      'clicks with which the page follows what somebody chooses',
      'notMeasured',
      (builder) =>
        times(6, (field) => {
          builder.wait(4_000).add(EventCode.Click, { role: ELEMENT_ROLES.indexOf('radio') });
          builder.wait(2).add(EventCode.Input, { field, ...change });
          scriptClicks(1, { startMs: 0, gapMs: 500, hasChanges: true })(builder);
        }),
    ],
    ['a person', 'notFound', presses(3)],
    ['one press of a script among many', 'notFound', both(presses(5), presses(1, { flags: 0 }))],
    ['a password manager: a few keys', 'notFound', both(presses(1), keys(4, { flags: hasCode }))],
    [
      'presses of a script beside a few of its keys',
      'found',
      both(presses(4, { flags: 0 }), keys(9, { flags: hasCode })),
    ],
    ['a few keys of a script beside few deeds', 'notFound', keys(9, { flags: hasCode })],
    ['the same after touches that a script made', 'found', touchedClicks(0)],
    ['clicks of the page after touches of a finger', 'notMeasured', touchedClicks(trusted)],
    ['a carousel of the page', 'notMeasured', scriptClicks(6, { role: 'button' })],
    ['answers that the page restores', 'notMeasured', scriptClicks(6, { startMs: 0, gapMs: 100 })],
    ['answers that the page restores late', 'notMeasured', scriptClicks(6, { gapMs: 100 })],
    ['what a script does while somebody types a password', 'notMeasured', both(intoPassword, scriptClicks(4))],
    ['too few deeds', 'notMeasured', presses(2)],
    ['half of the presses', 'found', both(presses(3), presses(3, { flags: 0 }))],
    ['fewer', 'notFound', both(presses(4), presses(3, { flags: 0 }))],
    ['three clicks on answers', 'found', scriptClicks(3)],
    ['two, beside two presses of a script', 'notFound', both(scriptClicks(2), presses(2, { flags: 0 }))],
    ['clicks whose changes are told late', 'found', lateChanges(299.9)],
    ['clicks after which somebody changes something', 'notMeasured', lateChanges(300)],
    ['clicks after which somebody types', 'notMeasured', lateChanges(2, { ...change, type: 1, insertedLength: 1 })],
    ['ten keys that a script made', 'found', keys(10, { flags: hasCode })],
  ],
  'focus-without-cause': [
    ['fields that are filled out of nowhere', 'found', focuses(2)],
    ['fields that were pressed', 'notFound', focuses(3, { cause: (builder) => builder.press(100, 100, 80) })],
    ['keyboard only', 'notFound', focuses(3, { cause: (builder) => builder.key('tab', 80) })],
    ['touch', 'notFound', focuses(3, { cause: touch })],
    ['touches that a script made', 'found', focuses(3, { cause: (b) => b.add(EventCode.Touch, { flags: 0 }) })],
    ['a screen reader or voice control', 'notFound', focuses(3, { laterMs: 400 })],
    ['autofill', 'notFound', focuses(3, { flags: trusted | autofilled })],
    ['a password manager', 'notFound', focuses(3, { flags: 0 })],
    ['one that makes keys, too', 'notFound', filledByKeys(3)],
    ['a window that gets the focus back', 'notFound', both(focuses(1, { laterMs: 400 }), focuses(1), focuses(1))],
    ['one field', 'notMeasured', focuses(1)],
    [
      'a field after a password, which a key has left that is not told',
      'notFound',
      focuses(3, { cause: (builder) => intoPassword(builder) && builder.wait(3_000) }),
    ],
    ['a field long after a password', 'found', focuses(3, { cause: both(intoPassword, outOfPassword, later) })],
    ['passwords that a program types', 'notMeasured', (builder) => times(3, () => intoPassword(builder.wait(4_000)))],
    ['half of the fields', 'found', both(focuses(2), focuses(2, { laterMs: 400 }))],
    ['two of five', 'notFound', both(focuses(2), focuses(3, { laterMs: 400 }))],
    ['one of two', 'notFound', both(focuses(1), focuses(1, { laterMs: 400 }))],
  ],
  'page-jumps': [
    ['jumps to what is pressed', 'found', jumps(3)],
    [
      'jumps after a click on a link',
      'notFound',
      jumps(3, { before: (builder) => builder.press(100, 100, 80).wait(900) }),
    ],
    ['jumps by a key', 'notFound', jumps(3, { before: (builder) => builder.key('other', 80) })],
    ['touch', 'notFound', jumps(3, { before: touch })],
    [
      'a wheel, which is told of later',
      'notFound',
      jumps(3, { after: (builder) => builder.add(EventCode.Wheel, { deltaY: 800 }) }),
    ],
    [
      'a wheel that turned before',
      'notFound',
      jumps(3, { before: (builder) => builder.add(EventCode.Wheel, { deltaY: 800 }) }),
    ],
    ['a page that is shown again', 'notFound', jumps(3, { before: (builder) => builder.add(EventCode.Visibility) })],
    ['a screen reader that reads on', 'notFound', jumps(3, { pressAfterMs: 3_000 })],
    ['a screen reader that presses what it reads', 'notFound', jumps(3, { fields: { pressurePercent: 0 } })],
    [
      'jumps to exact middles, as of voice control',
      'notMeasured',
      jumps(3, { fields: { offsetX10: 0, offsetY10: 0 } }),
    ],
    ['one odd jump', 'notFound', both(jumps(1), jumps(2, { before: touch }))],
    ['smooth scrolling', 'notMeasured', jumps(3, { steps: 20 })],
    ['typing a password that was out of sight', 'notFound', jumps(3, { before: both(intoPassword, later) })],
    [
      'a key that leaves a password for what is out of sight',
      'notFound',
      jumps(3, { before: both(intoPassword, later, outOfPassword) }),
    ],
    ['a password that was left long ago', 'found', jumps(3, { before: both(intoPassword, outOfPassword, later) })],
    ['small steps', 'notMeasured', jumps(3, { px: 200 })],
    ['the first scroll of a page', 'notMeasured', (builder) => builder.wait(4_000).add(EventCode.Scroll, { y: 900 })],
    ['two jumps', 'found', jumps(2)],
    ['jumps of 300 pixels', 'found', jumps(2, { px: 300 })],
    ['jumps that are a little shorter', 'notMeasured', jumps(2, { px: 299 })],
    ['half of the jumps', 'found', both(jumps(2), jumps(1, { before: touch }))],
    ['two of five', 'notFound', both(jumps(2), jumps(2, { before: touch }))],
    [
      'one jump of two',
      'notFound',
      both(jumps(1), (builder) => builder.wait(4_000).add(EventCode.Scroll, { y: 3_000 })),
    ],
  ],
  'act-think': [
    ['pauses without any sign of life', 'found', pauses(3)],
    ['pauses with a moving mouse', 'notFound', pauses(3, (builder) => builder.move(50, 60))],
    ['pauses with scrolling', 'notFound', pauses(3, (builder) => builder.add(EventCode.Scroll, { y: 40 }))],
    [
      'a mouse that comes slowly',
      'notFound',
      pauses(3, (builder) => times(12, (i) => builder.wait(120).move(40 * i, 300))),
    ],
    ['typing', 'notMeasured', pauses(3, (builder) => builder.key('letter', 80))],
    ['dictating', 'notMeasured', pauses(3, (builder) => builder.add(EventCode.Input, { field: 1 }))],
    ['typing a password, of which nothing is told', 'notMeasured', pauses(3, intoPassword)],
    [
      'the same, if a key leaves the password before the press',
      'notMeasured',
      pauses(3, both(intoPassword, outOfPassword)),
    ],
    ['pauses on the page after a password', 'found', both(intoPassword, pageTurn, pauses(3))],
    [
      'pauses after a key that is told, so that it was elsewhere',
      'found',
      both(intoPassword, (builder) => builder.key('letter', 80), pauses(3)),
    ],
    ['pauses after another field than a password', 'found', both(intoPassword, outOfPassword, pauses(3))],
    ['few pauses', 'notMeasured', pauses(2)],
    ['presses that a script made', 'notMeasured', pauses(9, nothing, { flags: 0 })],
    ['a screen reader on a slow page', 'notMeasured', pauses(9, nothing, { pressurePercent: 0 })],
    [
      'a button that is pressed again',
      'notMeasured',
      (builder) => times(9, () => builder.wait(3_000).press(300, 300, 80)),
    ],
    ['touch', 'notMeasured', (builder) => times(9, (i) => builder.wait(3_000).press(90 * i, 300, 80, { pointer: 2 }))],
    ['keyboard only', 'notMeasured', (builder) => times(20, () => builder.wait(3_000).key('tab', 80))],
    [
      'seven of ten pauses',
      'found',
      both(
        pauses(7),
        pauses(2, (builder) => builder.move(50, 60)),
      ),
    ],
    [
      'seven of eleven',
      'notFound',
      both(
        pauses(7),
        pauses(3, (builder) => builder.move(50, 60)),
      ),
    ],
    ['pauses with a finger on the screen', 'notFound', pauses(3, touch)],
    ['pauses with a wheel', 'notFound', pauses(3, (builder) => builder.add(EventCode.Wheel, { deltaY: 40 }))],
    ['pauses with a copy', 'notFound', pauses(3, (builder) => builder.add(EventCode.Clipboard, { kind: 1 }))],
  ],
};
