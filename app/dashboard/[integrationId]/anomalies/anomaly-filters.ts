import type { Severity } from '../../../../contract/events';

export const SEVERITY_WORDS: Record<Severity, string> = { high: 'High', medium: 'Medium', low: 'Low' };

/** The types we know by name. The pipeline may report others. */
export const KNOWN_TYPES = ['DeviceSwitch', 'ImpossibleTravel', 'SharedDevice'];

/** Filter names, in the order of their chips. */
export const ANOMALY_FILTER_NAMES = new Map([
  ['anomalyType', 'Type'],
  ['severity', 'Severity'],
  ['userId', 'User id'],
  ['sessionId', 'Session id'],
]);

/** Reads the filters of the list from a page's query. The procedure reports invalid values. */
export function readAnomalyFilters(search: URLSearchParams) {
  const text = (name: string) => search.get(name) ?? undefined;
  return {
    anomalyType: text('anomalyType'),
    severity: text('severity'),
    userId: text('userId'),
    sessionId: text('sessionId'),
  };
}
