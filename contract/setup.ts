import { z } from 'zod';

// How far an integration is set up, from its data. No route of the public API shows it.

/** The steps of the set-up, in their order. */
export const SETUP_STEPS = ['origins', 'pixel', 'apiKey', 'webhook'] as const;
export type SetupStep = (typeof SETUP_STEPS)[number];

export const setupSchema = z.object({
  done: z.record(z.enum(SETUP_STEPS), z.boolean().nullable()).describe('Null for a step that the plan does not have.'),
  isComplete: z.boolean(),
  hasSessions: z.boolean(),
  firstEvent: z
    .object({
      at: z.string(),
      origin: z.string().nullable().describe('Null if the session is not stored yet, or not any more.'),
    })
    .nullable()
    .describe('The first batch that a site in use has received.'),
  keys: z.object({ active: z.number(), lastUsedAt: z.string().nullable() }),
  webhooks: z.object({
    active: z.number(),
    max: z.number(),
    latestId: z.string().nullable().describe('The newest active subscription.'),
    deliveredAt: z.string().nullable().describe('The latest of its last deliveries, tests too, that a receiver took.'),
  }),
});
export type Setup = z.infer<typeof setupSchema>;
