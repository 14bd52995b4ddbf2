import { and, eq, type SQL, sql } from 'drizzle-orm';
import type {
  ListSkippedEventsInput,
  SentSkipped,
  SkippedCount,
  SkippedEvent,
  SkipReason,
} from '../../contract/deliveries';
import { ApiError } from '../../contract/errors';
import type { EventTypeName } from '../../contract/events';
import type { Page } from '../../contract/pagination';
import type { Database, Transaction } from '../../db/client';
import { domainEvents, webhookSubscriptions } from '../../db/schema';
import { type Actor, recordAct } from '../audit/acts';
import type { DomainContext } from '../domain/context';
import type { Position } from '../domain/cursors';
import { ERASED_PAYLOAD } from '../domain/erased-users';
import { newestFirst, readPage } from '../domain/pages';
import { createId } from '../platform/ids';
import { assertKnown } from './delivery-log';
import { LOG_RETENTION_DAYS } from './retention';
import type { WebhookContext } from './subscriptions';

// Events that were not sent to a subscription of their type. Those that were skipped only because it was disabled can be sent.

const EVENTS = newestFirst(domainEvents, 'createdAt');

/**
 * Lists the events of the last 30 days that were not sent to a subscription, newest first, each with the reason at the time
 * of the event. NOT_FOUND for an unknown subscription.
 */
export async function listSkippedEvents(
  context: DomainContext,
  input: ListSkippedEventsInput,
): Promise<Page<SkippedEvent>> {
  const { id } = input;
  const isOfSubscription = sql`jsonb_exists(e.skips, ${id})`;
  const page = await readPage(context, { route: 'skipped-events', filters: { id } }, input, {
    async read(after, limit) {
      const rows: WalkedEvent[] = [];
      const walk = {
        integrationId: context.integration.id,
        direction: 'desc',
        after: after ?? ['infinity', ''],
        limit,
      } as const;
      for await (const found of walkSkipped(context.db.orm, walk, isOfSubscription)) {
        rows.push(...found);
        if (rows.length >= limit) break;
      }
      return rows;
    },
    locate: EVENTS.locate,
    show: (row): SkippedEvent => ({
      eventId: row.id,
      eventType: row.type,
      reason: row.skips[id]!,
      createdAt: row.createdAt,
      payload: row.payload,
    }),
  });
  if (page.data.length === 0) await assertKnown(context, id);
  return page;
}

/** How many events one statement examines, because those that were skipped for another subscription are in the same index. */
export const MAX_EXAMINED_AT_ONCE = 20_000;

interface SkippedWalk {
  integrationId: string;
  direction: 'asc' | 'desc';
  after: Position;
  until?: string | undefined;
  /** The most events that it yields at once. */
  limit: number;
}

type WalkedEvent = {
  id: string;
  type: EventTypeName;
  payload: string;
  skips: Record<string, SkipReason>;
  createdAt: string;
};

/** Walks the skipped events of the last 30 days of which `condition` is true, by the time when they fired, in short statements. */
async function* walkSkipped(
  db: Pick<Transaction, 'execute'>,
  { integrationId, direction, after, until = 'infinity', limit }: SkippedWalk,
  condition: SQL,
): AsyncGenerator<WalkedEvent[]> {
  const order = sql.raw(`e.created_at ${direction}, e.id ${direction}`);
  const isAscending = direction === 'asc';
  const [follows, reaches] = (isAscending ? ['>', '<='] : ['<', '>=']).map(sql.raw) as [SQL, SQL];
  const oldest = sql`now() - ${`${LOG_RETENTION_DAYS} days`}::interval`;
  // One bound for each end: with two for the beginning, Postgres may begin at the wider one, and read again what is done.
  const isBeforeEnd = isAscending ? sql`e.created_at < ${until}::timestamptz` : sql`e.created_at > ${oldest}`;
  for (let place = after; ; ) {
    const placeAt = sql`${place[0]}::timestamptz`;
    const isNext = sql`
      e.integration_id = ${integrationId} and e.skips is not null and ${isBeforeEnd}
      and (e.created_at, e.id) ${follows} (${isAscending ? sql`greatest(${placeAt}, ${oldest})` : placeAt}, ${place[1]})`;
    const [edge] = await db.execute<Pick<WalkedEvent, 'id' | 'createdAt'>>(sql`
      select e.id, e.created_at as "createdAt" from domain_events e where ${isNext}
       order by ${order} offset ${MAX_EXAMINED_AT_ONCE - 1} limit 1`);
    const isWithin = edge
      ? sql`(e.created_at, e.id) ${reaches} (${edge.createdAt}::timestamptz, ${edge.id})`
      : sql`true`;
    // The inner limit keeps to the index, however few events the planner expects to match.
    const found = await db.execute<WalkedEvent>(sql`
      select e.id, e.type, e.payload, e.skips, e.created_at as "createdAt"
        from (select e.* from domain_events e where ${isNext} order by ${order} limit ${MAX_EXAMINED_AT_ONCE}) e
       where ${isWithin} and ${condition} order by ${order} limit ${limit}`);
    yield found;
    const last = found.length === limit ? found.at(-1) : edge;
    if (!last) return;
    place = EVENTS.locate(last);
  }
}

