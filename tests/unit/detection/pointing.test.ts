import { describe, expect, it } from 'vitest';
import { ELEMENT_ROLES, EVENT_FLAGS, EventCode } from '../../../contract/beacon';
import type { Deeds, Press } from '../../../server/detection/deeds';
import { readTrace } from '../../../server/detection/segments';
import { buildTrace, DESKTOP, TraceBuilder } from '../../support/trace';

// What is measured of a pointer, each time and distance on both sides of its limit.

type Build = (builder: TraceBuilder) => unknown;
type Fields = Parameters<TraceBuilder['press']>[3];

/** Lists deeds of one kind on a page that was loaded ten seconds ago. */
function list<Kind extends 'presses' | 'focuses' | 'pauses' | 'jumps' | 'untrustedClicks'>(kind: Kind, build: Build) {
  const builder = new TraceBuilder().wait(10_000);
  build(builder);
  return readTrace(buildTrace(builder)).segments.flatMap(({ deeds }) => deeds[kind] as Deeds[Kind][number][]);
}

const roleOf = (role: (typeof ELEMENT_ROLES)[number]) => ELEMENT_ROLES.indexOf(role);
const BUTTON = roleOf('button');
const focusOn = (builder: TraceBuilder, role: (typeof ELEMENT_ROLES)[number] = 'button') =>
  builder.add(EventCode.Focus, { field: -1, role: roleOf(role) });
const typeAtOnce: Build = (builder) => builder.wait(1).add(EventCode.Input, { field: 7, insertedLength: 4 });
const FAR = { width: 400, height: 300, offsetX10: 5_000, offsetY10: 5_000 };
const ON_PIXEL = { x10: 4_000, y10: 3_000, screenX10: 85 };

describe('a press', () => {
  it.each<[what: string, fields: Fields, expected: Partial<Press>]>([
    ['in the middle of a small element', { offsetX10: 0, offsetY10: 0, width: 10, height: 10 }, { isCentred: true }],
    ['on a narrower one', { offsetX10: 0, offsetY10: 0, width: 9, height: 10 }, { isCentred: null }],
    ['on a lower one', { offsetX10: 0, offsetY10: 0, width: 10, height: 9 }, { isCentred: null }],
    ['a pixel from the middle', { offsetX10: -10, offsetY10: 10 }, { isCentred: true }],
    ['farther to the side', { offsetX10: -11, offsetY10: 10 }, { isCentred: false }],
    ['farther down', { offsetX10: -10, offsetY10: 11 }, { isCentred: false }],
    ['with the least pressure', { pressurePercent: 1 }, { hasPressure: true }],
    ['without pressure', { pressurePercent: 0 }, { hasPressure: false }],
    ['between columns of pixels', { x10: 4_001 }, { isFractional: true }],
    ['between rows', { y10: 3_001 }, { isFractional: true }],
    ['on a pixel', { x10: 4_000, y10: 3_000 }, { isFractional: false, place: { x: 400, y: 300 } }],
    ['between pixels of the page and of the screen', { x10: 4_002, screenX10: 80 }, { isBetweenPixels: true }],
    ['the same upright', { x10: 4_000, y10: 3_008, screenY10: 870 }, { isBetweenPixels: true }],
    ['next to one of the screen', { x10: 4_002, screenX10: 79, y10: 3_000 }, { isBetweenPixels: false }],
    ['next to one on the other side', { x10: 4_008, screenX10: 81, y10: 3_000 }, { isBetweenPixels: false }],
    ['on a pixel of the page that is none of the screen', ON_PIXEL, { isBetweenPixels: false }],
    ['left of the screen', { x10: -4_003, screenX10: 1, y10: 3_000 }, { isBetweenPixels: true }],
    ['on a screen', { screenX10: 87, screenY10: 871 }, { screenOffset: { x: 8.7, y: 87.1 } }],
    ['on an element', { width: 120, height: 30 }, { areaPx: 3_600, offset10: { x: 213, y: -57 } }],
    ['at the origin, far from its element', { ...FAR, x10: 0, y10: 0 }, { isNowhere: true }],
    ['at the side', { ...FAR, x10: 0, y10: 1 }, { isNowhere: false }],
    ['at the top', { ...FAR, x10: 1, y10: 0 }, { isNowhere: false }],
    [
      'at the corner of its element',
      { ...FAR, x10: 0, y10: 0, offsetX10: -2_000, offsetY10: 1_500 },
      { isNowhere: false },
    ],
    ['right of it', { ...FAR, x10: 0, y10: 0, offsetX10: 2_001, offsetY10: 0 }, { isNowhere: true }],
    ['above it', { ...FAR, x10: 0, y10: 0, offsetX10: 0, offsetY10: -1_501 }, { isNowhere: true }],
  ])('%s', (_, fields, expected) => {
    expect(list('presses', (builder) => builder.press(0, 0, 80, fields))).toMatchObject([expected]);
  });

  /** A second press, so far from the first one and so much later, after moves. */
  const pressAgain = (px: number, { afterMs = 2_000, moves = 0, between = (() => 0) as Build } = {}) =>
    list('presses', (builder) => {
      builder.press(100, 300, 50).wait(afterMs - 50);
      for (let i = 0; i < moves; i++) builder.move(100 + i, 300);
      between(builder);
      builder.press(100 + px, 300, 50);
    })[1];

  it.each<[what: string, isApproached: boolean | null, press: Press | undefined]>([
    ['far from the one before', false, pressAgain(30)],
    ['near it', null, pressAgain(29.9)],
    ['soon after it', null, pressAgain(300, { afterMs: 499.9 })],
    ['not so soon', false, pressAgain(300, { afterMs: 500 })],
    ['after two moves', false, pressAgain(300, { moves: 2 })],
    ['after three', true, pressAgain(300, { moves: 3 })],
    [
      'after moves that were only counted',
      true,
      pressAgain(300, { between: (b) => b.add(EventCode.MoveSummary, { count: 3 }) }),
    ],
    [
      'after moves of which no summary tells',
      true,
      pressAgain(300, { between: (b) => [1, 2, 3].map((dx) => b.add(EventCode.Move, { dx })) }),
    ],
    ['after the page was left', null, pressAgain(300, { between: (b) => b.add(EventCode.Leave) })],
  ])('%s is approached: %s', (_, isApproached, press) => {
    expect(press!.isApproached).toBe(isApproached);
  });

  it('has moved if the mouse moved at all since the one before', () => {
    expect([0, 1].map((moves) => pressAgain(300, { moves })!.hasMoved)).toEqual([false, true]);
  });

  it('is held for as long as the device says, if a device released it', () => {
    const release = (fields: { held10?: number; flags?: number }) => (builder: TraceBuilder) =>
      builder.add(EventCode.Press).wait(80).add(EventCode.Release, fields).add(EventCode.Release, { held10: 70 });
    const holds = [{ held10: 0 }, { held10: 805 }, { held10: -1 }, { held10: 805, flags: 0 }].map(
      (fields) => list('presses', release(fields))[0]!.heldMs,
    );
    expect(holds).toEqual([0, 80.5, null, 7]);
  });
});

