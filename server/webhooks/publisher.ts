import type { Database } from '../../db/client';
import type { Logger } from '../platform/log';
import type { SubscriptionKey } from './deliveries';

/** When a subscription's next retry is due. */
export type WakeUp = SubscriptionKey & { dueAt: string };

/** Tells the workflow engine that there is something to look at; the rows say what. */
export interface EngineMessages {
  sendDue: (subscriptions: SubscriptionKey[]) => Promise<void>;
  /** Has the subscriptions looked at when their retries are due. */
  sendWakeUps: (wakeUps: WakeUp[]) => Promise<void>;
  /** Has the sweeper look now and for the next minute. */
  sendSweep: () => Promise<void>;
}

export interface Publisher {
  /**
   * Called after the commit, never inside it: a drain that looks before the rows are visible would clear the nudge and
   * miss them. Never throws: what is not told is found by the sweeper.
   */
  publish(subscriptions: Iterable<SubscriptionKey>): void;
  /** Tells the engine again of what a sweep found overdue, whether or not it was told before. */
  republish(subscriptions: SubscriptionKey[]): Promise<void>;
  /** Resolves when everything published so far has been told. */
  flush(): Promise<void>;
}

/**
 * Creates the process's publisher. `wakeDrain` wakes a drain of this very process and answers whether there is one; only
 * where there is none is the engine told, at most once in 30 seconds for a subscription that nobody has looked at.
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
        log.warn({ err: error }, 'could not tell the engine about due deliveries; the sweeper will');
      }
    }
    nudging = null;
  }

  return {
    publish(subscriptions) {
      for (const subscription of subscriptions) {
        if (!wakeDrain(subscription))
          toNudge.set(`${subscription.integrationId}/${subscription.subscriptionId}`, subscription);
      }
      if (toNudge.size > 0) nudging ??= nudge();
    },
    async republish(subscriptions) {
      if (subscriptions.length === 0) return;
      await db.query(MARK_NUDGED, [JSON.stringify(subscriptions)]);
      await messages.sendDue(subscriptions);
    },
    flush: async () => void (await nudging),
  };
}

// Locked in the recorder's order, so that the two never wait for each other crosswise.
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

// Many nudges must not become many empty runs.
const CLAIM_NUDGES = `
  ${markNudged(`(s.nudged_at is null or s.nudged_at < now() - interval '30 s')`)}
  returning s.integration_id as "integrationId", s.id as "subscriptionId"`;

/** Clears the mark before a drain claims: whatever is committed later is told anew. */
export async function clearNudge(db: Database, key: SubscriptionKey): Promise<void> {
  await db.query(
    'update webhook_subscriptions set nudged_at = null where integration_id = $1 and id = $2 and nudged_at is not null',
    [key.integrationId, key.subscriptionId],
  );
}
