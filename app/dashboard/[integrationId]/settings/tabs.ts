/** The parts of the settings, by their name in the address. */
export const TABS = {
  'api-keys': 'API keys',
  thresholds: 'Risk thresholds',
  integration: 'Integration',
  staff: 'Staff',
};
export type Tab = keyof typeof TABS;

/** The part that a page's query names; the first otherwise. */
export const readTab = (search: URLSearchParams): Tab => {
  const named = search.get('tab') ?? '';
  return Object.hasOwn(TABS, named) ? (named as Tab) : 'api-keys';
};
