import { eventType, staticSchema } from 'inngest';

/** Names a subscription to webhooks. */
export type SubscriptionDue = {
  integrationId: string;
  subscriptionId: string;
};

/** When a subscription's next retry is due. */
export type RetryScheduled = SubscriptionDue & { dueAt: string };

/** "Look at this subscription": the rows say what is due. Sent with a fresh id each time, since ids dedupe for a day. */
export const subscriptionDue = eventType('webhook/subscription.due', { schema: staticSchema<SubscriptionDue>() });

/** Deliveries of a subscription have failed and are due again at `dueAt`. */
export const retryScheduled = eventType('webhook/retry.scheduled', { schema: staticSchema<RetryScheduled>() });

/** A process has started: what the one before left behind is not to wait for the next full minute. */
export const sweepRequested = eventType('webhook/sweep.requested', { schema: staticSchema<Record<string, never>>() });
