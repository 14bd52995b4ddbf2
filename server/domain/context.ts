import type { Plan, Tier } from '../../contract/tiers';
import type { Database } from '../../db/client';

/** The tenant that a request acts for, as the look-up of its key found it. */
export interface IntegrationScope {
  id: string;
  plan: Plan;
  tier: Tier;
  /** Risk thresholds, 0–100. */
  mediumAt: number;
  botAt: number;
}

/** What every domain function takes: whose data, and where they are. */
export interface DomainContext {
  integration: IntegrationScope;
  db: Database;
  cursorKey: Buffer;
}
