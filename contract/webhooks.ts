import { z } from 'zod';
import { EVENT_TYPE_NAMES } from './events';
import { idText, int32, text, wireInstant, wireText, word } from './fields';
import { unlessMissing } from './wording';

export const DELIVERY_STATUSES = [
  'Pending',
  'Delivered',
  'Failed',
  'MaxRetriesExceeded',
  'PermanentFailure',
  'PoisonAborted',
] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const NUMERIC_OPERATORS = ['gte', 'gt', 'lte', 'lt'] as const;
export const THRESHOLD_OPERATORS = [...NUMERIC_OPERATORS, 'eq', 'neq', 'in'] as const;
const isNumericOperator = (operator: string) => (NUMERIC_OPERATORS as readonly string[]).includes(operator);

const EXAMPLE_ID = 'whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f';
const EXAMPLE_URL = 'https://example.com/hooks/bots';

/** Longest URL of a subscription, in code points. */
export const MAX_URL_LENGTH = 2048;

const MAX_VALUES = 100;
const scalar = z.union([text(0, 256), z.number().meta({ format: 'double' }), z.boolean()], {
  error: unlessMissing('must be a string, a number or a boolean'),
});

/**
 * A list of scalars. The document does not say of what: generated clients read a list of a union wrongly, and one without types
 * as it is.
 */
const scalars = z.array(scalar).meta({ items: {} });

/** A decimal number as text: no exponent, no spaces, and no sign except a minus. */
const NUMERIC_TEXT = /^-?\d{1,30}(\.\d{1,30})?$/;

/** A condition on the payload (specification: Webhook subscription; Events: Subscription rules). */
export const thresholdSchema = z
  .object({
    field: text(1, 256)
      .describe('Dot-separated path into the payload, for example `metadata.otherUserCount`.')
      .meta({ minLength: 1, maxLength: 256, example: 'botScore' }),
    operator: word(THRESHOLD_OPERATORS),
    value: z
      .union(
        [
          scalar,
          scalars
            .min(1, 'must not be empty')
            .max(MAX_VALUES, `must have at most ${MAX_VALUES} items`)
            .meta({ items: {} }),
        ],
        {
          error: unlessMissing('must be a scalar or an array of scalars'),
        },
      )
      .describe(
        'A number or numeric string for gte, gt, lte and lt; a scalar for eq and neq; an array of scalars for in.',
      )
      .meta({ example: 0.9 }),
  })
  .check((context) => {
    const { operator, value } = context.value;
    const refuse = (message: string) => context.issues.push({ code: 'custom', input: value, path: ['value'], message });
    if (operator === 'in') {
      if (!Array.isArray(value)) refuse('must be an array for the operator in');
    } else if (isNumericOperator(operator)) {
      const isNumeric = typeof value === 'number' || (typeof value === 'string' && NUMERIC_TEXT.test(value));
      if (!isNumeric) refuse(`must be a number or a numeric string for the operator ${operator}`);
    } else if (Array.isArray(value)) {
      refuse(`must be a scalar for the operator ${operator}`);
    }
  })
  .meta({ id: 'ThresholdInput' });
export type Threshold = z.infer<typeof thresholdSchema>;

