import { and, asc, eq, isNull } from 'drizzle-orm';
import type { NotedState, TroubledWebhooks, WebhookState, WebhookStateName } from '../../contract/webhook-states';
import type { DeliveryStatus } from '../../contract/webhooks';
import { webhookSubscriptions } from '../../db/schema';
import type { DomainContext } from '../domain/context';
import { MAX_CONSECUTIVE_FAILURES } from './subscription-health';

/** What the state of a subscription follows from. */
export interface StoredHealth {
  enabled: boolean;
  disabledReason: string | null;
  consecutiveFailures: number;
  lastDeliveryStatus: DeliveryStatus | null;
}

/**
 * Derives the one state of a subscription. Enabling it sets its failures to zero, so a failed last delivery without failures means that
 * nothing was sent since.
 */
export function deriveWebhookState(health: StoredHealth): WebhookStateName {
  const { enabled, disabledReason, consecutiveFailures, lastDeliveryStatus } = health;
  if (!enabled) {
    if (disabledReason === null) return 'DisabledByHand';
    return disabledReason === 'auto:plan-limit' ? 'DisabledByPlan' : 'DisabledByFailures';
  }
  if (consecutiveFailures > 0 || lastDeliveryStatus === 'Pending') return 'Failing';
  return lastDeliveryStatus === 'Delivered' ? 'Healthy' : 'NoDeliveries';
}

/** Whether the last notice to the operator was about trouble. */
export const isToldTrouble = (told: NotedState | null): boolean => told !== null && told !== 'recovered';

/** Reads the subscriptions of the integration along its part of the primary key. There are at most 100. */
async function readHealth({ db, integration }: DomainContext) {
  const { id, name, enabled, disabledReason, consecutiveFailures, lastDeliveryAt, lastDeliveryStatus, createdAt } =
    webhookSubscriptions;
  const rows = await db.orm
    .select({ id, name, enabled, disabledReason, consecutiveFailures, lastDeliveryAt, lastDeliveryStatus })
    .from(webhookSubscriptions)
    .where(and(eq(webhookSubscriptions.integrationId, integration.id), isNull(webhookSubscriptions.deletedAt)))
    .orderBy(asc(createdAt), asc(id));
  return rows.map((row) => ({ ...row, state: deriveWebhookState(row) }));
}

/** Counts the subscriptions that are failing or that failures have disabled. */
export async function countTroubledWebhooks(context: DomainContext): Promise<TroubledWebhooks> {
  const states = (await readHealth(context)).map(({ state }) => state);
  const count = (wanted: WebhookStateName) => states.filter((state) => state === wanted).length;
  return { failing: count('Failing'), disabled: count('DisabledByFailures') };
}

/** Lists the states of all subscriptions of the integration, oldest first, and since when and why some of them fail. */
export async function listWebhookStates(context: DomainContext): Promise<WebhookState[]> {
  const rows = await readHealth(context);
  const troubled = rows.filter(({ state }) => state === 'Failing' || state === 'DisabledByFailures');
  const troubles = new Map((await readTroubles(context, troubled)).map((trouble) => [trouble.id, trouble]));
  return rows.map(({ id, name, state, consecutiveFailures, lastDeliveryAt }) => {
    const trouble = troubles.get(id);
    return {
      ...{ id, name, state, consecutiveFailures, disabledAfter: MAX_CONSECUTIVE_FAILURES },
      // Nothing more is sent to a disabled subscription, so its latest attempt ended when it was disabled.
      since: state === 'DisabledByFailures' ? lastDeliveryAt : (trouble?.failingSince ?? null),
      isSinceExact: state === 'DisabledByFailures' || (trouble?.isExact ?? true),
      fault: trouble ? { errorCode: trouble.errorCode, failureClass: trouble.failureClass } : null,
    };
  });
}

interface Trouble {
  id: string;
  failingSince: string | null;
  isExact: boolean;
  errorCode: string | null;
  failureClass: string;
}

async function readTroubles({ db, integration }: DomainContext, rows: { id: string }[]): Promise<Trouble[]> {
  if (rows.length === 0) return [];
  return db.query<Trouble>(READ_TROUBLES, [integration.id, JSON.stringify(rows.map(({ id }) => id))]);
}

/** How many attempts before the latest one are searched for one that was delivered. */
const MAX_SEARCHED = 5_000;

const attempts = `
  webhook_attempts a where a.integration_id = $1 and a.subscription_id = s.id`;
// A look-up by primary key for each row, because an anti join would read all deliveries.
const isReal = `
  not coalesce((
    select d.is_test from webhook_deliveries d where d.integration_id = a.integration_id and d.id = a.delivery_id), false)`;

// Each lateral join walks the index of attempts by time, and stops at the first row that fits.
const READ_TROUBLES = `
  select s.id, failed.started_at as "failingSince", delivered.started_at is not null or oldest.started_at is null as "isExact",
         latest.error_code as "errorCode", latest.failure_class as "failureClass"
    from json_array_elements_text($2::text::json) s(id)
   cross join lateral (
     select a.error_code, a.failure_class from ${attempts} and a.failure_class is not null and ${isReal}
      order by a.started_at desc limit 1) latest
    left join lateral (
      select a.started_at from (
        select a.integration_id, a.delivery_id, a.started_at, a.failure_class from ${attempts} order by a.started_at desc limit ${MAX_SEARCHED}) a
       where a.failure_class is null and ${isReal} order by a.started_at desc limit 1) delivered on true
    left join lateral (
      select a.started_at from ${attempts} and delivered.started_at is null
       order by a.started_at desc offset ${MAX_SEARCHED} limit 1) oldest on true
    left join lateral (
      select a.started_at from ${attempts} and a.failure_class is not null and ${isReal}
         and a.started_at > coalesce(delivered.started_at, oldest.started_at, '-infinity')
       order by a.started_at limit 1) failed on true`;
