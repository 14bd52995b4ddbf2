import { and, asc, desc, eq, getTableColumns, gte, lt, type SQL, sql } from 'drizzle-orm';
import type {
  Delivery,
  DeliveryDetails,
  DeliveryOfWebhook,
  InspectedDelivery,
  ListDeliveriesInput,
  SentRequest,
} from '../../contract/deliveries';
import { ApiError } from '../../contract/errors';
import type { Page } from '../../contract/pagination';
import type { Database } from '../../db/client';
import {
  domainEvents,
  webhookAnswers,
  webhookAttempts,
  webhookDeliveries,
  webhookSubscriptions,
} from '../../db/schema';
import type { DomainContext } from '../domain/context';
import { ERASED_PAYLOAD } from '../domain/erased-users';
import { eitherFirst, readPage } from '../domain/pages';
import { getSession } from '../domain/sessions';
import { makeSignedHeaders, openSecrets } from './attempt';
import { READ_SECRETS } from './deliveries';
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
  /** A cursor stands within the window. With a second bound at its side, Postgres may begin there and read all up to the cursor. */
  const isInWindow = (isFirstPage: boolean) =>
    and(
      startDate && (isFirstPage || sort === 'newest') ? gte(createdAt, startDate.at) : undefined,
      endDate && (isFirstPage || sort === 'oldest') ? lt(createdAt, endDate.at) : undefined,
    );
  const page = await readPage(context, walk, input, {
    read: (after, limit) =>
      selectDeliveries(context.db)
        .where(
          and(
            eq(integrationId, context.integration.id),
            ...conditions,
            isInWindow(after === null),
            order.isAfter(after),
          ),
        )
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
  const rows = await selectDeliveries(context.db)
    .where(and(eq(integrationId, context.integration.id), sql`${eventId} in (${eventIds})`))
    .orderBy(...DELIVERIES.newest.orderBy)
    .limit(MAX_SESSION_DELIVERIES);
  if (rows.length === 0) await getSession(context, input);
  return rows.map(showDelivery);
}

const MAX_SESSION_DELIVERIES = 100;

/** Finds one delivery with its payload, its request and all attempts. NOT_FOUND for an unknown id. */
export async function getDelivery(context: WebhookContext, input: { id: string }): Promise<InspectedDelivery> {
  const [{ row, details }, answers] = await Promise.all([
    readDelivery(context, input.id),
    readAnswers(context, input.id),
  ]);
  const attemptLog = details.attemptLog.map((attempt) => ({
    ...attempt,
    answer: answers.get(nameAttempt(attempt)) ?? null,
  }));
  return { ...details, attemptLog, request: await findSentRequest(context, row, attemptLog.at(-1)?.startedAt) };
}

/** Finds one delivery of a subscription as its customer sees it. NOT_FOUND for an unknown id. */
export async function getWebhookDelivery(context: DomainContext, input: DeliveryOfWebhook): Promise<DeliveryDetails> {
  return (await readDelivery(context, input.deliveryId, input.id)).details;
}

/** Reads a delivery, if a subscription is given only one of it. */
async function readDelivery({ db, integration }: DomainContext, id: string, subscriptionId?: string) {
  const integrationId = integration.id;
  const isOne = and(
    eq(webhookDeliveries.integrationId, integrationId),
    eq(webhookDeliveries.id, id),
    subscriptionId === undefined ? undefined : eq(webhookDeliveries.subscriptionId, subscriptionId),
  );
  const [[row], attempts] = await Promise.all([
    selectDeliveries(db).where(isOne),
    db.orm
      .select()
      .from(webhookAttempts)
      .where(and(eq(webhookAttempts.integrationId, integrationId), eq(webhookAttempts.deliveryId, id)))
      .orderBy(asc(webhookAttempts.resend), asc(webhookAttempts.attempt)),
  ]);
  if (!row) throw new ApiError('NOT_FOUND', 'Delivery not found');
  return { row, details: { ...showDelivery(row), payload: row.payload, attemptLog: attempts } };
}

/** A receiver may send 12 KB that are kept with each attempt, and a delivery may have thousands. */
const MAX_SHOWN_ANSWERS = 100;

const nameAttempt = ({ resend, attempt }: { resend: number; attempt: number }) => `${resend} ${attempt}`;

/** Reads what was kept of the latest answers to a delivery, by attempt. */
async function readAnswers({ db, integration }: DomainContext, id: string) {
  const { integrationId, deliveryId, resend, attempt } = webhookAnswers;
  const answers = await db.orm
    .select()
    .from(webhookAnswers)
    .where(and(eq(integrationId, integration.id), eq(deliveryId, id)))
    .orderBy(desc(resend), desc(attempt))
    .limit(MAX_SHOWN_ANSWERS);
  return new Map(answers.map((answer) => [nameAttempt(answer), showAnswer(answer)]));
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
  const [subscription] = await db.query<{ url: string; secretSealed: Buffer; previousSecretSealed: Buffer | null }>(
    `select s.url, ${READ_SECRETS} from webhook_subscriptions s where s.integration_id = $1 and s.id = $2`,
    [integrationId, subscriptionId],
  );
  const signingSecrets = subscription && openSecrets(secrets, { ...subscription, integrationId, subscriptionId });
  if (!signingSecrets) return null;
  const signed = { deliveryId, subscriptionId, eventType, payload, isTest };
  return {
    method: 'POST',
    url: subscription.url,
    headers: makeSignedHeaders(signingSecrets, signed, new Date(startedAt)),
  };
}

/** A delivery is sent again at most this often: its log shows all attempts, and each time keeps them for 30 days more. */
const MAX_RESENDS = 1_000;

/**
 * Sends a finished delivery again, delivered or not. It keeps its id and gets all attempts again. NOT_FOUND for an unknown
 * id. UNSUPPORTED_OPERATION while it is pending, for a test, if its event names an erased user, if its subscription is
 * disabled or deleted, and if it was sent again 1,000 times.
 */
export async function resendDelivery(context: WebhookContext, input: { id: string }): Promise<InspectedDelivery> {
  const isResent = await restart(context, input.id);
  const delivery = await getDelivery(context, input);
  if (!isResent) throw new ApiError('UNSUPPORTED_OPERATION', explainRefusal(delivery));
  return delivery;
}

/** Sends a finished delivery of a subscription again, for its customer, as `resendDelivery` does. */
export async function resendWebhookDelivery(
  context: WebhookContext,
  input: DeliveryOfWebhook,
): Promise<DeliveryDetails> {
  const isResent = await restart(context, input.deliveryId, input.id);
  const delivery = await getWebhookDelivery(context, input);
  if (!isResent) throw new ApiError('UNSUPPORTED_OPERATION', explainRefusal(delivery));
  return delivery;
}

async function restart({ db, integration, publisher }: WebhookContext, id: string, ofSubscription?: string) {
  const integrationId = integration.id;
  const [resent] = await db.query<{ subscriptionId: string }>(RESEND, [integrationId, id, ofSubscription ?? null]);
  if (resent) publisher.publish([{ integrationId, subscriptionId: resent.subscriptionId }]);
  return resent !== undefined;
}

function explainRefusal({ test, status, payload, resends }: DeliveryDetails): string {
  if (payload === ERASED_PAYLOAD) return 'The event names a user who was erased: it is not sent again';
  if (test) return 'A test delivery cannot be sent again: send another test';
  if (status === 'Pending') return 'The delivery is pending: it will be attempted on schedule';
  if (resends >= MAX_RESENDS) return 'The delivery was sent again 1,000 times, the most that is allowed';
  return 'The subscription is disabled or deleted: only enabled ones are sent to';
}

// Locks the subscription before the delivery, as everywhere, so that a concurrent delete or disable is seen.
export const lockActive = (id: string, strength: 'share' | 'no key update' = 'share') => `
  active as materialized (
    select s.integration_id, s.id from webhook_subscriptions s
     where s.integration_id = $1 and s.id = ${id} and s.enabled and s.deleted_at is null for ${strength})`;

export const RESTART = `
  update webhook_deliveries d
     set status = 'Pending', attempts = 0, resends = d.resends + 1, crashes = 0, failure_class = null, finished_at = null,
         next_attempt_at = now()`;

/** Nothing that names an erased user is sent again, and nothing without end. `d` is a delivery. */
export const MAY_RESTART = `not d.is_test and d.resends < ${MAX_RESENDS} and not exists (
  select from domain_events e where e.integration_id = d.integration_id and e.id = d.event_id and e.payload = '${ERASED_PAYLOAD}')`;

const RESEND = `
  with ${lockActive('(select subscription_id from webhook_deliveries where integration_id = $1 and id = $2)')}
  ${RESTART}
    from active where d.integration_id = active.integration_id and d.subscription_id = active.id
     and d.id = $2 and ($3::text is null or d.subscription_id = $3) and d.status <> 'Pending' and ${MAY_RESTART}
  returning d.subscription_id as "subscriptionId"`;

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

/** Selects deliveries with their events. A test delivery has no event, so it has the type that was sent, if it is known. */
const selectDeliveries = (db: Database) =>
  db.orm
    .select({
      ...getTableColumns(webhookDeliveries),
      eventType: sql<
        Delivery['eventType']
      >`coalesce(${domainEvents.type}, ${webhookDeliveries.eventType}, ${webhookSubscriptions.eventType})`,
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
