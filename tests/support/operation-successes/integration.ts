import { expect } from 'vitest';
import { KEY_SCOPES } from '../../../contract/integrations';
import { expectRecent, INSTANT, type Success, sumOf } from './success';

export const INTEGRATION_SUCCESSES = {
  getAnalytics: {
    status: 200,
    query: 'period=24h&groupBy=hour',
    check({ body: { data } }) {
      expect(data).toMatchObject({
        period: '24h',
        groupBy: 'hour',
        generatedAt: data.endDate,
        summary: {
          totalSessions: 3,
          totalEvents: 11,
          uniqueBots: 1,
          uniqueUsers: 1,
          averageBotScore: 0.74,
          averageEventsPerSession: 11 / 3,
        },
        botDetection: { highConfidenceBots: 1, mediumConfidenceBots: 0, lowConfidenceBots: 1, likelyHumans: 0 },
        userMatching: { totalMatched: 2, totalUnmatched: 1, matchRate: 2 / 3, averageCorrelationConfidence: 0.8 },
        topOrigins: [
          { origin: 'https://lms.example.edu', sessionCount: 2, botPercentage: 50 },
          { origin: 'https://canvas.example.org', sessionCount: 1, botPercentage: 0 },
        ],
        deviceBreakdown: { mobile: 0, tablet: 0, desktop: 3, browserCounts: { Chrome: 3 } },
      });
      expectRecent(data.generatedAt);
      expect(data.timeSeries).toHaveLength(25);
      expect(data.timeSeries[0].timestamp).toBe(data.startDate);
      const sums = ['sessionCount', 'eventCount', 'botCount', 'userMatchedCount'].map((name) =>
        sumOf<Record<string, number>>(data.timeSeries, (bucket) => bucket[name]!),
      );
      expect(sums).toEqual([3, 11, 1, 2]);
    },
  },
  getStats: {
    status: 200,
    check({ body: { data } }, { time }) {
      expect(data).toEqual({
        totalSessions: 3,
        activeSessions: 1,
        sessionsLast24h: 3,
        totalEvents: 11,
        totalUsers: 1,
        totalCourses: 2,
        matchedSessions: 2,
        unmatchedSessions: 1,
        botSessions: 1,
        averageBotScore: 0.74,
        anomalies: 1,
        labeledBot: 0,
        labeledHuman: 0,
        confirmedDevices: 0,
        activeWebhooks: 1,
        lastSessionAt: time(400),
        generatedAt: INSTANT,
      });
      expectRecent(data.generatedAt);
    },
  },
  getUsage: {
    status: 200,
    check({ body: { data } }) {
      expectRecent(data.endDate);
      expect(data).toEqual({
        startDate: expect.stringMatching(/T00:00:00\.000Z$/),
        endDate: INSTANT,
        totalRequests: 2,
        successfulRequests: 2,
        clientErrors: 0,
        serverErrors: 0,
        rateLimitedRequests: 0,
        // The requests that made the fixture.
        byEndpoint: [{ method: 'POST', path: '/v1/webhooks', requests: 2, errors: 0 }],
        timeSeries: expect.any(Array),
        webhookDeliveries: { delivered: 0, failed: 2 },
        limits: { tier: 'enterprise', requestsPerMinute: 6000 },
      });
      expect(sumOf<{ requests: number }>(data.timeSeries, ({ requests }) => requests)).toBe(2);
    },
  },
  getIntegration: {
    status: 200,
    check: ({ body }, { id, key }) =>
      expect(body).toEqual({
        data: {
          id,
          name: 'Tenant on enterprise',
          plan: 'enterprise',
          serviceTier: 'enterprise',
          region: 'us',
          status: 'Active',
          allowedOrigins: [],
          apiKeyMasked: `aik_v1_${key.slice(7, 11)}…${key.slice(-4)}`,
          apiKeyScopes: [...KEY_SCOPES],
          webhooks: { active: 1, max: 10 },
          createdAt: INSTANT,
        },
      }),
  },
  getRiskThresholds: {
    status: 200,
    check: ({ body }) => expect(body).toEqual({ data: { mediumAt: 40, botAt: 70 } }),
  },
  updateRiskThresholds: {
    status: 200,
    body: () => ({ mediumAt: 20, botAt: 55 }),
    async check({ body }, { ids, get, botSessionId, call }) {
      expect(body).toEqual({ data: { mediumAt: 20, botAt: 55 } });
      expect((await get('/v1/settings/risk-thresholds')).body).toEqual(body);
      expect((await get(`/v1/sessions/${ids.sessionId}`)).body.data.riskLevel).toBe('bot');
      expect((await get('/v1/stats')).body.data.botSessions).toBe(2);
      await call('PUT', '/v1/settings/risk-thresholds', { body: { mediumAt: 56, botAt: 100 } });
      expect((await get(`/v1/sessions/${ids.sessionId}`)).body.data.riskLevel).toBe('human');
      expect((await get(`/v1/sessions/${botSessionId}`)).body.data.riskLevel).toBe('medium');
    },
  },
} satisfies Record<string, Success>;
