import { z } from 'zod';
import { alertRuleSchema } from '../../contract/alert-rules';
import { analyticsSchema } from '../../contract/analytics';
import { auditEntrySchema } from '../../contract/audit';
import { CLIPBOARD_KINDS, PAGE_CAUSES } from '../../contract/beacon';
import { courseSchema } from '../../contract/courses';
import { EVENT_TYPE_NAMES, EVENTS } from '../../contract/events';
import { sessionEvidenceSchema } from '../../contract/evidence';
import { evidenceReportSchema } from '../../contract/evidence-report';
import { alertSchema, anomalySchema, FINDING_RULES, reportSchema } from '../../contract/findings';
import { apiKeySchema, integrationSchema } from '../../contract/integrations';
import { LIST_INPUTS } from '../../contract/list-queries';
import { createScheduleInput, reportJobSchema, requestReportInput } from '../../contract/reports';
import { savedViewSchema } from '../../contract/saved-views';
import { sessionDetailsSchema, sessionEventSchema } from '../../contract/session-events';
import { sessionSchema } from '../../contract/sessions';
import { siteSchema } from '../../contract/sites';
import { userSchema } from '../../contract/users';
import { webhookSchema } from '../../contract/webhooks';
import { writingEvidenceSchema } from '../../contract/writing';
import { RULES } from '../detection/rules/table';
import { WRITING_RULES } from '../detection/writing-score';
import { BROWSERS } from './user-agents';

// The words of the product itself. A visitor may choose one as their id, and it stands in what is stored about everybody.

const WORDS = /[a-z]+(?:-[a-z]+)*/gi;

const SCHEMAS: z.ZodType[] = [
  ...Object.values(EVENTS).map(({ payload }) => payload),
  ...Object.values(LIST_INPUTS),
  ...[sessionSchema, sessionEventSchema, sessionDetailsSchema, sessionEvidenceSchema, evidenceReportSchema],
  ...[writingEvidenceSchema, userSchema, courseSchema, anomalySchema, alertSchema, alertRuleSchema],
  ...[reportSchema, reportJobSchema, requestReportInput, createScheduleInput, savedViewSchema, analyticsSchema],
  ...[auditEntrySchema, integrationSchema, apiKeySchema, siteSchema, webhookSchema],
];

/** What no schema names. tests/unit/own-words.test.ts says where it is. */
const OTHERS = [
  // The metadata of anomalies and their words.
  'deviceFingerprint otherUserCount device otherDevice minutesSinceOther previousUserId minutesBetween otherSessionId distanceKm',
  'speedKmh isSameDevice devices minute moment direction segmentsBefore segmentsAfter scoreBefore scoreAfter',
  'person-to-program program-to-person',
  // The metadata of events.
  'trusted signedIn kind length state cause visible hidden',
  // The reports: their columns and sections.
  'uncertainSessionCount uncertainBotSessionCount mediumSessionCount labeledBotCount labeledHumanCount labelNotes botCount findings',
  'sections columns rowCount sessionsByDay labels series values totals',
  'sessionsKeptFrom timeZone integrationName erased',
  // The details of audit entries.
  'siteKey scopes masked expiresAt before after isFirst confirmedAt firstConfirmedAt confirmedBy fingerprint receiptId',
  'role attemptLog gracePeriodSeconds disabledWebhooks invitedBy byLinkOf isEnabled anomalyType minSeverity scopeValue sampleSize',
  // Systems of devices.
  'Windows Android Linux macOS iOS Chrome OS Ubuntu Fedora PlayStation Windows Phone Unknown',
];

let known: ReadonlySet<string> | null = null;

/** Whether a text is a word of the product: of its fields, values, rules or documents, in any case. */
export function isOwnWord(text: string): boolean {
  known ??= new Set(listWords());
  return known.has(text.toLowerCase());
}

function listWords(): string[] {
  const texts = [
    ...SCHEMAS.map(writeSchema),
    ...OTHERS,
    ...EVENT_TYPE_NAMES,
    ...FINDING_RULES,
    ...RULES.map(({ rule }) => rule.flag),
    ...WRITING_RULES.map(({ name }) => name),
    ...CLIPBOARD_KINDS,
    ...PAGE_CAUSES,
    ...BROWSERS,
  ];
  return texts.flatMap((text) => text.toLowerCase().match(WORDS) ?? []);
}

/** Without examples, which name people. */
const writeSchema = (schema: z.ZodType): string =>
  JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), (key, value: unknown) =>
    key === 'example' || key === 'examples' ? undefined : value,
  );
