import { z } from 'zod';
import { EVENTS } from '../contract/events';

const header = (name: string, description: string, example: string, isRequired = true) => ({
  name,
  in: 'header',
  required: isRequired,
  description,
  schema: { type: 'string' },
  example,
});

const deliveryHeaders = (eventType: string) => [
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
  header('X-Webhook-Test', '`true`, on synthetic test deliveries only.', 'true', false),
];

/** The `webhooks` section: one entry for each event type, from the table of events. */
export function describeWebhooks(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([eventType, { description, payload, sample }]) => [
      eventType,
      {
        post: {
          operationId: `on${eventType}`,
          tags: ['Webhooks'],
          summary: eventType,
          description: `${description} Answer any 2xx within 30 seconds; the body of the answer is ignored and redirects are not followed.`,
          security: [],
          parameters: deliveryHeaders(eventType),
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: toJsonSchema(payload), examples: { [eventType]: { value: sample } } },
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
      },
    ]),
  );
}

function toJsonSchema(schema: z.ZodType): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12' });
  // New optional fields may come (specification: Delivery payloads).
  return { ...rest, additionalProperties: true };
}
