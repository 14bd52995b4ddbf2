import type { EventTypeName } from '../../contract/events';
import type { DeliveryStatus } from '../../contract/webhooks';
import { type Database, isKnownOutage } from '../../db/client';
import type { Logger } from '../platform/log';
import type { KeptAnswer } from './kept-answers';
import { type LostOwner, REMOVE_LOST_OWNER } from './lease-presence';

/** A lease lasts this much longer than an attempt's timeout, for signing, recording and a busy machine. */
export const LEASE_MARGIN_MS = 15_000;

export type SubscriptionKey = {
  integrationId: string;
  subscriptionId: string;
};

/** Writes the key of a subscription for a map. */
export const writeSubscriptionKey = ({ integrationId, subscriptionId }: SubscriptionKey): string =>
  `${integrationId}/${subscriptionId}`;

/** A delivery that this process may attempt until the lease expires. */
export interface ClaimedDelivery extends SubscriptionKey {
  deliveryId: string;
  lease: string;
  /** See `LeasePresence.owner`. */
  leaseOwner: number | null;
  /** Counts from 1. */
  attempt: number;
  eventType: EventTypeName;
  /** The exact text to sign and send. */
  payload: string;
  url: string;
  secretSealed: Buffer;
  /** Null outside of the grace period of a rotation. */
  previousSecretSealed: Buffer | null;
  isTest: boolean;
}

/** The sealed secrets of the subscription `s` that sign an attempt now. */
export const READ_SECRETS = `
  s.secret_sealed as "secretSealed",
  case when s.previous_secret_until > now() then s.previous_secret_sealed end as "previousSecretSealed"`;

// The claim reads the subscription, so that a changed URL or secret is used from the next attempt on.
const CLAIMED_COLUMNS = `
  c.integration_id as "integrationId", c.subscription_id as "subscriptionId", c.id as "deliveryId", c.lease, c.lease_owner as "leaseOwner",
  c.attempts as attempt, e.type as "eventType", e.payload, s.url, ${READ_SECRETS}, c.is_test as "isTest"
    from claimed c
    join domain_events e on e.integration_id = c.integration_id and e.id = c.event_id
    join webhook_subscriptions s on s.integration_id = c.integration_id and s.id = c.subscription_id`;

/**
 * Claims up to `limit` due attempts: retries, then first attempts, each oldest first. If retries waited behind a backlog, a receiver
 * that hangs would be disabled days later, and its backlog would grow meanwhile. Claims none while the subscription is disabled.
 */
export function claimDueAttempts(
  db: Database,
  key: SubscriptionKey,
  limit: number,
  leaseMs: number,
  leaseOwner: number | null,
): Promise<ClaimedDelivery[]> {
  return db.query<ClaimedDelivery>(CLAIM_DUE, [key.integrationId, key.subscriptionId, limit, leaseMs, leaseOwner]);
}

/** Locks due deliveries. Each condition is that of an index. */
const lockDue = (condition: string, limit: string) => `
    select d.ctid as row from webhook_deliveries d
     where d.integration_id = $1 and d.subscription_id = $2 and d.status = 'Pending' and d.lease is null and ${condition}
       and d.next_attempt_at <= now()
       and exists (select 1 from webhook_subscriptions s
                    where s.integration_id = d.integration_id and s.id = d.subscription_id and s.enabled and s.deleted_at is null)
     order by d.next_attempt_at limit ${limit} for update skip locked`;

const CLAIM_DUE = `
  with retries as (${lockDue('d.attempts > 0', '$3::int')}),
  firsts as (${lockDue('d.attempts = 0', '$3::int - (select count(*) from retries)')}),
  due as (select row from retries union all select row from firsts),
  claimed as (
    update webhook_deliveries d
       set attempts = d.attempts + 1, lease = gen_random_uuid(), lease_owner = $5::int,
           next_attempt_at = now() + $4 * interval '1 ms'
     where d.integration_id = $1 and d.ctid = any (array(select row from due))
    returning d.*)
  select ${CLAIMED_COLUMNS}`;

/** Releases attempts that our own shutdown aborted, or that we may not begin. They do not count and are due at once. */
export async function releaseClaims(
  db: Database,
  claims: Pick<ClaimedDelivery, 'integrationId' | 'deliveryId' | 'lease'>[],
): Promise<void> {
  await db.query(RELEASE, [JSON.stringify(claims)]);
}

const RELEASE = `
  update webhook_deliveries d set attempts = d.attempts - 1, lease = null, lease_owner = null, next_attempt_at = now()
    from json_to_recordset($1::text::json) r("integrationId" text, "deliveryId" text, lease uuid)
   where d.integration_id = r."integrationId" and d.id = r."deliveryId" and d.lease = r.lease and d.status = 'Pending'`;

const SWEEP_LIMIT = 1_000;
/** How long a due delivery may wait for a run before the sweep counts it as overdue. */
export const OVERDUE_GRACE_S = 5;
const MAX_HELD_HOURS = 24;
/** If this many processes in a row die during a delivery's attempts, it is not tried again. */
const MAX_CRASHES = 5;

