import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_FIELDS, EVENT_FLAGS, EventCode } from '../../../contract/beacon';
import { evidenceInput, MAX_EVIDENCE_BYTES } from '../../../contract/evidence';
import { readBeacon } from '../../../server/detection/batch';
import { findChange } from '../../../server/detection/change-point';
import { anchorDocuments } from '../../../server/detection/documents';
import { summariseEvents } from '../../../server/detection/events';
import { SCORE_BASE } from '../../../server/detection/log-odds';
import { readPresence } from '../../../server/detection/presence';
import { RULES } from '../../../server/detection/rules/table';
import { RULE_SET_VERSION, scoreSegments, scoreTrace } from '../../../server/detection/score';
import type { TraceBatch } from '../../../server/detection/trace';
import { packNumbers } from '../../../server/detection/varints';
import { HELD_TAPS, KEPT_TEXT } from '../../support/people';
import {
  AGENTS,
  IMITATED_PHONE,
  imitate,
  type Manner,
  PEOPLE,
  RECORDED_HUMAN,
  SyntheticTask,
} from '../../support/synthetic-sessions';
import { buildTrace, CHROME, DESKTOP, TraceBuilder, WINDOWS } from '../../support/trace';

const SEEDS = [1, 2, 3];
const MEDIUM = 0.4;
const BOT = 0.7;
const BASE = 0.029;
const START_MS = 1_800_000_000_000;
const TASK_MS = 60_000;

/** One task after the other, each in a new document. */
function imitateTasks(manners: readonly Manner[]) {
  const documentOf = (index: number) => index.toString(16).padStart(16, 'a');
  const tasks = manners.map((manner, i) => new SyntheticTask(manner, i + 1, documentOf(i), i * TASK_MS).run());
  return buildTrace(tasks);
}

describe('a synthetic program', () => {
  const { 'script in the page': script, ...others } = AGENTS;

  it.each(Object.entries(others))('is a bot: %s', (_, manner) => {
    for (const seed of SEEDS) expect(scoreTrace(imitate(manner, seed)).botScore).toBeGreaterThanOrEqual(BOT);
  });

  it('that replays a recorded person is missed', () => {
    for (const seed of SEEDS) expect(scoreTrace(imitate(RECORDED_HUMAN, seed)).botScore).toBeLessThan(MEDIUM);
  });

  it('that imitates a phone is noticed, and the same touches on a phone are not, as screen readers make them', () => {
    const flags = ['exact-centre', 'synthetic-window', 'instant-press'];
    for (const seed of SEEDS) {
      const { botScore, detectionFlags } = scoreTrace(imitate(IMITATED_PHONE, seed));
      expect([botScore >= MEDIUM, botScore < BOT, detectionFlags.sort()]).toEqual([true, true, flags.sort()]);
      const h: [number, number, number, number] = [8, 4, 5, 0];
      const onPhone = { ...IMITATED_PHONE, environment: { ...IMITATED_PHONE.environment, h } };
      expect(scoreTrace(imitate(onPhone, seed)).detectionFlags).toEqual([]);
      expect(scoreTrace(imitate({ ...IMITATED_PHONE, barsPx: 0 }, seed)).detectionFlags).toEqual([]);
    }
  });

  it('that is a script of the page is noticed, but not enough', () => {
    const { botScore, detectionFlags } = scoreTrace(imitate(script!));
    expect([botScore > BASE, botScore < BOT, detectionFlags]).toEqual([true, true, ['untrusted-events']]);
  });
});

describe('a synthetic person', () => {
  it.each(Object.entries(PEOPLE))('is no bot: %s', (_, manner) => {
    for (const seed of SEEDS) expect(scoreTrace(imitate(manner, seed)).botScore).toBeLessThan(MEDIUM);
  });

  it.each(['mouse and keyboard', 'keyboard only', 'touch', 'tap-to-click trackpad', 'screen reader', 'input method'])(
    'raises nothing: %s',
    (name) => {
      for (const seed of SEEDS) {
        const { botScore, detectionFlags } = scoreTrace(imitate(PEOPLE[name]!, seed));
        expect([botScore, detectionFlags]).toEqual([BASE, []]);
      }
    },
  );

  it('whose taps on a trackpad are all held for 180 ms raises nothing, and with what else people have stays low', () => {
    const together = { ...HELD_TAPS, ...PEOPLE['undocked developer tools']!, network: 24_940 };
    for (const seed of SEEDS) {
      expect(scoreTrace(imitate(HELD_TAPS, seed)).detectionFlags).toEqual([]);
      const { botScore, detectionFlags } = scoreTrace(imitate(together, seed));
      expect([botScore < MEDIUM, detectionFlags]).toEqual([true, ['devtools-protocol', 'datacenter-network']]);
    }
  });

  it('whose spoken commands press and insert a kept text is no bot, also in a data centre', () => {
    for (const seed of SEEDS)
      for (const network of [undefined, 24_940])
        expect(scoreTrace(imitate({ ...KEPT_TEXT, network }, seed)).botScore).toBeLessThan(BOT);
  });

  it('who works for half an hour is not suspected for one odd minute', () => {
    const odd = { approach: 'jump', isCentred: true, isFractional: true } as const;
    expect(scoreTrace(imitate(odd)).botScore).toBeGreaterThanOrEqual(BOT);
    const { botScore } = scoreTrace(imitateTasks([...Array<Manner>(20).fill({}), odd, ...Array<Manner>(10).fill({})]));
    expect(botScore).toBeLessThan(MEDIUM);
  });
});

