import type { RiskThresholds } from '../../contract/risk-thresholds';
import type { Query } from '../../db/client';
import { lookUpRecords, recordset, sortByKey } from '../../db/recordset';
import {
  alerts,
  anomalies,
  reports,
  sessionCorrelations,
  sessionEvents,
  sessionScores,
  sessions,
  writingScores,
} from '../../db/schema';
import type { SubscriptionState } from '../webhooks/planning';
import {
  type CorrelationRow,
  createRecords,
  createSessionDraft,
  type EventRow,
  keepRecord,
  pairKey,
  RECORD_NAMES,
  type RecordName,
  type RecordRows,
  type ScoreRow,
  type SessionRow,
  type Tenant,
} from './draft';
import type { Fact, IngestInput } from './facts';

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
  records: Record<RecordName, object[]>;
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
    records: { anomalies: [], writingScores: [], reports: [], alerts: [] },
    suspects: [],
  };
  for (const { integrationId, facts } of batches) {
    const sessionIds = new Set<string>();
    const userIds = new Set<string>();
    for (const fact of facts) {
      const sessionId = findSessionId(fact);
      if (sessionId !== null) sessionIds.add(sessionId);
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
          keys.records.anomalies.push({ integrationId, id: fact.anomalyId });
          keys.suspects.push({ integrationId, userId: fact.userId ?? null, sessionId: fact.sessionId ?? null });
          break;
        case 'writingScored':
          keys.records.writingScores.push({ integrationId, sessionId: fact.sessionId, scoredAt: fact.scoredAt });
          break;
        case 'reportReady':
          keys.records.reports.push({ integrationId, id: fact.reportId });
          break;
        case 'alertFired':
          keys.records.alerts.push({ integrationId, id: fact.alertId });
      }
    }
    for (const id of sessionIds) keys.sessions.push({ integrationId, id });
    // A correlation of the same group may come to stand on the anomaly's session.
    for (const userId of userIds) keys.suspects.push({ integrationId, userId, sessionId: null });
  }
  if (keys.records.anomalies.length === 0) keys.suspects = [];
  return keys;
}

/** The session that a fact is about; one that only a writing tool knows need not exist. */
const findSessionId = (fact: Fact): string | null =>
  'sessionId' in fact && fact.kind !== 'writingScored' ? (fact.sessionId ?? null) : null;

const sessionKey = (integrationId: string, sessionId: string) => `${integrationId}\n${sessionId}`;

/** The sessions that the batches start: they are there already only where a fact came again. */
const listStarted = (batches: IngestInput[]) =>
  batches.flatMap(({ integrationId, facts }) =>
    facts.flatMap((fact) => (fact.kind === 'sessionStarted' ? [sessionKey(integrationId, fact.sessionId)] : [])),
  );

/**
 * Reads what the batches need, and locks the sessions they name in one order: whoever else writes one of them waits.
 * The statements travel together; those behind the lock see what the one before us committed. What belongs to a session
 * that is started here is read only where it turns out to be there.
 */
