import { describe, expect, it } from 'vitest';
import {
  type BeaconEnvironment,
  ELEMENT_ROLES,
  EVENT_FLAGS,
  EventCode,
  INPUT_TYPES,
  POINTERS,
} from '../../../contract/beacon';
import { createDocuments } from '../../../server/detection/documents';
import { createScorer, scoreTrace } from '../../../server/detection/score';
import type { TraceBatch } from '../../../server/detection/trace';
import { CHROME, CHROME_OS, DESKTOP, FIREFOX, IPHONE, seedRandom, TraceBuilder, WINDOWS } from '../../support/trace';

// What phones, tablets and hybrids send, as far as it is documented: nobody has recorded it. Their keyboards on the screen, pens,
// assistive technology and browsers for privacy look like programs in one way or another. No person may be accused, not even
// before the first touch is seen: a page can have the focus in a field when it is opened, and the pixel can come late.

const { trusted, hasCode, multiline } = EVENT_FLAGS;
/** The score of a session in which nothing is found. */
const BASE = 0.029;
const ANDROID = CHROME.replace('X11; Linux x86_64', 'Linux; Android 15; K').replace('Safari', 'Mobile Safari');
const MAC_CHROME = CHROME.replace('X11; Linux x86_64', 'Macintosh; Intel Mac OS X 10_15_7');
const MACINTOSH = MAC_CHROME.replace('Chrome/142.0.0.0', 'Version/18.5');
const role = (name: (typeof ELEMENT_ROLES)[number]) => ELEMENT_ROLES.indexOf(name);

interface Device {
  userAgent: string;
  environment: Partial<BeaconEnvironment> | null;
}
const withTouch = (ratio: number, points = 5): Partial<BeaconEnvironment> => ({
  ...{ h: [8, 4, points, 0], r: '', b: 8 },
  v: [412, 915, 412, 760, 412, 915, 915, 0, 0, ratio],
});
const DEVICES: Record<string, Device> = {
  'an iPhone': { userAgent: IPHONE, environment: withTouch(3_000) },
  'an iPhone whose first batch is lost': { userAgent: IPHONE, environment: null },
  'an iPad, which says that it is a Macintosh': { userAgent: MACINTOSH, environment: withTouch(2_000) },
  'an iPad whose first batch is lost': { userAgent: MACINTOSH, environment: null },
  'Chrome on Android': { userAgent: ANDROID, environment: withTouch(2_625) },
  'an application on Android': { userAgent: ANDROID.replace('K)', 'K; wv)'), environment: withTouch(2_625) },
  'an application that says that it is Windows': { userAgent: WINDOWS, environment: withTouch(2_625) },
  'an Android that asks for the desktop site': { userAgent: CHROME, environment: withTouch(1_000) },
  'Firefox on Android': {
    userAgent: FIREFOX.replace('X11; Linux x86_64', 'Android 15; Mobile'),
    environment: { ...withTouch(1_000, 0), v: [412, 760, 412, 760, 412, 760, 760, 0, 0, 1_000] },
  },
  'a phone with keys': {
    userAgent: FIREFOX.replace('X11; Linux x86_64', 'Mobile; KaiOS 3.0'),
    environment: { ...withTouch(1_000, 0), v: [240, 294, 240, 294, 240, 320, 320, 0, 0, 1_000] },
  },
  'a tablet with HarmonyOS': {
    userAgent: CHROME.replace('X11; Linux x86_64', 'Tablet; OpenHarmony 5.0'),
    environment: withTouch(2_000),
  },
  'a Chromebook that is used as a tablet': { userAgent: CHROME_OS, environment: withTouch(1_600) },
  'a tablet with Windows': { userAgent: WINDOWS, environment: withTouch(1_500, 10) },
};

/** What somebody does on a page, which is a document. Each gets the same random numbers. */
type Act = (builder: TraceBuilder, between: (min: number, max: number) => number) => unknown;

const TEXT = 'The Treaty of Rome was signed in March. It Changed how States trade with each other. Now I Think so too.';
const KINDS = new Map([
  [' ', 'space'],
  ['.', 'punctuation'],
] as const);
const isCapital = (character: string) => character >= 'A' && character <= 'Z';

function focus(builder: TraceBuilder): void {
  builder.wait(40).add(EventCode.Focus, { field: 1, role: role('textarea'), flags: trusted | multiline });
}
function insert(builder: TraceBuilder, length: number, valueLength: number): void {
  const fields = { field: 1, type: INPUT_TYPES.indexOf('insertText'), insertedLength: length, valueLength };
  builder.add(EventCode.Input, { ...fields, flags: trusted | multiline });
}

