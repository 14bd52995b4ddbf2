import { type AlertComparison, type AlertMetric, type AlertRule, METRICS } from '../../contract/alert-rules';

// When a rule fires. Pure: no clock, no database. A minute is a whole number since 1970, and the window of an end is the
// `windowMinutes` before it: [end - windowMinutes, end).

/** What decides when a rule fires. */
export type Condition = Pick<
  AlertRule,
  'metric' | 'windowMinutes' | 'comparison' | 'value' | 'minSessions' | 'coolDownMinutes'
>;

/** What was counted in each minute that has something, ascending: of a ratio, `counts` of `totals`. */
export interface MinuteSeries {
  minutes: number[];
  counts: number[];
  totals: number[];
}

/** The ends of windows that are judged, both included. */
export interface Ends {
  first: number;
  last: number;
}

/** A window in which a rule holds, and for which it fires. */
export interface Firing {
  end: number;
  value: number;
}

const MINUTES_PER_DAY = 24 * 60;
/**
 * Facts may be this late: a window is judged again until its first minute is this old. A session that is scored only when it ends
 * counts when it began, up to eight hours before.
 */
const LATE_MINUTES = MINUTES_PER_DAY;

/**
 * Whether the minute that has not ended yet is judged too. What a rule of counts finds "at least" stays true whatever else happens in
 * that minute. Anything else may be false a second later.
 */
const isJudgedEarly = ({ metric, comparison }: Condition) =>
  METRICS[metric].isCount && (comparison === 'gte' || comparison === 'gt');

/** Says which windows a rule must be judged in now. Null: none has ended since `judgedFrom`, the minute from which it counts. */
export function findDueEnds(condition: Condition, now: number, judgedFrom: number): Ends | null {
  const last = isJudgedEarly(condition) ? now + 1 : now;
  const first = Math.max(now - Math.max(LATE_MINUTES - condition.windowMinutes, 0), judgedFrom + 1);
  return first > last ? null : { first, last };
}

/** Firings before this minute concern no window that is still judged. */
export const findOldestFiring = ({ coolDownMinutes }: Condition, { first }: Ends): number => first - coolDownMinutes;

/** What a metric is of a count and a total; null if there are too few sessions to say. */
function measure(metric: AlertMetric, count: number, total: number, minSessions: number): number | null {
  if (METRICS[metric].needsSessions && total < minSessions) return null;
  if (metric === 'botShare') return (100 * count) / total;
  if (metric === 'averageScore') return count / total / 1e6;
  return count;
}

const COMPARE: Record<AlertComparison, (value: number, limit: number) => boolean> = {
  gte: (value, limit) => value >= limit,
  gt: (value, limit) => value > limit,
  lte: (value, limit) => value <= limit,
  lt: (value, limit) => value < limit,
};

/**
 * Finds the windows for which a rule fires, slid by the minute: each in which it holds, unless it fired (`fired`: the ends
 * of those windows) or fires for a window that ends within the cool-down. At most `limit`.
 */
export function findFirings(
  condition: Condition,
  { minutes, counts, totals }: MinuteSeries,
  { first, last }: Ends,
  fired: number[] = [],
  limit = Number.POSITIVE_INFINITY,
): Firing[] {
  const { metric, windowMinutes, comparison, value: bound, minSessions, coolDownMinutes } = condition;
  const holds = COMPARE[comparison];
  const firings: Firing[] = [];
  let [entering, leaving, count, total] = [0, 0, 0, 0];
  for (let end = first; end <= last && firings.length < limit; end++) {
    for (; entering < minutes.length && minutes[entering]! < end; entering++) {
      count += counts[entering]!;
      total += totals[entering]!;
    }
    for (; leaving < entering && minutes[leaving]! < end - windowMinutes; leaving++) {
      count -= counts[leaving]!;
      total -= totals[leaving]!;
    }
    const value = measure(metric, count, total, minSessions);
    if (value === null || !holds(value, bound)) continue;
    const latest = firings.at(-1);
    if (latest && end - latest.end < coolDownMinutes) continue;
    if (fired.some((other) => Math.abs(end - other) < coolDownMinutes)) continue;
    firings.push({ end, value });
  }
  return firings;
}
