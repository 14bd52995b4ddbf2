import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '../../db/client';
import { deleteRecords, selectColumns, updateRecords } from '../../db/recordset';
import * as schema from '../../db/schema';
import { eraseCollected } from '../collector/erased-sessions';
import { hashSubject } from '../domain/erased-users';
import { mayMention } from '../domain/mentions';
import { COLUMN_FATES, type Fate } from './columns';
import { addCounts, type RunningErasure } from './running-erasure';

// The tables in which any row may mention the user are read from end to end, in slices along their key.

/** A walked table and its key within the integration. Each has an index on it. */
interface Walk {
  table: PgTable;
  key: string[];
  /** Rows that mention the user are removed. */
  isRemoved?: true;
  /** Where not all rows have a user's id in the column: the column that tells, and which values. */
  tells?: [column: string, isUser: (value: string) => boolean];
  /** Where rows are removed: the texts that are no prose, as values. */
  read?: (row: Record<string, unknown>) => Record<string, unknown>;
  /** The number of the row's version, by which a page that shows the row as it was cannot save it again. */
  version?: string;
  /** Columns of which another step takes care. */
  except?: string[];
}

/** What becomes rows of others comes after them: rules before alerts. */
const WALKS: Walk[] = [
  { table: schema.sessionCorrelations, key: ['sessionId', 'correlatedAt'] },
  { table: schema.writingScores, key: ['sessionId', 'scoredAt'] },
  { table: schema.anomalies, key: ['id'] },
  { table: schema.sessions, key: ['id'], except: ['userId', 'location'] },
  { table: schema.sessionVerdicts, key: ['sessionId', 'entry'] },
  { table: schema.sessionEvents, key: ['sessionId', 'sequence'] },
  { table: schema.sessionScores, key: ['sessionId', 'scoredAt'] },
  { table: schema.deviceConfirmations, key: ['userId', 'fingerprint'] },
  { table: schema.courses, key: ['id'] },
  {
    table: schema.savedViews,
    key: ['id'],
    isRemoved: true,
    read: ({ query }) => ({ query: Object.fromEntries(new URLSearchParams(String(query))) }),
  },
  { table: schema.reportSchedules, key: ['id'], isRemoved: true },
  { table: schema.reports, key: ['id'], isRemoved: true },
  { table: schema.alertRules, key: ['id'], tells: ['scope', (scope) => scope === 'user'], version: 'version' },
  { table: schema.alerts, key: ['id'] },
  {
    table: schema.auditEntries,
    key: ['occurredAt', 'id'],
    tells: ['action', (action) => action.startsWith('Device')],
  },
];

const SLICE_ROWS = 2_000;
const LOOKED_AT: Fate[] = ['pseudonym', 'replaced', 'emptied', 'removed', 'hashed'];

interface WalkPosition {
  table: number;
  key: string[] | null;
}

/**
 * Looks at the next slice of rows, and takes the user out of those that mention them. Returns where the walk goes on, or null at
 * its end.
 */
export async function eraseRows(
  db: Database,
  erasure: RunningErasure,
  position: WalkPosition,
): Promise<WalkPosition | null> {
  const walk = PLANS[position.table]!;
  const { integrationId, userId, finder } = erasure;
  return db.transact(
    async (query) => {
      const after = position.key ?? [];
      const [end] = await query<{ key: string[] | null }>(position.key ? walk.readEndAfter : walk.readEnd, [
        integrationId,
        ...after,
      ]);
      const next = end
        ? { table: position.table, key: end.key! }
        : position.table + 1 < PLANS.length
          ? { table: position.table + 1, key: null }
          : null;
      const until = end?.key ?? [];
      const rows = await query<Record<string, unknown>>(walk.readRows(after.length > 0, until.length > 0), [
        ...[integrationId, userId, finder.patterns],
        ...after,
        ...until,
      ]);
      const changed = rows.map((row) => changeRow(row, walk, erasure)).filter((row) => row !== null);
      if (changed.length === 0) return next;
      await query(walk.write, [JSON.stringify(changed)]);
      // Sessions of others of which the user was once thought to be the visitor.
      const isCorrelation = walk.table === schema.sessionCorrelations;
      const sessionIds = isCorrelation ? changed.map(({ sessionId }) => String(sessionId)) : [];
      const traces = await eraseCollected(query, erasure, sessionIds);
      await addCounts(query, erasure, { texts: changed.length, traces });
      return next;
    },
    { isLong: true },
  );
}

