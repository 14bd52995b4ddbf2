import {
  type AlertMetric,
  type AlertScope,
  fillPlaceholders,
  type Placeholder,
  removeControls,
} from '../../contract/alert-rules';
import { cutText } from '../../contract/fields';
import { showMetricLimit, showMetricValue } from '../../contract/metric-values';

/** What a message says of its rule. */
export interface Described {
  name: string;
  metric: AlertMetric;
  scope: AlertScope;
  scopeValue: string;
  /** The name of the course, if it is known. */
  courseName: string | null;
  windowMinutes: number;
  value: number;
  message: string;
}

/** A fact takes 4,096 characters; more than this nobody reads. */
const MAX_LENGTH = 1_000;

const countOf = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

/** Writes a window in the largest unit that it is a whole number of. */
export function showWindow(minutes: number): string {
  if (minutes % 1_440 === 0) return countOf(minutes / 1_440, 'day');
  return minutes % 60 === 0 ? countOf(minutes / 60, 'hour') : countOf(minutes, 'minute');
}

function showScope({ scope, scopeValue, courseName }: Described): string {
  if (scope === 'integration') return 'the whole integration';
  return scope === 'course' && courseName !== null ? courseName : `${scope} ${scopeValue}`;
}

/** Fills the placeholders of a rule's message. It is plain text: what shows it must escape it. */
export function writeMessage(rule: Described, value: number): string {
  const words: Record<Placeholder, () => string> = {
    value: () => showMetricValue(rule.metric, value, rule.value),
    threshold: () => showMetricLimit(rule.metric, rule.value),
    window: () => showWindow(rule.windowMinutes),
    scope: () => showScope(rule),
    rule: () => rule.name,
  };
  // Names of users and courses come from pages, so they may hold anything.
  const filled = fillPlaceholders(rule.message, (name) => words[name as Placeholder]());
  return cutText(removeControls(filled), MAX_LENGTH);
}
