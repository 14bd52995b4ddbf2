import { describe, expect, it } from 'vitest';
import { createAlertRuleInput } from '../../contract/alert-rules';
import { type Condition, findDueEnds, findFirings } from '../../server/findings/alert-decision';
import { type Described, showWindow, writeMessage } from '../../server/findings/alert-message';

// When alert rules fire, what they say, and what a rule must look like.

const NOW = 29_000_000;
const condition = (fields: Partial<Condition> = {}): Condition => ({
  ...{ metric: 'botSessions', windowMinutes: 10, comparison: 'gte', value: 3, minSessions: 20, coolDownMinutes: 10 },
  ...fields,
});
/** A series of minutes before `NOW`: [minutes ago, count, total]. */
function series(...entries: [ago: number, count: number, total?: number][]) {
  const sorted = entries.sort(([a], [b]) => b - a);
  return {
    minutes: sorted.map(([ago]) => NOW - ago),
    counts: sorted.map(([, count]) => count),
    totals: sorted.map(([, , total = 0]) => total),
  };
}
const hours = (count: number) => ({ first: NOW - 60 * count, last: NOW });
const endsOf = (...parameters: Parameters<typeof findFirings>) =>
  findFirings(...parameters).map(({ end, value }) => [NOW - end, value]);

describe('a rule', () => {
  it('fires for the first window in which it holds, whichever minutes the window begins in', () => {
    expect(endsOf(condition(), series([30, 1], [25, 1], [21, 1]), hours(2))).toEqual([[20, 3]]);
    // The first has left the window when the third enters it.
    expect(endsOf(condition(), series([31, 1], [25, 1], [21, 1]), hours(2))).toEqual([]);
    expect(endsOf(condition(), series([30, 1], [25, 1], [21, 1]), hours(2), [])).toHaveLength(1);
  });

  it('fires again after its cool-down, as long as it holds', () => {
    const busy = series(...Array.from({ length: 61 }, (_, n): [number, number] => [n, 1]));
    const coolDown = (coolDownMinutes: number) =>
      endsOf(condition({ coolDownMinutes }), busy, { first: NOW - 57, last: NOW }).map(([ago]) => ago);
    expect(coolDown(10)).toEqual([57, 47, 37, 27, 17, 7]);
    expect(coolDown(25)).toEqual([57, 32, 7]);
  });

  it('does not fire within the cool-down before or after a window for which it fired', () => {
    const counted = series([40, 3], [30, 3], [20, 3]);
    expect(endsOf(condition(), counted, hours(2))).toEqual([
      [39, 3],
      [29, 3],
      [19, 3],
    ]);
    expect(endsOf(condition(), counted, hours(2), [NOW - 29])).toEqual([
      [39, 3],
      [19, 3],
    ]);
    expect(endsOf(condition(), counted, hours(2), [NOW - 34])).toEqual([
      [24, 3],
      [14, 3],
    ]);
  });

  it('fires at most as often as it may in one judgement', () => {
    expect(findFirings(condition(), series([40, 3], [20, 3]), hours(2), [], 1)).toEqual([{ end: NOW - 39, value: 3 }]);
  });

  it.each([
    ['gte', 3, [2, 3, 4], [false, true, true]],
    ['gt', 3, [2, 3, 4], [false, false, true]],
    ['lte', 3, [2, 3, 4], [true, true, false]],
    ['lt', 3, [2, 3, 4], [true, false, false]],
  ] as const)('compares with %s', (comparison, value, counts, expected) => {
    const at = { first: NOW, last: NOW };
    const fires = counts.map((n) => findFirings(condition({ comparison, value }), series([1, n]), at).length > 0);
    expect(fires).toEqual(expected);
  });

  it('of nothing holds if there must be fewer', () => {
    expect(endsOf(condition({ comparison: 'lt' }), series(), { first: NOW, last: NOW })).toEqual([[0, 0]]);
  });

  it('of a share counts the sessions of its window alone', () => {
    const share = condition({ metric: 'botShare', value: 50 });
    expect(endsOf(share, series([30, 0, 100], [5, 15, 20]), hours(1))).toEqual([[4, 75]]);
  });

  it('of a share or an average needs its least number of sessions', () => {
    const share = condition({ metric: 'botShare', value: 50 });
    expect(endsOf(share, series([3, 10, 19]), hours(1))).toEqual([]);
    expect(endsOf(share, series([3, 9, 19], [2, 1, 1]), hours(1))).toEqual([[1, 50]]);
    const average = condition({ metric: 'averageScore', comparison: 'lt', value: 0.5, minSessions: 2 });
    expect(endsOf(average, series([3, 0.3e6, 1]), hours(1))).toEqual([]);
    expect(endsOf(average, series([3, 0.3e6, 1], [2, 0.6e6, 1]), hours(1))).toEqual([[1, 0.45]]);
  });
});

