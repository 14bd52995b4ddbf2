import { and, asc, eq, getTableColumns, gte, lt, type SQL, sql } from 'drizzle-orm';
import type {
  Delivery,
  DeliveryDetails,
  ListDeliveriesInput,
  RecoverDeliveriesInput,
  SentRequest,
} from '../../contract/deliveries';
import { ApiError } from '../../contract/errors';
import type { Page } from '../../contract/pagination';
import {
  domainEvents,
  webhookAnswers,
  webhookAttempts,
  webhookDeliveries,
  webhookSubscriptions,
} from '../../db/schema';
import type { DomainContext } from '../domain/context';
import { eitherFirst, readPage } from '../domain/pages';
import { getSession } from '../domain/sessions';
import { makeSignedHeaders, openSecret } from './attempt';
import { showBody } from './kept-answers';
import type { WebhookContext } from './subscriptions';
import { selectSessionEvents } from './told-events';

const DELIVERIES = eitherFirst(webhookDeliveries, 'createdAt');

/**
 * Lists the deliveries of a subscription, newest or oldest first, filtered by status and by the time of their event. Works for deleted
 * subscriptions too. NOT_FOUND for an unknown subscription.
 */
export async function listDeliveries(context: DomainContext, input: ListDeliveriesInput): Promise<Page<Delivery>> {
  const { id, status, startDate, endDate, sort } = input;
  const walk = { route: 'deliveries', filters: { id, status, startDate: startDate?.at, endDate: endDate?.at, sort } };
  const order = DELIVERIES[sort];
  const { createdAt, integrationId } = webhookDeliveries;
  const conditions: (SQL | undefined)[] = [eq(webhookDeliveries.subscriptionId, id)];
  if (status) conditions.push(eq(webhookDeliveries.status, status));
  // Postgres uses the partial index of failures only if the query repeats the index's condition.
  if (status && status !== 'Pending' && status !== 'Delivered')
    conditions.push(sql`${webhookDeliveries.status} not in ('Pending', 'Delivered')`);
  if (startDate) conditions.push(gte(createdAt, startDate.at));
  if (endDate) conditions.push(lt(createdAt, endDate.at));
  const page = await readPage(context, walk, input, {
    read: (after, limit) =>
      selectDeliveries(context)
        .where(and(eq(integrationId, context.integration.id), ...conditions, order.isAfter(after)))
        .orderBy(...order.orderBy)
        .limit(limit),
    locate: order.locate,
    show: showDelivery,
  });
  if (page.data.length === 0) await assertKnown(context, id);
  return page;
}

/** Lists the deliveries about a session, newest first, at most 100. NOT_FOUND for an unknown session. */
export async function listSessionDeliveries(context: DomainContext, input: { sessionId: string }): Promise<Delivery[]> {
  const { eventId, integrationId } = webhookDeliveries;
  const eventIds = await selectSessionEvents(context, input.sessionId);
  const rows = await selectDeliveries(context)
    .where(and(eq(integrationId, context.integration.id), sql`${eventId} in (${eventIds})`))
    .orderBy(...DELIVERIES.newest.orderBy)
    .limit(MAX_SESSION_DELIVERIES);
  if (rows.length === 0) await getSession(context, input);
  return rows.map(showDelivery);
}

const MAX_SESSION_DELIVERIES = 100;

