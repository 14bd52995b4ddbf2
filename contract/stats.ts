import { z } from 'zod';
import { double, int32, wireInstant } from './fields';

/** All-time counters of an integration (specification: GET /v1/stats). */
export const statsSchema = z
  .object({
    totalSessions: int32(48_210),
    activeSessions: int32(37).describe('Sessions in the status `Active`.'),
    sessionsLast24h: int32(1250).describe('Sessions that began within the last 24 hours.'),
    totalEvents: int32(1_460_000),
    totalUsers: int32(2100).describe('Correlated users.'),
    totalCourses: int32(64),
    matchedSessions: int32(40_100),
    unmatchedSessions: int32(8110),
    botSessions: int32(3900).describe('Sessions of the risk class `bot`.'),
    averageBotScore: double(0.24).nullable().describe('Mean over the scored sessions, 0 to 1.'),
    anomalies: int32(310),
    labeledBot: int32(120),
    labeledHuman: int32(85),
    confirmedDevices: int32(44),
    activeWebhooks: int32(2),
    lastSessionAt: wireInstant().nullable().describe('Start of the latest session.'),
    generatedAt: wireInstant('2026-01-31T09:31:00.000Z'),
  })
  .meta({ id: 'Stats' });
export type Stats = z.infer<typeof statsSchema>;
