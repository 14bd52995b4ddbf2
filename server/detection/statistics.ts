// Statistics that can be put together: of two parts those of the whole follow, without the things that were counted.

/** How many moments are kept, so that the evidence stays small. */
export const MAX_MOMENTS = 5;

/** The earliest few moments, ascending, each once. */
export type Moments = readonly number[];

/** Adds a moment to a list of the earliest ones. */
export function noteMoment(earliest: number[], atMs: number): void {
  const last = earliest.at(-1);
  if (earliest.length === MAX_MOMENTS && atMs >= last!) return;
  if (earliest.includes(atMs)) return;
  earliest.push(atMs);
  if (last !== undefined && atMs < last) earliest.sort((a, b) => a - b);
  if (earliest.length > MAX_MOMENTS) earliest.pop();
}

export function mergeMoments(one: Moments, other: Moments): Moments {
  if (other.length === 0) return one;
  if (one.length === 0) return other;
  const earliest = [...one];
  for (const atMs of other) noteMoment(earliest, atMs);
  return earliest;
}

/** How many things there were, how many of them are marked, and when the first marked ones were. */
export interface Share {
  count: number;
  marked: number;
  momentsMs: Moments;
}

/** Counts things, and those among them that are marked. */
export function countShare<Thing extends { atMs: number }>(
  things: readonly Thing[],
  isMarked: (thing: Thing) => boolean,
): Share {
  const momentsMs: number[] = [];
  let marked = 0;
  for (const thing of things) {
    if (!isMarked(thing)) continue;
    marked++;
    noteMoment(momentsMs, thing.atMs);
  }
  return { count: things.length, marked, momentsMs };
}

export const mergeShares = (one: Share, other: Share): Share => ({
  count: one.count + other.count,
  marked: one.marked + other.marked,
  momentsMs: mergeMoments(one.momentsMs, other.momentsMs),
});

/** Times in milliseconds, of which median, mean and deviation are wanted. */
export interface Sample {
  count: number;
  /** Of whole tenths of a millisecond: exact, so that the order of adding never shows. */
  sum10: number;
  squares100: number;
  /** The times themselves, in ascending runs. */
  runs: readonly Float64Array[];
}

/** More runs are joined to one. */
const MAX_RUNS = 8;

export function takeSample(times: readonly number[]): Sample {
  let sum10 = 0;
  let squares100 = 0;
  for (const ms of times) {
    const tenths = Math.round(ms * 10);
    sum10 += tenths;
    squares100 += tenths * tenths;
  }
  return { count: times.length, sum10, squares100, runs: times.length > 0 ? [Float64Array.from(times).sort()] : [] };
}

/** Joins the runs of `one` in place if there are many, so that repeated additions pay for that once. */
export function mergeSamples(one: Sample, other: Sample): Sample {
  if (other.count === 0) return one;
  if (one.count === 0) return other;
  if (one.runs.length >= MAX_RUNS) one.runs = [joinRuns(one)];
  return {
    count: one.count + other.count,
    sum10: one.sum10 + other.sum10,
    squares100: one.squares100 + other.squares100,
    runs: [...one.runs, ...other.runs],
  };
}

function joinRuns({ count, runs }: Sample): Float64Array {
  const joined = new Float64Array(count);
  let at = 0;
  for (const run of runs) {
    joined.set(run, at);
    at += run.length;
  }
  return joined.sort();
}

/** The middle value; of an even number of values the upper one of the two. NaN of none. */
export function computeMedian({ count, runs }: Sample): number {
  const rank = count >> 1;
  const ranges = runs.map((run) => ({ run, from: 0, to: run.length }));
  for (;;) {
    // Halving the longest range leaves fewer and fewer values among which the median is.
    let longest = ranges[0];
    for (const range of ranges) if (range.to - range.from > longest!.to - longest!.from) longest = range;
    if (longest === undefined) return Number.NaN;
    const pivot = longest.run[(longest.from + longest.to) >> 1]!;
    const below = ranges.map(({ run }) => findPlace(run, (value) => value >= pivot));
    const upTo = ranges.map(({ run }) => findPlace(run, (value) => value > pivot));
    if (rank < sum(below)) for (const [i, range] of ranges.entries()) range.to = Math.min(range.to, below[i]!);
    else if (rank >= sum(upTo)) for (const [i, range] of ranges.entries()) range.from = Math.max(range.from, upTo[i]!);
    else return pivot;
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** Finds the first place of an ascending run at which a condition holds that then holds for all later ones. */
function findPlace(run: Float64Array, holds: (value: number) => boolean): number {
  let [low, high] = [0, run.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(run[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export const computeMean = ({ count, sum10 }: Sample): number => sum10 / count / 10;

export function computeDeviation({ count, sum10, squares100 }: Sample): number {
  return Math.sqrt(Math.max(count * squares100 - sum10 * sum10, 0)) / count / 10;
}

/** Puts what was counted of two parts together; `one` begins first. */
export type Merge<Value> = (one: Value, other: Value) => Value;

/** Puts records together field by field. A new field does not compile until it is said how. */
export const mergeFields =
  <Fields extends object>(merges: { [Name in keyof Fields]: Merge<Fields[Name]> }): Merge<Fields> =>
  (one, other) => {
    const whole = {} as Fields;
    for (const name in merges) whole[name] = merges[name](one[name], other[name]);
    return whole;
  };

export const add: Merge<number> = (one, other) => one + other;