describe('a person with a screen reader', () => {
  /** Presses as Chromium makes them for assistive technology, at changing places. */
  const simulate = (
    builder: TraceBuilder,
    count: number,
    { moves = 0, heldMs = 0.2, offset10 = 0, isFocusedBy = false } = {},
  ) => {
    const fields = { pressurePercent: 0, offsetX10: offset10, offsetY10: offset10 };
    for (let i = 0; i < count; i++) {
      const x = i % 2 === 0 ? 200 : 600;
      for (let step = 0; step < moves; step++) builder.wait(12).move(x - 9 * (moves - step), 300);
      const takeFocus = () => isFocusedBy && builder.wait(0.5).add(EventCode.Focus, { field: -1, role: 3 });
      builder.wait(900).press(x, 300, heldMs, fields, takeFocus);
    }
    return builder;
  };
  /** Pages with six presses each. On some of them the mouse moves before each press. */
  const turnPages = (movesOf: readonly number[]) => {
    const builder = new TraceBuilder();
    for (const [n, moves] of movesOf.entries()) {
      builder.page(`https://lms.example.edu/${n}`, 1);
      simulate(builder, moves > 0 ? 3 : 6, { moves }).wait(5_000);
    }
    return buildTrace(builder);
  };

  it.each([
    ['the second of two', [0, 4]],
    ['the first of two', [4, 0]],
    ['one of five', [0, 0, 4, 0, 0]],
    ['the later eight', [...Array<number>(8).fill(0), ...Array<number>(8).fill(4)]],
  ])('raises nothing if the mouse moves before each press of a page: %s', (_, movesOf) => {
    const trace = turnPages(movesOf);
    const { botScore, detectionFlags } = scoreTrace(trace);
    expect([botScore, detectionFlags]).toEqual([BASE, []]);
    const segments = scoreSegments(trace);
    expect(segments.map(({ logOdds }) => logOdds)).toEqual(segments.map(() => SCORE_BASE));
    expect(findChange(segments)).toBeNull();
  });

  const SLOW = { heldMs: 120 };
  const ASIDE = { heldMs: 1.5, offset10: 60 };

  it.each([
    ['a slow page', SLOW],
    ['a slow page, after moves', { ...SLOW, moves: 4 }],
    ['elements within a link', ASIDE],
    ['elements within a link, after moves', { ...ASIDE, moves: 4 }],
  ])('is not accused of some presses like those of a mouse: %s', (_, manner) => {
    const few = simulate(simulate(new TraceBuilder(), 20), 3, manner);
    expect(scoreTrace(buildTrace(few)).botScore).toBeLessThan(MEDIUM);
    const apart = simulate(simulate(new TraceBuilder(), 20).page('https://lms.example.edu/2', 1), 3, manner);
    expect(scoreTrace(buildTrace(apart)).botScore).toBeLessThan(MEDIUM);
  });

  it('is not seen in such presses alone, with or without moves, unless they put the focus on what they press', () => {
    const scoreAlone = (manner: Parameters<typeof simulate>[2]) =>
      [0, 4].map((moves) => {
        const { botScore, detectionFlags } = scoreTrace(
          buildTrace(simulate(new TraceBuilder(), 3, { ...manner, moves })),
        );
        return [botScore, detectionFlags];
      });
    const [nothing, slow, aside] = [
      [BASE, []],
      [0.931, ['zero-pressure', 'exact-centre']],
      [0.646, ['zero-pressure']],
    ];
    for (const manner of [SLOW, ASIDE]) expect(scoreAlone(manner)).toEqual([nothing, nothing]);
    expect(scoreAlone({ ...SLOW, isFocusedBy: true })).toEqual([slow, slow]);
    expect(scoreAlone({ ...ASIDE, isFocusedBy: true })).toEqual([aside, aside]);
  });
});

