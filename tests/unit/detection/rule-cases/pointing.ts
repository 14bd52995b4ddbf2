import { ELEMENT_ROLES, EventCode } from '../../../../contract/beacon';
import { CHROME, CHROME_OS, FIREFOX, IPHONE, MACINTOSH, type TraceBuilder, WINDOWS } from '../../../support/trace';
import {
  again,
  type Build,
  both,
  type Case,
  keys,
  moves,
  nothing,
  PHONE,
  pageTurn,
  presses,
  sizes,
  times,
  touches,
  WINDOW,
} from './builds';

/** Moves of a pointer that the page has locked: its place stays, whatever the mouse says. */
const locked =
  (count: number): Build =>
  (builder) => {
    builder.summarise();
    times(count, () => builder.wait(15).move(329, 300, { mismatched: true }));
    builder.summarise();
  };
/** Presses as Chromium makes them for assistive technology, at changing places. */
const simulated = (count: number, moves = 0, heldMs = 0.2): Build =>
  presses(count, { pressurePercent: 0, offsetX10: 0, offsetY10: 0 }, { moves, heldMs: () => heldMs });
/** Presses as programs make them through the DevTools protocol. */
const driven = (count: number, fields: Parameters<TraceBuilder['press']>[3] = {}): Build =>
  presses(count, { pressurePercent: 0, ...fields }, { moves: 1, heldMs: () => 0.2, focus: 'after' });
const pressByScript: Build = (builder) => builder.add(EventCode.Press, { flags: 0 });
/** The same on a page whose script presses after each of them, before the focus comes. */
const repressed = (count: number): Build =>
  presses(count, { pressurePercent: 0 }, { heldMs: () => 0.2, react: pressByScript, focus: 'after' });
/** Presses as those for assistive technology, but next to the middle. */
const aside = (heldMs: number): Build => presses(6, { pressurePercent: 0 }, { moves: 0, heldMs: () => heldMs });
/** A press far away, whose release the page does not tell. */
const unreleased: Build = (builder) =>
  builder.wait(900).add(EventCode.Press, { x10: 9_000, pressurePercent: 0, ...CENTRE });
/** Instant presses, of which so many come at whole tenths of a second. */
const rounded =
  (count: number, whole: number): Build =>
  (builder) => {
    builder.wait(1_000 - builder.timeMs);
    times(count, (i) => builder.wait(i < whole ? 900 : 900.7).press(i % 2 === 0 ? 200 : 600, 300, 0, CENTRE));
  };
/** The same on elements that have no place of their own. */
const links = (count: number, moves = 0): Build =>
  presses(
    count,
    { pressurePercent: 0, x10: 0, y10: 0, offsetX10: -1_630, offsetY10: -2_000 },
    { moves, heldMs: (i) => 1 + 9 * i },
  );
const FRACTION = { x10: 2_005, y10: 3_005 };
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Safari/605.1.15';
const ANDROID = CHROME.replace('X11; Linux x86_64', 'Linux; Android 7.1.2; Tablet');
/** Browsers of makers of phones, and UC Browser, say so. */
const MIUI = ANDROID.replace('Linux; Android', 'Linux; U; Android');
/** A maximised window on a screen at 125 %, whose page is at 80 %. */
const ZOOMED_OUT = [1536, 824, 1900, 920, 1536, 864, 824, 0, 0, 1000];
const widths = (outer: number, inner: number) => sizes([outer, 900, inner, ...WINDOW.slice(3)]);
/** Between two pixels, at changing places. */
const BETWEEN = { y10: 3_005 };
const MIDDLE = { ...FRACTION, offsetX10: 0, offsetY10: 0 };
const CENTRE = { offsetX10: 0, offsetY10: 0 };
/** Too small to say whether its middle was met. */
const SMALL = { ...CENTRE, width: 9, height: 9 };
/** Two presses between pixels, so far apart. */
const apart =
  (px: number): Build =>
  (builder) =>
    [0, px].map((x) => builder.wait(900).press(200.5 + x, 300, 80));

/**
 * Presses where the mouse came to rest, in the middle of a button between two pixels. `between` is what happens between two of them.
 */
