import { expect } from 'vitest';
import { waitUntil } from '../receiver';
import { sessionOf } from './sessions';
import { courseId, expectRecent, INSTANT, type Success, URL_OF_COURSE } from './success';

export const USER_SUCCESSES = {
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
} satisfies Record<string, Success>;
