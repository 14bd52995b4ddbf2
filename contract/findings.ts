import { z } from 'zod';
import { REPORT_FORMATS, SEVERITIES } from './events';
import { freeObject, idText, text, wireInstant, word } from './fields';
import { pageOf, pageQuery } from './pagination';
import { reportContentSchema } from './reports';
import { timeSort } from './sorting';

// Pipeline facts other than sessions, for staff. No route of the public API shows them.

/** The anomalies that we look for (docs/findings.md). A customer's own pipeline may report others. */
export const ANOMALY_TYPES = [
  ...(['SharedDevice', 'DeviceSwitch', 'UserSwitch'] as const),
  ...(['ImpossibleTravel', 'ConcurrentSessions', 'AgentTakeover'] as const),
] as const;
export type AnomalyType = (typeof ANOMALY_TYPES)[number];

/** What admins can switch off for an integration, for example because their own pipeline reports it. */
export const FINDING_RULES = ['Correlation', ...ANOMALY_TYPES, 'WritingSessionScored'] as const;
export type FindingRuleName = (typeof FINDING_RULES)[number];

/** A rule with its description and its switch. */
export const findingRuleSchema = z.object({
  rule: z.enum(FINDING_RULES),
  definition: z.string(),
  isEnabled: z.boolean(),
});
export type FindingRule = z.infer<typeof findingRuleSchema>;

export const setFindingRuleInput = z.object({ rule: word(FINDING_RULES), isEnabled: z.boolean() });
export type SetFindingRuleInput = z.output<typeof setFindingRuleInput>;
export const findingRuleSwitchSchema = findingRuleSchema.omit({ definition: true });

/** An anomaly or an alert is open until somebody acknowledges it, and acknowledged until somebody resolves it. */
export const INCIDENT_STATUSES = ['Open', 'Acknowledged', 'Resolved'] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** What staff did with an anomaly or an alert. */
const handling = {
  status: z.enum(INCIDENT_STATUSES),
  acknowledgedAt: wireInstant().nullable(),
  acknowledgedBy: z.string().nullable().describe('The address of the account.'),
  resolvedAt: wireInstant().nullable(),
  resolvedBy: z.string().nullable(),
};
export const handlingSchema = z.object(handling);
export type Handling = z.infer<typeof handlingSchema>;

const anomalySessionSchema = z
  .object({ startedAt: wireInstant(), country: z.string().nullable(), device: z.string() })
  .nullable();

export const anomalySchema = z.object({
  id: z.string(),
  anomalyType: z.string(),
  severity: z.enum(SEVERITIES),
  detectedAt: wireInstant(),
  sessionId: z.string().nullable(),
  userId: z.string().nullable(),
  deviceFingerprint: z.string().nullable(),
  metadata: freeObject().nullable(),
  userName: z.string().nullable(),
  previousUserName: z.string().nullable().describe('Of the user whom the metadata names.'),
  session: anomalySessionSchema.describe('Null if there is none, or if it is gone.'),
  otherSession: anomalySessionSchema.describe('The one that the metadata names.'),
  ...handling,
});
export type Anomaly = z.infer<typeof anomalySchema>;
export const anomalyPageSchema = pageOf(anomalySchema);

export const listAnomaliesInput = z.object({
  sessionId: idText().optional(),
  userId: idText().optional(),
  anomalyType: text(1, 256).optional(),
  severity: word(SEVERITIES).optional(),
  status: word(INCIDENT_STATUSES).optional(),
  sort: timeSort,
  ...pageQuery,
});
export type ListAnomaliesInput = z.infer<typeof listAnomaliesInput>;

export const alertSchema = z.object({
  id: z.string(),
  severity: z.string(),
  message: z.string(),
  triggeredAt: wireInstant(),
  url: z.string().nullable(),
  rule: z
    .object({ id: z.string(), name: z.string() })
    .nullable()
    .describe('The alert rule of ours, as it is called now. Null: the customer’s pipeline sent the alert.'),
  windowStart: wireInstant().nullable(),
  windowEnd: wireInstant().nullable(),
  ...handling,
});
export type Alert = z.infer<typeof alertSchema>;
export const alertPageSchema = pageOf(alertSchema);

export const listAlertsInput = z.object({
  status: word(INCIDENT_STATUSES).optional(),
  ruleId: idText().optional(),
  ...pageQuery,
});
export type ListAlertsInput = z.infer<typeof listAlertsInput>;
/** Of an alert or an anomaly. */
export const incidentIdInput = z.object({ id: idText() });
/** `seenStatus`: the status that its reader saw. If it has another one by now, it stays as it is. */
export const reopenIncidentInput = incidentIdInput.extend({ seenStatus: z.enum(INCIDENT_STATUSES).optional() });
export type ReopenIncidentInput = z.output<typeof reopenIncidentInput>;

export const REPORT_STATUSES = ['Ready', 'Expired'] as const;

export const reportSchema = z.object({
  id: z.string(),
  name: z.string(),
  templateId: z.string(),
  format: z.enum(REPORT_FORMATS),
  recordCount: z.number().nullable(),
  fileSize: z.number().nullable().describe('Bytes.'),
  status: z.enum(REPORT_STATUSES),
  completedAt: wireInstant(),
  expiresAt: wireInstant().nullable(),
  downloadUrl: z.string().describe('A path on the dashboard’s API host.'),
  content: reportContentSchema.nullable().describe('Null unless the product made it and has its file.'),
});
export type Report = z.infer<typeof reportSchema>;
export const reportPageSchema = pageOf(reportSchema);

export const listFindingsInput = z.object({ ...pageQuery });
export type ListFindingsInput = z.infer<typeof listFindingsInput>;