/** Types as on a keyboard on the screen: nobody holds a key, and no capital needs Shift. */
const typeOnScreen: Act = (builder, between) => {
  focus(builder);
  for (const [i, character] of [...TEXT].entries()) {
    const kind = KINDS.get(character as ' ') ?? (isCapital(character) ? 'capital' : 'letter');
    builder.wait(between(70, 190)).key(kind, between(0, 4), trusted | hasCode, () => insert(builder, 1, i + 1));
    if (i % 25 === 24) builder.send();
  }
};
const typeFast: Act = (builder, between) => {
  focus(builder);
  for (let i = 1; i <= 60; i++)
    builder.wait(between(95, 125)).key('letter', 1, trusted | hasCode, () => insert(builder, 1, i));
};
/** Words that somebody chooses or swipes, and a text from the clipboard that the keyboard offers. */
const chooseWords: Act = (builder, between) => {
  focus(builder);
  let length = 0;
  for (const word of [5, 14, 8, 17, 12, 9, 13]) {
    length += word;
    builder.wait(between(180, 900));
    insert(builder, word, length);
  }
  builder.wait(900);
  insert(builder, 240, length + 240);
};
const writeByHand: Act = (builder, between) => {
  builder.wait(900).press(200, 300, 80, { pointer: POINTERS.indexOf('pen'), role: role('textarea') });
  typeOnScreen(builder, between);
  builder.wait(700);
  insert(builder, 60, TEXT.length + 60);
};
const presses =
  (fields: Parameters<TraceBuilder['press']>[3], moves = 0, react?: (builder: TraceBuilder) => unknown): Act =>
  (builder, between) => {
    for (let i = 0; i < 8; i++) {
      const x = i % 2 === 0 ? 200 : 600;
      builder.wait(2_900);
      for (let step = moves; step > 0; step--) builder.wait(12).move(x - 10 * step, 300);
      builder.press(x, 300, between(1, 6), fields, () => react?.(builder)).send();
    }
  };
const MIDDLE = { offsetX10: 0, offsetY10: 0, role: role('button') };

/** Scores a session after each of its batches, and answers the highest score. */
function findHighest({ userAgent, environment }: Device, acts: readonly Act[]) {
  const documents = createDocuments();
  const score = createScorer({ userAgent }, documents);
  const random = seedRandom(7);
  const batches: TraceBatch[] = [];
  let highest = { botScore: 0, detectionFlags: [] as string[] };
  for (const [i, act] of acts.entries()) {
    const builder = new TraceBuilder({
      document: `00000000000000d${i}`,
      originMs: 1_800_000_000_000 + i * 600_000,
      environment: environment && { ...DESKTOP, ...environment },
      clockStepMs: 1,
    });
    act(builder, (min, max) => min + random() * (max - min));
    for (const batch of builder.send().batches) {
      documents.add([batch]);
      batches.push(batch);
      const judgement = score();
      expect(judgement).toEqual(scoreTrace({ userAgent, batches }));
      if (judgement.botScore > highest.botScore) highest = judgement;
    }
  }
  return highest;
}

describe.each(Object.entries(DEVICES))('%s', (_, device) => {
  it.each<[what: string, acts: readonly Act[]]>([
    ['types on the screen of a page that has the focus', [typeOnScreen]],
    ['types as fast as two thumbs can', [typeFast]],
    ['chooses words that the keyboard offers', [chooseWords]],
    ['does all of it, on several pages', [typeOnScreen, chooseWords, typeFast]],
    ['writes by hand with a pen', [writeByHand]],
  ])('raises nothing if somebody %s', (_what, acts) => {
    expect(findHighest(device, acts)).toMatchObject({ botScore: BASE, detectionFlags: [] });
  });
});

it.each(Object.entries(DEVICES))('assistive technology raises nothing on %s', (_, device) => {
  const act: Act = (builder) => {
    for (let i = 0; i < 6; i++) {
      builder.wait(2_900).add(EventCode.Focus, { field: -1, role: role('button') });
      builder
        .wait(0.5)
        .press(200 + 400 * (i % 2), 300, 0.4, { ...MIDDLE, pressurePercent: 0 })
        .send();
    }
  };
  expect(findHighest(device, [act])).toMatchObject({ botScore: BASE, detectionFlags: [] });
});

