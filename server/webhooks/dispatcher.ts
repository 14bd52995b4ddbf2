import type { Database } from '../../db/client';
import type { WebhookTestResult } from '../contract/webhooks';
import type { Logger } from '../platform/log';
import { type AttemptDependencies, attemptDelivery } from './attempt';
import {
  type ClaimedDelivery,
  claimFirstAttempts,
  claimRetry,
  type DueRetry,
  findHeldRetries,
  LEASE_MARGIN_MS,
  releaseClaims,
  type SubscriptionKey,
  sweepDeliveries,
} from './deliveries';
import { Drain } from './drain';
import { clearNudge, createPublisher, type EngineMessages, type Publisher } from './publisher';
import { createRecorder } from './recorder';
import { sendTestDelivery } from './test-delivery';

/** The process's delivery work: what the engine's functions call, and the publisher that has them called. */
export interface Dispatcher {
  publisher: Publisher;
  /** Sends the due first attempts of a subscription. */
  drainSubscription(key: SubscriptionKey): Promise<void>;
  /** Makes one retry; answers the one after it, or null when the delivery is over or not ours. */
  retryDelivery(retry: { integrationId: string; deliveryId: string; attempt: number }): Promise<DueRetry | null>;
  /** Has everything sent that is due to a subscription, now that it is enabled again. Never rejects. */
  releaseHeld(key: SubscriptionKey): Promise<void>;
  /** Sends a synthetic delivery now; null when there is no such subscription. */
  sendTest(key: SubscriptionKey): Promise<WebhookTestResult | null>;
  /** Finds what fell through and has it sent. Never rejects: the next sweep must come. */
  sweep(): Promise<void>;
  /** Has the sweeper begin at once, for a process that starts. Never rejects: the cron comes anyway. */
  requestSweep(): Promise<void>;
  /** Lets what is in flight finish for `graceMs`, then cuts it short and gives it back. */
  stop(graceMs: number): Promise<void>;
}

/** Creates the process's dispatcher. */
export function createDispatcher(
  dependencies: AttemptDependencies & { db: Database; log: Logger; messages: EngineMessages },
): Dispatcher {
  const { db, log, messages, timeoutMs } = dependencies;
  const recorder = createRecorder(db);
  const drains = new Map<string, Drain>();
  const inFlight = new Set<Promise<unknown>>();
  const shutdown = new AbortController();
  /** From the beginning of the stop on; the abort comes when its grace is over. */
  let isStopping = false;
  const leaseMs = timeoutMs + LEASE_MARGIN_MS;
  const keyOf = (key: SubscriptionKey) => `${key.integrationId}/${key.subscriptionId}`;

  const publisher = createPublisher({
    db,
    log,
    messages,
    wakeDrain(key) {
      const drain = drains.get(keyOf(key));
      drain?.wake();
      return drain !== undefined;
    },
  });

  /** Attempts and records. Our own faults throw, and the lease gives the attempt back. */
  async function deliver(delivery: ClaimedDelivery): Promise<DueRetry | null> {
    const record = await attemptDelivery(dependencies, delivery, shutdown.signal);
    if (record === null) {
      await releaseClaims(db, [delivery]);
      return null;
    }
    const { nextAttemptAt } = await recorder.record(record);
    if (nextAttemptAt === null) return null;
    const { integrationId, subscriptionId, deliveryId } = delivery;
    return { integrationId, subscriptionId, deliveryId, attempt: delivery.attempt + 1, dueAt: nextAttemptAt };
  }

  function track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => {},
      () => {},
    );
    inFlight.add(settled);
    void settled.then(() => inFlight.delete(settled));
    return work;
  }

  /** A first attempt, within a drain. Never rejects. */
  async function deliverFirst(delivery: ClaimedDelivery): Promise<void> {
    const { deliveryId } = delivery;
    const retry = await track(deliver(delivery)).catch((error: unknown) => {
      log.warn({ err: error, deliveryId }, 'an attempt could not be recorded; it is made again when its lease ends');
      return null;
    });
    if (retry === null) return;
    await messages.sendRetries([retry]).catch((error: unknown) => {
      log.warn({ err: error, deliveryId }, 'could not tell the engine about a retry; the sweeper will');
    });
  }

  return {
    publisher,

    async drainSubscription(key) {
      if (isStopping) return;
      await clearNudge(db, key);
      // A drain that began now would outlive the stop, claiming again and again what the stop cuts short.
      if (isStopping) return;
      const running = drains.get(keyOf(key));
      if (running) return running.wake();
      const drain = new Drain({ claim: (limit) => claimFirstAttempts(db, key, limit, leaseMs), deliver: deliverFirst });
      drains.set(keyOf(key), drain);
      let hasMore = true;
      try {
        hasMore = await track(drain.run());
      } finally {
        drains.delete(keyOf(key));
      }
      if (hasMore) publisher.publish([key]);
    },

    async retryDelivery(retry) {
      if (shutdown.signal.aborted) throw new Error('the process is stopping');
      const claimed = await claimRetry(db, retry, leaseMs);
      return claimed && track(deliver(claimed));
    },

    async releaseHeld(key) {
      publisher.publish([key]);
      try {
        const retries = await findHeldRetries(db, key);
        if (retries.length > 0) await messages.sendRetries(retries);
      } catch (error) {
        log.warn({ err: error }, 'could not tell the engine about held retries; the sweeper will');
      }
    },

    sendTest: (key) => track(sendTestDelivery({ ...dependencies, recorder, leaseMs }, key, shutdown.signal)),

    async sweep() {
      try {
        const overdue = await sweepDeliveries(db);
        await publisher.republish(overdue.subscriptions);
        if (overdue.retries.length > 0) await messages.sendRetries(overdue.retries);
      } catch (error) {
        log.warn({ err: error }, 'a sweep failed; the next comes in seconds');
      }
    },

    async requestSweep() {
      try {
        await messages.sendSweep();
      } catch (error) {
        log.warn({ err: error }, 'could not ask for a sweep; the next comes with the full minute');
      }
    },

    async stop(graceMs) {
      isStopping = true;
      for (const drain of drains.values()) drain.stop();
      const timer = setTimeout(() => shutdown.abort(), graceMs);
      await Promise.all(inFlight);
      clearTimeout(timer);
      shutdown.abort();
      await Promise.all(inFlight);
      await publisher.flush();
    },
  };
}
