/**
 * Composes the statement that adds up the entries of a table of counts (docs/counts.md). Writers append entries, numbered from 1, so that
 * they never wait for each other; entry 0 is the sum. Returns a row for each sum that it writes.
 */
export function composeEntryFold(table: string, { key, counts, isKept }: EntryTable): string {
  const columns = key.join(', ');
  return `
  with folded as (delete from ${table} where entry > 0 returning ${columns}, ${counts.join(', ')})
  insert into ${table} (${columns}, entry, ${counts.join(', ')}) overriding system value
  select ${columns}, 0, ${counts.map((name) => `sum(${name})`).join(', ')}
    from folded where ${isKept ?? 'true'} group by ${columns} order by ${columns}
  on conflict (${columns}, entry) do update
  set ${counts.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')}
  returning 1`;
}

interface EntryTable {
  /** The primary key without `entry`. */
  key: string[];
  counts: string[];
  /** A condition of SQL on an entry. Others are removed. */
  isKept?: string;
}
