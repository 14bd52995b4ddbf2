import type { AlertMetric } from './alert-rules';

/** How values of the metrics that are no counts are written: with at least so many decimals, and what all of it would be. */
const RATIOS = new Map<AlertMetric, { decimals: number; all: number; unit: string }>([
  ['botShare', { decimals: 1, all: 100, unit: ' %' }],
  ['averageScore', { decimals: 3, all: 1, unit: '' }],
]);
const MAX_DECIMALS = 9;

/**
 * Writes what was measured: a share in percent with one decimal, a score with three. With more where rounding would make it what it is
 * not: nothing, all, or the limit that it has passed.
 */
export function showMetricValue(metric: AlertMetric, value: number, limit = value): string {
  const ratio = RATIOS.get(metric);
  if (!ratio) return String(value);
  const others = [0, ratio.all, limit].filter((other) => other !== value);
  let { decimals } = ratio;
  while (decimals < MAX_DECIMALS && others.includes(Number(value.toFixed(decimals)))) decimals++;
  return `${Number(value.toFixed(decimals))}${ratio.unit}`;
}

/** Writes the limit of a rule as somebody has set it. */
export const showMetricLimit = (metric: AlertMetric, limit: number): string =>
  `${limit}${RATIOS.get(metric)?.unit ?? ''}`;
