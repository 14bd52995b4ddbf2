import type { Query } from '../../db/client';
import { insertRecords, lookUpRecords, recordset, updateRecords, writableColumns } from '../../db/recordset';
import {
  anomalies,
  courses,
  domainEvents,
  sessionCorrelations,
  sessionEvents,
  sessionScores,
  sessions,
  users,
  webhookDeliveries,
} from '../../db/schema';
import type { RiskThresholds } from '../contract/risk-thresholds';
import type { SubscriptionKey } from '../webhooks/deliveries';
import type { PlannedDelivery, PlannedEvent, SubscriptionState } from '../webhooks/planning';
import {
  type AnomalyRow,
  type CorrelationRow,
  type CourseRow,
  createSessionDraft,
  type EventRow,
  pairKey,
  type ScoreRow,
  type SessionRow,
  type Tenant,
  type UserRow,
} from './draft';
import type { IngestInput } from './facts';

/** What batches need to know: their tenants, what exists of what they name, and what is subscribed to. */
export interface IngestState {
  tenants: Map<string, Tenant & { subscriptions: SubscriptionState[] }>;
}

interface Keys {
  tenants: string[];
  sessions: { integrationId: string; id: string }[];
  events: { integrationId: string; sessionId: string; sequence: number }[];
  scores: { integrationId: string; sessionId: string; scoredAt: string }[];
  correlations: { integrationId: string; sessionId: string; correlatedAt: string }[];
  anomalies: { integrationId: string; id: string }[];
  /** Whose confirmed devices matter: those named with an anomaly, and those of sessions that have one. */
  suspects: { integrationId: string; userId: string | null; sessionId: string | null }[];
}

function collectKeys(batches: IngestInput[]): Keys {
  const keys: Keys = {
    tenants: [...new Set(batches.map((batch) => batch.integrationId))],
    sessions: [],
    events: [],
    scores: [],
    correlations: [],
    anomalies: [],
    suspects: [],
  };
  for (const { integrationId, facts } of batches) {
    const sessionIds = new Set<string>();
    const userIds = new Set<string>();
    for (const fact of facts) {
      if (fact.sessionId != null) sessionIds.add(fact.sessionId);
      switch (fact.kind) {
        case 'sessionEvents':
          for (const { sequence } of fact.events)
            keys.events.push({ integrationId, sessionId: fact.sessionId, sequence });
          break;
        case 'sessionScored':
          keys.scores.push({ integrationId, sessionId: fact.sessionId, scoredAt: fact.scoredAt });
          break;
        case 'sessionCorrelated':
          keys.correlations.push({ integrationId, sessionId: fact.sessionId, correlatedAt: fact.correlatedAt });
          userIds.add(fact.user.id);
          break;
        case 'anomalyDetected':
          keys.anomalies.push({ integrationId, id: fact.anomalyId });
          keys.suspects.push({ integrationId, userId: fact.userId ?? null, sessionId: fact.sessionId ?? null });
      }
    }
    for (const id of sessionIds) keys.sessions.push({ integrationId, id });
    // A correlation of the same group may come to stand on the anomaly's session.
    for (const userId of userIds) keys.suspects.push({ integrationId, userId, sessionId: null });
  }
  if (keys.anomalies.length === 0) keys.suspects = [];
  return keys;
}

/**
 * Reads what the batches need, and locks the sessions they name in one order: whoever else writes one of them waits.
 * The statements travel together; those behind the lock see what the one before us committed.
 */