/** Takes the user out of a row. Returns null if it does not mention them. */
function changeRow(
  row: Record<string, unknown>,
  { fates, isRemoved, tells, read, version }: Plan,
  { integrationId, userId, pseudonym, finder, erasureKey }: RunningErasure,
): Record<string, unknown> | null {
  const before = { ...row, ...read?.(row) };
  const changed = { ...before };
  const isOfUser = row.userId === userId;
  const mayBeId = !tells || tells[1](String(row[tells[0]]));
  for (const [name, fate] of Object.entries(fates)) {
    const value = before[name];
    if (value === null) continue;
    if (fate === 'pseudonym') changed[name] = mayBeId && value === userId ? pseudonym : value;
    else if (fate === 'hashed' && typeof value === 'string')
      changed[name] = mayBeId && value === userId ? hashSubject(erasureKey, { integrationId, userId }) : value;
    else if (fate === 'emptied' && isOfUser) changed[name] = null;
    else changed[name] = finder.replaceAll(value);
  }
  const isSame = JSON.stringify(changed) === JSON.stringify(before);
  if (isSame) return null;
  if (version) changed[version] = Number(row[version]) + 1;
  return isRemoved ? row : changed;
}

interface Plan extends Walk {
  /** The columns to look at, by name. */
  fates: Record<string, Fate>;
  readEnd: string;
  readEndAfter: string;
  readRows(hasStart: boolean, hasEnd: boolean): string;
  write: string;
}

const PLANS: Plan[] = WALKS.map(planWalk);

function planWalk(walk: Walk): Plan {
  const { table, key, isRemoved, tells, version, except = [] } = walk;
  const columns = getTableColumns(table);
  const name = getTableConfig(table).name;
  const fates = Object.fromEntries(
    Object.entries(columns)
      .map(([field, column]): [string, Fate | undefined] => [field, COLUMN_FATES.get(name)?.[column.name]])
      .filter(
        (entry): entry is [string, Fate] => LOOKED_AT.includes(entry[1]!) && ![...key, ...except].includes(entry[0]),
      ),
  );
  const keyColumns = key.map((field) => `t."${columns[field]!.name}"`).join(', ');
  /** The key as parameters from a place on. */
  const given = (from: number) =>
    key.map((field, index) => `$${from + index}::text::${columns[field]!.getSQLType()}`).join(', ');
  const keyTexts = key.map((field) => `t."${columns[field]!.name}"::text`).join(', ');
  const readEnd = (condition: string) => `
    select array[${keyTexts}] as key from ${name} t where t.integration_id = $1 ${condition}
     order by ${keyColumns} offset ${SLICE_ROWS - 1} limit 1`;
  const mentions = Object.entries(fates).map(([field, fate]) => {
    const column = `t."${columns[field]!.name}"`;
    const isId = `${column}::text = $2`;
    const hasMention = mayMention(`${column}::text`, '$3');
    return fate === 'pseudonym' ? isId : `${isId} or ${hasMention}`;
  });
  const written = [...Object.keys(fates), ...(version ? [version] : [])];
  const fields = [...key, ...written, ...(tells ? [tells[0]] : [])] as never[];
  const readRows = (hasStart: boolean, hasEnd: boolean) => `
    select ${selectColumns(table, 't', ['integrationId' as never, ...fields])} from ${name} t
     where t.integration_id = $1 and (${mentions.join(' or ')})
       ${hasStart ? `and (${keyColumns}) > (${given(4)})` : ''}
       ${hasEnd ? `and (${keyColumns}) <= (${given(4 + (hasStart ? key.length : 0))})` : ''}
       and $2::text is not null and $3::text is not null order by ${keyColumns} for update`;
  const rowKey = ['integrationId', ...key] as never[];
  const statements = new Map([true, false].flatMap((a) => [true, false].map((b) => [`${a}${b}`, readRows(a, b)])));
  return {
    ...walk,
    fates,
    readEnd: readEnd(''),
    readEndAfter: readEnd(`and (${keyColumns}) > (${given(2)})`),
    readRows: (hasStart, hasEnd) => statements.get(`${hasStart}${hasEnd}`)!,
    write: isRemoved ? deleteRecords(table, '$1', rowKey) : updateRecords(table, '$1', rowKey, written as never[]),
  };
}
