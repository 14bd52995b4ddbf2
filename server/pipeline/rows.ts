import type { Query } from '../../db/client';
import { deleteRecords, insertRecords, recordset, sortByKey, updateRecords, writableColumns } from '../../db/recordset';
import {
  alerts,
  anomalies,
  courses,
  domainEvents,
  reports,
  sessionCorrelations,
  sessionEvents,
  sessionFlags,
  sessionScores,
  sessions,
  users,
  webhookDeliveries,
  writingScores,
} from '../../db/schema';
import type { SubscriptionKey } from '../webhooks/deliveries';
import type { PlannedDelivery, PlannedEvent } from '../webhooks/planning';
import type {
  CorrelationRow,
  CourseRow,
  EventRow,
  FlagRow,
  RecordName,
  RecordRows,
  ScoreRow,
  SessionRow,
  UserRow,
} from './draft';

/** Records that are written, by their kinds. */
export type RecordLists = { [Name in RecordName]: RecordRows[Name][] };

/** All rows of a commit. */
export interface IngestRows extends RecordLists {
  newSessions: SessionRow[];
  changedSessions: SessionRow[];
  newFlags: FlagRow[];
  oldFlags: FlagRow[];
  events: EventRow[];
  scores: ScoreRow[];
  correlations: CorrelationRow[];
  users: UserRow[];
  courses: CourseRow[];
  domainEvents: PlannedEvent[];
  deliveries: PlannedDelivery[];
}

export const createRows = (): IngestRows => ({
  newSessions: [],
  changedSessions: [],
  newFlags: [],
  oldFlags: [],
  events: [],
  scores: [],
  correlations: [],
  users: [],
  courses: [],
  anomalies: [],
  writingScores: [],
  reports: [],
  alerts: [],
  domainEvents: [],
  deliveries: [],
});

/** A delivery that was written. One that is ours to send at once comes with its lease, and where it goes. */
export type WrittenDelivery = SubscriptionKey & { deliveryId: string; eventId: string } & (
    | { lease: null }
    | { lease: string; url: string; secretSealed: Buffer }
  );

/** One table's share of the statement: its rows, and what writes them from the JSON in a parameter. */
interface Part {
  name: string;
  list(rows: IngestRows): unknown[];
  write(parameter: string): string;
}

const DELIVERY_COLUMNS: (keyof PlannedDelivery)[] = ['integrationId', 'id', 'subscriptionId', 'eventId', 'lease'];

const CHANGED_COLUMNS: (keyof SessionRow)[] = [
  ...(['updatedAt', 'closedAt', 'failedAt', 'failureReason', 'status'] as const),
  ...(['botScore', 'scoreBin', 'scoredAt', 'detectionFlags'] as const),
  ...(['eventCount', 'userId', 'correlationConfidence', 'correlatedAt'] as const),
];

