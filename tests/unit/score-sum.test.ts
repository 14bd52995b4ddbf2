import { describe, expect, it } from 'vitest';
import { sumUpScore } from '../../app/dashboard/[integrationId]/sessions/[sessionId]/score-sum';
import {
  addMissingRules,
  explainUnmeasured,
} from '../../app/dashboard/[integrationId]/sessions/[sessionId]/unmeasured-words';
import { chooseScaleEnd, isDecided, readUsualRange } from '../../app/dashboard/[integrationId]/sessions/usual-range';
import { listVisits } from '../../server/demo/visits';
import { MAX_UNPROVEN_SCORE, SCORE_BASE } from '../../server/detection/log-odds';
import { RULE_SET_VERSION, RULES } from '../../server/detection/rules/table';

const SCORING = { base: SCORE_BASE, maxUnprovenScore: MAX_UNPROVEN_SCORE };
const scoreOf = (logOdds: number) => Math.round(1_000 / (1 + Math.exp(-logOdds))) / 1_000;
const finding = (flag: string, weight: number) => ({
  ...{ flag, weight, group: 'pointer' as const, state: 'found' as const, measured: 1, expected: null, moments: [] },
});

describe('the sum of a score', () => {
  it('is that of the start and the weights, for every recorded visit, or the page says why not', () => {
    const kinds = listVisits().map(({ botScore, findings, ruleSetVersion }) => {
      const shown = findings.map(({ momentsMs: _, ...one }) => ({ ...one, moments: [] }));
      const { kind, total, less, parts } = sumUpScore({ botScore, ruleSetVersion, findings: shown }, SCORING);
      if (kind === 'sum') expect(scoreOf(total)).toBeCloseTo(botScore, 2);
      if (kind === 'held') expect(botScore).toBe(MAX_UNPROVEN_SCORE);
      if (kind === 'parts') expect(scoreOf(total - less)).toBeCloseTo(botScore, 3);
      const last = parts.at(-1);
      expect(last ? last.from + last.weight : SCORE_BASE).toBeCloseTo(total, 9);
      return kind;
    });
    expect(new Set(kinds)).toContain('sum');
    expect(kinds).not.toContain('other');
  });

  it('is held without proof, less if it was seen in parts, and nothing is claimed of a pipeline’s score', () => {
    const findings = [finding('a', 4), finding('b', 1)];
    const sum = (botScore: number, ruleSetVersion: string | null = RULE_SET_VERSION) =>
      sumUpScore({ botScore, ruleSetVersion, findings }, SCORING);
    expect(sum(scoreOf(1.5))).toMatchObject({ kind: 'sum', total: 1.5, less: 0 });
    expect(sum(MAX_UNPROVEN_SCORE).kind).toBe('held');
    const parts = sum(scoreOf(1.5 - Math.log(3)));
    expect(parts.kind).toBe('parts');
    expect(parts.less).toBeCloseTo(Math.log(3), 2);
    expect(sum(0.99).kind).toBe('other');
    expect(sum(scoreOf(1.5), null).kind).toBe('other');
  });
});

