import { beforeAll, describe, expect, it } from 'vitest';
import type { CutRates, ErrorRate } from '../../contract/error-rates';
import type { Verdict } from '../../contract/sessions';
import { createRandom } from '../../server/demo/session-facts';
import { findLowerBound, findUpperBound } from '../../server/domain/binomial-interval';
import { type DrawnDay, type DrawnSession, estimateRates, poolDays } from '../../server/domain/error-rates';

describe('the interval of a share', () => {
  it.each([
    // Computed from sums of the binomial distribution.
    [0, 10, 0, 0.3084971],
    [1, 10, 0.002528579, 0.4450161],
    [5, 10, 0.187086, 0.812914],
    [10, 10, 0.6915029, 1],
    [3, 560, 0.001106, 0.01557541],
    [50, 1_000, 0.0373354, 0.06539049],
  ])('of %d in %d is that of Clopper and Pearson', (count, of, low, high) => {
    expect(findLowerBound(count, of)).toBeCloseTo(low, 6);
    expect(findUpperBound(count, of)).toBeCloseTo(high, 6);
  });

  it('leaves exactly 2.5 % on either side, by the sum of the binomial distribution', () => {
    for (const of of [1, 2, 11, 97, 400, 18_000])
      for (const count of [0, 1, Math.floor(of / 7), Math.floor(of / 2), of - 1].filter((n) => n >= 0)) {
        if (count > 0) expect(1 - sumBinomial(count - 1, of, findLowerBound(count, of))).toBeCloseTo(0.025, 6);
        if (count < of) expect(sumBinomial(count, of, findUpperBound(count, of))).toBeCloseTo(0.025, 6);
      }
    expect([findLowerBound(0, 0), findUpperBound(0, 0)]).toEqual([0, 1]);
  });
});

/** The probability of at most `count` successes. */
function sumBinomial(count: number, of: number, share: number): number {
  let total = 0;
  let logTerm = of * Math.log1p(-share);
  for (let k = 0; k <= count; k++) {
    if (k > 0) logTerm += Math.log((of - k + 1) / k) + Math.log(share) - Math.log1p(-share);
    total += Math.exp(logTerm);
  }
  return total;
}

const HIGH = 80;
const LOW = 20;
const CUT = 50;
const judged = (verdict: Verdict, bin: number, count: number): DrawnSession[] =>
  Array.from({ length: count }, () => ({ bin, verdict, isReviewed: true }));
const people = (count: number, bin: number) => judged('human', bin, count);
const bots = (count: number, bin: number) => judged('bot', bin, count);
const skipped = (count: number, bin: number | null): DrawnSession[] =>
  Array.from({ length: count }, () => ({ bin, verdict: null, isReviewed: false }));
const labelled = (count: number, bin: number): DrawnSession[] =>
  Array.from({ length: count }, () => ({ bin, verdict: 'bot', isReviewed: false }));
const ratesOf = (drawn: DrawnSession[], cut = CUT) =>
  estimateRates(poolDays([{ population: drawn.length, drawn }]).tally, cut);

