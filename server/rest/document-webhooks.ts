import { z } from 'zod';
import { EVENTS } from '../../contract/events';
import { testDeliverySchema } from '../../contract/webhooks';
import { buildExample } from './document-examples';
import type { JsonSchema, SchemaNames } from './document-schemas';

const header = (name: string, description: string, example: string, isRequired = true) => ({
  name,
  in: 'header',
  required: isRequired,
  description,
  schema: { type: 'string' },
  example,
});

const deliveryHeaders = (eventType: string, isTest: boolean) => [
  header('X-Webhook-Event', 'The event type.', eventType),
  header('X-Webhook-Id', 'The subscription’s id.', 'whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
  header(
    'X-Webhook-Delivery-Id',
    'The delivery’s id, the same on every attempt: dedupe on it.',
    'dlv_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f',
  ),
  header(
    'X-Webhook-Timestamp',
    'Unix seconds, fresh on each attempt; reject what is over 300 seconds off.',
    '1769852050',
  ),
  header(
    'X-Webhook-Signature',
    '`sha256=` and the lowercase hex of HMAC-SHA256, keyed with the subscription’s secret, over `<timestamp>.<raw body>`.',
    'sha256=43ee1dcbc0943b127c2304396a39c9c48dfb8437ef9d01bcb40f177aeed7a2ce',
  ),
  header(
    'X-Webhook-Signature-Previous',
    'The same with the secret before, only in the grace period of a rotation.',
    'sha256=5d5dcbc0943b127c2304396a39c9c48dfb8437ef9d01bcb40f177aeed7a2ce43',
    false,
  ),
  header(
    'webhook-id',
    'The delivery’s id again, as Standard Webhooks names it.',
    'dlv_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f',
  ),
  header('webhook-timestamp', 'The timestamp again, as Standard Webhooks names it.', '1769852050'),
  header(
    'webhook-signature',
    'The signature of Standard Webhooks: `v1,` and base64. In the grace period of a rotation a second one follows after a space.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
  header('X-Webhook-Test', '`true`, on synthetic test deliveries only.', 'true', isTest),
];

interface Delivery {
  eventType: string;
  description: string;
  payload: z.ZodType;
  sample: unknown;
  isTest?: boolean;
}

const describeDelivery = (
  name: string,
  { eventType, description, payload, sample, isTest = false }: Delivery,
  names: SchemaNames,
) => ({
  post: {
    operationId: `on${name}`,
    tags: ['Events'],
    summary: name,
    description: `${description} Answer any 2xx within 30 seconds; the body of the answer is ignored and redirects are not followed.`,
    security: [],
    parameters: deliveryHeaders(eventType, isTest),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: names.add(`${name}Payload`, toJsonSchema(payload)),
          examples: { [name]: { value: sample } },
        },
      },
    },
    responses: {
      '2XX': { description: 'Delivered.' },
      '4XX': { description: 'Permanent failure, not retried; 408 and 429 are.' },
      '5XX': {
        description: 'Retried, six attempts in all: at once, then after 1 min, 5 min, 30 min, 2 h and 8 h.',
      },
    },
  },
});

/** The `webhooks` section: one entry for each event type, from the table of events, and one for test deliveries. */
export function describeWebhooks(names: SchemaNames): Record<string, unknown> {
  const events = Object.entries(EVENTS).map(([eventType, event]) => [
    eventType,
    describeDelivery(eventType, { eventType, ...event }, names),
  ]);
  const test: Delivery = {
    eventType: 'BotDetected',
    description:
      'A synthetic delivery that `POST /v1/webhooks/{id}/test` sends, under the subscription’s own event type and with `X-Webhook-Test: true`. It is not retried.',
    payload: testDeliverySchema,
    sample: buildExample(toJsonSchema(testDeliverySchema), {}),
    isTest: true,
  };
  return { ...Object.fromEntries(events), TestDelivery: describeDelivery('TestDelivery', test, names) };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12' });
  return rest as JsonSchema;
}
