import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { THRESHOLD_OPERATORS, type Threshold, thresholdSchema } from '../../contract/webhooks';
import { passesThreshold } from '../../server/webhooks/thresholds';

type Value = Threshold['value'];
const passes = (payload: Record<string, unknown>, field: string, operator: Threshold['operator'], value: Value) =>
  passesThreshold(payload, { field, operator, value });

/** A value for each operator that an ordinary payload can match. */
const OPERATORS: [Threshold['operator'], Value][] = [
  ['gte', 0],
  ['gt', -1],
  ['lte', 1_000],
  ['lt', 1_000],
  ['eq', 'x'],
  ['neq', 'x'],
  ['in', ['x', 1, true]],
];

describe('the operators', () => {
  it.each<[Threshold['operator'], number, Value, boolean]>([
    ['gte', 0.7, 0.7, true],
    ['gte', 0.69, 0.7, false],
    ['gte', 0.71, 0.7, true],
    ['gt', 0.7, 0.7, false],
    ['gt', 0.71, 0.7, true],
    ['lte', 0.7, 0.7, true],
    ['lte', 0.71, 0.7, false],
    ['lt', 0.7, 0.7, false],
    ['lt', 0.69, 0.7, true],
    ['gte', 3, '3', true],
    ['gt', 3, '2.5', true],
    ['lt', -3, '-2', true],
    ['lte', 3, '2.999', false],
    ['eq', 3, 3, true],
    ['eq', 3, 4, false],
    ['neq', 3, 3, false],
    ['neq', 3, 4, true],
    ['in', 3, [1, 2, 3], true],
    ['in', 3, [1, 2], false],
  ])('%s: %d against %j is %s', (operator, actual, value, expected) => {
    expect(passes({ n: actual }, 'n', operator, value)).toBe(expected);
  });

  it('compare strings and booleans for equality', () => {
    expect(passes({ severity: 'high' }, 'severity', 'eq', 'high')).toBe(true);
    expect(passes({ severity: 'high' }, 'severity', 'eq', 'High')).toBe(false);
    expect(passes({ severity: 'high' }, 'severity', 'neq', 'low')).toBe(true);
    expect(passes({ severity: 'high' }, 'severity', 'in', ['medium', 'high'])).toBe(true);
    expect(passes({ flag: false }, 'flag', 'eq', false)).toBe(true);
    expect(passes({ flag: false }, 'flag', 'neq', true)).toBe(true);
    expect(passes({ text: '' }, 'text', 'eq', '')).toBe(true);
  });

  it('are exactly those of the contract', () => {
    expect(OPERATORS.map(([operator]) => operator)).toEqual([...THRESHOLD_OPERATORS]);
  });

  it('agree with numbers for every numeric operator', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, number, (actual, value) => {
        expect(passes({ n: actual }, 'n', 'gte', value)).toBe(actual >= value);
        expect(passes({ n: actual }, 'n', 'gt', value)).toBe(actual > value);
        expect(passes({ n: actual }, 'n', 'lte', value)).toBe(actual <= value);
        expect(passes({ n: actual }, 'n', 'lt', value)).toBe(actual < value);
        expect(passes({ n: actual }, 'n', 'eq', value)).toBe(actual === value);
        expect(passes({ n: actual }, 'n', 'neq', value)).toBe(actual !== value);
      }),
    );
  });
});

describe.each(OPERATORS)('%s', (operator, value) => {
  it.each<[string, Record<string, unknown>, string]>([
    ['a missing field', {}, 'n'],
    ['a missing parent', { a: {} }, 'a.b.c'],
    ['null', { n: null }, 'n'],
    ['null within the path', { a: null }, 'a.b'],
    ['an object', { n: { x: 1 } }, 'n'],
    ['an empty object', { n: {} }, 'n'],
    ['an array', { n: ['x'] }, 'n'],
    ['an empty array', { n: [] }, 'n'],
    ['a field of a string', { n: 'x' }, 'n.length'],
    ['a field of a number', { n: 1 }, 'n.toFixed'],
    ['an empty part of the path', { a: { b: 1 } }, 'a..b'],
  ])('fails for %s', (_what, payload, field) => {
    expect(passes(payload, field, operator, value)).toBe(false);
  });

  it.each(['__proto__', 'constructor', 'toString', 'constructor.name', '__proto__.length', 'hasOwnProperty.length'])(
    'sees own properties only: %s',
    (field) => {
      expect(passes({}, field, operator, value)).toBe(false);
      expect(passes({ metadata: {} }, `metadata.${field}`, operator, value)).toBe(false);
      expect(passes({ list: [1, 2] }, `list.${field}`, operator, value)).toBe(false);
    },
  );
});