describe('the rates at a cut point', () => {
  it('are shares of people, of sessions that would be called bot, and of bots', () => {
    const rates = ratesOf([...people(2, HIGH), ...people(38, LOW), ...bots(18, HIGH), ...bots(12, LOW)]);
    expect(rates.falsePositives).toMatchObject({ estimate: 0.05, of: 40 });
    expect(rates.precision).toMatchObject({ estimate: 0.9, of: 20 });
    expect(rates.recall).toMatchObject({ estimate: 0.6, of: 30 });
    expect(rates.falsePositives!.low).toBeCloseTo(findLowerBound(2, 40), 5);
    expect(rates.falsePositives!.high).toBeCloseTo(findUpperBound(2, 40), 5);
  });

  it('count a score at the cut point as called, and everything at 0', () => {
    const drawn = [...people(10, CUT), ...people(10, CUT - 1)];
    expect(ratesOf(drawn).falsePositives).toMatchObject({ estimate: 0.5 });
    expect(ratesOf(drawn, 0).falsePositives).toMatchObject({ estimate: 1 });
    expect(ratesOf(drawn, 100).falsePositives).toMatchObject({ estimate: 0 });
  });

  it('are not shown of fewer than ten verdicts', () => {
    expect(ratesOf([...people(9, LOW), ...bots(9, HIGH)])).toEqual({
      falsePositives: null,
      precision: null,
      recall: null,
    });
    expect(ratesOf([...people(10, LOW), ...bots(10, HIGH)])).toMatchObject({
      ...{ falsePositives: { of: 10 }, precision: { of: 10 }, recall: { of: 10 } },
    });
  });

  it('hold whatever the sessions without a verdict are', () => {
    const known = [...people(4, HIGH), ...people(36, LOW), ...bots(16, HIGH), ...bots(8, LOW)];
    const rates = ratesOf([...skipped(3, HIGH), ...skipped(2, LOW), ...known]);
    for (let high = 0; high <= 3; high++)
      for (let low = 0; low <= 2; low++) {
        const truth = ratesOf([
          ...[...people(high, HIGH), ...bots(3 - high, HIGH), ...people(low, LOW), ...bots(2 - low, LOW)],
          ...known,
        ]);
        for (const name of ['falsePositives', 'precision', 'recall'] as const) {
          expect(rates[name]!.low).toBeLessThanOrEqual(truth[name]!.low);
          expect(rates[name]!.high).toBeGreaterThanOrEqual(truth[name]!.high);
        }
      }
    // One that is gone may have had any score.
    const [gone, low] = [ratesOf([...skipped(1, null), ...known]), ratesOf([...skipped(1, LOW), ...known])];
    expect(gone.falsePositives!.high).toBeGreaterThan(low.falsePositives!.high);
    expect(gone.falsePositives!.low).toBe(low.falsePositives!.low);
  });
});

describe('days that were reviewed unequally', () => {
  const day = (population: number, drawn: DrawnSession[]): DrawnDay => ({ population, drawn });
  const countPooled = (days: DrawnDay[]) => {
    const { tally, ...pool } = poolDays(days);
    const counts = [tally.human, tally.bot, tally.unknown].map((bins) => bins.reduce((total, n) => total + n));
    return { days: pool.days.length, counts, setAside: pool.setAside };
  };

  it('count by their sessions: the same share of each is taken', () => {
    const days = [day(1_000, people(20, LOW)), day(1_000, people(20, LOW)), day(100, people(20, LOW))];
    expect(countPooled(days)).toEqual({ days: 3, counts: [42, 0, 0], setAside: 18 });
  });

  it('are left out if little of them was reviewed', () => {
    const hardly = day(100_000, [...people(1, LOW), ...skipped(19, LOW)]);
    const days = [day(1_000, people(20, LOW)), hardly, day(1_000, people(20, LOW))];
    expect(countPooled(days)).toEqual({ days: 2, counts: [40, 0, 0], setAside: 1 });
  });

  it('end after the last verdict and one more session, which somebody may have left', () => {
    const begun = [...people(3, LOW), ...skipped(2, HIGH), ...people(1, LOW), ...skipped(14, HIGH)];
    expect(countPooled([day(20, begun)])).toEqual({ days: 1, counts: [4, 0, 3], setAside: 0 });
    expect(countPooled([])).toEqual({ days: 0, counts: [0, 0, 0], setAside: 0 });
  });

  it('count with the labels that sessions had before they were drawn, but are not reviewed by them', () => {
    const begun = [...labelled(1, HIGH), ...people(2, LOW), ...labelled(3, HIGH), ...skipped(4, LOW)];
    expect(countPooled([day(10, begun)])).toEqual({ days: 1, counts: [2, 4, 1], setAside: 0 });
    expect(poolDays([day(10, begun)]).unblinded).toBe(4);
    expect(countPooled([day(10, [...labelled(6, HIGH), ...skipped(4, LOW)])])).toMatchObject({ days: 0 });
  });

  it('without any verdict were not begun, unless they had few sessions and later ones were reviewed', () => {
    const reviewed = day(20, people(20, LOW));
    expect(countPooled([day(20, skipped(20, HIGH)), reviewed])).toMatchObject({ days: 1, counts: [20, 0, 0] });
    expect(countPooled([day(3, skipped(3, HIGH)), reviewed])).toMatchObject({ days: 2, counts: [20, 0, 3] });
    expect(countPooled([reviewed, day(3, skipped(3, HIGH))])).toMatchObject({ days: 1, counts: [20, 0, 0] });
  });
});

