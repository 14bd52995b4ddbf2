import type { Severity } from '../../../../contract/events';
import type { AnomalyType } from '../../../../contract/findings';
import { TIME_SORTS } from '../../../../contract/sort-orders';
import { readSort } from '../../list-pages';

export const SEVERITY_WORDS: Record<Severity, string> = { high: 'High', medium: 'Medium', low: 'Low' };

/** So that the compiler asks for a new type. */
const KNOWN: Record<AnomalyType, true> = {
  ...{ AgentTakeover: true, ConcurrentSessions: true, DeviceSwitch: true, ImpossibleTravel: true },
  ...{ SharedDevice: true, UserSwitch: true },
};
/** The types that we look for. A customer's own pipeline may report others. */
export const KNOWN_TYPES = Object.keys(KNOWN) as AnomalyType[];

/** Filter names, in the order of their chips. */
export const ANOMALY_FILTER_NAMES = new Map([
  ['anomalyType', 'Type'],
  ['severity', 'Severity'],
  ['status', 'Status'],
  ['userId', 'User id'],
  ['sessionId', 'Session id'],
]);

/** Reads the filters and the order of the list from a page's query. The procedure reports invalid values of filters. */
export function readAnomalyFilters(search: URLSearchParams) {
  const text = (name: string) => search.get(name) ?? undefined;
  return {
    anomalyType: text('anomalyType'),
    severity: text('severity'),
    status: text('status'),
    userId: text('userId'),
    sessionId: text('sessionId'),
    sort: readSort(search, TIME_SORTS),
  };
}
