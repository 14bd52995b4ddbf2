import { describe, expect, it } from 'vitest';
import {
  AUTOMATION_MARKS,
  type BeaconEnvironment,
  ELEMENT_ROLES,
  EVENT_FLAGS,
  EventCode,
  INPUT_TYPES,
} from '../../../contract/beacon';
import type { Finding } from '../../../contract/evidence';
import { RULES } from '../../../server/detection/rules/table';
import { scoreTrace } from '../../../server/detection/score';
import { buildTrace, CHROME, CHROME_OS, DESKTOP, FIREFOX, TraceBuilder, WINDOWS } from '../../support/trace';

// Each rule on small synthetic traces: what it finds, what not, where it has too little to speak, and whom it exempts.

/** Builds a trace. What it answers may say whether the input was seen before. */
type Build = (builder: TraceBuilder) => unknown;
type Case = [
  what: string,
  state: Finding['state'],
  build: Build,
  environment?: Partial<BeaconEnvironment> | null,
  userAgent?: string,
];

const { trusted, hasCode, shift, multiline, autofilled, capsLock }: Record<keyof typeof EVENT_FLAGS, number> =
  EVENT_FLAGS;
const nothing = () => undefined;
const sizes = (v: number[]) => ({ v: v as BeaconEnvironment['v'] });
const times = (count: number, build: (index: number) => unknown) => {
  for (let index = 0; index < count; index++) build(index);
};
const mark = (name: string) => (builder: TraceBuilder) =>
  builder.send({ m: [AUTOMATION_MARKS.findIndex(([, other]) => other === name)] });
/** Presses at changing places, after some moves. What is pressed can get the focus just before the press, or just after it. */
const presses =
  (
    count: number,
    fields: Parameters<TraceBuilder['press']>[3] = {},
    { moves = 8, heldMs = (i: number) => 60 + 17 * i, focus = 'none' as 'before' | 'after' | 'none' } = {},
  ): Build =>
  (builder) =>
    times(count, (i) => {
      const x = i % 2 === 0 ? 200 : 600;
      const focusButton = () => builder.add(EventCode.Focus, { field: -1, role: ELEMENT_ROLES.indexOf('button') });
      times(moves, (step) => builder.wait(12).move(x - 10 * (moves - step), 300));
      builder.wait(900);
      if (focus === 'before') focusButton().wait(0.4);
      builder.press(x, 300, heldMs(i), fields);
      if (focus === 'after') focusButton();
    });
const moves =
  (count: number, odd: Parameters<TraceBuilder['move']>[2] = {}): Build =>
  (builder) =>
    times(count, (i) => builder.wait(15).move(300 + (i % 50), 300, odd));
/** Moves of a pointer that the page has locked: its place stays, whatever the mouse says. */
const locked =
  (count: number): Build =>
  (builder) => {
    builder.summarise();
    times(count, () => builder.wait(15).move(329, 300, { mismatched: true }));
    builder.summarise();
  };
/** Keys, each of which writes one character. */
const keys =
  (
    count: number,
    {
      kind = 'letter',
      flags = trusted | hasCode,
      heldMs = 80,
      gapMs = (i: number) => 40 + 61 * (i % 7),
      field = multiline,
    } = {},
  ): Build =>
  (builder) =>
    times(count, (i) => {
      const write = () => builder.add(EventCode.Input, { flags: trusted | field, valueLength: i + 1 });
      builder.wait(gapMs(i)).key(kind as 'letter', heldMs, flags, write);
    });
/** Text that a dictation program types at once, after somebody spoke it. */
const spoken =
  (count: number, kind = 'letter', spokenMs = 55 * count): Build =>
  (builder) => {
    builder.wait(spokenMs);
    keys(count, { kind, heldMs: 2, gapMs: () => 5 })(builder);
  };
/** Words that a dictation program types one by one, as it hears them. */
const streamed = (count: number, kind = 'letter', pauseMs = (i: number) => 220 + 23 * (i % 5)): Build =>
  keys(count, { kind, heldMs: 1, gapMs: (i) => (i % 6 === 0 ? pauseMs(i) : 3) });
