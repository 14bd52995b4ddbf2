import { z } from 'zod';
import { EVENT_TYPE_NAMES } from './events';
import { idText, int32, nameText, wireInstant, wireText, word } from './fields';
import { PLAN_NAMES, planSchema, tierSchema } from './tiers';

export const REGIONS = ['us', 'eu'] as const;
export type Region = (typeof REGIONS)[number];

/** What a key may do: read everything of its integration, and change what a scope names. */
export const KEY_SCOPES = ['read', 'sessions:write', 'webhooks:write', 'settings:write', 'users:erase'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

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
    apiKeyScopes: z.array(z.enum(KEY_SCOPES)).describe('What the calling key may do.'),
    webhooks: z.object({ active: int32(1), max: int32(1) }).describe('Active subscriptions and the plan’s cap.'),
    createdAt: wireInstant(),
  })
  .meta({ id: 'Integration' });
export type Integration = z.infer<typeof integrationSchema>;

// Integrations and keys as staff and the operator manage them. No route of the public API shows these shapes.

/** An integration in the list from which staff choose. */
export const integrationEntrySchema = integrationSchema.pick({
  ...{ id: true, name: true, plan: true, status: true, region: true, createdAt: true },
});
export type IntegrationEntry = z.infer<typeof integrationEntrySchema>;

/** A plan by its name. */
export const planInput = z.enum(PLAN_NAMES, { error: `must be one of ${PLAN_NAMES.join(', ')}` });
/** An origin as browsers write it. Anything after the origin in a URL is cut off. A pattern would match no page. */
export const originInput = z
  .url({ protocol: /^https?$/, error: 'must be an http or https origin' })
  .transform((url) => new URL(url).origin)
  .refine((origin) => !origin.includes('*'), 'must be an exact origin without *')
  .refine((origin) => origin.length <= 300, 'must have at most 300 characters');
/** The origins whose pages may send what they see. */
export const originsInput = z
  .array(originInput)
  .max(100, 'must have at most 100 items')
  .transform((origins) => [...new Set(origins)]);
export const integrationNameInput = nameText(100);

export const createIntegrationInput = z.object({
  name: integrationNameInput,
  plan: planInput,
  allowedOrigins: originsInput.default([]),
});
export const setPlanInput = z.object({ id: idText(), plan: planInput });

/** What a change of plan would do to an integration. */
export const planPreviewSchema = z.object({
  tier: tierSchema,
  requestsPerMinute: z.number().describe('Of a key that is sent as `Authorization: Bearer`.'),
  maxActiveWebhooks: z.number(),
  retentionDays: z.number().describe('For how long sessions are kept; counts stay.'),
  disables: z
    .array(z.object({ id: z.string(), name: z.string(), eventType: z.enum(EVENT_TYPE_NAMES) }))
    .describe('Active subscriptions that it has no room for, the oldest first.'),
});
export type PlanPreview = z.infer<typeof planPreviewSchema>;

/** The scopes of a key that was minted without naming any. What cannot be undone must be asked for. */
export const DEFAULT_KEY_SCOPES = KEY_SCOPES.filter((scope) => scope !== 'users:erase');

/** A masked key. `lastUsedAt` is up to a minute behind. */
export const apiKeySchema = z.object({
  id: wireText('key_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
  name: wireText('Nightly export'),
  masked: wireText('aik_v1_Zk3p…9xQa'),
  scopes: z.array(z.enum(KEY_SCOPES)),
  createdAt: wireInstant(),
  expiresAt: wireInstant().nullable(),
  lastUsedAt: wireInstant().nullable(),
  revokedAt: wireInstant().nullable(),
});
export type ApiKey = z.infer<typeof apiKeySchema>;
export const apiKeyNameInput = nameText(100).default('API key');
/** In any order and number; stored once each, in the order of the list. */
export const keyScopesInput = z
  .array(word(KEY_SCOPES))
  .min(1, 'must have at least one item')
  .transform((scopes) => KEY_SCOPES.filter((scope) => scopes.includes(scope)))
  .default([...DEFAULT_KEY_SCOPES]);
export const MAX_KEY_DAYS = 3_650;
const DAYS_FAULT = `must be a whole number from 1 to ${MAX_KEY_DAYS}`;
export const keyDaysInput = z.int(DAYS_FAULT).min(1, DAYS_FAULT).max(MAX_KEY_DAYS, DAYS_FAULT);
export const mintKeyInput = z.object({
  name: apiKeyNameInput,
  scopes: keyScopesInput,
  expiresInDays: keyDaysInput.nullable().default(null),
});
export const mintedKeySchema = z.object({
  id: z.string(),
  key: z.string().describe('Shown in this answer and never again.'),
});
export const keyIdInput = z.object({ id: idText() });
export const revokedKeySchema = z.object({ id: z.string(), revokedAt: wireInstant() });
