import { z } from 'zod';
import { EVENT_TYPE_NAMES } from './events';
import {
  dateRange,
  freeObject,
  idText,
  int32,
  isReversed,
  type RangeBound,
  wireInstant,
  wireText,
  word,
} from './fields';
import { pageOf, pageQuery } from './pagination';
import { timeSort } from './sorting';
import { DELIVERY_STATUSES, webhookIdInput } from './webhooks';

// The delivery log, and what subscriptions skipped.

const range = dateRange('Events that fired');
const EXAMPLE_DELIVERY_ID = 'dlv_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f';

/** One delivery in the log; its attempts are in `attemptLog` of `deliveryDetailsSchema`. */
export const deliverySchema = z
  .object({
    id: wireText(EXAMPLE_DELIVERY_ID),
    subscriptionId: wireText('whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
    eventId: z
      .string()
      .nullable()
      .meta({ example: 'evt_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f' })
      .describe('Null for a test delivery.'),
    eventType: z.enum(EVENT_TYPE_NAMES),
    test: z.boolean().meta({ example: false }),
    status: z.enum(DELIVERY_STATUSES).meta({ example: 'MaxRetriesExceeded' }),
    failureClass: z
      .string()
      .nullable()
      .meta({ example: '5xx' })
      .describe('Of the latest attempt; null when it was delivered or never made.'),
    attempts: int32(6).describe('Attempts begun since the delivery was made or last sent again by hand.'),
    resends: int32(0).describe('How often it was sent again by hand.'),
    createdAt: wireInstant().describe('When its event fired.'),
    nextAttemptAt: wireInstant()
      .nullable()
      .describe('When the next attempt is due; null when there is none or one is under way.'),
    finishedAt: wireInstant().nullable(),
  })
  .meta({ id: 'WebhookDelivery' });
export type Delivery = z.infer<typeof deliverySchema>;

/** An attempt as customers see it. */
export const attemptSchema = z
  .object({
    resend: int32(0).describe('After how many resends by hand it was made.'),
    attempt: int32(1).describe('Counts from 1.'),
    startedAt: wireInstant(),
    durationMs: int32(84),
    httpStatus: int32(503).nullable(),
    failureClass: z.string().nullable().meta({ example: '5xx' }),
    address: z
      .string()
      .nullable()
      .meta({ example: '203.0.113.7' })
      .describe('The address that was contacted, or refused.'),
    retryAfter: z
      .string()
      .nullable()
      .meta({ example: null })
      .describe('What the receiver asked for; the schedule does not follow it.'),
    errorCode: z
      .string()
      .nullable()
      .meta({ example: 'HTTP_503' })
      .describe('What went wrong: the code of Node’s error, or one of ours. Null if it was delivered, or is older.'),
  })
  .meta({ id: 'WebhookAttempt' });

/** A delivery with the text that is signed and sent, and its attempts, oldest first. */
export const deliveryDetailsSchema = deliverySchema
  .extend({
    payload: z
      .string()
      .nullable()
      .meta({ example: '{"sessionId":"ses_5Hk2mQ","botScore":0.93}' })
      .describe(
        'The body, byte by byte: JSON as text; `{"erased":true}` if the event names a user who was erased. Null for a test delivery.',
      ),
    attemptLog: z.array(attemptSchema).describe('All attempts, oldest first.'),
  })
  .meta({ id: 'WebhookDeliveryDetails' });

export type DeliveryDetails = z.infer<typeof deliveryDetailsSchema>;

/** What a receiver answered, for staff alone, kept for seven days. Values that may be secrets are redacted. */
export const keptAnswerSchema = z.object({
  receivedAt: wireInstant(),
  headers: freeObject() as z.ZodType<Record<string, string>>,
  body: z.string().describe('The first 2 KiB, decoded for display.'),
  isCut: z.boolean().describe('Whether the body was longer.'),
});

const answeredAttemptSchema = z.object({
  ...attemptSchema.shape,
  answer: keptAnswerSchema.nullable().describe('Null if nothing answered, or it is not kept any more.'),
});
export type Attempt = z.infer<typeof answeredAttemptSchema>;

/**
 * The signed request of the latest attempt, built with the current address and secret, for staff alone. It differs from what was sent
 * only if one of them has changed since. Null before the first attempt, for a test delivery, and if the secret cannot
 * be decrypted.
 */
export const sentRequestSchema = z.object({
  method: z.literal('POST'),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
});
export type SentRequest = z.infer<typeof sentRequestSchema>;

/** A delivery with everything that staff see of it. */
export const inspectedDeliverySchema = z.object({
  ...deliveryDetailsSchema.shape,
  request: sentRequestSchema.nullable(),
  attemptLog: z.array(answeredAttemptSchema),
});
export type InspectedDelivery = z.infer<typeof inspectedDeliverySchema>;

export const deliveryIdInput = z.object({ id: idText(EXAMPLE_DELIVERY_ID) });

export const deliveryOfWebhookInput = z.object({
  ...webhookIdInput.shape,
  deliveryId: idText(EXAMPLE_DELIVERY_ID).describe('The delivery’s id.'),
});
export type DeliveryOfWebhook = z.infer<typeof deliveryOfWebhookInput>;

/** Refuses a range that ends before it starts. */
export const checkRange = ({
  value,
  issues,
}: z.core.ParsePayload<{ startDate?: RangeBound | undefined; endDate?: RangeBound | undefined }>) => {
  const { startDate, endDate } = value;
  if (!startDate || !endDate || !isReversed(startDate, endDate)) return;
  issues.push({ code: 'custom', input: value, path: ['endDate'], message: 'must not be before startDate' });
};

export const listDeliveriesInput = z
  .object({
    ...webhookIdInput.shape,
    status: word(DELIVERY_STATUSES).describe('Deliveries in this status, in any case.').optional(),
    ...range,
    sort: timeSort.describe('The order by the time of the event: `newest` or `oldest` first.'),
    ...pageQuery,
  })
  .check(checkRange);
export type ListDeliveriesInput = z.infer<typeof listDeliveriesInput>;
export const deliveryPageSchema = pageOf(deliverySchema);

/** The window of events whose failed deliveries are sent again: [startDate, endDate). Without endDate it ends now. */
export const recoverDeliveriesInput = z
  .object({
    ...webhookIdInput.shape,
    startDate: range.startDate.unwrap(),
    endDate: range.endDate,
    includeSkipped: z
      .boolean()
      .describe('Also send the events that were skipped only because the subscription was disabled, at most 1,000.')
      .meta({ example: true })
      .default(false),
  })
  .check(checkRange);
export type RecoverDeliveriesInput = z.infer<typeof recoverDeliveriesInput>;
export const recoveredSchema = z
  .object({
    recovered: int32(12).describe('Failed deliveries that are sent again, each under its own id.'),
    skippedSent: int32(0).describe('Skipped events that are sent, each as a new delivery.'),
    hasMore: z
      .boolean()
      .meta({ example: false })
      .describe('Whether skipped events may be left: send the same request again.'),
  })
  .meta({ id: 'RecoveredDeliveries' });
export type RecoveredDeliveries = z.infer<typeof recoveredSchema>;

export const SKIP_REASONS = ['threshold', 'disabled', 'plan'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

// Skipped events, for staff.

/** An event that was not sent to a subscription of its type, and why. */
export const skippedEventSchema = z.object({
  eventId: wireText('evt_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
  eventType: z.enum(EVENT_TYPE_NAMES),
  reason: z
    .enum(SKIP_REASONS)
    .describe(
      'When it fired: its payload failed the threshold; else the plan forbade the subscription; else it was disabled.',
    ),
  createdAt: wireInstant(),
  payload: z.string().describe('What would have been sent.'),
});
export type SkippedEvent = z.infer<typeof skippedEventSchema>;
export const listSkippedEventsInput = z.object({ ...webhookIdInput.shape, ...pageQuery });
export type ListSkippedEventsInput = z.infer<typeof listSkippedEventsInput>;
export const skippedEventPageSchema = pageOf(skippedEventSchema);

/** How many events were skipped only because the subscription was disabled. They can be sent. */
export const skippedCountSchema = z.object({
  count: int32(5),
  isMore: z.boolean().describe('Whether there may be more: only the newest skipped events are examined.'),
});
export type SkippedCount = z.infer<typeof skippedCountSchema>;
/** How many events were sent now, and what is left. */
export const sentSkippedSchema = z.object({ sent: int32(5), remaining: skippedCountSchema });
export type SentSkipped = z.infer<typeof sentSkippedSchema>;

/** The deliveries about a session, newest first, at most 100. */
export const sessionDeliveriesSchema = z.array(deliverySchema);
