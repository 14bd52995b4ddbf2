import { z } from 'zod';
import { int32, wireInstant, wireText } from './fields';
import { planSchema, tierSchema } from './tiers';

export const REGIONS = ['us', 'eu'] as const;
export type Region = (typeof REGIONS)[number];

/** The integration that the calling key resolves to (specification: Integration record). */
export const integrationSchema = z
  .object({
    id: wireText('int_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
    name: wireText('Example University'),
    plan: planSchema.meta({ example: 'pro' }),
    serviceTier: tierSchema.describe('The tier of the rate limits and page caps.').meta({ example: 'pro' }),
    region: z.enum(REGIONS),
    status: z.literal('Active'),
    allowedOrigins: z.array(wireText('https://lms.example.edu')),
    apiKeyMasked: wireText('aik_v1_Zk3p…9xQa').describe('The calling key, masked.'),
    webhooks: z.object({ active: int32(1), max: int32(1) }).describe('Active subscriptions and the plan’s cap.'),
    createdAt: wireInstant(),
  })
  .meta({ id: 'Integration' });
export type Integration = z.infer<typeof integrationSchema>;
