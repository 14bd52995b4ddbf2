import { and, desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { Alert, Anomaly, ListAnomaliesInput, ListFindingsInput, Report } from '../../contract/findings';
import { clampPageSize, type Page } from '../../contract/pagination';
import { alerts, anomalies, reports } from '../../db/schema';
import type { DomainContext } from './context';
import { decodeCursor, makePage, type Walk } from './cursors';

// Newest first, along an index that begins with the integration.

/** Lists anomalies, newest first, by any of their session, user, type and severity. */
export async function listAnomalies(context: DomainContext, input: ListAnomaliesInput): Promise<Page<Anomaly>> {
  const { sessionId, userId, anomalyType, severity, cursor, pageSize } = input;
  const walk = { route: 'anomalies', filters: { sessionId, userId, anomalyType, severity } };
  const limit = clampPageSize(pageSize, context.integration.tier);
  const rows = await context.db.orm
    .select()
    .from(anomalies)
    .where(
      and(
        eq(anomalies.integrationId, context.integration.id),
        sessionId === undefined ? undefined : eq(anomalies.sessionId, sessionId),
        userId === undefined ? undefined : eq(anomalies.userId, userId),
        anomalyType === undefined ? undefined : eq(anomalies.type, anomalyType),
        severity === undefined ? undefined : eq(anomalies.severity, severity),
        startAfter(context, walk, cursor, sql`${anomalies.detectedAt}, ${anomalies.id}`),
      ),
    )
    .orderBy(desc(anomalies.detectedAt), desc(anomalies.id))
    .limit(limit + 1);
  const show = ({ integrationId: _, type, fingerprint, ...row }: (typeof rows)[number]): Anomaly => ({
    ...row,
    anomalyType: type,
    deviceFingerprint: fingerprint,
  });
  return makePage(context, walk, rows, limit, show, (row) => [row.detectedAt, row.id]);
}

/** Lists alerts, newest first. */
export async function listAlerts(context: DomainContext, input: ListFindingsInput): Promise<Page<Alert>> {
  const walk = { route: 'alerts', filters: {} };
  const limit = clampPageSize(input.pageSize, context.integration.tier);
  const { integrationId, ...shown } = getTableColumns(alerts);
  const rows = await context.db.orm
    .select(shown)
    .from(alerts)
    .where(
      and(
        eq(integrationId, context.integration.id),
        startAfter(context, walk, input.cursor, sql`${alerts.triggeredAt}, ${alerts.id}`),
      ),
    )
    .orderBy(desc(alerts.triggeredAt), desc(alerts.id))
    .limit(limit + 1);
  return makePage(
    context,
    walk,
    rows,
    limit,
    (alert) => alert,
    (row) => [row.triggeredAt, row.id],
  );
}

/** Lists reports, newest first: `Expired` from the moment on at which they expire. */
export async function listReports(context: DomainContext, input: ListFindingsInput): Promise<Page<Report>> {
  const walk = { route: 'reports', filters: {} };
  const limit = clampPageSize(input.pageSize, context.integration.tier);
  const { integrationId, ...shown } = getTableColumns(reports);
  const status = sql<Report['status']>`case when ${reports.expiresAt} <= now() then 'Expired' else 'Ready' end`;
  const rows = await context.db.orm
    .select({ ...shown, status })
    .from(reports)
    .where(
      and(
        eq(integrationId, context.integration.id),
        startAfter(context, walk, input.cursor, sql`${reports.completedAt}, ${reports.id}`),
      ),
    )
    .orderBy(desc(reports.completedAt), desc(reports.id))
    .limit(limit + 1);
  return makePage(
    context,
    walk,
    rows,
    limit,
    (report) => report,
    (row) => [row.completedAt, row.id],
  );
}

/** What comes after a cursor in a list by `key` (time and id), newest first. */
function startAfter(context: DomainContext, walk: Walk, cursor: string | undefined, key: SQL): SQL | undefined {
  if (cursor === undefined) return undefined;
  const [at, id] = decodeCursor(context, walk, cursor);
  return sql`(${key}) < (${at}::timestamptz, ${id})`;
}
