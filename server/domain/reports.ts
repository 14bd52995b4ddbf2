import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { ListFindingsInput, Report } from '../../contract/findings';
import type { Page } from '../../contract/pagination';
import type { ReportContent, ReportSubject } from '../../contract/reports';
import { reportJobs, reports } from '../../db/schema';
import type { DomainContext } from './context';
import { newestFirst, readPage } from './pages';

const REPORTS = newestFirst(reports, 'completedAt');

// Names of tables in full: without them, the columns would be those of the inner table. Each is a look-up by key.
const readText = (expression: string) => sql.raw(expression) as SQL<string | null>;
function readSubject(table: 'report_jobs' | 'report_schedules') {
  const nameOf = (named: 'courses' | 'users', parameter: string) =>
    readText(`(select t.name from ${named} t
      where t.integration_id = ${table}.integration_id and t.id = ${table}.parameters ->> '${parameter}')`);
  return {
    courseId: readText(`${table}.parameters ->> 'courseId'`),
    courseName: nameOf('courses', 'courseId'),
    userId: readText(`${table}.parameters ->> 'userId'`),
    userName: nameOf('users', 'userId'),
    riskLevel: readText(`${table}.parameters ->> 'riskLevel'`) as SQL<ReportSubject['riskLevel']>,
  };
}

/** What the reports of a schedule are about. */
export const SCHEDULED_SUBJECT = readSubject('report_schedules');

/** What a report of ours is about, and who asked for it. */
export const REPORT_CONTENT = {
  template: reportJobs.template,
  requestedBy: reportJobs.requestedBy,
  requestedAt: reportJobs.requestedAt,
  startAt: reportJobs.startAt,
  endAt: reportJobs.endAt,
  ...readSubject('report_jobs'),
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