describe('the windows that are judged', () => {
  const ends = (fields: Partial<Condition>, judgedFrom = 0) => {
    const due = findDueEnds(condition(fields), NOW, judgedFrom);
    return due && [due.first - NOW, due.last - NOW];
  };

  it('begin within the last day, so that late facts count', () => {
    expect(ends({})).toEqual([-1_430, 1]);
    expect(ends({ windowMinutes: 720 })).toEqual([-720, 1]);
    expect(ends({ windowMinutes: 1_440 })).toEqual([0, 1]);
    expect(ends({ windowMinutes: 10_080 })).toEqual([0, 1]);
  });

  it('contain the present minute only if the rest of it cannot make the rule false', () => {
    expect(ends({ comparison: 'gt' })).toEqual([-1_430, 1]);
    expect(ends({ comparison: 'lt' })).toEqual([-1_430, 0]);
    expect(ends({ metric: 'botShare' })).toEqual([-1_430, 0]);
    expect(ends({ metric: 'averageScore' })).toEqual([-1_430, 0]);
    expect(ends({ metric: 'failedDeliveries' })).toEqual([-1_430, 1]);
  });

  it('end after the rule was made', () => {
    expect(ends({}, NOW - 5)).toEqual([-4, 1]);
    expect(ends({}, NOW)).toEqual([1, 1]);
    expect(ends({ comparison: 'lt' }, NOW)).toBeNull();
  });
});

describe('a message', () => {
  const rule: Described = {
    ...({ name: 'Many bots', metric: 'botSessions', scope: 'integration', scopeValue: '', courseName: null } as const),
    ...{ windowMinutes: 10, value: 25, message: '' },
  };

  it('has its placeholders filled', () => {
    const message = '{{rule}}: {{value}} of {{ threshold }} in {{window}}, {{scope}} {value} {{value}}';
    expect(writeMessage({ ...rule, message }, 27)).toBe(
      'Many bots: 27 of 25 in 10 minutes, the whole integration {value} 27',
    );
    const inScope = (fields: object) => writeMessage({ ...rule, message: '{{scope}}', ...fields }, 1);
    expect(inScope({ scope: 'user', scopeValue: 'ada' })).toBe('user ada');
    expect(inScope({ scope: 'course', scopeValue: 'f00' })).toBe('course f00');
    expect(inScope({ scope: 'course', scopeValue: 'f00', courseName: 'Course 42' })).toBe('Course 42');
    const shown = (metric: 'botShare' | 'averageScore', value: number) =>
      writeMessage({ ...rule, metric, message: '{{value}}' }, value);
    expect(shown('botShare', 200 / 3)).toBe('66.7 %');
    expect(shown('averageScore', 0.81449)).toBe('0.814');
  });

  it('says a value that is neither the limit that it passes, nor nothing, nor all', () => {
    const say = (metric: 'botShare' | 'averageScore', value: number, measured: number) =>
      writeMessage({ ...rule, metric, value, message: '{{value}}, limit {{threshold}}' }, measured);
    expect(say('botShare', 50, 50.04)).toBe('50.04 %, limit 50 %');
    expect(say('botShare', 50, 50)).toBe('50 %, limit 50 %');
    expect(say('botShare', 0, 100 / 3_000)).toBe('0.03 %, limit 0 %');
    expect(say('botShare', 0.04, 5)).toBe('5 %, limit 0.04 %');
    expect(say('botShare', 90, 99.96)).toBe('99.96 %, limit 90 %');
    expect(say('averageScore', 0.7, 0.69997)).toBe('0.69997, limit 0.7');
  });

  it('says windows in the largest whole unit', () => {
    expect([5, 60, 90, 120, 1_440, 10_080].map(showWindow)).toEqual([
      ...['5 minutes', '1 hour', '90 minutes', '2 hours', '1 day', '7 days'],
    ]);
  });

  it('is text of bounded length without control characters, whatever a name holds', () => {
    const odd = {
      ...rule,
      scope: 'user',
      scopeValue: 'a\u001b[31m\r\nb\u0085{{rule}}$&<b>',
      message: '{{scope}}',
    } as const;
    expect(writeMessage(odd, 1)).toBe('user a [31m  b {{rule}}$&<b>');
    const long = { ...rule, name: '😀'.repeat(100), message: '{{rule}}'.repeat(50) };
    expect([...writeMessage(long, 1)]).toHaveLength(1_000);
  });
});