/** Strokes of a stenographer, each of which writes a word at once, and some of them a phrase. */
const stroked =
  (count: number): Build =>
  (builder) =>
    times(count, (i) => keys(i % 8 === 7 ? 18 : 6, { heldMs: 1, gapMs: () => 1 })(builder.wait(200 + 23 * (i % 5))));
/** Abbreviations, each of which a text expander replaces by a text. */
const expanded =
  (count: number, length: number, { kind = 'letter', heldMs = 80, erasingMs = 2 } = {}): Build =>
  (builder) =>
    times(count, () => {
      keys(4, { heldMs, gapMs: (i) => 40 + 61 * (i % 3) })(builder.wait(3_000));
      times(3, () => builder.wait(erasingMs).key('backspace', 1, trusted | hasCode | multiline));
      keys(length, { kind, heldMs: 1, gapMs: () => 4 })(builder);
    });
/** Keys on a keyboard whose letters are modifiers while they are held: it sends a letter when the finger leaves it. */
const tapped =
  (count: number, isDual = (i: number) => i % 10 < 8): Build =>
  (builder) =>
    times(count, (i) => keys(1, { heldMs: isDual(i) ? 1 : 80, gapMs: () => 40 + 61 * (i % 7) })(builder));
/** Somebody who moves the mouse for a while. */
const idle =
  (ms: number): Build =>
  (builder) =>
    times(ms / 100, () => builder.wait(100).move(300, 300));
const shifted = (count: number): Build => keys(count, { kind: 'capital', flags: trusted | hasCode | shift });
const text =
  (type: (typeof INPUT_TYPES)[number], length: number, { flags = trusted | multiline, beforeMs = 5 } = {}): Build =>
  (builder) => {
    const fields = { field: 1, type: INPUT_TYPES.indexOf(type), insertedLength: length, valueLength: length, flags };
    builder.wait(3_000).add(EventCode.Focus, { field: 1, role: 5, flags }).wait(beforeMs).add(EventCode.Input, fields);
  };
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
const both =
  (...builds: Build[]): Build =>
  (builder) =>
    builds.map((build) => build(builder));
/** Presses as Chromium makes them for assistive technology, at changing places. */
const simulated = (count: number, moves = 0, heldMs = 0.2): Build =>
  presses(count, { pressurePercent: 0, offsetX10: 0, offsetY10: 0 }, { moves, heldMs: () => heldMs });
/** Presses as programs make them through the DevTools protocol. */
const driven = (count: number, fields: Parameters<TraceBuilder['press']>[3] = {}): Build =>
  presses(count, { pressurePercent: 0, ...fields }, { moves: 1, heldMs: () => 0.2, focus: 'after' });
/** The same on elements that have no place of their own. */
const links = (count: number, moves = 0): Build =>
  presses(
    count,
    { pressurePercent: 0, x10: 0, y10: 0, offsetX10: -1_630, offsetY10: -2_000 },
    { moves, heldMs: (i) => 1 + 9 * i },
  );
/** The same at one place. */
const again =
  (count: number): Build =>
  (builder) =>
    times(count, () => builder.wait(900).press(200, 300, 0.2, { pressurePercent: 0, offsetX10: 0, offsetY10: 0 }));
const pageTurn: Build = (builder) => builder.page('https://lms.example.edu/2', 1);
const later: Build = (builder) => builder.wait(3_000);
const touch: Build = (builder) => builder.add(EventCode.Touch, { touches: 1 });
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
const focuses =
  (count: number, { cause = nothing as Build, laterMs = 5, type = 1, flags = trusted } = {}): Build =>
  (builder) =>
    times(count, (i) => {
      builder.wait(4_000);
      cause(builder);
      builder.wait(2).add(EventCode.Focus, { field: i, role: ELEMENT_ROLES.indexOf('input') });
      builder.wait(laterMs).add(EventCode.Input, { field: i, type, insertedLength: 4, valueLength: 4, flags });
    });

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
const network =
  (number: number): Build =>
  (builder) =>
    builder.send({ network: number });
const signedBy =
  (agent: string): Build =>
  (builder) =>
    builder.send({ agent });
const replayed =
  (isReplay: boolean): Build =>
  () => ({ isReplay });

