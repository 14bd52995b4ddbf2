import { setTimeout as delay } from 'node:timers/promises';
import type { WebhookTestResult } from '../../contract/webhooks';
import { type Database, isUnavailable } from '../../db/client';
import type { Logger } from '../platform/log';
import { type AttemptDependencies, attemptDelivery } from './attempt';
import {
  type AttemptRecord,
  type ClaimedDelivery,
  claimDueAttempts,
  findStalled,
  LEASE_MARGIN_MS,
  releaseClaims,
  type SubscriptionKey,
  sweepDeliveries,
  takeOverLeases,
  writeSubscriptionKey,
} from './deliveries';
import { Drain } from './drain';
import type { LeasePresence, LostOwner } from './lease-presence';
import { clearNudge, createPublisher, type EngineMessages, type Publisher } from './publisher';
import { createRecorder, type RecordResult } from './recorder';
import { sendTestDelivery } from './test-delivery';

/** How many attempts the process may have in flight. Each one uses a socket. */
const MAX_ATTEMPTS = 500;
/** Each subscription may have this many attempts even then, so that hanging receivers do not block others. */
const MIN_ATTEMPTS = 5;
/** While the database is away, an attempt is recorded again after this time. */
const RECORD_AGAIN_MS = 500;

/**
 * Hands new deliveries to a running drain in memory, if it has a free place. Such a delivery is committed with a lease, so
 * it need not be claimed or read back.
 */
export interface Handover {
  /**
   * Reserves a place; the caller must then call `start` or `release`. If it returns false, the delivery must be committed as
   * due and published.
   */
  reserve(key: SubscriptionKey): boolean;
  /** Sends a delivery that was committed with our lease. */
  start(delivery: ClaimedDelivery): void;
  release(key: SubscriptionKey): void;
  /** How long the lease of such a delivery lasts. */
  leaseMs: number;
  /** The owner of a lease that begins now. */
  readonly leaseOwner: number | null;
}

/** The delivery work of the process: what the engine's functions call, and the publisher that triggers them. */
export interface Dispatcher {
  publisher: Publisher;
  handover: Handover;
  /** Sends the due deliveries of a subscription. */
  drainSubscription(key: SubscriptionKey): Promise<void>;
  /** Wakes the drain of a subscription, because a delivery may be due. */
  wakeSubscription(key: SubscriptionKey): Promise<void>;
  /** Sends a synthetic delivery now. Returns null if there is no such subscription. */
  sendTest(key: SubscriptionKey): Promise<WebhookTestResult | null>;
  /** Finds lost deliveries and wakes their drains. Never rejects, so that the following sweeps run. */
  sweep(): Promise<void>;
  /**
   * Shows other processes that this one lives, and takes over from those that die. For processes that keep working between
   * requests. Never rejects.
   */
  start(): Promise<void>;
  /** Starts the sweeper at once: the process has started, or the database is back. Never rejects, because the cron starts it anyway. */
  requestSweep(): Promise<void>;
  /** Resolves when all messages to the engine so far are sent. */
  flush(): Promise<void>;
  /** Ends all runs without cutting off their attempts, and begins no more. */
  endRuns(): void;
  /** Lets running attempts finish for `graceMs`, then aborts and releases them. */
  stop(graceMs: number): Promise<void>;
}

export interface DispatcherDependencies extends AttemptDependencies {
  db: Database;
  log: Logger;
  messages: EngineMessages;
  presence: LeasePresence;
  /** Called after each attempt. `outcome` is Delivered, or the failure class. */
  onAttempt: (attempt: { outcome: string; durationMs: number }) => void;
  /** Called when it is recorded that a delivery ended without success. Not for tests. */
  onFailed: (delivery: { integrationId: string }) => void;
  /** Whether the process keeps working between runs of the engine. False on a serverless platform. */
  isLongLived: boolean;
}

