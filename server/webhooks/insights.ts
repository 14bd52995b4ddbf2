import { and, desc, eq, isNull } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import { EVENTS } from '../../contract/events';
import type { PreviewThresholdInput, ThresholdPreview, WebhookHealth } from '../../contract/webhooks';
import { domainEvents, webhookAttempts, webhookDeliveries, webhookSubscriptions } from '../../db/schema';
import type { DomainContext } from '../domain/context';
import { MAX_CONSECUTIVE_FAILURES } from './subscription-health';
import { passesThreshold, readPath } from './thresholds';

// Information that staff need before they change a subscription.

const MAX_EVENTS = 20;
const MAX_ATTEMPTS = 100;

/** Shows which of the newest events of a type pass a threshold. Without a threshold, all pass. */
export async function previewThreshold(
  { db, integration }: DomainContext,
  { eventType, threshold }: PreviewThresholdInput,
): Promise<ThresholdPreview> {
  const passes = (payload: Record<string, unknown>) => !threshold || passesThreshold(payload, threshold);
  const rows = await db.orm
    .select({ createdAt: domainEvents.createdAt, payload: domainEvents.payload })
    .from(domainEvents)
    .where(and(eq(domainEvents.integrationId, integration.id), eq(domainEvents.type, eventType)))
    .orderBy(desc(domainEvents.createdAt), desc(domainEvents.id))
    .limit(MAX_EVENTS);
  const events = rows.map((row) => {
    const payload = JSON.parse(row.payload) as Record<string, unknown>;
    const actual = threshold ? readPath(payload, threshold.field) : undefined;
    return { createdAt: row.createdAt, payload, passes: passes(payload), actual };
  });
  const { sample } = EVENTS[eventType];
  return { sample, samplePasses: passes(sample), events };
}

/** Reads the consecutive failures and latest attempts of a subscription. NOT_FOUND for an unknown or deleted one. */
export async function getWebhookHealth(
  { db, integration }: DomainContext,
  { id }: { id: string },
): Promise<WebhookHealth> {
  const [[subscription], attempts] = await Promise.all([
    db.orm
      .select({ consecutiveFailures: webhookSubscriptions.consecutiveFailures })
      .from(webhookSubscriptions)
      .where(
        and(
          eq(webhookSubscriptions.integrationId, integration.id),
          eq(webhookSubscriptions.id, id),
          isNull(webhookSubscriptions.deletedAt),
        ),
      ),
    db.orm
      .select({ attempt: webhookAttempts, test: webhookDeliveries.isTest })
      .from(webhookAttempts)
      .innerJoin(
        webhookDeliveries,
        and(
          eq(webhookDeliveries.integrationId, webhookAttempts.integrationId),
          eq(webhookDeliveries.id, webhookAttempts.deliveryId),
        ),
      )
      .where(and(eq(webhookAttempts.integrationId, integration.id), eq(webhookAttempts.subscriptionId, id)))
      .orderBy(desc(webhookAttempts.startedAt))
      .limit(MAX_ATTEMPTS),
  ]);
  if (!subscription) throw new ApiError('NOT_FOUND', 'Webhook not found');
  return {
    ...subscription,
    disabledAfter: MAX_CONSECUTIVE_FAILURES,
    attempts: attempts.map(({ attempt, test }) => ({
      deliveryId: attempt.deliveryId,
      test,
      at: attempt.startedAt,
      durationMs: attempt.durationMs,
      outcome: attempt.failureClass === null ? 'Delivered' : 'Failed',
      failureClass: attempt.failureClass,
      responseStatus: attempt.httpStatus,
    })),
  };
}