export async function readState(query: Query, batches: IngestInput[]): Promise<IngestState> {
  const keys = collectKeys(batches);
  /** Most batches name nothing of most kinds. */
  const read = <Row extends object>(text: string, list: unknown[]): Row[] | Promise<Row[]> =>
    list.length > 0 ? query<Row>(text, [JSON.stringify(list)]) : [];
  const [tenants, sessionRows, events, scores, correlations, known, confirmations, subscriptions] = await Promise.all([
    read<RiskThresholds & { id: string; now: string }>(READ_TENANTS, keys.tenants),
    read<SessionRow>(
      LOCK_SESSIONS,
      sortByKey(keys.sessions, (key) => [key.integrationId, key.id]),
    ),
    read<EventRow>(READ_EVENTS, keys.events),
    read<ScoreRow>(READ_SCORES, keys.scores),
    read<CorrelationRow>(READ_CORRELATIONS, keys.correlations),
    read<AnomalyRow>(READ_ANOMALIES, keys.anomalies),
    read<{ integrationId: string; userId: string; fingerprint: string }>(READ_CONFIRMATIONS, keys.suspects),
    read<SubscriptionState>(READ_SUBSCRIPTIONS, keys.tenants),
  ]);
  const state: IngestState = { tenants: new Map() };
  for (const { id, mediumAt, botAt, now } of tenants) {
    const confirmed = confirmations.filter(({ integrationId }) => integrationId === id);
    state.tenants.set(id, {
      integrationId: id,
      thresholds: { mediumAt, botAt },
      now,
      sessions: new Map(),
      anomalies: new Map(),
      confirmations: new Set(confirmed.map(({ userId, fingerprint }) => pairKey(userId, fingerprint))),
      subscriptions: [],
    });
  }
  const tenantOf = (row: { integrationId: string }) => state.tenants.get(row.integrationId);
  const sessionOf = (row: { integrationId: string; sessionId: string }) => tenantOf(row)?.sessions.get(row.sessionId);
  for (const row of sessionRows) tenantOf(row)?.sessions.set(row.id, createSessionDraft(row, false));
  for (const row of events) sessionOf(row)?.events.set(row.sequence, row);
  for (const row of scores) sessionOf(row)?.scores.set(row.scoredAt, row);
  for (const row of correlations) sessionOf(row)?.correlations.set(row.correlatedAt, row);
  for (const row of known) tenantOf(row)?.anomalies.set(row.id, row);
  for (const row of subscriptions) tenantOf(row)?.subscriptions.push(row);
  return state;
}

const READ_TENANTS = `select id, medium_at as "mediumAt", bot_at as "botAt", now() as now from integrations where id in (select json_array_elements_text($1::text::json))`;

const LOCK_SESSIONS = lookUpRecords(sessions, '$1', ['integrationId', 'id'], 'for update');
const READ_EVENTS = lookUpRecords(sessionEvents, '$1', ['integrationId', 'sessionId', 'sequence']);
const READ_SCORES = lookUpRecords(sessionScores, '$1', ['integrationId', 'sessionId', 'scoredAt']);
const READ_CORRELATIONS = lookUpRecords(sessionCorrelations, '$1', ['integrationId', 'sessionId', 'correlatedAt']);
const READ_ANOMALIES = lookUpRecords(anomalies, '$1', ['integrationId', 'id']);

const READ_CONFIRMATIONS = `
  select c.integration_id as "integrationId", c.user_id as "userId", c.fingerprint
    from ${recordset(anomalies, '$1', 'k', ['integrationId', 'userId', 'sessionId'])}
    left join sessions s on s.integration_id = k."integrationId" and s.id = k."sessionId"
    join device_confirmations c
      on c.integration_id = k."integrationId" and c.user_id = coalesce(k."userId", s.user_id)`;

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
  correlations: CorrelationRow[];
  users: UserRow[];
  courses: CourseRow[];
  anomalies: AnomalyRow[];
  domainEvents: PlannedEvent[];
  deliveries: PlannedDelivery[];
}

export const createRows = (): IngestRows => ({
  newSessions: [],
  changedSessions: [],
  events: [],
  scores: [],
  correlations: [],
  users: [],
  courses: [],
  anomalies: [],
  domainEvents: [],
  deliveries: [],
});

/** A delivery that was written. One that is ours to send at once comes with its lease, and where it goes. */
export type WrittenDelivery = SubscriptionKey & { deliveryId: string; eventId: string } & (
    | { lease: null }
    | { lease: string; url: string; secretSealed: Buffer }
  );

