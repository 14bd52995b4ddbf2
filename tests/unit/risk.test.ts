import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RISK_LEVELS } from '../../contract/sessions';
import { classifyRisk, computeScoreBin, findRiskRange } from '../../server/domain/risk';

const unitInterval = fc.double({ min: 0, max: 1, noNaN: true });
/** Scores as models print them, and the closest doubles to every cut point. */
const score = fc.oneof(
  unitInterval,
  fc.integer({ min: 0, max: 1000 }).map((n) => n / 1000),
  fc.tuple(fc.integer({ min: 0, max: 100 }), fc.constantFrom(-1, 0, 1)).map(([n, step]) => neighbour(n / 100, step)),
);
const thresholds = fc
  .tuple(fc.integer({ min: 0, max: 95 }), fc.integer({ min: 5, max: 100 }))
  .filter(([mediumAt, botAt]) => botAt - mediumAt >= 5)
  .map(([mediumAt, botAt]) => ({ mediumAt, botAt }));
const effectiveBin = fc.integer({ min: -1, max: 101 });

/** The next double above or below a score, kept in [0, 1]. */
function neighbour(value: number, step: number): number {
  if (value === 0 && step < 0) return 0;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(step));
  return Math.min(1, view.getFloat64(0));
}

describe('computeScoreBin', () => {
  it('is the largest n with botScore >= n/100', () => {
    fc.assert(
      fc.property(score, (botScore) => {
        const bin = computeScoreBin(botScore);
        expect(Number.isInteger(bin)).toBe(true);
        expect(bin).toBeGreaterThanOrEqual(0);
        expect(bin).toBeLessThanOrEqual(100);
        expect(botScore >= bin / 100).toBe(true);
        expect(bin === 100 || botScore < (bin + 1) / 100).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives n for every n/100, although multiplying by 100 would round 0.29, 0.57 and 0.58 down', () => {
    for (let n = 0; n <= 100; n++) expect([n, computeScoreBin(n / 100)]).toEqual([n, n]);
    expect([0.29, 0.57, 0.58].map(computeScoreBin)).toEqual([29, 57, 58]);
    expect([0.29, 0.57, 0.58].map((botScore) => Math.floor(botScore * 100))).not.toEqual([29, 57, 58]);
  });

  it('gives n - 1 just below n/100', () => {
    for (let n = 1; n <= 100; n++) expect([n, computeScoreBin(neighbour(n / 100, -1))]).toEqual([n, n - 1]);
  });

  it('never decreases when the score increases', () => {
    fc.assert(
      fc.property(score, score, (a, b) => {
        expect(computeScoreBin(Math.min(a, b))).toBeLessThanOrEqual(computeScoreBin(Math.max(a, b)));
      }),
    );
  });

  it('agrees with a customer’s own comparison with a threshold in hundredths', () => {
    fc.assert(
      fc.property(score, fc.integer({ min: 0, max: 100 }), (botScore, at) => {
        expect(computeScoreBin(botScore) >= at).toBe(botScore >= at / 100);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('classifyRisk', () => {
  const defaults = { mediumAt: 40, botAt: 70 };

  it.each([
    [-1, 'human'],
    [0, 'human'],
    [39, 'human'],
    [40, 'medium'],
    [69, 'medium'],
    [70, 'bot'],
    [100, 'bot'],
    [101, 'bot'],
  ])('classifies the effective bin %i as %s with the defaults', (bin, level) => {
    expect(classifyRisk(bin, defaults)).toBe(level);
  });

  it('gives null before scoring', () => {
    expect(classifyRisk(null, defaults)).toBeNull();
  });

  it('lets a label override any thresholds', () => {
    fc.assert(
      fc.property(thresholds, (any) => {
        expect(classifyRisk(101, any)).toBe('bot');
        expect(classifyRisk(-1, any)).toBe('human');
      }),
    );
  });
});

describe('findRiskRange', () => {
  it('contains exactly the bins of its class, in one range', () => {
    fc.assert(
      fc.property(thresholds, effectiveBin, (any, bin) => {
        const holding = RISK_LEVELS.filter((level) => {
          const { from, below } = findRiskRange(level, any);
          return bin >= from && bin < below;
        });
        expect(holding).toEqual([classifyRisk(bin, any)]);
      }),
      { numRuns: 1_000 },
    );
  });
});