describe('a person with a touch screen', () => {
  /** The keyboard on the screen has keys with codes, which nobody holds, and capitals without Shift. */
  const type = (builder: TraceBuilder) => {
    const flags = EVENT_FLAGS.trusted | EVENT_FLAGS.hasCode;
    for (let i = 0; i < 40; i++) {
      const write = () =>
        builder.add(EventCode.Input, { flags: EVENT_FLAGS.trusted | EVENT_FLAGS.multiline, valueLength: i + 1 });
      builder.wait(40 + 61 * (i % 7)).key(i % 8 === 0 ? 'capital' : 'letter', 2, flags, write);
    }
  };
  const touch = (builder: TraceBuilder) => builder.add(EventCode.Touch, { touches: 1 });
  /** Pages, each of which is a document, or all in one. */
  const visit = (acts: readonly ((builder: TraceBuilder) => unknown)[], isOneDocument: boolean) => {
    const builders: TraceBuilder[] = [];
    for (const [n, act] of acts.entries()) {
      const document = n.toString(16).padStart(16, 'b');
      if (n === 0 || !isOneDocument) builders.push(new TraceBuilder({ document, originMs: START_MS + n * TASK_MS }));
      else builders[0]!.page(`https://lms.example.edu/${n}`, 1);
      act(builders.at(-1)!);
    }
    return buildTrace(builders);
  };

  describe.each([
    ['documents', false],
    ['pages of a document', true],
  ])('who turns %s', (_, isOneDocument) => {
    it.each([
      ['after the touched one', [touch, type]],
      ['before it', [type, touch]],
      ['long after it', [touch, () => undefined, type, type]],
    ])('raises nothing with the keyboard on the screen on one %s', (_, acts) => {
      const trace = visit(acts, isOneDocument);
      const { botScore, detectionFlags } = scoreTrace(trace);
      expect([botScore, detectionFlags]).toEqual([BASE, []]);
      expect(scoreSegments(trace).filter(({ logOdds }) => logOdds !== SCORE_BASE)).toEqual([]);
    });

    it('is known by a touch alone', () => {
      const { detectionFlags } = scoreTrace(visit([() => undefined, type], isOneDocument));
      expect(detectionFlags).toEqual(['capital-without-shift', 'instant-keys']);
    });
  });
});

it('a person whose mouse rests on a button and presses it again and again is not taken for a program', () => {
  // Wayland: between two pixels. By chance it came to rest in the middle.
  const builder = new TraceBuilder().wait(2_000);
  for (let step = 0; step < 30; step++) builder.wait(12).move(100 + 5 * step, 300);
  const middle = { offsetX10: 4, offsetY10: -3, width: 24, height: 24 };
  for (let page = 0; page < 25; page++)
    builder.wait(3_000 + 170 * page).press(247.4, 300.6, 70 + 9 * (page % 5), middle);
  const { botScore, detectionFlags } = scoreTrace(buildTrace(builder));
  expect([botScore, detectionFlags]).toEqual([BASE, []]);
});

describe('a person with a tablet that controls the desktop', () => {
  /** Taps and keys that nobody holds. */
  const tapping: Manner = { ...PEOPLE['remote desktop']!, holdMs: () => 1, dwellMs: () => 1 };
  const writing: Manner = { ...tapping, approach: 'none', presses: 'keyboard' };

  it('is not suspected, also while only the keyboard is used', () => {
    for (const seed of SEEDS) expect(scoreTrace(imitate(tapping, seed)).botScore).toBeLessThan(MEDIUM);
    const judgement = scoreTrace(imitateTasks([tapping, writing, writing]));
    expect(judgement.detectionFlags).toEqual(['no-approach']);
  });
});

