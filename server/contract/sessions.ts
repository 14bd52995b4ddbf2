import { z } from 'zod';
import { double, identifier, instant, text, wireInstant, word } from './fields';
import { pageQuery } from './pagination';

export const SESSION_STATUSES = ['Active', 'Closed', 'Scored', 'Failed'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];
export const DEVICE_TYPES = ['desktop', 'mobile', 'tablet'] as const;
export type DeviceType = (typeof DEVICE_TYPES)[number];
export const EVENT_TYPES = [
  'mouse',
  'scroll',
  'keyboard',
  'touch',
  'form',
  'navigation',
  'visibility',
  'clipboard',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
export const RISK_LEVELS = ['bot', 'medium', 'human'] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** A browsing session (specification: Session; the fields after `userUrl` are additions of ours). */
export const sessionSchema = z
  .object({
    id: z.string(),
    createdAt: wireInstant().describe('When the session began.'),
    updatedAt: wireInstant().nullable().describe('When a fact last changed it.'),
    status: z.enum(SESSION_STATUSES).describe('`Active`, then `Closed`, then `Scored`; `Failed` when scoring gave up.'),
    botScore: double().nullable().describe('Likelihood of a bot, 0 to 1; null before scoring.'),
    detectionFlags: z.array(z.string()).describe('What the scoring pipeline noticed.'),
    pageUrl: z.string().describe('The first page.'),
    userAgentSummary: z.string(),
    userId: z.string().nullable().describe('The correlated LMS user; null until correlated.'),
    userName: z.string().nullable(),
    userUrl: z.string().nullable(),
    riskLevel: z
      .enum(RISK_LEVELS)
      .nullable()
      .describe('The class under the integration’s risk thresholds and the label; null before scoring.'),
    label: z
      .object({
        verdict: z.enum(['bot', 'human']),
        confidence: z.enum(['high', 'medium', 'low']).nullable(),
        notes: z.string().nullable(),
        labeledAt: wireInstant(),
      })
      .nullable()
      .describe('The reviewer’s verdict, which overrides the score.'),
    courseId: z.string().nullable(),
    deviceFingerprint: z.string().nullable(),
    deviceType: z.enum(DEVICE_TYPES),
    browser: z.string(),
    origin: z.string().describe('scheme://host[:port] of the first page.'),
    country: z.string().nullable(),
    correlationConfidence: double().nullable().describe('0 to 1; null until correlated.'),
  })
  .meta({ id: 'Session' });

export type Session = z.infer<typeof sessionSchema>;

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/** A bound of [start, end): a date-time with offset, or a date of UTC, whose end is the end of that day. */
const rangeBound = (edge: 'start' | 'end') =>
  z
    .string()
    .transform((value, context) => {
      const isDate = DATE_ONLY.test(value);
      const parsed = instant().safeParse(isDate ? `${value}T00:00:00Z` : value);
      if (!parsed.success) {
        context.issues.push({
          code: 'custom',
          input: value,
          message: 'must be an ISO 8601 date, or a date-time with an offset',
        });
        return z.NEVER;
      }
      return isDate && edge === 'end' ? new Date(Date.parse(parsed.data) + DAY_MS).toISOString() : parsed.data;
    })
    .describe(
      edge === 'start'
        ? 'Sessions that began at or after it: ISO 8601 date (UTC), or date-time with offset.'
        : 'Sessions that began before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.',
    );

const score = (description: string) =>
  z.number().min(0, 'must be between 0 and 1').max(1, 'must be between 0 and 1').describe(description);

/** Filters of `GET /v1/sessions`; all that are given must hold. */
export const sessionFilters = {
  startDate: rangeBound('start').optional(),
  endDate: rangeBound('end').optional(),
  status: word(SESSION_STATUSES).describe('Sessions in this status, in any case.').optional(),
  minBotScore: score('Smallest bot score, 0 to 1.').optional(),
  maxBotScore: score('Largest bot score, 0 to 1.').optional(),
  riskLevel: word(RISK_LEVELS).describe('The class under the current risk thresholds and the label.').optional(),
  detectionFlag: text(1, 256).describe('A flag that the session carries.').optional(),
  label: word(['bot', 'human', 'none']).describe('The reviewer’s verdict; `none` for sessions without one.').optional(),
  userId: identifier().describe('Sessions of this LMS user.').optional(),
  courseId: identifier().describe('Sessions in this course.').optional(),
  fingerprint: identifier().describe('Sessions of this device.').optional(),
  origin: text(1, 2048).describe('Sessions whose first page is at this scheme://host[:port].').optional(),
  deviceType: word(DEVICE_TYPES).describe('Sessions on this kind of device.').optional(),
};

export const listSessionsInput = z.object({ ...pageQuery, ...sessionFilters }).check((context) => {
  const { startDate, endDate, minBotScore, maxBotScore } = context.value;
  const refuse = (field: string, message: string) =>
    context.issues.push({ code: 'custom', input: context.value, path: [field], message });
  if (startDate && endDate && startDate > endDate) refuse('endDate', 'must not be before startDate');
  if (minBotScore !== undefined && maxBotScore !== undefined && minBotScore > maxBotScore)
    refuse('maxBotScore', 'must not be below minBotScore');
});
export type ListSessionsInput = z.infer<typeof listSessionsInput>;

export const sessionIdInput = z.object({ sessionId: identifier().describe('The session’s id.') });
