import { NAVIGATION } from '../rail';
import { ADMIN_TABS, TABS } from '../settings/tabs';

/** A page of the dashboard, or where something is done. `path` is under the integration's address. */
export interface Destination {
  name: string;
  detail: string;
  path: string;
  /** Other words that people look for it by. */
  words?: string;
  /** Who may do it. Everybody if absent. */
  needs?: 'write' | 'admin';
}

/** The pages, the tabs of the settings, and what people often look for. */
export const DESTINATIONS: Destination[] = [
  ...NAVIGATION.map(({ path, name, key }) => ({ name, path, detail: `Page · g ${key}` })),
  ...Object.entries(TABS).map(([tab, name]) => ({
    ...{ name: `${name} settings`, detail: 'Settings', path: `settings?tab=${tab}` },
    ...(ADMIN_TABS.includes(tab) ? { needs: 'admin' as const } : {}),
    ...{ words: name },
  })),
  { name: 'New webhook', detail: 'Action', path: 'webhooks/new', words: 'create add subscription', needs: 'write' },
  { name: 'New alert rule', detail: 'Action', path: 'alerts/rules/new', words: 'create add', needs: 'admin' },
  { name: 'Alert rules', detail: 'Page', path: 'alerts?tab=rules' },
  { name: 'Request a report', detail: 'Action', path: 'reports', words: 'create export csv pdf', needs: 'write' },
  { name: 'Sessions without a verdict', detail: 'List', path: 'sessions?label=none', words: 'unlabelled review' },
  { name: 'Bot sessions', detail: 'List', path: 'sessions?riskLevel=bot' },
];

const split = (text: string) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** Whether each word of the query begins a word of the text. */
export function matches(query: string, text: string): boolean {
  const words = split(text);
  return split(query).every((asked) => words.some((word) => word.startsWith(asked)));
}