/** Finds one delivery with its payload, its request and all attempts. NOT_FOUND for an unknown id. */
export async function getDelivery(context: WebhookContext, input: { id: string }): Promise<DeliveryDetails> {
  const integrationId = context.integration.id;
  const isOne = and(eq(webhookDeliveries.integrationId, integrationId), eq(webhookDeliveries.id, input.id));
  const [[row], attempts] = await Promise.all([
    selectDeliveries(context).where(isOne),
    context.db.orm
      .select({ attempt: webhookAttempts, answer: webhookAnswers })
      .from(webhookAttempts)
      .leftJoin(
        webhookAnswers,
        and(
          eq(webhookAnswers.integrationId, webhookAttempts.integrationId),
          eq(webhookAnswers.deliveryId, webhookAttempts.deliveryId),
          eq(webhookAnswers.resend, webhookAttempts.resend),
          eq(webhookAnswers.attempt, webhookAttempts.attempt),
        ),
      )
      .where(and(eq(webhookAttempts.integrationId, integrationId), eq(webhookAttempts.deliveryId, input.id)))
      .orderBy(asc(webhookAttempts.resend), asc(webhookAttempts.attempt)),
  ]);
  if (!row) throw new ApiError('NOT_FOUND', 'Delivery not found');
  const request = await findSentRequest(context, row, attempts.at(-1)?.attempt.startedAt);
  const attemptLog = attempts.map(({ attempt, answer }) => ({ ...attempt, answer: answer && showAnswer(answer) }));
  return { ...showDelivery(row), payload: row.payload, request, attemptLog };
}

const showAnswer = (answer: typeof webhookAnswers.$inferSelect) => ({
  receivedAt: answer.receivedAt,
  headers: answer.headers,
  body: showBody(answer),
  isCut: answer.isCut,
});

/**
 * Makes the request of the attempt that began at `startedAt`. Returns null if there was no attempt, or if the payload or the
 * secret is missing.
 */
async function findSentRequest(
  { db, secrets }: WebhookContext,
  delivery: DeliveryRow,
  startedAt: string | undefined,
): Promise<SentRequest | null> {
  const { id: deliveryId, integrationId, subscriptionId, eventType, payload, isTest } = delivery;
  if (payload === null || startedAt === undefined) return null;
  const { url, secretSealed } = webhookSubscriptions;
  const [subscription] = await db.orm
    .select({ url, secretSealed })
    .from(webhookSubscriptions)
    .where(and(eq(webhookSubscriptions.integrationId, integrationId), eq(webhookSubscriptions.id, subscriptionId)));
  const secret = subscription && openSecret(secrets, { ...subscription, integrationId, subscriptionId });
  if (!secret) return null;
  const signed = { deliveryId, subscriptionId, eventType, payload, isTest };
  return { method: 'POST', url: subscription.url, headers: makeSignedHeaders(secret, signed, new Date(startedAt)) };
}

/**
 * Sends a finished delivery again, delivered or not. It keeps its id and gets all attempts again. NOT_FOUND for an unknown
 * id. UNSUPPORTED_OPERATION while it is pending, for a test, and if its subscription is disabled or deleted.
 */
export async function resendDelivery(context: WebhookContext, input: { id: string }): Promise<DeliveryDetails> {
  const integrationId = context.integration.id;
  const [resent] = await context.db.query<{ subscriptionId: string }>(RESEND, [integrationId, input.id]);
  const delivery = await getDelivery(context, input);
  if (!resent) throw new ApiError('UNSUPPORTED_OPERATION', explainRefusal(delivery));
  context.publisher.publish([{ integrationId, subscriptionId: resent.subscriptionId }]);
  return delivery;
}

function explainRefusal({ test, status }: Delivery): string {
  if (test) return 'A test delivery cannot be sent again: send another test';
  if (status === 'Pending') return 'The delivery is pending: it will be attempted on schedule';
  return 'The subscription is disabled or deleted: only enabled ones are sent to';
}

// Locks the subscription before the delivery, as everywhere, so that a concurrent delete or disable is seen.
const lockActive = (id: string) => `
  active as materialized (
    select s.integration_id, s.id from webhook_subscriptions s
     where s.integration_id = $1 and s.id = ${id} and s.enabled and s.deleted_at is null for share)`;

const RESTART = `
  update webhook_deliveries d
     set status = 'Pending', attempts = 0, resends = d.resends + 1, crashes = 0, failure_class = null, finished_at = null,
         next_attempt_at = now()`;

const RESEND = `
  with ${lockActive('(select subscription_id from webhook_deliveries where integration_id = $1 and id = $2)')}
  ${RESTART}
    from active where d.integration_id = active.integration_id and d.subscription_id = active.id
     and d.id = $2 and d.status <> 'Pending' and not d.is_test
  returning d.subscription_id as "subscriptionId"`;