const resting = (between: Build = nothing, heldMs = (i: number) => 60 + 17 * i): Build =>
  both(presses(1, MIDDLE, { heldMs }), (builder) =>
    times(9, (i) => {
      builder.wait(900);
      between(builder);
      builder.press(200.5, 300.5, heldMs(i), MIDDLE);
    }),
  );
const scroll: Build = (builder) => builder.add(EventCode.Scroll, { y: builder.timeMs }).wait(200);
/** The pixel sorts by time, and a wheel is turned before the page moves. */
const turnWheel: Build = (builder) =>
  builder
    .add(EventCode.Wheel, { deltaY: 300, count: 3 })
    .wait(10)
    .add(EventCode.Scroll, { y: builder.timeMs })
    .wait(200);
/** A program sends the mouse to where it is. */
const stay: Build = (builder) => builder.move(201, 301);
/** A hand that drifts, and one that goes aside and comes back. */
const drift: Build = (builder) => builder.move(202, 302).move(201, 301);
const leave: Build = (builder) => builder.move(205, 301).move(201, 301);

/** Taps that are held as long as software says, to the millisecond of the X server. */
const taps = (heldMs: number): Build => presses(6, {}, { heldMs: (i) => heldMs + (i % 2) });

/** Two presses on whole pixels of the screen, so far apart, over a page that is pinched a little. */
const pinched =
  (scale: number, px: number): Build =>
  (builder) =>
    times(2, (i) => {
      const [x, y] = [(411 + i * px) / scale, 237 / scale];
      const offsets = { screenX10: Math.round((419 + i * px - x) * 10), screenY10: Math.round((324 - y) * 10) };
      builder.wait(900).press(x, y, 80, offsets);
    });
const pages = (count: number, build: Build): Build =>
  both(...Array.from({ length: count }, () => both(build, pageTurn)));

const below =
  (px: number): Build =>
  (builder) =>
    [0, px].map((y) => builder.wait(900).press(300, 200.5 + y, 80));