describe('keys of a keyboard on the screen', () => {
  const TYPING = ['capital-without-shift', 'instant-keys'];
  const LAPTOP: Device = { userAgent: WINDOWS, environment: { h: [8, 8, 10, 5] } };
  const click = presses({ role: role('button') }, 8);

  it.each<[what: string, flags: string[], device: Device, acts: Act[]]>([
    ['a computer without a touch screen', TYPING, { userAgent: CHROME, environment: {} }, [typeOnScreen]],
    [
      'touches that a script makes on such a computer',
      TYPING,
      { userAgent: CHROME, environment: {} },
      [presses({ pointer: 2, flags: 0 }), (builder) => builder.add(EventCode.Touch, { flags: 0 }), typeOnScreen],
    ],
    ['Safari on a Macintosh', ['instant-keys'], { userAgent: MACINTOSH, environment: {} }, [typeOnScreen]],
    [
      'Chrome on a Macintosh of which nothing is known',
      ['instant-keys'],
      { userAgent: MAC_CHROME, environment: null },
      [typeOnScreen],
    ],
    ['a computer of which nothing is known', TYPING, { userAgent: WINDOWS, environment: null }, [typeOnScreen]],
    ['a touch screen', [], LAPTOP, [typeOnScreen]],
    ['a touch screen with a mouse, on another page', TYPING, LAPTOP, [click, typeOnScreen]],
    ['a touch screen with a mouse, on a later page', TYPING, LAPTOP, [typeOnScreen, click]],
    [
      'a touch screen with a mouse, on Linux',
      TYPING,
      { userAgent: CHROME, environment: LAPTOP.environment },
      [click, typeOnScreen],
    ],
    ['a touch screen with a pen', [], LAPTOP, [presses({ pointer: 1 }), typeOnScreen]],
    ['a touch screen with a pen and a mouse', [], LAPTOP, [presses({ pointer: 1 }), typeOnScreen, click]],
  ])('on %s raise %j', (_, flags, device, acts) => {
    expect(findHighest(device, acts).detectionFlags.filter((flag) => TYPING.includes(flag))).toEqual(flags);
  });
});

describe('a mouse', () => {
  const IPAD = DEVICES['an iPad, which says that it is a Macintosh']!;
  it.each<[what: string, flags: string[], device: Device]>([
    ['an iPad', [], IPAD],
    ['an iPhone', [], DEVICES['an iPhone']!],
    ['a Macintosh', ['exact-centre', 'instant-press'], { userAgent: MACINTOSH, environment: {} }],
    ['a Macintosh with Chrome', ['exact-centre', 'instant-press'], { ...IPAD, userAgent: MAC_CHROME }],
    ['Android', ['exact-centre', 'instant-press'], DEVICES['Chrome on Android']!],
  ])('that snaps to what it presses, on %s, raises %j', (_, flags, device) => {
    expect(findHighest(device, [presses(MIDDLE, 12)]).detectionFlags).toEqual(flags);
  });

  it('that follows the eyes is not noticed on an iPad', () => {
    expect(findHighest(IPAD, [presses(MIDDLE)]).botScore).toBeLessThan(0.2);
  });

  /** Answers are tapped, and each time the mouse that rests on a button presses it. */
  const tapAndClick =
    (pointer: (typeof POINTERS)[number], hasTouch = false): Act =>
    (builder, between) => {
      for (let i = 0; i < 5; i++) {
        builder.wait(2_000);
        const react = () => hasTouch && builder.add(EventCode.Touch, { touches: 1 });
        builder.press(300, 240 + 60 * i, 80, { pointer: POINTERS.indexOf(pointer), role: role('label') }, react);
        builder
          .wait(2_000)
          .press(900, 700, between(60, 120), { role: role('button') })
          .send();
      }
    };
  it.each<[what: string, flags: string[], act: Act]>([
    ['a finger', [], tapAndClick('touch', true)],
    ['a finger that is told as a mouse', [], tapAndClick('mouse', true)],
    ['a pen', [], tapAndClick('pen')],
    ['a mouse that jumps', ['act-think', 'no-approach'], tapAndClick('mouse')],
  ])('that rests where it presses, beside %s, raises %j', (_, flags, act) => {
    const laptop = { userAgent: WINDOWS, environment: { h: [8, 8, 10, 5] as BeaconEnvironment['h'] } };
    expect(findHighest(laptop, [act]).detectionFlags.sort()).toEqual(flags);
  });

  const touch =
    (laterMs: number, flags: number = trusted) =>
    (builder: TraceBuilder) =>
      builder.wait(laterMs).add(EventCode.Touch, { touches: 1, flags });
  it.each<[what: string, flags: string[], react: ReturnType<typeof touch>]>([
    ['the same time', [], touch(0)],
    ['the same time, in another batch', [], (builder) => touch(0)(builder.send())],
    ['the same time on a rounded clock', [], touch(100)],
    ['another time', ['no-approach', 'act-think'], touch(101)],
    ['the same time of a script', ['no-approach', 'act-think'], touch(0, 0)],
  ])('is a finger if the browser tells of a touch at %s: %j', (_, flags, react) => {
    const device = { userAgent: FIREFOX, environment: {} };
    expect(findHighest(device, [presses({ role: role('button') }, 0, react)]).detectionFlags.sort()).toEqual(
      flags.sort(),
    );
  });
});
