import { expect, it } from 'vitest';
import { ELEMENT_ROLES, EVENT_FLAGS, EventCode, INPUT_TYPES } from '../../../contract/beacon';
import { scoreTrace } from '../../../server/detection/score';
import { buildTrace, DESKTOP, TraceBuilder } from '../../support/trace';

// People who use assistive technology in ways that were once accused, each with everything that it does to a session. None may
// come near `medium`, and nothing may be found of those whom the rules exempt.

const { trusted, hasCode, multiline } = EVENT_FLAGS;
const BASE = 0.029;
const MEDIUM = 0.4;
const BOT = 0.7;

type Act = (builder: TraceBuilder) => unknown;
type PressFields = Parameters<TraceBuilder['press']>[3];

interface PressManner {
  fields?: PressFields;
  /** Moves of the mouse before each press. */
  moves?: number;
  heldMs?: number;
  pauseMs?: number;
  /** When what is pressed gets the focus. */
  focus?: 'before' | 'after';
}

const MIDDLE = { offsetX10: 0, offsetY10: 0 };
/** Of a press that Chromium makes if assistive technology asks for the action of an element. */
const SIMULATED = { ...MIDDLE, pressurePercent: 0 };

const press =
  (count: number, { fields = {}, moves = 0, heldMs = 0.2, pauseMs = 900, focus }: PressManner): Act =>
  (builder) => {
    for (let i = 0; i < count; i++) {
      const x = i % 2 === 0 ? 200 : 600;
      const takeFocus = () => builder.add(EventCode.Focus, { field: -1, role: ELEMENT_ROLES.indexOf('button') });
      builder.wait(pauseMs);
      for (let step = 0; step < moves; step++) builder.wait(12).move(x - 9 * (moves - step), 300);
      if (focus === 'before') takeFocus().wait(0.4);
      builder.press(x, 300, heldMs, fields);
      if (focus === 'after') takeFocus();
    }
  };

const takeFocus =
  (role: 'button' | 'link'): Act =>
  (builder) =>
    builder.add(EventCode.Focus, { field: -1, role: ELEMENT_ROLES.indexOf(role) });

/** The page puts the focus on the button of the next question after each press; the first one got it from a key. */
const pressOn =
  (count: number, fields: PressFields, moves: number): Act =>
  (builder) => {
    takeFocus('button')(builder);
    for (let i = 0; i < count; i++) {
      press(1, { fields: { ...fields, x10: 2_000 + 4_000 * (i % 2) }, moves, pauseMs: 4_000 })(builder);
      builder.wait(3);
      takeFocus('button')(builder);
    }
  };

/** The link got the focus from a key. Its press has the page put the focus on a button. */
const pressLink: Act = (builder) => {
  takeFocus('link')(builder);
  press(1, { fields: { ...SIMULATED, role: ELEMENT_ROLES.indexOf('link') }, moves: 6, pauseMs: 4_000 })(builder);
  builder.wait(3);
};

const CLAUSE = 'The Treaty of Rome was signed in March. It Changed how States Trade with each other ever since then.';
/** A program types what was spoken. It uploads a keymap, so capitals need no Shift. */
const dictate =
  (text: string, times: number): Act =>
  (builder) => {
    let length = 0;
    for (let spoken = 0; spoken < times; spoken++) {
      builder.wait(text.length * 60);
      for (const character of text) {
        const kind = character === ' ' ? 'space' : character < 'a' ? 'capital' : 'letter';
        const write = () => builder.add(EventCode.Input, { flags: trusted | multiline, valueLength: ++length });
        builder.wait(5).key(kind, 2, trusted | hasCode, write);
      }
    }
  };
/** The pointer jumps to the middle of what is named. */
const SPOKEN: PressManner = { fields: MIDDLE, moves: 1, heldMs: 0.4, pauseMs: 2_200, focus: 'after' };
const speakToPress = press(8, SPOKEN);
/** The page moves by a command, too, before something is named. */
const speakToScroll: Act = (builder) => {
  builder.add(EventCode.Scroll, { y: 0 });
  for (const y of [500, 1_000]) {
    builder.wait(5_000).add(EventCode.Scroll, { y });
    press(1, { ...SPOKEN, pauseMs: 1_200 })(builder);
  }
};
/** An extension presses what is chosen by the letters that it shows. */
const pressByHints = press(8, { fields: { flags: 0 }, heldMs: 0 });

/** The mouse rests on a button for the next question, and an extension presses the answers. Its presses have no place. */
const answerByHints: Act = (builder) => {
  for (let step = 0; step < 40; step++) builder.wait(16).move(341 + 9 * step, 600);
  for (let i = 0; i < 8; i++) {
    builder.wait(5_000).press(0, 0, 0.2, { flags: 0, pressurePercent: 0 });
    builder.wait(2_000).press(700 + (i % 2), 600, 70 + 13 * (i % 5));
  }
};