describe('a session', () => {
  it('that a program takes over after ten minutes is a bot, and the evidence says when', () => {
    const { botScore, findings } = scoreTrace(
      imitateTasks([...Array<Manner>(10).fill({}), AGENTS['raw cdp keys']!, AGENTS['raw cdp keys']!]),
    );
    expect(botScore).toBeGreaterThanOrEqual(BOT);
    const found = findings.filter(({ state, weight }) => state === 'found' && weight > 0);
    expect(found.map(({ flag }) => flag)).toEqual(
      expect.arrayContaining(['zero-pressure', 'no-approach', 'instant-keys']),
    );
    for (const moment of found.flatMap(({ moments }) => moments)) {
      expect(Date.parse(moment)).toBeGreaterThanOrEqual(START_MS + 10 * TASK_MS);
    }
  });

  it('without anything is not judged', () => {
    const expected = { botScore: BASE, detectionFlags: [], ruleSetVersion: RULE_SET_VERSION };
    expect(scoreTrace({ userAgent: '', batches: [] })).toMatchObject(expected);
    expect(scoreTrace(buildTrace(new TraceBuilder()))).toMatchObject(expected);
  });

  it('without proof is no bot if the findings are of one group', () => {
    const environment = { q: [9, 9] as [number, number], v: [1280, 720, 1280, 720, ...DESKTOP.v.slice(4)] };
    const manner = { environment: { ...environment, v: environment.v as typeof DESKTOP.v, b: 2 + 32 } };
    const { botScore, detectionFlags } = scoreTrace(imitate(manner));
    expect([botScore, detectionFlags]).toEqual([0.562, ['headless', 'devtools-protocol', 'synthetic-window']]);
    const odd = { pressurePercent: 0, isFractional: true, isMismatched: true, hasShift: false };
    const typist = scoreTrace(imitate({ ...odd, userAgent: WINDOWS }));
    expect([typist.botScore, typist.detectionFlags.length]).toEqual([0.69, 4]);
  });

  it('without proof is no bot if too little was done', () => {
    const build = (count: number) => {
      const builder = new TraceBuilder({ environment: { ...DESKTOP, q: [9, 9], b: 32 } });
      for (let i = 0; i < count; i++) {
        builder.wait(900).press(90 * i + 0.5, 300, 2, { pressurePercent: 0, offsetX10: 0, offsetY10: 0 });
      }
      return scoreTrace(buildTrace(builder)).botScore;
    };
    expect([build(2), build(6)]).toEqual([0.69, 0.999]);
  });

  /** Pages with three presses each, on some of which they hit the middle. */
  const pressOn = (pages: readonly boolean[], moves = 9) => {
    const builder = new TraceBuilder();
    for (const [n, isCentred] of pages.entries()) {
      builder.page(`https://lms.example.edu/${n}`, 1);
      for (let i = 0; i < 3; i++) {
        const x = 200 + 300 * i;
        for (let step = 0; step < moves; step++) builder.wait(12).move(x - 9 * (moves - step), 300);
        builder.wait(900).press(x, 300, 60 + 17 * i, isCentred ? { offsetX10: 0, offsetY10: 0 } : {});
      }
    }
    return scoreTrace(buildTrace(builder));
  };

  it('counts its worst parts the less, the fewer of all they are', () => {
    const scores = [0, 1, 2, 3].map((odd) => pressOn([0, 1, 2, 3].map((page) => page < odd)).botScore);
    // Of three in four, the whole session is odd.
    expect(scores).toEqual([BASE, 0.053, 0.1, 0.182]);
  });

  it('has the strongest finding of a group in full, wherever it stands in the table, and of others a quarter', () => {
    const { findings } = pressOn([true, true], 0);
    const weights = findings.filter(({ weight }) => weight > 0).map(({ flag, weight }) => [flag, weight]);
    expect(weights).toEqual([
      ['exact-centre', 2],
      ['no-approach', 0.375],
    ]);
  });

  it('with proof needs nothing else', () => {
    for (const flag of ['webdriver', 'automation-globals', 'declared-agent']) {
      expect(RULES.find(({ rule }) => rule.flag === flag)!.isProof).toBe(true);
    }
    expect(RULES.filter(({ isProof }) => isProof)).toHaveLength(3);
    const environment = { ...DESKTOP, w: 1 as const };
    expect(scoreTrace(buildTrace(new TraceBuilder({ environment }))).botScore).toBe(0.971);
  });
});

