import { eventType, staticSchema } from 'inngest';

/** Identifies a webhook subscription. */
export type SubscriptionDue = {
  integrationId: string;
  subscriptionId: string;
};

/** A subscription, and when its next retry is due. */
export type RetryScheduled = SubscriptionDue & { dueAt: string };

/**
 * Wakes the drain of a subscription. The rows say which deliveries are due. Each event gets a new id, because events with the same
 * id are dropped for a day.
 */
export const subscriptionDue = eventType('webhook/subscription.due', { schema: staticSchema<SubscriptionDue>() });

/** Deliveries of a subscription have failed and are due again at `dueAt`. */
export const retryScheduled = eventType('webhook/retry.scheduled', { schema: staticSchema<RetryScheduled>() });

/** Identifies a report to render. */
export type ReportRequested = { integrationId: string; reportId: string };

/** A report waits to be rendered. Its row says what is to be done. */
export const reportRequested = eventType('report/requested', { schema: staticSchema<ReportRequested>() });

/** Identifies the erasure of a user. */
export type ErasureRequested = { integrationId: string; erasureId: string };

/** A user is to be erased. The row names the user, and says how far the erasure is. */
export const erasureRequested = eventType('user/erasure.requested', { schema: staticSchema<ErasureRequested>() });

/**
 * A process has started, or the database is back. Deliveries that the previous process left behind, and those whose wake-ups
 * were lost, must not wait for the next full minute.
 */
export const sweepRequested = eventType('webhook/sweep.requested', { schema: staticSchema<Record<string, never>>() });