describe('the focus', () => {
  const flags = EVENT_FLAGS.trusted;
  /** A press of a button without pressure, and what comes before, while it is held and after it. */
  const pressButton = (parts: { before?: Build; held?: Build; after?: Build; fields?: Fields; isMoved?: boolean }) => {
    const press = list('presses', (builder) => {
      parts.before?.(builder);
      if (parts.isMoved) builder.move(100, 100);
      builder.press(300, 300, 0.2, { pressurePercent: 0, role: BUTTON, flags, ...parts.fields }, () =>
        parts.held?.(builder),
      );
      parts.after?.(builder);
    }).at(-1)!;
    return [press.isFocusedBefore, press.isOfPointer];
  };
  const NEITHER = [false, false];
  const LINK = { role: roleOf('link') };
  const label: Build = (builder) => focusOn(builder, 'label');
  const pressBefore: Build = (builder) => focusOn(builder.press(300, 300, 50, { role: BUTTON })).wait(900);
  const zoom: Build = (builder) =>
    builder.send().send({ e: { ...DESKTOP, v: [1400, 900, 1120, 650, 1920, 1080, 1053, 120, 40, 1250] } });
  const later =
    (ms: number): Build =>
    (builder) =>
      focusOn(builder.wait(ms));

  it.each<[what: string, seen: boolean[], parts: Parameters<typeof pressButton>[0]]>([
    ['nothing', NEITHER, {}],
    ['came before', [true, false], { before: focusOn }],
    ['came before to another kind of element', NEITHER, { before: focusOn, fields: LINK }],
    ['came before to what takes none by itself', NEITHER, { before: label, fields: { role: roleOf('label') } }],
    ['came from the press before', NEITHER, { before: pressBefore }],
    ['came before, between two pixels', [true, false], { before: focusOn, fields: { x10: 3_005 } }],
    ['did not come, between two pixels', [false, true], { fields: { x10: 3_005 } }],
    ['did not come, between two pixels of a page that was zoomed', NEITHER, { before: zoom, fields: { x10: 3_005 } }],
    ['came while the button was held', [false, true], { held: focusOn }],
    ['came after an instant press', NEITHER, { after: focusOn }],
    ['came after a press to which the mouse moved', [false, true], { after: focusOn, isMoved: true }],
    ['came in time', [false, true], { after: later(299.8), isMoved: true }],
    ['came too late', NEITHER, { after: later(300), isMoved: true }],
    ['came to another kind of element', NEITHER, { after: (b) => focusOn(b, 'link'), isMoved: true }],
    [
      'came to another one, and then to this kind',
      NEITHER,
      { after: (b) => focusOn(focusOn(b, 'link')), isMoved: true },
    ],
    ['came to what takes none by itself', NEITHER, { after: label, fields: { role: roleOf('label') }, isMoved: true }],
    ['came before and after, so it tells nothing', NEITHER, { before: focusOn, held: focusOn }],
  ])('%s', (_, seen, parts) => {
    expect(pressButton(parts)).toEqual(seen);
  });

  it.each<[what: string, hasCause: boolean, cause: Build]>([
    ['a press', true, (b) => b.press(1, 1, 0.1).wait(1_000)],
    ['a press too long ago', false, (b) => b.press(1, 1, 0.1).wait(1_000.1)],
    ['a press that is not over', true, (b) => b.add(EventCode.Press).wait(900)],
    ['a press of a script', false, (b) => b.add(EventCode.Press, { flags: 0 }).wait(900)],
    ['a release after a second', true, (b) => b.add(EventCode.Press).wait(3_000).add(EventCode.Release).wait(900)],
    [
      'a release of a script',
      false,
      (b) => b.add(EventCode.Press).wait(3_000).add(EventCode.Release, { flags: 0 }).wait(900),
    ],
    ['a key', true, (b) => b.key('tab', 80).wait(920)],
    ['a key too long ago', false, (b) => b.key('tab', 80).wait(920.1)],
    ['a field that is full', true, (b) => b.key('letter', 10).wait(40)],
    ['a field that was full before', false, (b) => b.key('letter', 10).wait(40.1)],
    ['a new page', true, (b) => b.page('https://lms.example.edu/2', 1).wait(2_000)],
    ['a page for longer', false, (b) => b.page('https://lms.example.edu/2', 1).wait(2_000.1)],
    ['a page that is shown again', true, (b) => b.add(EventCode.Visibility).wait(2_000)],
    ['a page that is shown for longer', false, (b) => b.add(EventCode.Visibility).wait(2_000.1)],
    ['a click that was not told as a press', true, (b) => b.add(EventCode.Click).wait(900)],
    ['a click of a script', false, (b) => b.add(EventCode.Click, { flags: 0 }).wait(900)],
  ])('of a field has a cause in %s: %s', (_, hasCause, cause) => {
    const focuses = list('focuses', (builder) => {
      cause(builder);
      builder.add(EventCode.Focus, { field: 7, role: roleOf('input') });
      typeAtOnce(builder);
    });
    expect(focuses).toMatchObject([{ hasCause, isTypedAtOnce: true }]);
  });
});