describe('the input of a rule', () => {
  const input = (fields: object = {}) => ({
    ...{ name: 'Many bots', metric: 'botSessions', scope: { kind: 'integration' }, windowMinutes: 10 },
    ...{ comparison: 'gte', value: 25, severity: 'high', message: '{{value}} bots', ...fields },
  });

  it('is completed', () => {
    expect(createAlertRuleInput.parse(input())).toEqual({
      ...input({ scope: { kind: 'integration', value: null }, anomalyType: null, minSeverity: null, minSessions: 20 }),
      ...{ coolDownMinutes: 10, enabled: true },
    });
    const scope = { kind: 'Origin', value: 'HTTPS://LMS.example.edu:443/x' };
    expect(createAlertRuleInput.parse(input({ scope })).scope).toEqual({
      ...{ kind: 'origin', value: 'https://lms.example.edu' },
    });
  });

  const anomalies = { metric: 'anomalies' };
  const share = { metric: 'botShare' };
  it.each([
    ['name', { name: ' \n ' }, 'must not be empty'],
    ['name', { name: '\u200b\u2060' }, 'must not be empty'],
    ['name', { name: 'x'.repeat(101) }, 'must have 1 to 100 characters'],
    ['metric', { metric: 'bots' }, 'must be one of botSessions, botShare, anomalies, averageScore, failedDeliveries'],
    [
      'scope.kind',
      { metric: 'failedDeliveries', scope: { kind: 'user', value: 'u' } },
      'must be integration for failedDeliveries',
    ],
    [
      'scope.kind',
      { ...anomalies, scope: { kind: 'course', value: 'c' } },
      'must be integration or user for anomalies',
    ],
    ['scope.value', { scope: { kind: 'user' } }, 'is required'],
    ['scope.value', { scope: { kind: 'integration', value: 'x' } }, 'must be left out for the whole integration'],
    [
      'scope.value',
      { scope: { kind: 'origin', value: 'lms' } },
      'must be an origin, for example https://lms.example.edu',
    ],
    ['anomalyType', { anomalyType: 'SharedDevice' }, 'is for the metric anomalies only'],
    ['minSeverity', { minSeverity: 'high' }, 'is for the metric anomalies only'],
    ['windowMinutes', { windowMinutes: 4 }, 'must be at least 5 minutes'],
    ['windowMinutes', { windowMinutes: 10_081 }, 'must be at most 7 days, in minutes'],
    ['windowMinutes', { windowMinutes: 7.5 }, 'must be a whole number of minutes'],
    ['coolDownMinutes', { coolDownMinutes: 1 }, 'must be at least 5 minutes'],
    ['comparison', { comparison: 'eq' }, 'must be one of gte, gt, lte, lt'],
    ['value', { value: 2.5 }, 'must be a whole number'],
    ['value', { value: -1 }, 'must be between 0 and 1000000 for botSessions'],
    ['value', { ...share, value: 101 }, 'must be between 0 and 100 for botShare'],
    ['value', { metric: 'averageScore', value: 1.5 }, 'must be between 0 and 1 for averageScore'],
    ['value', { value: 0 }, 'must be above 0 for gte'],
    ['value', { value: 0, comparison: 'lt' }, 'must be above 0 for lt'],
    ['value', { ...share, value: 100, comparison: 'gt' }, 'must be below 100 for gt'],
    ['minSessions', { minSessions: 0 }, 'must be at least 1'],
    ['severity', { severity: 'critical' }, 'must be one of low, medium, high'],
    ['message', { message: '\u0001' }, 'must not be empty'],
    ['message', { message: 'x'.repeat(501) }, 'must have 1 to 500 characters'],
    [
      'message',
      { message: 'In {{minutes}} minutes' },
      'has the unknown placeholder {{minutes}}; known are {{value}}, {{threshold}}, {{window}}, {{scope}}, {{rule}}',
    ],
    ['message', { message: '{{}}' }, /unknown placeholder \{\{\}\}/],
  ] as const)('refuses a bad %s: %j', (field, fields, message) => {
    const { error } = createAlertRuleInput.safeParse(input(fields));
    const [issue] = error?.issues ?? [];
    expect(issue?.path.join('.')).toBe(field);
    expect(issue?.message).toMatch(message);
  });
});
