import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';

// A set of rows is passed to Postgres as one JSON parameter, so that the statement's text, and therefore its plan, does
// not depend on the number of rows. Names and types come from the schema.

type ColumnName<T extends PgTable> = Extract<keyof T['_']['columns'], string>;

/** Lists the writable columns of a table. */
export function listWritableColumns<T extends PgTable>(table: T, except: ColumnName<T>[] = []): ColumnName<T>[] {
  const columns = Object.entries(getTableColumns(table));
  return columns
    .filter(([name, column]) => !column.generated && !except.includes(name as ColumnName<T>))
    .map(([name]) => name as ColumnName<T>);
}

/** `json_to_recordset(…) as alias("camelName" type, …)` for a JSON array of objects with the schema's names. */
export function composeRecordset<T extends PgTable>(
  table: T,
  parameter: string,
  alias: string,
  names: ColumnName<T>[],
): string {
  const columns = getTableColumns(table);
  const definitions = names.map((name) => `"${name}" ${columns[name]!.getSQLType()}`);
  return `json_to_recordset(${parameter}::text::json) as ${alias}(${definitions.join(', ')})`;
}

/** `insert into table (…) select … from json_to_recordset(…)`. */
export function insertRecords<T extends PgTable>(table: T, parameter: string, names: ColumnName<T>[]): string {
  const columns = getTableColumns(table);
  const targets = names.map((name) => `"${columns[name]!.name}"`);
  const values = names.map((name) => `r."${name}"`);
  return `insert into ${getTableConfig(table).name} (${targets.join(', ')}) select ${values.join(', ')} from ${composeRecordset(table, parameter, 'r', names)}`;
}

/**
 * Updates the rows with the given keys, which must be locked. Each row is found by its own key look-up, as in
 * `lookUpRecords`, and then addressed by its ctid.
 */
export function updateRecords<T extends PgTable>(
  table: T,
  parameter: string,
  keys: ColumnName<T>[],
  names: ColumnName<T>[],
): string {
  const columns = getTableColumns(table);
  const assignments = names.map((name) => `"${columns[name]!.name}" = r."${name}"`);
  return `with r as materialized (select * from ${composeRecordset(table, parameter, 'r', [...keys, ...names])})
    update ${getTableConfig(table).name} t set ${assignments.join(', ')} from r where ${reachRecords(table, keys)}`;
}

/** Deletes the rows with the given keys, found as in `updateRecords`. */
export function deleteRecords<T extends PgTable>(table: T, parameter: string, keys: ColumnName<T>[]): string {
  return `with r as materialized (select * from ${composeRecordset(table, parameter, 'r', keys)})
    delete from ${getTableConfig(table).name} t using r where ${reachRecords(table, keys)}`;
}

/** The condition that `t` is the row named by `r`. */
function reachRecords<T extends PgTable>(table: T, keys: ColumnName<T>[]): string {
  const columns = getTableColumns(table);
  const matches = keys.map((name) => `t."${columns[name]!.name}" = r."${name}"`).join(' and ');
  return `${matches}
       and t.ctid = any (array(select found.row from r cross join lateral (select t.ctid as row from ${getTableConfig(table).name} t where ${matches} limit 1) found))`;
}

/** `alias."column" as "camelName", …` for statements written as text. */
export function selectColumns<T extends PgTable>(table: T, alias: string, names?: readonly ColumnName<T>[]): string {
  const columns = getTableColumns(table);
  return (names ?? Object.keys(columns)).map((name) => `${alias}."${columns[name]!.name}" as "${name}"`).join(', ');
}

/**
 * Selects the rows with the given keys by one primary key look-up each, whatever the table's statistics say. (A planner
 * with old statistics of a small table would read the whole table for a join.) With `lock`, rows are locked in the
 * order of the keys.
 */
export function lookUpRecords<T extends PgTable>(
  table: T,
  parameter: string,
  keys: ColumnName<T>[],
  lock: '' | 'for update' = '',
): string {
  const columns = getTableColumns(table);
  const matches = keys.map((name) => `t."${columns[name]!.name}" = k."${name}"`);
  return `select ${selectColumns(table, 'found')} from ${composeRecordset(table, parameter, 'k', keys)}
    cross join lateral (select * from ${getTableConfig(table).name} t where ${matches.join(' and ')} limit 1 ${lock}) found`;
}

/** Sorts rows by key. If all processes insert new keys in the same order, they cannot deadlock. */
export function sortByKey<T>(rows: T[], names: Extract<keyof T, string>[]): T[] {
  if (rows.length < 2) return rows;
  const keyed = rows.map((row) => ({ row, key: writeKey(row, names) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row);
}

/** Writes some values of a row as one text. No value that we store holds a zero character, so no two keys run together. */
export function writeKey<T>(row: T, names: Extract<keyof T, string>[]): string {
  let key = '';
  for (const name of names) key += `${row[name]}\0`;
  return key;
}
