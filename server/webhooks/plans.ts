import { and, asc, eq, inArray, isNull } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type { PlanPreview } from '../../contract/integrations';
import { PLANS, type Plan } from '../../contract/tiers';
import type { Database } from '../../db/client';
import { integrations, webhookSubscriptions } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import type { Env } from '../platform/env';

const isActiveOf = (integrationId: string) =>
  and(
    eq(webhookSubscriptions.integrationId, integrationId),
    eq(webhookSubscriptions.enabled, true),
    isNull(webhookSubscriptions.deletedAt),
  );

/** Picks the subscriptions that exceed a plan's limit: the newest ones. */
function pickExcess<Row extends { createdAt: string }>(active: Row[], plan: Plan): Row[] {
  const oldestFirst = active.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
  return oldestFirst.slice(PLANS[plan].maxActiveWebhooks);
}

/**
 * Shows what a plan would mean for an integration: its limits, and the subscriptions that it would disable. Changes nothing.
 * NOT_FOUND for an unknown id.
 */
export async function previewPlan(
  { db, quotas }: { db: Database; quotas: Env['quotas'] },
  { id, plan }: { id: string; plan: Plan },
): Promise<PlanPreview> {
  const [known] = await db.orm.select({ id: integrations.id }).from(integrations).where(eq(integrations.id, id));
  if (!known) throw new ApiError('NOT_FOUND', 'Integration not found');
  const { tier, maxActiveWebhooks, retentionDays } = PLANS[plan];
  const { id: webhookId, name, eventType, createdAt } = webhookSubscriptions;
  const active = await db.orm
    .select({ id: webhookId, name, eventType, createdAt })
    .from(webhookSubscriptions)
    .where(isActiveOf(id))
    .orderBy(asc(webhookId));
  const disables = pickExcess(active, plan).map(({ createdAt: _, ...webhook }) => webhook);
  return { tier, requestsPerMinute: quotas[tier].key, maxActiveWebhooks, retentionDays, disables };
}

/**
 * Sets an integration's plan. If more subscriptions are active than the new plan allows, the newest ones are disabled with
 * `auto:plan-limit`. NOT_FOUND for an unknown id.
 */
export async function setIntegrationPlan(
  { db, actor }: AuditedContext,
  input: { id: string; plan: Plan },
): Promise<{ id: string; plan: Plan }> {
  const { id, plan } = input;
  await db.orm.transaction(async (tx) => {
    // The lock keeps `before` true until the change.
    const [before] = await tx
      .select({ plan: integrations.plan })
      .from(integrations)
      .where(eq(integrations.id, id))
      .for('no key update');
    if (!before) throw new ApiError('NOT_FOUND', 'Integration not found');
    await tx.update(integrations).set({ plan }).where(eq(integrations.id, id));
    // Locked in the recorder's order, so that the two cannot deadlock.
    const active = await tx
      .select({ id: webhookSubscriptions.id, createdAt: webhookSubscriptions.createdAt })
      .from(webhookSubscriptions)
      .where(isActiveOf(id))
      .orderBy(asc(webhookSubscriptions.id))
      .for('update');
    const disabled = pickExcess(active, plan).map((row) => row.id);
    if (before.plan !== plan) {
      const details = { before: before.plan, after: plan, disabledWebhooks: disabled };
      await recordAct(tx, actor, { action: 'PlanChanged', integrationId: id, subjectId: id, details });
    }
    if (disabled.length === 0) return;
    await tx
      .update(webhookSubscriptions)
      .set({ enabled: false, disabledReason: 'auto:plan-limit', disabledFailureClass: null })
      .where(and(eq(webhookSubscriptions.integrationId, id), inArray(webhookSubscriptions.id, disabled)));
  });
  return { id, plan };
}