/** Counts the events that `sendSkippedEvents` would send. NOT_FOUND for an unknown subscription. */
export async function countSkippedEvents(context: DomainContext, { id }: { id: string }): Promise<SkippedCount> {
  const [counted] = await Promise.all([
    countSendable(context.db, context.integration.id, id),
    assertKnown(context, id),
  ]);
  return counted;
}

/** How many skipped events of an integration one count examines, so that many skipped by a threshold do not make it slow. */
const MAX_EXAMINED = 10_000;

async function countSendable(db: Database, integrationId: string, id: string): Promise<SkippedCount> {
  const [row] = await db.query<SkippedCount>(COUNT, [integrationId, id]);
  return row!;
}

const isSendable = (event: string) => `
  ${event}.skips ->> $2 = 'disabled' and ${event}.payload <> '${ERASED_PAYLOAD}' and ${event}.type = (
    select event_type from webhook_subscriptions where integration_id = $1 and id = $2)`;

const COUNT = `
  select count(*) filter (where ${isSendable('e')})::int as count, count(*) = ${MAX_EXAMINED} as "isMore"
    from (select skips, type, payload from domain_events
           where integration_id = $1 and skips is not null and created_at > now() - interval '${LOG_RETENTION_DAYS} days' order by created_at desc, id desc limit ${MAX_EXAMINED}) e`;

/** How many events one call sends. */
export const MAX_SENT = 1_000;

/** Sends skipped events of the last 30 days, as `sendSkipped` does, and counts what is left. */
export async function sendSkippedEvents(
  context: WebhookContext & { actor: Actor },
  { id }: { id: string },
): Promise<SentSkipped> {
  const sent = await sendSkipped(context, id);
  return { sent, remaining: await countSendable(context.db, context.integration.id, id) };
}

/** When the events fired: [from, until). */
interface FiringTimes {
  from?: string | undefined;
  until?: string | undefined;
}

/**
 * Sends the events of the last 30 days that were skipped only because the subscription was disabled, oldest first, at most 1,000.
 * Each becomes a new delivery, due after those that wait already. It is no longer skipped, so another call does not send it again.
 * Returns how many. UNSUPPORTED_OPERATION if the subscription is disabled, NOT_FOUND if it is unknown or deleted.
 */
export async function sendSkipped(
  context: WebhookContext & { actor: Actor },
  id: string,
  times: FiringTimes = {},
): Promise<number> {
  const { db } = context;
  const integrationId = context.integration.id;
  let sent = 0;
  // A call at the same time may take what the walk has found. Then this one looks for the rest.
  for (let isTakenByOthers = true; isTakenByOthers && sent < MAX_SENT; ) {
    // Without the lock: the walk may read all that was skipped in 30 days, and results of deliveries would wait for it.
    const condition = selectSendable(id, await readEnabled(db.orm, integrationId, id));
    const found = await findOldest(db.orm, { integrationId, times, limit: MAX_SENT - sent }, condition);
    const taken = found.length > 0 ? await takeSkipped(context, id, found) : 0;
    sent += taken;
    isTakenByOthers = taken < found.length;
  }
  if (sent > 0) context.publisher.publish([{ integrationId, subscriptionId: id }]);
  return sent;
}

