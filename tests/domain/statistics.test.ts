import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createStatisticsUpdater } from '../../db/statistics';
import { createIntake } from '../../server/collector/intake';
import { createTestDatabase, type TestDatabase } from '../support/database';

// Statistics of tables that grow, because plans that were made for almost empty ones read all of them.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** How often the statistics of a table were updated. */
const countUpdates = async (table: string) => {
  const [row] = await database.db.query<{ count: number }>(
    'select analyze_count::int as count from pg_stat_user_tables where relname = $1',
    [table],
  );
  return row!.count;
};

it('are updated when a process has written more than a table had rows', async () => {
  const { sql } = database.db;
  await sql`create table small (id int)`;
  await sql`create table large (id int)`;
  await sql`insert into large select generate_series(1, 500)`;
  await sql`analyze large`;
  const counts = async () => [await countUpdates('small'), await countUpdates('large')];
  const faults: unknown[] = [];
  const countWrites = createStatisticsUpdater(database.db, ['small', 'large'], { warn: (fault) => faults.push(fault) });
  countWrites(99);
  expect(await counts()).toEqual([0, 1]);
  countWrites(1);
  await expect.poll(counts).toEqual([1, 1]);
  countWrites(900);
  await expect.poll(counts).toEqual([2, 2]);
  expect(faults).toEqual([]);
});

it('of the collector’s sessions are updated as batches arrive', async () => {
  const intake = createIntake(database.db, { warn: () => {} }, 60_000);
  const sessionId = `ses_${randomUUID()}`;
  const batch = {
    ...{ integrationId: 'int_1', sessionId, siteId: 'sit_1', mayBegin: true, userAgent: '' },
    ...{ addressPrefix: null, country: null, location: null },
    ...{ document: '1', body: Buffer.of(1), lateBody: null },
  };
  const before = await countUpdates('collected_sessions');
  await Promise.all(Array.from({ length: 100 }, (_, sequence) => intake.store({ ...batch, sequence })));
  await expect.poll(() => countUpdates('collected_sessions')).toBe(before + 1);
});
