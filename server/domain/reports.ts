import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { ListFindingsInput, Report } from '../../contract/findings';
import type { Page } from '../../contract/pagination';
import type { ReportContent } from '../../contract/reports';
import { reportJobs, reports } from '../../db/schema';
import type { DomainContext } from './context';
import { newestFirst, readPage } from './pages';

const REPORTS = newestFirst(reports, 'completedAt');

// Names of tables in full: without them, the columns would be those of the inner table. Each is a look-up by key.
const readText = (expression: string) => sql.raw(expression) as SQL<string | null>;
const nameOf = (table: 'courses' | 'users', parameter: string) =>
  readText(`(select t.name from ${table} t
    where t.integration_id = report_jobs.integration_id and t.id = report_jobs.parameters ->> '${parameter}')`);

/** What a report of ours is about, and who asked for it. */
export const REPORT_CONTENT = {
  template: reportJobs.template,
  requestedBy: reportJobs.requestedBy,
  requestedAt: reportJobs.requestedAt,
  startAt: reportJobs.startAt,
  endAt: reportJobs.endAt,
  courseId: readText(`report_jobs.parameters ->> 'courseId'`),
  courseName: nameOf('courses', 'courseId'),
  userId: readText(`report_jobs.parameters ->> 'userId'`),
  userName: nameOf('users', 'userId'),
  riskLevel: readText(`report_jobs.parameters ->> 'riskLevel'`) as SQL<ReportContent['riskLevel']>,
};

/** Lists reports, newest first. A report is `Expired` from its `expiresAt` on. */
export async function listReports(context: DomainContext, input: ListFindingsInput): Promise<Page<Report>> {
  const { integrationId, ...shown } = getTableColumns(reports);
  const status = sql<Report['status']>`case when ${reports.expiresAt} <= now() then 'Expired' else 'Ready' end`;
  const isItsJob = and(
    eq(reportJobs.integrationId, integrationId),
    eq(reportJobs.id, reports.id),
    eq(reportJobs.state, 'Ready'),
  );
  return readPage(context, { route: 'reports', filters: {} }, input, {
    read: (after, limit) =>
      context.db.orm
        .select({ ...shown, status, jobId: reportJobs.id, content: REPORT_CONTENT })
        .from(reports)
        .leftJoin(reportJobs, isItsJob)
        .where(and(eq(integrationId, context.integration.id), REPORTS.isAfter(after)))
        .orderBy(...REPORTS.orderBy)
        .limit(limit),
    locate: REPORTS.locate,
    show: ({ jobId, content, ...report }): Report => ({
      ...report,
      content: jobId === null ? null : (content as ReportContent),
    }),
  });
}
