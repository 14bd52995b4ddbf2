import type { SqlTransaction } from '../../db/client';
import { insertRecords, recordset, selectColumns, updateRecords, writableColumns } from '../../db/recordset';
import { domainEvents, sessionEvents, sessionScores, sessions, webhookDeliveries } from '../../db/schema';
import type { RiskThresholds } from '../domain/risk';
import type { SubscriptionKey } from '../webhooks/deliveries';
import type { PlannedDelivery, PlannedEvent, SubscriptionState } from '../webhooks/planning';
import type { EventRow, ScoreRow, SessionDraft, SessionRow } from './draft';
import type { IngestInput } from './facts';

/** What batches need to know: their tenants, the sessions they name, and what is subscribed to. */
export interface IngestState {
  tenants: Map<
    string,
    { thresholds: RiskThresholds; now: string; sessions: Map<string, SessionDraft>; subscriptions: SubscriptionState[] }
  >;
}

interface Keys {
  tenants: string[];
  sessions: { integrationId: string; id: string }[];
  events: { integrationId: string; sessionId: string; sequence: number }[];
  scores: { integrationId: string; sessionId: string; scoredAt: string }[];
}

function collectKeys(batches: IngestInput[]): Keys {
  const keys: Keys = {
    tenants: [...new Set(batches.map((batch) => batch.integrationId))],
    sessions: [],
    events: [],
    scores: [],
  };
  for (const { integrationId, facts } of batches) {
    for (const id of new Set(facts.map((fact) => fact.sessionId))) keys.sessions.push({ integrationId, id });
    for (const fact of facts) {
      const { sessionId } = fact;
      if (fact.kind === 'sessionEvents')
        for (const { sequence } of fact.events) keys.events.push({ integrationId, sessionId, sequence });
      if (fact.kind === 'sessionScored') keys.scores.push({ integrationId, sessionId, scoredAt: fact.scoredAt });
    }
  }
  return keys;
}

/**
 * Reads what the batches need, and locks the sessions they name in one order: whoever else writes one of them waits.
 * The statements travel together; those behind the lock see what the one before us committed.
 */
export async function readState(sql: SqlTransaction, batches: IngestInput[]): Promise<IngestState> {
  const keys = collectKeys(batches);
  const none: never[] = [];
  const [tenants, sessionRows, eventRows, scoreRows, subscriptions] = await Promise.all([
    sql.unsafe<{ id: string; mediumAt: number; botAt: number; now: string }[]>(READ_TENANTS, [
      JSON.stringify(keys.tenants),
    ]),
    sql.unsafe<SessionRow[]>(LOCK_SESSIONS, [JSON.stringify(keys.sessions)]),
    keys.events.length > 0 ? sql.unsafe<EventRow[]>(READ_EVENTS, [JSON.stringify(keys.events)]) : none,
    keys.scores.length > 0 ? sql.unsafe<ScoreRow[]>(READ_SCORES, [JSON.stringify(keys.scores)]) : none,
    sql.unsafe<SubscriptionState[]>(READ_SUBSCRIPTIONS, [JSON.stringify(keys.tenants)]),
  ]);
  const state: IngestState = {
    tenants: new Map(
      tenants.map(({ id, mediumAt, botAt, now }) => [
        id,
        { thresholds: { mediumAt, botAt }, now, sessions: new Map(), subscriptions: [] },
      ]),
    ),
  };
  for (const row of sessionRows) {
    const draft: SessionDraft = { row, isNew: false, isChanged: false, events: new Map(), scores: new Map() };
    state.tenants.get(row.integrationId)?.sessions.set(row.id, draft);
  }
  for (const row of eventRows)
    state.tenants.get(row.integrationId)?.sessions.get(row.sessionId)?.events.set(row.sequence, row);
  for (const row of scoreRows)
    state.tenants.get(row.integrationId)?.sessions.get(row.sessionId)?.scores.set(row.scoredAt, row);
  for (const subscription of subscriptions)
    state.tenants.get(subscription.integrationId)?.subscriptions.push(subscription);
  return state;
}

const READ_TENANTS = `select id, medium_at as "mediumAt", bot_at as "botAt", now() as now from integrations where id in (select json_array_elements_text($1::text::json))`;

