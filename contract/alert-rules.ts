import { z } from 'zod';
import { SEVERITIES } from './events';
import { idText, showsSomething, text, wireInstant, word } from './fields';
import { originInput } from './integrations';
import { unlessMissing } from './wording';

// Alert rules, for staff. No route of the public API shows them.

/** What a rule measures in a window of time. */
export const ALERT_METRICS = ['botSessions', 'botShare', 'anomalies', 'averageScore', 'failedDeliveries'] as const;
export type AlertMetric = (typeof ALERT_METRICS)[number];

/** Of what a rule measures it. */
export const ALERT_SCOPES = ['integration', 'course', 'user', 'origin'] as const;
export type AlertScope = (typeof ALERT_SCOPES)[number];

export const ALERT_COMPARISONS = ['gte', 'gt', 'lte', 'lt'] as const;
export type AlertComparison = (typeof ALERT_COMPARISONS)[number];

interface MetricDefinition {
  scopes: readonly AlertScope[];
  /** The largest value. The smallest is 0. */
  max: number;
  /** Whether values are whole numbers that only grow while facts arrive. */
  isCount: boolean;
  /** Whether a value of few sessions says nothing, so that a rule needs `minSessions`. */
  needsSessions: boolean;
}

const count = (scopes: readonly AlertScope[]): MetricDefinition => ({
  ...{ scopes, max: 1_000_000, isCount: true, needsSessions: false },
});
const ratio = (max: number): MetricDefinition => ({
  ...{ scopes: ALERT_SCOPES, max, isCount: false, needsSessions: true },
});

/** What the metrics are like. A share is in percent, a score from 0 to 1. */
export const METRICS: Record<AlertMetric, MetricDefinition> = {
  botSessions: count(ALERT_SCOPES),
  botShare: ratio(100),
  anomalies: count(['integration', 'user']),
  averageScore: ratio(1),
  failedDeliveries: count(['integration']),
};

export const MIN_WINDOW_MINUTES = 5;
export const MAX_WINDOW_MINUTES = 7 * 24 * 60;
/** Rules of an integration that are not deleted. */
export const MAX_ALERT_RULES = 100;
export const DEFAULT_MIN_SESSIONS = 20;
const MAX_TEMPLATE_LENGTH = 500;

/** What may stand in `{{…}}` in a rule's message. */
export const PLACEHOLDERS = ['value', 'threshold', 'window', 'scope', 'rule'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];
const MARK = /\{\{([^{}]*)\}\}/g;

/** Replaces the placeholders of a message. */
export const fillPlaceholders = (template: string, fill: (name: string) => string): string =>
  template.replaceAll(MARK, (_, name: string) => fill(name.trim()));

function findUnknownPlaceholder(template: string): string | undefined {
  const names = Array.from(template.matchAll(MARK), ([, name]) => name!.trim());
  return names.find((name) => !(PLACEHOLDERS as readonly string[]).includes(name));
}

/** Replaces control characters, which a receiver of the message may print, by spaces. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
export const removeControls = (value: string): string => value.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ').trim();

const line = (max: number) =>
  text(1, max).transform((value, context) => {
    const shown = removeControls(value);
    if (!showsSomething(shown)) context.issues.push({ code: 'custom', input: value, message: 'must not be empty' });
    return shown;
  });
const template = () =>
  line(MAX_TEMPLATE_LENGTH).check(({ value, issues }) => {
    const unknown = findUnknownPlaceholder(value);
    if (unknown === undefined) return;
    const known = PLACEHOLDERS.map((name) => `{{${name}}}`).join(', ');
    issues.push({
      ...{ code: 'custom', input: value },
      message: `has the unknown placeholder {{${unknown}}}; known are ${known}`,
    });
  });
const minutes = () =>
  z
    .int({ error: unlessMissing('must be a whole number of minutes') })
    .min(MIN_WINDOW_MINUTES, `must be at least ${MIN_WINDOW_MINUTES} minutes`)
    .max(MAX_WINDOW_MINUTES, 'must be at most 7 days, in minutes');

const ruleFields = {
  name: line(100),
  metric: word(ALERT_METRICS),
  anomalyType: text(1, 128).nullish().describe('Of `anomalies`: the type; any if it is left out.'),
  minSeverity: word(SEVERITIES).nullish().describe('Of `anomalies`: the least severity; any if it is left out.'),
  scope: z.object({ kind: word(ALERT_SCOPES), value: idText().nullish() }),
  windowMinutes: minutes(),
  comparison: word(ALERT_COMPARISONS),
  value: z.number(),
  minSessions: z
    .int({ error: unlessMissing('must be a whole number') })
    .min(1, 'must be at least 1')
    .max(1_000_000, 'must be at most 1000000')
    .default(DEFAULT_MIN_SESSIONS)
    .describe('Of `botShare` and `averageScore`: a window with fewer sessions is not judged.'),
  severity: word(SEVERITIES),
  message: template(),
  coolDownMinutes: minutes().nullish().describe('As long as the window if it is left out.'),
};
type RuleFields = z.output<z.ZodObject<typeof ruleFields>>;

interface Refusal {
  path: string[];
  message: string;
}

/** Finds what does not fit together in a rule. */
function findMismatch({ metric, anomalyType, minSeverity, scope, comparison, value }: RuleFields): Refusal | null {
  const { scopes, max, isCount } = METRICS[metric];
  if (!scopes.includes(scope.kind))
    return { path: ['scope', 'kind'], message: `must be ${scopes.join(' or ')} for ${metric}` };
  if (scope.kind === 'integration' && scope.value != null)
    return { path: ['scope', 'value'], message: 'must be left out for the whole integration' };
  if (scope.kind !== 'integration' && scope.value == null) return { path: ['scope', 'value'], message: 'is required' };
  if (scope.kind === 'origin' && !originInput.safeParse(scope.value).success)
    return { path: ['scope', 'value'], message: 'must be an origin, for example https://lms.example.edu' };
  for (const [name, filter] of Object.entries({ anomalyType, minSeverity }))
    if (filter != null && metric !== 'anomalies') return { path: [name], message: 'is for the metric anomalies only' };
  if (isCount && !Number.isInteger(value)) return { path: ['value'], message: 'must be a whole number' };
  if (value < 0 || value > max) return { path: ['value'], message: `must be between 0 and ${max} for ${metric}` };
  // Such a rule would hold always or never.
  if (value === 0 && (comparison === 'gte' || comparison === 'lt'))
    return { path: ['value'], message: `must be above 0 for ${comparison}` };
  if (value === max && (comparison === 'gt' || comparison === 'lte'))
    return { path: ['value'], message: `must be below ${max} for ${comparison}` };
  return null;
}

