import { describe, expect, it } from 'vitest';
import { foldSessionDeltas } from '../../../server/domain/rollups';
import * as facts from '../../support/facts';
import { admin, ask, at, ours, receiver, refuse, server, theirs } from './two-tenants';

export function registerRecordTests(): void {
  describe('one record', () => {
    it('of a user or a course is the same as in the list', async () => {
      const [user] = (await ask('users.list', {})).data;
      expect(await ask('users.get', { userId: 'user-1' })).toEqual(user);
      const [course] = (await ask('courses.list', {})).data;
      expect(await ask('courses.get', { courseId: course.id })).toEqual(course);
      expect(await refuse('users.get', { userId: 'user-2' })).toBe(404);
      expect(await refuse('courses.get', { courseId: 'nowhere' })).toBe(404);
      const empty = await server.createTenant();
      expect(await refuse('users.get', { userId: 'user-1' }, empty)).toBe(404);
      expect(await refuse('courses.get', { courseId: course.id }, empty)).toBe(404);
    });
  });

  describe('a user’s devices', () => {
    it('are those of sessions and the confirmed ones, folded or not', async () => {
      const lastSeenAt = (await ask('sessions.get', { sessionId: 's2' })).startTime;
      const expected = [
        {
          fingerprint: 'device-1',
          sessionCount: 2,
          lastSeenAt: expect.stringMatching(/Z$/),
          confirmedAt: null,
          firstConfirmedAt: null,
          confirmedBy: null,
        },
      ];
      expect(await ask('users.listDevices', { userId: 'user-1' })).toEqual(expected);
      await foldSessionDeltas(server.service.db);
      expect(await ask('users.listDevices', { userId: 'user-1' })).toEqual(expected);
      for (const fingerprint of ['device-1', 'device-9'])
        await admin.mutate('users.confirmDevice', { userId: 'user-1', fingerprint }, at(ours));
      const confirmed = {
        confirmedAt: expect.stringMatching(/Z$/),
        firstConfirmedAt: expect.stringMatching(/Z$/),
        confirmedBy: admin.email,
      };
      expect(await ask('users.listDevices', { userId: 'user-1' })).toEqual([
        { ...expected[0], ...confirmed },
        { fingerprint: 'device-9', sessionCount: 0, lastSeenAt: null, ...confirmed },
      ]);
      expect(await ask('users.listDevices', { userId: 'user-1' }, theirs)).toEqual(expected);
      expect(await ask('users.listDevices', { userId: 'nobody' })).toEqual([]);
      expect(lastSeenAt).not.toBeNull();
    });
  });

  describe('more devices than are listed', () => {
    it('leave the confirmed ones in the list, where they are revoked', async () => {
      const tenant = await server.createTenant();
      await admin.mutate('users.confirmDevice', { userId: 'u', fingerprint: 'unused' }, at(tenant));
      await server.database.db.sql`
        insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser, user_id, fingerprint)
        select ${tenant.id}, 's-' || n, now(), 'Closed', '', '', '', '', 'desktop', 'Chrome', 'u', 'device-' || n from generate_series(1, 201) n`;
      const devices = await ask('users.listDevices', { userId: 'u' }, tenant);
      expect(devices).toHaveLength(200);
      expect(devices.at(-1)).toMatchObject({ fingerprint: 'unused', lastSeenAt: null });
    });
  });

  describe('the distribution of scores', () => {
    it('counts sessions by effective bin, exactly, folded or not', async () => {
      const { id } = await server.createTenant();
      const of = { id } as typeof ours;
      const send = (n: number, score: number) =>
        server.ingest(id, [facts.started(`d${n}`), facts.closed(`d${n}`), facts.scored(`d${n}`, score)]);
      for (const [n, score] of [0, 0.29, 0.29, 1].entries()) await send(n, score);
      await server.ingest(id, [facts.started('unscored')]);
      const expected = [
        { bin: 0, sessions: 1 },
        { bin: 29, sessions: 2 },
        { bin: 100, sessions: 1 },
      ];
      expect(await ask('analytics.getScoreDistribution', undefined, of)).toEqual(expected);
      await foldSessionDeltas(server.service.db);
      expect(await ask('analytics.getScoreDistribution', undefined, of)).toEqual(expected);
      for (const [sessionId, verdict] of [
        ['d1', 'bot'],
        ['d3', 'human'],
      ])
        await admin.mutate('sessions.label', { sessionId, verdict }, at(of));
      const labelled = [
        { bin: -1, sessions: 1 },
        { bin: 0, sessions: 1 },
        { bin: 29, sessions: 1 },
        { bin: 101, sessions: 1 },
      ];
      expect(await ask('analytics.getScoreDistribution', undefined, of)).toEqual(labelled);
      await foldSessionDeltas(server.service.db);
      expect(await ask('analytics.getScoreDistribution', undefined, of)).toEqual(labelled);
    });
  });

  describe('the timeline of a session', () => {
    it('is that of its details, with the types of each stretch separately, which customers are not shown', async () => {
      const tenant = await server.createTenant();
      const events = ['mouse', 'mouse', 'keyboard'].map((type, sequence) => ({ sequence, type, eventCount: 2 }));
      await server.ingest(tenant.id, [facts.started('s'), facts.happened('s', events), facts.closed('s')]);
      const timeline = await ask('sessions.getTimeline', { sessionId: 's' }, tenant);
      const details = await server.call('GET', '/v1/sessions/s/details', { key: tenant.key });
      const counts = timeline.timeline.map(({ countsByType }: { countsByType: object }) => countsByType);
      expect(counts.filter((types: object) => Object.keys(types).length > 0)).toEqual([{ mouse: 4, keyboard: 2 }]);
      for (const stretch of timeline.timeline) delete stretch.countsByType;
      // Only staff see who has labelled the session.
      const { labeledAt: _, labeledBy: __, ...shown } = timeline;
      expect(details.body.data).toEqual(shown);
      expect(await refuse('sessions.getTimeline', { sessionId: 's 1/é' }, tenant)).toBe(404);
    });
  });

  describe('the deliveries about a session', () => {
    it('are every delivery whose event is about it, and no others', async () => {
      const types = async (sessionId: string) =>
        (await ask('sessions.listDeliveries', { sessionId }))
          .map(({ eventType }: { eventType: string }) => eventType)
          .sort();
      expect(await types('s 1/é')).toEqual(['BotDetected', 'SessionAnomaly', 'SessionCorrelated']);
      expect(await types('s2')).toEqual(['SessionCorrelated']);
      expect(await types('s3')).toEqual([]);
      expect(await refuse('sessions.listDeliveries', { sessionId: 'nobody' })).toBe(404);
      const [sent] = await ask('sessions.listDeliveries', { sessionId: 's2' });
      const [other] = await ask('sessions.listDeliveries', { sessionId: 's2' }, theirs);
      expect(sent.id).not.toBe(other.id);
      expect(JSON.parse((await ask('deliveries.get', { id: sent.id })).payload).sessionId).toBe('s2');
      expect(await refuse('deliveries.get', { id: other.id })).toBe(404);
    });

    it('tell of its texts too', async () => {
      const tenant = await server.createTenant();
      const body = { url: `${receiver.url}/texts`, eventType: 'WritingSessionScored' };
      await server.call('POST', '/v1/webhooks', { key: tenant.key, body });
      await server.ingest(tenant.id, [
        facts.started('s'),
        facts.writing('wri_1', 0.9, { browsingSessionId: 's' }),
        facts.writing('wri_2', 0.9),
      ]);
      const sent = await ask('sessions.listDeliveries', { sessionId: 's' }, tenant);
      expect(sent.map(({ eventType }: { eventType: string }) => eventType)).toEqual(['WritingSessionScored']);
    });

    it('of a bot have a link to its page if the region has an address', async () => {
      const sent = receiver.received.find(({ path, body }) => path === '/BotDetected' && body.includes(ours.id));
      expect(JSON.parse(sent!.body).sessionUrl).toBe(
        `https://us.example.com/dashboard/${ours.id}/sessions/s%201%2F%C3%A9`,
      );
    });
  });
}
