import type { WebhookTestResult } from '../../contract/webhooks';
import type { Database } from '../../db/client';
import { createBatcher } from '../platform/batcher';
import type { Logger } from '../platform/log';
import { type AttemptDependencies, attemptDelivery } from './attempt';
import {
  type ClaimedDelivery,
  claimDueAttempts,
  LEASE_MARGIN_MS,
  releaseClaims,
  type SubscriptionKey,
  sweepDeliveries,
} from './deliveries';
import { Drain } from './drain';
import { clearNudge, createPublisher, type EngineMessages, type Publisher, type WakeUp } from './publisher';
import { createRecorder } from './recorder';
import { sendTestDelivery } from './test-delivery';

/** Attempts that the process may have under way at a time: one is one socket. */
const MAX_ATTEMPTS = 500;
/** Of one subscription even then, so that those who hang keep nobody out. */
const MIN_ATTEMPTS = 5;

/**
 * Takes deliveries over in memory that are committed as claimed, where a drain of theirs has a place to spare: they need
 * neither a claim nor to be read back.
 */
export interface Handover {
  /** Keeps a place; false: the delivery is to be committed as due, and published. What is kept is started or released. */
  reserve(key: SubscriptionKey): boolean;
  /** Sends a delivery that was committed with a lease of ours. */
  start(delivery: ClaimedDelivery): void;
  release(key: SubscriptionKey): void;
  /** How long the lease of such a delivery lasts. */
  leaseMs: number;
}

/** The process's delivery work: what the engine's functions call, and the publisher that has them called. */
export interface Dispatcher {
  publisher: Publisher;
  handover: Handover;
  /** Sends what is due to a subscription. */
  drainSubscription(key: SubscriptionKey): Promise<void>;
  /** Has a subscription looked at, now that something may be due to it. */
  wakeSubscription(key: SubscriptionKey): Promise<void>;
  /** Sends a synthetic delivery now; null when there is no such subscription. */
  sendTest(key: SubscriptionKey): Promise<WebhookTestResult | null>;
  /** Finds what fell through and has it sent. Never rejects: the next sweep must come. */
  sweep(): Promise<void>;
  /** Has the sweeper begin at once, for a process that starts. Never rejects: the cron comes anyway. */
  requestSweep(): Promise<void>;
  /** Resolves when the engine has been told all that it is to hear of so far. */
  flush(): Promise<void>;
  /** Lets what is in flight finish for `graceMs`, then cuts it short and gives it back. */
  stop(graceMs: number): Promise<void>;
}

export interface DispatcherDependencies extends AttemptDependencies {
  db: Database;
  log: Logger;
  messages: EngineMessages;
  /** Is told of every attempt that ended: Delivered, or the class of its failure. */
  onAttempt: (attempt: { outcome: string; durationMs: number }) => void;
  /** Whether work goes on in this process when no run of the engine is there; not so on a serverless platform. */
  isLongLived: boolean;
}

/** Creates the process's dispatcher. */
export function createDispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { db, log, messages, onAttempt, timeoutMs, isLongLived } = dependencies;
  const recorder = createRecorder(db);
  const drains = new Map<string, Drain>();
  const inFlight = new Set<Promise<unknown>>();
  const wakeUps = new Set<Promise<void>>();
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
      if (!drain?.isRunning) return false;
      drain.wake();
      return true;
    },
  });

  function track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => {},
      () => {},
    );
    inFlight.add(settled);
    void settled.then(() => inFlight.delete(settled));
    return work;
  }

  /** Attempts and records. Never rejects: what is not recorded is given back with its lease. */
  async function deliver(delivery: ClaimedDelivery, onAnswered: (isDelivered: boolean) => void): Promise<void> {
    const { integrationId, subscriptionId, deliveryId } = delivery;
    try {
      const record = await attemptDelivery(dependencies, delivery, shutdown.signal);
      onAnswered(record?.status === 'Delivered');
      if (record) onAttempt({ outcome: record.failureClass ?? record.status, durationMs: record.durationMs });
      if (record === null) return await releaseClaims(db, [delivery]);
      const { nextAttemptAt } = await recorder.record(record);
      if (nextAttemptAt !== null) scheduleWakeUp({ integrationId, subscriptionId, dueAt: nextAttemptAt });
    } catch (error) {
      log.warn({ err: error, deliveryId }, 'an attempt could not be recorded; it is made again when its lease ends');
    }
  }

  /** What failed together is due together: one wake-up serves it all. */
  const sendWakeUp = createBatcher<WakeUp, void>(MAX_ATTEMPTS, async (batch) => {
    const distinct = new Map(batch.map(({ item }) => [`${keyOf(item)} ${item.dueAt}`, item]));
    await messages.sendWakeUps([...distinct.values()]);
    for (const { resolve } of batch) resolve();
  });

  function scheduleWakeUp(wakeUp: WakeUp) {
    const sending = track(sendWakeUp(wakeUp))
      .catch((error: unknown) => {
        log.warn({ err: error, ...wakeUp }, 'could not tell the engine about a retry; the sweeper will');
      })
      .finally(() => wakeUps.delete(sending));
    wakeUps.add(sending);
  }

  function countInFlight(): number {
    let count = 0;
    for (const drain of drains.values()) count += drain.inFlight;
    return count;
  }

  function createDrain(key: SubscriptionKey): Drain {
    const drain = new Drain({
      claim: (limit) => claimDueAttempts(db, key, limit, leaseMs),
      deliver: (delivery, onAnswered) => track(deliver(delivery, onAnswered)),
      allow(own, window) {
        const share = Math.max(MIN_ATTEMPTS, Math.floor(MAX_ATTEMPTS / drains.size));
        return Math.min(window, Math.max(share, own + MAX_ATTEMPTS - countInFlight()));
      },
      onFree: () => leave(key, drain),
    });
    drains.set(keyOf(key), drain);
    return drain;
  }

  /** What a drain without a run leaves: rows for another run, or nothing. */
  function leave(key: SubscriptionKey, drain: Drain) {
    if (drain.isRunning) return;
    if (drain.isIdle) drains.delete(keyOf(key));
    if (drain.mayHaveMore && drain.hasPlace && !isStopping) publisher.publish([key]);
  }

  return {
    publisher,

    handover: {
      reserve: (key) => !isStopping && (drains.get(keyOf(key))?.reserve() ?? false),
      start: (delivery) => drains.get(keyOf(delivery))!.start(delivery),
      release: (key) => drains.get(keyOf(key))!.release(),
      leaseMs,
    },

    async drainSubscription(key) {
      if (isStopping) return;
      await clearNudge(db, key);
      // A run that began now would outlive the stop, claiming again and again what the stop cuts short.
      if (isStopping) return;
      const drain = drains.get(keyOf(key)) ?? createDrain(key);
      if (drain.isRunning) return drain.wake();
      try {
        await track(drain.run());
        if (!isLongLived) await drain.settle();
      } finally {
        leave(key, drain);
      }
    },

    async wakeSubscription(key) {
      publisher.publish([key]);
      await publisher.flush();
    },

    sendTest: (key) => track(sendTestDelivery({ ...dependencies, recorder, leaseMs }, key, shutdown.signal)),

    async sweep() {
      try {
        await publisher.republish(await sweepDeliveries(db));
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

    flush: async () => void (await Promise.all([publisher.flush(), ...wakeUps])),

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
