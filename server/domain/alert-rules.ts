import { and, asc, count, eq, isNull, type SQL, sql } from 'drizzle-orm';
import {
  type AlertRule,
  type CreateAlertRuleInput,
  MAX_ALERT_RULES,
  type UpdateAlertRuleInput,
} from '../../contract/alert-rules';
import { ApiError } from '../../contract/errors';
import type { Transaction } from '../../db/client';
import { alertRules, integrations } from '../../db/schema';
import { type AuditedContext, nameActor, recordAct } from '../audit/acts';
import { createId } from '../platform/ids';
import type { DomainContext } from './context';
import { assertNotErased, type RefusalContext } from './user-erasures';

type RuleContext = DomainContext & AuditedContext;
/** What a rule is about may be a user who was erased, as on a page that was open before. */
type NamingContext = RuleContext & RefusalContext;
type RuleRow = typeof alertRules.$inferSelect;
type RuleFields = Omit<CreateAlertRuleInput, 'enabled'>;

// Drizzle would write the names of columns without their table.
const LAST_TRIGGERED_AT = sql<string | null>`(
  select max(a.triggered_at) from alerts a where a.integration_id = alert_rules.integration_id and a.rule_id = alert_rules.id)`;

const SCOPE_NAME = sql<string | null>`(case alert_rules.scope
  when 'course' then (select name from courses where integration_id = alert_rules.integration_id and id = alert_rules.scope_value)
  when 'user' then (select name from users where integration_id = alert_rules.integration_id and id = alert_rules.scope_value) end)`;

const SHOWN = { rule: alertRules, scopeName: SCOPE_NAME, lastTriggeredAt: LAST_TRIGGERED_AT };
type ReadRule = { rule: RuleRow; scopeName: string | null; lastTriggeredAt: string | null };

const isLive = (context: DomainContext, id?: string): SQL =>
  and(
    eq(alertRules.integrationId, context.integration.id),
    id === undefined ? undefined : eq(alertRules.id, id),
    isNull(alertRules.deletedAt),
  )!;

function showRule({ rule: row, scopeName, lastTriggeredAt }: ReadRule): AlertRule {
  const { id, version, name, metric, anomalyType, minSeverity, windowMinutes, comparison, value } = row;
  const { minSessions, severity, message, coolDownMinutes, enabled, createdAt, createdBy, updatedAt, updatedBy } = row;
  return {
    ...{ id, version, name, metric, anomalyType, minSeverity, windowMinutes, comparison, value },
    ...{ minSessions, severity, message, coolDownMinutes, enabled, createdAt, createdBy, updatedAt, updatedBy },
    scope: { kind: row.scope, value: row.scope === 'integration' ? null : row.scopeValue },
    ...{ scopeName, lastTriggeredAt },
  };
}

/** Lists the alert rules by name, at most 100. */
export async function listAlertRules(context: DomainContext): Promise<AlertRule[]> {
  const rows = await context.db.orm
    .select(SHOWN)
    .from(alertRules)
    .where(isLive(context))
    .orderBy(asc(alertRules.name), asc(alertRules.id));
  return rows.map(showRule);
}

/** Returns an alert rule. NOT_FOUND for an unknown or deleted one. */
export async function getAlertRule(context: DomainContext, { id }: { id: string }): Promise<AlertRule> {
  const [row] = await context.db.orm.select(SHOWN).from(alertRules).where(isLive(context, id));
  if (!row) throw notFound();
  return showRule(row);
}

const toColumns = ({ scope, ...rule }: RuleFields) => ({
  ...{ name: rule.name, metric: rule.metric, anomalyType: rule.anomalyType, minSeverity: rule.minSeverity },
  ...{ scope: scope.kind, scopeValue: scope.value ?? '', windowMinutes: rule.windowMinutes },
  ...{ comparison: rule.comparison, value: rule.value, minSessions: rule.minSessions, severity: rule.severity },
  ...{ message: rule.message, coolDownMinutes: rule.coolDownMinutes },
});

const NOW = sql`now()`;

/**
 * Creates an alert rule. It judges windows that end from now on. PLAN_LIMIT_REACHED at 100 rules, UNSUPPORTED_OPERATION if it is about
 * a user who was erased.
 */
export async function createAlertRule(context: NamingContext, input: CreateAlertRuleInput): Promise<AlertRule> {
  const { actor } = context;
  const integrationId = context.integration.id;
  const id = createId('rul');
  const columns = toColumns(input);
  await context.db.orm.transaction(async (tx) => {
    await assertScopeNotErased(tx, context, columns);
    await assertBelowCap(tx, context);
    const by = { createdBy: nameActor(actor), updatedBy: nameActor(actor) };
    await tx.insert(alertRules).values({ integrationId, id, ...columns, enabled: input.enabled, ...by });
    const act = { action: 'AlertRuleCreated', integrationId, subjectId: id } as const;
    await recordAct(tx, actor, { ...act, details: { ...columns, enabled: input.enabled } });
  });
  return getAlertRule(context, { id });
}

