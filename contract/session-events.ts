import { z } from 'zod';
import { evidenceSummarySchema } from './evidence';
import { double, freeObject, int32, wireInstant, wireText } from './fields';
import { pageQuery } from './pagination';
import { sessionIdInput } from './sessions';

export const SESSION_EVENT_TYPES = [
  'mouse',
  'scroll',
  'keyboard',
  'touch',
  'form',
  'navigation',
  'visibility',
  'clipboard',
] as const;
export type SessionEventType = (typeof SESSION_EVENT_TYPES)[number];

/** Metadata of an event in a session. Typed content is never recorded. */
export const sessionEventSchema = z
  .object({
    id: wireText('ses_5Hk2mQ:17'),
    sessionId: wireText('ses_5Hk2mQ'),
    sequence: int32(17).describe('Its place in the session.'),
    type: z.enum(SESSION_EVENT_TYPES).meta({ example: 'navigation' }),
    timestamp: wireInstant('2026-01-31T09:31:05.250Z'),
    url: wireText('https://lms.example.edu/courses/42/quizzes/1/take').nullable(),
    durationMs: int32(1800).nullable().describe('Milliseconds.'),
    eventCount: int32(1).describe('How many single events it stands for.'),
    metadata: freeObject()
      .nullable()
      .describe('Free-form.')
      .meta({ example: { trusted: false } }),
  })
  .meta({ id: 'SessionEvent' });
export type SessionEvent = z.infer<typeof sessionEventSchema>;

export const listSessionEventsInput = z.object({ ...sessionIdInput.shape, ...pageQuery });
export type ListSessionEventsInput = z.infer<typeof listSessionEventsInput>;

/** The dominant type of an interval without events. */
export const NO_EVENT_TYPE = 'none';

const stretchSchema = z.object({
  timestamp: wireInstant().describe('Start of the stretch.'),
  eventCount: int32(6),
  dominantEventType: z
    .enum([...SESSION_EVENT_TYPES, NO_EVENT_TYPE])
    .describe('The type with the most events; `none` where there are none.'),
  activityLevel: double(0.5).describe('Share of the busiest stretch, 0 to 1.'),
});

/** How a session went (specification: Session details). */
export const sessionDetailsSchema = z
  .object({
    sessionId: wireText('ses_5Hk2mQ'),
    startTime: wireInstant(),
    endTime: wireInstant('2026-01-31T09:34:10.000Z').describe(
      'When it was closed; before that its last event, or its start.',
    ),
    durationSeconds: double(250).describe('Seconds from startTime to endTime.'),
    eventCounts: z.object({
      total: int32(31).describe('Events of every type.'),
      mouse: int32(12),
      scroll: int32(4),
      keyboard: int32(10),
      touch: int32(0),
      form: int32(3),
    }),
    timeline: z
      .array(stretchSchema)
      .describe('Stretches of equal length, a sixtieth of the session but at least one second, without gaps.'),
    pageHistory: z
      .array(
        z.object({
          url: wireText('https://lms.example.edu/courses/42/quizzes/1'),
          timestamp: wireInstant(),
          type: z.enum(['load', 'navigation']),
          durationMs: int32(1800).nullable().describe('Milliseconds; null where unknown.'),
        }),
      )
      .describe('The first page, then the navigations: the first 500 pages. The events have all of them.'),
    evidence: evidenceSummarySchema
      .nullable()
      .describe(
        'Why the session has its score, in short; null if the latest score brought no evidence, and before scoring.',
      ),
  })
  .meta({ id: 'SessionDetails' });
export type SessionDetails = z.infer<typeof sessionDetailsSchema>;

/**
 * The same for staff, whose chart shows the types of each interval. Types without events are left out. Staff also see who
 * set the label of `labeledAt`: the address of an account or a masked key, null if it is not known.
 */
export const staffSessionDetailsSchema = sessionDetailsSchema.extend({
  labeledAt: wireInstant().nullable(),
  labeledBy: z.string().nullable(),
  timeline: z.array(stretchSchema.extend({ countsByType: z.partialRecord(z.enum(SESSION_EVENT_TYPES), z.number()) })),
});
export type StaffSessionDetails = z.infer<typeof staffSessionDetailsSchema>;
