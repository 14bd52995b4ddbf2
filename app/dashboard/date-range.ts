import type { RangeName } from '../../contract/date-ranges';
import { addDays, findDay, showInstant, startOfDay, UTC } from './time-zone';

const DAY_MS = 86_400_000;

/** The presets in words, and how many days they have. */
export const RANGE_PRESETS: readonly { value: RangeName; name: string; days: number }[] = [
  { value: 'today', name: 'Today', days: 1 },
  { value: '7d', name: 'Last 7 days', days: 7 },
  { value: '30d', name: 'Last 30 days', days: 30 },
];

/** What a range of days depends on. */
export interface Calendar {
  nowMs: number;
  timeZone: string;
}

/**
 * Reads a range from a page's query as the API takes it: [startDate, endDate). Days of a preset are days in the time zone. Other
 * values pass as they are, and the API reports those that are invalid.
 */
export function readDateRange(search: URLSearchParams, { nowMs, timeZone }: Calendar) {
  const preset = RANGE_PRESETS.find(({ value }) => value === search.get('range'));
  if (preset) {
    const first = addDays(findDay(nowMs, timeZone), 1 - preset.days);
    return { startDate: new Date(startOfDay(first, timeZone)).toISOString(), endDate: undefined };
  }
  return { startDate: search.get('startDate') ?? undefined, endDate: search.get('endDate') ?? undefined };
}

/**
 * What is shown as a day: before and after it, in every zone, are years of four digits. A link may say any time; one
 * outside stays as it is, for the API to report.
 */
const SHOWN_MS = [Date.parse('1000-01-02T00:00:00Z'), Date.parse('9999-12-30T00:00:00Z')] as const;

const isUtcDay = (bound: string) => bound.length === 10;

/** When a bound is, in milliseconds. The end of a range is the moment after its last day. */
const findBound = (bound: string, edge: 'start' | 'end') =>
  isUtcDay(bound) ? Date.parse(`${bound}T00:00:00Z`) + (edge === 'end' ? DAY_MS : 0) : Date.parse(bound);

/** The day that a field for a bound shows: the first or last one of which the range has a part. */
export function showBound(bound: string | null, edge: 'start' | 'end', timeZone: string): string {
  const atMs = findBound(bound ?? '', edge);
  const isShown = atMs >= SHOWN_MS[0] && atMs <= SHOWN_MS[1];
  return isShown ? findDay(edge === 'end' ? atMs - 1 : atMs, timeZone) : '';
}

/** Says a bound in words: its day, or the exact time if the range has a part of that day only. What is no time stays as it is. */
export function describeBound(bound: string, edge: 'start' | 'end', timeZone: string): string {
  const day = showBound(bound, edge, timeZone);
  if (day === '') return bound;
  if (isUtcDay(bound) && timeZone === UTC) return day;
  const atMs = findBound(bound, edge);
  const isWholeDay = atMs === startOfDay(edge === 'end' ? addDays(day, 1) : day, timeZone);
  return isWholeDay ? day : showInstant(new Date(atMs).toISOString(), timeZone);
}

/** The bound that a day means, for the address. A day alone is a UTC day for everyone, so other zones' days are instants. */
export function writeBound(day: string, edge: 'start' | 'end', timeZone: string): string {
  if (!day || timeZone === UTC) return day;
  return new Date(startOfDay(edge === 'end' ? addDays(day, 1) : day, timeZone)).toISOString();
}
