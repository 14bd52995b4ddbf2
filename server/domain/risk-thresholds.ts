import { eq } from 'drizzle-orm';
import { integrations } from '../../db/schema';
import type { RiskThresholds } from '../contract/risk-thresholds';
import type { DomainContext } from './context';

/** The thresholds as they were when the key was looked up (specification: GET /v1/settings/risk-thresholds). */
export const getRiskThresholds = ({ integration: { mediumAt, botAt } }: DomainContext): RiskThresholds => ({
  mediumAt,
  botAt,
});

/** Replaces the thresholds. Sessions belong to their new classes at once; nothing fires (specification: PUT of the same). */
export async function updateRiskThresholds(context: DomainContext, input: RiskThresholds): Promise<RiskThresholds> {
  const { mediumAt, botAt } = input;
  await context.db.orm.update(integrations).set({ mediumAt, botAt }).where(eq(integrations.id, context.integration.id));
  return { mediumAt, botAt };
}
