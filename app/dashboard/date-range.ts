import type { RangeName } from '../../contract/date-ranges';
import { addDays, findDay, startOfDay, UTC } from './time-zone';

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

/** The day that a field for a bound shows. The end of a range is the moment after its last day. */
export function showBound(bound: string | null, edge: 'start' | 'end', timeZone: string): string {
  if (!bound) return '';
  const isDay = bound.length === 10;
  if (isDay && timeZone === UTC) return bound;
  const atMs = Date.parse(isDay ? `${bound}T00:00:00Z` : bound);
  if (Number.isNaN(atMs)) return '';
  return findDay(edge === 'end' && !isDay ? atMs - 1 : atMs, timeZone);
}

/** The bound that a day means, for the address. A day alone is a UTC day for everyone, so other zones' days are instants. */
export function writeBound(day: string, edge: 'start' | 'end', timeZone: string): string {
  if (!day || timeZone === UTC) return day;
  return new Date(startOfDay(edge === 'end' ? addDays(day, 1) : day, timeZone)).toISOString();
}