// A tenant's sessions of a day, by what they are and whether they score above the cut point.
const KINDS = [
  ...[
    { verdict: 'human' as const, bin: HIGH },
    { verdict: 'human' as const, bin: LOW },
  ],
  ...[
    { verdict: 'bot' as const, bin: HIGH },
    { verdict: 'bot' as const, bin: LOW },
  ],
];
type Counts = [humanHigh: number, humanLow: number, botHigh: number, botLow: number];
type FixedDay = DrawnDay & { counts: Counts };

const TENANTS = 10_000;
/** Enough to see that another method does not do. */
const TENANTS_OF_OTHERS = 2_000;
const GOAL = 0.945;
const FIGURES = ['falsePositives', 'precision', 'recall'] as const;

/** Makes a tenant whose days differ, and whose reviewers skip what they cannot tell and do not always finish. Some sessions have a label before. */
function makeTenant(random: () => number): FixedDay[] {
  const between = (low: number, high: number) => low + (high - low) * random();
  const spread = (low: number, high: number) => Math.exp(between(Math.log(low), Math.log(high)));
  const [bots, caught, accused] = [spread(0.03, 0.7), between(0.3, 1), spread(0.005, 0.5)];
  const [isHasty, isUnsure] = [random() < 0.5, random() < 0.5];
  const skips = isUnsure ? [between(0.2, 0.8), 0, between(0, 0.2), between(0.2, 0.8)] : [0, 0, 0, 0];
  const early = random() < 0.5 ? [between(0, 0.5), 0, between(0, 0.9), 0] : [0, 0, 0, 0];
  const [size, sampleSize] = [spread(20, 5_000), Math.round(spread(1, 80))];
  return Array.from({ length: Math.ceil(random() * 14) }, (_, index) => {
    const isWeekend = index % 7 > 4;
    const population = Math.ceil(size * (isWeekend ? spread(0.03, 0.3) : spread(0.5, 2)));
    const botCount = Math.round(population * Math.min(0.95, isWeekend ? 3 * bots : bots * spread(0.5, 2)));
    const accusedShare = Math.min(0.95, isWeekend ? 12 * accused : accused * spread(0.3, 2));
    const [humanHigh, botHigh] = [Math.floor((population - botCount) * accusedShare + random()), botCount * caught];
    const counts: Counts = [
      ...([humanHigh, population - botCount - humanHigh] as const),
      ...([Math.round(botHigh), botCount - Math.round(botHigh)] as const),
    ];
    const kinds = draw(counts, sampleSize, random);
    const seen = isHasty ? Math.ceil(random() * kinds.length) : kinds.length;
    const drawn = kinds.map((kind, at) => {
      const { bin, verdict } = KINDS[kind]!;
      if (random() < early[kind]!) return { bin, verdict, isReviewed: false };
      const isReviewed = at < seen && random() >= skips[kind]!;
      return { bin, verdict: isReviewed ? verdict : null, isReviewed };
    });
    return { population, counts, drawn };
  });
}

/** Draws without replacement, in random order. */
function draw(counts: Counts, size: number, random: () => number): number[] {
  const left = [...counts];
  let total = left.reduce((sum, n) => sum + n);
  const drawn: number[] = [];
  for (; drawn.length < size && total > 0; total--) {
    let lot = Math.floor(random() * total);
    let kind = 0;
    while (lot >= left[kind]!) lot -= left[kind++]!;
    left[kind]!--;
    drawn.push(kind);
  }
  return drawn;
}

