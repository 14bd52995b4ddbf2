import { EVENT_TYPE_NAMES } from '../../contract/events';
import { PLANS } from '../../contract/tiers';
import type { Database } from '../../db/client';
import { BATCH_SIZE, findOld, KEPT_BY_PLAN, removeBatches, removeInTurn, selectOldest } from '../domain/retention';
import { ABORT, DELETED_LIMIT } from './deliveries';

/** The most rows that one run removes, or ends: subscriptions of an integration, deliveries to them, events of a type. The next continues. */
const MAX_REMOVED = 100_000;

/** How long the delivery log is kept. */
export const LOG_RETENTION_DAYS = 30;

/**
 * Removes deliveries that ended over 30 days ago, with their attempts, in small transactions. Counts of their outcomes stay
 * for usage, and the events keep how they ended. Returns how many were removed: if there are any, more may be left.
 */
export async function pruneDeliveries(db: Database, hasTime?: () => boolean): Promise<number> {
  const oldest = selectOldest('webhook_deliveries', 'finished_at', "t.status <> 'Pending'");
  const old = await findOld(db, oldest, `interval '${LOG_RETENTION_DAYS} days'`);
  const keys = old.map(({ id }) => [id]);
  return removeInTurn(db, PRUNE, keys, hasTime);
}

const PRUNE = `
  with old as (
    select integration_id, id, event_id, subscription_id, status, status = 'Delivered' as is_delivered, is_test,
           (finished_at at time zone 'UTC')::date as day
      from webhook_deliveries
     where integration_id = $1 and status <> 'Pending' and finished_at < now() - interval '${LOG_RETENTION_DAYS} days'
     order by finished_at limit ${BATCH_SIZE} for update skip locked),
  counted as (
    insert into pruned_outcomes as p (integration_id, day, delivered, failed)
    select integration_id, day, count(*) filter (where is_delivered), count(*) filter (where not is_delivered)
      from old where not is_test group by integration_id, day
    on conflict (integration_id, day) do update
      set delivered = p.delivered + excluded.delivered, failed = p.failed + excluded.failed),
  noted as (
    update domain_events e set ended = coalesce(e.ended, '{}') || o.ended
      from (select event_id, jsonb_object_agg(subscription_id, status) as ended from old where not is_test group by event_id) o
     where e.integration_id = $1 and e.id = o.event_id),
  forgotten as (
    delete from webhook_attempts a using old where a.integration_id = old.integration_id and a.delivery_id = old.id),
  unkept as (
    delete from webhook_answers a using old where a.integration_id = old.integration_id and a.delivery_id = old.id)
  delete from webhook_deliveries d using old where d.integration_id = old.integration_id and d.id = old.id
  returning 1`;

/** How long answers of receivers are kept. */
const ANSWER_RETENTION_DAYS = 7;

/**
 * Removes answers of receivers that are over seven days old, in small transactions. If answers are not to be kept, removes all of
 * them. Removes them however many they are, because their end is promised. Returns how many were removed.
 */
export const pruneAnswers = (db: Database, isKept: boolean): Promise<number> =>
  removeBatches(db, PRUNE_ANSWERS, [isKept ? ANSWER_RETENTION_DAYS : 0]);

const PRUNE_ANSWERS = `
  with old as (
    select integration_id, delivery_id, resend, attempt from webhook_answers
     where received_at <= now() - $1::int * interval '1 day'
     order by received_at limit ${BATCH_SIZE} for update skip locked)
  delete from webhook_answers a using old
   where a.integration_id = old.integration_id and a.delivery_id = old.delivery_id and a.resend = old.resend and a.attempt = old.attempt
  returning 1`;

/** Removes old signing secrets whose grace period is over. Returns how many. */
export async function prunePreviousSecrets(db: Database): Promise<number> {
  return (await db.query(PRUNE_PREVIOUS_SECRETS, [])).length;
}

// Locks in the recorder's order, so that the two cannot deadlock. What is locked is left to the next run.
const PRUNE_PREVIOUS_SECRETS = `
  with old as materialized (
    select integration_id, id from webhook_subscriptions where previous_secret_until <= now()
     order by integration_id, id for no key update skip locked)
  update webhook_subscriptions s set previous_secret_sealed = null, previous_secret_until = null
    from old where s.integration_id = old.integration_id and s.id = old.id returning 1`;

/**
 * Removes deleted subscriptions that the delivery log no longer shows. One that was deleted within the last hour stays, because
 * an attempt may still be under way. Ends deliveries that still wait, if no sweep ran in that hour. Returns how many were removed.
 */
export async function pruneSubscriptions(db: Database): Promise<number> {
  let pruned = 0;
  for (const { id } of await db.query<{ id: string }>(FIND_DELETED_SUBSCRIPTIONS, [])) {
    await removeBatches(db, ABORT_LEFT, [id], MAX_REMOVED);
    pruned += await removeBatches(db, PRUNE_SUBSCRIPTIONS, [id], MAX_REMOVED);
  }
  return pruned;
}

const FIND_DELETED_SUBSCRIPTIONS = `
  select distinct integration_id as id from webhook_subscriptions where deleted_at < now() - ${DELETED_LIMIT} order by 1`;

const ABORT_LEFT = `
  with left_over as (
    select d.integration_id, d.id from webhook_subscriptions s
      join webhook_deliveries d on d.integration_id = s.integration_id and d.subscription_id = s.id and d.status = 'Pending' and d.lease is null
     where s.integration_id = $1 and s.deleted_at < now() - ${DELETED_LIMIT}
     limit ${BATCH_SIZE} for update of d skip locked)
  ${ABORT}
    from left_over x where d.integration_id = x.integration_id and d.id = x.id
  returning 1`;

const PRUNE_SUBSCRIPTIONS = `
  with old as (
    select integration_id, id from webhook_subscriptions s
     where integration_id = $1 and deleted_at < now() - ${DELETED_LIMIT}
       and not exists (
         select 1 from webhook_deliveries d where d.integration_id = s.integration_id and d.subscription_id = s.id)
     limit ${BATCH_SIZE} for update skip locked)
  delete from webhook_subscriptions s using old where s.integration_id = old.integration_id and s.id = old.id
  returning 1`;

/**
 * Removes events that are older than the retention of their integration's plan, in small transactions. Events that the
 * delivery log still shows stay. Returns how many were removed.
 */
export async function pruneEvents(db: Database): Promise<number> {
  let pruned = 0;
  for (const type of EVENT_TYPE_NAMES) {
    const oldest = selectOldest('domain_events', 'created_at', `t.type = '${type}'`);
    for (const { id, plan } of await findOld(db, oldest, KEPT_BY_PLAN))
      pruned += await removeBatches(db, PRUNE_EVENTS, [id, type, PLANS[plan].retentionDays], MAX_REMOVED);
  }
  return pruned;
}

const PRUNE_EVENTS = `
  with old as (
    select integration_id, id from domain_events e
     where integration_id = $1 and type = $2 and created_at < now() - $3::int * interval '1 day'
       and not exists (
         select 1 from webhook_deliveries d where d.integration_id = e.integration_id and d.event_id = e.id)
     order by created_at limit ${BATCH_SIZE} for update skip locked)
  delete from domain_events e using old where e.integration_id = old.integration_id and e.id = old.id
  returning 1`;
