import { is } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import * as schema from '../../db/schema';

/** A table with rows of tenants, and the column that says whose a row is. */
export interface TenantTable {
  name: string;
  key: string;
  columns: string[];
}

/** Every table of the schema, with its primary key in order. */
export const TABLES = Object.values(schema)
  .filter((value) => is(value, PgTable))
  .map((table) => {
    const { name, columns, primaryKeys } = getTableConfig(table);
    const single = columns.filter((column) => column.primary);
    return {
      name,
      columns: columns.map((column) => column.name),
      primaryKey: (primaryKeys[0]?.columns ?? single).map((column) => column.name),
    };
  });

/**
 * The tables with an `integration_id`, and the integrations themselves. They are read from the schema, so that a new
 * table is included.
 */
export const TENANT_TABLES: TenantTable[] = TABLES.flatMap(({ name, columns }) => {
  const key = name === 'integrations' ? 'id' : 'integration_id';
  return columns.includes(key) ? [{ name, key, columns }] : [];
});
