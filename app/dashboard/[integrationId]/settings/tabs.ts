import type { AuditScope } from '../../../../contract/audit';

/** The parts of the settings, by their name in the address. */
export const TABS = {
  'api-keys': 'API keys',
  thresholds: 'Risk thresholds',
  integration: 'Integration',
  staff: 'Staff',
  audit: 'Audit',
};
/** Shown to admins alone. */
export const ADMIN_TABS: readonly string[] = ['audit'] satisfies (keyof typeof TABS)[];
export type Tab = keyof typeof TABS;

/** The part that a page's query names; the first otherwise. */
export const readTab = (search: URLSearchParams): Tab => {
  const named = search.get('tab') ?? '';
  return Object.hasOwn(TABS, named) ? (named as Tab) : 'api-keys';
};

/** Whose changes the audit log shows. */
export const readAuditScope = (search: URLSearchParams): AuditScope =>
  search.get('scope') === 'Staff' ? 'Staff' : 'Integration';
