import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import { selectColumns } from '../../db/recordset';
import type { DomainContext } from './context';
import { type MentionFinder, mayMention } from './mentions';

// How the export of a user reads rows: those along an index on the user, and those of all the integration that mention them.

const PAGE_ROWS = 50;
/** A statement looks through so many rows, or up to the row with which their texts have so many bytes. */
const SCANNED_ROWS = 2_000;
const SCANNED_BYTES = 4 * 1024 * 1024;

export interface Exported {
  context: DomainContext;
  userId: string;
  finder: MentionFinder;
}

/** Rows as JSON, long ones in pieces. */
export type ExportSection = (exported: Exported) => AsyncIterable<string | AsyncIterable<string>>;

/** A row as JSON, and where the walk goes on after it. */
export interface Row {
  json: string;
  key: string[];
}

/** Columns that say what staff or a key did: they are not the user's data. */
const OF_STAFF = ['labeledBy', 'actorId', 'actorName', 'confirmedBy', 'acknowledgedBy', 'resolvedBy', 'clientAddress'];
/** Columns that say nothing to anybody outside. */
const INTERNAL = [
  'integrationId',
  'entry',
  'key',
  'digests',
  'progress',
  'addressHash',
  'version',
  'dueAt',
  'judgedAt',
  'naturalKey',
  'skips',
  // The section of the audit entries adds them, without who of the staff it was.
  'details',
];

/** The columns of a table that belong into the file. */
export function selectShown(table: PgTable, alias: string): string {
  const names = Object.keys(getTableColumns(table)).filter((name) => ![...OF_STAFF, ...INTERNAL].includes(name));
  return selectColumns(table, alias, names as never[]);
}

/** Walks the rows of a user, page by page along an index on `user_id` and the two columns of `key`. */
export function walkOfUser<Found extends Row>(
  table: PgTable,
  alias: string,
  key: [first: string, second: string],
  { more = '', pageRows = PAGE_ROWS } = {},
): (exported: Exported) => AsyncIterable<Found> {
  const [first, second] = key.map((column) => `${alias}.${column}`);
  const read = (condition: string) => `
    select row_to_json(shown)::text as json, array[${first}::text, ${second}::text] as key ${more}
      from ${getTableConfig(table).name} ${alias} cross join lateral (select ${selectShown(table, alias)}) shown
     where ${alias}.integration_id = $1 and ${alias}.user_id = $2 ${condition}
     order by ${first}, ${second} limit ${pageRows}`;
  const begin = read('');
  const goOn = read(`and (${first}, ${second}) > ($3::timestamptz, $4)`);
  return async function* ({ context, userId }) {
    let key: string[] = [];
    for (let count = pageRows; count === pageRows; ) {
      const parameters = [context.integration.id, userId, ...key];
      const rows = await context.db.query<Found>(key.length === 0 ? begin : goOn, parameters);
      yield* rows;
      key = rows.at(-1)?.key ?? [];
      count = rows.length;
    }
  };
}

export function listOfUser(...walk: Parameters<typeof walkOfUser>): ExportSection {
  const walkRows = walkOfUser(...walk);
  return async function* (exported) {
    for await (const { json } of walkRows(exported)) yield json;
  };
}

interface Mentions {
  table: PgTable;
  /** All that may mention the user, as SQL. */
  text: string;
  /** Reads the text, if it is no prose. */
  read?: (text: string) => unknown;
  /** Which rows are the user's without a mention, as SQL. `$5` is their id. */
  isOfUser?: string;
  more?: string;
  /** The order of the walk, which an index of the table has after `integration_id`. */
  order?: Order;
}

/** Columns as SQL, how they are kept, and how they are read from `parameter`. */
interface Order {
  columns: string;
  asTexts: string;
  first: string[];
  readFrom(parameter: string): string;
}

const BY_ID: Order = {
  ...{ columns: 't.id', asTexts: 't.id', first: [''] },
  readFrom: (parameter) => `${parameter}::text::json ->> 0`,
};
export const BY_MATCH: Order = {
  ...{
    columns: 't.session_id, t.correlated_at',
    asTexts: 't.session_id, t.correlated_at::text',
    first: ['', '-infinity'],
  },
  readFrom: (parameter) => `${parameter}::text::json ->> 0, (${parameter}::text::json ->> 1)::timestamptz`,
};
export const BY_TIME: Order = {
  ...{ columns: 't.occurred_at, t.id', asTexts: 't.occurred_at::text, t.id', first: ['-infinity', ''] },
  readFrom: (parameter) => `(${parameter}::text::json ->> 0)::timestamptz, ${parameter}::text::json ->> 1`,
};

/** Reads all rows of the integration in slices, and keeps those that mention the user. */
export function listMentions({
  table,
  text,
  read: readText = String,
  isOfUser = 'false',
  more = '',
  order = BY_ID,
}: Mentions): ExportSection {
  const { columns, asTexts, first, readFrom } = order;
  const name = getTableConfig(table).name;
  const end = `
    select key from (
      select array[${asTexts}] as key, row_number() over scanned as row, sum(octet_length(${text})) over scanned as bytes
        from (select * from ${name} t where t.integration_id = $1 and (${columns}) > (${readFrom('$2')})
               order by ${columns} limit ${SCANNED_ROWS}) t
      window scanned as (order by ${columns})) s
     where row = ${SCANNED_ROWS} or bytes > ${SCANNED_BYTES} order by row limit 1`;
  const read = `
    select row_to_json(shown)::text as json, ${text.replaceAll('t.', 'shown.')} as text, (${isOfUser}) as "isOfUser"
      from ${name} t cross join lateral (select ${selectShown(table, 't')} ${more}) shown
     where t.integration_id = $1 and (${columns}) > (${readFrom('$2')})
       and ($3::text is null or (${columns}) <= (${readFrom('$3')}))
       and (${mayMention(text, '$4')} or $5::text is null or ${isOfUser})
     order by ${columns}`;
  return async function* ({ context, userId, finder }) {
    const { id } = context.integration;
    for (let after: string[] | undefined = first; after; ) {
      const from: string = JSON.stringify(after);
      const [last]: { key: string[] }[] = await context.db.query(end, [id, from]);
      const until = last ? JSON.stringify(last.key) : null;
      const rows = await context.db.query<{ json: string; text: string; isOfUser: boolean }>(read, [
        ...[id, from, until, finder.patterns, userId],
      ]);
      for (const { json, text: found, isOfUser } of rows) if (isOfUser || finder.isIn(readText(found))) yield json;
      after = last?.key;
    }
  };
}
