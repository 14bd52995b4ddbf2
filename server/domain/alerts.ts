import { and, eq, getTableColumns, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type { Alert, AlertStatus, ListAlertsInput } from '../../contract/findings';
import type { Page } from '../../contract/pagination';
import { alertRules, alerts } from '../../db/schema';
import type { AuditedContext } from '../audit/acts';
import type { DomainContext } from './context';
import { newestFirst, readPage } from './pages';

const NEWEST_FIRST = newestFirst(alerts, 'triggeredAt');

type AlertRow = typeof alerts.$inferSelect & { ruleName: string | null };

const SHOWN = { ...getTableColumns(alerts), ruleName: alertRules.name };
const isItsRule = and(eq(alertRules.integrationId, alerts.integrationId), eq(alertRules.id, alerts.ruleId));

const IN_STATUS: Record<AlertStatus, SQL> = {
  Open: and(isNull(alerts.resolvedAt), isNull(alerts.acknowledgedAt))!,
  Acknowledged: and(isNull(alerts.resolvedAt), isNotNull(alerts.acknowledgedAt))!,
  Resolved: isNotNull(alerts.resolvedAt),
};

function showAlert({ integrationId: _, ruleId, ruleName, ...row }: AlertRow): Alert {
  const open = row.acknowledgedAt === null ? 'Open' : 'Acknowledged';
  const status = row.resolvedAt === null ? open : 'Resolved';
  // A rule that a customer's pipeline names is not one of ours.
  return { ...row, status, rule: ruleId === null || ruleName === null ? null : { id: ruleId, name: ruleName } };
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
            status === undefined ? undefined : IN_STATUS[status],
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

const nameActor = ({ actor }: AuditedContext) => (actor.kind === 'Operator' ? null : actor.name);

/** Says that somebody looks after an alert. The first one who does is kept. NOT_FOUND as getAlert. */
export async function acknowledgeAlert(
  context: DomainContext & AuditedContext,
  { id }: { id: string },
): Promise<Alert> {
  await context.db.orm
    .update(alerts)
    .set({ acknowledgedAt: sql`now()`, acknowledgedBy: nameActor(context) })
    .where(and(isOne(context, id), IN_STATUS.Open));
  return getAlert(context, { id });
}

/** Says that an alert is dealt with. The first one who does is kept. NOT_FOUND as getAlert. */
export async function resolveAlert(context: DomainContext & AuditedContext, { id }: { id: string }): Promise<Alert> {
  await context.db.orm
    .update(alerts)
    .set({ resolvedAt: sql`now()`, resolvedBy: nameActor(context) })
    .where(and(isOne(context, id), isNull(alerts.resolvedAt)));
  return getAlert(context, { id });
}
