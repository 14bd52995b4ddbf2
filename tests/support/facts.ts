import { randomUUID } from 'node:crypto';

export const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

/** An ISO time some seconds from now. */
export const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

export const started = (sessionId: string, fields: Record<string, unknown> = {}) => ({
  kind: 'sessionStarted',
  sessionId,
  startedAt: secondsAgo(60),
  pageUrl: 'https://lms.example.edu/courses/42/quizzes/1',
  userAgent: CHROME,
  ...fields,
});
export const closed = (sessionId: string, fields: Record<string, unknown> = {}) => ({
  kind: 'sessionClosed',
  sessionId,
  closedAt: secondsAgo(5),
  ...fields,
});
export const scored = (sessionId: string, botScore: number, fields: Record<string, unknown> = {}) => ({
  kind: 'sessionScored',
  sessionId,
  botScore,
  detectionFlags: [],
  scoredAt: secondsAgo(4),
  ...fields,
});

/** The facts of a session that is closed and scored. */
export function scoredSession(botScore: number, sessionId: string = randomUUID()) {
  return { sessionId, facts: [started(sessionId), closed(sessionId), scored(sessionId, botScore)] };
}