const selectSendable = (id: string, { eventType }: { eventType: EventTypeName }): SQL =>
  sql`e.skips ->> ${id} = 'disabled' and e.payload <> ${ERASED_PAYLOAD} and e.type = ${eventType}`;

/** Reads a subscription to which can be sent. A lock keeps it enabled until the transaction ends. */
async function readEnabled(db: Pick<Transaction, 'select'>, integrationId: string, id: string, isLocked = false) {
  const { name, eventType, enabled, deletedAt } = webhookSubscriptions;
  const query = db
    .select({ name, eventType, enabled, deletedAt })
    .from(webhookSubscriptions)
    .where(and(eq(webhookSubscriptions.integrationId, integrationId), eq(webhookSubscriptions.id, id)));
  const [subscription] = await (isLocked ? query.for('no key update') : query);
  if (!subscription || subscription.deletedAt !== null) throw new ApiError('NOT_FOUND', 'Webhook not found');
  if (!subscription.enabled)
    throw new ApiError('UNSUPPORTED_OPERATION', 'The subscription is disabled: only enabled ones are sent to');
  return subscription;
}

async function findOldest(
  db: Pick<Transaction, 'execute'>,
  { integrationId, times, limit }: { integrationId: string; times: FiringTimes; limit: number },
  condition: SQL,
): Promise<{ id: string }[]> {
  const after: Position = [times.from ?? '-infinity', ''];
  const walk = { integrationId, direction: 'asc', after, until: times.until, limit } as const;
  const found: { id: string }[] = [];
  for await (const events of walkSkipped(db, walk, condition)) {
    found.push(...events.slice(0, limit - found.length).map(({ id }) => ({ id })));
    if (found.length === limit) break;
  }
  return found;
}

/** Makes deliveries of events that a walk has found. Returns of how many: others may have been taken, or changed, since. */
async function takeSkipped(
  { db, integration, actor }: WebhookContext & { actor: Actor },
  id: string,
  found: { id: string }[],
): Promise<number> {
  const integrationId = integration.id;
  return db.orm.transaction(async (tx) => {
    // The lock lets one call send at a time, and nobody disable or delete the subscription meanwhile.
    const subscription = await readEnabled(tx, integrationId, id, true);
    const events = await tx.execute<{ id: string }>(lockEvents(integrationId, found, selectSendable(id, subscription)));
    if (events.length === 0) return 0;
    const deliveries = events.map((event, place) => ({ id: createId('dlv'), eventId: event.id, place }));
    await tx.execute(insertDeliveries(integrationId, id, JSON.stringify(deliveries)));
    const details = { name: subscription.name, sent: deliveries.length };
    await recordAct(tx, actor, { action: 'SkippedEventsSent', integrationId, subjectId: id, details });
    return deliveries.length;
  });
}

/** Locks events that a walk has found, unless they changed since: an erasure may have emptied them. */
const lockEvents = (integrationId: string, events: { id: string }[], condition: SQL) => sql`
  select e.id from domain_events e join json_to_recordset(${JSON.stringify(events)}::text::json) r(id text) on r.id = e.id
   where e.integration_id = ${integrationId} and ${condition}
   order by e.created_at, e.id for update of e`;

// A millisecond apart, because the drain claims in the order in which deliveries are due. The time of a delivery is that of its event.
const insertDeliveries = (integrationId: string, id: string, deliveries: string) => sql`
  with r as (select * from json_to_recordset(${deliveries}::text::json) r(id text, "eventId" text, place int)),
  told as (
    update domain_events e set skips = nullif(e.skips - ${id}::text, '{}')
      from r where e.integration_id = ${integrationId} and e.id = r."eventId"
    returning e.id, e.created_at)
  insert into webhook_deliveries (integration_id, id, subscription_id, event_id, created_at, next_attempt_at)
  select ${integrationId}, r.id, ${id}, told.id, told.created_at, now() + r.place * interval '1 ms'
    from r join told on told.id = r."eventId"
  on conflict (integration_id, event_id, subscription_id) do nothing`;