const RECOVERY_BATCH_SIZE = 1_000;

/**
 * Sends all failed deliveries of a subscription again whose event fired within the time range. Returns how many.
 * NOT_FOUND for an unknown subscription. UNSUPPORTED_OPERATION if it is disabled or deleted.
 */
export async function recoverDeliveries(
  context: WebhookContext,
  input: RecoverDeliveriesInput,
): Promise<{ recovered: number }> {
  const { id, startDate, endDate } = input;
  const integrationId = context.integration.id;
  const { isActive, now } = await assertKnown(context, id);
  if (!isActive)
    throw new ApiError(
      'UNSUPPORTED_OPERATION',
      'The subscription is disabled or deleted: only enabled ones are sent to',
    );
  let recovered = 0;
  for (let found = RECOVERY_BATCH_SIZE; found === RECOVERY_BATCH_SIZE; recovered += found) {
    // Deliveries that fail again meanwhile are not restarted, because they ended after `now`.
    const batch = await context.db.query(RECOVER, [integrationId, id, startDate.at, endDate?.at ?? null, now]);
    found = batch.length;
    if (found > 0) context.publisher.publish([{ integrationId, subscriptionId: id }]);
  }
  return { recovered };
}

const RECOVER = `
  with ${lockActive('$2')},
  failed as (
    select d.integration_id, d.id from webhook_deliveries d join active on d.integration_id = active.integration_id and d.subscription_id = active.id
     where d.status not in ('Pending', 'Delivered') and not d.is_test
       and d.created_at >= $3::timestamptz and ($4::timestamptz is null or d.created_at < $4::timestamptz)
       and d.finished_at <= $5::timestamptz
     order by d.created_at, d.id limit ${RECOVERY_BATCH_SIZE} for update of d skip locked)
  ${RESTART}
    from failed where d.integration_id = failed.integration_id and d.id = failed.id
  returning 1`;

/** Finds a subscription. Deleted ones are found too, because their log stays. */
export async function assertKnown(context: DomainContext, id: string): Promise<{ isActive: boolean; now: string }> {
  const [found] = await context.db.orm
    .select({
      isActive: sql<boolean>`${webhookSubscriptions.enabled} and ${webhookSubscriptions.deletedAt} is null`,
      now: sql<string>`now()`,
    })
    .from(webhookSubscriptions)
    .where(and(eq(webhookSubscriptions.integrationId, context.integration.id), eq(webhookSubscriptions.id, id)));
  if (!found) throw new ApiError('NOT_FOUND', 'Webhook not found');
  return found;
}

/** Selects deliveries with their events. A test delivery has no event, so it has its subscription's event type. */
const selectDeliveries = ({ db }: DomainContext) =>
  db.orm
    .select({
      ...getTableColumns(webhookDeliveries),
      eventType: sql<Delivery['eventType']>`coalesce(${domainEvents.type}, ${webhookSubscriptions.eventType})`,
      payload: domainEvents.payload,
    })
    .from(webhookDeliveries)
    .innerJoin(
      webhookSubscriptions,
      and(
        eq(webhookSubscriptions.integrationId, webhookDeliveries.integrationId),
        eq(webhookSubscriptions.id, webhookDeliveries.subscriptionId),
      ),
    )
    .leftJoin(
      domainEvents,
      and(
        eq(domainEvents.integrationId, webhookDeliveries.integrationId),
        eq(domainEvents.id, webhookDeliveries.eventId),
      ),
    );

type DeliveryRow = Awaited<ReturnType<typeof selectDeliveries>>[number];

const showDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  subscriptionId: row.subscriptionId,
  eventId: row.eventId,
  eventType: row.eventType,
  test: row.isTest,
  status: row.status,
  failureClass: row.failureClass,
  attempts: row.attempts,
  resends: row.resends,
  createdAt: row.createdAt,
  nextAttemptAt: row.lease === null ? row.nextAttemptAt : null,
  finishedAt: row.finishedAt,
});