/** A webhook subscription, without its secret (specification: Webhook subscription). */
export const webhookSchema = z
  .object({
    id: wireText(EXAMPLE_ID),
    url: wireText(EXAMPLE_URL),
    eventType: z.enum(EVENT_TYPE_NAMES),
    threshold: z
      .object({
        field: wireText('botScore'),
        operator: z.enum(THRESHOLD_OPERATORS),
        value: z.union([scalar, scalars]).meta({ example: 0.9 }),
      })
      .meta({ id: 'Threshold' })
      .nullable()
      .describe('Events whose payload fails it are skipped; null for none.'),
    name: wireText('Bots to the review queue'),
    enabled: z.boolean().meta({ example: true }),
    createdAt: wireInstant(),
    lastDeliveryAt: wireInstant().nullable().describe('End of the latest attempt; null before the first.'),
    lastDeliveryStatus: z
      .enum(DELIVERY_STATUSES)
      .nullable()
      .describe('`Pending` while the latest delivery will be retried; null before the first attempt.')
      .meta({ example: 'Delivered' }),
    disabledReason: z
      .string()
      .nullable()
      .meta({ example: null })
      .describe('`auto:consecutive-failures` or `auto:plan-limit` when the service disabled it.'),
    disabledFailureClass: z
      .string()
      .nullable()
      .meta({ example: null })
      .describe(
        '`5xx`, `4xx`, `Timeout`, `RateLimited`, `BlockedSsrf`, `Network` or `HTTP{status}` of the delivery that disabled it.',
      ),
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof webhookSchema>;

const shownSecret = wireText('whsec_dGhpcyBpcyBhbiBleGFtcGxlIG9mIDMyIGJ5dGVzIQ==').describe(
  'The signing secret: shown in this answer and never again.',
);

export const webhookWithSecretSchema = webhookSchema.extend({ secret: shownSecret }).meta({ id: 'WebhookWithSecret' });

/** A new secret. The previous one is invalid from now on, or after the grace period (specification: rotate-secret). */
export const rotatedSecretSchema = z
  .object({ id: wireText(EXAMPLE_ID), secret: shownSecret, rotatedAt: wireInstant() })
  .meta({ id: 'RotatedSecret' });
export type RotatedSecret = z.infer<typeof rotatedSecretSchema>;

/** The result of a synthetic delivery (specification: Webhook test result). */
export const webhookTestSchema = z
  .object({
    deliveryId: wireText('dlv_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
    status: z.enum(DELIVERY_STATUSES).meta({ example: 'Delivered' }),
    responseCode: z
      .number()
      .describe('The receiver’s status; 0 when nothing answered.')
      .meta({ type: 'integer', example: 204 }),
    errorClass: z
      .string()
      .nullable()
      .describe('Why it failed, as in `disabledFailureClass`; null when it was delivered.')
      .meta({ example: null }),
    attempts: z
      .number()
      .describe('Attempts that were made: a test does not retry.')
      .meta({ type: 'integer', example: 1 }),
  })
  .meta({ id: 'WebhookTestResult' });
export type WebhookTestResult = z.infer<typeof webhookTestSchema>;

/** The body of a synthetic delivery. Unlike real payloads it is a wrapper (specification: Test delivery). */
export const testDeliverySchema = z.object({
  eventType: z.enum(EVENT_TYPE_NAMES).describe('The subscription’s own event type.'),
  integrationId: wireText('int_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
  timestamp: wireInstant(),
  data: z.object({
    test: z.literal(true),
    message: wireText('This is a test delivery'),
    subscriptionId: wireText(EXAMPLE_ID),
    deliveryId: wireText('dlv_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
  }),
});
export type TestDelivery = z.infer<typeof testDeliverySchema>;

/** All subscriptions in one page of the collection envelope; there are at most 100. */
export const webhookListSchema = z.object({
  data: z.array(webhookSchema),
  pagination: z.object({ hasMore: z.literal(false), limit: int32(100) }),
});

// The URL and the event type have their own error codes, so the domain checks them.
const writableFields = {
  url: wireText(EXAMPLE_URL)
    .describe('http or https, port 80 or 443, at most 2048 characters, no private address.')
    .meta({ maxLength: MAX_URL_LENGTH, example: EXAMPLE_URL }),
  eventType: wireText('BotDetected')
    .describe('One of the event types, in any case.')
    .meta({ enum: [...EVENT_TYPE_NAMES], example: 'BotDetected' }),
  name: text(1, 100).meta({ minLength: 1, maxLength: 100, example: 'Bots to the review queue' }),
  enabled: z.boolean().meta({ example: true }),
};

/** Makes a field optional. In a create request, null means absent. */
const orNull = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);

export const createWebhookInput = z.object({
  url: writableFields.url,
  eventType: writableFields.eventType,
  threshold: orNull(thresholdSchema),
  name: orNull(writableFields.name.describe('Default: the event type.')),
  enabled: orNull(writableFields.enabled.describe('Default: true.')),
});
export type CreateWebhookInput = z.infer<typeof createWebhookInput>;

export const webhookIdInput = z.object({ id: idText(EXAMPLE_ID).describe('The subscription’s id.') });

/** The longest time for which a rotated secret may still sign. */
const MAX_GRACE_SECONDS = 604_800;
const GRACE_FAULT = `must be a whole number from 0 to ${MAX_GRACE_SECONDS}`;
export const rotateSecretInput = webhookIdInput.extend({
  gracePeriodSeconds: z
    .int(GRACE_FAULT)
    .min(0, GRACE_FAULT)
    .max(MAX_GRACE_SECONDS, GRACE_FAULT)
    .default(0)
    .meta({ type: 'integer', format: 'int32', example: 3_600 })
    .describe('For so long, deliveries also carry the signature of the old secret, in `X-Webhook-Signature-Previous`.'),
});

export const updateWebhookInput = z.object({
  ...webhookIdInput.shape,
  url: writableFields.url.optional(),
  eventType: writableFields.eventType.optional(),
  threshold: thresholdSchema.nullish().describe('Null removes it.'),
  name: writableFields.name.optional(),
  enabled: writableFields.enabled.optional(),
});
export type UpdateWebhookInput = z.infer<typeof updateWebhookInput>;

// Further shapes for staff. No route of the public API shows them.

export const previewThresholdInput = z.object({
  eventType: word(EVENT_TYPE_NAMES),
  threshold: thresholdSchema.nullish(),
});
export type PreviewThresholdInput = z.infer<typeof previewThresholdInput>;

const payload = z.record(z.string(), z.unknown());

/** What a threshold would do. `sample` is a payload of the type; `events` are its newest events, at most 20. */
export const thresholdPreviewSchema = z.object({
  sample: payload,
  samplePasses: z.boolean(),
  events: z.array(
    z.object({
      createdAt: wireInstant(),
      payload,
      passes: z.boolean(),
      actual: z.unknown().optional().describe('What the threshold’s field holds; absent where there is none.'),
    }),
  ),
});
export type ThresholdPreview = z.infer<typeof thresholdPreviewSchema>;

/**
 * A subscription's health: its failures in a row, how many disable it, and its latest attempts, newest first, at most
 * 100.
 */
export const webhookHealthSchema = z.object({
  consecutiveFailures: z.number(),
  disabledAfter: z.number(),
  attempts: z.array(
    z.object({
      deliveryId: z.string(),
      test: z.boolean(),
      at: wireInstant(),
      durationMs: z.number(),
      outcome: z.enum(['Delivered', 'Failed']),
      failureClass: z.string().nullable(),
      responseStatus: z.number().nullable(),
    }),
  ),
});
export type WebhookHealth = z.infer<typeof webhookHealthSchema>;
