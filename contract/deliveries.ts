import { z } from 'zod';
import { EVENT_TYPE_NAMES } from './events';
import { dateRange, idText, int32, wireInstant, wireText, word } from './fields';
import { pageOf, pageQuery } from './pagination';
import { timeSort } from './sorting';
import { DELIVERY_STATUSES, webhookIdInput } from './webhooks';

// Delivery data for staff. No route of the public API shows it.

const range = dateRange('Events that fired');
const EXAMPLE_DELIVERY_ID = 'dlv_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f';

/** One delivery in the log; times of its last attempts are in `attemptLog` of `deliveryDetailsSchema`. */
export const deliverySchema = z.object({
  id: wireText(EXAMPLE_DELIVERY_ID),
  subscriptionId: wireText('whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
  eventId: z.string().nullable().describe('Null for a test delivery.'),
  eventType: z.enum(EVENT_TYPE_NAMES),
  test: z.boolean(),
  status: z.enum(DELIVERY_STATUSES),
  failureClass: z.string().nullable().describe('Of the latest attempt; null when it was delivered or never made.'),
  attempts: int32(1).describe('Attempts begun since the delivery was made or last sent again by hand.'),
  resends: int32(0).describe('How often it was sent again by hand.'),
  createdAt: wireInstant(),
  nextAttemptAt: wireInstant()
    .nullable()
    .describe('When the next attempt is due; null when there is none or one is under way.'),
  finishedAt: wireInstant().nullable(),
});
export type Delivery = z.infer<typeof deliverySchema>;

/** What a receiver answered, kept for seven days. Values that may be secrets are redacted. */
export const keptAnswerSchema = z.object({
  receivedAt: wireInstant(),
  headers: z.record(z.string(), z.string()),
  body: z.string().describe('The first 2 KiB, decoded for display.'),
  isCut: z.boolean().describe('Whether the body was longer.'),
});

export const attemptSchema = z.object({
  resend: int32(0).describe('After how many resends by hand it was made.'),
  attempt: int32(1).describe('Counts from 1.'),
  startedAt: wireInstant(),
  durationMs: int32(84),
  httpStatus: int32(503).nullable(),
  failureClass: z.string().nullable(),
  address: z.string().nullable().describe('The address that was contacted, or refused.'),
  retryAfter: z.string().nullable().describe('What the receiver asked for; the schedule does not follow it.'),
  errorCode: z
    .string()
    .nullable()
    .describe('What went wrong: the code of Node’s error, or one of ours. Null if it was delivered, or is older.'),
  answer: keptAnswerSchema.nullable().describe('Null if nothing answered, or it is not kept any more.'),
});
export type Attempt = z.infer<typeof attemptSchema>;

/**
 * The signed request of the latest attempt, built with the current address and secret. It differs from what was sent
 * only if one of them has changed since. Null before the first attempt, for a test delivery, and if the secret cannot
 * be decrypted.
 */
export const sentRequestSchema = z.object({
  method: z.literal('POST'),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
});
export type SentRequest = z.infer<typeof sentRequestSchema>;

/** A delivery with the text that is signed and sent, and its attempts, oldest first. */
export const deliveryDetailsSchema = deliverySchema.extend({
  payload: z.string().nullable().describe('Null for a test delivery.'),
  request: sentRequestSchema.nullable(),
  attemptLog: z.array(attemptSchema),
});
export type DeliveryDetails = z.infer<typeof deliveryDetailsSchema>;

export const deliveryIdInput = z.object({ id: idText(EXAMPLE_DELIVERY_ID) });

export const listDeliveriesInput = z.object({
  ...webhookIdInput.shape,
  status: word(DELIVERY_STATUSES).optional(),
  ...range,
  sort: timeSort,
  ...pageQuery,
});
export type ListDeliveriesInput = z.infer<typeof listDeliveriesInput>;
export const deliveryPageSchema = pageOf(deliverySchema);

/** The window of events whose failed deliveries are sent again: [startDate, endDate). Without endDate it ends now. */
export const recoverDeliveriesInput = z.object({
  ...webhookIdInput.shape,
  startDate: range.startDate.unwrap(),
  endDate: range.endDate,
});
export type RecoverDeliveriesInput = z.infer<typeof recoverDeliveriesInput>;
export const recoveredSchema = z.object({ recovered: int32(12) });

export const SKIP_REASONS = ['threshold', 'disabled', 'plan'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** An event that was not sent to a subscription of its type, and why. */
export const skippedEventSchema = z.object({
  eventId: wireText('evt_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
  eventType: z.enum(EVENT_TYPE_NAMES),
  reason: z
    .enum(SKIP_REASONS)
    .describe(
      'When it fired: its payload failed the threshold; else the subscription was disabled; or the plan had disabled it.',
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
