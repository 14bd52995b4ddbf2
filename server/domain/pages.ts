import { asc, desc, gt, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { clampPageSize, type Page } from '../../contract/pagination';
import type { DomainContext } from './context';
import { decodeCursor, encodeCursor, type Position, type Walk } from './cursors';

// Keyset paging: a page begins after the position of the last row shown, which an index finds at once.

export interface PageInput {
  cursor?: string | undefined;
  pageSize: number;
}

/** Rows in the order of their list. With `stoppedAt`, the search for more ended early, at that row. */
export interface Found<Row> {
  rows: Row[];
  stoppedAt: Row | undefined;
}

/** Where a list comes from, and how it is shown. */
export interface PageSource<Row, Item> {
  /** Reads at most `limit` rows after a position; from the beginning where that is null. */
  read(after: Position | null, limit: number): Promise<Row[] | Found<Row>>;
  locate(row: NoInfer<Row>): Position;
  show(row: NoInfer<Row>): Item;
}

/** Reads a page. One row more than it shows tells whether there is another page. INVALID_REQUEST for a foreign cursor. */
export async function readPage<Row, Item>(
  context: DomainContext,
  walk: Walk,
  { cursor, pageSize }: PageInput,
  { read, locate, show }: PageSource<Row, Item>,
): Promise<Page<Item>> {
  const limit = clampPageSize(pageSize, context.integration.tier);
  const after = cursor === undefined ? null : decodeCursor(context, walk, cursor);
  const found = await read(after, limit + 1);
  const { rows, stoppedAt } = Array.isArray(found) ? { rows: found, stoppedAt: undefined } : found;
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : stoppedAt;
  return {
    data: shown.map(show),
    pagination: {
      ...(last ? { nextCursor: encodeCursor(context, walk, locate(last)) } : {}),
      hasMore: last !== undefined,
      limit,
    },
  };
}

/** The order of a list: how its rows are sorted, which of them come after a position, and what a row's position is. */
export interface Keyset<Row> {
  orderBy: SQL[];
  isAfter(position: Position | null): SQL | undefined;
  locate(row: Row): Position;
}

/** Newest first: by a time and then by id. The list's index ends with these two. */
export function newestFirst<At extends string>(
  table: Record<At | 'id', PgColumn>,
  at: At,
): Keyset<Record<At | 'id', string>> {
  const { [at]: time, id } = table;
  return {
    orderBy: [desc(time), desc(id)],
    isAfter: (position) =>
      position === null ? undefined : sql`(${time}, ${id}) < (${position[0]}::timestamptz, ${position[1]})`,
    locate: (row) => [row[at], row.id],
  };
}

/** Ascending by a number. The list's index ends with it. */
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
