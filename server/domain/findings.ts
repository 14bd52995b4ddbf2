import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { Anomaly, ListAnomaliesInput, ListFindingsInput, Report } from '../../contract/findings';
import type { Page } from '../../contract/pagination';
import { anomalies, reports } from '../../db/schema';
import type { DomainContext } from './context';
import { newestFirst, readPage } from './pages';

// Each list is read along an index that begins with the integration.
const ANOMALIES = newestFirst(anomalies, 'detectedAt');
const REPORTS = newestFirst(reports, 'completedAt');

/** Lists anomalies, newest first, optionally filtered by session, user, type and severity. */
export async function listAnomalies(context: DomainContext, input: ListAnomaliesInput): Promise<Page<Anomaly>> {
  const { sessionId, userId, anomalyType, severity } = input;
  const walk = { route: 'anomalies', filters: { sessionId, userId, anomalyType, severity } };
  return readPage(context, walk, input, {
    read: (after, limit) =>
      context.db.orm
        .select()
        .from(anomalies)
        .where(
          and(
            eq(anomalies.integrationId, context.integration.id),
            sessionId === undefined ? undefined : eq(anomalies.sessionId, sessionId),
            userId === undefined ? undefined : eq(anomalies.userId, userId),
            anomalyType === undefined ? undefined : eq(anomalies.type, anomalyType),
            severity === undefined ? undefined : eq(anomalies.severity, severity),
            ANOMALIES.isAfter(after),
          ),
        )
        .orderBy(...ANOMALIES.orderBy)
        .limit(limit),
    locate: ANOMALIES.locate,
    show: ({ integrationId: _, type, fingerprint, ...row }): Anomaly => ({
      ...row,
      anomalyType: type,
      deviceFingerprint: fingerprint,
    }),
  });
}

/** Lists reports, newest first. A report is `Expired` from its `expiresAt` on. */
export async function listReports(context: DomainContext, input: ListFindingsInput): Promise<Page<Report>> {
  const { integrationId, ...shown } = getTableColumns(reports);
  const status = sql<Report['status']>`case when ${reports.expiresAt} <= now() then 'Expired' else 'Ready' end`;
  // Names of tables in full: without them, the columns would be those of the inner table.
  const isStored = sql<boolean>`exists (
    select from report_jobs j where j.integration_id = reports.integration_id and j.id = reports.id and j.state = 'Ready')`;
  return readPage(context, { route: 'reports', filters: {} }, input, {
    read: (after, limit) =>
      context.db.orm
        .select({ ...shown, status, isStored })
        .from(reports)
        .where(and(eq(integrationId, context.integration.id), REPORTS.isAfter(after)))
        .orderBy(...REPORTS.orderBy)
        .limit(limit),
    locate: REPORTS.locate,
    show: (report) => report,
  });
}
