import { z } from 'zod';
import { EVENT_TYPE_NAMES } from './events';
import { identifier, int32, text, wireInstant, word } from './fields';

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

const MAX_VALUES = 100;
const scalar = z.union([text(0, 256), z.number(), z.boolean()], { error: 'must be a string, a number or a boolean' });

/** A decimal number in text: no exponent, no spaces, no sign but a minus. */
const NUMERIC_TEXT = /^-?\d{1,30}(\.\d{1,30})?$/;

/** A condition on the payload (specification: Webhook subscription; Events: Subscription rules). */
export const thresholdSchema = z
  .object({
    field: text(1, 256).describe('Dot-separated path into the payload, for example `metadata.otherUserCount`.'),
    operator: word(THRESHOLD_OPERATORS),
    value: z
      .union(
        [scalar, z.array(scalar).min(1, 'must not be empty').max(MAX_VALUES, `must have at most ${MAX_VALUES} items`)],
        {
          error: 'must be a scalar or an array of scalars',
        },
      )
      .describe(
        'A number or numeric string for gte, gt, lte and lt; a scalar for eq and neq; an array of scalars for in.',
      ),
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
  });
export type Threshold = z.infer<typeof thresholdSchema>;

/** A webhook subscription, without its secret (specification: Webhook subscription). */
export const webhookSchema = z
  .object({
    id: z.string(),
    url: z.string(),
    eventType: z.enum(EVENT_TYPE_NAMES),
    threshold: z
      .object({ field: z.string(), operator: z.enum(THRESHOLD_OPERATORS), value: z.union([scalar, z.array(scalar)]) })
      .nullable()
      .describe('Events whose payload fails it are skipped; null for none.'),
    name: z.string(),
    enabled: z.boolean(),
    createdAt: wireInstant(),
    lastDeliveryAt: wireInstant().nullable().describe('End of the latest attempt; null before the first.'),
    lastDeliveryStatus: z
      .enum(DELIVERY_STATUSES)
      .nullable()
      .describe('`Pending` while the latest delivery will be retried; null before the first attempt.'),
    disabledReason: z
      .string()
      .nullable()
      .describe('`auto:consecutive-failures` or `auto:plan-limit` when the service disabled it.'),
    disabledFailureClass: z
      .string()
      .nullable()
      .describe(
        '`5xx`, `4xx`, `Timeout`, `RateLimited`, `BlockedSsrf`, `Network` or `HTTP{status}` of the delivery that disabled it.',
      ),
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof webhookSchema>;

export const webhookWithSecretSchema = webhookSchema
  .extend({ secret: z.string().describe('The signing secret: shown in this answer and never again.') })
  .meta({ id: 'WebhookWithSecret' });

/** All subscriptions at once, in the collection envelope: there are at most 100. */
export const webhookListSchema = z.object({
  data: z.array(webhookSchema),
  pagination: z.object({ hasMore: z.literal(false), limit: int32() }),
});

// The URL and the event type have error codes of their own, so their rules are judged by the domain.
const writableFields = {
  url: z.string().describe('http or https, port 80 or 443, at most 2048 characters, no private address.'),
  eventType: z.string().meta({ description: 'One of the seven event types, in any case.', examples: ['BotDetected'] }),
  name: text(1, 100).describe('Default: the event type.'),
  enabled: z.boolean().describe('Default: true.'),
};

/** In a create, null means absent. */
const orNull = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);

export const createWebhookInput = z.object({
  url: writableFields.url,
  eventType: writableFields.eventType,
  threshold: orNull(thresholdSchema),
  name: orNull(writableFields.name),
  enabled: orNull(writableFields.enabled),
});
export type CreateWebhookInput = z.infer<typeof createWebhookInput>;

export const webhookIdInput = z.object({ id: identifier().describe('The subscription’s id.') });

export const updateWebhookInput = z.object({
  ...webhookIdInput.shape,
  url: writableFields.url.optional(),
  eventType: writableFields.eventType.optional(),
  threshold: thresholdSchema.nullish().describe('Null removes it.'),
  name: writableFields.name.optional(),
  enabled: writableFields.enabled.optional(),
});
export type UpdateWebhookInput = z.infer<typeof updateWebhookInput>;
