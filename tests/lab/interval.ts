/** How often something happened, and between which shares the truth probably is. */
export interface Rate {
  count: number;
  of: number;
  low: number;
  high: number;
}

/** The 97.5th percentile of the normal distribution: intervals hold the truth 95 times in 100. */
const Z = 1.959964;

/** Computes Wilson's interval at 95 %. Of nothing, everything is possible. */
export function estimateRate(count: number, of: number): Rate {
  if (of === 0) return { count, of, low: 0, high: 1 };
  const share = count / of;
  const spread = (Z / (1 + Z ** 2 / of)) * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2));
  const middle = (share + Z ** 2 / (2 * of)) / (1 + Z ** 2 / of);
  const [low, high] = [count === 0 ? 0 : middle - spread, count === of ? 1 : middle + spread];
  return { count, of, low: roundShare(low), high: roundShare(high) };
}

const roundShare = (value: number) => Math.round(Math.min(Math.max(value, 0), 1) * 10_000) / 10_000;
