import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectError, fingerprintOf } from '../../support/answers';
import { closed, scored, secondsAgo, started } from '../../support/facts';
import { get, ingest, list, listIds, server } from './shared-server';

export function registerFieldTests(): void {
  describe('a session', () => {
    it('has every field, with the values of its facts', async () => {
      const tenant = await server.createTenant();
      const startedAt = secondsAgo(60);
      const facts = [
        started('s-1', {
          startedAt,
          pageUrl: 'https://lms.example.edu:8443/courses/42/quizzes/1?x=1#y',
          deviceFingerprint: 'fp-1',
          country: 'DE',
        }),
        closed('s-1'),
        scored('s-1', 0.93, { detectionFlags: ['webdriver', 'no-scroll'] }),
      ];
      await ingest(tenant, facts);
      const { status, body } = await get(tenant, '/v1/sessions/s-1');
      expect(status).toBe(200);
      expect(body).toEqual({
        data: {
          id: 's-1',
          createdAt: startedAt,
          updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          status: 'Scored',
          botScore: 0.93,
          detectionFlags: ['webdriver', 'no-scroll'],
          pageUrl: 'https://lms.example.edu:8443/courses/42/quizzes/1?x=1#y',
          userAgentSummary: 'Chrome 142 on Windows',
          userId: null,
          userName: null,
          userUrl: null,
          riskLevel: 'bot',
          label: null,
          courseId: expect.stringMatching(/^[0-9a-f]{16}$/),
          deviceFingerprint: 'fp-1',
          deviceType: 'desktop',
          browser: 'Chrome',
          origin: 'https://lms.example.edu:8443',
          country: 'DE',
          correlationConfidence: null,
        },
      });
    });

    it('has null for what is not known yet', async () => {
      const tenant = await server.createTenant();
      await ingest(tenant, [started('s-1', { pageUrl: 'https://lms.example.edu/' })]);
      expect((await get(tenant, '/v1/sessions/s-1')).body.data).toMatchObject({
        status: 'Active',
        updatedAt: null,
        botScore: null,
        detectionFlags: [],
        riskLevel: null,
        courseId: null,
        deviceFingerprint: null,
        country: null,
      });
    });

    it('is Active, then Closed, then Scored', async () => {
      const tenant = await server.createTenant();
      const statuses: string[] = [];
      for (const fact of [started('s-1'), closed('s-1'), scored('s-1', 0)]) {
        await ingest(tenant, [fact]);
        statuses.push((await get(tenant, '/v1/sessions/s-1')).body.data.status);
      }
      expect(statuses).toEqual(['Active', 'Closed', 'Scored']);
    });

    it.each([
      [0, 'human'],
      [0.3999, 'human'],
      [0.4, 'medium'],
      [0.6999, 'medium'],
      [0.7, 'bot'],
      [1, 'bot'],
    ])('with the score %d is %s under the default thresholds', async (botScore, riskLevel) => {
      const tenant = await server.createTenant();
      await ingest(tenant, [started('s-1'), closed('s-1'), scored('s-1', botScore)]);
      expect((await get(tenant, '/v1/sessions/s-1')).body.data).toMatchObject({ botScore, riskLevel });
    });

    it('looks the same by id and in the list', async () => {
      const tenant = await server.createTenant();
      await ingest(tenant, [started('s-1'), closed('s-1'), scored('s-1', 0.5)]);
      expect((await list(tenant)).body.data).toEqual([(await get(tenant, '/v1/sessions/s-1')).body.data]);
    });

    it.each([
      'a/b',
      'a%2Fb',
      'a b',
      'a+b',
      'a?b',
      'a#b',
      '%',
      'ä',
      '😀',
      '__proto__',
      '...',
      'x'.repeat(256),
      '😀'.repeat(256),
    ])('is found by the id %s, which is decoded exactly once', async (id) => {
      const tenant = await server.createTenant();
      await ingest(tenant, [started(id)]);
      const { status, body } = await get(tenant, `/v1/sessions/${encodeURIComponent(id)}`);
      expect([status, body.data?.id]).toEqual([200, id]);
    });

    it('that is unknown gets the same 404 as another tenant’s', async () => {
      const [owner, stranger] = [await server.createTenant(), await server.createTenant()];
      const id = randomUUID();
      await ingest(owner, [started(id)]);
      expect((await get(owner, `/v1/sessions/${id}`)).status).toBe(200);
      const foreign = await get(stranger, `/v1/sessions/${id}`);
      const unknown = await get(stranger, `/v1/sessions/${randomUUID()}`);
      expectError(foreign, 'NOT_FOUND');
      expect(fingerprintOf(foreign)).toEqual(fingerprintOf(unknown));
    });

    it('of two tenants with the same id stay apart', async () => {
      const [one, other] = [await server.createTenant(), await server.createTenant()];
      await ingest(one, [started('same', { country: 'DE' })]);
      await ingest(other, [started('same', { country: 'FR' })]);
      expect((await get(one, '/v1/sessions/same')).body.data.country).toBe('DE');
      expect((await get(other, '/v1/sessions/same')).body.data.country).toBe('FR');
      expect(await listIds(one)).toEqual(['same']);
    });
  });
}