/**
 * Repairs lost deliveries. Releases attempts with an expired lease, because their process is gone. Ends deliveries that can
 * never be sent: those of a deleted subscription, those held by a disabled one for over a day, a test without its caller,
 * and those whose attempts crashed several processes in a row. Then corrects the status of subscriptions that no longer wait
 * for a retry. Returns the subscriptions that have overdue deliveries.
 */
export async function sweepDeliveries(db: Database, log: Logger): Promise<SubscriptionKey[]> {
  await repairDeliveries(db, log, [ABORT_UNSENDABLE, GIVE_BACK_EXPIRED, END_RETRYING]);
  return db.query<SubscriptionKey>(FIND_OVERDUE, []);
}

/** A repair that fails keeps none of the others from running, and no overdue delivery waiting. A known outage is logged elsewhere. */
async function repairDeliveries(db: Database, log: Logger, repairs: string[]): Promise<void> {
  for (const repair of repairs)
    await db.query(repair, []).catch((error: unknown) => {
      log[isKnownOutage(error) ? 'debug' : 'warn']({ err: error }, 'a part of a sweep failed');
    });
}

/**
 * Takes over from a dead process: ends its leases as if they had expired, and forgets the process. Returns the subscriptions
 * that have released deliveries. Returns none if the process is back, or if another one has taken over.
 */
export async function takeOverLeases(
  db: Database,
  log: Logger,
  owner: LostOwner,
  leaseMs: number,
): Promise<SubscriptionKey[]> {
  const subscriptions = await db.query<SubscriptionKey>(EXPIRE_LEASES, [owner.id, owner.locks, leaseMs]);
  if (subscriptions.length > 0) await repairDeliveries(db, log, [ABORT_UNSENDABLE, GIVE_BACK_EXPIRED]);
  return subscriptions;
}

// Reads the index of leased deliveries. A delivery during which a process died before keeps its lease: if it is the cause, it would otherwise
// end all processes within seconds. Locks in the recorder's order, so that the two cannot deadlock.
const EXPIRE_LEASES = `
  with lost as (${REMOVE_LOST_OWNER}),
  leased as materialized (
    select d.integration_id, d.id from webhook_deliveries d
     where d.status = 'Pending' and d.lease is not null and d.lease_owner = (select id from lost) and d.crashes = 0
       and d.next_attempt_at > now() and d.next_attempt_at <= now() + $3::int * interval '1 ms'
     order by d.integration_id, d.id for update),
  expired as (
    update webhook_deliveries d set next_attempt_at = now() - interval '1 ms'
      from leased l where d.integration_id = l.integration_id and d.id = l.id
    returning d.integration_id, d.subscription_id)
  select distinct integration_id as "integrationId", subscription_id as "subscriptionId" from expired`;

const GIVE_BACK_EXPIRED = `
  with expired as (
    select integration_id, id, crashes + 1 >= ${MAX_CRASHES} as is_poison from webhook_deliveries
     where status = 'Pending' and lease is not null and next_attempt_at < now() and not is_test
     order by next_attempt_at limit ${SWEEP_LIMIT} for update skip locked)
  update webhook_deliveries d
     set attempts = d.attempts - 1, crashes = d.crashes + 1, lease = null, lease_owner = null,
         status = case when is_poison then 'PoisonAborted' else 'Pending' end,
         finished_at = case when is_poison then now() end,
         next_attempt_at = case when is_poison then null else now() - interval '${OVERDUE_GRACE_S} s' end
    from expired x where d.integration_id = x.integration_id and d.id = x.id`;

/** Ends deliveries `d` without an attempt. A condition follows. */
export const ABORT = `
  update webhook_deliveries d
     set status = 'PoisonAborted', finished_at = now(), next_attempt_at = null, lease = null, lease_owner = null`;

/** For how long a sweep looks at deleted subscriptions. The job that removes them ends what a longer outage left. */
export const DELETED_LIMIT = "interval '1 hour'";

// Looks at the subscriptions that send nothing, each along the index of its due deliveries: a backlog of the others is not read. Nor are
// those that were deleted long ago, which may be very many.
const ABORT_UNSENDABLE = `
  with tests as (
    select integration_id, id from webhook_deliveries
     where is_test and status = 'Pending' and next_attempt_at < now() limit ${SWEEP_LIMIT} for update skip locked),
  held as (
    select d.integration_id, d.id from (
      select integration_id, id, interval '${MAX_HELD_HOURS} h' as held_for from webhook_subscriptions where deleted_at is null and not enabled
       union all
      select integration_id, id, interval '0' from webhook_subscriptions where deleted_at > now() - ${DELETED_LIMIT}) s cross join lateral (
      select d.integration_id, d.id from webhook_deliveries d
       where d.integration_id = s.integration_id and d.subscription_id = s.id and d.status = 'Pending' and d.lease is null
         and d.next_attempt_at < now() - s.held_for
       order by d.next_attempt_at limit ${SWEEP_LIMIT} for update skip locked) d limit ${SWEEP_LIMIT}),
  dead as (select integration_id, id from tests union all select integration_id, id from held)
  ${ABORT}
    from dead x where d.integration_id = x.integration_id and d.id = x.id`;

