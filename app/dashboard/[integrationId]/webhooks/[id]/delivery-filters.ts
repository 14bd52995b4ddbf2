/** The filters of the delivery log that a page's query holds, under the API's own names. What is wrong is for the API to say. */
export function readDeliveryFilters(search: URLSearchParams) {
  const text = (name: string) => search.get(name) ?? undefined;
  return { status: text('status'), startDate: text('startDate'), endDate: text('endDate') };
}

/** The parts of the page, and what they are called. */
export const TAB_NAMES = { deliveries: 'Deliveries', skipped: 'Why skipped', setup: 'Set-up' };
export type Tab = keyof typeof TAB_NAMES;

/** The part of the page that its query names. */
export const readTab = (search: URLSearchParams): Tab => {
  const name = search.get('tab') ?? '';
  return Object.hasOwn(TAB_NAMES, name) ? (name as Tab) : 'deliveries';
};
