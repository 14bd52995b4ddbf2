import { z } from 'zod';

/**
 * Billing plans: the service tier of each (specification: Limits), and for how many days it keeps sessions. Counts are
 * kept forever.
 */
export const PLANS = {
  free: { tier: 'free', maxActiveWebhooks: 0, retentionDays: 30 },
  starter: { tier: 'free', maxActiveWebhooks: 0, retentionDays: 90 },
  pro: { tier: 'pro', maxActiveWebhooks: 1, retentionDays: 365 },
  enterprise: { tier: 'enterprise', maxActiveWebhooks: 10, retentionDays: 730 },
} as const satisfies Record<string, { tier: string; maxActiveWebhooks: number; retentionDays: number }>;

export type Plan = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as [Plan, ...Plan[]];
export const planSchema = z.enum(PLAN_NAMES);

/** Service tiers: default quotas in requests per minute (settings may override them) and the largest page size. */
export const TIERS = {
  free: { keyLimitPerMinute: 60, sharedLimitPerMinute: 600, maxPageSize: 50 },
  pro: { keyLimitPerMinute: 600, sharedLimitPerMinute: 6_000, maxPageSize: 100 },
  enterprise: { keyLimitPerMinute: 6_000, sharedLimitPerMinute: 60_000, maxPageSize: 100 },
} as const;

export type Tier = keyof typeof TIERS;
export const TIER_NAMES = Object.keys(TIERS) as [Tier, ...Tier[]];
export const tierSchema = z.enum(TIER_NAMES);

/** How many subscriptions an integration may have, disabled ones included. */
export const MAX_WEBHOOKS = 100;