// A delivery that ended without a further attempt leaves its subscription as failing, although nothing is repeated. Each look-up goes along
// the index of retries; the recorder's rows are left to the next sweep.
const END_RETRYING = `
  with leased as materialized (
    select distinct integration_id, subscription_id from webhook_deliveries where status = 'Pending' and lease is not null),
  ended as materialized (
    select s.integration_id, s.id from webhook_subscriptions s
     where s.last_delivery_status = 'Pending' and s.deleted_at is null
       and (s.integration_id, s.id) not in (select integration_id, subscription_id from leased)
       and (select 1 from webhook_deliveries d
             where d.integration_id = s.integration_id and d.subscription_id = s.id and d.status = 'Pending'
               and d.lease is null and d.attempts > 0 limit 1) is null
     for no key update skip locked)
  update webhook_subscriptions s set last_delivery_status = 'PoisonAborted'
    from ended e where s.integration_id = e.integration_id and s.id = e.id`;

const FIND_OVERDUE = `
  select s.integration_id as "integrationId", s.id as "subscriptionId" from webhook_subscriptions s
   where s.enabled and s.deleted_at is null
     and exists (select 1 from webhook_deliveries d
                  where d.integration_id = s.integration_id and d.subscription_id = s.id and d.status = 'Pending'
                    and d.lease is null and d.next_attempt_at <= now() - interval '${OVERDUE_GRACE_S} s')`;

/** After this time without an attempt, what is due waits for a run of the engine that does not come. */
const STALLED_S = 30;
/** A sweep begins at most this many drains by itself, so that an engine that is only late is not passed by. */
const MAX_STALLED = 50;

/**
 * Finds subscriptions of which the engine was told, but that no drain has read since, while nothing of them is under way. Their run may be
 * that of a process that hangs: the engine waits for it, and begins no other one.
 */
export function findStalled(db: Database): Promise<SubscriptionKey[]> {
  return db.query<SubscriptionKey>(FIND_STALLED, []);
}

const FIND_STALLED = `
  select s.integration_id as "integrationId", s.id as "subscriptionId" from webhook_subscriptions s
   where s.enabled and s.deleted_at is null and s.nudged_at is not null
     and exists (select 1 from webhook_deliveries d
                  where d.integration_id = s.integration_id and d.subscription_id = s.id and d.status = 'Pending'
                    and d.lease is null and d.next_attempt_at <= now() - interval '${STALLED_S} s')
     and (s.integration_id, s.id) not in (
           select integration_id, subscription_id from webhook_deliveries where status = 'Pending' and lease is not null)
   order by s.nudged_at limit ${MAX_STALLED}`;

/** The result of an attempt, or the end of a delivery without an attempt (`startedAt` null). */
export interface AttemptRecord extends SubscriptionKey {
  deliveryId: string;
  lease: string;
  attempt: number;
  status: DeliveryStatus;
  failureClass: string | null;
  retryDelayMs: number | null;
  startedAt: string | null;
  durationMs: number;
  httpStatus: number | null;
  address: string | null;
  /** The receiver's Retry-After. The schedule does not follow it. */
  retryAfter: string | null;
  /** What went wrong; null if it was delivered. */
  errorCode: string | null;
  /** Null if nothing answered, or answers are not kept. */
  answer: KeptAnswer | null;
  /** Tests do not change the subscription's health. */
  isTest: boolean;
}

/** Reads the number of pending deliveries, how long the oldest due one has waited, and the number of unfolded changes. */
export async function readBacklog(db: Database): Promise<{ pending: number; ageSeconds: number; unfolded: number }> {
  const [row] = await db.query<{ pending: number; ageSeconds: number; unfolded: number }>(READ_BACKLOG, []);
  return row!;
}

// Each number comes from an index on pending rows only, so finished ones are never read. What is held for a disabled subscription is
// pending, but waits for nobody.
const READ_BACKLOG = `
  select (select count(*)::int from webhook_deliveries where status = 'Pending' and lease is null)
         + (select count(*)::int from webhook_deliveries where status = 'Pending' and lease is not null) as pending,
         (select coalesce(greatest(0, extract(epoch from now() - min(d.next_attempt_at))), 0)::float8
            from webhook_subscriptions s
            cross join lateral (
              select next_attempt_at from webhook_deliveries d
               where d.integration_id = s.integration_id and d.subscription_id = s.id and d.status = 'Pending' and d.lease is null
               order by next_attempt_at limit 1) d
           where s.enabled and s.deleted_at is null) as "ageSeconds",
         (select count(*)::int from session_deltas) as unfolded`;
