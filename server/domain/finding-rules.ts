import { and, eq } from 'drizzle-orm';
import type { FindingRuleName, SetFindingRuleInput } from '../../contract/findings';
import type { Database } from '../../db/client';
import { findingRules, integrations } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import type { DomainContext } from './context';

/** Lists the rules that the integration has switched off. */
export async function listDisabledRules({ db, integration }: DomainContext): Promise<FindingRuleName[]> {
  const rows = await db.orm
    .select({ rule: findingRules.rule })
    .from(findingRules)
    .where(and(eq(findingRules.integrationId, integration.id), eq(findingRules.isEnabled, false)));
  return rows.map(({ rule }) => rule);
}

/** Whether a rule is on, as it is unless the integration has switched it off. */
export async function isRuleEnabled(db: Database, integrationId: string, rule: FindingRuleName): Promise<boolean> {
  const rows = await db.query(FIND_DISABLED, [integrationId, rule]);
  return rows.length === 0;
}

const FIND_DISABLED = 'select from finding_rules where integration_id = $1 and rule = $2 and not is_enabled';

/** Switches a rule on or off. What it found before stays. */
export async function setFindingRule(
  { db, actor, integration: { id } }: DomainContext & AuditedContext,
  { rule, isEnabled }: SetFindingRuleInput,
): Promise<SetFindingRuleInput> {
  await db.orm.transaction(async (tx) => {
    // The lock makes concurrent changes wait, so that each entry of the audit log is a real change.
    await tx.select({ id: integrations.id }).from(integrations).where(eq(integrations.id, id)).for('no key update');
    const isRule = and(eq(findingRules.integrationId, id), eq(findingRules.rule, rule));
    const [before] = await tx.select({ isEnabled: findingRules.isEnabled }).from(findingRules).where(isRule);
    if ((before?.isEnabled ?? true) === isEnabled) return;
    await tx
      .insert(findingRules)
      .values({ integrationId: id, rule, isEnabled })
      .onConflictDoUpdate({ target: [findingRules.integrationId, findingRules.rule], set: { isEnabled } });
    const act = { action: 'FindingRuleSwitched', integrationId: id, subjectId: rule } as const;
    await recordAct(tx, actor, { ...act, details: { rule, isEnabled } });
  });
  return { rule, isEnabled };
}
