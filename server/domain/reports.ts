import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
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

const { integrationId: OWNER, ...SHOWN } = getTableColumns(reports);
const STATUS = sql<Report['status']>`case when ${reports.expiresAt} <= now() then 'Expired' else 'Ready' end`;
const IS_ITS_JOB = and(
  eq(reportJobs.integrationId, OWNER),
  eq(reportJobs.id, reports.id),
  eq(reportJobs.state, 'Ready'),
);

/** Selects reports of the integration. A report is `Expired` from its `expiresAt` on. */
const selectReports = ({ db, integration }: DomainContext, isMeant: SQL | undefined) =>
  db.orm
    .select({ ...SHOWN, status: STATUS, jobId: reportJobs.id, content: REPORT_CONTENT })
    .from(reports)
    .leftJoin(reportJobs, IS_ITS_JOB)
    .where(and(eq(OWNER, integration.id), isMeant));

type ReportRow = Awaited<ReturnType<typeof selectReports>>[number];

const showReport = ({ jobId, content, ...report }: ReportRow): Report => ({
  ...report,
  content: jobId === null ? null : (content as ReportContent),
});

/** Lists reports, newest first. */
export async function listReports(context: DomainContext, input: ListFindingsInput): Promise<Page<Report>> {
  return readPage(context, { route: 'reports', filters: {} }, input, {
    read: (after, limit) =>
      selectReports(context, REPORTS.isAfter(after))
        .orderBy(...REPORTS.orderBy)
        .limit(limit),
    locate: REPORTS.locate,
    show: showReport,
  });
}

/** Returns a report. NOT_FOUND for an unknown one. */
export async function getReport(context: DomainContext, { id }: { id: string }): Promise<Report> {
  const [row] = await selectReports(context, eq(reports.id, id));
  if (!row) throw new ApiError('NOT_FOUND', 'Report not found');
  return showReport(row);
}
