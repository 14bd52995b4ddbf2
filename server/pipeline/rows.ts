import { getTableName } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Query } from '../../db/client';
import {
  composeRecordset,
  deleteRecords,
  insertRecords,
  listWritableColumns,
  sortByKey,
  updateRecords,
} from '../../db/recordset';
import {
  courses,
  domainEvents,
  factOutbox,
  type OutboxCause,
  sessionFlags,
  sessions,
  users,
  webhookDeliveries,
} from '../../db/schema';
import { READ_SECRETS, type SubscriptionKey } from '../webhooks/deliveries';
import type { PlannedDelivery, PlannedEvent } from '../webhooks/planning';
import { type CourseRow, type FlagRow, type SessionRow, UNVERIFIED_AT, type UserRow } from './draft';
import { RECORD_KINDS } from './facts';
import type { RecordKind, RecordRow } from './records';

/** The rows that a commit writes. */
export interface IngestRows {
  newSessions: SessionRow[];
  changedSessions: SessionRow[];
  newFlags: FlagRow[];
  oldFlags: FlagRow[];
  records: Map<RecordKind, RecordRow[]>;
  users: UserRow[];
  courses: CourseRow[];
  domainEvents: PlannedEvent[];
  deliveries: PlannedDelivery[];
  concerns: OutboxEntry[];
}

/** A session that the rules on findings are to judge, and why. */
export interface OutboxEntry {
  integrationId: string;
  id: string;
  sessionId: string;
  causes: OutboxCause[];
}

export const createRows = (): IngestRows => ({
  newSessions: [],
  changedSessions: [],
  newFlags: [],
  oldFlags: [],
  records: new Map(RECORD_KINDS.map((kind) => [kind, []])),
  users: [],
  courses: [],
  domainEvents: [],
  deliveries: [],
  concerns: [],
});

/** A written delivery. If this process sends it at once, it has a lease, the URL and the secret. */
export type WrittenDelivery = SubscriptionKey & { deliveryId: string; eventId: string } & (
    | { lease: null; nextAttemptAt: string }
    | {
        lease: string;
        leaseOwner: number | null;
        url: string;
        secretSealed: Buffer;
        previousSecretSealed: Buffer | null;
      }
  );

/** The part of the statement that writes one table: the rows, and the SQL that writes them from a JSON parameter. */
interface Part {
  name: string;
  table: PgTable;
  list(rows: IngestRows): unknown[];
  write(parameter: string): string;
}

const DELIVERY_COLUMNS: (keyof PlannedDelivery)[] = ['integrationId', 'id', 'subscriptionId', 'eventId', 'lease'];

const CHANGED_COLUMNS: (keyof SessionRow)[] = [
  ...(['updatedAt', 'closedAt', 'failedAt', 'failureReason', 'status'] as const),
  ...(['botScore', 'scoreBin', 'scoredAt', 'detectionFlags'] as const),
  ...(['eventCount', 'userId', 'correlationConfidence', 'correlatedAt', 'isInferred'] as const),
];

function composeRecords(kind: RecordKind): Part {
  const { table } = kind;
  const sortKey = ['integrationId', ...kind.key];
  return {
    name: `new_${getTableName(table)}`,
    table,
    list: (rows) => sortByKey(rows.records.get(kind)!, sortKey),
    write: (parameter) => insertRecords(table, parameter, listWritableColumns(table)),
  };
}

