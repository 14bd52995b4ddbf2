import { type Calendar, readDateRange } from '../../../date-range';

/**
 * Reads the filters of the delivery log from a page's query, under the API's own names. The API reports invalid values.
 */
export const readDeliveryFilters = (search: URLSearchParams, calendar: Calendar) => ({
  status: search.get('status') ?? undefined,
  ...readDateRange(search, calendar),
});

/** The tabs of the page and their names. */
export const TAB_NAMES = { deliveries: 'Deliveries', skipped: 'Skipped', setup: 'Set-up' };
export type WebhookTab = keyof typeof TAB_NAMES;

/** Reads the tab from the page's query. */
export const readWebhookTab = (search: URLSearchParams): WebhookTab => {
  const name = search.get('tab') ?? '';
  return Object.hasOwn(TAB_NAMES, name) ? (name as WebhookTab) : 'deliveries';
};