describe('the usual range', () => {
  it('is read from the words of every rule that measures a number', () => {
    const measured = listVisits().flatMap(({ findings }) => findings.filter((one) => typeof one.measured === 'number'));
    const flags = new Set(measured.map(({ flag }) => flag));
    expect(flags.size).toBeGreaterThan(15);
    for (const { rule } of RULES)
      if (flags.has(rule.flag)) expect(readUsualRange(rule.expected), rule.flag).not.toBeNull();
    // It is drawn if that number decides, as it does nearly always.
    const isDrawn = ({ flag, state, measured: value }: (typeof measured)[number]) =>
      isDecided(readUsualRange(RULES.find(({ rule }) => rule.flag === flag)!.rule.expected)!, state, value as number);
    const others = new Set(measured.filter((one) => !isDrawn(one)).map(({ flag }) => flag));
    expect([...others].filter((flag) => !/^(devtools-protocol|instant-press|uniform-typing)$/.test(flag))).toEqual([]);
    expect(isDecided({ from: 0, to: 3 }, 'found', 2)).toBe(false);
    expect(isDecided({ from: 0, to: 0.5 }, 'found', 0.5)).toBe(true);
    expect(isDecided({ from: 12, to: Number.POSITIVE_INFINITY }, 'found', 2)).toBe(true);
    const range = { from: 0.3, to: 0.5 };
    expect([0.3, 0.31, 0.49, 0.5].map((value) => isDecided(range, 'found', value))).toEqual([true, false, false, true]);
    expect([0.29, 0.3, 0.5, 0.51].map((value) => isDecided(range, 'notFound', value))).toEqual([
      ...[false, true, true, false],
    ]);
    expect([readUsualRange('0 events'), readUsualRange('3 marks or fewer'), readUsualRange('none')]).toEqual([
      ...[{ from: 0, to: 0 }, { from: 0, to: 3 }, null],
    ]);
  });

  it('is drawn on a scale that has room for what was measured', () => {
    expect(chooseScaleEnd(readUsualRange('below 0.5 of the presses')!, 0.9, true)).toBe(1);
    expect(chooseScaleEnd(readUsualRange('12 ms or more, and not always the same')!, 90, false)).toBe(90);
    expect(chooseScaleEnd(readUsualRange('0 batches and events')!, 0, false)).toBe(1);
    // A share that is one at most, or that is more because it is none.
    expect([1, 1.5].map((measured) => chooseScaleEnd({ from: 0, to: 0.5 }, measured, true))).toEqual([1, 1.5]);
    expect(chooseScaleEnd({ from: 0, to: 3 }, 2, false)).toBe(6);
  });
});

describe('why a rule measured nothing', () => {
  const counts = { total: 9, mouse: 0, scroll: 1, keyboard: 5, touch: 0, form: 0 };
  const explain = (flag: string, more: object = {}) =>
    explainUnmeasured(flag, 'more', { details: { eventCounts: counts, durationSeconds: 400 }, isLive: false, ...more });

  it('is said for every rule, with what it needs', () => {
    for (const { rule } of RULES) expect(explain(rule.flag)).toMatch(/\. It needs more\.$/);
    expect(explain('zero-pressure')).toBe('No mouse was used. It needs more.');
    expect(explain('text-without-keys')).toMatch('No field was used.');
    expect(explain('replayed-trace', { isLive: true })).toMatch('when the session closes');
    expect(explain('instant-keys', { details: { eventCounts: counts, durationSeconds: 12 } })).toMatch(
      'closed after 12 s',
    );
    const without = { eventCounts: { ...counts, scroll: 0 }, durationSeconds: 400 };
    expect(explain('page-jumps', { details: without })).toMatch('Nothing was scrolled.');
    const ofSeconds = (durationSeconds: number, isLive = false) =>
      explainUnmeasured('instant-keys', undefined, { details: { eventCounts: counts, durationSeconds }, isLive });
    const enough = 'There was not enough, or it does not apply to this browser.';
    expect([ofSeconds(30), ofSeconds(29, true), ofSeconds(400, true)]).toEqual([
      ...[enough, 'There is not enough yet.', 'There is not enough yet.'],
    ]);
    expect(ofSeconds(29)).toBe('The session closed after 29 s, before there was enough.');
    expect(explain('page-jumps', { details: undefined })).toMatch('It does not apply to this browser');
    expect(explain('replayed-trace')).toMatch(enough);
  });

  it('is said for rules that the score does not name', () => {
    const rules = RULES.map(({ rule: { flag, group, plainly, expected, needs } }) => ({
      ...{ flag, group, plainly, expected, needs, isProof: false },
    }));
    const add = (version: string | null) =>
      addMissingRules([finding('declared-agent:claude', 7)], version, { rules, ruleSetVersion: '2' });
    const all = add(null);
    expect(all).toHaveLength(RULES.length);
    expect(all.filter(({ finding: { flag } }) => flag.startsWith('declared-agent'))).toHaveLength(1);
    expect(all[1]).toMatchObject({
      finding: { state: 'notMeasured', weight: 0 },
      why: expect.stringContaining('pipeline'),
    });
    expect(add('1')[1]!.why).toContain('rules 1');
  });
});
