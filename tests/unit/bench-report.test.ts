import { describe, expect, it } from 'vitest';
import { alternate, describeRuns } from '../bench/load';
import {
  compareToFloor,
  describeDistribution,
  describeFigure,
  findMedian,
  findPercentile,
  formatNumber,
  formatTable,
  meetsGoal,
} from '../bench/report';

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('a distribution', () => {
  it('has percentiles by nearest rank', () => {
    expect([0, 1, 50, 95, 99, 99.1, 100].map((percent) => findPercentile(upTo(100), percent))).toEqual([
      1, 1, 50, 95, 99, 100, 100,
    ]);
    expect([50, 95, 99].map((percent) => findPercentile([7], percent))).toEqual([7, 7, 7]);
  });

  it('is independent of the order of its values, and leaves them unchanged', () => {
    const values = [10, -1, 9, 100];
    expect(describeDistribution(values)).toEqual({ count: 4, p50: 9, p95: 100, p99: 100, max: 100 });
    expect(values).toEqual([10, -1, 9, 100]);
  });

  it('has the mean of the two middle values as its median', () => {
    expect([findMedian([3, 1, 10]), findMedian([10, 1]), findMedian([2])]).toEqual([3, 5.5, 2]);
  });

  it('of no values does not exist', () => {
    expect(() => describeDistribution([])).toThrow('no values');
    expect(() => findMedian([])).toThrow('no values');
  });
});

describe('a figure', () => {
  it('is described with its ratio to the floor and whether it meets its goal', () => {
    const figure = { name: 'delivered', value: 2_000, unit: '/s', floor: 4_000, goal: { atLeast: 2_000 } };
    expect(describeFigure(figure)).toEqual({ ...figure, ratio: 0.5, isMet: true });
    expect(describeFigure({ ...figure, goal: { below: 2_000 } })).toMatchObject({ isMet: false });
    const plain = { name: 'repeated', value: 0, unit: '' };
    expect(describeFigure(plain)).toEqual(plain);
  });

  it('meets an upper limit that it equals', () => {
    const isMet = (value: number) => meetsGoal({ name: 'memory', value, unit: 'MB', goal: { atMost: 350 } });
    expect([349.9, 350, 350.1].map(isMet)).toEqual([true, true, false]);
  });

  it('is compared to its floor in a second figure that has the goal', () => {
    const rate = { name: 'reads', value: 1_500, unit: '/s', floor: 2_000 };
    expect(compareToFloor(rate, { atLeast: 0.8 })).toEqual([
      rate,
      { name: 'reads ÷ floor', value: 0.75, unit: '', goal: { atLeast: 0.8 } },
    ]);
  });

  it('shows decimals only where they matter', () => {
    expect([0, 0.755, 12.34, -3.2, 1_234.5, 5_000].map(formatNumber)).toEqual([
      '0',
      '0.76',
      '12.3',
      '-3.20',
      '1,235',
      '5,000',
    ]);
  });

  it('is one row of the table', () => {
    const table = formatTable([
      { name: 'delivered', value: 3_000, unit: '/s', floor: 6_000, goal: { atLeast: 2_800 } },
      { name: 'p99', value: 4, unit: 'ms', goal: { below: 4 } },
      { name: 'memory', value: 200, unit: 'MB', goal: { atMost: 350 } },
      { name: 'repeated', value: 0, unit: '' },
    ]);
    expect(table.split('\n')).toEqual([
      '           measured  floor  ratio     goal',
      'delivered  3,000 /s  6,000   0.50  ≥ 2,800  met',
      'p99            4 ms                    < 4  missed',
      'memory       200 MB                  ≤ 350  met',
      'repeated          0',
    ]);
  });
});

describe('alternating runs', () => {
  it('alternate which one begins', async () => {
    const order: string[] = [];
    const run = (name: string) => async () => order.push(name);
    expect(await alternate(3, run('a'), run('b'))).toEqual([
      [1, 4, 5],
      [2, 3, 6],
    ]);
    expect(order.join('')).toBe('abbaab');
  });

  it('are summarised by all requests over all time', () => {
    const load = describeRuns([
      { requests: 2, ms: 500, latencies: [1, 3] },
      { requests: 1, ms: 1_000, latencies: [2] },
    ]);
    expect(load).toMatchObject({ perSecond: 2, latency: { count: 3, p50: 2, p99: 3 } });
  });
});
