import { z } from 'zod';
import { double, int32, wireInstant, wireText } from './fields';
import { RISK_LEVELS, sessionIdInput, VERDICTS } from './sessions';

// What stands next to a session, for staff. No route of the public API shows it.

/** A session in short. */
const relatedSessionSchema = z.object({
  id: wireText('ses_5Hk2mQ'),
  createdAt: wireInstant(),
  userId: wireText('lms-4711').nullable(),
  userName: wireText('Ada Lovelace').nullable(),
  botScore: double(0.93).nullable(),
  riskLevel: z.enum(RISK_LEVELS).nullable(),
  verdict: z.enum(VERDICTS).nullable().describe('The reviewer’s label.'),
});
export type RelatedSession = z.infer<typeof relatedSessionSchema>;

/** The same with a sketch of what happened in it. */
const sketchedSessionSchema = relatedSessionSchema.extend({
  durationSeconds: double(250).describe('From its start to its end, or to its last event while it is open.'),
  activity: z.array(int32(6)).describe('Events in parts of equal length.'),
});
export type SketchedSession = z.infer<typeof sketchedSessionSchema>;

/** How many there are: `total` of them were counted, and `hasMore` says that there are more than that. */
const counted = { total: int32(40), hasMore: z.boolean() };

const deviceUserSchema = z.object({
  userId: wireText('lms-4711'),
  userName: wireText('Ada Lovelace').nullable(),
  sessionCount: int32(12),
  lastSeenAt: wireInstant(),
});
export type DeviceUser = z.infer<typeof deviceUserSchema>;

/** What a reviewer compares a session with. A part is null if the session lacks what it needs. */
export const sessionContextSchema = z.object({
  earlier: z
    .object({ userId: wireText('lms-4711'), sessions: z.array(sketchedSessionSchema), ...counted })
    .nullable()
    .describe('The sessions of the same user before it, latest first.'),
  device: z
    .object({
      fingerprint: wireText('4be81f0c9a7d2210'),
      users: z
        .array(deviceUserSchema)
        .describe('Other users than that of the session, those with most sessions first.'),
      userCount: int32(3),
      unmatchedCount: int32(1).describe('Sessions without a user.'),
      sessionCount: int32(60).describe('The sessions of the device that were read, the latest ones.'),
      hasMoreSessions: z.boolean(),
    })
    .nullable(),
  neighbours: z
    .object({
      courseId: wireText('9f2c1b7de0a84c55'),
      from: wireInstant('2026-01-31T09:30:00.000Z'),
      to: wireInstant('2026-01-31T09:31:00.000Z').describe('The end of the minute, not included.'),
      sessions: z.array(relatedSessionSchema),
      ...counted,
    })
    .nullable()
    .describe('Other sessions of the course that began in the same minute, latest first.'),
});
export type SessionContext = z.infer<typeof sessionContextSchema>;

/** A page of a session, and for how long it was in front. */
export const visitedPageSchema = z.object({
  url: wireText('https://lms.example.edu/courses/42/quizzes/1'),
  at: wireInstant(),
  spentMs: int32(1800).nullable().describe('Milliseconds; null if no event says it.'),
});
export type VisitedPage = z.infer<typeof visitedPageSchema>;

/** So many pages are read of a session. */
export const MAX_VISITED_PAGES = 2_000;

/** `cursor` is the place of the first page that is answered. */
export const listVisitedPagesInput = z.object({
  ...sessionIdInput.shape,
  cursor: z.int().min(0).max(MAX_VISITED_PAGES).default(0),
});
export type ListVisitedPagesInput = z.infer<typeof listVisitedPagesInput>;

export const visitedPagesSchema = z.object({
  pages: z.array(visitedPageSchema),
  ...counted,
  nextCursor: int32(50).nullable(),
});
export type VisitedPages = z.infer<typeof visitedPagesSchema>;