async function assertScopeNotErased(
  tx: Transaction,
  { integration, secrets }: NamingContext,
  { scope, scopeValue }: Pick<RuleRow, 'scope' | 'scopeValue'>,
) {
  const user = { integrationId: integration.id, userId: scopeValue };
  if (scope === 'user') await assertNotErased(tx, secrets.erasureKey, user);
}

/** The lock makes others who create a rule wait, so that two of them cannot share the last place. */
async function assertBelowCap(tx: Transaction, { integration: { id } }: DomainContext) {
  await tx.select({ id: integrations.id }).from(integrations).where(eq(integrations.id, id)).for('no key update');
  const [counted] = await tx
    .select({ rules: count() })
    .from(alertRules)
    .where(and(eq(alertRules.integrationId, id), isNull(alertRules.deletedAt)));
  if (counted!.rules < MAX_ALERT_RULES) return;
  throw new ApiError('PLAN_LIMIT_REACHED', `An integration holds at most ${MAX_ALERT_RULES} alert rules`);
}

/** What decides when a rule fires. If one of these changes, the rule starts again: what it fired for before does not count. */
const CONDITION = [
  ...(['metric', 'anomalyType', 'minSeverity', 'scope', 'scopeValue', 'windowMinutes'] as const),
  ...(['comparison', 'value', 'minSessions'] as const),
];

/**
 * Replaces an alert rule. INVALID_BODY that names `version` if somebody, or an erasure, has changed it since that version. NOT_FOUND as
 * getAlertRule, UNSUPPORTED_OPERATION as createAlertRule.
 */
export async function updateAlertRule(context: NamingContext, input: UpdateAlertRuleInput): Promise<AlertRule> {
  const { id, version } = input;
  const columns = toColumns(input);
  return changeRule(context, id, async (before, tx) => {
    await assertScopeNotErased(tx, context, columns);
    if (before.version !== version)
      throw new ApiError('INVALID_BODY', 'version: somebody has changed the rule since', { field: 'version' });
    return { ...columns, ...startAgain(before, columns) };
  });
}

/** With a shorter cool-down a rule must not fire for what the longer one kept quiet. But what it fired for still counts. */
function startAgain(before: RuleRow, after: ReturnType<typeof toColumns>): Changes {
  if (CONDITION.some((name) => before[name] !== after[name])) return { judgedFrom: NOW, firedEnds: [] };
  return after.coolDownMinutes < before.coolDownMinutes ? { judgedFrom: NOW } : {};
}

/** Switches an alert rule on or off. What happened while it was off does not make it fire. NOT_FOUND as getAlertRule. */
export function setAlertRuleEnabled(
  context: RuleContext,
  { id, enabled }: { id: string; enabled: boolean },
): Promise<AlertRule> {
  return changeRule(context, id, () => ({ enabled, ...(enabled ? { judgedFrom: NOW } : {}) }));
}

type Changes = { [Name in keyof RuleRow]?: RuleRow[Name] | SQL };

/** Changes a rule as `change` says, in a transaction with its audit entry. If nothing is different, nothing is written. */
async function changeRule(
  context: RuleContext,
  id: string,
  change: (before: RuleRow, tx: Transaction) => Changes | Promise<Changes>,
): Promise<AlertRule> {
  const { actor } = context;
  await context.db.orm.transaction(async (tx) => {
    const [before] = await tx.select().from(alertRules).where(isLive(context, id)).for('update');
    if (!before) throw notFound();
    const changes = await change(before, tx);
    const names = (Object.keys(changes) as (keyof RuleRow)[]).filter(
      (name) => !['judgedFrom', 'firedEnds'].includes(name),
    );
    const changed = names.filter((name) => before[name] !== changes[name]);
    if (changed.length === 0) return;
    await tx
      .update(alertRules)
      .set({ ...changes, version: before.version + 1, updatedAt: NOW, updatedBy: nameActor(actor) } as never)
      .where(isLive(context, id));
    // A value alone does not say whether it is a user's or a course's.
    const told = changed.includes('scopeValue') ? new Set<keyof RuleRow>(['scope', ...changed]) : changed;
    const pick = (row: Changes) => Object.fromEntries([...told].map((name) => [name, row[name]]));
    const details = { name: before.name, before: pick(before), after: pick(changes) };
    const act = { action: 'AlertRuleChanged', integrationId: context.integration.id, subjectId: id } as const;
    await recordAct(tx, actor, { ...act, details });
  });
  return getAlertRule(context, { id });
}

/** Deletes an alert rule. Its alerts stay. NOT_FOUND as getAlertRule. */
export async function deleteAlertRule(context: RuleContext, { id }: { id: string }): Promise<{ id: string }> {
  const { actor, integration } = context;
  await context.db.orm.transaction(async (tx) => {
    const [deleted] = await tx
      .update(alertRules)
      .set({ deletedAt: NOW, updatedAt: NOW, updatedBy: nameActor(actor) })
      .where(isLive(context, id))
      .returning();
    if (!deleted) throw notFound();
    const act = { action: 'AlertRuleDeleted', integrationId: integration.id, subjectId: id } as const;
    await recordAct(tx, actor, { ...act, details: { name: deleted.name } });
  });
  return { id };
}

const notFound = () => new ApiError('NOT_FOUND', 'Alert rule not found');