/** Writes everything in one statement and commits. An event that was told before brings no deliveries. */
export async function writeRows(
  commitWith: Query,
  rows: IngestRows,
  firstDelayMs: number,
  leaseMs: number,
): Promise<WrittenDelivery[]> {
  const lists = [
    sortByKey(rows.newSessions, (row) => [row.integrationId, row.id]),
    rows.changedSessions,
    sortByKey(rows.events, (row) => [row.integrationId, row.sessionId, row.sequence]),
    sortByKey(rows.scores, (row) => [row.integrationId, row.sessionId, row.scoredAt]),
    sortByKey(rows.correlations, (row) => [row.integrationId, row.sessionId, row.correlatedAt]),
    sortByKey(keepLatest(rows.users), (row) => [row.integrationId, row.id]),
    sortByKey(keepLatest(rows.courses), (row) => [row.integrationId, row.id]),
    sortByKey(rows.anomalies, (row) => [row.integrationId, row.id]),
    sortByKey(rows.domainEvents, (row) => [row.integrationId, row.type, row.naturalKey]),
    rows.deliveries,
  ];
  const json = lists.map((list) => JSON.stringify(list));
  return commitWith<WrittenDelivery>(WRITE, [...json, firstDelayMs, leaseMs]);
}

/** One row for each key, since a statement may write a row but once: the latest description, or the last that came. */
function keepLatest<T extends { integrationId: string; id: string; describedAt?: string }>(rows: T[]): T[] {
  const latest = new Map<string, T>();
  for (const row of rows) {
    const key = `${row.integrationId}\n${row.id}`;
    const known = latest.get(key);
    if (known?.describedAt === undefined || known.describedAt <= row.describedAt!) latest.set(key, row);
  }
  return [...latest.values()];
}

/** In one order everywhere: two processes that insert the same new keys wait for each other once, not crosswise. */
function sortByKey<T>(rows: T[], keyOf: (row: T) => (string | number)[]): T[] {
  if (rows.length < 2) return rows;
  const keyed = rows.map((row) => ({ row, key: keyOf(row).join('\0') }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row);
}

const DELIVERY_COLUMNS: (keyof PlannedDelivery)[] = ['integrationId', 'id', 'subscriptionId', 'eventId', 'lease'];

const CHANGED_COLUMNS: (keyof SessionRow)[] = [
  ...(['updatedAt', 'closedAt', 'status', 'botScore', 'scoreBin', 'scoredAt', 'detectionFlags'] as const),
  ...(['eventCount', 'userId', 'correlationConfidence', 'correlatedAt'] as const),
];

const WRITE = `
  with created as (${insertRecords(sessions, '$1', writableColumns(sessions))}),
       changed as (${updateRecords(sessions, '$2', ['integrationId', 'id'], CHANGED_COLUMNS)}),
       happened as (${insertRecords(sessionEvents, '$3', writableColumns(sessionEvents))}),
       scored as (${insertRecords(sessionScores, '$4', writableColumns(sessionScores))}),
       correlated as (${insertRecords(sessionCorrelations, '$5', writableColumns(sessionCorrelations))}),
       described as (${insertRecords(users, '$6', writableColumns(users))}
                on conflict (integration_id, id) do update
                set name = excluded.name, email = excluded.email, url = excluded.url, described_at = excluded.described_at
                where users.described_at <= excluded.described_at),
       named as (${insertRecords(courses, '$7', writableColumns(courses))} on conflict (integration_id, id) do nothing),
       noticed as (${insertRecords(anomalies, '$8', writableColumns(anomalies))}),
       told as (${insertRecords(domainEvents, '$9', writableColumns(domainEvents, ['createdAt']))}
                on conflict (integration_id, type, natural_key) do nothing returning integration_id, id),
       sent as (
         insert into webhook_deliveries (integration_id, id, subscription_id, event_id, attempts, lease, next_attempt_at)
         select r."integrationId", r.id, r."subscriptionId", r."eventId", case when r.lease is null then 0 else 1 end, r.lease,
                now() + case when r.lease is null then $11::int else $12::int end * interval '1 ms'
           from ${recordset(webhookDeliveries, '$10', 'r', DELIVERY_COLUMNS)}
           join told on told.integration_id = r."integrationId" and told.id = r."eventId"
         returning integration_id, id, subscription_id, event_id, lease)
  select d.integration_id as "integrationId", d.subscription_id as "subscriptionId", d.id as "deliveryId",
         d.event_id as "eventId", d.lease, s.url, s.secret_sealed as "secretSealed"
    from sent d
    left join webhook_subscriptions s on d.lease is not null and s.integration_id = d.integration_id and s.id = d.subscription_id`;
