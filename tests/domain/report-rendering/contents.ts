import { describe, expect, it } from 'vitest';
import { foldSessionDeltas } from '../../../server/domain/rollups';
import { TEMPLATES } from '../../../server/reports/templates';
import { anomaly, correlated, finding, scored, secondsAgo, started } from '../../support/facts';
import {
  ALL,
  complete,
  large,
  type Rendered,
  read,
  readState,
  render,
  renderFrom,
  reports,
  request,
  SESSIONS,
  START,
  server,
} from './stepped-reports';

export function registerContentTests(): void {
  describe('a report on people', () => {
    it('counts the sessions that anybody could have begun in their name, and no anomalies of other courses', async () => {
      const tenant = await server.createTenant();
      const visits: [id: string, course: number, score: number, confidence: number][] = [
        ...([
          ['signed', 42, 0.95, 1],
          ['read', 42, 0.1, 0.7],
          ['claimed', 42, 0.95, 0.5],
          ['inferred', 42, 0.1, 0.3],
          ['elsewhere', 43, 0.95, 0.5],
        ] as [string, number, number, number][]),
      ];
      const facts = visits.flatMap(([id, course, score, confidence]) => [
        started(id, { pageUrl: `https://lms.example.edu/courses/${course}` }),
        ...[scored(id, score), correlated(id, 'ada', { confidence })],
      ]);
      const sessionIds = ['signed', 'elsewhere', undefined];
      const seen = sessionIds.map((sessionId, n) => anomaly(`ano-${n}`, { userId: 'ada', sessionId }));
      await server.ingest(tenant.id, [...facts, ...seen]);
      await foldSessionDeltas(server.service.db);
      const labels = [
        ['claimed', 'bot'],
        ['read', 'human'],
        ['inferred', 'human'],
      ];
      for (const [id, verdict] of labels)
        await server.call('POST', `/v1/sessions/${id}/label`, { key: tenant.key, body: { verdict } });
      const { body } = await server.call('GET', '/v1/sessions/signed', { key: tenant.key });
      const { courseId } = body.data;
      const { rows } = await render({ template: 'course-integrity', format: 'json', days: 1, courseId }, tenant);
      expect(rows).toMatchObject([
        {
          ...{ userId: 'ada', sessionCount: 4, botSessionCount: 2, anomalyCount: 1 },
          ...{ uncertainSessionCount: 2, uncertainBotSessionCount: 1, labeledBotCount: 1, labeledHumanCount: 2 },
        },
      ]);
      const all = await render({ template: 'sessions', format: 'json', days: 1, courseId }, tenant);
      const shown = all.rows.map(({ sessionId, label }: { sessionId: string; label: string }) => [sessionId, label]);
      expect(Object.fromEntries(shown)).toEqual({ ...Object.fromEntries(labels), signed: null });
    });

    it('has what happened in its window, and of each session what its latest score says', async () => {
      const tenant = await server.createTenant();
      const daysAgo = (days: number) => secondsAgo(days * 86_400);
      const visit = (id: string, days: number) => [
        started(id, { startedAt: daysAgo(days) }),
        scored(id, 0.1, { scoredAt: daysAgo(days), evidence: [finding('webdriver', { measured: 1, expected: '0' })] }),
        correlated(id, 'ada', { correlatedAt: daysAgo(days) }),
        anomaly(`ano-${id}`, { userId: 'ada', sessionId: id, detectedAt: daysAgo(days) }),
      ];
      await server.ingest(tenant.id, [
        ...[...visit('before', 12), ...visit('within', 8), ...visit('after', 4)],
        scored('within', 0.2, { scoredAt: daysAgo(7.5), evidence: [finding('no-approach', { measured: null })] }),
      ]);
      await foldSessionDeltas(server.service.db);
      const { body } = await server.call('GET', '/v1/sessions/within', { key: tenant.key });
      const window = { format: 'json', days: 4, until: daysAgo(6) } as const;
      const ofUser = await render({ ...window, template: 'user-evidence', userId: 'ada' }, tenant);
      expect(ofUser.rows).toMatchObject([{ sessionId: 'within', botScore: 0.2, findings: ['no-approach'] }]);
      expect(ofUser.sections.anomalies.rows).toMatchObject([{ id: 'ano-within' }]);
      const { courseId } = body.data;
      const ofCourse = await render({ ...window, template: 'course-integrity', courseId }, tenant);
      expect(ofCourse.rows).toMatchObject([{ userId: 'ada', sessionCount: 1, maxBotScore: 0.2, anomalyCount: 1 }]);
    });

    it('says from when on the plan keeps sessions, and that there are more anomalies than it lists', async () => {
      const tenant = await server.createTenant('free');
      const seen = Array.from({ length: 201 }, (_, n) => anomaly(`ano-${n}`, { userId: 'ada', sessionId: 'one' }));
      await server.ingest(tenant.id, [started('one'), correlated('one', 'ada'), ...seen]);
      const input = { template: 'user-evidence', format: 'json', userId: 'ada' } as const;
      const long = await render({ ...input, days: 90 }, tenant);
      const { requestedAt, sessionsKeptFrom } = long.report;
      expect(Date.parse(requestedAt) - Date.parse(sessionsKeptFrom)).toBe(30 * 86_400_000);
      expect([long.sections.anomalies.rows.length, long.sections.anomalies.hasMore]).toEqual([200, true]);
      // Also of exactly the days that the plan keeps.
      for (const days of [7, 30]) expect((await render({ ...input, days }, tenant)).report.sessionsKeptFrom).toBeNull();
    });

    it.each(['user-evidence', 'course-integrity', 'sessions'] as const)(
      'prints in %s how sure it is whose sessions they are',
      (template) => {
        const printed = TEMPLATES[template].columns.filter(({ isPrinted }) => isPrinted).map(({ key }) => key);
        expect(printed.some((key) => ['correlationConfidence', 'uncertainSessionCount'].includes(key))).toBe(true);
      },
    );
  });

  describe('a report of many rows', () => {
    it('is rendered in parts, each once, newest first, and goes on after a crash with the part that it was in', async () => {
      const run = await request(ALL, large);
      expect(await reports.jobs.beginReport(run)).toBe(true);
      const first = await reports.jobs.renderPart(run, START);
      expect(first).toMatchObject({ recordCount: 20_000, next: [expect.any(String), expect.any(String)] });
      expect(await readState(run)).toMatchObject({ state: 'Running', rows: 20_000 });
      const { next: after, recordCount, part } = first as Rendered[number];
      const start = { number: 1, after, recordCount };
      // The process dies after it has stored a part, and before the engine knows.
      await reports.jobs.renderPart(run, start);
      expect(await reports.jobs.beginReport(run)).toBe(true);
      const rest = await renderFrom(run, start);
      expect(rest.at(-1)!.recordCount).toBe(SESSIONS);
      await complete(run, [first as Rendered[number], ...rest]);
      const lines = (await read(run)).split('\r\n');
      const ids = lines.slice(1, -1).map((line) => line.split(',')[1]);
      expect([lines.length, new Set(ids).size]).toEqual([SESSIONS + 2, SESSIONS]);
      const times = lines.slice(1, -1).map((line) => line.split(',')[0]!);
      expect(times).toEqual([...times].sort().reverse());
      expect(part.size).toBeLessThan(8 * 1024 * 1024);
      // A file of which a piece is missing breaks the connection, so that nobody takes it for whole.
      await server.database.db.sql`delete from report_chunks where report_id = ${run.reportId} and number = 3`;
      await expect(read(run)).rejects.toThrow();
    });

    it('with a filter that few pass goes on behind the sessions that a page may examine', async () => {
      const { sql } = server.database.db;
      // With these thresholds only a session with a label is human.
      await sql`update integrations set medium_at = 0 where id = ${large.id}`;
      const [oldest] = await sql`
        update sessions set label = -1 where integration_id = ${large.id} and id = (
          select id from sessions where integration_id = ${large.id} and label is null order by created_at limit 1) returning id`;
      const { rowCount, rows } = await render({ ...ALL, format: 'json', riskLevel: 'human' }, large);
      expect([rowCount, rows.map(({ sessionId }: { sessionId: string }) => sessionId)]).toEqual([1, [oldest!.id]]);
      await sql`update integrations set medium_at = 40 where id = ${large.id}`;
      await sql`update sessions set label = null where integration_id = ${large.id} and id = ${oldest!.id}`;
    });
  });
}
