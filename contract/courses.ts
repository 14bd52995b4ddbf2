import { z } from 'zod';
import { double, idText, int32, wireInstant, wireText } from './fields';
import { pageQuery } from './pagination';

/** A course, identified by the URLs of its sessions. */
export const courseSchema = z
  .object({
    id: wireText('9f2c1b7de0a84c55').describe('Stands for host and course: course 42 exists on every host.'),
    name: wireText('Course 42'),
    code: wireText('MITx+6.00.1x').nullable(),
    url: wireText('https://lms.example.edu/courses/42'),
    sessionCount: int32(240),
    userCount: int32(35).describe('Different correlated users.'),
    botSessionCount: int32(12).describe('Sessions of the risk class `bot`.'),
    averageBotScore: double(0.18).nullable().describe('Mean over the scored sessions, 0 to 1.'),
    firstSeenAt: wireInstant('2026-01-05T10:00:00.000Z').describe('Start of the first session.'),
    lastSeenAt: wireInstant().describe('Start of the latest session.'),
  })
  .meta({ id: 'Course' });
export type Course = z.infer<typeof courseSchema>;

export const listCoursesInput = z.object({ ...pageQuery });
export type ListCoursesInput = z.infer<typeof listCoursesInput>;

export const courseIdInput = z.object({ courseId: idText('9f2c1b7de0a84c55') });
