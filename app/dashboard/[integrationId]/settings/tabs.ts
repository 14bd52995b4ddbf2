import type { AuditScope } from '../../../../contract/audit';

/** The tabs of the settings, by their name in the URL. */
export const TABS = {
  'api-keys': 'API keys',
  sites: 'Sites',
  thresholds: 'Risk thresholds',
  findings: 'Findings',
  integration: 'Integration',
  staff: 'Staff',
  audit: 'Audit',
};
/** Only admins see these. */
export const ADMIN_TABS: readonly string[] = ['audit'] satisfies (keyof typeof TABS)[];
export type SettingsTab = keyof typeof TABS;

/** Reads the tab from a page's query; defaults to the first. */
export const readSettingsTab = (search: URLSearchParams): SettingsTab => {
  const named = search.get('tab') ?? '';
  return Object.hasOwn(TABS, named) ? (named as SettingsTab) : 'api-keys';
};

/** Reads from a page's query whose changes the audit log shows. */
export const readAuditScope = (search: URLSearchParams): AuditScope =>
  search.get('scope') === 'Staff' ? 'Staff' : 'Integration';