function readTruth(days: FixedDay[]): Record<(typeof FIGURES)[number], number> {
  const total = (kind: number) => days.reduce((sum, { counts }) => sum + counts[kind]!, 0);
  const [humanHigh, humanLow, botHigh, botLow] = [total(0), total(1), total(2), total(3)];
  return {
    falsePositives: humanHigh / (humanHigh + humanLow),
    precision: botHigh / (botHigh + humanHigh),
    recall: botHigh / (botHigh + botLow),
  };
}

/** Computes rates from a tenant's days. Returns the days that they speak of, too. */
type Method = (days: FixedDay[]) => { days: FixedDay[]; rates: CutRates };
const ours: Method = (days) => {
  const pool = poolDays(days);
  return { days: pool.days as FixedDay[], rates: estimateRates(pool.tally, CUT) };
};
const replaceIntervals =
  (compute: (rate: ErrorRate) => { low: number; high: number }): Method =>
  (days) => {
    const { days: counted, rates } = ours(days);
    const entries = Object.entries(rates).map(([name, rate]) => [name, rate && { ...rate, ...compute(rate) }]);
    return { days: counted, rates: Object.fromEntries(entries) as CutRates };
  };

const METHODS: Record<string, Method> = {
  ours,
  /** The formula of the textbooks. */
  wald: replaceIntervals(({ estimate, of }) => {
    const width = 1.96 * Math.sqrt((estimate * (1 - estimate)) / of);
    return { low: estimate - width, high: estimate + width };
  }),
  /** As if skipped sessions were like the others. */
  withoutSkipped: replaceIntervals(({ estimate, of }) => {
    const hits = Math.round(estimate * of);
    return { low: findLowerBound(hits, of), high: findUpperBound(hits, of) };
  }),
  /** As if all days had the same number of sessions. */
  unweighted: (days) => {
    const drawn = days.flatMap((day) => day.drawn);
    return { days, rates: estimateRates(poolDays([{ population: drawn.length, drawn }]).tally, CUT) };
  },
};

/** Measures for each method the share of the intervals that hold the truth, and how many there are. */
function measureCoverage() {
  const random = createRandom(20_261_103);
  const create = () => ({ falsePositives: [0, 0], precision: [0, 0], recall: [0, 0] });
  const counts = Object.keys(METHODS).map(create);
  for (let tenant = 0; tenant < TENANTS; tenant++) {
    const all = makeTenant(random);
    for (const [index, method] of Object.values(METHODS).entries()) {
      if (index > 0 && tenant >= TENANTS_OF_OTHERS) break;
      const { days, rates } = method(all);
      const truth = readTruth(days);
      for (const figure of FIGURES) {
        const [rate, count] = [rates[figure], counts[index]![figure]];
        if (rate === null) continue;
        count[0]! += rate.low <= truth[figure] && truth[figure] <= rate.high ? 1 : 0;
        count[1]!++;
      }
    }
  }
  const show = ([held, shown]: number[]) => ({ share: held! / shown!, shown: shown! });
  return Object.fromEntries(
    Object.keys(METHODS).map((name, index) => {
      const { falsePositives, precision, recall } = counts[index]!;
      return [name, { falsePositives: show(falsePositives), precision: show(precision), recall: show(recall) }];
    }),
  );
}

describe('the intervals of ten thousand tenants', () => {
  let coverage: ReturnType<typeof measureCoverage>;
  beforeAll(() => {
    coverage = measureCoverage();
  });

  it.each(FIGURES)('hold the true %s in at least 94.5 % of them', (figure) => {
    const { share, shown } = coverage.ours![figure];
    expect(shown).toBeGreaterThan(TENANTS / 4);
    expect(share).toBeGreaterThanOrEqual(GOAL);
  });

  it.each(Object.keys(METHODS).slice(1))('would not if they were computed by %s', (method) => {
    const shares = FIGURES.map((figure) => coverage[method]![figure].share);
    expect(Math.min(...shares)).toBeLessThan(GOAL);
  });
});
