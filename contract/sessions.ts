import { z } from 'zod';
import {
  dateRange,
  double,
  idText,
  instantText,
  isReversed,
  scoreBound,
  text,
  wireInstant,
  wireText,
  word,
} from './fields';
import { pageQuery } from './pagination';
import { parseUrl } from './urls';
import { verdictReasonSchema, verdictReasonsInput } from './verdicts';

export const SESSION_STATUSES = ['Active', 'Closed', 'Scored', 'Failed'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];
export const DEVICE_TYPES = ['desktop', 'mobile', 'tablet'] as const;
export type DeviceType = (typeof DEVICE_TYPES)[number];
export const RISK_LEVELS = ['bot', 'medium', 'human'] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];
export const VERDICTS = ['bot', 'human'] as const;
export type Verdict = (typeof VERDICTS)[number];
export const CONFIDENCES = ['high', 'medium', 'low'] as const;
export type Confidence = (typeof CONFIDENCES)[number];

/** Half of the way around the Earth. */
const MAX_ACCURACY_KM = 20_040;
const plusZero = (value: number) => value + 0;

/** About where a client is. No route shows it. Minus zero is stored as zero, so that a repeated fact equals what is stored. */
export const geoLocationInput = z.object({
  latitude: z.number().min(-90).max(90).transform(plusZero),
  longitude: z.number().min(-180).max(180).transform(plusZero),
  /** How far away the client may be: a radius. */
  accuracyKm: z.number().min(0).max(MAX_ACCURACY_KM).transform(plusZero),
});
export type GeoLocation = z.output<typeof geoLocationInput>;

const MAX_NOTES_LENGTH = 1000;

/** A reviewer's free text. Null means absent. */
export const notesInput = text(0, MAX_NOTES_LENGTH)
  .describe(`Free text, at most ${MAX_NOTES_LENGTH} characters.`)
  .meta({ maxLength: MAX_NOTES_LENGTH, example: 'Pasted 400 words within a second' })
  .nullish();

const labelFields = {
  verdict: z.enum(VERDICTS),
  confidence: z.enum(CONFIDENCES).nullable().describe('How sure the reviewer was; null when not said.'),
  notes: wireText('Pasted 400 words within a second').nullable(),
  labeledAt: wireInstant('2026-02-01T08:00:00.000Z'),
};

