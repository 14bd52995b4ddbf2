import { describe, expect, it } from 'vitest';
import * as facts from '../../support/facts';
import { createStaffClient } from '../../support/staff-client';
import { admin, ask, at, ids, ours, refuse, server, theirs, walk } from './two-tenants';

const UNTOUCHED = {
  ...{ status: 'Open', acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null },
};

export function registerFindingTests(): void {
  describe('findings', () => {
    it('are listed newest first, page by page, only the tenant’s own', async () => {
      expect((await ask('anomalies.list', {})).data).toEqual([
        {
          ...{ id: 'a2', anomalyType: 'DeviceSwitch', severity: 'low', sessionId: null, userId: 'user-2' },
          ...{ detectedAt: expect.stringMatching(/Z$/), deviceFingerprint: null, metadata: null },
          ...{ userName: null, previousUserName: null, session: null, otherSession: null, ...UNTOUCHED },
        },
        {
          ...{ id: 'a1', anomalyType: 'ImpossibleTravel', severity: 'high', sessionId: 's 1/é', userId: 'user-1' },
          ...{ detectedAt: expect.stringMatching(/Z$/), deviceFingerprint: 'device-1', metadata: null },
          ...{ userName: 'Ada Lovelace', previousUserName: null, otherSession: null, ...UNTOUCHED },
          session: { startedAt: expect.stringMatching(/Z$/), country: null, device: expect.stringContaining('Chrome') },
        },
      ]);
      expect(await walk('anomalies.list')).toEqual(['a2', 'a1']);
      expect(await walk('alerts.list')).toEqual(['alert-2', 'alert-1']);
      expect(await walk('reports.list')).toEqual(['report-1', 'report-0']);
      expect(await walk('writing.list')).toEqual(['writing-2', 'writing-1']);
      expect((await ask('writing.list', {})).data).toEqual([
        {
          ...{ id: 'writing-2', aiScore: 0.2, scoredAt: expect.stringMatching(/Z$/), userId: 'user-2' },
          ...{ documentId: null, wordCount: null, browsingSessionId: null, evidence: null },
        },
        {
          ...{ id: 'writing-1', aiScore: 0.45, scoredAt: expect.stringMatching(/Z$/), userId: 'user-1' },
          ...{ documentId: 'essay', wordCount: 150, browsingSessionId: 's 1/é', evidence: facts.writingEvidence() },
        },
      ]);
      expect((await ask('alerts.list', {})).data[1]).toEqual({
        ...{ id: 'alert-1', severity: 'high', message: 'One', triggeredAt: expect.stringMatching(/Z$/), url: null },
        ...{ rule: null, windowStart: null, windowEnd: null, ...UNTOUCHED },
      });
      expect((await ask('reports.list', {})).data.map(({ status }: { status: string }) => status)).toEqual([
        'Expired',
        'Ready',
      ]);
      expect((await ask('reports.list', {})).data[1]).toEqual({
        ...{ id: 'report-0', name: 'Weekly', templateId: 't', format: 'csv', recordCount: null, fileSize: null },
        ...{ status: 'Ready', completedAt: expect.any(String), expiresAt: null, downloadUrl: '/x', content: null },
      });
    });

    it('that are reports are read one by one, only the tenant’s own', async () => {
      const [, report] = (await ask('reports.list', {})).data;
      expect(await ask('reports.get', { id: report.id })).toEqual(report);
      expect(await refuse('reports.get', { id: 'gone' })).toBe(404);
      await server.ingest(theirs.id, [facts.report('report-of-theirs', { completedAt: facts.secondsAgo(60) })]);
      expect(await ask('reports.get', { id: 'report-of-theirs' }, theirs)).toMatchObject({ name: 'Weekly bots' });
      expect(await refuse('reports.get', { id: 'report-of-theirs' })).toBe(404);
    });

    it.each([
      [{ sessionId: 's 1/é' }, ['a1']],
      [{ userId: 'user-2' }, ['a2']],
      [{ anomalyType: 'DeviceSwitch' }, ['a2']],
      [{ severity: 'HIGH' }, ['a1']],
      [{ severity: 'low', userId: 'user-1' }, []],
    ])('of anomalies %j are %j', async (filters, expected) => {
      expect(await walk('anomalies.list', filters)).toEqual(expected);
    });

    it.each([
      [{ browsingSessionId: 's 1/é' }, ['writing-1']],
      [{ userId: 'user-2' }, ['writing-2']],
      [{ userId: 'user-2', browsingSessionId: 's 1/é' }, []],
    ])('of writing sessions %j are %j', async (filters, expected) => {
      expect(await walk('writing.list', filters)).toEqual(expected);
    });

    it('are acknowledged, resolved and opened again, with who and when, and a repeated fact changes nothing of it', async () => {
      const analyst = await createStaffClient(server, 'analyst');
      const fact = facts.anomaly('a3', { sessionId: 's2', detectedAt: facts.secondsAgo(7) });
      await server.ingest(theirs.id, [fact]);
      const change = async (act: string, client = admin, tenant = theirs) =>
        (await client.mutate(`anomalies.${act}`, { id: 'a3' }, at(tenant))).body.result?.data;
      const list = (status: string) => walk('anomalies.list', { status });
      const inTheirs = async (status: string) =>
        ids((await ask('anomalies.list', { status }, theirs)).data).filter((id) => id === 'a3').length;
      const open = await ask('anomalies.get', { id: 'a3' }, theirs);
      expect(open).toMatchObject({ id: 'a3', ...UNTOUCHED });
      const acknowledged = await change('acknowledge', analyst);
      expect(acknowledged).toEqual({
        ...{ ...open, status: 'Acknowledged', acknowledgedBy: analyst.email },
        acknowledgedAt: expect.stringMatching(/Z$/),
      });
      expect(await change('acknowledge')).toEqual(acknowledged);
      expect([await inTheirs('Open'), await inTheirs('acknowledged')]).toEqual([0, 1]);
      const resolved = await change('resolve');
      expect(resolved).toMatchObject({ status: 'Resolved', acknowledgedBy: analyst.email, resolvedBy: admin.email });
      expect(await change('resolve', analyst)).toEqual(resolved);
      expect(await change('acknowledge', analyst)).toEqual(resolved);
      await server.ingest(theirs.id, [fact]);
      expect(await ask('anomalies.get', { id: 'a3' }, theirs)).toEqual(resolved);
      expect([await inTheirs('Acknowledged'), await inTheirs('Resolved')]).toEqual([0, 1]);
      expect(await change('reopen', analyst)).toEqual(open);
      expect([await list('Open'), await list('Acknowledged'), await list('Resolved')]).toEqual([['a2', 'a1'], [], []]);
      // Not of another tenant.
      expect(await refuse('anomalies.get', { id: 'a3' })).toBe(404);
      for (const act of ['acknowledge', 'resolve', 'reopen']) {
        const { status, body } = await admin.mutate(`anomalies.${act}`, { id: 'a3' }, at(ours));
        expect([act, status, body.error.message]).toEqual([act, 404, 'Anomaly not found']);
      }
      expect(await ask('anomalies.get', { id: 'a3' }, theirs)).toEqual(open);
      expect(await refuse('anomalies.list', { status: 'Closed' })).toBe(400);
    });

    it('are not opened again by somebody who has not seen that a colleague has resolved them', async () => {
      const analyst = await createStaffClient(server, 'analyst');
      await server.ingest(theirs.id, [facts.anomaly('a5', { sessionId: 's2' })]);
      const change = async (act: string, client = admin, seen = {}) =>
        (await client.mutate(`anomalies.${act}`, { id: 'a5', ...seen }, at(theirs))).body.result?.data;
      // An earlier try of this test may have resolved it.
      await change('reopen');
      await change('acknowledge');
      const resolved = await change('resolve', analyst);
      expect(resolved).toMatchObject({ status: 'Resolved', resolvedBy: analyst.email });
      expect(await change('reopen', admin, { seenStatus: 'Acknowledged' })).toEqual(resolved);
      expect(await change('reopen', admin, { seenStatus: 'Resolved' })).toMatchObject(UNTOUCHED);
    });

    it('of anomalies name the users and sessions that the metadata name', async () => {
      const metadata = { otherSessionId: 's 1/é', previousUserId: 'user-1', distanceKm: 5 };
      await server.ingest(theirs.id, [facts.anomaly('a4', { sessionId: 's2', metadata, userId: 'nobody' })]);
      expect(await ask('anomalies.get', { id: 'a4' }, theirs)).toMatchObject({
        ...{ userId: 'nobody', userName: null, previousUserName: 'Ada Lovelace' },
        session: { device: expect.any(String) },
        otherSession: { startedAt: expect.stringMatching(/Z$/), country: null, device: expect.any(String) },
      });
    });

    it('accept cursors of their own tenant, list and filters only', async () => {
      const { nextCursor: cursor } = (await ask('anomalies.list', { pageSize: 1 })).pagination;
      expect(await refuse('anomalies.list', { cursor })).toBe(200);
      expect(await refuse('anomalies.list', { cursor }, theirs)).toBe(400);
      expect(await refuse('anomalies.list', { cursor, severity: 'low' })).toBe(400);
      for (const list of ['alerts.list', 'writing.list']) expect(await refuse(list, { cursor })).toBe(400);
      expect(await refuse('anomalies.list', { severity: 'severe' })).toBe(400);
    });
  });
}
