import { z } from 'zod';
import { int32, isReversed, rangeBound, wireInstant, wireText } from './fields';
import { tierSchema } from './tiers';

export const usageInput = z
  .object({
    startDate: rangeBound(
      'day',
      'The first of the whole UTC days that count is that of it: ISO 8601 date (UTC), or date-time with offset.',
    ),
    endDate: rangeBound(
      'end',
      'The last of the whole UTC days that count is that of it: ISO 8601 date (UTC), or date-time with offset; at midnight, the day before.',
    ),
  })
  .check((context) => {
    const { startDate, endDate } = context.value;
    if (!startDate || !endDate || !isReversed(startDate, endDate)) return;
    const message = 'must not be before startDate';
    context.issues.push({ code: 'custom', input: context.value, path: ['endDate'], message });
  });
export type UsageInput = z.infer<typeof usageInput>;

/** The caller's own consumption (specification: GET /v1/usage). */
export const usageSchema = z
  .object({
    startDate: wireInstant('2026-01-01T00:00:00.000Z').describe('Start of the first UTC day that counts.'),
    endDate: wireInstant('2026-01-31T09:30:00.000Z'),
    totalRequests: int32(8200).describe('Requests with a valid key, those over the rate limit included.'),
    successfulRequests: int32(8000),
    clientErrors: int32(198).describe('Answers 400 to 499, those over the rate limit included.'),
    serverErrors: int32(2),
    rateLimitedRequests: int32(12),
    byEndpoint: z
      .array(
        z.object({
          method: wireText('GET'),
          path: wireText('/v1/sessions/{sessionId}').describe('As documented; `(unmatched)` for unknown routes.'),
          requests: int32(5200),
          errors: int32(31),
        }),
      )
      .describe('The most used first.'),
    timeSeries: z
      .array(
        z.object({
          timestamp: wireInstant('2026-01-01T00:00:00.000Z').describe('Start of the UTC day.'),
          requests: int32(270),
          errors: int32(3),
          rateLimited: int32(0),
        }),
      )
      .describe('Every day of the range, also those without requests.'),
    webhookDeliveries: z
      .object({ delivered: int32(640), failed: int32(3) })
      .describe('Deliveries that ended in the range, tests aside.'),
    limits: z.object({
      tier: tierSchema.meta({ example: 'pro' }),
      requestsPerMinute: int32(600).describe('Of a key that is sent as `Authorization: Bearer`.'),
    }),
  })
  .meta({ id: 'Usage' });
export type Usage = z.infer<typeof usageSchema>;
