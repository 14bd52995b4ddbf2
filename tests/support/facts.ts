import { randomUUID } from 'node:crypto';
import type { WritingEvidence } from '../../contract/writing';

export const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

/** An ISO time some seconds from now. */
export const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

/**
 * A time some minutes after the moment at which it is sent. A table of cases is made long before its last case is sent.
 */
export const minutesAhead = (minutes: number) => ({ toJSON: () => secondsAgo(-60 * minutes) });

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

/** What a rule says, as a score brings it. */
export const finding = (flag: string, fields: Record<string, unknown> = {}) => ({
  ...{ flag, group: 'pointer', state: 'found', measured: 0.97, expected: 'below 0.5', weight: 1, moments: [] },
  ...fields,
});

/** Events of the type mouse, half a minute old, unless `list` says otherwise. */
export const happened = (sessionId: string, list: Record<string, unknown>[]) => ({
  kind: 'sessionEvents',
  sessionId,
  events: list.map((event) => ({ type: 'mouse', timestamp: secondsAgo(30), ...event })),
});
export const correlated = (sessionId: string, userId: string, fields: Record<string, unknown> = {}) => ({
  kind: 'sessionCorrelated',
  sessionId,
  user: { id: userId, name: 'Ada Lovelace' },
  confidence: 0.9,
  correlatedAt: secondsAgo(20),
  ...fields,
});
export const anomaly = (anomalyId: string, fields: Record<string, unknown> = {}) => ({
  kind: 'anomalyDetected',
  anomalyId,
  anomalyType: 'ImpossibleTravel',
  severity: 'high',
  detectedAt: secondsAgo(10),
  ...fields,
});
export const failed = (sessionId: string, fields: Record<string, unknown> = {}) => ({
  kind: 'sessionFailed',
  sessionId,
  failedAt: secondsAgo(3),
  ...fields,
});
export const writing = (sessionId: string, aiScore: number, fields: Record<string, unknown> = {}) => ({
  kind: 'writingScored',
  sessionId,
  aiScore,
  scoredAt: secondsAgo(15),
  ...fields,
});
/** Why a text has its score: all of it was typed. */
export const writingEvidence = (fields: Partial<WritingEvidence> = {}): WritingEvidence => ({
  formulaVersion: '2026.1',
  reasons: [
    { name: 'text-pasted', state: 'found', measured: 0.5, expected: 'below 20 % of the new text', weight: 1 },
    { name: 'even-pace', state: 'notMeasured', measured: null, expected: null, weight: 0 },
  ],
  characters: {
    ...{ typed: 500, composed: 0, corrected: 0, pasted: 500, dropped: 0, inserted: 0, autofilled: 0 },
    ...{ moved: 0, restored: 20, unseen: 0 },
  },
  ...{ finalLength: 940, durationMs: 600_000, activeMs: 240_000, charactersPerMinute: 125 },
  pastes: { count: 1, longest: 500 },
  pauses: { count: 9, totalMs: 360_000, longestMs: 90_000, afterMark: 5, afterWord: 3, withinWord: 1 },
  bursts: { count: 10, mean: 50, longest: 120 },
  revisions: { count: 12, deletedCharacters: 80 },
  caret: { middle: 30, known: 500 },
  ...fields,
});
export const report = (reportId: string, fields: Record<string, unknown> = {}) => ({
  kind: 'reportReady',
  reportId,
  reportName: 'Weekly bots',
  templateId: 'weekly',
  format: 'csv',
  completedAt: secondsAgo(12),
  downloadUrl: `/reports/${reportId}/download`,
  ...fields,
});
export const alert = (alertId: string, fields: Record<string, unknown> = {}) => ({
  kind: 'alertFired',
  alertId,
  severity: 'high',
  message: '25 bot sessions within 10 minutes',
  triggeredAt: secondsAgo(11),
  ...fields,
});

/** Makes the facts of a session that is closed and scored. */
export function scoredSession(botScore: number, sessionId: string = randomUUID()) {
  return { sessionId, facts: [started(sessionId), closed(sessionId), scored(sessionId, botScore)] };
}
