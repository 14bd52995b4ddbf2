import { and, asc, eq, inArray, isNull } from 'drizzle-orm';
import type { Database } from '../../db/client';
import { integrations, webhookSubscriptions } from '../../db/schema';
import { ApiError } from '../contract/errors';
import { PLANS, type Plan } from '../contract/tiers';

/**
 * Sets an integration's plan. Where the new cap is below the active count, the newest subscriptions are disabled with
 * `auto:plan-limit` until it fits. NOT_FOUND for an unknown id.
 */
export async function setIntegrationPlan(
  db: Database,
  input: { id: string; plan: Plan },
): Promise<{ id: string; plan: Plan }> {
  const { id, plan } = input;
  await db.orm.transaction(async (tx) => {
    const updated = await tx
      .update(integrations)
      .set({ plan })
      .where(eq(integrations.id, id))
      .returning({ id: integrations.id });
    if (updated.length === 0) throw new ApiError('NOT_FOUND', 'Integration not found');
    // Locked in the recorder's order, so that the two never wait for each other crosswise.
    const active = await tx
      .select({ id: webhookSubscriptions.id, createdAt: webhookSubscriptions.createdAt })
      .from(webhookSubscriptions)
      .where(
        and(
          eq(webhookSubscriptions.integrationId, id),
          eq(webhookSubscriptions.enabled, true),
          isNull(webhookSubscriptions.deletedAt),
        ),
      )
      .orderBy(asc(webhookSubscriptions.id))
      .for('update');
    const oldestFirst = active.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
    const excess = oldestFirst.slice(PLANS[plan].maxActiveWebhooks);
    if (excess.length === 0) return;
    await tx
      .update(webhookSubscriptions)
      .set({ enabled: false, disabledReason: 'auto:plan-limit', disabledFailureClass: null })
      .where(
        and(
          eq(webhookSubscriptions.integrationId, id),
          inArray(
            webhookSubscriptions.id,
            excess.map((row) => row.id),
          ),
        ),
      );
  });
  return { id, plan };
}
