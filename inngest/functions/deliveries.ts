import type { Inngest } from 'inngest';
import { retryScheduled, type SubscriptionDue, subscriptionDue, sweepRequested } from '../events';

/** What the functions of deliveries call. */
export interface DeliveryJobs {
  /** Sends what is due to a subscription. */
  drainSubscription: (subscription: SubscriptionDue) => Promise<void>;
  /** Has a subscription looked at, now that a retry is due. */
  wakeSubscription: (subscription: SubscriptionDue) => Promise<void>;
  /** Finds deliveries that fell through and has them sent. */
  sweep: () => Promise<void>;
}

// The engine retries only faults of our own (the database is away): a receiver's failure is a value.
const RETRIES = 4;
const SWEEPS_PER_MINUTE = 6;

/** The functions that send deliveries. */
export function createDeliveryFunctions(client: Inngest, jobs: DeliveryJobs) {
  /** Sends what is due to a subscription. No steps: what was done stands in the rows. */
  const drainSubscription = client.createFunction(
    {
      id: 'drain-subscription',
      name: 'Send due deliveries of a subscription',
      triggers: [subscriptionDue],
      retries: RETRIES,
      concurrency: { limit: 1, key: 'event.data.subscriptionId' },
    },
    ({ event }) => jobs.drainSubscription(event.data),
  );

  /**
   * Sleeps until retries are due and has them sent by the drain: an attempt that hangs then holds no run, and first
   * attempts and retries of a subscription share one window.
   */
  const awaitRetries = client.createFunction(
    { id: 'await-retries', name: 'Wait until retries are due', triggers: [retryScheduled], retries: RETRIES },
    async ({ event, step }) => {
      const { dueAt, ...subscription } = event.data;
      await step.sleepUntil('due', dueAt);
      await jobs.wakeSubscription(subscription);
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
        await step.run(`sweep-${n}`, () => jobs.sweep());
      }
    },
  );

  return [drainSubscription, awaitRetries, sweepDeliveries];
}
