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
 * Reads the analytics window from a page's query. Defaults to the API's own window; a window of one day is grouped by
 * hour.
 */
export function readWindow(search: URLSearchParams) {
  const period = search.get('period') ?? '7d';
  return { period, groupBy: search.get('groupBy') ?? (period === '24h' ? 'hour' : 'day') };
}
