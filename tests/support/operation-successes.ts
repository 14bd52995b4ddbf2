import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { KEY_SCOPES } from '../../contract/integrations';
import { API_VERSION } from '../../contract/version';
import { type Fixture, makeFinding } from './fixture';
import { expectSigned, waitUntil } from './receiver';
import type { Answer } from './server';

/** A call of an operation that succeeds, for a fixture's own ids unless the query or the body says more. */
export interface Success {
  status: 200 | 204;
  query?: string;
  body?: (fixture: Fixture) => unknown;
  /** Checks real values: those of the answer, and what the call has changed. */
  check(answer: Answer, fixture: Fixture): void | Promise<void>;
}

const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const URL_OF_COURSE = 'https://lms.example.edu/courses/42';
const courseId = (url: string) => createHash('sha256').update(url).digest('hex').slice(0, 16);
const sumOf = <T>(items: T[], read: (item: T) => number) => items.reduce((sum, item) => sum + read(item), 0);

function expectRecent(instant: string) {
  expect(instant).toEqual(INSTANT);
  expect(Math.abs(Date.parse(instant) - Date.now())).toBeLessThan(60_000);
}

const sessionOf = ({ ids, time }: Fixture) => ({
  id: ids.sessionId,
  createdAt: time(600),
  updatedAt: INSTANT,
  status: 'Scored',
  botScore: 0.55,
  detectionFlags: ['paste'],
  pageUrl: `${URL_OF_COURSE}/quizzes/1`,
  userAgentSummary: 'Chrome 142 on Windows',
  userId: ids.userId,
  userName: 'Ada Lovelace',
  userUrl: 'https://lms.example.edu/users/4711',
  riskLevel: 'medium',
  label: null,
  courseId: courseId(URL_OF_COURSE),
  deviceFingerprint: ids.fingerprint,
  deviceType: 'desktop',
  browser: 'Chrome',
  origin: 'https://lms.example.edu',
  country: 'DE',
  correlationConfidence: 0.9,
});

const webhookOf = ({ ids, receiver, id }: Fixture) => ({
  id: ids.id,
  url: `${receiver.url}/${id}`,
  eventType: 'BotDetected',
  threshold: null,
  name: 'Enabled',
  enabled: true,
  createdAt: INSTANT,
  lastDeliveryAt: null,
  lastDeliveryStatus: null,
  disabledReason: null,
  disabledFailureClass: null,
});

/** Expects what a walk of the list gives, an item in each line. */
async function expectLines(text: string, walk: Promise<Answer>) {
  expect(
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
  ).toEqual((await walk).body.data);
}

const deliveryOf = ({ ids }: Fixture) => ({
  ...{ id: ids.deliveryId, subscriptionId: ids.id, eventId: ids.eventId, eventType: 'BotDetected', test: false },
  ...{ status: 'PermanentFailure', failureClass: '4xx', attempts: 1, resends: 0 },
  ...{ createdAt: INSTANT, nextAttemptAt: null, finishedAt: INSTANT },
});

