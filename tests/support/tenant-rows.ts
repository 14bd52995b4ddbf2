import type { Database } from '../../db/client';
import { foldCounts } from './count-rows';

/** Hashes all rows of an integration by table: of every table that names integrations, with counts folded. */
export async function hashTenantRows(db: Database, integrationId: string): Promise<Record<string, string>> {
  await foldCounts(db);
  const { sql } = db;
  const tables = await sql<{ name: string; key: string }[]>`
    select table_name as name, column_name as key from information_schema.columns
     where table_schema = 'public'
       and (column_name = 'integration_id' or (table_name = 'integrations' and column_name = 'id'))
     order by table_name`;
  const hashes: Record<string, string> = {};
  for (const { name, key } of tables) {
    const [row] = await sql<{ hash: string }[]>`
      select count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text collate "C")), '') as hash
        from ${sql(name)} t where ${sql(key)} = ${integrationId}`;
    hashes[name] = row!.hash;
  }
  return hashes;
}
