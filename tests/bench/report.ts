export interface BenchOptions {
  /** Of the part. */
  name: string;
  /** Sessions that are written, or read; how often small things are done follows from it. */
  sessions: number;
  /** Pairs of runs beside a quiet and a hung neighbour. */
  pairs: number;
  /** Length of a run that is measured by the clock. */
  seconds: number;
  /** Where histories are kept for the next run; undefined: nowhere. */
  data: string | undefined;
  say(progress: string): void;
}

/** What a figure should be; none where it is only told. */
export type Goal = { atLeast: number } | { atMost: number } | { below: number };

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What the same machine reaches in the same run without our design: the figure stands beside it. */
  floor?: number;
  goal?: Goal;
}

export interface Report {
  figures: Figure[];
  /** What one must know to read the figures. */
  notes: string[];
  /** What the figures were made of, for `--json`. */
  details?: Record<string, unknown>;
}

export interface Distribution {
  count: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

/** The smallest value that at least `percent` of all values do not exceed (nearest rank). `sorted` ascends. */
export function findPercentile(sorted: number[], percent: number): number {
  if (sorted.length === 0) throw new Error('no values');
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)]!;
}

export function describeDistribution(values: number[]): Distribution {
  const sorted = values.toSorted((a, b) => a - b);
  const [p50, p95, p99, max] = [50, 95, 99, 100].map((percent) => findPercentile(sorted, percent)) as [
    number,
    number,
    number,
    number,
  ];
  return { count: sorted.length, p50, p95, p99, max };
}

/** The middle value, or the mean of the two in the middle. */
export function findMedian(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length === 0) throw new Error('no values');
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Null where there is no goal. */
export function meetsGoal({ value, goal }: Figure): boolean | null {
  if (goal === undefined) return null;
  if ('atLeast' in goal) return value >= goal.atLeast;
  return 'atMost' in goal ? value <= goal.atMost : value < goal.below;
}

/** A figure beside its floor, and their ratio as a figure of its own with the goal. */
export function compareToFloor(figure: Figure & { floor: number }, goal: Goal): Figure[] {
  return [figure, { name: `${figure.name} ÷ floor`, value: figure.value / figure.floor, unit: '', goal }];
}

/** A figure as `--json` tells it. */
export const describeFigure = (figure: Figure) => ({
  ...figure,
  ...(figure.floor === undefined ? {} : { ratio: figure.value / figure.floor }),
  ...(figure.goal === undefined ? {} : { isMet: meetsGoal(figure) }),
});

/** Thousands with commas; decimals only where they say something. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function formatGoal(goal: Goal): string {
  if ('atLeast' in goal) return `≥ ${formatNumber(goal.atLeast)}`;
  return 'atMost' in goal ? `≤ ${formatNumber(goal.atMost)}` : `< ${formatNumber(goal.below)}`;
}

/** A table for people: the figure, its floor and their ratio, its goal and whether it is met. */
export function formatTable(figures: Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, value, unit, floor, goal } = figure;
    return [
      name,
      `${formatNumber(value)} ${unit}`.trim(),
      floor === undefined ? '' : formatNumber(floor),
      floor === undefined ? '' : formatNumber(value / floor),
      goal === undefined ? '' : formatGoal(goal),
      goal === undefined ? '' : meetsGoal(figure) ? 'met' : 'missed',
    ];
  });
  const head = ['', 'measured', 'floor', 'ratio', 'goal', ''];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const formatRow = (cells: string[]) =>
    cells
      .map((cell, column) =>
        column === 0 || column === 5 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd();
  return [formatRow(head), ...rows.map(formatRow)].join('\n');
}
