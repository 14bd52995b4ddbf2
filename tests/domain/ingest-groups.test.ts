import { afterAll, beforeAll, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { createIntegration } from '../../server/domain/integrations';
import { type Fact, factSchema } from '../../server/pipeline/facts';
import { createIngester } from '../../server/pipeline/ingest';
import { createLogger } from '../../server/platform/log';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { anomaly, happened, started } from '../support/facts';

// Batches that arrive together share a transaction, on a real Postgres.

let database: TestDatabase;
let integrationId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const operator = asOperator(database.db);
  integrationId = (await createIntegration(operator, { name: 'own', plan: 'pro', allowedOrigins: [] })).id;
});
afterAll(() => database.drop());

/** Commits batches that arrive at the same time. Returns in how many transactions. */
async function commit(...batches: Fact[][]): Promise<number> {
  let transactions = 0;
  const { db } = database;
  const transact: typeof db.transact = (work, options) => {
    transactions++;
    return db.transact(work, options);
  };
  const ingester = createIngester({
    ...{ db: { ...db, transact }, log: createLogger({ LOG_LEVEL: 'silent', LOG_FORMAT: 'json' }) },
    ...{ firstDelayMs: 0, publicUrl: null, erasureKey: Buffer.alloc(32), onCommitted: () => {} },
    publisher: { publish: () => {}, publishLater: () => {}, republish: async () => {}, flush: async () => {} },
    handover: { reserve: () => false, start: () => {}, release: () => {}, leaseMs: 0, leaseOwner: null },
  });
  await Promise.all(batches.map((facts) => ingester.ingestFacts({ integrationId, facts })));
  return transactions;
}

it('small batches that arrive together share one transaction', async () => {
  const batches = ['a', 'b', 'c'].map((id) => [factSchema.parse(started(id))]);
  expect(await commit(...batches)).toBe(1);
});

it('batches with many rows have a transaction of their own', async () => {
  const events = Array.from({ length: 11_000 }, (_, sequence) => ({ sequence }));
  const batches = ['d', 'e'].map((id) => [started(id), happened(id, events)].map((fact) => factSchema.parse(fact)));
  expect(await commit(...batches)).toBe(2);
});

it('batches that name many users, or texts that may be their ids, have a transaction of their own', async () => {
  const texts = Array.from({ length: 1_100 }, (_, n) => `user-${n}`);
  const batch = (id: string) =>
    Array.from({ length: 10 }, (_, n) => factSchema.parse(anomaly(`${id}${n}`, { metadata: { texts } })));
  expect(await commit(batch('f'), batch('g'))).toBe(2);
});
