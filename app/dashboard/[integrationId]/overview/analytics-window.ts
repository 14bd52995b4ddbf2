import type { Analytics } from '../../../../contract/analytics';

export const PERIOD_CHOICES: { period: Analytics['period']; name: string }[] = [
  { period: '24h', name: '24 hours' },
  { period: '7d', name: '7 days' },
  { period: '30d', name: '30 days' },
  { period: '90d', name: '90 days' },
];
export const BUCKET_CHOICES: { groupBy: Analytics['groupBy']; name: string }[] = [
  { groupBy: 'hour', name: 'Hour' },
  { groupBy: 'day', name: 'Day' },
  { groupBy: 'week', name: 'Week' },
];

/**
 * Reads the analytics window from a page's query. What is missing or impossible is the API's default; a window of one day is grouped by
 * hour. An error would stand where another window is chosen.
 */
export function readWindow(search: URLSearchParams) {
  const period = PERIOD_CHOICES.find((choice) => choice.period === search.get('period'))?.period ?? '7d';
  const chosen = BUCKET_CHOICES.find((choice) => choice.groupBy === search.get('groupBy'))?.groupBy;
  const usual = period === '24h' ? ('hour' as const) : ('day' as const);
  return { period, groupBy: chosen === undefined || (period === '24h' && chosen === 'week') ? usual : chosen };
}
