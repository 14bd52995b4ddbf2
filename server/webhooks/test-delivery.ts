import { ApiError } from '../../contract/errors';
import type { EventTypeName } from '../../contract/events';
import type { TestDelivery, WebhookTestResult } from '../../contract/webhooks';
import type { Database } from '../../db/client';
import { runUnitOfWork } from '../../db/unit-of-work';
import { createId } from '../platform/ids';
import { type AttemptDependencies, attemptDelivery } from './attempt';
import { ABORT, READ_SECRETS, type SubscriptionKey } from './deliveries';
import type { Recorder } from './recorder';

/** How many test deliveries of an integration may be under way, in all processes together. Each holds a connection for 30 s. */
const MAX_TESTS = 5;

/**
 * Sends one synthetic delivery to a subscription, enabled or not, and returns its outcome (specification: Test delivery). It
 * is handled like every other attempt (lease, guard, signature, log), but is not retried and does not change the
 * subscription's health. Returns null if there is no such subscription. RATE_LIMITED if five tests of the integration are under
 * way. SERVICE_UNAVAILABLE if our own shutdown aborted it.
 */
export async function sendTestDelivery(
  dependencies: AttemptDependencies & { db: Database; recorder: Recorder; leaseMs: number; leaseOwner: number | null },
  { integrationId, subscriptionId }: SubscriptionKey,
  signal: AbortSignal,
): Promise<WebhookTestResult | null> {
  const { db, recorder, leaseMs, leaseOwner } = dependencies;
  const deliveryId = createId('dlv');
  // On the pool, as all that a key may ask for at any rate: `transact` opens as many connections as there are transactions.
  const begun = await runUnitOfWork(db, async ({ query }) => {
    // The count must see what others committed before they released the lock, so it is a separate statement.
    const [locked] = await query<{ isKnown: boolean }>(LOCK, [integrationId, subscriptionId]);
    if (!locked?.isKnown) return null;
    const [count] = await query<{ running: number; retryAfterSeconds: number }>(COUNT_RUNNING, [integrationId]);
    const { running, retryAfterSeconds } = count!;
    if (running >= MAX_TESTS) {
      const message = `${MAX_TESTS} test deliveries of this integration are under way. Try again when one has ended.`;
      throw new ApiError('RATE_LIMITED', message, { retryAfterSeconds });
    }
    const [row] = await query<BegunRow>(BEGIN, [integrationId, subscriptionId, deliveryId, leaseMs, leaseOwner]);
    return row;
  });
  if (!begun) return null;
  const { lease, eventType, url, secretSealed, previousSecretSealed, createdAt } = begun;
  const body: TestDelivery = {
    eventType,
    integrationId,
    timestamp: createdAt,
    data: { test: true, message: 'This is a test delivery', subscriptionId, deliveryId },
  };
  const payload = JSON.stringify(body);
  const record = await attemptDelivery(
    dependencies,
    {
      integrationId,
      subscriptionId,
      deliveryId,
      lease,
      leaseOwner,
      attempt: 1,
      eventType,
      payload,
      url,
      secretSealed,
      previousSecretSealed,
      isTest: true,
    },
    signal,
  );
  if (record === null) {
    await db.query(GIVE_UP, [integrationId, deliveryId]);
    throw new ApiError('SERVICE_UNAVAILABLE', 'The service is restarting; send the test again');
  }
  await recorder.record(record);
  return {
    deliveryId,
    status: record.status,
    responseCode: record.httpStatus ?? 0,
    errorClass: record.failureClass,
    attempts: record.startedAt === null ? 0 : 1,
  };
}

interface BegunRow {
  lease: string;
  eventType: EventTypeName;
  url: string;
  secretSealed: Buffer;
  previousSecretSealed: Buffer | null;
  createdAt: string;
}

const LOCK = `
  select exists (
           select 1 from webhook_subscriptions s
            where s.integration_id = i.id and s.id = $2 and s.deleted_at is null) as "isKnown"
    from integrations i where i.id = $1 for no key update of i`;

/** A test whose process has died counts until its lease ends. */
const COUNT_RUNNING = `
  select count(*)::int as running,
         coalesce(greatest(1, ceil(extract(epoch from min(next_attempt_at) - clock_timestamp()))), 1)::int as "retryAfterSeconds"
    from webhook_deliveries
   where integration_id = $1 and is_test and status = 'Pending' and next_attempt_at > now()`;

const BEGIN = `
  with s as (
    select integration_id, id, event_type, url, secret_sealed, previous_secret_sealed, previous_secret_until from webhook_subscriptions
     where integration_id = $1 and id = $2 and deleted_at is null),
  begun as (
    insert into webhook_deliveries
      (integration_id, id, subscription_id, is_test, event_type, attempts, lease, lease_owner, next_attempt_at)
    select integration_id, $3, id, true, event_type, 1, gen_random_uuid(), $5::int, now() + $4 * interval '1 ms' from s
    returning lease, created_at)
  select begun.lease, begun.created_at as "createdAt", s.event_type as "eventType", s.url, ${READ_SECRETS}
    from s, begun`;

const GIVE_UP = `${ABORT} where d.integration_id = $1 and d.id = $2 and d.status = 'Pending'`;
