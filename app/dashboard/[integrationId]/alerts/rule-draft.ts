import type {
  AlertComparison,
  AlertMetric,
  AlertRule,
  AlertRuleDraft,
  AlertScope,
} from '../../../../contract/alert-rules';
import type { Severity } from '../../../../contract/events';
import { findUnit, isRatio, METRIC_SCOPES, UNITS, type Unit } from './rule-words';

/** A stretch of time as it is typed. */
export interface TypedTime {
  text: string;
  unit: Unit;
}

/** A rule as the form holds it: numbers as they are typed. */
export interface RuleDraft {
  name: string;
  metric: AlertMetric;
  anomalyType: string;
  minSeverity: Severity | '';
  scopeKind: AlertScope;
  scopeValue: string;
  comparison: AlertComparison;
  value: string;
  minSessions: string;
  window: TypedTime;
  /** Empty: as long as the window. */
  coolDown: TypedTime;
  severity: Severity;
  message: string;
}

export const EMPTY_RULE: RuleDraft = {
  ...{ name: '', metric: 'botSessions', anomalyType: '', minSeverity: '', scopeKind: 'integration', scopeValue: '' },
  ...{ comparison: 'gte', value: '25', minSessions: '20', severity: 'high' },
  window: { text: '10', unit: 'minutes' },
  coolDown: { text: '', unit: 'minutes' },
  message: '{{value}} bot sessions within {{window}} in {{scope}}',
};

const DEFAULTS: Record<AlertMetric, Pick<RuleDraft, 'value' | 'message'>> = {
  botSessions: { value: '25', message: EMPTY_RULE.message },
  botShare: { value: '50', message: '{{value}} of the sessions within {{window}} are bots, in {{scope}}' },
  anomalies: { value: '5', message: '{{value}} anomalies within {{window}} in {{scope}}' },
  averageScore: { value: '0.5', message: 'Average score {{value}} within {{window}} in {{scope}}' },
  failedDeliveries: { value: '10', message: '{{value}} deliveries failed within {{window}}' },
};

/** Changes the metric of a draft, and what another metric needs otherwise. A message that was typed stays. */
export function changeMetric(draft: RuleDraft, metric: AlertMetric): RuleDraft {
  const isTyped = Object.values(DEFAULTS).every(({ message }) => message !== draft.message);
  return {
    ...draft,
    metric,
    value: DEFAULTS[metric].value,
    message: isTyped ? draft.message : DEFAULTS[metric].message,
    ...(METRIC_SCOPES[metric].includes(draft.scopeKind) ? {} : { scopeKind: 'integration' }),
  };
}

const toNumber = (text: string) => (text.trim() === '' ? Number.NaN : Number(text));
// 1.1 hours are 66 minutes: what binary fractions add to it goes.
const toMinutes = ({ text, unit }: TypedTime) => Number((toNumber(text) * UNITS[unit]).toFixed(6));
const toTime = (minutes: number): TypedTime => {
  const unit = findUnit(minutes);
  return { text: String(minutes / UNITS[unit]), unit };
};

/** Reads the form. What is not a number becomes null in JSON, which the server refuses with the field's name. */
export const toRule = (draft: RuleDraft): AlertRuleDraft => ({
  ...{ name: draft.name, metric: draft.metric, comparison: draft.comparison, severity: draft.severity },
  ...{ value: toNumber(draft.value), message: draft.message, windowMinutes: toMinutes(draft.window) },
  scope: {
    kind: draft.scopeKind,
    ...(draft.scopeKind === 'integration' ? {} : { value: draft.scopeValue.trim() || null }),
  },
  ...(draft.metric === 'anomalies'
    ? { anomalyType: draft.anomalyType.trim() || null, minSeverity: draft.minSeverity || null }
    : {}),
  ...(isRatio(draft.metric) ? { minSessions: toNumber(draft.minSessions) } : {}),
  ...(draft.coolDown.text.trim() === '' ? {} : { coolDownMinutes: toMinutes(draft.coolDown) }),
});

/** What is previewed: a rule without a name or a message can be judged, too. */
export const toPreviewed = (draft: RuleDraft): AlertRuleDraft => {
  const rule = toRule(draft);
  return { ...rule, name: rule.name.trim() || 'Rule', message: rule.message.trim() || '{{value}}' };
};

/** Fills the form with a rule. */
export const fillRuleDraft = (rule: AlertRule): RuleDraft => ({
  ...{ name: rule.name, metric: rule.metric, comparison: rule.comparison, severity: rule.severity },
  ...{ anomalyType: rule.anomalyType ?? '', minSeverity: rule.minSeverity ?? '', message: rule.message },
  ...{ scopeKind: rule.scope.kind, scopeValue: rule.scope.value ?? '' },
  ...{ value: String(rule.value), minSessions: String(rule.minSessions) },
  window: toTime(rule.windowMinutes),
  coolDown: rule.coolDownMinutes === rule.windowMinutes ? { text: '', unit: 'minutes' } : toTime(rule.coolDownMinutes),
});
