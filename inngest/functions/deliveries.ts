import type { Inngest } from 'inngest';
import type { DueRetry } from '../../server/webhooks/deliveries';
import type { Dispatcher } from '../../server/webhooks/dispatcher';
import { deliveryRetry, subscriptionDue, sweepRequested } from '../events';

// Steps are retried by the engine only for faults of our own (the database is away): a receiver's failure is a value.
const STEP_RETRIES = 4;
/** Attempts that one subscription may have under way as retries: a hung receiver must not hold up the others. */
const RETRIES_AT_ONCE = 25;
const SWEEPS_PER_MINUTE = 6;

/** The functions that send deliveries. */
export function createDeliveryFunctions(client: Inngest, dispatcher: Dispatcher) {
  /** Sends a subscription's due first attempts. No steps: what was done stands in the rows. */
  const drainSubscription = client.createFunction(
    {
      id: 'drain-subscription',
      name: 'Send due deliveries of a subscription',
      triggers: [subscriptionDue],
      retries: STEP_RETRIES,
      concurrency: { limit: 1, key: 'event.data.subscriptionId' },
    },
    ({ event }) => dispatcher.drainSubscription(event.data),
  );

  /** Sees one failed delivery through its remaining attempts, sleeping between them. */
  const retryDelivery = client.createFunction(
    {
      id: 'retry-delivery',
      name: 'Retry a delivery',
      triggers: [deliveryRetry],
      retries: STEP_RETRIES,
      concurrency: { limit: RETRIES_AT_ONCE, key: 'event.data.subscriptionId' },
    },
    async ({ event, step }) => {
      let next: DueRetry | null = event.data;
      while (next) {
        const due: DueRetry = next;
        await step.sleepUntil(`wait-${due.attempt}`, due.dueAt);
        next = await step.run(`attempt-${due.attempt}`, () => dispatcher.retryDelivery(due));
      }
    },
  );

  /** Finds what fell through, every ten seconds of a minute: lost nudges, attempts whose process died. */
  const sweepDeliveries = client.createFunction(
    {
      id: 'sweep-deliveries',
      name: 'Find deliveries that fell through',
      triggers: [{ cron: '* * * * *' }, sweepRequested],
      retries: 0,
    },
    async ({ step }) => {
      for (let n = 1; n <= SWEEPS_PER_MINUTE; n++) {
        if (n > 1) await step.sleep(`pause-${n}`, '10s');
        await step.run(`sweep-${n}`, () => dispatcher.sweep());
      }
    },
  );

  return [drainSubscription, retryDelivery, sweepDeliveries];
}
