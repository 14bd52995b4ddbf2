export interface BenchOptions {
  /** The name of the part. */
  name: string;
  /** The number of sessions to write or read. The number of other operations follows from it. */
  sessions: number;
  /** Pairs of runs with a quiet and a hung neighbour. */
  pairs: number;
  /** The length of a timed run. */
  seconds: number;
  /** The directory that keeps histories for the next run; undefined keeps none. */
  data: string | undefined;
  say(progress: string): void;
}

/** The goal of a figure. */
export type Goal = { atLeast: number } | { atMost: number } | { below: number };

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What the same machine reaches in the same run without our design. Shown next to the figure. */
  floor?: number;
  goal?: Goal;
}

export interface Report {
  figures: Figure[];
  /** Background for reading the figures. */
  notes: string[];
  /** The values behind the figures, for `--json`. */
  details?: Record<string, unknown>;
}

export interface Distribution {
  count: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

/**
 * Finds the smallest value that at least `percent` of all values do not exceed (nearest rank). `sorted` is ascending.
 */
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

/** Finds the middle value, or the mean of the two middle values. */
export function findMedian(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length === 0) throw new Error('no values');
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Checks a figure against its goal. Returns null if there is no goal. */
export function meetsGoal({ value, goal }: Figure): boolean | null {
  if (goal === undefined) return null;
  if ('atLeast' in goal) return value >= goal.atLeast;
  return 'atMost' in goal ? value <= goal.atMost : value < goal.below;
}

/** Shows a figure with its floor, and their ratio as a second figure with the goal. */
export function compareToFloor(figure: Figure & { floor: number }, goal: Goal): Figure[] {
  return [figure, { name: `${figure.name} ÷ floor`, value: figure.value / figure.floor, unit: '', goal }];
}

/** Describes a figure for `--json`. */
export const describeFigure = (figure: Figure) => ({
  ...figure,
  ...(figure.floor === undefined ? {} : { ratio: figure.value / figure.floor }),
  ...(figure.goal === undefined ? {} : { isMet: meetsGoal(figure) }),
});

/** Formats a number with thousands separators, and with decimals only for small fractions. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function formatGoal(goal: Goal): string {
  if ('atLeast' in goal) return `≥ ${formatNumber(goal.atLeast)}`;
  return 'atMost' in goal ? `≤ ${formatNumber(goal.atMost)}` : `< ${formatNumber(goal.below)}`;
}

/** Formats figures as a table for people: the figure, its floor and their ratio, its goal and whether it is met. */
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
