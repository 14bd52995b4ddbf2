import { isDeepStrictEqual } from 'node:util';
import type { PgTable } from 'drizzle-orm/pg-core';
import { writeKey } from '../../db/recordset';

type RowOf<Table extends PgTable> = Table['$inferSelect'];
type ColumnName<Table extends PgTable> = Extract<keyof RowOf<Table>, string>;

/** A kind of rows that are written once and never change: their table, and the columns of their key within a tenant. */
export interface RecordKind<Table extends PgTable = PgTable, Key extends ColumnName<Table> = ColumnName<Table>> {
  table: Table;
  key: Key[];
  /** Whether a row belongs to the session that its key names. If that session is new, there is no row to read. */
  isOfSession: boolean;
}

/** A row of a kind of records. */
export type RecordRow<Kind extends RecordKind = RecordKind> = RowOf<Kind['table']> & { integrationId: string };
/** The key of a row of a kind of records. */
export type RecordKey<Kind extends RecordKind> = Pick<
  RecordRow<Kind>,
  Extract<Kind['key'][number] | 'integrationId', keyof RecordRow<Kind>>
>;

/** Defines a kind of records, by table and key. */
export const defineRecords = <Table extends PgTable, Key extends ColumnName<Table>>(
  kind: RecordKind<Table, Key>,
): RecordKind<Table, Key> => kind;

/** Whether two rows are the same once they are stored: rows are written as JSON, which makes minus zero zero. */
export const isSameRecord = <Row extends RecordRow>(one: Row, other: Row): boolean =>
  isDeepStrictEqual(asWritten(one), asWritten(other));

const asWritten = (row: RecordRow): unknown => JSON.parse(JSON.stringify(row));

/** Rows of a tenant, by kind and key. */
export class Records {
  readonly #rows = new Map<RecordKind, Map<string, RecordRow>>();

  find<Kind extends RecordKind>(kind: Kind, row: RecordRow<Kind>): RecordRow<Kind> | null {
    return (this.#rows.get(kind)?.get(writeKey<RecordRow>(row, kind.key)) as RecordRow<Kind> | undefined) ?? null;
  }

  add<Kind extends RecordKind>(kind: Kind, row: RecordRow<Kind>): void {
    const key = writeKey<RecordRow>(row, kind.key);
    const rows = this.#rows.get(kind);
    if (rows === undefined) this.#rows.set(kind, new Map([[key, row]]));
    else rows.set(key, row);
  }

  /** Adds all rows of `others`. The caller must not use `others` again, because its maps may be shared. */
  merge(others: Records): void {
    for (const [kind, rows] of others.#rows) {
      const own = this.#rows.get(kind);
      if (own === undefined) this.#rows.set(kind, rows);
      else for (const [key, row] of rows) own.set(key, row);
    }
  }

  /** Lists the rows of a kind. */
  list(kind: RecordKind): Iterable<RecordRow> {
    return this.#rows.get(kind)?.values() ?? [];
  }
}
