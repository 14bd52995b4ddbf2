import { describe, expect, it, vi } from 'vitest';
import {
  anomaly,
  closed,
  correlated,
  failed,
  finding,
  report,
  scored,
  scoredSession,
  secondsAgo,
  started,
  writing,
} from '../../support/facts';
import {
  accept,
  events,
  expectCounts,
  fillEvidence,
  post,
  readDetections,
  readEventCount,
  readSession,
  second,
  server,
} from './two-servers';

export function registerRepeatTests(): void {
  describe('a fact that is sent again', () => {
    it('is a duplicate of every kind and changes nothing', async () => {
      const tenant = await server.createTenant();
      const facts = [started('s'), events('s', [1, 2]), closed('s'), scored('s', 0.9)];
      await accept(tenant, facts);
      const before = await readSession(tenant, 's');
      expectCounts(await server.ingest(tenant.id, facts), 0, 4);
      for (const fact of facts) expectCounts(await server.ingest(tenant.id, [fact]), 0, 1);
      expect(await readSession(tenant, 's')).toEqual(before);
      expect(await readEventCount(tenant, 's')).toEqual({ total: 2, rows: 2, sum: 2 });
      expect(await readDetections(tenant)).toHaveLength(1);
    });

    it('with other content is a duplicate, and the first content stays', async () => {
      const tenant = await server.createTenant();
      const [closedAt, scoredAt] = [secondsAgo(20), secondsAgo(10)];
      await accept(tenant, [
        started('s', { country: 'DE' }),
        events('s', [1], { eventCount: 3 }),
        closed('s', { closedAt }),
        scored('s', 0.2, { scoredAt, detectionFlags: ['a'] }),
      ]);
      const before = await readSession(tenant, 's');
      const others = [
        started('s', { country: 'FR', startedAt: secondsAgo(3_600), pageUrl: 'https://other.example.edu/' }),
        events('s', [1], { eventCount: 9, type: 'touch' }),
        closed('s', { closedAt: secondsAgo(1) }),
        scored('s', 0.9, { scoredAt, detectionFlags: ['b'] }),
      ];
      expectCounts(await server.ingest(tenant.id, others), 0, 4);
      expect(await readSession(tenant, 's')).toEqual(before);
      expect(await readEventCount(tenant, 's')).toEqual({ total: 3, rows: 1, sum: 3 });
      expect(await readDetections(tenant)).toEqual([]);
    });

    const START = started('s', { country: 'DE', deviceFingerprint: 'device' });
    const EVENT = events('s', [1]);
    const FAILURE = failed('s', { reason: 'timeout' });
    it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
      ['start', START, { startedAt: secondsAgo(3_600) }],
      ['page', START, { pageUrl: 'https://other.example.edu/' }],
      ['user agent', START, { userAgent: 'Other/1.0' }],
      ['fingerprint', START, { deviceFingerprint: 'other' }],
      ['country', START, { country: 'FR' }],
      ['event type', EVENT, { events: [{ ...EVENT.events[0], type: 'touch' }] }],
      ['close', closed('s'), { closedAt: secondsAgo(1) }],
      ['score', scored('s', 0.2), { botScore: 0.3 }],
      ['failure', FAILURE, { failedAt: secondsAgo(1) }],
      ['reason of the failure', FAILURE, { reason: 'other' }],
    ])('with another %s is logged as a conflict', async (_what, fact, change) => {
      const tenant = await server.createTenant();
      expect((await server.ingest(tenant.id, [START, fact])).status).toBe(200);
      const warn = vi.spyOn(server.service.log, 'warn');
      try {
        expectCounts(await server.ingest(tenant.id, [fact]), 0, 1);
        expect(warn).not.toHaveBeenCalled();
        expectCounts(await server.ingest(tenant.id, [{ ...fact, ...change }]), 0, 1);
        expect(warn.mock.calls).toEqual([
          [
            { integrationId: tenant.id, kind: fact.kind, id: 's' },
            'a fact came again with other content and was ignored',
          ],
        ]);
      } finally {
        warn.mockRestore();
      }
    });

    it('is no conflict if it is an anomaly that named no user, and its session has got one since', async () => {
      const tenant = await server.createTenant();
      const found = anomaly('a', { sessionId: 's', userId: undefined });
      await accept(tenant, [started('s'), found, correlated('s', 'u')]);
      const warn = vi.spyOn(server.service.log, 'warn');
      expectCounts(await server.ingest(tenant.id, [found]), 0, 1);
      expect(warn.mock.calls).toEqual([]);
      expectCounts(await server.ingest(tenant.id, [{ ...found, userId: 'u' }]), 0, 1);
      expect(warn).toHaveBeenCalledTimes(1);
      warn.mockRestore();
    });

    it('with minus zero, which some languages write for zero, is no conflict', async () => {
      const tenant = await server.createTenant();
      const facts = [
        started('s'),
        events('s', [1], { durationMs: 7_001, metadata: { depth: [7_001] } }),
        scored('s', 7_001),
        correlated('s', 'u', { confidence: 7_001 }),
        anomaly('a', { metadata: { distanceKm: 7_001 } }),
        writing('w', 7_001),
        report('r', { recordCount: 7_001 }),
      ];
      const body = JSON.stringify({ integrationId: tenant.id, facts }).replaceAll('7001', '-0.0');
      expectCounts(await post(body), facts.length, 0);
      const warn = vi.spyOn(server.service.log, 'warn');
      expectCounts(await post(body), 0, facts.length);
      expect(warn.mock.calls).toEqual([]);
      warn.mockRestore();
    });

    it('with other evidence or another version of the rules is a duplicate, and the first evidence stays', async () => {
      const tenant = await server.createTenant();
      const read = async () => (await server.call('GET', '/v1/sessions/s/evidence', { key: tenant.key })).body.data;
      const scoredAt = secondsAgo(10);
      const score = (fields: Record<string, unknown>) => scored('s', 0.9, { scoredAt, ...fields });
      const first = {
        evidence: [finding('a', { weight: 7_001, moments: ['2026-01-01T01:00:00+01:00'] })],
        ruleSetVersion: '1',
      };
      // JSON.stringify writes no minus zero, other languages do.
      const body = JSON.stringify({ integrationId: tenant.id, facts: [score(first)] }).replace('7001', '-0.0');
      await accept(tenant, [started('s')]);
      expectCounts(await post(body), 1, 0);
      const before = await read();
      expect(before).toMatchObject({
        ruleSetVersion: '1',
        findings: [{ weight: 0, moments: ['2026-01-01T00:00:00.000Z'] }],
      });
      const warn = vi.spyOn(server.service.log, 'warn');
      expectCounts(await post(body), 0, 1);
      expect(warn).toHaveBeenCalledTimes(0);
      for (const other of [{ ...first, evidence: [] }, { ...first, ruleSetVersion: '2' }, {}])
        expectCounts(await server.ingest(tenant.id, [score(other)]), 0, 1);
      expect(warn).toHaveBeenCalledTimes(3);
      warn.mockRestore();
      expect(await read()).toEqual(before);
    });

    it('with 100 findings in 16 KiB is accepted', async () => {
      const tenant = await server.createTenant();
      await accept(tenant, [
        started('s'),
        scored('s', 0.5, { evidence: fillEvidence(16_384), scoredAt: secondsAgo(9) }),
        scored('s', 0.5, { evidence: Array(100).fill(finding('f')), ruleSetVersion: 'x'.repeat(64) }),
      ]);
      const { body } = await server.call('GET', '/v1/sessions/s/evidence', { key: tenant.key });
      expect(body.data.findings).toHaveLength(100);
    });

    it('within its batch is a duplicate too', async () => {
      const tenant = await server.createTenant();
      const facts = [started('s'), events('s', [1]), closed('s'), scored('s', 0.9)];
      expectCounts(
        await server.ingest(
          tenant.id,
          facts.flatMap((fact) => [fact, fact]),
        ),
        4,
        4,
      );
      expect(await readEventCount(tenant, 's')).toEqual({ total: 1, rows: 1, sum: 1 });
      expect(await readDetections(tenant)).toHaveLength(1);
    });

    it('with the same instant spelled differently is a duplicate', async () => {
      const tenant = await server.createTenant();
      await accept(tenant, [started('s'), scored('s', 0.9, { scoredAt: '2026-01-01T00:00:00Z' })]);
      expectCounts(
        await server.ingest(tenant.id, [scored('s', 0.1, { scoredAt: '2026-01-01T01:00:00.000+01:00' })]),
        0,
        1,
      );
    });

    it('with new events among known ones is accepted for those', async () => {
      const tenant = await server.createTenant();
      await accept(tenant, [started('s'), events('s', [0, 1, 2], { eventCount: 2 })]);
      expectCounts(await server.ingest(tenant.id, [events('s', [1, 2, 3], { eventCount: 5 })]), 1, 0);
      expect(await readEventCount(tenant, 's')).toEqual({ total: 11, rows: 4, sum: 11 });
      expectCounts(await server.ingest(tenant.id, [events('s', [0, 3])]), 0, 1);
      expect(await readEventCount(tenant, 's')).toEqual({ total: 11, rows: 4, sum: 11 });
    });

    it('with one sequence twice counts it only once', async () => {
      const tenant = await server.createTenant();
      await accept(tenant, [started('s'), events('s', [1, 1, 2])]);
      expect(await readEventCount(tenant, 's')).toEqual({ total: 2, rows: 2, sum: 2 });
    });

    it('counts 1 if eventCount is missing, and eventCount otherwise', async () => {
      const tenant = await server.createTenant();
      const counts = [0, 40, undefined, 100_000].map((eventCount, n) => events('s', [n], { eventCount }));
      await accept(tenant, [started('s'), ...counts]);
      expect(await readEventCount(tenant, 's')).toEqual({ total: 100_041, rows: 4, sum: 100_041 });
    });

    it('in two identical batches at once is accepted in one and a duplicate in the other', async () => {
      for (let round = 0; round < 10; round++) {
        const tenant = await server.createTenant();
        const facts = Array.from({ length: 5 }, () => scoredSession(0.9).facts).flat();
        const answers = await Promise.all([
          server.ingest(tenant.id, facts),
          (round % 2 ? server : second).ingest(tenant.id, facts),
        ]);
        const counts = answers.map(({ body }) => body.result?.data).sort((a, b) => a?.accepted - b?.accepted);
        expect(counts).toEqual([
          { accepted: 0, duplicates: 15, suppressed: 0 },
          { accepted: 15, duplicates: 0, suppressed: 0 },
        ]);
        expect(await readDetections(tenant)).toHaveLength(5);
      }
    });
  });
}