describe('the path', () => {
  it('nests with dots', () => {
    const payload = { metadata: { otherUserCount: 3, deep: { er: 'x' } } };
    expect(passes(payload, 'metadata.otherUserCount', 'gte', 3)).toBe(true);
    expect(passes(payload, 'metadata.otherUserCount', 'gte', 4)).toBe(false);
    expect(passes(payload, 'metadata.deep.er', 'eq', 'x')).toBe(true);
  });

  it('finds own properties with dangerous names', () => {
    const payload = JSON.parse('{"__proto__": {"n": 1}, "constructor": 2, "metadata": {"toString": "x"}}');
    expect(passes(payload, '__proto__.n', 'eq', 1)).toBe(true);
    expect(passes(payload, 'constructor', 'eq', 2)).toBe(true);
    expect(passes(payload, 'metadata.toString', 'eq', 'x')).toBe(true);
  });
});

describe('no value is coerced', () => {
  it.each<[unknown, Value]>([
    ['1', 1],
    [1, '1'],
    [true, 1],
    [1, true],
    [false, 0],
    ['', 0],
    ['', false],
    ['true', true],
    [0, ''],
  ])('%j is not equal to %j', (actual, value) => {
    expect(passes({ v: actual }, 'v', 'eq', value)).toBe(false);
    expect(passes({ v: actual }, 'v', 'neq', value)).toBe(true);
    expect(passes({ v: actual }, 'v', 'in', [value as string])).toBe(false);
  });

  it.each(['5', true, false, '', 'x'])('%j is not comparable with a number', (actual) => {
    for (const operator of ['gte', 'gt', 'lte', 'lt'] as const)
      for (const value of [0, 4, 6, '5', '0']) expect(passes({ v: actual }, 'v', operator, value)).toBe(false);
  });
});

describe('the form of a threshold', () => {
  const isValid = (threshold: unknown) => thresholdSchema.safeParse(threshold).success;

  it.each(['gte', 'GT', 'Lte', 'lt'])('%s takes a number or a numeric string', (operator) => {
    for (const value of [0, -1.5, 1e21, '0', '-1', '12.50'])
      expect([value, isValid({ field: 'n', operator, value })]).toEqual([value, true]);
    for (const value of [
      '',
      ' 1',
      '1 ',
      '1e3',
      '0x10',
      '+1',
      '.5',
      '1.',
      'abc',
      'NaN',
      'Infinity',
      true,
      null,
      [1],
      {},
    ])
      expect([value, isValid({ field: 'n', operator, value })]).toEqual([value, false]);
  });

  it.each(['eq', 'NEQ'])('%s takes a scalar', (operator) => {
    for (const value of ['', 'x', 0, -1.5, true, false])
      expect([value, isValid({ field: 'n', operator, value })]).toEqual([value, true]);
    for (const value of [['x'], [], {}, null, undefined])
      expect([value, isValid({ field: 'n', operator, value })]).toEqual([value, false]);
  });

  it('in takes an array of scalars', () => {
    for (const value of [['x'], [1, 'a', true]])
      expect([value, isValid({ field: 'n', operator: 'in', value })]).toEqual([value, true]);
    for (const value of ['x', 1, [['x']], [{}], [null], {}, null])
      expect([value, isValid({ field: 'n', operator: 'in', value })]).toEqual([value, false]);
  });

  it('returns the operator in lower case', () => {
    expect(thresholdSchema.parse({ field: 'n', operator: 'GTE', value: 1 })).toEqual({
      field: 'n',
      operator: 'gte',
      value: 1,
    });
  });
});
