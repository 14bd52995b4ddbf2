/**
 * Reads the filters of the delivery log from a page's query, under the API's own names. The API reports invalid values.
 */
export function readDeliveryFilters(search: URLSearchParams) {
  const text = (name: string) => search.get(name) ?? undefined;
  return { status: text('status'), startDate: text('startDate'), endDate: text('endDate') };
}

/** The tabs of the page and their names. */
export const TAB_NAMES = { deliveries: 'Deliveries', skipped: 'Why skipped', setup: 'Set-up' };
export type WebhookTab = keyof typeof TAB_NAMES;

/** Reads the tab from the page's query. */
export const readWebhookTab = (search: URLSearchParams): WebhookTab => {
  const name = search.get('tab') ?? '';
  return Object.hasOwn(TAB_NAMES, name) ? (name as WebhookTab) : 'deliveries';
};
