import type { SkipReason } from '../../contract/deliveries';
import { ApiError } from '../../contract/errors';
import type { EventTypeName } from '../../contract/events';
import type { Page } from '../../contract/pagination';
import type { TimeSort } from '../../contract/sort-orders';
import type {
  EventOutcome,
  EventOutcomeName,
  ListWebhookEventsInput,
  WebhookEvent,
} from '../../contract/webhook-events';
import type { DeliveryStatus } from '../../contract/webhooks';
import { isSettled } from '../../db/event-positions';
import type { DomainContext } from '../domain/context';
import { readPage } from '../domain/pages';

// The record of webhook events: every event that fired, with or without a subscription, and what became of it for each subscription.

/** How many events a page examines at most, and how many bytes of their payloads: each is parsed, and may have more than 16 KB. */
export const MAX_EXAMINED_EVENTS = 10_000;
const MAX_EXAMINED_BYTES = 16 * 1024 * 1024;

/**
 * Lists the events of the integration by position, newest or oldest first. Oldest first ends before the first event that could still
 * get a predecessor (`db/event-positions.ts`), and its last page has a cursor too, from which a client continues later. So
 * such a walk gets each event once.
 */
export async function listWebhookEvents(
  context: DomainContext,
  input: ListWebhookEventsInput,
): Promise<Page<WebhookEvent>> {
  const { eventType, sessionId, userId, startDate, endDate, sort } = input;
  const { beginning, statement } = WALKS[sort];
  const filters = { eventType, sessionId, userId, startDate: startDate?.at, endDate: endDate?.at };
  const values = Object.values(filters).map((value) => value ?? null);
  const locate = ({ position, id }: EventRow) => [position, id];
  return readPage(context, { route: 'webhook-events', filters: { ...filters, sort } }, input, {
    async read(after, limit) {
      const place = (after ?? beginning) as Bound;
      const found = await context.db.query<ExaminedRow>(statement, [
        ...[context.integration.id, ...place, MAX_EXAMINED_EVENTS, limit],
        ...values,
      ]);
      const last = found.at(-1);
      return {
        rows: found.filter(({ isMatch }) => isMatch),
        stoppedAt: last?.hasNext || last?.examined === MAX_EXAMINED_EVENTS ? last : undefined,
        endsAt: sort === 'oldest' ? (last ? locate(last) : place) : undefined,
      };
    },
    locate,
    show: showEvent,
  });
}

/** Finds one event. NOT_FOUND for an unknown id. */
export async function getWebhookEvent(context: DomainContext, { eventId }: { eventId: string }): Promise<WebhookEvent> {
  const [row] = await context.db.query<EventRow>(READ_EVENT, [context.integration.id, eventId]);
  if (!row) throw new ApiError('NOT_FOUND', 'Webhook event not found');
  return showEvent(row);
}

interface EventRow {
  id: string;
  type: EventTypeName;
  createdAt: string;
  payload: string;
  position: string;
  skips: Record<string, SkipReason> | null;
  ended: Record<string, DeliveryStatus> | null;
  deliveries: { id: string; subscriptionId: string; status: DeliveryStatus }[];
}

/**
 * `examined` counts the events that the page has examined, including this one. The last one is returned even if it does not match.
 * `hasNext`: another one follows, perhaps beyond the bytes of the page.
 */
type ExaminedRow = EventRow & { examined: number; hasNext: boolean; isMatch: boolean };

// Deliveries and skips are read by one statement, because sending a skipped event makes the one of the other.
const SHOWN = `
  e.id, e.type, e.created_at as "createdAt", e.payload, e.position::text as position, e.skips, e.ended,
  (select coalesce(json_agg(json_build_object('id', d.id, 'subscriptionId', d.subscription_id, 'status', d.status)), '[]')
     from webhook_deliveries d where d.integration_id = e.integration_id and d.event_id = e.id) as deliveries`;

const READ_EVENT = `select ${SHOWN} from domain_events e where e.integration_id = $1 and e.id = $2`;

const IS_MATCH = `
  (($6::text is null or e.type = $6) and ($7::text is null or e.payload::json ->> 'sessionId' = $7)
   and ($8::text is null or e.payload::json ->> 'userId' = $8)
   and ($9::timestamptz is null or e.created_at >= $9) and ($10::timestamptz is null or e.created_at < $10))`;

/** Composes the statement of a page. Its plan does not depend on the values, which the planner sees as subqueries. */
function composeWalk(follows: '<' | '>', direction: 'asc' | 'desc', condition: string): string {
  const order = `e.position ${direction}, e.id ${direction}`;
  return `
  select ${SHOWN}, e.examined, e.has_next as "hasNext", ${IS_MATCH} as "isMatch"
    from (select e.*, row_number() over walked::int as examined, lead(e.id) over walked is not null as has_next,
                 sum(octet_length(e.payload)) over walked as bytes
            from (select e.* from domain_events e
                   where e.integration_id = (select $1::text) and (e.position, e.id) ${follows} ((select $2::bigint), (select $3::text)) ${condition}
                   order by ${order} limit (select $4::int)) e
          window walked as (order by ${order})) e
   where e.bytes - octet_length(e.payload) < ${MAX_EXAMINED_BYTES}
     and (${IS_MATCH} or not e.has_next or e.bytes >= ${MAX_EXAMINED_BYTES})
   order by ${order} limit (select $5::int)`;
}

type Bound = [position: string, id: string];
const WALKS: Record<TimeSort, { beginning: Bound; statement: string }> = {
  oldest: { beginning: ['0', ''], statement: composeWalk('>', 'asc', `and ${isSettled('e.position')}`) },
  newest: { beginning: [String(2n ** 63n - 1n), ''], statement: composeWalk('<', 'desc', '') },
};

/** Shows an event with one outcome for each subscription, by its id. */
function showEvent({ id, type, createdAt, payload, skips, ended, deliveries }: EventRow): WebhookEvent {
  const outcomes: EventOutcome[] = [
    ...Object.entries(skips ?? {}).map(([subscriptionId, reason]) => ({
      ...{ subscriptionId, outcome: 'skipped' as const, reason, deliveryId: null, status: null },
    })),
    ...Object.entries(ended ?? {}).map(([subscriptionId, status]) => showOutcome(subscriptionId, null, status)),
    ...deliveries.map((delivery) => showOutcome(delivery.subscriptionId, delivery.id, delivery.status)),
  ];
  outcomes.sort((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1));
  return { id, eventType: type, createdAt, payload, outcomes };
}

const showOutcome = (subscriptionId: string, deliveryId: string | null, status: DeliveryStatus): EventOutcome => ({
  ...{ subscriptionId, outcome: nameOutcome(status), reason: null, deliveryId, status },
});

function nameOutcome(status: DeliveryStatus): EventOutcomeName {
  if (status === 'Delivered') return 'delivered';
  return status === 'Pending' ? 'pending' : 'failed';
}
