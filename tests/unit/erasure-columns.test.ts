import { getTableColumns, is } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { describe, expect, it } from 'vitest';
import * as schema from '../../db/schema';
import { COLUMN_FATES } from '../../server/erasure/columns';

/** Types that hold no text: a person cannot be named by them. */
const PLAIN = /^(smallint|integer|bigint|double precision|boolean|date|uuid|timestamp)/;

describe('what the erasure of a user does', () => {
  it('is listed for every column that can hold text, JSON or bytes, and for no other', () => {
    const tables = Object.values(schema as Record<string, unknown>).filter((value) => is(value, PgTable));
    expect(tables.length).toBeGreaterThan(40);
    const columns = tables.flatMap((table) =>
      Object.values(getTableColumns(table))
        .filter((column) => !PLAIN.test(column.getSQLType()))
        .map((column) => `${getTableConfig(table).name}.${column.name}`),
    );
    const listed = [...COLUMN_FATES].flatMap(([table, fates]) =>
      Object.keys(fates).map((column) => `${table}.${column}`),
    );
    expect(listed.sort()).toEqual(columns.sort());
  });
});