/** A key begins and ends each dictation; the text comes at once, two seconds after it ended. */
const dictateByKey: Act = (builder) => {
  for (let spoken = 1; spoken <= 4; spoken++) {
    builder.wait(2_000).key('other', 80);
    builder.wait(CLAUSE.length * 60).key('other', 80);
    const text = { type: INPUT_TYPES.indexOf('insertText'), insertedLength: CLAUSE.length };
    builder
      .wait(2_000)
      .add(EventCode.Input, { ...text, flags: trusted | multiline, valueLength: spoken * CLAUSE.length });
  }
};

const rentedNetwork: Act = (builder) => builder.send({ network: 16_509 });

const score = (acts: readonly Act[], q: [number, number] = [0, 0]) => {
  const builder = new TraceBuilder({ environment: { ...DESKTOP, q } });
  for (const act of acts) act(builder);
  const { botScore, detectionFlags } = scoreTrace(buildTrace(builder));
  return { botScore, detectionFlags };
};

const EXEMPT: [person: string, acts: Act[]][] = [
  ['a screen reader with a pointer that follows it', [press(6, { fields: SIMULATED, moves: 1 })]],
  ['the same on a page that moves the focus on', [pressOn(8, SIMULATED, 1)]],
  ['the same, whose pointer comes with moves', [pressOn(8, SIMULATED, 6)]],
  ['the same after a link that begins the questions', [pressLink, pressOn(8, SIMULATED, 6)]],
  ['a magnifier that moves with the focus', [press(6, { fields: SIMULATED, moves: 9, focus: 'before' })]],
  [
    'a screen reader that presses within links, on a slow page',
    [press(4, { fields: { pressurePercent: 0, offsetX10: 60 }, heldMs: 40, pauseMs: 3_000 })],
  ],
  [
    'a screen reader beside a mouse',
    [press(4, { moves: 9, heldMs: 90 }), press(6, { fields: SIMULATED, heldMs: 120, pauseMs: 3_000 })],
  ],
  ['dictation of short clauses', [dictate(CLAUSE.slice(0, 60), 4)]],
  ['dictation of sentences', [dictate(CLAUSE, 4)]],
  ['dictation that a key begins and ends', [dictateByKey]],
  ['dictation of paragraphs', [dictate(CLAUSE.repeat(5), 2)]],
  ['a screen reader and dictation', [press(6, { fields: SIMULATED, moves: 1 }), dictate(CLAUSE, 4)]],
];

it.each(EXEMPT)('%s raises nothing', (_, acts) => {
  expect(score(acts)).toEqual({ botScore: BASE, detectionFlags: [] });
});

it.each<[person: string, acts: Act[]]>([
  ['voice control with dictation of sentences', [speakToPress, dictate(CLAUSE, 4)]],
  ['voice control with dictation that a key begins and ends', [speakToPress, dictateByKey]],
  ['voice control that scrolls', [speakToPress, speakToScroll]],
  ['link hints', [pressByHints]],
  ['link hints and dictation of sentences', [pressByHints, dictate(CLAUSE.slice(0, 7), 1), dictate(CLAUSE, 1)]],
])('%s is not suspected', (_, acts) => {
  expect(score(acts).botScore).toBeLessThan(MEDIUM);
});

it('link hints leave the mouse where it rests', () => {
  const { botScore, detectionFlags } = score([answerByHints]);
  expect(detectionFlags).toEqual(['untrusted-events']);
  expect(botScore).toBeLessThan(MEDIUM);
});

it('link hints and voice control over a VPN are no bot, because one group of people can do all that is found', () => {
  const { botScore, detectionFlags } = score([rentedNetwork, pressByHints, speakToPress]);
  expect(detectionFlags).toEqual(expect.arrayContaining(['untrusted-events', 'exact-centre', 'act-think']));
  expect(botScore).toBe(0.69);
});

it('link hints and developer tools in a window of their own are no bot', () => {
  const { botScore, detectionFlags } = score([pressByHints], [1, 3]);
  expect(detectionFlags).toEqual(['devtools-protocol', 'untrusted-events']);
  expect(botScore).toBeLessThan(BOT);
});

it('a program that presses in the same way is found by the focus that follows its presses', () => {
  const programs = [SIMULATED, { ...SIMULATED, offsetX10: 60 }].map((fields) =>
    score([press(6, { fields, moves: 1, focus: 'after' }), dictate(CLAUSE, 1)]),
  );
  expect(programs.map(({ botScore }) => botScore)).toEqual([0.966, 0.891]);
});
