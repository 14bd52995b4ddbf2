import { eq } from 'drizzle-orm';
import type { RiskThresholds } from '../../contract/risk-thresholds';
import { integrations } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import type { DomainContext } from './context';

/** Returns the thresholds that were read when the key was looked up (specification: GET /v1/settings/risk-thresholds). */
export const getRiskThresholds = ({ integration: { mediumAt, botAt } }: DomainContext): RiskThresholds => ({
  mediumAt,
  botAt,
});

/** Replaces the thresholds. Sessions have their new classes at once, and no event fires (specification: PUT of the same). */
export async function updateRiskThresholds(
  { db, actor, integration: { id } }: DomainContext & AuditedContext,
  { mediumAt, botAt }: RiskThresholds,
): Promise<RiskThresholds> {
  const after = { mediumAt, botAt };
  await db.orm.transaction(async (tx) => {
    // The lock makes concurrent changes wait, so that the second one's `before` is the first one's `after`.
    const [before] = await tx
      .select({ mediumAt: integrations.mediumAt, botAt: integrations.botAt })
      .from(integrations)
      .where(eq(integrations.id, id))
      .for('no key update');
    if (!before || (before.mediumAt === mediumAt && before.botAt === botAt)) return;
    await tx.update(integrations).set(after).where(eq(integrations.id, id));
    const act = { action: 'ThresholdsChanged', integrationId: id, subjectId: id } as const;
    await recordAct(tx, actor, { ...act, details: { before, after } });
  });
  return after;
}
