import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrateDatabase, RegionMismatchError } from '../../db/migrate';
import { createEmptyDatabase } from '../support/database';

const directory = 'db/migrations';

describe('migrations', () => {
  let database: { url: string; drop(): Promise<void> };
  beforeEach(async () => {
    database = await createEmptyDatabase();
  });
  afterEach(() => database.drop());

  it('are applied once when several processes start together', async () => {
    const { url } = database;
    const applied = await Promise.all([1, 2, 3].map(() => migrateDatabase({ url, directory, region: 'us' })));
    expect(applied.flat()).toEqual(['0000_initial']);
    expect(await migrateDatabase({ url, directory, region: 'us' })).toEqual([]);
  });

  it('bind a database to the region of its first start', async () => {
    const { url } = database;
    await migrateDatabase({ url, directory, region: 'eu' });
    const refused = migrateDatabase({ url, directory, region: 'us' });
    await expect(refused).rejects.toThrow(RegionMismatchError);
    await expect(refused).rejects.toThrow('REGION: is us, but this database belongs to region eu');
  });

  it('keep the rate windows out of the log, and ids in bytewise order', async () => {
    const { url } = database;
    await migrateDatabase({ url, directory, region: 'us' });
    const sql = postgres(url, { max: 1 });
    const [table] = await sql`select relpersistence from pg_class where relname = 'rate_windows'`;
    expect(table).toEqual({ relpersistence: 'u' });
    const columns = await sql`select collation_name from information_schema.columns
      where table_name = 'sessions' and column_name in ('id', 'integration_id', 'user_id')`;
    expect(columns.map((column) => column.collation_name)).toEqual(['C', 'C', 'C']);
    await sql.end();
  });
});