describe('a judgement', () => {
  it('is the same for any order of arrival, and for repeats', () => {
    for (const manner of [AGENTS['puppeteer stealth']!, PEOPLE['mouse and keyboard']!]) {
      const { batches, userAgent } = imitateTasks([manner, manner]);
      const expected = JSON.stringify(scoreTrace({ userAgent, batches }));
      fc.assert(
        fc.property(
          fc.shuffledSubarray([...batches], { minLength: batches.length }),
          fc.subarray([...batches]),
          (all, some) => {
            const late = some.map((batch) => ({ ...batch, receivedAtMs: batch.receivedAtMs + 5_000 }));
            expect(JSON.stringify(scoreTrace({ userAgent, batches: [...late, ...all] }))).toBe(expected);
          },
        ),
        { numRuns: 5 },
      );
    }
  });

  it('lists every rule once, those that count most first, and its flags are those found', () => {
    const { findings, detectionFlags } = scoreTrace(imitate(AGENTS['playwright fill']!));
    expect(findings.map(({ flag }) => flag).sort()).toEqual(RULES.map(({ rule }) => rule.flag).sort());
    const weights = findings.map(({ weight }) => weight);
    expect(weights).toEqual([...weights].sort((a, b) => b - a));
    expect(findings[0]).toMatchObject({ flag: 'webdriver', state: 'found', measured: 'true', weight: 7 });
    expect([...detectionFlags].sort()).toEqual(
      findings
        .filter(({ weight }) => weight > 0)
        .map(({ flag }) => flag)
        .sort(),
    );
    // Others of the group count a quarter.
    expect(findings.find(({ flag }) => flag === 'headless')).toMatchObject({ state: 'found', weight: 0.75 });
  });

  it('fits the fact, also when everything is found many times', () => {
    const everything: Manner = {
      ...{ ...AGENTS['raw cdp keys'], isCentred: true, isFractional: true, isFocusSudden: true, hasShift: false },
      environment: { w: 1, q: [9, 9], b: 2 + 32, v: [1280, 720, 1280, 720, ...DESKTOP.v.slice(4)] as typeof DESKTOP.v },
      marks: ['cdc_adoQpoasnfa*', '__playwright_*', '__puppeteer_*', 'claude-phantom-cursor'],
    };
    const { findings, detectionFlags } = scoreTrace(imitateTasks(Array(20).fill(everything)));
    expect(detectionFlags.length).toBeGreaterThan(10);
    expect(new TextEncoder().encode(JSON.stringify(findings)).length).toBeLessThan(MAX_EVIDENCE_BYTES * 0.75);
    expect(evidenceInput.parse(findings)).toEqual(findings);
    for (const manner of [...Object.values(AGENTS), ...Object.values(PEOPLE)])
      evidenceInput.parse(scoreTrace(imitate(manner)).findings);
  });

  it('never throws on what readBeacon accepts, and neither do the other readings', () => {
    const codes = Object.keys(EVENT_FIELDS).map((code) => Number(code) as EventCode);
    const value = fc.oneof(
      fc.integer({ min: -1, max: 2 }),
      fc.integer({ min: -100_000, max: 100_000 }),
      fc.maxSafeInteger(),
    );
    const event = fc
      .tuple(fc.constantFrom(...codes), value, fc.array(value, { minLength: 13, maxLength: 13 }))
      .map(([code, time, fields]) => {
        const names: readonly string[] = EVENT_FIELDS[code];
        const small = names.map((name, i) => (name === 'flags' ? EVENT_FLAGS.trusted : Math.abs(fields[i]!) % 3));
        return [
          code,
          time % 300_000,
          ...small.map((field, i) => (/^(dx|dy|y|.*10)$/.test(names[i]!) ? fields[i]! % 2 ** 40 : field)),
        ];
      });
    const batch = fc.record({
      ...{
        ev: fc.array(event, { maxLength: 40 }).map((events) => events.flat()),
        n: fc.nat(9),
        d: fc.constantFrom('a', 'b'),
      },
      ...{
        c: fc.tuple(
          fc.double({ min: 0, max: 2 ** 40, noNaN: true }),
          fc.double({ min: -8e15, max: 8e15, noNaN: true }),
        ),
      },
      ...{ m: fc.array(fc.nat(22), { maxLength: 5 }), receivedAtMs: fc.integer({ min: 0, max: 4_000_000_000_000 }) },
    });
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 6 }), (raw) => {
        const batches: TraceBatch[] = raw.flatMap(({ receivedAtMs, d, ...content }) => {
          const rest = { v: 1, k: `site_${'A'.repeat(24)}`, s: 'a'.repeat(32), d: d.repeat(16), e: DESKTOP };
          const beacon = readBeacon({
            ...rest,
            ...content,
            p: ['https://a.example/', 'https://a.example/b', 'https://a.example/c'],
          });
          return beacon === null ? [] : [{ ...beacon, events: packNumbers(beacon.ev), receivedAtMs }];
        });
        accepted += batches.length;
        const { botScore, findings } = scoreTrace({ userAgent: CHROME, batches });
        expect(botScore >= 0 && botScore <= 1).toBe(true);
        expect(evidenceInput.safeParse(findings).success).toBe(true);
        readPresence({ batches });
        for (const { timestampMs, durationMs } of summariseEvents(batches, anchorDocuments(batches))) {
          expect(Number.isSafeInteger(timestampMs) && (durationMs === null || durationMs >= 0)).toBe(true);
        }
      }),
      { numRuns: 80 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});