/** A browsing session (specification: Session). The fields after `userUrl` are our additions. */
export const sessionSchema = z
  .object({
    id: wireText('ses_5Hk2mQ'),
    createdAt: wireInstant().describe('When the session began.'),
    updatedAt: wireInstant('2026-01-31T09:34:12.000Z').nullable().describe('When a fact or a label last changed it.'),
    status: z
      .enum(SESSION_STATUSES)
      .describe('`Active`, then `Closed`, then `Scored`; `Failed` when scoring gave up.')
      .meta({ example: 'Scored' }),
    botScore: double(0.93).nullable().describe('Likelihood of a bot, 0 to 1; null before scoring.'),
    detectionFlags: z.array(wireText('webdriver')).describe('What the scoring pipeline noticed.'),
    pageUrl: wireText('https://lms.example.edu/courses/42/quizzes/1').describe('The first page.'),
    userAgentSummary: wireText('Chrome 142 on Windows'),
    userId: wireText('lms-4711').nullable().describe('The correlated LMS user; null until correlated.'),
    userName: wireText('Ada Lovelace').nullable(),
    userUrl: wireText('https://lms.example.edu/users/4711').nullable(),
    riskLevel: z
      .enum(RISK_LEVELS)
      .nullable()
      .describe('The class under the integration’s risk thresholds and the label; null before scoring.'),
    label: z
      .object(labelFields)
      .meta({ id: 'Label' })
      .nullable()
      .describe('The reviewer’s verdict, which overrides the score.'),
    courseId: wireText('9f2c1b7de0a84c55').nullable(),
    deviceFingerprint: wireText('4be81f0c9a7d2210').nullable(),
    deviceType: z.enum(DEVICE_TYPES),
    browser: wireText('Chrome').describe('One of the well-known names; `Other` for any other browser.'),
    origin: wireText('https://lms.example.edu').describe('scheme://host[:port] of the first page.'),
    country: wireText('US').nullable(),
    correlationConfidence: double(0.97).nullable().describe('0 to 1; null until correlated.'),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof sessionSchema>;

/** Normalises an origin as a browser writes it, so that case, a default port and a trailing slash do not matter. */
const originFilter = text(1, 2048).transform((value) => parseUrl(value)?.origin ?? value);

/** Filters of `GET /v1/sessions`. A session must match all that are given. */
const sessionFilters = {
  ...dateRange('Sessions that began'),
  status: word(SESSION_STATUSES).describe('Sessions in this status, in any case.').optional(),
  minBotScore: scoreBound('Smallest bot score, 0 to 1.').optional(),
  maxBotScore: scoreBound('Largest bot score, 0 to 1.').optional(),
  riskLevel: word(RISK_LEVELS).describe('The class under the current risk thresholds and the label.').optional(),
  detectionFlag: text(1, 256).describe('A flag that the session carries.').optional(),
  label: word(['bot', 'human', 'none']).describe('The reviewer’s verdict; `none` for sessions without one.').optional(),
  userId: idText().describe('Sessions of this LMS user.').optional(),
  courseId: idText().describe('Sessions in this course.').optional(),
  fingerprint: idText().describe('Sessions of this device.').optional(),
  origin: originFilter.describe('Sessions whose first page is at this scheme://host[:port].').optional(),
  deviceType: word(DEVICE_TYPES).describe('Sessions on this kind of device.').optional(),
};

export const listSessionsInput = z.object({ ...pageQuery, ...sessionFilters }).check((context) => {
  const { startDate, endDate, minBotScore, maxBotScore } = context.value;
  const refuse = (field: string, message: string) =>
    context.issues.push({ code: 'custom', input: context.value, path: [field], message });
  if (startDate && endDate && isReversed(startDate, endDate)) refuse('endDate', 'must not be before startDate');
  if (minBotScore !== undefined && maxBotScore !== undefined && minBotScore > maxBotScore)
    refuse('maxBotScore', 'must not be below minBotScore');
});
export type ListSessionsInput = z.infer<typeof listSessionsInput>;

export const sessionIdInput = z.object({ sessionId: idText('ses_5Hk2mQ').describe('The session’s id.') });

export const labelSessionInput = z.object({
  ...sessionIdInput.shape,
  verdict: word(VERDICTS).describe('What the session was, in any case.'),
  confidence: word(CONFIDENCES).describe('How sure the reviewer is.').nullish(),
  notes: notesInput,
});
export type LabelSessionInput = z.infer<typeof labelSessionInput>;

/**
 * What staff decide in the dashboard. Confidence and notes that are absent stay as they are, so that a key press sets the verdict
 * alone; null removes them. Absent reasons stay if the verdict does. With `seenLabeledAt`, the time of the label that the reviewer
 * saw (null: none), another label is not replaced.
 */
export const setVerdictInput = z.object({
  ...sessionIdInput.shape,
  verdict: word(VERDICTS),
  confidence: word(CONFIDENCES).nullish(),
  reasons: verdictReasonsInput.optional(),
  notes: notesInput,
  seenLabeledAt: instantText().nullish(),
});
export type SetVerdictInput = z.infer<typeof setVerdictInput>;

/** Undoes the label of that time: the label of `previousLabeledAt` comes back, or none if it is null. */
export const undoVerdictInput = z.object({
  ...sessionIdInput.shape,
  labeledAt: instantText(),
  previousLabeledAt: instantText().nullable(),
});
export type UndoVerdictInput = z.infer<typeof undoVerdictInput>;

/** Removes the label of that time. */
export const removeLabelInput = undoVerdictInput.pick({ sessionId: true, labeledAt: true });
export type RemoveLabelInput = z.infer<typeof removeLabelInput>;

/** The current label of a session (specification: Session label request). */
export const sessionLabelSchema = z
  .object({ sessionId: wireText('ses_5Hk2mQ'), ...labelFields })
  .meta({ id: 'SessionLabel' });
export type SessionLabel = z.infer<typeof sessionLabelSchema>;

/** The label that staff set, and the one before it. */
export const setVerdictSchema = sessionLabelSchema.extend({
  reasons: z.array(verdictReasonSchema),
  previous: z.object(labelFields).pick({ verdict: true, labeledAt: true }).nullable(),
});
export type SetVerdict = z.infer<typeof setVerdictSchema>;

/** The label that is left after an undo or a removal. */
export const leftLabelSchema = sessionSchema.pick({ label: true });