/** Creates the process's dispatcher. */
export function createDispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { db, log, messages, presence, onAttempt, onFailed, timeoutMs, isLongLived } = dependencies;
  const recorder = createRecorder(db);
  const drains = new Map<string, Drain>();
  const inFlight = new Set<Promise<unknown>>();
  const shutdown = new AbortController();
  /** Set when the stop begins. `shutdown` aborts when its grace period is over. */
  let isStopping = false;
  const leaseMs = timeoutMs + LEASE_MARGIN_MS;

  const publisher = createPublisher({
    db,
    log,
    messages,
    wakeDrain(key) {
      const drain = drains.get(writeSubscriptionKey(key));
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

  /** Attempts a delivery and records the result. Never rejects: without a record, the attempt is repeated when its lease ends. */
  async function deliver(delivery: ClaimedDelivery, onAnswered: (isDelivered: boolean) => void): Promise<void> {
    const { integrationId, subscriptionId, deliveryId } = delivery;
    try {
      // Not if others may have taken over since the claim.
      const mayBegin = delivery.leaseOwner === null || delivery.leaseOwner === presence.owner;
      const record = mayBegin ? await attemptDelivery(dependencies, delivery, shutdown.signal) : null;
      onAnswered(record?.status === 'Delivered');
      if (record) onAttempt({ outcome: record.failureClass ?? record.status, durationMs: record.durationMs });
      if (record === null) {
        await releaseClaims(db, [delivery]);
        if (!mayBegin) publisher.publish([{ integrationId, subscriptionId }]);
        return;
      }
      const { nextAttemptAt } = await recordWhileLeased(record);
      if (!delivery.isTest && !['Pending', 'Delivered'].includes(record.status)) onFailed({ integrationId });
      if (nextAttemptAt !== null) publisher.publishLater({ integrationId, subscriptionId, dueAt: nextAttemptAt });
    } catch (error) {
      log.warn({ err: error, deliveryId }, 'an attempt could not be recorded; it is repeated when its lease expires');
    }
  }

  /** Waits for a database that is away as long as the lease lasts, or until the stop: the receiver would get a repeat. */
  async function recordWhileLeased(record: AttemptRecord): Promise<RecordResult> {
    const endAt = performance.now() + leaseMs - record.durationMs;
    for (;;) {
      try {
        return await recorder.record(record);
      } catch (error) {
        if (!isUnavailable(error) || shutdown.signal.aborted || performance.now() > endAt) throw error;
      }
      await delay(RECORD_AGAIN_MS, undefined, { signal: shutdown.signal }).catch(() => {});
    }
  }

  function countInFlight(): number {
    let count = 0;
    for (const drain of drains.values()) count += drain.inFlight;
    return count;
  }

  function createDrain(key: SubscriptionKey): Drain {
    const drain = new Drain({
      claim: (limit) => claimDueAttempts(db, key, limit, leaseMs, presence.owner),
      deliver: (delivery, onAnswered) => track(deliver(delivery, onAnswered)),
      allow(own, window) {
        const share = Math.max(MIN_ATTEMPTS, Math.floor(MAX_ATTEMPTS / drains.size));
        return Math.min(window, Math.max(share, own + MAX_ATTEMPTS - countInFlight()));
      },
      onFree: () => leaveDrain(key, drain),
    });
    drains.set(writeSubscriptionKey(key), drain);
    return drain;
  }

  /** Removes an idle drain that has no run. If more deliveries may be due, wakes a new run. */
  function leaveDrain(key: SubscriptionKey, drain: Drain) {
    if (drain.isRunning) return;
    // A drain may leave twice: when its last attempt is recorded, and when its run ends. The next one may exist by then.
    if (drain.isIdle && drains.get(writeSubscriptionKey(key)) === drain) drains.delete(writeSubscriptionKey(key));
    if (drain.mayHaveMore && drain.hasPlace && !isStopping) publisher.publish([key]);
  }

  async function drainSubscription(key: SubscriptionKey): Promise<void> {
    if (isStopping) return;
    await clearNudge(db, key);
    // A run that began now would outlive the stop and keep claiming the attempts that the stop aborts.
    if (isStopping) return;
    const drain = drains.get(writeSubscriptionKey(key)) ?? createDrain(key);
    if (drain.isRunning) return drain.wake();
    try {
      await track(drain.run());
      if (!isLongLived) await drain.settle();
    } finally {
      leaveDrain(key, drain);
    }
  }

  function endRuns() {
    isStopping = true;
    for (const drain of drains.values()) drain.stop();
  }

  /** Drains here and at once: the engine may still wait for a run of the dead process. */
  async function takeOver(owner: LostOwner): Promise<void> {
    if (isStopping) return;
    const subscriptions = await takeOverLeases(db, log, owner, leaseMs);
    if (subscriptions.length === 0) return;
    log.warn({ leaseOwner: owner.id }, 'a process has died; sending its deliveries again');
    drainHere(subscriptions);
  }

  function drainHere(subscriptions: SubscriptionKey[]): void {
    for (const key of subscriptions) {
      drainSubscription(key).catch((error: unknown) =>
        log.warn({ err: error, ...key }, 'could not send what another process left; the sweeper will find it'),
      );
    }
  }

  return {
    publisher,

    handover: {
      reserve: (key) => !isStopping && (drains.get(writeSubscriptionKey(key))?.reserve() ?? false),
      start: (delivery) => drains.get(writeSubscriptionKey(delivery))!.start(delivery),
      release: (key) => drains.get(writeSubscriptionKey(key))!.release(),
      leaseMs,
      get leaseOwner() {
        return presence.owner;
      },
    },

    drainSubscription,

    async wakeSubscription(key) {
      publisher.publish([key]);
      await publisher.flush();
    },

    sendTest: (key) =>
      track(sendTestDelivery({ ...dependencies, recorder, leaseMs, leaseOwner: presence.owner }, key, shutdown.signal)),

    async sweep() {
      try {
        const overdue = await sweepDeliveries(db, log);
        // Before the engine is told again. Elsewhere no process hangs: a platform ends its requests.
        const stalled = isLongLived ? await findStalled(db) : [];
        if (stalled.length > 0)
          log.warn({ subscriptions: stalled.length }, 'the engine has begun no run for 30 s; sending here');
        drainHere(stalled);
        await publisher.republish(overdue);
      } catch (error) {
        log.warn({ err: error }, 'a sweep failed; the next one runs within ten seconds');
      }
    },

    start: () => presence.start(takeOver),

    async requestSweep() {
      try {
        await messages.sendSweep();
      } catch (error) {
        log.warn({ err: error }, 'could not request a sweep; the next one runs at the full minute');
      }
    },

    flush: () => publisher.flush(),

    endRuns,

    async stop(graceMs) {
      endRuns();
      const timer = setTimeout(() => shutdown.abort(), graceMs);
      // A claim that was on its way may still bring attempts. They have the same grace.
      while (inFlight.size > 0) await Promise.all(inFlight);
      clearTimeout(timer);
      shutdown.abort();
      await publisher.flush();
      await presence.stop();
    },
  };
}