const LOCK_SESSIONS = `
  select ${selectColumns(sessions, 's')} from sessions s
    join ${recordset(sessions, '$1', 'k', ['integrationId', 'id'])} on s.integration_id = k."integrationId" and s.id = k.id
   order by s.integration_id, s.id for update of s`;

const READ_EVENTS = `
  select ${selectColumns(sessionEvents, 'e')} from session_events e
    join ${recordset(sessionEvents, '$1', 'k', ['integrationId', 'sessionId', 'sequence'])}
      on e.integration_id = k."integrationId" and e.session_id = k."sessionId" and e.sequence = k.sequence`;

const READ_SCORES = `
  select ${selectColumns(sessionScores, 'e')} from session_scores e
    join ${recordset(sessionScores, '$1', 'k', ['integrationId', 'sessionId', 'scoredAt'])}
      on e.integration_id = k."integrationId" and e.session_id = k."sessionId" and e.scored_at = k."scoredAt"`;

const READ_SUBSCRIPTIONS = `
  select integration_id as "integrationId", id, event_type as "eventType", threshold, enabled,
         disabled_reason as "disabledReason"
    from webhook_subscriptions where deleted_at is null and integration_id in (select json_array_elements_text($1::text::json))`;

/** All rows of a commit. */
export interface IngestRows {
  newSessions: SessionRow[];
  changedSessions: SessionRow[];
  events: EventRow[];
  scores: ScoreRow[];
  domainEvents: PlannedEvent[];
  deliveries: PlannedDelivery[];
}

/**
 * Writes everything in one statement. An event that was told before brings no deliveries. Answers the subscriptions that
 * now have something due.
 */
export async function writeRows(
  sql: SqlTransaction,
  rows: IngestRows,
  firstDelayMs: number,
): Promise<SubscriptionKey[]> {
  const lists = [
    sortByKey(rows.newSessions, (row) => [row.integrationId, row.id]),
    rows.changedSessions,
    sortByKey(rows.events, (row) => [row.integrationId, row.sessionId, row.sequence]),
    sortByKey(rows.scores, (row) => [row.integrationId, row.sessionId, row.scoredAt]),
    sortByKey(rows.domainEvents, (row) => [row.integrationId, row.type, row.naturalKey]),
    rows.deliveries,
  ];
  const json = lists.map((list) => JSON.stringify(list));
  return await sql.unsafe<SubscriptionKey[]>(WRITE, [...json, firstDelayMs]);
}

/** In one order everywhere: two processes that insert the same new keys wait for each other once, not crosswise. */
function sortByKey<T>(rows: T[], keyOf: (row: T) => (string | number)[]): T[] {
  if (rows.length < 2) return rows;
  const keyed = rows.map((row) => ({ row, key: keyOf(row).join('\0') }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row);
}

const DELIVERY_COLUMNS: (keyof PlannedDelivery)[] = ['integrationId', 'id', 'subscriptionId', 'eventId'];

const WRITE = `
  with created as (${insertRecords(sessions, '$1', writableColumns(sessions))}),
       changed as (${updateRecords(sessions, '$2', ['integrationId', 'id'], ['updatedAt', 'closedAt', 'status', 'botScore', 'scoreBin', 'scoredAt', 'detectionFlags', 'eventCount'])}),
       happened as (${insertRecords(sessionEvents, '$3', writableColumns(sessionEvents))}),
       scored as (${insertRecords(sessionScores, '$4', writableColumns(sessionScores))}),
       told as (${insertRecords(domainEvents, '$5', writableColumns(domainEvents, ['createdAt']))}
                on conflict (integration_id, type, natural_key) do nothing returning integration_id, id)
  insert into webhook_deliveries (integration_id, id, subscription_id, event_id, next_attempt_at)
  select r."integrationId", r.id, r."subscriptionId", r."eventId", now() + $7 * interval '1 ms'
    from ${recordset(webhookDeliveries, '$6', 'r', DELIVERY_COLUMNS)}
    join told on told.integration_id = r."integrationId" and told.id = r."eventId"
  returning integration_id as "integrationId", subscription_id as "subscriptionId"`;
