import { eq } from 'drizzle-orm';
import type { RiskThresholds } from '../../contract/risk-thresholds';
import { integrations } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import type { DomainContext } from './context';

/** The thresholds as they were when the key was looked up (specification: GET /v1/settings/risk-thresholds). */
export const getRiskThresholds = ({ integration: { mediumAt, botAt } }: DomainContext): RiskThresholds => ({
  mediumAt,
  botAt,
});

/** Replaces the thresholds. Sessions belong to their new classes at once; nothing fires (specification: PUT of the same). */
export async function updateRiskThresholds(
  { db, actor, integration: { id } }: DomainContext & AuditedContext,
  { mediumAt, botAt }: RiskThresholds,
): Promise<RiskThresholds> {
  const after = { mediumAt, botAt };
  await db.orm.transaction(async (tx) => {
    // Locked: of two that change them at once, the second's `before` is what the first has made.
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