it.each<[what: string, isTypedAtOnce: boolean, write: Build]>([
  ['a key', true, (b) => b.wait(150).key('letter', 80)],
  ['a key after a moment', false, (b) => b.wait(150.1).key('letter', 80)],
  ['a key that writes nothing', false, (b) => b.wait(5).key('tab', 80)],
  ['text', true, (b) => b.wait(150).add(EventCode.Input, { field: 7 })],
  ['text after a moment', false, (b) => b.wait(150.1).add(EventCode.Input, { field: 7 })],
])('a field is typed into at once with %s: %s', (_, isTypedAtOnce, write) => {
  const focuses = list('focuses', (builder) =>
    write(builder.add(EventCode.Focus, { field: 7, role: roleOf('input') })),
  );
  expect(focuses).toMatchObject([{ isTypedAtOnce }]);
});

describe('a pause before a press', () => {
  /** How a pause of so many milliseconds is seen; `stir` is what happens in it, so long before the press. */
  const pause = (ms: number, { stir = (() => 0) as Build, stirMs = 0 } = {}) =>
    list('pauses', (builder) => {
      builder.press(100, 300, 50).wait(ms - 50 - stirMs);
      stir(builder);
      builder.wait(stirMs).press(600, 300, 50);
    }).map(({ isSilent }) => isSilent);
  const scroll: Build = (builder) => builder.add(EventCode.Scroll, { y: 9 });

  it.each<[what: string, seen: boolean[], pauses: boolean[]]>([
    ['is one', [true], pause(1_500)],
    ['is too short', [], pause(1_499.9)],
    [
      'is none while somebody may type a password',
      [],
      pause(3_000, { stir: (b) => focusOn(b, 'input'), stirMs: 2_000 }),
    ],
    ['ends with what belongs to the press', [true], pause(2_000, { stir: scroll, stirMs: 150 })],
    ['ends before it', [false], pause(2_000, { stir: scroll, stirMs: 150.1 })],
    ['begins with what belongs to the press before', [true], pause(2_000, { stir: scroll, stirMs: 1_700 })],
    ['begins after it', [false], pause(2_000, { stir: scroll, stirMs: 1_699.9 })],
    ['ends with a few moves', [true], pause(2_000, { stir: (b) => b.add(EventCode.MoveSummary, { count: 8 }) })],
    ['ends with more', [false], pause(2_000, { stir: (b) => b.add(EventCode.MoveSummary, { count: 9 }) })],
  ])('%s', (_, seen, pauses) => {
    expect(pauses).toEqual(seen);
  });
});

