export type AlertsTab = 'alerts' | 'rules';

/** Reads the tab from a page's query; defaults to the alerts. */
export const readAlertsTab = (search: URLSearchParams): AlertsTab =>
  search.get('tab') === 'rules' ? 'rules' : 'alerts';

/** Reads the filters of the alerts from a page's query. The procedure reports invalid values. */
export const readAlertFilters = (search: URLSearchParams) => ({
  status: search.get('status') ?? undefined,
  ruleId: search.get('rule') ?? undefined,
});
