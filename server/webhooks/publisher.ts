import type { Database } from '../../db/client';
import { createBatcher } from '../platform/batcher';
import type { Logger } from '../platform/log';
import { type SubscriptionKey, writeSubscriptionKey } from './deliveries';

/** How many deliveries share the messages that wake their drains later. */
const MAX_WAKE_UPS = 500;

/** A subscription, and when its next attempt is due. */
export type WakeUp = SubscriptionKey & { dueAt: string };

/** Messages that wake functions of the engine. The rows say which deliveries are due. */
export interface EngineMessages {
  sendDue: (subscriptions: SubscriptionKey[]) => Promise<void>;
  /** Wakes the subscriptions when their next attempts are due. */
  sendWakeUps: (wakeUps: WakeUp[]) => Promise<void>;
  /** Starts the sweeper now, for one minute. */
  sendSweep: () => Promise<void>;
}

export interface Publisher {
  /**
   * Wakes the drains of subscriptions that have something due. Call it after the commit: a drain that looks before the rows
   * are visible would clear the nudge and miss them. Never throws; the sweeper finds what could not be sent.
   */
  publish(subscriptions: Iterable<SubscriptionKey>): void;
  /** Wakes a drain when an attempt is due that is not due yet. Never throws; the sweeper finds what could not be sent. */
  publishLater(wakeUp: WakeUp): void;
  /** Wakes the drains of what a sweep found overdue, even if they were woken before. */
  republish(subscriptions: SubscriptionKey[]): Promise<void>;
  /** Resolves when the wake-ups for everything published so far are sent. */
  flush(): Promise<void>;
}

/**
 * Creates the process's publisher. `wakeDrain` wakes a drain of this process and returns whether there is one. If there is
 * none, the publisher sends an engine event: for a subscription that no drain has read since, at most one in 30 seconds.
 */
export function createPublisher(dependencies: {
  db: Database;
  log: Logger;
  messages: EngineMessages;
  wakeDrain(subscription: SubscriptionKey): boolean;
}): Publisher {
  const { db, log, messages, wakeDrain } = dependencies;
  const toNudge = new Map<string, SubscriptionKey>();
  let nudging: Promise<void> | null = null;

  async function nudge() {
    while (toNudge.size > 0) {
      const batch = [...toNudge.values()];
      toNudge.clear();
      try {
        const claimed = await db.query<SubscriptionKey>(CLAIM_NUDGES, [JSON.stringify(batch)]);
        if (claimed.length > 0) await messages.sendDue(claimed);
      } catch (error) {
        log.warn({ err: error }, 'could not tell the engine about due deliveries; the sweeper will find them');
      }
    }
    nudging = null;
  }

  const wakeUps = new Set<Promise<void>>();
  /** Deliveries that failed together are due together, so one wake-up serves them all. */
  const sendWakeUp = createBatcher<WakeUp, void>(MAX_WAKE_UPS, async (batch) => {
    const distinct = new Map(batch.map(({ item }) => [`${writeSubscriptionKey(item)} ${item.dueAt}`, item]));
    await messages.sendWakeUps([...distinct.values()]);
    for (const { resolve } of batch) resolve();
  });

  return {
    publish(subscriptions) {
      for (const subscription of subscriptions) {
        if (!wakeDrain(subscription)) toNudge.set(writeSubscriptionKey(subscription), subscription);
      }
      if (toNudge.size > 0) nudging ??= nudge();
    },
    publishLater(wakeUp) {
      const sending = sendWakeUp(wakeUp)
        .catch((error: unknown) => {
          log.warn(
            { err: error, ...wakeUp },
            'could not tell the engine about a later attempt; the sweeper will find it',
          );
        })
        .finally(() => wakeUps.delete(sending));
      wakeUps.add(sending);
    },
    async republish(subscriptions) {
      // A backlog is overdue all the time. Events for a drain that runs would pile up into empty runs.
      const without = subscriptions.filter((subscription) => !wakeDrain(subscription));
      if (without.length === 0) return;
      await db.query(MARK_NUDGED, [JSON.stringify(without)]);
      await messages.sendDue(without);
    },
    flush: async () => void (await Promise.all([nudging, ...wakeUps])),
  };
}

// Locked in the recorder's order, so that the two cannot deadlock.
const markNudged = (condition: string) => `
  with named as materialized (
    select s.integration_id, s.id from webhook_subscriptions s
     where (s.integration_id, s.id) in (
             select r."integrationId", r."subscriptionId"
               from json_to_recordset($1::text::json) r("integrationId" text, "subscriptionId" text))
       and ${condition}
     order by s.integration_id, s.id for no key update)
  update webhook_subscriptions s set nudged_at = now()
    from named n where s.integration_id = n.integration_id and s.id = n.id`;

const MARK_NUDGED = markNudged('true');

// A nudged subscription is skipped for 30 s, so that many nudges do not start many empty runs.
const CLAIM_NUDGES = `
  ${markNudged(`(s.nudged_at is null or s.nudged_at < now() - interval '30 s')`)}
  returning s.integration_id as "integrationId", s.id as "subscriptionId"`;

/** Clears the nudge before a drain claims, so that rows committed later cause a new one. */
export async function clearNudge(db: Database, key: SubscriptionKey): Promise<void> {
  await db.query(
    'update webhook_subscriptions set nudged_at = null where integration_id = $1 and id = $2 and nudged_at is not null',
    [key.integrationId, key.subscriptionId],
  );
}
