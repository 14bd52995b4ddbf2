import { z } from 'zod';
import { double, int32, wireInstant, wireText, word } from './fields';

/** Windows of `GET /v1/analytics`, in hours. */
export const PERIODS = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24, '90d': 90 * 24 } as const;
export type Period = keyof typeof PERIODS;
const PERIOD_NAMES = Object.keys(PERIODS) as [Period, ...Period[]];
export const BUCKETS = ['hour', 'day', 'week'] as const;

export const analyticsInput = z.object({
  period: word(PERIOD_NAMES).prefault('7d').describe('The window that ends now. `24h` cannot be grouped by week.'),
  groupBy: word(BUCKETS)
    .prefault('day')
    .describe('Size of a bucket of the time series, in UTC; weeks begin on Monday.'),
});
export type AnalyticsInput = z.infer<typeof analyticsInput>;

/** Counts of the sessions that began in [startDate, endDate) (specification: Analytics). */
export const analyticsSchema = z
  .object({
    period: z.enum(PERIOD_NAMES).meta({ example: '7d' }),
    groupBy: z.enum(BUCKETS).meta({ example: 'day' }),
    startDate: wireInstant('2026-01-24T00:00:00.000Z').describe('Start of the window’s first bucket.'),
    endDate: wireInstant('2026-01-31T09:30:00.000Z'),
    generatedAt: wireInstant('2026-01-31T09:30:00.000Z'),
    summary: z.object({
      totalSessions: int32(1250),
      totalEvents: int32(38_200).describe('Events of those sessions.'),
      uniqueBots: int32(61).describe('Different devices with a session of the class `bot`.'),
      uniqueUsers: int32(410).describe('Different correlated users.'),
      averageBotScore: double(0.24).describe('Mean over the scored sessions, 0 to 1; 0 when there are none.'),
      averageEventsPerSession: double(30.56),
    }),
    timeSeries: z
      .array(
        z.object({
          timestamp: wireInstant('2026-01-24T00:00:00.000Z').describe('Start of the bucket.'),
          sessionCount: int32(150),
          eventCount: int32(4600),
          botCount: int32(14).describe('Sessions of the class `bot`.'),
          userMatchedCount: int32(120).describe('Sessions that are correlated with a user.'),
        }),
      )
      .describe('Every bucket of the window, also empty ones.'),
    botDetection: z
      .object({
        highConfidenceBots: int32(70).describe('Bots with a score of at least 0.9, or labelled bot.'),
        mediumConfidenceBots: int32(42).describe('The other sessions of the class `bot`.'),
        lowConfidenceBots: int32(130).describe('Sessions of the class `medium`.'),
        likelyHumans: int32(980).describe('Sessions of the class `human`.'),
      })
      .describe('Sessions that are scored or labelled, by class.'),
    userMatching: z.object({
      totalMatched: int32(1000),
      totalUnmatched: int32(250),
      matchRate: double(0.8).describe('Share of matched sessions, 0 to 1.'),
      averageCorrelationConfidence: double(0.94).describe('Mean over the matched sessions, 0 to 1.'),
    }),
    topOrigins: z
      .array(
        z.object({
          origin: wireText('https://lms.example.edu'),
          sessionCount: int32(1100),
          botPercentage: double(9.2).describe('0 to 100.'),
        }),
      )
      .describe('The ten with the most sessions.'),
    deviceBreakdown: z.object({
      mobile: int32(210),
      tablet: int32(40),
      desktop: int32(1000),
      browserCounts: z
        .record(z.string(), int32(900))
        .describe('The 20 browsers with the most sessions; `Other` counts all others.')
        .meta({ example: { Chrome: 900, Safari: 350, Other: 4 } }),
    }),
  })
  .meta({ id: 'Analytics' });
export type Analytics = z.infer<typeof analyticsSchema>;

/**
 * All sessions by effective bin: 0–100 is the score, 101 labelled bot, -1 labelled human. Bins without sessions are
 * left out.
 */
export const scoreDistributionSchema = z.array(z.object({ bin: z.number(), sessions: z.number() }));
export type ScoreDistribution = z.infer<typeof scoreDistributionSchema>;
