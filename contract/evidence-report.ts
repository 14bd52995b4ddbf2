import { z } from 'zod';
import { ACTOR_KINDS } from './audit';
import { findingSchema } from './evidence';
import { double, int32, wireInstant, wireText } from './fields';
import { anomalySchema } from './findings';
import { riskThresholdsSchema } from './risk-thresholds';
import { visitedPageSchema } from './session-context';
import { CONFIDENCES, DEVICE_TYPES, RISK_LEVELS, SESSION_STATUSES, VERDICTS } from './sessions';
import { verdictReasonSchema } from './verdicts';

// The evidence of one session as a document: the dashboard prints it, and answers it as JSON. For staff, so no route of the public
// API shows it.

/** How often something was the case in the laboratory. */
const rateSchema = z.object({ count: int32(137), of: int32(167) });
export type LaboratoryRate = z.infer<typeof rateSchema>;
const intervalSchema = rateSchema.extend({ interval: wireText('76 to 87 %').describe('The 95 % interval.') });

/** What the laboratory measured (docs/detection.md). */
export const laboratorySchema = z.object({
  ruleSetVersion: wireText('2026.4'),
  programs: intervalSchema.describe('Sessions of programs that reached the class `bot` with the default thresholds.'),
  people: intervalSchema.describe('Sessions with people’s ways of input that did.'),
});
export type Laboratory = z.infer<typeof laboratorySchema>;

/** How often a rule found something in the laboratory. */
const ruleRatesSchema = z.object({ programs: rateSchema, people: rateSchema });

const reportedFindingSchema = findingSchema.extend({
  meaning: z.string().nullable().describe('What the rule means. Null for a rule that is not ours.'),
  alsoSeenWith: z.array(z.string()).describe('People whom the rule may also flag, and why.'),
  laboratory: ruleRatesSchema.nullable().describe('Null: not measured.'),
});
export type ReportedFinding = z.infer<typeof reportedFindingSchema>;

const reportedScoreSchema = z.object({
  scoredAt: wireInstant(),
  botScore: double(0.93),
  ruleSetVersion: wireText('2026.4').nullable(),
  detectionFlags: z.array(wireText('zero-pressure')),
});

/** A verdict as it was given, with what its author saw. */
const reportedVerdictSchema = z.object({
  decidedAt: wireInstant(),
  verdict: z.enum(VERDICTS).nullable().describe('Null: the label was removed.'),
  isUndo: z.boolean(),
  confidence: z.enum(CONFIDENCES).nullable(),
  reasons: z.array(verdictReasonSchema),
  notes: z.string().nullable(),
  author: z.object({ kind: z.enum(ACTOR_KINDS), name: z.string().nullable() }),
  botScore: double(0.93).nullable(),
  ruleSetVersion: wireText('2026.4').nullable(),
  thresholds: riskThresholdsSchema.nullable().describe('Those of that time. Null: nobody kept them.'),
});
export type ReportedVerdict = z.infer<typeof reportedVerdictSchema>;

/** The lists are bounded; `hasMore` says that there is more than the report has. */
const listOf = <T extends z.ZodType>(item: T) => z.object({ list: z.array(item), hasMore: z.boolean() });

export const evidenceReportSchema = z.object({
  generatedAt: wireInstant(),
  generatedBy: z.string().nullable(),
  timeZone: z.literal('UTC'),
  integration: z.object({ id: wireText('int_4Hd2'), name: z.string() }),
  session: z.object({
    id: wireText('ses_5Hk2mQ'),
    status: z.enum(SESSION_STATUSES),
    startedAt: wireInstant(),
    closedAt: wireInstant().nullable(),
    lastEventAt: wireInstant().nullable(),
    failureReason: z.string().nullable(),
    firstPage: z.string(),
    origin: z.string(),
    courseId: z.string().nullable(),
    country: z.string().nullable(),
    eventCounts: z.record(z.string(), int32(12)).describe('Events by type.'),
  }),
  score: z.object({
    botScore: double(0.93).nullable(),
    riskLevel: z.enum(RISK_LEVELS).nullable().describe('The class under the thresholds of now and the label.'),
    scoredAt: wireInstant().nullable(),
    ruleSetVersion: wireText('2026.4').nullable(),
    thresholds: riskThresholdsSchema.describe('Those of now.'),
  }),
  label: z
    .object({
      ...{ verdict: z.enum(VERDICTS), confidence: z.enum(CONFIDENCES).nullable(), notes: z.string().nullable() },
      ...{ labeledAt: wireInstant(), labeledBy: z.string().nullable() },
    })
    .nullable(),
  limits: z
    .object({ shows: z.array(z.string()), doesNotShow: z.array(z.string()) })
    .describe('What the report shows and what not, in words.'),
  laboratory: laboratorySchema,
  findings: z.array(reportedFindingSchema),
  scores: listOf(reportedScoreSchema).describe('Latest first.'),
  verdicts: listOf(reportedVerdictSchema).describe('Latest first.'),
  device: z.object({
    fingerprint: z.string().nullable(),
    type: z.enum(DEVICE_TYPES),
    browser: z.string(),
    userAgent: z.string(),
    confirmedAt: wireInstant().nullable().describe('When it was confirmed as the user’s own.'),
  }),
  user: z
    .object({
      ...{ id: wireText('lms-4711'), name: z.string().nullable(), email: z.string().nullable() },
      ...{ url: z.string().nullable(), confidence: double(0.97).nullable(), matchedAt: wireInstant().nullable() },
      match: z.string().describe('How the session was matched with the user, in words.'),
    })
    .nullable(),
  matches: listOf(z.object({ userId: z.string(), confidence: double(0.97), correlatedAt: wireInstant() })).describe(
    'Every match of the session with a user, latest first.',
  ),
  pages: z.object({ list: z.array(visitedPageSchema), total: int32(3), hasMore: z.boolean() }),
  anomalies: listOf(anomalySchema),
});
export type EvidenceReport = z.infer<typeof evidenceReportSchema>;