export async function readState(query: Query, batches: IngestInput[], publicUrl: string | null): Promise<IngestState> {
  const keys = collectKeys(batches);
  const started = new Set(listStarted(batches));
  /** Most batches name nothing of most kinds. */
  const read = <Row extends object>(text: string, list: unknown[]): Row[] | Promise<Row[]> =>
    list.length > 0 ? query<Row>(text, [JSON.stringify(list)]) : [];
  const readBelongings = (isRead: (key: string) => boolean) => {
    const choose = <K extends { integrationId: string; sessionId: string }>(list: K[]) =>
      list.filter(({ integrationId, sessionId }) => isRead(sessionKey(integrationId, sessionId)));
    return Promise.all([
      read<EventRow>(READ_EVENTS, choose(keys.events)),
      read<ScoreRow>(READ_SCORES, choose(keys.scores)),
      read<CorrelationRow>(READ_CORRELATIONS, choose(keys.correlations)),
    ]);
  };
  const readRecords = async <Name extends RecordName>(name: Name) => ({
    name,
    rows: await read<RecordRows[Name]>(READ_RECORDS[name], keys.records[name]),
  });
  const [tenants, sessionRows, belongings, confirmations, records] = await Promise.all([
    read<TenantRow>(READ_TENANTS, keys.tenants),
    read<SessionRow>(
      LOCK_SESSIONS,
      sortByKey(keys.sessions, (key) => [key.integrationId, key.id]),
    ),
    readBelongings((key) => !started.has(key)),
    read<{ integrationId: string; userId: string; fingerprint: string }>(READ_CONFIRMATIONS, keys.suspects),
    Promise.all(RECORD_NAMES.map(readRecords)),
  ]);
  const again = new Set(
    sessionRows.map((row) => sessionKey(row.integrationId, row.id)).filter((key) => started.has(key)),
  );
  const more = again.size > 0 ? await readBelongings((key) => again.has(key)) : ([[], [], []] as typeof belongings);
  const [events, scores, correlations] = [0, 1, 2].map((n) => [...belongings[n]!, ...more[n]!]) as typeof belongings;
  const state: IngestState = { tenants: new Map() };
  for (const { id, mediumAt, botAt, now, subscriptions } of tenants) {
    const confirmed = confirmations.filter(({ integrationId }) => integrationId === id);
    state.tenants.set(id, {
      integrationId: id,
      thresholds: { mediumAt, botAt },
      now,
      publicUrl,
      sessions: new Map(),
      records: createRecords(),
      confirmations: new Set(confirmed.map(({ userId, fingerprint }) => pairKey(userId, fingerprint))),
      subscriptions: JSON.parse(subscriptions),
    });
  }
  const tenantOf = (row: { integrationId: string }) => state.tenants.get(row.integrationId);
  const sessionOf = (row: { integrationId: string; sessionId: string }) => tenantOf(row)?.sessions.get(row.sessionId);
  for (const row of sessionRows) tenantOf(row)?.sessions.set(row.id, createSessionDraft(row, false));
  for (const row of events) sessionOf(row)?.events.set(row.sequence, row);
  for (const row of scores) sessionOf(row)?.scores.set(row.scoredAt, row);
  for (const row of correlations) sessionOf(row)?.correlations.set(row.correlatedAt, row);
  for (const { name, rows } of records) keepRecords(state, name, rows);
  return state;
}

function keepRecords<Name extends RecordName>({ tenants }: IngestState, name: Name, rows: RecordRows[Name][]) {
  for (const row of rows) {
    const tenant = tenants.get(row.integrationId);
    if (tenant) keepRecord(tenant.records, name, row);
  }
}

type TenantRow = RiskThresholds & { id: string; now: string; subscriptions: string };

const READ_TENANTS = `
  select i.id, i.medium_at as "mediumAt", i.bot_at as "botAt", now() as now,
         (select coalesce(json_agg(json_build_object(
                   'integrationId', s.integration_id, 'id', s.id, 'eventType', s.event_type, 'threshold', s.threshold,
                   'enabled', s.enabled, 'disabledReason', s.disabled_reason)), '[]')::text
            from webhook_subscriptions s where s.integration_id = i.id and s.deleted_at is null) as subscriptions
    from integrations i where i.id in (select json_array_elements_text($1::text::json))`;

const LOCK_SESSIONS = lookUpRecords(sessions, '$1', ['integrationId', 'id'], 'for update');
const READ_EVENTS = lookUpRecords(sessionEvents, '$1', ['integrationId', 'sessionId', 'sequence']);
const READ_SCORES = lookUpRecords(sessionScores, '$1', ['integrationId', 'sessionId', 'scoredAt']);
const READ_CORRELATIONS = lookUpRecords(sessionCorrelations, '$1', ['integrationId', 'sessionId', 'correlatedAt']);
const READ_RECORDS: Record<RecordName, string> = {
  anomalies: lookUpRecords(anomalies, '$1', ['integrationId', 'id']),
  writingScores: lookUpRecords(writingScores, '$1', ['integrationId', 'sessionId', 'scoredAt']),
  reports: lookUpRecords(reports, '$1', ['integrationId', 'id']),
  alerts: lookUpRecords(alerts, '$1', ['integrationId', 'id']),
};

const READ_CONFIRMATIONS = `
  select c.integration_id as "integrationId", c.user_id as "userId", c.fingerprint
    from ${recordset(anomalies, '$1', 'k', ['integrationId', 'userId', 'sessionId'])}
    left join sessions s on s.integration_id = k."integrationId" and s.id = k."sessionId"
    join device_confirmations c
      on c.integration_id = k."integrationId" and c.user_id = coalesce(k."userId", s.user_id)`;