/** Every operation by its id. */
export const SUCCESSES: Record<string, Success> = {
  getHealth: {
    status: 200,
    check({ body }) {
      expect(body).toEqual({ status: 'ok', version: API_VERSION, timestamp: INSTANT });
      expectRecent(body.timestamp);
    },
  },
  listSessions: {
    status: 200,
    query: 'pageSize=2',
    async check({ body }, fixture) {
      const { ids, botSessionId, activeSessionId, get } = fixture;
      const idsOf = (answer: Answer) => answer.body.data.map((session: { id: string }) => session.id);
      expect(body.data.map((session: { id: string }) => session.id)).toEqual([activeSessionId, botSessionId]);
      expect(body.pagination).toEqual({ nextCursor: expect.stringMatching(/^[\w-]+$/), hasMore: true, limit: 2 });
      const rest = await get(`/v1/sessions?pageSize=2&cursor=${body.pagination.nextCursor}`);
      expect(rest.body).toEqual({ data: [sessionOf(fixture)], pagination: { hasMore: false, limit: 2 } });
      const found: [filter: string, id: string][] = [
        ['riskLevel=bot', botSessionId],
        ['status=active', activeSessionId],
        [`fingerprint=${ids.fingerprint}`, ids.sessionId],
        [`startDate=${fixture.time(600)}&endDate=${fixture.time(500)}`, ids.sessionId],
      ];
      for (const [filter, id] of found)
        expect([filter, idsOf(await get(`/v1/sessions?${filter}`))]).toEqual([filter, [id]]);
    },
  },
  getSession: {
    status: 200,
    check: ({ body }, fixture) => expect(body).toEqual({ data: sessionOf(fixture) }),
  },
  getSessionDetails: {
    status: 200,
    check({ body: { data } }, { ids, time }) {
      expect(data).toMatchObject({
        sessionId: ids.sessionId,
        startTime: time(600),
        endTime: time(540),
        durationSeconds: 60,
        eventCounts: { total: 11, mouse: 6, scroll: 0, keyboard: 3, touch: 0, form: 0 },
        pageHistory: [
          { url: `${URL_OF_COURSE}/quizzes/1`, timestamp: time(600), type: 'load', durationMs: null },
          { url: `${URL_OF_COURSE}/quizzes/1/take`, timestamp: time(580), type: 'navigation', durationMs: 1800 },
        ],
      });
      expect(data.timeline).toHaveLength(60);
      expect(data.timeline.filter(({ eventCount }: { eventCount: number }) => eventCount > 0)).toEqual([
        { timestamp: time(590), eventCount: 6, dominantEventType: 'mouse', activityLevel: 1 },
        { timestamp: time(580), eventCount: 1, dominantEventType: 'navigation', activityLevel: 1 / 6 },
        // A stretch is a second, so it includes the clipboard's event half a second later.
        { timestamp: time(570), eventCount: 4, dominantEventType: 'keyboard', activityLevel: 4 / 6 },
      ]);
      expect(data.timeline[0]).toEqual({
        timestamp: time(600),
        eventCount: 0,
        dominantEventType: 'none',
        activityLevel: 0,
      });
      const { state: _, moments: __, ...summary } = makeFinding('');
      expect(data.evidence).toEqual({ ruleSetVersion: '2026.1', scoredAt: time(300), findings: [summary] });
    },
  },
  getSessionEvidence: {
    status: 200,
    async check({ body }, { ids, time, activeSessionId, get }) {
      const data = {
        ...{ sessionId: ids.sessionId, botScore: 0.55, ruleSetVersion: '2026.1', scoredAt: time(300) },
        findings: [makeFinding(time(569.5))],
        scores: [
          { scoredAt: time(320), botScore: 0.2, detectionFlags: [] },
          { scoredAt: time(300), botScore: 0.55, detectionFlags: ['paste'] },
        ],
      };
      expect(body).toEqual({ data });
      const unscored = { sessionId: activeSessionId, botScore: null, ruleSetVersion: null, scoredAt: null };
      const { body: empty } = await get(`/v1/sessions/${activeSessionId}/evidence`);
      expect(empty).toEqual({ data: { ...unscored, findings: [], scores: [] } });
    },
  },
  listSessionEvents: {
    status: 200,
    query: 'pageSize=3',
    async check({ body }, { ids, time, get }) {
      const { sessionId } = ids;
      expect(body.data).toEqual([
        {
          id: `${sessionId}:1`,
          sessionId,
          sequence: 1,
          type: 'mouse',
          timestamp: time(590),
          url: null,
          durationMs: null,
          eventCount: 6,
          metadata: { trusted: false },
        },
        {
          id: `${sessionId}:2`,
          sessionId,
          sequence: 2,
          type: 'navigation',
          timestamp: time(580),
          url: `${URL_OF_COURSE}/quizzes/1/take`,
          durationMs: 1800,
          eventCount: 1,
          metadata: null,
        },
        expect.objectContaining({ sequence: 3, type: 'keyboard', eventCount: 3 }),
      ]);
      const { nextCursor } = body.pagination;
      const rest = await get(`/v1/sessions/${sessionId}/events?pageSize=3&cursor=${nextCursor}`);
      expect(rest.body).toMatchObject({
        data: [{ sequence: 4, type: 'clipboard' }],
        pagination: { hasMore: false, limit: 3 },
      });
    },
  },
  labelSession: {
    status: 200,
    body: () => ({ verdict: 'Bot', confidence: 'HIGH', notes: 'pasted' }),
    async check({ body: { data } }, fixture) {
      const { ids, get, call } = fixture;
      const label = { verdict: 'bot', confidence: 'high', notes: 'pasted', labeledAt: data.labeledAt };
      expect(data).toEqual({ sessionId: ids.sessionId, ...label });
      expectRecent(data.labeledAt);
      const path = `/v1/sessions/${ids.sessionId}`;
      expect((await get(path)).body.data).toEqual({
        ...sessionOf(fixture),
        riskLevel: 'bot',
        label,
        updatedAt: data.labeledAt,
      });
      expect((await get('/v1/stats')).body.data).toMatchObject({ botSessions: 2, labeledBot: 1, labeledHuman: 0 });
      const again = await call('POST', `${path}/label`, { body: { verdict: 'human' } });
      expect(again.body.data).toMatchObject({ verdict: 'human', confidence: null, notes: null });
      expect((await get(path)).body.data).toMatchObject({
        riskLevel: 'human',
        label: { verdict: 'human', notes: null },
      });
      expect((await get('/v1/stats')).body.data).toMatchObject({ botSessions: 1, labeledBot: 0, labeledHuman: 1 });
    },
  },
  listUsers: {
    status: 200,
    check({ body }, { ids, time }) {
      const user = {
        id: ids.userId,
        name: 'Ada Lovelace',
        email: 'ada@example.edu',
        url: 'https://lms.example.edu/users/4711',
        sessionCount: 2,
        botSessionCount: 1,
        averageBotScore: 0.74,
        maxBotScore: 0.93,
        riskLevel: 'bot',
        deviceCount: 2,
        confirmedDeviceCount: 0,
        anomalyCount: 1,
        correlationConfidence: 0.8,
        firstSeenAt: time(600),
        lastSeenAt: time(500),
      };
      expect(body).toEqual({ data: [user], pagination: { hasMore: false, limit: 50 } });
    },
  },
  listUserSessions: {
    status: 200,
    query: 'pageSize=1',
    async check({ body }, fixture) {
      const { ids, botSessionId, get } = fixture;
      expect(body).toMatchObject({ data: [{ id: botSessionId }], pagination: { hasMore: true, limit: 1 } });
      const path = `/v1/users/${encodeURIComponent(ids.userId)}/sessions`;
      const rest = await get(`${path}?pageSize=1&cursor=${body.pagination.nextCursor}`);
      expect(rest.body).toEqual({ data: [sessionOf(fixture)], pagination: { hasMore: false, limit: 1 } });
    },
  },
  eraseUser: {
    status: 200,
    async check({ body: { data } }, { ids, get, continueErasure }) {
      const counts = { sessionCount: 0, traceCount: 0, eventCount: 0, deliveryCount: 0, reportCount: 0, textCount: 0 };
      expect(data).toEqual({
        ...{
          id: data.id,
          status: 'Running',
          requestedAt: INSTANT,
          completedAt: null,
          refusedUntil: INSTANT,
          ...counts,
        },
      });
      expectRecent(data.requestedAt);
      await waitUntil(async () => {
        await continueErasure(data.id);
        return (await get(`/v1/user-erasures/${data.id}`)).body.data.status === 'Completed';
      });
      expect((await get(`/v1/users/${encodeURIComponent(ids.userId)}/sessions`)).status).toBe(404);
      expect((await get('/v1/stats')).body.data.matchedSessions).toBe(2);
    },
  },
  getUserErasure: {
    status: 200,
    check({ body: { data } }, { ids }) {
      expect(data).toEqual({
        ...{
          id: ids.receiptId,
          status: 'Completed',
          requestedAt: INSTANT,
          completedAt: INSTANT,
          refusedUntil: INSTANT,
        },
        ...{ sessionCount: 3, traceCount: 1, eventCount: 2, deliveryCount: 1, reportCount: 0, textCount: 4 },
      });
    },
  },
  exportUser: {
    status: 200,
    check({ headers, body: { data } }, { ids, botSessionId }) {
      expect(headers.get('content-disposition')).toMatch(/^attachment; filename="user lms .*\.json"/);
      expect(data.user).toMatchObject({ id: ids.userId, name: 'Ada Lovelace' });
      expect(data.sessions.map(({ id }: { id: string }) => id)).toEqual([ids.sessionId, botSessionId]);
      expect(data).toMatchObject({ exportedAt: expect.any(String), devices: [], writing: expect.any(Array) });
    },
  },
  confirmDevice: {
    status: 200,
    body: () => ({ notes: 'her tablet' }),
    async check({ body: { data } }, { ids, get, call, ingest, time }) {
      const { userId, fingerprint, sessionId } = ids;
      expect(data).toEqual({
        userId,
        fingerprint,
        confirmedAt: INSTANT,
        firstConfirmedAt: data.confirmedAt,
        suppresses: ['SharedDevice', 'DeviceSwitch'],
      });
      expectRecent(data.confirmedAt);
      const path = `/v1/users/${encodeURIComponent(userId)}/devices/${fingerprint}/confirm`;
      await new Promise((resolve) => setTimeout(resolve, 5));
      const again = (await call('POST', path)).body.data;
      expect(again.firstConfirmedAt).toBe(data.firstConfirmedAt);
      expect(again.confirmedAt > data.confirmedAt).toBe(true);
      expect((await get('/v1/stats')).body.data).toMatchObject({ confirmedDevices: 1, anomalies: 1 });
      expect((await get('/v1/users')).body.data[0]).toMatchObject({ deviceCount: 2, confirmedDeviceCount: 1 });
      const anomaly = (anomalyType: string) => ({
        kind: 'anomalyDetected',
        anomalyId: `${anomalyType}-${sessionId}`,
        anomalyType,
        severity: 'low',
        detectedAt: time(10),
        sessionId,
      });
      const facts = ['SharedDevice', 'DeviceSwitch', 'Teleport'].map(anomaly);
      expect((await ingest(facts)).body.result.data).toEqual({ accepted: 1, duplicates: 0, suppressed: 2 });
      expect((await get('/v1/stats')).body.data.anomalies).toBe(2);
    },
  },
  listCourses: {
    status: 200,
    check({ body }, { time }) {
      const other = 'https://canvas.example.org/courses/7';
      const courses = [
        {
          id: courseId(URL_OF_COURSE),
          name: 'Course 42',
          code: null,
          url: URL_OF_COURSE,
          sessionCount: 2,
          userCount: 1,
          botSessionCount: 1,
          averageBotScore: 0.74,
          firstSeenAt: time(600),
          lastSeenAt: time(500),
        },
        {
          id: courseId(other),
          name: 'Course 7',
          code: null,
          url: other,
          sessionCount: 1,
          userCount: 0,
          botSessionCount: 0,
          averageBotScore: null,
          firstSeenAt: time(400),
          lastSeenAt: time(400),
        },
      ];
      courses.sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(body).toEqual({ data: courses, pagination: { hasMore: false, limit: 50 } });
    },
  },
  listAuditEntries: {
    status: 200,
    query: 'pageSize=3',
    async check({ body }, { id, key, ids, disabledWebhookId, get }) {
      const masked = `${key.slice(0, 11)}…${key.slice(-4)}`;
      const apiKey = { kind: 'ApiKey', id: expect.stringMatching(/^key_/), name: masked };
      const operator = { kind: 'Operator', id: null, name: null };
      const entryOf = (action: string, actor: object, subjectId: unknown) => ({
        ...{ id: expect.stringMatching(/^aud_/), at: INSTANT, action, actor, subjectId },
        details: expect.any(Object),
      });
      expect(body.data).toEqual([
        entryOf('WebhookCreated', apiKey, ids.id),
        entryOf('WebhookCreated', apiKey, disabledWebhookId),
        {
          ...entryOf('KeyMinted', operator, body.data[0].actor.id),
          details: { name: 'test', masked, scopes: [...KEY_SCOPES], expiresAt: null },
        },
      ]);
      const rest = await get(`/v1/audit-log?pageSize=3&cursor=${body.pagination.nextCursor}`);
      expect(rest.body).toEqual({
        data: [entryOf('IntegrationCreated', operator, id)],
        pagination: { hasMore: false, limit: 3 },
      });
    },
  },
  exportSessions: {
    status: 200,
    async check({ text }, { get }) {
      await expectLines(text, get('/v1/sessions'));
      const { text: filtered } = await get('/v1/exports/sessions?status=active');
      expect(filtered).not.toBe('');
      await expectLines(filtered, get('/v1/sessions?status=active'));
    },
  },
  exportUsers: {
    status: 200,
    query: 'format=CSV',
    async check({ text }, { ids, time, get }) {
      const { text: lines } = await get('/v1/exports/users?format=ndjson');
      await expectLines(lines, get('/v1/users'));
      expect(text.split('\r\n')).toEqual([
        'id,name,email,url,sessionCount,botSessionCount,averageBotScore,maxBotScore,riskLevel,deviceCount,confirmedDeviceCount,anomalyCount,correlationConfidence,firstSeenAt,lastSeenAt',
        `${ids.userId},Ada Lovelace,ada@example.edu,https://lms.example.edu/users/4711,2,1,0.74,0.93,bot,2,0,1,0.8,${time(600)},${time(500)}`,
        '',
      ]);
    },
  },
  exportWebhookEvents: {
    status: 200,
    check: ({ text }, { get }) => expectLines(text, get('/v1/webhook-events')),
  },
  exportAuditEntries: {
    status: 200,
    check: ({ text }, { get }) => expectLines(text, get('/v1/audit-log')),
  },
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
  listWebhooks: {
    status: 200,
    check: ({ body }, fixture) =>
      expect(body).toEqual({
        data: [
          { ...webhookOf(fixture), id: fixture.disabledWebhookId, name: 'Disabled', enabled: false },
          webhookOf(fixture),
        ],
        pagination: { hasMore: false, limit: 100 },
      }),
  },
  createWebhook: {
    status: 200,
    body: ({ receiver }) => ({
      url: `${receiver.url}/created`,
      eventType: 'sessionanomaly',
      threshold: { field: 'metadata.otherUserCount', operator: 'GTE', value: '3' },
      name: 'Anomalies',
      enabled: false,
    }),
    async check({ body: { data } }, { receiver, get, ids }) {
      const { secret, ...webhook } = data;
      expect(webhook).toEqual({
        id: expect.stringMatching(/^whk_/),
        url: `${receiver.url}/created`,
        eventType: 'SessionAnomaly',
        threshold: { field: 'metadata.otherUserCount', operator: 'gte', value: '3' },
        name: 'Anomalies',
        enabled: false,
        createdAt: INSTANT,
        lastDeliveryAt: null,
        lastDeliveryStatus: null,
        disabledReason: null,
        disabledFailureClass: null,
      });
      expect(webhook.id).not.toBe(ids.id);
      expectRecent(webhook.createdAt);
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      const found = await get(`/v1/webhooks/${webhook.id}`);
      expect(found.body).toEqual({ data: webhook });
    },
  },
  getWebhook: {
    status: 200,
    check: ({ body }, fixture) => expect(body).toEqual({ data: webhookOf(fixture) }),
  },
  updateWebhook: {
    status: 200,
    body: ({ receiver }) => ({
      url: `${receiver.url}/moved`,
      name: 'Moved',
      enabled: false,
      threshold: { field: 'botScore', operator: 'gt', value: 0.9 },
    }),
    async check({ body }, fixture) {
      const { receiver, ids, get } = fixture;
      const expected = {
        ...webhookOf(fixture),
        url: `${receiver.url}/moved`,
        name: 'Moved',
        enabled: false,
        threshold: { field: 'botScore', operator: 'gt', value: 0.9 },
      };
      expect(body).toEqual({ data: expected });
      expect((await get(`/v1/webhooks/${ids.id}`)).body).toEqual(body);
      expect((await get('/v1/integration')).body.data.webhooks.active).toBe(0);
    },
  },
  deleteWebhook: {
    status: 204,
    async check({ text }, { ids, get, call, disabledWebhookId }) {
      expect(text).toBe('');
      expect((await get(`/v1/webhooks/${ids.id}`)).status).toBe(404);
      expect((await call('DELETE', `/v1/webhooks/${ids.id}`)).status).toBe(404);
      const { data } = (await get('/v1/webhooks')).body;
      expect(data.map(({ id }: { id: string }) => id)).toEqual([disabledWebhookId]);
    },
  },
  rotateWebhookSecret: {
    status: 200,
    async check({ body: { data } }, { ids, call, receiver, secret }) {
      expect(data).toEqual({
        id: ids.id,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        rotatedAt: INSTANT,
      });
      expectRecent(data.rotatedAt);
      expect(data.secret).not.toBe(secret);
      await call('POST', `/v1/webhooks/${ids.id}/test`);
      expectSigned(receiver.received.at(-1)!, data.secret);
      expect(() => expectSigned(receiver.received.at(-1)!, secret)).toThrow();
    },
  },
  testWebhook: {
    status: 200,
    check({ body: { data } }, { ids, receiver, secret }) {
      expect(data).toEqual({
        deliveryId: expect.stringMatching(/^dlv_/),
        status: 'Delivered',
        responseCode: 200,
        errorClass: null,
        attempts: 1,
      });
      const delivery = receiver.received.at(-1)!;
      expect(delivery.headers).toMatchObject({
        'x-webhook-id': ids.id,
        'x-webhook-delivery-id': data.deliveryId,
        'x-webhook-test': 'true',
      });
      expectSigned(delivery, secret);
    },
  },
  listWebhookEvents: {
    status: 200,
    query: 'sort=newest&pageSize=1&eventType=BotDetected',
    async check({ body }, { ids, get, botSessionId }) {
      expect(body).toEqual({
        data: [expect.objectContaining({ id: ids.eventId })],
        pagination: { hasMore: false, limit: 1 },
      });
      expect((await get(`/v1/webhook-events?sessionId=${botSessionId}&eventType=BotDetected`)).body.data).toEqual(
        body.data,
      );
      const { data } = (await get('/v1/webhook-events')).body;
      expect(data.map(({ eventType }: { eventType: string }) => eventType)).toEqual(
        expect.arrayContaining(['BotDetected', 'SessionAnomaly', 'SessionCorrelated']),
      );
    },
  },
  getWebhookEvent: {
    status: 200,
    check({ body: { data } }, { ids, botSessionId, disabledWebhookId, disabledDeliveryId }) {
      const failed = { outcome: 'failed', reason: null, status: 'PermanentFailure' };
      expect(data).toEqual({
        id: ids.eventId,
        eventType: 'BotDetected',
        createdAt: INSTANT,
        payload: expect.stringContaining(botSessionId),
        outcomes: expect.arrayContaining([
          { ...failed, subscriptionId: ids.id, deliveryId: ids.deliveryId },
          { ...failed, subscriptionId: disabledWebhookId, deliveryId: disabledDeliveryId },
        ]),
      });
      expect(data.outcomes).toHaveLength(2);
      expectRecent(data.createdAt);
    },
  },
  listWebhookDeliveries: {
    status: 200,
    query: 'status=PERMANENTFAILURE&sort=oldest',
    async check({ body }, fixture) {
      expect(body).toEqual({ data: [deliveryOf(fixture)], pagination: { hasMore: false, limit: 50 } });
      expect((await fixture.get(`/v1/webhooks/${fixture.ids.id}/deliveries?status=Delivered`)).body.data).toEqual([]);
    },
  },
  getWebhookDelivery: {
    status: 200,
    check: ({ body: { data } }, fixture) =>
      expect(data).toEqual({
        ...deliveryOf(fixture),
        payload: expect.stringContaining(fixture.botSessionId),
        attemptLog: [
          {
            ...{ resend: 0, attempt: 1, startedAt: INSTANT, durationMs: 84, httpStatus: 404, failureClass: '4xx' },
            ...{ address: '203.0.113.7', retryAfter: null, errorCode: 'HTTP_404' },
          },
        ],
      }),
  },
  // Not every server under test has an engine that sends: tests/delivery/delivery-log.test.ts waits for the arrival.
  resendWebhookDelivery: {
    status: 200,
    async check({ body: { data } }, { ids, get }) {
      expect(data).toMatchObject({ id: ids.deliveryId, attempts: 0, resends: 1, finishedAt: null });
      const { attemptLog } = (await get(`/v1/webhooks/${ids.id}/deliveries/${ids.deliveryId}`)).body.data;
      expect(attemptLog[0]).toMatchObject({ resend: 0 });
    },
  },
  recoverWebhookDeliveries: {
    status: 200,
    body: () => ({ startDate: '2026-01-01', includeSkipped: true }),
    check: ({ body: { data } }) => expect(data).toEqual({ recovered: 1, skippedSent: 0, hasMore: false }),
  },
};
