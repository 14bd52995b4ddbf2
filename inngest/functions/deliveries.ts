import type { Inngest } from 'inngest';
import { retryScheduled, type SubscriptionDue, subscriptionDue, sweepRequested } from '../events';

/** What the delivery functions call. */
export interface DeliveryJobs {
  /** Sends the due deliveries of a subscription. */
  drainSubscription: (subscription: SubscriptionDue) => Promise<void>;
  /** Wakes the drain of a subscription, because a retry is due. */
  wakeSubscription: (subscription: SubscriptionDue) => Promise<void>;
  /** Finds lost deliveries and wakes their drains. */
  sweep: () => Promise<void>;
  /** Sends the operator notices about subscriptions. Null if the settings name no operator. */
  tellOperator: (() => Promise<void>) | null;
}

// The engine retries only our own faults, for example if the database is away. A receiver's failure is a value, not an error.
const RETRIES = 4;
const SWEEPS_PER_MINUTE = 6;

/** The functions that send deliveries. */
export function createDeliveryFunctions(client: Inngest, jobs: DeliveryJobs) {
  /** Sends the due deliveries of a subscription. It needs no steps, because the rows record what was done. */
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
   * Sleeps until retries are due, then wakes the drain, which sends them. So a hanging attempt does not hold this run, and
   * first attempts and retries of a subscription share one window.
   */
  const awaitRetries = client.createFunction(
    { id: 'await-retries', name: 'Wait until retries are due', triggers: [retryScheduled], retries: RETRIES },
    async ({ event, step }) => {
      const { dueAt, ...subscription } = event.data;
      await step.sleepUntil('due', dueAt);
      await jobs.wakeSubscription(subscription);
    },
  );

  /** Creates a function that does a job every ten seconds. `verb` names its steps. */
  const createSweep = (id: string, name: string, verb: string, job: () => Promise<unknown>) =>
    client.createFunction(
      { id, name, triggers: [{ cron: '* * * * *' }, sweepRequested], retries: 0 },
      async ({ step }) => {
        for (let n = 1; n <= SWEEPS_PER_MINUTE; n++) {
          if (n > 1) await step.sleep(`pause-${n}`, '10s');
          await step.run(`${verb}-${n}`, job);
        }
      },
    );

  /** Looks for lost wake-ups and for attempts whose process died. */
  const sweepDeliveries = createSweep('sweep-deliveries', 'Find lost deliveries', 'sweep', () => jobs.sweep());
  const functions = [drainSubscription, awaitRetries, sweepDeliveries];
  const { tellOperator } = jobs;
  if (tellOperator === null) return functions;
  return [...functions, createSweep('tell-operator', 'Tell the operator how webhooks do', 'tell', tellOperator)];
}
