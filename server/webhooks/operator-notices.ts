import type { NotedState, ToldState, WebhookStateName } from '../../contract/webhook-states';
import type { DeliveryStatus } from '../../contract/webhooks';
import type { Database } from '../../db/client';
import { createId } from '../platform/ids';
import type { Logger } from '../platform/log';
import { writeHostWithPort } from './address-guard';
import { makeSignedHeaders } from './attempt';
import { createWebhookClient } from './http-client';
import { showUrl } from './subscription-acts';
import { deriveWebhookState, isToldTrouble, type StoredHealth } from './webhook-states';

// A signed POST to an address of the settings tells the operator when a subscription begins to fail, when failures disable
// it, and when it delivers again. `webhook_subscriptions.told_state` is the state of the last notice; enabling the subscription
// replaces trouble by `enabled`. The process that replaces it writes the notice in the same statement, so there is one for each
// change, however many processes look.

/** The event type of notices. */
const NOTICE_TYPE = 'WebhookStateChanged';
/** An attempt must end before the next one is due. */
const TIMEOUT_MS = 5_000;
const FIRST_PAUSE_S = 10;
const LONGEST_PAUSE_S = 600;
const MAX_ATTEMPTS = 8;
const BATCH_SIZE = 20;

export interface OperatorNotices {
  /** Finds changes, and sends due notices. Never rejects: the next run is ten seconds away. */
  tell(): Promise<void>;
  close(): Promise<void>;
}

export function createOperatorNotices({
  db,
  log,
  url,
  secret,
  publicUrl,
}: {
  db: Database;
  log: Logger;
  url: string;
  secret: string;
  publicUrl: string | null;
}): OperatorNotices {
  // The operator's own address may be on the local network. It is permitted to this client alone, so no subscription can use it.
  const client = createWebhookClient({ allowedHosts: new Set([writeHostWithPort(new URL(url))]) });

  async function noteChanges(): Promise<void> {
    const rows = await db.query<HealthRow>(READ_TROUBLED, []);
    const changes = rows.flatMap((row) => {
      const state = findToldState(deriveWebhookState(row), row.toldState);
      if (state === null) return [];
      const { integrationId, subscriptionId, toldState } = row;
      // Never through the endpoint that fails.
      const isSame = new URL(row.url).href === new URL(url).href;
      if (isSame) log.warn({ integrationId, subscriptionId, state }, 'the operator’s own webhook is a subscription');
      const payload = isSame ? null : JSON.stringify(describeChange(row, state, publicUrl));
      return [{ integrationId, subscriptionId, toldState, state, id: createId('ntc'), payload }];
    });
    if (changes.length > 0) await db.query(NOTE, [JSON.stringify(changes)]);
  }

  async function send(notice: Notice): Promise<void> {
    const { integrationId, id, attempts, subscriptionId, payload } = notice;
    const signed = { deliveryId: id, subscriptionId, eventType: NOTICE_TYPE, payload, isTest: false };
    const headers = makeSignedHeaders([secret], signed, new Date());
    const result = await client.post({ url, headers, body: payload, timeoutMs: TIMEOUT_MS });
    const isTold = result.kind === 'response' && result.status >= 200 && result.status < 300;
    const fault = result.kind === 'response' ? `HTTP_${result.status}` : result.kind;
    if (!isTold && attempts < MAX_ATTEMPTS)
      log.warn({ noticeId: id, attempts, fault }, 'the operator could not be told; trying again');
    else {
      if (!isTold) log.error({ noticeId: id, attempts, fault }, 'the operator could not be told; giving up');
      await db.query('delete from operator_notices where integration_id = $1 and id = $2', [integrationId, id]);
    }
  }

  return {
    async tell() {
      try {
        await db.query(WITHDRAW, []);
        await noteChanges();
        await Promise.all((await db.query<Notice>(CLAIM, [])).map(send));
      } catch (error) {
        log.warn({ err: error }, 'could not tell the operator; the next try is within ten seconds');
      }
    },
    close: () => client.close(),
  };
}

type HealthRow = StoredHealth & {
  integrationId: string;
  integrationName: string;
  subscriptionId: string;
  name: string;
  eventType: string;
  url: string;
  disabledFailureClass: string | null;
  lastDeliveryAt: string | null;
  lastDeliveryStatus: DeliveryStatus | null;
  toldState: NotedState | null;
};

interface Notice {
  integrationId: string;
  id: string;
  subscriptionId: string;
  payload: string;
  attempts: number;
}

