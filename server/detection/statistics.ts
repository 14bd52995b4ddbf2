/** The middle value; of an even number of values the upper one of the two. NaN of none. */
export function computeMedian(values: readonly number[]): number {
  const sorted = new Float64Array(values).sort();
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

export function computeMean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

export function computeDeviation(values: readonly number[]): number {
  const mean = computeMean(values);
  let sum = 0;
  for (const value of values) sum += (value - mean) ** 2;
  return Math.sqrt(sum / values.length);
}
