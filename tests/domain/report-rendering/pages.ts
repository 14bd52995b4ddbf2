import { describe, expect, it } from 'vitest';
import type { RequestReportInput } from '../../../contract/reports';
import { countRead, explainStatement } from '../../support/plans';
import { recordStatements } from '../../support/statements';
import { IN_VOLUME } from '../../support/volume';
import { complete, contextOf, large, read, renderFrom, reports, request, START, server } from './stepped-reports';

export function registerPageTests(): void {
  describe('each page', () => {
    it.each([
      ['sessions', {}],
      ['sessions', { courseId: 'course-00007' }],
      ['sessions', { riskLevel: 'bot' }],
      ['user-evidence', { userId: 'user-00007' }],
      ['course-integrity', { courseId: 'course-00007' }],
      ['weekly-overview', {}],
    ] as const)('of %s with %j reads a part of an index', async (template, subject) => {
      const input = { template, format: 'json', days: 90, ...subject } as RequestReportInput;
      const run = await request(input, large);
      await reports.jobs.beginReport(run);
      const recorder = recordStatements(server.service.db);
      await renderFrom(run, START);
      const statements = recorder
        .take()
        .filter(({ text, parameters }) => text.includes('from') && parameters.includes(large.id));
      recorder.stop();
      expect(statements.length).toBeGreaterThan(1);
      const distinct = new Map(statements.map((statement) => [statement.text, statement]));
      for (const statement of [...distinct.values()].filter(({ text }) => !text.includes('report_'))) {
        const nodes = await explainStatement(server.database.db.sql, statement, 'generic');
        for (const node of nodes.filter((node) =>
          /^(sessions|anomalies|session_scores)$/.test(node['Relation Name'] ?? ''),
        ))
          expect([statement.text.slice(0, 80), node['Node Type'], countRead(node) <= 25_000]).toEqual([
            statement.text.slice(0, 80),
            expect.stringMatching(/Index/),
            true,
          ]);
      }
      await reports.delete(await contextOf(large), run.reportId);
    });

    it('of the busiest course counts each user once', async () => {
      const input = {
        template: 'course-integrity',
        format: 'json',
        days: 90,
        courseId: IN_VOLUME.busiest.courseId,
      } as const;
      const run = await request(input, large);
      await reports.jobs.beginReport(run);
      await complete(run, await renderFrom(run, START));
      const { rows, rowCount, sections } = JSON.parse(await read(run));
      expect([rowCount, new Set(rows.map(({ userId }: { userId: string }) => userId)).size]).toEqual([
        ...[sections.course.userCount, sections.course.userCount],
      ]);
      const counted = rows.reduce((sum: number, { sessionCount }: { sessionCount: number }) => sum + sessionCount, 0);
      const [expected] = await server.database.db.sql`
      select count(*)::int as n from sessions where integration_id = ${large.id} and course_id = ${input.courseId}
         and user_id is not null and created_at > now() - interval '90 days'`;
      expect(Math.abs(counted - expected!.n)).toBeLessThanOrEqual(1);
    });
  });
}
