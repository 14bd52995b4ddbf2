import type { Severity } from '../../../../contract/events';

export const SEVERITY_WORDS: Record<Severity, string> = { high: 'High', medium: 'Medium', low: 'Low' };

/** Types that are known by name; the pipeline may tell of others. */
export const KNOWN_TYPES = ['DeviceSwitch', 'ImpossibleTravel', 'SharedDevice'];

/** Names of the filters, in the order of their chips. */
export const FILTER_NAMES = new Map([
  ['anomalyType', 'Type'],
  ['severity', 'Severity'],
  ['userId', 'User id'],
  ['sessionId', 'Session id'],
]);

/** The filters of the list that a page's query holds. What is wrong is for the procedure to say. */
export function readFilters(search: URLSearchParams) {
  const text = (name: string) => search.get(name) ?? undefined;
  return {
    anomalyType: text('anomalyType'),
    severity: text('severity'),
    userId: text('userId'),
    sessionId: text('sessionId'),
  };
}
