import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createIntake } from '../../server/collector/intake';
import { createTestDatabase, type TestDatabase } from '../support/database';

// A plan that was made for an almost empty table is renewed when the table has grown.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const countAnalyses = async () => {
  const [row] = await database.db.query<{ count: number }>(
    `select analyze_count::int as count from pg_stat_user_tables where relname = 'collected_sessions'`,
    [],
  );
  return row!.count;
};

it('the collector updates the statistics of its tables after its first 100 and 1,000 batches', async () => {
  const intake = createIntake(database.db, { warn: () => {} }, 60_000);
  const storeBatches = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, sequence) => intake.store({ ...BATCH, sequence })));
  const sessionId = `ses_${randomUUID()}`;
  const BATCH = {
    ...{ integrationId: 'int_1', sessionId, siteId: 'sit_1', mayBegin: true, userAgent: '' },
    ...{ addressPrefix: null, addressHash: null, country: null, location: null },
    ...{ document: '1', body: Buffer.of(1), lateBody: null },
  };
  const before = await countAnalyses();
  await storeBatches(99);
  expect(await countAnalyses()).toBe(before);
  await storeBatches(1);
  await expect.poll(countAnalyses).toBe(before + 1);
  await storeBatches(899);
  expect(await countAnalyses()).toBe(before + 1);
  await storeBatches(1);
  await expect.poll(countAnalyses).toBe(before + 2);
});
