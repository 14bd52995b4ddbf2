import { z } from 'zod';
import { int32, wireInstant } from './fields';
import { planSchema, tierSchema } from './tiers';

export const REGIONS = ['us', 'eu'] as const;
export type Region = (typeof REGIONS)[number];

/** The integration that the calling key resolves to (specification: Integration record). */
export const integrationSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    plan: planSchema,
    serviceTier: tierSchema.describe('The tier of the rate limits and page caps.'),
    region: z.enum(REGIONS),
    status: z.literal('Active'),
    allowedOrigins: z.array(z.string()),
    apiKeyMasked: z.string().describe('The calling key, masked.').meta({ example: 'aik_v1_Zk3p…9xQa' }),
    webhooks: z.object({ active: int32(), max: int32() }).describe('Active subscriptions and the plan’s cap.'),
    createdAt: wireInstant(),
  })
  .meta({ id: 'Integration' });
export type Integration = z.infer<typeof integrationSchema>;