const WINDOW = [1400, 900, 1385, 813, 1920, 1080, 1053, 120, 40, 1000];
const FRACTION = { x10: 2_005, y10: 3_005 };
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Safari/605.1.15';
const ANDROID = CHROME.replace('X11; Linux x86_64', 'Linux; Android 7.1.2; Tablet');
/** Between two pixels, at changing places. */
const BETWEEN = { y10: 3_005 };
const MIDDLE = { ...FRACTION, offsetX10: 0, offsetY10: 0 };
const CENTRE = { offsetX10: 0, offsetY10: 0 };
/** Two presses between pixels, so far apart. */
const apart =
  (px: number): Build =>
  (builder) =>
    [0, px].map((x) => builder.wait(900).press(200.5 + x, 300, 80));

const CASES: Record<string, Case[]> = {
  webdriver: [
    ['a browser that says so', 'found', nothing, { w: 1 }],
    ['one that denies it', 'notFound', nothing],
    ['one that does not know it', 'notFound', nothing, { w: 2 }],
    ['no environment', 'notMeasured', nothing, null],
    ['a long visit whose first batch was lost', 'notMeasured', idle(70_000), null],
  ],
  headless: [
    ['the word in the user agent', 'found', nothing, {}, CHROME.replace('Chrome', 'HeadlessChrome')],
    ['the word in the brands', 'found', nothing, { r: 'HeadlessChrome/142' }],
    ['the bit of the pixel', 'found', nothing, { b: 32 }],
    ['no such word', 'notFound', nothing],
    ['nothing known', 'notMeasured', nothing, null, ''],
  ],
  'automation-globals': [
    ['a name of ChromeDriver', 'found', mark('cdc_adoQpoasnfa*')],
    ['an attribute of the root', 'found', mark('webdriver')],
    ['no mark', 'notFound', nothing],
    ['a name that web applications have too', 'notFound', mark('__pw*')],
    ['a name that an extension leaves', 'notFound', mark('_Selenium*')],
    ['the mark of an agent, which another rule judges', 'notFound', mark('claude-phantom-cursor')],
    ['no environment', 'notMeasured', nothing, null],
  ],
  'declared-agent': [
    ['the border of an agent', 'found', mark('claude-agent-glow-border')],
    ['the overlay of another', 'found', mark('codex-agent-overlay-root')],
    ['another mark', 'notFound', mark('cdc_adoQpoasnfa*')],
    ['a request that an agent signed', 'found', (builder) => builder.send({ agent: 'chatgpt.com' }), null],
    ['no environment', 'notMeasured', nothing, null],
  ],
  'devtools-protocol': [
    ['a stack that was read', 'found', nothing, { q: [1, 0] }],
    ['a name that was read three times', 'found', nothing, { q: [0, 3] }],
    ['a name that was read twice', 'notFound', nothing, { q: [0, 2] }],
    ['a browser that cannot count', 'notFound', nothing, { q: [-1, -1] }],
    [
      'docked developer tools',
      'notMeasured',
      nothing,
      { q: [1, 3], ...sizes([1400, 900, 1385, 400, ...WINDOW.slice(4)]) },
    ],
    [
      'docked developer tools beside a page that is zoomed out',
      'notMeasured',
      nothing,
      { q: [1, 1], v: [1490, 1180, 1854, 2066, 1500, 1300, 1300, 10, 20, 500] },
    ],
    [
      'a program in a window that is zoomed out',
      'found',
      nothing,
      { q: [1, 1], v: [1490, 1180, 2970, 2066, 1500, 1300, 1300, 10, 20, 500] },
    ],
    [
      'developer tools at the side',
      'notMeasured',
      nothing,
      { q: [1, 3], ...sizes([1400, 900, 900, 813, ...WINDOW.slice(4)]) },
    ],
    ['a frame', 'notMeasured', nothing, { q: [1, 3], b: 1 }],
    ['Firefox', 'notMeasured', nothing, { q: [1, 3] }, FIREFOX],
    ['no environment', 'notMeasured', nothing, null],
    [
      'bars as large as they get',
      'found',
      nothing,
      { q: [1, 0], ...sizes([1400, 900, 1300, 650, ...WINDOW.slice(4)]) },
    ],
    [
      'narrow tools at the side',
      'notMeasured',
      nothing,
      { q: [1, 0], ...sizes([1400, 900, 1299, 813, ...WINDOW.slice(4)]) },
    ],
    [
      'low tools at the bottom',
      'notMeasured',
      nothing,
      { q: [1, 0], ...sizes([1400, 900, 1385, 649, ...WINDOW.slice(4)]) },
    ],
  ],
  'synthetic-window': [
    ['a window without bars', 'found', nothing, sizes([1300, 800, 1300, 800, ...WINDOW.slice(4)])],
    ['the viewport of Playwright', 'found', nothing, sizes([1296, 816, 1280, 720, ...WINDOW.slice(4)])],
    ['the viewport of Puppeteer', 'found', nothing, sizes([816, 700, 800, 600, ...WINDOW.slice(4)])],
    ['an ordinary window', 'notFound', nothing],
    ['full screen', 'notMeasured', nothing, sizes([1280, 720, 1280, 720, 1280, 720, 720, 0, 0, 1000])],
    ['zoom', 'notMeasured', nothing, sizes([1280, 720, 1280, 720, ...WINDOW.slice(4, 9), 1500])],
    ['a frame', 'notMeasured', nothing, { b: 1, ...sizes([1280, 720, 1280, 720, ...WINDOW.slice(4)]) }],
    [
      'a touch device',
      'notMeasured',
      nothing,
      { h: [8, 8, 5, 0], ...sizes([1280, 720, 1280, 720, ...WINDOW.slice(4)]) },
    ],
    ['a hidden page', 'notMeasured', nothing, { b: 16, ...sizes([1280, 720, 1280, 720, ...WINDOW.slice(4)]) }],
    ['a window of no size', 'notMeasured', nothing, sizes([0, 0, 1280, 720, ...WINDOW.slice(4)])],
    ['no environment', 'notMeasured', nothing, null],
    ['a window that has bars at its top alone', 'notFound', nothing, sizes([1400, 900, 1400, 813, ...WINDOW.slice(4)])],
    ['one without bars, as wide as the screen', 'found', nothing, sizes([1920, 900, 1920, 900, ...WINDOW.slice(4)])],
  ],
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
    ['a carousel of the page', 'notMeasured', scriptClicks(6, { role: 'button' })],
    ['answers that the page restores', 'notMeasured', scriptClicks(6, { startMs: 0, gapMs: 100 })],
    ['answers that the page restores late', 'notMeasured', scriptClicks(6, { gapMs: 100 })],
    ['what a script does while somebody types a password', 'notMeasured', both(intoPassword, scriptClicks(4))],
    ['too few deeds', 'notMeasured', presses(2)],
    ['ten keys that a script made', 'found', keys(10, { flags: hasCode })],
  ],
  'zero-pressure': [
    ['presses without pressure', 'found', driven(2)],
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
    ['Safari, which reported no pressure', 'notMeasured', presses(9, { pressurePercent: 0 }), {}, SAFARI],
    ['Chrome on Android, which reported none', 'notMeasured', presses(9, { pressurePercent: 0 }), {}, ANDROID],
    ['Chrome on Android that asks for the desktop site', 'notMeasured', driven(9), { h: [8, 4, 5, 0] }],
    ['a program that presses twice at one place', 'found', both(driven(3), again(3))],
    ['touch', 'notMeasured', presses(3, { pressurePercent: 0, pointer: 2 })],
    ['a pen', 'notMeasured', presses(3, { pressurePercent: 0, pointer: 1 })],
    ['presses that a script made', 'notMeasured', presses(3, { pressurePercent: 0, flags: 0 })],
    ['half of the presses', 'found', both(presses(2), driven(2))],
    ['two of five', 'notFound', both(presses(3), driven(2))],
    ['the same with a screen for one finger', 'notMeasured', driven(9), { h: [8, 4, 1, 0] }],
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
    ['one press of five on Windows', 'found', both(presses(4), presses(1, BETWEEN)), {}, WINDOWS],
    ['one press of six on Windows', 'notFound', both(presses(5), presses(1, BETWEEN)), {}, WINDOWS],
    ['two places 64 pixels apart on Windows', 'found', apart(64), {}, WINDOWS],
    ['two places that are closer on Windows', 'notMeasured', apart(63.9), {}, WINDOWS],
    ['the exact middle, four times of five', 'found', both(presses(4, MIDDLE), presses(1, FRACTION))],
    ['the exact middle, twice', 'notMeasured', presses(2, MIDDLE)],
    ['another pixel ratio', 'notMeasured', presses(3, BETWEEN), sizes([...WINDOW.slice(0, 9), 1250]), WINDOWS],
    [
      'a page that is pinched larger',
      'notMeasured',
      both(presses(2, BETWEEN), presses(1, { ...BETWEEN, screenX10: 111 })),
      {},
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
    [
      'a Macintosh',
      'notMeasured',
      presses(3, MIDDLE),
      {},
      CHROME.replace('X11; Linux x86_64', 'Macintosh; Intel Mac OS X 10_15_7'),
    ],
    ['no environment', 'notMeasured', presses(3, FRACTION), null],
  ],
  'movement-mismatch': [
    ['moves that do not add up', 'found', moves(30, { mismatched: true })],
    ['moves that do', 'notFound', moves(30)],
    ['few moves', 'notMeasured', moves(29, { mismatched: true })],
    ['a pointer that the page locks', 'notFound', both(moves(30), locked(300), moves(30))],
    ['another pixel ratio', 'notMeasured', moves(30, { mismatched: true }), sizes([...WINDOW.slice(0, 9), 2000])],
    ['Firefox', 'notMeasured', moves(30, { mismatched: true }), {}, FIREFOX],
    ['one move of five that does not', 'found', both(moves(24), moves(6, { mismatched: true }))],
    ['fewer moves that do not', 'notFound', both(moves(25), moves(6, { mismatched: true }))],
    [
      'a level move that does not add up',
      'found',
      both(moves(1), (builder) => builder.summarise(), moves(30, { mismatched: true })),
    ],
  ],
  'capital-without-shift': [
    ['capitals without Shift', 'found', keys(3, { kind: 'capital' })],
    ['capitals with Shift', 'notFound', keys(3, { kind: 'capital', flags: trusted | hasCode | shift })],
    ['capitals with Caps Lock', 'notFound', keys(3, { kind: 'capital', flags: trusted | hasCode | capsLock })],
    ['two capitals', 'notMeasured', keys(2, { kind: 'capital' })],
    ['an on-screen keyboard or dictation', 'notMeasured', keys(5, { kind: 'capital', flags: trusted })],
    ['dictation that brings its own keymap', 'notMeasured', spoken(5, 'capital')],
    ['sentences that are dictated so', 'notMeasured', spoken(100, 'capital')],
    ['words that are dictated so one by one', 'notMeasured', streamed(60, 'capital')],
    ['a text expander that brings its own keymap', 'notMeasured', expanded(2, 100, { kind: 'capital' })],
    ['a program that types at once', 'found', keys(100, { kind: 'capital', heldMs: 1, gapMs: () => 5 })],
    ['touch', 'notMeasured', both(touch, keys(5, { kind: 'capital' }))],
    ['Firefox', 'notMeasured', keys(5, { kind: 'capital' }), {}, FIREFOX],
    ['three of five without Shift', 'found', both(keys(3, { kind: 'capital' }), shifted(2))],
    ['half of them', 'notFound', both(keys(3, { kind: 'capital' }), shifted(3))],
  ],
  'no-approach': [
    ['presses out of nowhere', 'found', presses(5, {}, { moves: 0 })],
    ['presses after one move', 'found', presses(5, {}, { moves: 1 })],
    ['presses after moves', 'notFound', presses(5)],
    ['too few presses', 'notMeasured', presses(3, {}, { moves: 0 })],
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
    ['small elements', 'notMeasured', presses(3, { offsetX10: 0, offsetY10: 0, width: 9, height: 9 })],
    ['touch', 'notMeasured', presses(3, { offsetX10: 0, offsetY10: 0, pointer: 2 })],
    ['three of five', 'found', both(presses(3, CENTRE), presses(2))],
    ['half of them', 'notFound', both(presses(3, CENTRE), presses(3))],
  ],
  'instant-press': [
    ['no time in the exact middle', 'found', presses(3, { offsetX10: 0, offsetY10: 0 }, { heldMs: () => 0.4 })],
    ['8 ms in the exact middle', 'found', presses(3, { offsetX10: 0, offsetY10: 0 }, { heldMs: (i) => 7 + i })],
    ['a tap where pointers stand between pixels', 'notFound', presses(3, { x10: 1_005 }, { heldMs: (i) => 7 + i })],
    ['a dwell clicker', 'notFound', presses(5, { offsetX10: 90 }, { heldMs: () => 0 })],
    ['always the same', 'found', presses(5, {}, { heldMs: () => 100 })],
    ['always the same in Firefox', 'found', presses(5, {}, { heldMs: () => 95 }), {}, FIREFOX],
    ['a browser that rounds times to frames', 'notFound', presses(5, {}, { heldMs: () => 250 / 3 }), {}, FIREFOX],
    ['as people do', 'notFound', presses(5)],
    ['a tap on a trackpad', 'notFound', presses(5, { offsetX10: 90 }, { heldMs: (i) => 3 * i })],
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
  ],
  'uncoalesced-moves': [
    ['moves that were never joined', 'found', moves(200, { coalesced: false })],
    ['moves that were', 'notFound', moves(200)],
    ['few moves', 'notMeasured', moves(199, { coalesced: false })],
    ['Firefox', 'notMeasured', moves(200, { coalesced: false }), {}, FIREFOX],
  ],
  'instant-keys': [
    ['keys that are released at once', 'found', keys(10, { heldMs: 2 })],
    ['many in a single line', 'found', keys(40, { heldMs: 2, field: 0 })],
    ['keys that are held', 'notFound', keys(10)],
    ['a keyboard that sends most keys when they are tapped', 'notFound', tapped(100)],
    ['a program that holds a key now and then', 'found', tapped(100, (i) => i % 20 > 0)],
    ['a keyboard on the screen', 'notMeasured', both(touch, pageTurn, keys(40, { heldMs: 2 }))],
    ['few keys', 'notMeasured', keys(9, { heldMs: 2 })],
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
    ['little text', 'notMeasured', text('insertText', 20)],
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
  'focus-without-cause': [
    ['fields that are filled out of nowhere', 'found', focuses(2)],
    ['fields that were pressed', 'notFound', focuses(3, { cause: (builder) => builder.press(100, 100, 80) })],
    ['keyboard only', 'notFound', focuses(3, { cause: (builder) => builder.key('tab', 80) })],
    ['touch', 'notFound', focuses(3, { cause: touch })],
    ['a screen reader or voice control', 'notFound', focuses(3, { laterMs: 400 })],
    ['autofill', 'notFound', focuses(3, { flags: trusted | autofilled })],
    ['a password manager', 'notFound', focuses(3, { flags: 0 })],
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
    ['a page that is shown again', 'notFound', jumps(3, { before: (builder) => builder.add(EventCode.Visibility) })],
    ['a screen reader that reads on', 'notFound', jumps(3, { pressAfterMs: 3_000 })],
    ['a screen reader that presses what it reads', 'notFound', jumps(3, { fields: { pressurePercent: 0 } })],
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
  'replayed-trace': [
    ['input that was seen before', 'found', replayed(true)],
    ['input that was not', 'notFound', replayed(false)],
    ['input of which that is not known', 'notMeasured', presses(9)],
  ],
  'datacenter-network': [
    ['a network of rented servers', 'found', network(16_509)],
    ['a network of homes', 'notFound', network(3_320)],
    ['a university', 'notFound', network(786)],
    ['a relay for privacy', 'notFound', network(36_183)],
    ['no database', 'notMeasured', nothing],
  ],
  'off-grid-times': [
    ['times with many fractions', 'found', keys(12, { gapMs: (i) => 90.1 + i * 0.3 })],
    ['times of devices', 'notFound', keys(12, { gapMs: (i) => 90 + i })],
    ['few times', 'notMeasured', keys(7, { gapMs: (i) => 90.1 + i * 0.3 })],
    ['Firefox', 'notMeasured', keys(12, { gapMs: (i) => 90.1 + i * 0.3 }), {}, FIREFOX],
    [
      'Windows',
      'notMeasured',
      keys(12, { gapMs: (i) => 90.1 + i * 0.3 }),
      {},
      CHROME.replace('X11; Linux x86_64', 'Windows NT 10.0; Win64; x64'),
    ],
    [
      'Android',
      'notMeasured',
      keys(12, { gapMs: (i) => 90.1 + i * 0.3 }),
      {},
      CHROME.replace('X11; Linux x86_64', 'Linux; Android 16'),
    ],
    ['touch', 'notMeasured', both(touch, keys(12, { gapMs: (i) => 90.1 + i * 0.3 }))],
  ],
  'telemetry-gap': [
    ['a batch that is missing', 'found', (builder) => builder.send({ n: 5 })],
    ['events that were dropped', 'found', (builder) => builder.send({ l: [3, 1] })],
    ['everything', 'notFound', nothing],
  ],
  'clock-inconsistent': [
    [
      'a clock that was set back',
      'found',
      (builder) =>
        builder
          .send()
          .wait(60_000)
          .send({ c: [60_100, 1_800_000_010_000] }),
    ],
    [
      'a clock that was set forward',
      'found',
      (builder) =>
        builder
          .send()
          .wait(60_000)
          .send({ c: [60_100, 1_800_009_000_000] }),
    ],
    ['clocks that agree', 'notFound', (builder) => builder.send().wait(60_000).send()],
    [
      'a computer that slept',
      'notFound',
      (builder) =>
        builder
          .send()
          .wait(60_000)
          .send({ c: [60_100, 1_800_003_660_000], receivedAtMs: 1_800_003_660_040 }),
    ],
    [
      'a batch that came late',
      'notFound',
      (builder) => builder.send().wait(60_000).send({ receivedAtMs: 1_800_000_900_000 }),
    ],
  ],
  'insufficient-evidence': [
    ['little that was done', 'found', presses(2)],
    ['enough', 'notFound', presses(3)],
  ],
};

it('has cases for every rule', () => {
  expect(Object.keys(CASES).sort()).toEqual(RULES.map(({ rule }) => rule.flag).sort());
});

/** Rules on the session as a whole. */
const WITHOUT_MOMENTS = [
  'replayed-trace',
  'off-grid-times',
  'telemetry-gap',
  'clock-inconsistent',
  'insufficient-evidence',
];

describe.each(Object.entries(CASES))('%s', (flag, cases) => {
  it.each(cases)('%s: %s', (_, state, build, environment = {}, userAgent = CHROME) => {
    const builder = new TraceBuilder({ environment: environment && { ...DESKTOP, ...environment } });
    const known = build(builder) as { isReplay?: boolean } | undefined;
    const trace = { ...buildTrace(builder, userAgent), isReplay: known?.isReplay ?? null };
    const { findings, detectionFlags } = scoreTrace(trace);
    const finding = findings.find((other) => other.flag.split(':')[0] === flag)!;
    expect(finding.state).toBe(state);
    const { weight } = RULES.find(({ rule }) => rule.flag === flag)!;
    expect(detectionFlags.includes(finding.flag)).toBe(state === 'found' && weight > 0);
    expect(finding.weight > 0).toBe(state === 'found' && weight > 0);
    if (state === 'notMeasured') expect([finding.measured, finding.moments]).toEqual([null, []]);
    else expect(finding.measured).not.toBeNull();
    expect(finding.moments.length > 0).toBe(state === 'found' && !WITHOUT_MOMENTS.includes(flag));
  });
});

it.each<[flag: string, shown: string | number, build: Build]>([
  ['movement-mismatch', 0.5, both(moves(15), moves(15, { mismatched: true }))],
  [
    'synthetic-window',
    '1300 × 800 in 1300 × 800',
    (builder) => builder.send().send({ e: { ...DESKTOP, ...sizes([1300, 800, 1300, 800, ...WINDOW.slice(4)]) } }),
  ],
  ['datacenter-network', 'AS16509 Amazon', both(network(3_320), network(16_509))],
  ['datacenter-network', 'AS3320', network(3_320)],
  [
    'declared-agent:operator.example',
    'operator.example',
    both(mark('claude-phantom-cursor'), signedBy('operator.example')),
  ],
])('%s shows what it has seen, that which was found first: %s', (flag, shown, build) => {
  const builder = new TraceBuilder();
  build(builder);
  const { findings } = scoreTrace(buildTrace(builder));
  expect(findings.find((finding) => finding.flag === flag)?.measured).toBe(shown);
});
