import { eventType, staticSchema } from 'inngest';
import type { DueRetry, SubscriptionKey } from '../server/webhooks/deliveries';

/** "Look at this subscription": the rows say what is due. Sent with a fresh id each time, since ids dedupe for a day. */
export const subscriptionDue = eventType('webhook/subscription.due', { schema: staticSchema<SubscriptionKey>() });

/** A delivery that failed and will be tried again: one run sees it through. */
export const deliveryRetry = eventType('webhook/delivery.retry', { schema: staticSchema<DueRetry>() });

/** A process has started: what the one before left behind is not to wait for the next full minute. */
export const sweepRequested = eventType('webhook/sweep.requested', { schema: staticSchema<Record<string, never>>() });
