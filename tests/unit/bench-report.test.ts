import { describe, expect, it } from 'vitest';
import {
  describeDistribution,
  describeFigure,
  findMedian,
  findPercentile,
  formatNumber,
  formatTable,
} from '../bench/report';

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('a distribution', () => {
  it('has percentiles by nearest rank', () => {
    expect([0, 1, 50, 95, 99, 99.1, 100].map((percent) => findPercentile(upTo(100), percent))).toEqual([
      1, 1, 50, 95, 99, 100, 100,
    ]);
    expect([50, 95, 99].map((percent) => findPercentile([7], percent))).toEqual([7, 7, 7]);
  });

  it('is described whatever the order of its values, which it leaves alone', () => {
    const values = [10, -1, 9, 100];
    expect(describeDistribution(values)).toEqual({ count: 4, p50: 9, p95: 100, p99: 100, max: 100 });
    expect(values).toEqual([10, -1, 9, 100]);
  });

  it('has a median between the two in the middle', () => {
    expect([findMedian([3, 1, 10]), findMedian([10, 1]), findMedian([2])]).toEqual([3, 5.5, 2]);
  });

  it('of nothing does not exist', () => {
    expect(() => describeDistribution([])).toThrow('no values');
    expect(() => findMedian([])).toThrow('no values');
  });
});

describe('a figure', () => {
  it('is told with its ratio to the floor and whether it meets its goal', () => {
    const figure = { name: 'delivered', value: 2_000, unit: '/s', floor: 4_000, goal: { atLeast: 2_000 } };
    expect(describeFigure(figure)).toEqual({ ...figure, ratio: 0.5, isMet: true });
    expect(describeFigure({ ...figure, goal: { below: 2_000 } })).toMatchObject({ isMet: false });
    const plain = { name: 'repeated', value: 0, unit: '' };
    expect(describeFigure(plain)).toEqual(plain);
  });

  it('has as many decimals as say something', () => {
    expect([0, 0.755, 12.34, -3.2, 1_234.5, 5_000].map(formatNumber)).toEqual([
      '0',
      '0.76',
      '12.3',
      '-3.20',
      '1,235',
      '5,000',
    ]);
  });

  it('stands in a row of the table', () => {
    const table = formatTable([
      { name: 'delivered', value: 3_000, unit: '/s', floor: 6_000, goal: { atLeast: 2_800 } },
      { name: 'p99', value: 4, unit: 'ms', goal: { below: 4 } },
      { name: 'repeated', value: 0, unit: '' },
    ]);
    expect(table.split('\n')).toEqual([
      '           measured  floor  ratio     goal',
      'delivered  3,000 /s  6,000   0.50  ≥ 2,800  met',
      'p99            4 ms                    < 4  missed',
      'repeated          0',
    ]);
  });
});