describe('a jump of the page', () => {
  const jump = (before: Build, { px = 800, restMs = 5_000, after = (() => 0) as Build } = {}) =>
    list('jumps', (builder) => {
      builder.add(EventCode.Scroll, { y: 10 });
      before(builder.wait(restMs));
      builder.add(EventCode.Scroll, { y: 10 + px });
      after(builder);
    }).map(({ hasCause, isUsed }) => [hasCause, isUsed]);
  const nothing: Build = () => 0;
  const pressAfter =
    (ms: number, fields: Fields = {}): Build =>
    (builder) =>
      builder.wait(ms).press(300, 300, 80, fields);
  const wheelAfter =
    (ms: number): Build =>
    (builder) =>
      builder.wait(ms).add(EventCode.Wheel, { deltaY: 800 });
  const keyBefore =
    (ms: number): Build =>
    (builder) =>
      builder.key('other', 1).wait(ms - 1);

  it.each<[what: string, seen: boolean[][], jumps: boolean[][]]>([
    ['without a cause', [[false, false]], jump(nothing)],
    ['upwards', [[false, false]], jump(nothing, { px: -300 })],
    ['of less', [], jump(nothing, { px: 299 })],
    ['from rest', [[false, false]], jump(nothing, { restMs: 500 })],
    ['from movement', [], jump(nothing, { restMs: 499.9 })],
    ['after a key', [[true, false]], jump(keyBefore(2_000))],
    ['after a key long ago', [[false, false]], jump(keyBefore(2_000.1))],
    ['after a copy', [[true, false]], jump((b) => b.add(EventCode.Clipboard, { kind: 1 }))],
    ['after a new page', [[true, false]], jump((b) => b.page('https://lms.example.edu/2', 1))],
    ['to what is pressed', [[false, true]], jump(nothing, { after: pressAfter(1_500) })],
    ['to what is pressed later', [[false, false]], jump(nothing, { after: pressAfter(1_500.1) })],
    ['to what a finger presses', [[false, false]], jump(nothing, { after: pressAfter(9, { pointer: 2 }) })],
    ['that a wheel explains', [[true, false]], jump(nothing, { after: wheelAfter(100) })],
    ['that a wheel does not', [[false, false]], jump(nothing, { after: wheelAfter(100.1) })],
  ])('%s', (_, seen, jumps) => {
    expect(jumps).toEqual(seen);
  });
});

describe('a click that a script made on a form control', () => {
  const clickAt = (builder: TraceBuilder, role: (typeof ELEMENT_ROLES)[number] = 'radio') =>
    builder.add(EventCode.Click, { flags: 0, role: roleOf(role) });
  const countClicks = (build: Build) => list('untrustedClicks', build).length;

  it.each<[what: string, count: number, build: Build]>([
    ['counts', 1, (b) => clickAt(b)],
    ['counts on a label', 1, (b) => clickAt(b, 'label')],
    ['does not count on a link', 0, (b) => clickAt(b, 'link')],
    ['counts three seconds after a new page', 1, (b) => clickAt(b.wait(-7_000))],
    ['does not count before', 0, (b) => clickAt(b.wait(-7_000.1))],
    ['counts a second after a press', 1, (b) => clickAt(b.press(1, 1, 80).wait(1_000))],
    ['does not count before', 0, (b) => clickAt(b.press(1, 1, 80).wait(999.9))],
    ['counts a second after a character', 1, (b) => clickAt(b.key('letter', 80).wait(920))],
    ['does not count before', 0, (b) => clickAt(b.key('letter', 80).wait(919.9))],
    ['counts again after 300 ms', 2, (b) => clickAt(clickAt(b).wait(300))],
    ['does not count again before', 1, (b) => clickAt(clickAt(b).wait(299.9))],
  ])('%s', (_, count, build) => {
    expect(countClicks(build)).toBe(count);
  });

  it.each([
    ['a move', EventCode.Move],
    ['another event', EventCode.Alive],
  ])('is of the page itself three seconds after the first event, if no page was told: %s', (_, first) => {
    const counts = [2_999.9, 3_000].map((ms) => {
      const builder = clickAt(new TraceBuilder({ url: null }).add(first).wait(ms));
      return readTrace(buildTrace(builder)).segments[0]!.deeds.untrustedClicks.length;
    });
    expect(counts).toEqual([0, 1]);
  });
});
