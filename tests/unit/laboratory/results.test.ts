import { describe, expect, it } from 'vitest';
import { RULES } from '../../../server/detection/rules/table';
import { RULE_SET_VERSION, scoreTrace } from '../../../server/detection/score';
import { expectWeight, fitSubjects } from '../../lab/fit';
import { estimateRate } from '../../lab/interval';
import { type Judged, type JudgedSubject, judgeSubject, summariseSubjects } from '../../lab/judge';
import { readAllRecordings, readTrace } from '../../lab/recordings';
import { readResults, readSection, writeSection } from '../../lab/tables';

describe('the interval of a rate', () => {
  // Reference values of Wilson's interval, without correction for continuity.
  it.each([
    [0, 10, 0, 0.2775],
    [5, 10, 0.2366, 0.7634],
    [10, 10, 0.7225, 1],
    [1, 300, 0.0006, 0.0186],
    [0, 0, 0, 1],
  ])('of %i in %i is from %f to %f', (count, of, low, high) => {
    expect(estimateRate(count, of)).toEqual({ count, of, low, high });
  });
});

const session = (found: string[], botScore: number, seed: number): Judged => ({
  ...{ task: 'quiz', seed, botScore, found, botd: null },
});
const subject = (more: Partial<JudgedSubject>): JudgedSubject => ({
  ...{ name: 'some', family: 'some', kind: 'driver', input: 'real', isHeadful: true, sessions: [] },
  ...more,
});

describe('a summary', () => {
  it('counts held-out sessions only, and puts misses and false accusations first', () => {
    const all = [
      subject({ name: 'seen', sessions: [session(['webdriver'], 0.97, 4), session([], 0.03, 3)] }),
      subject({ name: 'missed', family: 'other', sessions: [session([], 0.03, 4), session(['headless'], 0.5, 5)] }),
      subject({ name: 'calm', kind: 'control', sessions: [session([], 0.03, 4)] }),
      subject({ name: 'accused', kind: 'control', sessions: [session(['no-approach'], 0.71, 4)] }),
      subject({ name: 'imagined', kind: 'control', input: 'simulated', sessions: [session(['webdriver'], 1, 4)] }),
    ];
    const { drivers, people, simulated, allDrivers, allPeople, rules, sessions } = summariseSubjects(all);
    expect(sessions).toEqual({ drivers: 3, people: 2, simulated: 1 });
    expect(drivers.map(({ name, bot, noticed }) => [name, bot.count, noticed.count, bot.of])).toEqual([
      ['missed', 0, 1, 2],
      ['seen', 1, 1, 1],
    ]);
    expect(people.map(({ name, bot }) => [name, bot.count])).toEqual([
      ['accused', 1],
      ['calm', 0],
    ]);
    expect(simulated.map(({ name }) => name)).toEqual(['imagined']);
    expect([allDrivers.bot.count, allDrivers.bot.of, allPeople.bot.count, allPeople.bot.of]).toEqual([1, 3, 1, 2]);
    expect(rules.webdriver).toEqual({ drivers: { found: 1, of: 3 }, people: { found: 0, of: 2 } });
  });
});

describe('fitted weights', () => {
  const make = (kind: 'driver' | 'control', family: string, found: string[]) =>
    subject({
      ...{ name: family, family, kind },
      sessions: Array.from({ length: 80 }, (_, i) => session(found, 0.5, 1 + (i % 6))),
    });
  const telling = ['zero-pressure', 'exact-centre'];
  const subjects = [
    make('driver', 'one', [...telling, 'page-jumps', 'uncoalesced-moves']),
    make('driver', 'two', [...telling, 'instant-keys', 'uncoalesced-moves']),
    make('driver', 'unlike others', ['capital-without-shift', 'no-approach']),
    make('control', 'people', ['uncoalesced-moves']),
  ];
  const { families, people, weights } = fitSubjects(subjects);
  const find = (flag: string) => weights.find((weight) => weight.flag === flag)!;

  it('are large for what only programs do, small for what people do too, and never negative', () => {
    expect(find('zero-pressure').fitted).toBeGreaterThan(1.5);
    expect(find('uncoalesced-moves').fitted).toBeLessThan(0.5);
    expect(find('webdriver')).toMatchObject({ fitted: null, range: null });
    for (const { fitted } of weights) expect(fitted ?? 0).toBeGreaterThanOrEqual(0);
  });

  it('judge each family without having seen it, misses first', () => {
    expect(find('capital-without-shift').fitted).toBeGreaterThan(2);
    expect(families.map(({ family, bot }) => [family, bot.count, bot.of])).toEqual([
      ['unlike others', 0, 39],
      ['one', 39, 39],
      ['two', 39, 39],
    ]);
    expect(people.bot.count).toBe(0);
  });

  it('do not rise for rules that may also flag some people', () => {
    expect(['no-approach', 'exact-centre'].map((flag) => find(flag).fitted)).toEqual([1.5, 2]);
  });

  it('are expected around the weight in use for a rule that came later', () => {
    const { rule } = RULES.find(({ weight, isProof }) => weight > 0 && !isProof)!;
    expect(expectWeight({ rule: { ...rule, flag: 'a-new-rule' }, weight: 1.2 })).toBe(1.2);
  });

  it('are the same each time', () => {
    expect(fitSubjects(subjects)).toEqual(fitSubjects(subjects));
  });

  it('need sessions that are not held out', () => {
    expect(() => fitSubjects(subjects.map((of) => ({ ...of, sessions: [] })))).toThrow('seeds 1 to 3');
  });
});

describe('the recordings', () => {
  const all = readAllRecordings();
  const results = readResults()!;

  it('get the score that the product gave, by the same rules', () => {
    for (const recording of all.flatMap(({ recordings }) => recordings)) {
      if (recording.ruleSetVersion !== RULE_SET_VERSION) continue;
      const { botScore, detectionFlags } = scoreTrace(readTrace(recording));
      const { subject: name, task, seed } = recording;
      expect({ name, task, seed, botScore, detectionFlags }).toEqual({
        ...{ name, task, seed },
        ...{ botScore: recording.botScore, detectionFlags: recording.detectionFlags },
      });
    }
  });

  it('give the stored results by the present rules (else: npm run lab -- judge)', () => {
    const { fit: _, ...stored } = results;
    expect(stored).toEqual(JSON.parse(JSON.stringify(summariseSubjects(all.map(judgeSubject)))));
  });

  it('are what the tables of docs/detection.md show', () => {
    expect(readSection()).toBe(writeSection(results));
  });
});
