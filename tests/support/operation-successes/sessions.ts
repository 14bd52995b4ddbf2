import { expect } from 'vitest';
import { type Fixture, makeFinding } from '../fixture';
import type { Answer } from '../server';
import { courseId, expectRecent, INSTANT, type Success, URL_OF_COURSE } from './success';

export const sessionOf = ({ ids, time }: Fixture) => ({
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

export const SESSION_SUCCESSES = {
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
} satisfies Record<string, Success>;
