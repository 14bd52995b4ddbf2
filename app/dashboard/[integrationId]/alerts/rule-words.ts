import type { AlertComparison, AlertMetric, AlertRule, AlertScope } from '../../../../contract/alert-rules';
import { showMetricLimit } from '../../../../contract/metric-values';

export const METRIC_WORDS: Record<AlertMetric, string> = {
  botSessions: 'Bot sessions',
  botShare: 'Share of bot sessions',
  anomalies: 'Anomalies',
  averageScore: 'Average score',
  failedDeliveries: 'Failed deliveries',
};
export const METRIC_HINTS: Record<AlertMetric, string> = {
  botSessions: 'Sessions that began in the window and are bots by today’s threshold and labels.',
  botShare: 'Percent of the sessions with a score or a label.',
  anomalies: 'Anomalies that were detected in the window.',
  averageScore: 'From 0 to 1, of the sessions with a score, whatever their labels.',
  failedDeliveries: 'Deliveries of webhooks that ended without success.',
};
/** The scopes in which each metric can be measured. */
export const METRIC_SCOPES: Record<AlertMetric, readonly AlertScope[]> = {
  botSessions: ['integration', 'course', 'user', 'origin'],
  botShare: ['integration', 'course', 'user', 'origin'],
  averageScore: ['integration', 'course', 'user', 'origin'],
  anomalies: ['integration', 'user'],
  failedDeliveries: ['integration'],
};
/** The metrics that say nothing of few sessions. */
export const isRatio = (metric: AlertMetric) => metric === 'botShare' || metric === 'averageScore';

export const SCOPE_WORDS: Record<AlertScope, string> = {
  integration: 'The whole integration',
  course: 'A course',
  user: 'A user',
  origin: 'An origin',
};
export const COMPARISON_WORDS: Record<AlertComparison, string> = {
  gte: 'at least',
  gt: 'above',
  lte: 'at most',
  lt: 'below',
};

/** Units of time, in minutes, smallest first. */
export const UNITS = { minutes: 1, hours: 60, days: 1_440 } as const;
export type Unit = keyof typeof UNITS;

/** Finds the largest unit in which a time is a whole number. */
export const findUnit = (minutes: number): Unit =>
  minutes % UNITS.days === 0 ? 'days' : minutes % UNITS.hours === 0 ? 'hours' : 'minutes';

/** Writes a stretch of time: `10 minutes`, `1 hour`. */
export function showMinutes(minutes: number): string {
  const unit = findUnit(minutes);
  const count = minutes / UNITS[unit];
  return `${count} ${count === 1 ? unit.slice(0, -1) : unit}`;
}

/** Writes the condition of a rule: `Bot sessions at least 25 within 10 minutes, user ada`. */
export function showCondition(rule: AlertRule): string {
  const { metric, comparison, value, windowMinutes, scope, anomalyType, minSeverity } = rule;
  const filters = [anomalyType, minSeverity && `${minSeverity} or worse`].filter(Boolean).join(', ');
  const what = filters ? `${METRIC_WORDS[metric]} (${filters})` : METRIC_WORDS[metric];
  const where = scope.value === null ? '' : `, ${rule.scopeName ?? `${scope.kind} ${scope.value}`}`;
  const bound = `${COMPARISON_WORDS[comparison]} ${showMetricLimit(metric, value)}`;
  return `${what} ${bound} within ${showMinutes(windowMinutes)}${where}`;
}
