import { z } from 'zod';
import { checkRange, SKIP_REASONS } from './deliveries';
import { EVENT_TYPE_NAMES } from './events';
import { dateRange, idText, wireInstant, wireText, word } from './fields';
import { pageOf, pageQuery } from './pagination';
import { timeSort } from './sorting';
import { DELIVERY_STATUSES } from './webhooks';

// The record of webhook events: what fired, and what became of it.

const EXAMPLE_EVENT_ID = 'evt_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f';

export const EVENT_OUTCOMES = ['delivered', 'pending', 'failed', 'skipped'] as const;
export type EventOutcomeName = (typeof EVENT_OUTCOMES)[number];

/** What became of an event for one subscription of its type. */
export const eventOutcomeSchema = z
  .object({
    subscriptionId: wireText('whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
    outcome: z.enum(EVENT_OUTCOMES).meta({ example: 'delivered' }),
    reason: z
      .enum(SKIP_REASONS)
      .nullable()
      .meta({ example: null })
      .describe(
        'Why it was skipped when it fired: its payload failed the `threshold`; else the `plan` forbade the subscription; else it was `disabled`. Null unless it was skipped.',
      ),
    deliveryId: z
      .string()
      .nullable()
      .meta({ example: 'dlv_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f' })
      .describe('Null if it was skipped, and when the delivery log no longer shows the delivery.'),
    status: z
      .enum(DELIVERY_STATUSES)
      .nullable()
      .meta({ example: 'Delivered' })
      .describe('Of the delivery; null if it was skipped.'),
  })
  .meta({ id: 'WebhookEventOutcome' });
export type EventOutcome = z.infer<typeof eventOutcomeSchema>;

export const webhookEventSchema = z
  .object({
    id: wireText(EXAMPLE_EVENT_ID),
    eventType: z.enum(EVENT_TYPE_NAMES),
    createdAt: wireInstant().describe('When it fired.'),
    payload: wireText('{"sessionId":"ses_5Hk2mQ","botScore":0.93}').describe(
      'The body of its deliveries, byte by byte: JSON as text; `{"erased":true}` if it names a user who was erased.',
    ),
    outcomes: z
      .array(eventOutcomeSchema)
      .describe('One for each subscription of its type that existed when it fired, by subscription id.'),
  })
  .meta({ id: 'WebhookEvent' });
export type WebhookEvent = z.infer<typeof webhookEventSchema>;

export const webhookEventIdInput = z.object({ eventId: idText(EXAMPLE_EVENT_ID).describe('The event’s id.') });

export const listWebhookEventsInput = z
  .object({
    eventType: word(EVENT_TYPE_NAMES).describe('Events of this type, in any case.').optional(),
    sessionId: idText().describe('Events whose payload names this session.').optional(),
    userId: idText().describe('Events whose payload names this user.').optional(),
    ...dateRange('Events that fired'),
    sort: timeSort.describe(
      'The order: `newest` or `oldest` first. With `oldest` each event comes once and none is left out, and the last page has a `nextCursor` too, with which the walk goes on later.',
    ),
    ...pageQuery,
  })
  .check(checkRange);
export type ListWebhookEventsInput = z.infer<typeof listWebhookEventsInput>;

export const webhookEventPageSchema = pageOf(webhookEventSchema);