/** Completes a rule: an origin as browsers write it, and the cool-down. */
const completeRule = (rule: RuleFields) => ({
  ...rule,
  anomalyType: rule.anomalyType ?? null,
  minSeverity: rule.minSeverity ?? null,
  scope: {
    kind: rule.scope.kind,
    value: rule.scope.kind === 'origin' ? originInput.parse(rule.scope.value) : (rule.scope.value ?? null),
  },
  coolDownMinutes: rule.coolDownMinutes ?? rule.windowMinutes,
});

/** Makes an input with the fields of a rule, and others. */
const ruleInput = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .object({ ...ruleFields, ...shape })
    .check(({ value, issues }) => {
      // A field that is wrong by itself has an issue already.
      const refusal = issues.length > 0 ? null : findMismatch(value as RuleFields);
      if (refusal) issues.push({ code: 'custom', input: value, ...refusal });
    })
    .transform((rule) => ({ ...rule, ...completeRule(rule as RuleFields) }));

export const createAlertRuleInput = ruleInput({ enabled: z.boolean().default(true) });
export type CreateAlertRuleInput = z.output<typeof createAlertRuleInput>;
/** What a form holds, before defaults are filled in. */
export type AlertRuleDraft = z.input<typeof createAlertRuleInput>;

/** `version` is the one that was read: a rule that somebody has changed since stays as it is. */
export const updateAlertRuleInput = ruleInput({ id: idText(), version: z.int() });
export type UpdateAlertRuleInput = z.output<typeof updateAlertRuleInput>;

export const previewAlertRuleInput = ruleInput({});
export type PreviewAlertRuleInput = z.output<typeof previewAlertRuleInput>;

export const alertRuleIdInput = z.object({ id: idText() });
export const setAlertRuleEnabledInput = z.object({ id: idText(), enabled: z.boolean() });

export const alertRuleSchema = z.object({
  id: z.string(),
  version: z.number(),
  name: z.string(),
  metric: z.enum(ALERT_METRICS),
  anomalyType: z.string().nullable(),
  minSeverity: z.enum(SEVERITIES).nullable(),
  scope: z.object({ kind: z.enum(ALERT_SCOPES), value: z.string().nullable() }),
  scopeName: z.string().nullable().describe('Of its course or user, if it is known.'),
  windowMinutes: z.number(),
  comparison: z.enum(ALERT_COMPARISONS),
  value: z.number(),
  minSessions: z.number(),
  severity: z.enum(SEVERITIES),
  message: z.string(),
  coolDownMinutes: z.number(),
  enabled: z.boolean(),
  createdAt: wireInstant(),
  createdBy: z.string().nullable(),
  updatedAt: wireInstant(),
  updatedBy: z.string().nullable(),
  lastTriggeredAt: wireInstant().nullable().describe('Of its latest alert.'),
});
export type AlertRule = z.infer<typeof alertRuleSchema>;

/** At most so many firings are listed in a preview, the latest ones. */
export const MAX_PREVIEWED = 100;
export const PREVIEW_DAYS = 30;

export const alertRulePreviewSchema = z.object({
  from: wireInstant(),
  to: wireInstant(),
  count: z.number().describe('How often the rule would have fired.'),
  firings: z
    .array(z.object({ windowStart: wireInstant(), windowEnd: wireInstant(), value: z.number(), message: z.string() }))
    .describe(`The latest ${MAX_PREVIEWED}, newest first.`),
});
export type AlertRulePreview = z.infer<typeof alertRulePreviewSchema>;