const PARTS: Part[] = [
  {
    name: 'created',
    table: sessions,
    list: (rows) => sortByKey(rows.newSessions, ['integrationId', 'id']),
    write: (parameter) => insertRecords(sessions, parameter, listWritableColumns(sessions)),
  },
  {
    name: 'changed',
    table: sessions,
    list: (rows) => rows.changedSessions,
    write: (parameter) => updateRecords(sessions, parameter, ['integrationId', 'id'], CHANGED_COLUMNS),
  },
  {
    name: 'flagged',
    table: sessionFlags,
    list: (rows) => sortByKey(rows.newFlags, ['integrationId', 'flag', 'createdAt', 'sessionId']),
    write: (parameter) =>
      `${insertRecords(sessionFlags, parameter, listWritableColumns(sessionFlags))} on conflict do nothing`,
  },
  {
    name: 'unflagged',
    table: sessionFlags,
    list: (rows) => rows.oldFlags,
    write: (parameter) => deleteRecords(sessionFlags, parameter, listWritableColumns(sessionFlags)),
  },
  ...RECORD_KINDS.map(composeRecords),
  {
    name: 'described',
    table: users,
    list: (rows) => sortByKey(keepLatest(rows.users), ['integrationId', 'id']),
    write: (parameter) => `${insertRecords(users, parameter, listWritableColumns(users))}
      on conflict (integration_id, id) do update
      set name = excluded.name, email = excluded.email, url = excluded.url, described_at = excluded.described_at
      where users.described_at <= excluded.described_at and excluded.described_at > '${UNVERIFIED_AT}'`,
  },
  {
    name: 'named',
    table: courses,
    list: (rows) => sortByKey(keepLatest(rows.courses), ['integrationId', 'id']),
    write: (parameter) =>
      `${insertRecords(courses, parameter, listWritableColumns(courses))} on conflict (integration_id, id) do nothing`,
  },
  {
    name: 'concerned',
    table: factOutbox,
    list: (rows) => rows.concerns,
    write: (parameter) => insertRecords(factOutbox, parameter, ['integrationId', 'id', 'sessionId', 'causes']),
  },
  {
    name: 'told',
    table: domainEvents,
    list: (rows) => sortByKey(rows.domainEvents, ['integrationId', 'type', 'naturalKey']),
    write: (
      parameter,
    ) => `${insertRecords(domainEvents, parameter, listWritableColumns(domainEvents, ['createdAt', 'ended', 'position']))}
      on conflict (integration_id, type, natural_key) do nothing returning integration_id, id`,
  },
  {
    name: 'sent',
    table: webhookDeliveries,
    list: (rows) => rows.deliveries,
    write: (parameter) => `
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id, attempts, lease, lease_owner, next_attempt_at)
      select r."integrationId", r.id, r."subscriptionId", r."eventId", case when r.lease is null then 0 else 1 end, r.lease,
             case when r.lease is not null then $3::int end, now() + case when r.lease is null then $1::int else $2::int end * interval '1 ms'
        from ${composeRecordset(webhookDeliveries, parameter, 'r', DELIVERY_COLUMNS)}
        join told on told.integration_id = r."integrationId" and told.id = r."eventId"
      returning integration_id, id, subscription_id, event_id, lease, lease_owner, next_attempt_at`,
  },
];

/** The tables that a commit may write. */
export const WRITTEN_TABLES = [...new Set(PARTS.map(({ table }) => getTableName(table)))];

const READ_SENT = `
  select d.integration_id as "integrationId", d.subscription_id as "subscriptionId", d.id as "deliveryId",
         d.event_id as "eventId", d.lease, d.lease_owner as "leaseOwner", d.next_attempt_at as "nextAttemptAt", s.url, ${READ_SECRETS}
    from sent d
    left join webhook_subscriptions s on d.lease is not null and s.integration_id = d.integration_id and s.id = d.subscription_id`;
/** Uses the first parameters, which every statement has, in a query that returns no rows. */
const READ_NOTHING = 'select 1 where $1::int < 0 and $2::int < 0 and $3::int < 0';

/** Composed statements by the names of their parts. Only few combinations occur. */
const statements = new Map<string, string>();

/** Composes a statement of only the given parts, so that Postgres does no work for tables that get no rows. */
function composeStatement(parts: Part[]): string {
  const names = parts.map(({ name }) => name);
  const key = names.join();
  let text = statements.get(key);
  if (text === undefined) {
    const writes = parts.map(({ name, write }, index) => `${name} as (${write(`$${index + 4}`)})`);
    text = `with ${writes.join(',\n')} ${names.includes('sent') ? READ_SENT : READ_NOTHING}`;
    statements.set(key, text);
  }
  return text;
}

/** Writes all rows in one statement and commits. An event that already exists creates no deliveries. */
export async function writeRows(
  commitWith: Query,
  rows: IngestRows,
  firstDelayMs: number,
  { leaseMs, leaseOwner }: { leaseMs: number; leaseOwner: number | null },
): Promise<WrittenDelivery[]> {
  const filled = PARTS.map((part) => ({ part, list: part.list(rows) })).filter(({ list }) => list.length > 0);
  if (filled.length === 0) return [];
  const text = composeStatement(filled.map(({ part }) => part));
  const lists = filled.map(({ list }) => JSON.stringify(list));
  return commitWith<WrittenDelivery>(text, [firstDelayMs, leaseMs, leaseOwner, ...lists]);
}

/**
 * Keeps one row for each key, because a statement may write a row only once: the latest description, or the last row if rows
 * have no `describedAt`.
 */
function keepLatest<T extends { integrationId: string; id: string; describedAt?: string }>(rows: T[]): T[] {
  const latest = new Map<string, T>();
  for (const row of rows) {
    const key = `${row.integrationId}\n${row.id}`;
    const known = latest.get(key);
    if (known?.describedAt === undefined || known.describedAt <= row.describedAt!) latest.set(key, row);
  }
  return [...latest.values()];
}
