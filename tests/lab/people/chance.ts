import { createRandom } from '../../../server/demo/session-facts';

/** Repeatable chance: everything that differs between people, or from one moment to the next, is drawn from a seed. */
export interface Chance {
  between(from: number, to: number): number;
  /** Normally distributed. */
  normal(mean: number, deviation: number): number;
  /** Log-normally distributed: `median` is in the middle, `spread` is the deviation of the logarithm. */
  logNormal(median: number, spread: number): number;
  happens(probability: number): boolean;
}

export function createChance(seed: number): Chance {
  const random = createRandom(seed);
  const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return {
    between: (from, to) => from + random() * (to - from),
    normal: (mean, deviation) => mean + deviation * gauss(),
    logNormal: (median, spread) => median * Math.exp(spread * gauss()),
    happens: (probability) => random() < probability,
  };
}