const PARTS: Part[] = [
  {
    name: 'created',
    list: (rows) => sortByKey(rows.newSessions, (row) => [row.integrationId, row.id]),
    write: (parameter) => insertRecords(sessions, parameter, writableColumns(sessions)),
  },
  {
    name: 'changed',
    list: (rows) => rows.changedSessions,
    write: (parameter) => updateRecords(sessions, parameter, ['integrationId', 'id'], CHANGED_COLUMNS),
  },
  {
    name: 'flagged',
    list: (rows) => sortByKey(rows.newFlags, (row) => [row.integrationId, row.flag, row.createdAt, row.sessionId]),
    write: (parameter) =>
      `${insertRecords(sessionFlags, parameter, writableColumns(sessionFlags))} on conflict do nothing`,
  },
  {
    name: 'unflagged',
    list: (rows) => rows.oldFlags,
    write: (parameter) => deleteRecords(sessionFlags, parameter, writableColumns(sessionFlags)),
  },
  {
    name: 'happened',
    list: (rows) => sortByKey(rows.events, (row) => [row.integrationId, row.sessionId, row.sequence]),
    write: (parameter) => insertRecords(sessionEvents, parameter, writableColumns(sessionEvents)),
  },
  {
    name: 'scored',
    list: (rows) => sortByKey(rows.scores, (row) => [row.integrationId, row.sessionId, row.scoredAt]),
    write: (parameter) => insertRecords(sessionScores, parameter, writableColumns(sessionScores)),
  },
  {
    name: 'correlated',
    list: (rows) => sortByKey(rows.correlations, (row) => [row.integrationId, row.sessionId, row.correlatedAt]),
    write: (parameter) => insertRecords(sessionCorrelations, parameter, writableColumns(sessionCorrelations)),
  },
  {
    name: 'described',
    list: (rows) => sortByKey(keepLatest(rows.users), (row) => [row.integrationId, row.id]),
    write: (parameter) => `${insertRecords(users, parameter, writableColumns(users))}
      on conflict (integration_id, id) do update
      set name = excluded.name, email = excluded.email, url = excluded.url, described_at = excluded.described_at
      where users.described_at <= excluded.described_at`,
  },
  {
    name: 'named',
    list: (rows) => sortByKey(keepLatest(rows.courses), (row) => [row.integrationId, row.id]),
    write: (parameter) =>
      `${insertRecords(courses, parameter, writableColumns(courses))} on conflict (integration_id, id) do nothing`,
  },
  {
    name: 'noticed',
    list: (rows) => sortByKey(rows.anomalies, (row) => [row.integrationId, row.id]),
    write: (parameter) => insertRecords(anomalies, parameter, writableColumns(anomalies)),
  },
  {
    name: 'judged',
    list: (rows) => sortByKey(rows.writingScores, (row) => [row.integrationId, row.sessionId, row.scoredAt]),
    write: (parameter) => insertRecords(writingScores, parameter, writableColumns(writingScores)),
  },
  {
    name: 'reported',
    list: (rows) => sortByKey(rows.reports, (row) => [row.integrationId, row.id]),
    write: (parameter) => insertRecords(reports, parameter, writableColumns(reports)),
  },
  {
    name: 'alarmed',
    list: (rows) => sortByKey(rows.alerts, (row) => [row.integrationId, row.id]),
    write: (parameter) => insertRecords(alerts, parameter, writableColumns(alerts)),
  },
  {
    name: 'told',
    list: (rows) => sortByKey(rows.domainEvents, (row) => [row.integrationId, row.type, row.naturalKey]),
    write: (parameter) => `${insertRecords(domainEvents, parameter, writableColumns(domainEvents, ['createdAt']))}
      on conflict (integration_id, type, natural_key) do nothing returning integration_id, id`,
  },
  {
    name: 'sent',
    list: (rows) => rows.deliveries,
    write: (parameter) => `
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id, attempts, lease, next_attempt_at)
      select r."integrationId", r.id, r."subscriptionId", r."eventId", case when r.lease is null then 0 else 1 end, r.lease,
             now() + case when r.lease is null then $1::int else $2::int end * interval '1 ms'
        from ${recordset(webhookDeliveries, parameter, 'r', DELIVERY_COLUMNS)}
        join told on told.integration_id = r."integrationId" and told.id = r."eventId"
      returning integration_id, id, subscription_id, event_id, lease`,
  },
];

const READ_SENT = `
  select d.integration_id as "integrationId", d.subscription_id as "subscriptionId", d.id as "deliveryId",
         d.event_id as "eventId", d.lease, s.url, s.secret_sealed as "secretSealed"
    from sent d
    left join webhook_subscriptions s on d.lease is not null and s.integration_id = d.integration_id and s.id = d.subscription_id`;
/** The delays are parameters of every statement. */
const READ_NOTHING = 'select 1 where $1::int < 0 and $2::int < 0';

/** By the parts that they are made of: few of all combinations come up. */
const statements = new Map<string, string>();

/** Composes the statement of some parts, so that Postgres prepares nothing for tables that get no rows. */
function composeStatement(parts: Part[]): string {
  const names = parts.map(({ name }) => name);
  const key = names.join();
  let text = statements.get(key);
  if (text === undefined) {
    const writes = parts.map(({ name, write }, index) => `${name} as (${write(`$${index + 3}`)})`);
    text = `with ${writes.join(',\n')} ${names.includes('sent') ? READ_SENT : READ_NOTHING}`;
    statements.set(key, text);
  }
  return text;
}

/** Writes everything in one statement and commits. An event that was told before brings no deliveries. */
export async function writeRows(
  commitWith: Query,
  rows: IngestRows,
  firstDelayMs: number,
  leaseMs: number,
): Promise<WrittenDelivery[]> {
  const filled = PARTS.map((part) => ({ part, list: part.list(rows) })).filter(({ list }) => list.length > 0);
  if (filled.length === 0) return [];
  const text = composeStatement(filled.map(({ part }) => part));
  return commitWith<WrittenDelivery>(text, [firstDelayMs, leaseMs, ...filled.map(({ list }) => JSON.stringify(list))]);
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
