import { asc, desc, gt, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { clampPageSize, type Page } from '../../contract/pagination';
import type { DomainContext } from './context';
import { decodeCursor, encodeCursor, type Position, type Walk } from './cursors';

// Keyset paging: a page begins after the position of the last row shown. An index finds this position directly.

export interface PageInput {
  cursor?: string | undefined;
  pageSize: number;
}

/**
 * Rows in the order of their list. If the search ended early, `stoppedAt` is the row where it ended. `endsAt` is where a list ends that
 * grows at its end: the last page has a cursor too, so that the walk can go on later.
 */
export interface Found<Row> {
  rows: Row[];
  stoppedAt: Row | undefined;
  endsAt?: Position | undefined;
}

/** How to read the rows of a list and how to show them. */
export interface PageSource<Row, Item> {
  /** Reads at most `limit` rows after a position, or from the beginning if it is null. */
  read(after: Position | null, limit: number): Promise<Row[] | Found<Row>>;
  locate(row: NoInfer<Row>): Position;
  show(row: NoInfer<Row>): Item;
}

/**
 * Reads a page. It reads one row more than it shows, to know whether there is another page. INVALID_REQUEST for a cursor of
 * another list.
 */
export async function readPage<Row, Item>(
  context: DomainContext,
  walk: Walk,
  { cursor, pageSize }: PageInput,
  { read, locate, show }: PageSource<Row, Item>,
): Promise<Page<Item>> {
  const limit = clampPageSize(pageSize, context.integration.tier);
  const after = cursor === undefined ? null : decodeCursor(context, walk, cursor);
  const found = await read(after, limit + 1);
  const { rows, stoppedAt, endsAt }: Found<Row> = Array.isArray(found) ? { rows: found, stoppedAt: undefined } : found;
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : stoppedAt;
  const next = last ? locate(last) : endsAt;
  return {
    data: shown.map(show),
    pagination: {
      ...(next ? { nextCursor: encodeCursor(context, walk, next) } : {}),
      hasMore: last !== undefined,
      limit,
    },
  };
}

/** The order of a list: how to sort its rows, how to select the rows after a position, and how to get a row's position. */
export interface Keyset<Row> {
  orderBy: SQL[];
  isAfter(position: Position | null): SQL | undefined;
  locate(row: Row): Position;
}

/** Sorts by a time and then by id, newest first. The list's index must end with these two columns. */
export const newestFirst = <At extends string>(table: Record<At | 'id', PgColumn>, at: At) =>
  byTime(table, at, desc, sql`<`);

/** Sorts by a time and then by id, oldest first. The index is the one of the other direction. */
export const oldestFirst = <At extends string>(table: Record<At | 'id', PgColumn>, at: At) =>
  byTime(table, at, asc, sql`>`);

/** Both directions of a list, by their names in `contract/sorting.ts`. */
export const eitherFirst = <At extends string>(table: Record<At | 'id', PgColumn>, at: At) => ({
  newest: newestFirst(table, at),
  oldest: oldestFirst(table, at),
});

function byTime<At extends string>(
  table: Record<At | 'id', PgColumn>,
  at: At,
  direct: typeof asc,
  follows: SQL,
): Keyset<Record<At | 'id', string>> {
  const { [at]: time, id } = table;
  return {
    orderBy: [direct(time), direct(id)],
    isAfter: (position) =>
      position === null ? undefined : sql`(${time}, ${id}) ${follows} (${position[0]}::timestamptz, ${position[1]})`,
    locate: (row) => [row[at], row.id],
  };
}

/** Sorts by a number, ascending. The list's index must end with this column. */
export function ascending<Name extends string>(
  table: Record<Name, PgColumn>,
  name: Name,
): Keyset<Record<Name, number>> {
  const column = table[name];
  return {
    orderBy: [asc(column)],
    isAfter: (position) => (position === null ? undefined : gt(column, Number(position[0]))),
    locate: (row) => [row[name]],
  };
}
