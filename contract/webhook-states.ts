import { z } from 'zod';
import { int32, wireInstant, wireText } from './fields';

// How subscriptions are doing, for staff. No route of the public API shows it.

/** Every subscription is in exactly one state, derived from what is stored (`server/webhooks/webhook-states.ts`). */
export const WEBHOOK_STATES = [
  'Healthy',
  'Failing',
  'DisabledByFailures',
  'DisabledByHand',
  'DisabledByPlan',
  'NoDeliveries',
] as const;
export type WebhookStateName = (typeof WEBHOOK_STATES)[number];

/** The states of which the operator gets a notice, once for each change. */
export const TOLD_STATES = ['failing', 'disabled', 'recovered'] as const;
export type ToldState = (typeof TOLD_STATES)[number];
/** `enabled`: a person enabled it after a notice of trouble. So the operator gets a notice of the next trouble too, also if it is the same. */
export type NotedState = ToldState | 'enabled';

export const webhookStateSchema = z.object({
  id: wireText('whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
  name: wireText('Bots to the review queue'),
  state: z.enum(WEBHOOK_STATES),
  since: wireInstant()
    .nullable()
    .describe(
      'Failing: the first failed attempt after the last delivered one. Disabled by failures: the end of the attempt that disabled it. Else null.',
    ),
  isSinceExact: z.boolean().describe('False if it is failing for longer than `since` says.'),
  consecutiveFailures: int32(0).describe('Deliveries that ended without success in a row.'),
  disabledAfter: int32(3).describe('How many of them disable it.'),
  fault: z
    .object({ errorCode: z.string().nullable(), failureClass: z.string().nullable() })
    .nullable()
    .describe('What went wrong in the latest failed attempt, if it is failing or was disabled by failures.'),
});
export type WebhookState = z.infer<typeof webhookStateSchema>;

/** How many subscriptions need somebody. */
export const troubledWebhooksSchema = z.object({ failing: int32(0), disabled: int32(1) });
export type TroubledWebhooks = z.infer<typeof troubledWebhooksSchema>;
