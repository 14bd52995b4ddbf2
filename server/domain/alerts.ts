import { and, eq, getTableColumns } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type { Alert, ListAlertsInput, ReopenIncidentInput } from '../../contract/findings';
import type { Page } from '../../contract/pagination';
import { alertRules, alerts } from '../../db/schema';
import type { AuditedContext } from '../audit/acts';
import type { DomainContext } from './context';
import { acknowledgeIncident, findStatus, isInStatus, reopenIncident, resolveIncident } from './incidents';
import { newestFirst, readPage } from './pages';

const NEWEST_FIRST = newestFirst(alerts, 'triggeredAt');

type AlertRow = typeof alerts.$inferSelect & { ruleName: string | null };

const SHOWN = { ...getTableColumns(alerts), ruleName: alertRules.name };
const isItsRule = and(eq(alertRules.integrationId, alerts.integrationId), eq(alertRules.id, alerts.ruleId));

function showAlert({ integrationId: _, ruleId, ruleName, ...row }: AlertRow): Alert {
  const status = findStatus(row);
  // A rule that a customer's pipeline names is not one of ours.
  return { status, rule: ruleId === null || ruleName === null ? null : { id: ruleId, name: ruleName }, ...row };
}

/** Lists alerts, newest first, optionally those of a status or of a rule. */
export async function listAlerts(context: DomainContext, input: ListAlertsInput): Promise<Page<Alert>> {
  const { status, ruleId } = input;
  return readPage(context, { route: 'alerts', filters: { status, ruleId } }, input, {
    read: (after, limit): Promise<AlertRow[]> =>
      context.db.orm
        .select(SHOWN)
        .from(alerts)
        .leftJoin(alertRules, isItsRule)
        .where(
          and(
            eq(alerts.integrationId, context.integration.id),
            status === undefined ? undefined : isInStatus(status),
            ruleId === undefined ? undefined : eq(alerts.ruleId, ruleId),
            NEWEST_FIRST.isAfter(after),
          ),
        )
        .orderBy(...NEWEST_FIRST.orderBy)
        .limit(limit),
    locate: NEWEST_FIRST.locate,
    show: showAlert,
  });
}

const isOne = (context: DomainContext, id: string) =>
  and(eq(alerts.integrationId, context.integration.id), eq(alerts.id, id));

/** Returns an alert. NOT_FOUND for an unknown one. */
export async function getAlert(context: DomainContext, { id }: { id: string }): Promise<Alert> {
  const [row] = await context.db.orm
    .select(SHOWN)
    .from(alerts)
    .leftJoin(alertRules, isItsRule)
    .where(isOne(context, id));
  if (!row) throw new ApiError('NOT_FOUND', 'Alert not found');
  return showAlert(row);
}

const changeBy =
  (change: typeof reopenIncident) =>
  async (context: DomainContext & AuditedContext, input: ReopenIncidentInput): Promise<Alert> => {
    await change(alerts, context, input);
    return getAlert(context, input);
  };

/** These change the status of an alert (incidents.ts). NOT_FOUND as getAlert. */
export const acknowledgeAlert = changeBy(acknowledgeIncident);
export const resolveAlert = changeBy(resolveIncident);
export const reopenAlert = changeBy(reopenIncident);