/** Finds the notice of a state, or null. A state between the three, such as disabled by hand, has none. */
function findToldState(state: WebhookStateName, told: NotedState | null): ToldState | null {
  const wanted =
    state === 'Failing'
      ? 'failing'
      : state === 'DisabledByFailures'
        ? 'disabled'
        : state === 'Healthy' && isToldTrouble(told)
          ? 'recovered'
          : null;
  return wanted === told ? null : wanted;
}

/** The body of a notice. Of the address only the origin, because the rest can be a secret. */
const describeChange = (row: HealthRow, state: ToldState, publicUrl: string | null) => ({
  state,
  previousState: row.toldState,
  noticedAt: new Date().toISOString(),
  integrationId: row.integrationId,
  integrationName: row.integrationName,
  subscriptionId: row.subscriptionId,
  name: row.name,
  eventType: row.eventType,
  url: showUrl(row.url),
  consecutiveFailures: row.consecutiveFailures,
  lastDeliveryAt: row.lastDeliveryAt,
  lastDeliveryStatus: row.lastDeliveryStatus,
  disabledFailureClass: row.disabledFailureClass,
  dashboardUrl: publicUrl && `${publicUrl}/dashboard/${row.integrationId}/webhooks/${row.subscriptionId}`,
});

/** Subscriptions that may be in trouble, or that were when the operator was told last. */
const READ_TROUBLED = `
  select s.integration_id as "integrationId", i.name as "integrationName", s.id as "subscriptionId", s.name, s.event_type as "eventType",
         s.url, s.enabled, s.disabled_reason as "disabledReason", s.disabled_failure_class as "disabledFailureClass",
         s.consecutive_failures as "consecutiveFailures", s.last_delivery_at as "lastDeliveryAt",
         s.last_delivery_status as "lastDeliveryStatus", s.told_state as "toldState"
    from webhook_subscriptions s join integrations i on i.id = s.integration_id
   where s.deleted_at is null
     and (s.told_state in ('failing', 'disabled', 'enabled') or s.consecutive_failures > 0 or s.last_delivery_status = 'Pending'
          or s.disabled_reason = 'auto:consecutive-failures')`;

// Rows that an attempt is just being recorded for are skipped, and looked at again in ten seconds. So this waits for nobody. A notice that
// was not taken yet is replaced: if it were sent again after the new one, the operator would take the past for the present.
const NOTE = `
  with r as (
    select * from json_to_recordset($1::text::json)
      r("integrationId" text, "subscriptionId" text, "toldState" text, state text, id text, payload text)),
  changed as materialized (
    select r.* from r join webhook_subscriptions s on s.integration_id = r."integrationId" and s.id = r."subscriptionId"
     where s.told_state is not distinct from r."toldState" for no key update of s skip locked),
  told as (
    update webhook_subscriptions s set told_state = c.state from changed c
     where s.integration_id = c."integrationId" and s.id = c."subscriptionId"),
  untaken as materialized (
    select n.integration_id, n.id from changed c
      join operator_notices n on n.integration_id = c."integrationId" and n.subscription_id = c."subscriptionId"
       for update of n skip locked),
  replaced as (
    delete from operator_notices n using untaken u where n.integration_id = u.integration_id and n.id = u.id)
  insert into operator_notices (integration_id, id, subscription_id, payload)
  select "integrationId", id, "subscriptionId", payload from changed where payload is not null`;

/**
 * Withdraws notices that were not sent for an hour, for example without an address in the settings: the state may have
 * changed since. The notice before them counts again, so a changed state gets a new one.
 */
const WITHDRAW = `
  with stale as (
    delete from operator_notices where next_attempt_at < now() - interval '1 hour'
    returning integration_id, id, subscription_id, payload),
  earliest as (
    select distinct on (integration_id, subscription_id) integration_id, subscription_id, payload::json ->> 'previousState' as state
      from stale order by integration_id, subscription_id, id)
  update webhook_subscriptions s set told_state = e.state from earliest e
   where s.integration_id = e.integration_id and s.id = e.subscription_id`;

/** Until the next attempt is due, a notice belongs to the process that claimed it. */
const CLAIM = `
  with due as (
    select integration_id, id from operator_notices where next_attempt_at <= now()
     order by next_attempt_at limit ${BATCH_SIZE} for update skip locked)
  update operator_notices n
     set attempts = n.attempts + 1,
         next_attempt_at = now() + least(${LONGEST_PAUSE_S}, ${FIRST_PAUSE_S} * 2 ^ n.attempts) * interval '1 s'
    from due where n.integration_id = due.integration_id and n.id = due.id
  returning n.integration_id as "integrationId", n.id, n.subscription_id as "subscriptionId", n.payload, n.attempts`;
