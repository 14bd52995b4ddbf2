import { Inngest } from 'inngest';
import type { Region } from '../server/contract/integrations';
import type { Logger } from '../server/platform/log';
import type { EngineMessages } from '../server/webhooks/publisher';
import { deliveryRetry, subscriptionDue, sweepRequested } from './events';

/**
 * Creates the Inngest client, one app for each region. With `embeddedFetch` all it sends goes to the embedded engine;
 * else the SDK reads INNGEST_* and talks to that server.
 */
export function createInngestClient(options: { region: Region; log: Logger; embeddedFetch?: typeof fetch }): Inngest {
  const { region, log, embeddedFetch } = options;
  return new Inngest({
    id: `bot-detection-${region}`,
    logger: log.child({ component: 'inngest' }),
    // A retry run checkpoints nothing that its rows do not remember.
    checkpointing: false,
    ...(embeddedFetch ? { isDev: true, fetch: embeddedFetch } : {}),
  });
}

/** What the delivery code tells the engine, as Inngest events. */
export function createEngineMessages(client: Inngest): EngineMessages {
  return {
    sendDue: async (subscriptions) =>
      void (await client.send(subscriptions.map((data) => subscriptionDue.create(data)))),
    sendSweep: async () => void (await client.send(sweepRequested.create({}))),
    sendRetries: async (retries) => void (await client.send(retries.map((data) => deliveryRetry.create(data)))),
  };
}
