import type { Plan, Tier } from '../../contract/tiers';
import type { Database } from '../../db/client';

/** The tenant of a request, as read when its key was looked up. */
export interface IntegrationScope {
  id: string;
  plan: Plan;
  tier: Tier;
  /** Risk thresholds, 0–100. */
  mediumAt: number;
  botAt: number;
}

/** What every domain function needs: the tenant and the database. */
export interface DomainContext {
  integration: IntegrationScope;
  db: Database;
  cursorKey: Buffer;
}
