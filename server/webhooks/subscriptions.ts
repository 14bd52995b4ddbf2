import { and, asc, count, eq, isNull, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import { EVENT_TYPE_NAMES, type EventTypeName, findEventType } from '../../contract/events';
import { MAX_WEBHOOKS, PLANS } from '../../contract/tiers';
import type {
  CreateWebhookInput,
  RotatedSecret,
  UpdateWebhookInput,
  Webhook,
  WebhookTestResult,
} from '../../contract/webhooks';
import type { Transaction } from '../../db/client';
import { integrations, webhookSubscriptions } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import type { DomainContext } from '../domain/context';
import { createId } from '../platform/ids';
import type { Secrets } from '../platform/secrets';
import { type AllowedHosts, findUrlFault } from './address-guard';
import { nameSecretContext } from './attempt';
import { ABORT, type SubscriptionKey } from './deliveries';
import type { Publisher } from './publisher';
import { createWebhookSecret } from './signature';
import { describeCreation, recordChanges } from './subscription-acts';
import { isToldTrouble } from './webhook-states';

export interface WebhookContext extends DomainContext {
  secrets: Secrets;
  allowedHosts: AllowedHosts;
  /** Wakes the drain of a subscription. */
  publisher: Publisher;
  /** Sends a synthetic delivery now. Returns null if there is no such subscription. */
  sendTest(key: SubscriptionKey): Promise<WebhookTestResult | null>;
}

type SubscriptionRow = typeof webhookSubscriptions.$inferSelect;

const isLive = (context: DomainContext) =>
  and(eq(webhookSubscriptions.integrationId, context.integration.id), isNull(webhookSubscriptions.deletedAt));
const isLiveOne = (context: DomainContext, id: string) => and(isLive(context), eq(webhookSubscriptions.id, id));

/** Lists all subscriptions of the integration, oldest first. There are at most 100 (specification: GET /v1/webhooks). */
export async function listWebhooks(context: DomainContext) {
  const rows = await context.db.orm
    .select()
    .from(webhookSubscriptions)
    .where(isLive(context))
    .orderBy(asc(webhookSubscriptions.createdAt), asc(webhookSubscriptions.id));
  return { data: rows.map(showWebhook), pagination: { hasMore: false as const, limit: MAX_WEBHOOKS } };
}

/** Finds one subscription (specification: GET /v1/webhooks/{id}). */
export async function getWebhook(context: DomainContext, input: { id: string }): Promise<Webhook> {
  const [row] = await context.db.orm.select().from(webhookSubscriptions).where(isLiveOne(context, input.id));
  return showWebhook(orNotFound(row));
}

/**
 * Creates a subscription. Its secret is returned here and never again (specification: POST /v1/webhooks, Rules 3–6).
 * INVALID_URL, INVALID_EVENT_TYPE, or PLAN_LIMIT_REACHED at the plan's limit and at 100 in total.
 */
export async function createWebhook(
  context: WebhookContext & AuditedContext,
  input: CreateWebhookInput,
): Promise<Webhook & { secret: string }> {
  const url = assertDeliverable(context, input.url);
  const eventType = assertEventType(input.eventType);
  const integrationId = context.integration.id;
  const id = createId('whk');
  const secret = createWebhookSecret();
  const row = await context.db.orm.transaction(async (tx) => {
    await assertBelowCap(tx, context);
    const [created] = await tx
      .insert(webhookSubscriptions)
      .values({
        integrationId,
        id,
        url,
        eventType,
        threshold: input.threshold ?? null,
        name: input.name ?? eventType,
        enabled: input.enabled ?? true,
        secretSealed: context.secrets.seal(secret, nameSecretContext(integrationId, id)),
      })
      .returning();
    await recordAct(tx, context.actor, describeCreation(created!));
    return created!;
  });
  return { ...showWebhook(row), secret };
}

/**
 * Applies the fields that are present (specification: PATCH /v1/webhooks/{id}). Enabling a disabled subscription needs a
 * free slot (PLAN_LIMIT_REACHED), resets its failures and sends what waited.
 */
export async function updateWebhook(
  context: WebhookContext & AuditedContext,
  input: UpdateWebhookInput,
): Promise<Webhook> {
  const { id, enabled, threshold, name } = input;
  const url = input.url === undefined ? undefined : assertDeliverable(context, input.url);
  const eventType = input.eventType === undefined ? undefined : assertEventType(input.eventType);
  const { row, isReenabled } = await context.db.orm.transaction(async (tx) => {
    // Lock the integration before the subscription, and only if the limit matters.
    const cap = enabled ? await lockIntegration(tx, context) : null;
    const [found] = await tx.select().from(webhookSubscriptions).where(isLiveOne(context, id)).for('update');
    const current = orNotFound(found);
    const isReenabled = cap !== null && !current.enabled;
    if (isReenabled) await assertFreeSlot(tx, context, cap.maxActive);
    const changes = { url, eventType, threshold, name, enabled, ...(isReenabled && describeNewStart(current)) };
    if (Object.values(changes).every((value) => value === undefined)) return { row: current, isReenabled };
    const [updated] = await tx.update(webhookSubscriptions).set(changes).where(isLiveOne(context, id)).returning();
    await recordChanges(tx, context.actor, current, updated!);
    return { row: updated!, isReenabled };
  });
  if (isReenabled) context.publisher.publish([{ integrationId: row.integrationId, subscriptionId: row.id }]);
  return showWebhook(row);
}

/** A subscription that is enabled again has not failed yet, and the operator is told if it does. */
const describeNewStart = ({ toldState }: SubscriptionRow) => ({
  ...{ consecutiveFailures: 0, disabledReason: null, disabledFailureClass: null },
  toldState: isToldTrouble(toldState) ? ('enabled' as const) : toldState,
});

/** Deletes a subscription and ends its pending deliveries. Its log stays (specification: DELETE /v1/webhooks/{id}). */
export async function deleteWebhook(context: DomainContext & AuditedContext, input: { id: string }): Promise<void> {
  let ended = await context.db.orm.transaction(async (tx) => {
    const [deleted] = await tx
      .update(webhookSubscriptions)
      .set({ deletedAt: sql`now()`, enabled: false })
      .where(isLiveOne(context, input.id))
      .returning();
    const { integrationId, id, name } = orNotFound(deleted);
    const act = { action: 'WebhookDeleted', integrationId, subjectId: id, details: { name } } as const;
    await recordAct(tx, context.actor, act);
    // In the same transaction, so that a webhook whose deliveries cannot be ended is not deleted.
    return (await tx.execute(endPending(integrationId, id))).length;
  });
  // A receiver that fails for hours leaves more than one statement may end. If this process dies meanwhile, the sweep ends the rest.
  while (ended === ENDED_AT_ONCE)
    ended = (await context.db.orm.execute(endPending(context.integration.id, input.id))).length;
}

const ENDED_AT_ONCE = 1_000;

// Locked in the recorder's order, so that the two cannot deadlock.
const endPending = (integrationId: string, id: string) => sql`
  with pending as materialized (
    select d.integration_id, d.id from webhook_deliveries d
     where d.integration_id = ${integrationId} and d.status = 'Pending' and d.id = any (array(
       select id from webhook_deliveries
        where integration_id = ${integrationId} and subscription_id = ${id} and status = 'Pending' limit ${ENDED_AT_ONCE}))
     order by d.id for update)
  ${sql.raw(ABORT)}
    from pending p where d.integration_id = p.integration_id and d.id = p.id
  returning 1`;

/**
 * Replaces the signing secret. Every later attempt uses the new one (specification: rotate-secret), and in the grace period the old
 * one too. Only one old secret signs: a second rotation in the grace period ends that of the first.
 */
export async function rotateWebhookSecret(
  context: WebhookContext & AuditedContext,
  input: { id: string; gracePeriodSeconds: number },
): Promise<RotatedSecret> {
  const secret = createWebhookSecret();
  const secretSealed = context.secrets.seal(secret, nameSecretContext(context.integration.id, input.id));
  return context.db.orm.transaction(async (tx) => {
    const { id: subjectId, name, secretSealed: oldSealed } = webhookSubscriptions;
    const { gracePeriodSeconds } = input;
    const hasGrace = gracePeriodSeconds > 0;
    const [rotated] = await tx
      .update(webhookSubscriptions)
      .set({
        secretSealed,
        previousSecretSealed: hasGrace ? sql`${oldSealed}` : null,
        previousSecretUntil: hasGrace ? sql`now() + ${gracePeriodSeconds}::int * interval '1 s'` : null,
      })
      .where(isLiveOne(context, input.id))
      .returning({ id: subjectId, name, rotatedAt: sql<string>`now()` });
    const row = orNotFound(rotated);
    const subject = { integrationId: context.integration.id, subjectId: row.id };
    const act = {
      action: 'WebhookSecretRotated',
      ...subject,
      details: { name: row.name, gracePeriodSeconds },
    } as const;
    await recordAct(tx, context.actor, act);
    return { id: row.id, secret, rotatedAt: row.rotatedAt };
  });
}

/** Sends one synthetic delivery and waits for its outcome. Works for disabled subscriptions too (specification: Test delivery). */
export async function testWebhook(context: WebhookContext, input: { id: string }): Promise<WebhookTestResult> {
  return orNotFound(await context.sendTest({ integrationId: context.integration.id, subscriptionId: input.id }));
}

function orNotFound<T>(row: T | undefined | null): T {
  if (row == null) throw new ApiError('NOT_FOUND', 'Webhook not found');
  return row;
}

function assertDeliverable(context: WebhookContext, url: string): string {
  const fault = findUrlFault(url, context.allowedHosts);
  if (fault !== null) throw new ApiError('INVALID_URL', fault, { field: 'url' });
  return url;
}

function assertEventType(name: string): EventTypeName {
  const eventType = findEventType(name);
  if (eventType) return eventType;
  throw new ApiError('INVALID_EVENT_TYPE', `eventType must be one of ${EVENT_TYPE_NAMES.join(', ')}`, {
    field: 'eventType',
  });
}

/** Locks the integration, so that only one transaction at a time counts its subscriptions, and reads its current plan. */
async function lockIntegration(tx: Transaction, context: DomainContext): Promise<{ maxActive: number }> {
  const [integration] = await tx
    .select({ plan: integrations.plan })
    .from(integrations)
    .where(eq(integrations.id, context.integration.id))
    .for('no key update');
  if (!integration) throw new ApiError('NOT_FOUND', 'Integration not found');
  return { maxActive: PLANS[integration.plan].maxActiveWebhooks };
}

/** Expects the integration's lock. */
async function assertFreeSlot(tx: Transaction, context: DomainContext, maxActive: number): Promise<void> {
  const [counted] = await tx
    .select({ active: count() })
    .from(webhookSubscriptions)
    .where(and(isLive(context), eq(webhookSubscriptions.enabled, true)));
  if (counted!.active < maxActive) return;
  const things = maxActive === 1 ? 'subscription' : 'subscriptions';
  throw new ApiError('PLAN_LIMIT_REACHED', `The plan allows ${maxActive} active webhook ${things}`);
}

/** At the limit every create is refused, even of a disabled subscription (specification: Rule 4). */
async function assertBelowCap(tx: Transaction, context: DomainContext): Promise<void> {
  const { maxActive } = await lockIntegration(tx, context);
  await assertFreeSlot(tx, context, maxActive);
  const [counted] = await tx.select({ total: count() }).from(webhookSubscriptions).where(isLive(context));
  if (counted!.total < MAX_WEBHOOKS) return;
  throw new ApiError('PLAN_LIMIT_REACHED', `An integration holds at most ${MAX_WEBHOOKS} webhook subscriptions`);
}

function showWebhook(row: SubscriptionRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    eventType: row.eventType,
    threshold: row.threshold,
    name: row.name,
    enabled: row.enabled,
    createdAt: row.createdAt,
    lastDeliveryAt: row.lastDeliveryAt,
    lastDeliveryStatus: row.lastDeliveryStatus,
    disabledReason: row.disabledReason,
    disabledFailureClass: row.disabledFailureClass,
  };
}
