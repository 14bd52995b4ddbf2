import { z } from 'zod';
import { idText, int32, wireInstant, wireText } from './fields';

/** How long facts about an erased user are refused. */
export const REFUSAL_DAYS = 90;
/** How long a receipt is kept. */
export const RECEIPT_DAYS = 400;

/** The receipt of an erasure. It does not say of whom. */
export const userErasureSchema = z
  .object({
    id: wireText('era_019d3c5f2e10a1b2c3d4e5f60718293a'),
    status: z.enum(['Running', 'Completed']),
    requestedAt: wireInstant(),
    completedAt: wireInstant().nullable(),
    refusedUntil: wireInstant('2026-06-01T08:00:00.000Z').describe('Until then, facts about the user are refused.'),
    sessionCount: int32(18).describe('Sessions that no longer name the user. They stay counted.'),
    traceCount: int32(12).describe('Recordings of sessions that were removed.'),
    eventCount: int32(3).describe('Webhook events whose payload was replaced.'),
    deliveryCount: int32(1).describe('Deliveries of them that were pending and were ended.'),
    reportCount: int32(1).describe('Reports that were removed.'),
    textCount: int32(4).describe('Other rows in which something was replaced.'),
  })
  .meta({ id: 'UserErasure' });
export type UserErasure = z.infer<typeof userErasureSchema>;

export const userErasureInput = z.object({
  receiptId: idText('era_019d3c5f2e10a1b2c3d4e5f60718293a').describe('The receipt’s id.'),
});