/** The cases of the rules on how a pointer moves and presses, by flag. */
export const POINTING_CASES: Record<string, Case[]> = {
  'zero-pressure': [
    ['presses without pressure', 'found', driven(2)],
    ['presses that a script repeats before the focus comes', 'found', repressed(2)],
    ['presses without pressure between pixels', 'found', presses(2, { ...FRACTION, pressurePercent: 0 })],
    [
      'a program that holds the button, without a move',
      'found',
      (builder) =>
        times(2, (i) =>
          builder
            .wait(900)
            .press(200 + 300 * i, 300, 30, { pressurePercent: 0 }, () =>
              builder.wait(2).add(EventCode.Focus, { role: 3 }),
            ),
        ),
    ],
    ['presses of a mouse', 'notFound', presses(2)],
    ['fewer than half', 'notFound', both(presses(3), presses(1, { pressurePercent: 0 }))],
    ['one press', 'notMeasured', presses(1, { pressurePercent: 0 })],
    ['a screen reader, and a mouse that moved before some presses', 'notMeasured', both(simulated(6), simulated(6, 1))],
    ['a program that presses in the middle, after moves', 'found', driven(3, { offsetX10: 0, offsetY10: 0 })],
    ['a program that also presses what takes no focus', 'found', both(simulated(4, 1), driven(2))],
    ['a screen reader on a page that moves the focus once', 'notMeasured', both(simulated(4, 1), driven(1))],
    ['a screen reader with a pointer that follows it', 'notMeasured', simulated(6, 1)],
    [
      'a screen reader that presses next to the middle',
      'notMeasured',
      presses(4, { pressurePercent: 0 }, { moves: 0, heldMs: (i) => 2 + i, focus: 'before' }),
    ],
    [
      'a screen reader on a page that puts the focus on the next button',
      'notMeasured',
      both(
        presses(6, { pressurePercent: 0 }, { moves: 4, focus: 'before' }),
        presses(6, { pressurePercent: 0 }, { moves: 0, heldMs: () => 0.2, focus: 'after' }),
      ),
    ],
    [
      'a screen reader where a pixel of the page is more than one of the screen',
      'notMeasured',
      presses(6, { ...FRACTION, pressurePercent: 0 }, { moves: 4 }),
      sizes([...WINDOW.slice(0, 9), 1250]),
    ],
    ['a screen reader on a page whose scripts take their time', 'notMeasured', simulated(6, 0, 60)],
    ['a screen reader that opens links in lines of text', 'notMeasured', both(links(6), links(6, 3))],
    ['a program that drives Firefox', 'found', driven(2), {}, FIREFOX],
    [
      'Firefox on a Macintosh, where a short tap has none',
      'notMeasured',
      driven(9),
      {},
      FIREFOX.replace('X11; Linux x86_64', 'Macintosh'),
    ],
    ['Safari, where what is pressed gets the focus', 'notMeasured', driven(9, BETWEEN), {}, SAFARI],
    ['Chrome on Android, where it does', 'notMeasured', driven(9, BETWEEN), {}, ANDROID],
    ['Safari, which reported no pressure', 'notMeasured', presses(9, { pressurePercent: 0 }), {}, SAFARI],
    ['Chrome on Android, which reported none', 'notMeasured', presses(9, { pressurePercent: 0 }), {}, ANDROID],
    ['Chrome on Android that asks for the desktop site', 'notMeasured', driven(9), { h: [8, 4, 5, 0] }],
    ['a program that presses twice at one place', 'found', both(driven(3), again(3))],
    ['a phone whose keys move a pointer', 'notMeasured', driven(9), {}, FIREFOX.replace('X11; Linux x86_64', 'Mobile')],
    ['touch', 'notMeasured', presses(3, { pressurePercent: 0, pointer: 2 })],
    ['a pen', 'notMeasured', presses(3, { pressurePercent: 0, pointer: 1 })],
    ['presses that a script made', 'notMeasured', presses(3, { pressurePercent: 0, flags: 0 })],
    ['half of the presses', 'found', both(presses(2), driven(2))],
    ['two of five', 'notFound', both(presses(3), driven(2))],
    ['the same with a screen for one finger', 'notMeasured', driven(9), { h: [8, 4, 1, 0] }],
    ['Linux with a screen of which that is not known', 'notMeasured', driven(9), { h: [8, 4, -1, 0] }],
    ['Linux without an environment', 'notMeasured', driven(9), null],
    ['Windows without an environment', 'found', driven(9, BETWEEN), null, WINDOWS],
    ['a laptop with Windows and a touch screen', 'found', driven(9), { h: [8, 4, 10, 0] }, WINDOWS],
    [
      'a screen reader on a page that moves the focus to another button while it presses',
      'notMeasured',
      (builder) =>
        times(3, (i) => {
          const focusButton = () => builder.add(EventCode.Focus, { field: -1, role: ELEMENT_ROLES.indexOf('button') });
          builder.wait(900);
          focusButton()
            .wait(0.4)
            .press(200 + 300 * i, 300, 0.2, { pressurePercent: 0 }, focusButton);
        }),
    ],
  ],
  'fractional-coordinates': [
    ['a mouse between pixels on Windows', 'found', presses(2, { y10: 3_005 }), {}, WINDOWS],
    ['near one place, where a pinched page does not show', 'notMeasured', presses(9, FRACTION), {}, WINDOWS],
    ['whole pixels on Windows', 'notFound', presses(2), {}, WINDOWS],
    ['one press', 'notMeasured', presses(1, FRACTION), {}, WINDOWS],
    ['the exact middle between pixels', 'found', presses(3, MIDDLE)],
    ['a mouse on Wayland', 'notFound', presses(9, FRACTION)],
    ['a mouse on Wayland that meets the middle by chance', 'notFound', both(presses(3, MIDDLE), presses(1, FRACTION))],
    ['a mouse on ChromeOS', 'notMeasured', presses(9, MIDDLE), {}, CHROME_OS],
    ['a mouse on ChromeOS, at several places', 'notMeasured', presses(9, BETWEEN), {}, CHROME_OS],
    ['a mouse on Wayland, at several places', 'notFound', presses(9, BETWEEN)],
    ['a mouse on a Macintosh, at several places', 'notMeasured', presses(9, BETWEEN), {}, MACINTOSH],
    ['a mouse on Android', 'notMeasured', presses(9, MIDDLE), {}, ANDROID],
    ['a mouse on Android, in a browser of its maker', 'notMeasured', presses(9, MIDDLE), {}, MIUI],
    ['one press of five on Windows', 'found', both(presses(4), presses(1, BETWEEN)), {}, WINDOWS],
    ['one press of six on Windows', 'notFound', both(presses(5), presses(1, BETWEEN)), {}, WINDOWS],
    ['two places 64 pixels apart on Windows', 'found', apart(64), {}, WINDOWS],
    ['two places that are closer on Windows', 'notMeasured', apart(63.9), {}, WINDOWS],
    ['the exact middle, four times of five', 'found', both(presses(4, MIDDLE), presses(1, FRACTION))],
    ['the exact middle, twice', 'notMeasured', presses(2, MIDDLE)],
    ['the exact middle on whole pixels', 'notFound', presses(9, CENTRE)],
    [
      'a lens that follows a mouse on Wayland',
      'notMeasured',
      presses(9, { ...MIDDLE, role: ELEMENT_ROLES.indexOf('other') }),
    ],
    ['a picture that does', 'notMeasured', presses(9, { ...MIDDLE, role: ELEMENT_ROLES.indexOf('media') })],
    ['the exact middle of labels', 'found', presses(3, { ...MIDDLE, role: ELEMENT_ROLES.indexOf('label') })],
    ['a mouse on Wayland that rests in the middle', 'notMeasured', resting()],
    ['one that comes back to it', 'found', resting(leave)],
    ['two places 64 pixels above each other on Windows', 'found', below(64), {}, WINDOWS],
    ['two places that are closer above each other on Windows', 'notMeasured', below(63.9), {}, WINDOWS],
    ...[{ screenX10: 49 }, { screenX10: 111 }, { screenY10: 839 }, { screenY10: 901 }].map(
      (offset): Case => [
        `a page that is pinched for a while: ${JSON.stringify(offset)}`,
        'notMeasured',
        both(presses(2, BETWEEN), presses(1, { ...BETWEEN, ...offset }), presses(2, BETWEEN)),
        {},
        WINDOWS,
      ],
    ),
    ...[1.003, 1.005, 1.01, 1.015, 1.03].flatMap((scale): Case[] => [
      [`a page that is pinched to ${scale}`, 'notFound', pinched(scale, 90), {}, WINDOWS],
      [
        `pages that are pinched to ${scale}, with two presses each`,
        'notFound',
        pages(8, pinched(scale, 70)),
        {},
        WINDOWS,
      ],
    ]),
    ['a page at 80 % on a screen at 125 %', 'notMeasured', presses(3, BETWEEN), sizes(ZOOMED_OUT), WINDOWS],
    ['another pixel ratio', 'notMeasured', presses(3, BETWEEN), sizes([...WINDOW.slice(0, 9), 1250]), WINDOWS],
    [
      'a page that sets its pixel ratio',
      'notMeasured',
      presses(3, BETWEEN),
      sizes([...WINDOW.slice(0, 9), -1]),
      WINDOWS,
    ],
    [
      'a page that is not, whose offsets are rounded',
      'found',
      both(presses(2, BETWEEN), presses(1, { ...BETWEEN, screenX10: 110 })),
      {},
      WINDOWS,
    ],
    ['a frame', 'notMeasured', presses(3, BETWEEN), { b: 1 }, WINDOWS],
    ['a pen', 'notMeasured', both(presses(2, BETWEEN), presses(1, { pointer: 1 })), {}, WINDOWS],
    ['touch', 'notMeasured', presses(3, { ...BETWEEN, pointer: 2 }), {}, WINDOWS],
    ['Firefox', 'notMeasured', presses(3, MIDDLE), {}, FIREFOX],
    ['a Macintosh', 'notMeasured', presses(3, MIDDLE), {}, MACINTOSH],
    ['no environment', 'notMeasured', presses(3, FRACTION), null],
  ],
  'movement-mismatch': [
    ['moves that do not add up', 'found', moves(30, { mismatched: true })],
    ['moves that do', 'notFound', moves(30)],
    ['few moves', 'notMeasured', moves(29, { mismatched: true })],
    [
      'an upright move that does not add up',
      'found',
      (builder) => times(30, (i) => builder.wait(15).move(0, 1 + i, { mismatched: true })),
    ],
    ['a pointer that the page locks', 'notFound', both(moves(30), locked(300), moves(30))],
    ['another pixel ratio', 'notMeasured', moves(30, { mismatched: true }), sizes([...WINDOW.slice(0, 9), 2000])],
    ['Firefox', 'notMeasured', moves(30, { mismatched: true }), {}, FIREFOX],
    ['a page at 80 % on a screen at 125 %', 'notMeasured', moves(30, { mismatched: true }), sizes(ZOOMED_OUT), WINDOWS],
    ['a page as wide as its window', 'found', moves(30, { mismatched: true }), widths(1_400, 1_401)],
    ['one that is wider', 'notMeasured', moves(30, { mismatched: true }), widths(1_400, 1_402)],
    ['a program whose window has no size', 'found', moves(30, { mismatched: true }), widths(0, 1_280)],
    ['one move of five that does not', 'found', both(moves(24), moves(6, { mismatched: true }))],
    ['fewer moves that do not', 'notFound', both(moves(25), moves(6, { mismatched: true }))],
    [
      'a level move that does not add up',
      'found',
      both(moves(1), (builder) => builder.summarise(), moves(30, { mismatched: true })),
    ],
  ],
  'no-approach': [
    ['presses out of nowhere', 'found', presses(5, {}, { moves: 0 })],
    ['presses after one move', 'found', presses(5, {}, { moves: 1 })],
    ['presses after moves', 'notFound', presses(5)],
    ['too few presses', 'notMeasured', presses(3, {}, { moves: 0 })],
    ['too few presses, and a mouse that is moved a lot', 'notMeasured', both(presses(3, {}, { moves: 0 }), moves(60))],
    ['presses at one place', 'notMeasured', (builder) => times(8, () => builder.wait(900).press(300, 300, 80))],
    [
      'presses in a hurry',
      'notMeasured',
      (builder) => times(8, (i) => builder.wait(300).press((i % 2) * 400, 300, 80)),
    ],
    [
      'presses after the page was hidden',
      'notMeasured',
      (builder) =>
        times(6, (i) =>
          builder
            .wait(900)
            .add(EventCode.Visibility, { state: 1 })
            .wait(900)
            .press(i * 90, 300, 80),
        ),
    ],
    ['touch', 'notMeasured', presses(6, { pointer: 2 }, { moves: 0 })],
    ['a pen', 'notMeasured', presses(6, { pointer: 1 }, { moves: 0 })],
    ['keyboard only', 'notMeasured', keys(20)],
    ['three presses out of nowhere', 'found', presses(4, {}, { moves: 0 })],
    ['three of five', 'found', both(presses(4, {}, { moves: 0 }), presses(2))],
    ['half of them', 'notFound', both(presses(4, {}, { moves: 0 }), presses(3))],
    ['a mouse that is moved a lot elsewhere', 'notFound', both(presses(5, {}, { moves: 0 }), moves(31))],
    ['one that is moved less', 'found', both(presses(5, {}, { moves: 0 }), moves(30))],
  ],
  'exact-centre': [
    ['presses in the middle', 'found', presses(3, { offsetX10: 0, offsetY10: 5 })],
    ['presses in the middle, rounded to whole pixels', 'found', presses(3, { offsetX10: -10, offsetY10: 10 })],
    ['presses next to it', 'notFound', presses(3, { offsetX10: 0, offsetY10: 11 })],
    ['two of three', 'notFound', both(presses(2, { offsetX10: 0, offsetY10: 0 }), presses(1))],
    ['presses somewhere', 'notFound', presses(3)],
    ['two presses', 'notMeasured', presses(2, { offsetX10: 0, offsetY10: 0 })],
    ['touches on a phone that a program imitates', 'found', touches(3, 97), sizes(PHONE)],
    ['the same as those of an iPhone', 'found', touches(3, 97), sizes(PHONE), IPHONE],
    ['touches of a hand on such a phone', 'notFound', touches(3, 97, { offsetX10: 90 }), sizes(PHONE)],
    ['touches on a phone', 'notMeasured', touches(9, 0), sizes(PHONE)],
    ['small elements', 'notMeasured', presses(3, { offsetX10: 0, offsetY10: 0, width: 9, height: 9 })],
    ['touch', 'notMeasured', presses(3, { offsetX10: 0, offsetY10: 0, pointer: 2 })],
    ['three of five', 'found', both(presses(3, CENTRE), presses(2))],
    ['half of them', 'notFound', both(presses(3, CENTRE), presses(3))],
    ['a mouse that rests in the middle', 'notMeasured', resting()],
    ['one that drifts there', 'notMeasured', resting(drift)],
    ['one that rests while somebody turns the wheel', 'notMeasured', resting(both(turnWheel, stay))],
    ['one that rests while the page moves', 'notMeasured', resting(scroll)],
    ['one that comes back to it', 'found', resting(leave)],
    ['one that a program sends to what it has scrolled there', 'found', resting(both(scroll, stay))],
    ['one that rests in the middle, and is elsewhere too', 'notFound', both(resting(), presses(4))],
    ['presses that a script made', 'notMeasured', presses(5, { ...CENTRE, flags: 0 })],
  ],
  'instant-press': [
    [
      'no time in the exact middle, where a script releases first',
      'found',
      presses(3, CENTRE, { heldMs: () => 0.4, react: (builder) => builder.add(EventCode.Release, { flags: 0 }) }),
    ],
    ['no time in the exact middle', 'found', presses(3, { offsetX10: 0, offsetY10: 0 }, { heldMs: () => 0.4 })],
    ['touches on a phone that a program imitates', 'found', touches(3, 97), sizes(PHONE)],
    ['the same as those of an iPhone', 'found', touches(3, 97), sizes(PHONE), IPHONE],
    ['touches of a hand on such a phone', 'notFound', touches(3, 97, { offsetX10: 90 }), sizes(PHONE)],
    ['touches on a phone', 'notMeasured', touches(9, 0), sizes(PHONE)],
    ['8 ms in the exact middle', 'found', presses(3, { offsetX10: 0, offsetY10: 0 }, { heldMs: (i) => 7 + i })],
    ['a tap where pointers stand between pixels', 'notFound', presses(3, { x10: 1_005 }, { heldMs: (i) => 7 + i })],
    ['a dwell clicker', 'notFound', presses(5, { offsetX10: 90 }, { heldMs: () => 0 })],
    ['always the same', 'found', presses(5, {}, { heldMs: () => 100 })],
    ['almost the same', 'found', presses(6, {}, { heldMs: (i) => 100 + 1.9 * (i % 2) })],
    ['less so', 'notFound', presses(6, {}, { heldMs: (i) => 100 + 2 * (i % 2) })],
    ['as frames are, to a rounding', 'notFound', presses(5, {}, { heldMs: () => 83.5 }), {}, FIREFOX],
    ['as no frames are', 'found', presses(5, {}, { heldMs: () => 83.6 }), {}, FIREFOX],
    ['always the same in Firefox', 'found', presses(5, {}, { heldMs: () => 95 }), {}, FIREFOX],
    ['a browser that rounds times to frames', 'notFound', presses(5, {}, { heldMs: () => 250 / 3 }), {}, FIREFOX],
    ['as people do', 'notFound', presses(5)],
    ['a tap on a trackpad', 'notFound', presses(5, { offsetX10: 90 }, { heldMs: (i) => 3 * i })],
    ...[180, 200, 220, 300].flatMap((ms): Case[] => [
      [`taps that Linux holds for ${ms} ms`, 'notFound', taps(ms)],
      [`the same in Firefox, ${ms} ms`, 'notFound', taps(ms), {}, FIREFOX],
      [`the same on a BSD, ${ms} ms`, 'notFound', taps(ms), {}, FIREFOX.replace('Linux', 'FreeBSD')],
      [`the same on Windows, ${ms} ms`, 'found', taps(ms), {}, WINDOWS],
      [`presses that are a little shorter, ${ms} ms`, 'found', taps(ms - 5)],
      [`presses that are a little longer, ${ms} ms`, 'found', taps(ms + 4)],
    ]),
    ['two presses', 'notMeasured', presses(2, {}, { heldMs: () => 0 })],
    [
      'holds that the pixel does not know',
      'notMeasured',
      (builder) =>
        times(5, (i) =>
          builder
            .wait(900)
            .add(EventCode.Press, { x10: 900 * i })
            .wait(80)
            .add(EventCode.Release, { held10: -1 }),
        ),
    ],
    ['touch', 'notMeasured', presses(5, { pointer: 2 }, { heldMs: () => 0 })],
    ['half of them at once', 'found', both(presses(2, CENTRE, { heldMs: () => 0.4 }), presses(2))],
    ['fewer at once', 'notFound', both(presses(2, CENTRE, { heldMs: () => 0.4 }), presses(3))],
    ['four that are the same', 'notFound', presses(4, {}, { heldMs: () => 100 })],
    ['the same 12 ms', 'found', presses(5, {}, { heldMs: () => 12 })],
    ['software that makes equal presses, which are shorter', 'notFound', presses(5, {}, { heldMs: () => 11.9 })],
    [
      'links that a screen reader opens within lines of text, beside a program',
      'notMeasured',
      both(links(6), driven(2)),
    ],
    ['presses as those of a screen reader, beside a program', 'found', both(links(6, 3), driven(6, CENTRE))],
    ['a screen reader, beside a program', 'notMeasured', both(driven(2), simulated(6))],
    [
      'a screen reader that the page before shows, beside a program',
      'notMeasured',
      both(simulated(6), pageTurn, driven(2), simulated(6, 1)),
    ],
    [
      'a screen reader that the next page shows, beside a program',
      'notMeasured',
      both(driven(2), simulated(6, 1), pageTurn, simulated(6)),
    ],
    ['a screen reader on a slow page, beside a program', 'notMeasured', both(driven(2), simulated(6, 0, 99.9))],
    ['presses in the middle that are longer, beside a program', 'notFound', both(driven(2), simulated(6, 0, 100))],
    [
      'a screen reader that presses small elements on a slow page, beside a program',
      'notMeasured',
      both(driven(2), presses(6, { ...SMALL, pressurePercent: 0 }, { moves: 0, heldMs: () => 60 })),
    ],
    ['a screen reader that presses next to the middle, beside a program', 'notMeasured', both(driven(2), aside(0.9))],
    ['presses next to it that are longer, beside a program', 'notFound', both(driven(2), aside(1))],
    [
      'a screen reader with a pointer that moves to what has the focus, beside a program',
      'notMeasured',
      both(driven(2), presses(6, { pressurePercent: 0 }, { moves: 4, focus: 'before' })),
    ],
    ['presses after a move, beside a program', 'found', both(driven(2), simulated(6, 1))],
    [
      'fingers that press out of nowhere, beside a program',
      'found',
      both(
        driven(2),
        simulated(6, 1),
        presses(2, { ...CENTRE, pressurePercent: 0, pointer: 2 }, { moves: 0, heldMs: () => 0.2 }),
      ),
    ],
    ['a browser that rounds times to 100 ms', 'notMeasured', rounded(10, 9)],
    ['one that does not', 'found', rounded(10, 8)],
    ['presses at one place, beside a program', 'found', both(again(6), driven(2))],
    ['a press that was never released, after others', 'found', both(driven(2), simulated(6, 1), unreleased)],
    [
      'a mouse that rests in the middle, on a trackpad that is tapped',
      'notFound',
      resting(nothing, (i) => 1 + (i % 3)),
    ],
    ['11.9 ms in the exact middle', 'found', presses(3, CENTRE, { heldMs: () => 11.9 })],
    ['12 ms in the exact middle', 'notFound', presses(3, CENTRE, { heldMs: () => 12 })],
  ],
  'uncoalesced-moves': [
    ['moves that were never joined', 'found', moves(200, { coalesced: false })],
    ['moves that were', 'notFound', moves(200)],
    ['few moves', 'notMeasured', moves(199, { coalesced: false })],
    [
      'moves that came one by one',
      'found',
      (builder) => builder.add(EventCode.MoveSummary, { count: 200, coalesced: 1 }),
    ],
    [
      'moves of which the first were',
      'notFound',
      both(moves(100), (builder) => builder.summarise(), moves(100, { coalesced: false })),
    ],
    ['Firefox', 'notMeasured', moves(200, { coalesced: false }), {}, FIREFOX],
  ],
};
