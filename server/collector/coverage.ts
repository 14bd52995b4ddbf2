/** Batches of a session: for each document the ranges [from, to) of its sequence numbers, one after the other. */
export type Coverage = Record<string, number[]>;

interface BatchName {
  d: string;
  n: number;
}

/** Writes down which batches there are. Mostly each document is one range. */
export function coverBatches(batches: Iterable<BatchName>): Coverage {
  const sequences = new Map<string, number[]>();
  for (const { d, n } of batches) {
    const list = sequences.get(d);
    if (list) list.push(n);
    else sequences.set(d, [n]);
  }
  return Object.fromEntries([...sequences].map(([d, list]) => [d, joinRanges(list.sort((a, b) => a - b))]));
}

function joinRanges(sorted: number[]): number[] {
  const ranges: number[] = [];
  for (const n of sorted) {
    if (ranges.at(-1) === n) ranges[ranges.length - 1] = n + 1;
    else ranges.push(n, n + 1);
  }
  return ranges;
}

/** Whether a batch is among those written down. */
export function coversBatch(coverage: Coverage, { d, n }: BatchName): boolean {
  const ranges = Object.hasOwn(coverage, d) ? coverage[d]! : [];
  // The first bound above n ends a range if its place is odd.
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]! > n) high = middle;
    else low = middle + 1;
  }
  return low % 2 === 1;
}
