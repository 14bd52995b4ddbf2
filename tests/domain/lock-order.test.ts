import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../db/client';
import { asOperator } from '../../server/audit/acts';
import { createIntegration } from '../../server/domain/integrations';
import { createLogger } from '../../server/platform/log';
import type { AttemptRecord } from '../../server/webhooks/deliveries';
import { setIntegrationPlan } from '../../server/webhooks/plans';
import { createPublisher, type Publisher } from '../../server/webhooks/publisher';
import { createRecorder } from '../../server/webhooks/recorder';
import { createTestDatabase, type TestDatabase, waitForLocks } from '../support/database';

// Code that locks several subscriptions locks them in one order, so that two transactions never wait for each other.
// Each pair meets at the middle subscription, which the test holds until both wait. Each of them wants next what the
// other has locked before.

const IDS = ['whk-1', 'whk-2', 'whk-3'];

let database: TestDatabase;
// The test holds locks and watches through its own connections: in a full pool its statements would wait behind the
// blocked ones.
let own: Database;
let integrationId: string;
let publisher: Publisher;
beforeAll(async () => {
  database = await createTestDatabase();
  own = openDatabase({ url: database.url, maxConnections: 2 });
  const { db } = database;
  const nothing = () => Promise.resolve();
  publisher = createPublisher({
    db,
    log: createLogger({ LOG_LEVEL: 'silent' }),
    messages: { sendDue: nothing, sendWakeUps: nothing, sendSweep: nothing },
    wakeDrain: () => false,
  });
});
afterAll(async () => {
  await own.close();
  await database.drop();
});
beforeEach(async () => {
  integrationId = (
    await createIntegration(asOperator(database.db), { name: 'own', plan: 'enterprise', allowedOrigins: [] })
  ).id;
  await database.db.sql`
    insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed, created_at)
    select ${integrationId}, 'whk-' || n, 'https://example.com/', 'BotDetected', 'own', true, '', now() + n * interval '1 s'
      from generate_series(1, 3) n`;
});

const keys = () => IDS.map((subscriptionId) => ({ integrationId, subscriptionId }));

/**
 * Records the ends of attempts at all subscriptions in one batch. The first attempt, at another subscription, occupies
 * the recorder.
 */
async function recordAll(outcome: Pick<AttemptRecord, 'status' | 'failureClass' | 'httpStatus'>) {
  const recorder = createRecorder(database.db);
  const attempts = keys().map(
    (key): AttemptRecord => ({
      ...key,
      ...{ deliveryId: 'none', lease: randomUUID(), attempt: 1, ...outcome },
      ...{ retryDelayMs: null, startedAt: null, durationMs: 0, address: null },
      ...{ retryAfter: null, errorCode: null, answer: null, isTest: false },
    }),
  );
  const elsewhere = { ...attempts[0]!, integrationId: 'nobody', lease: randomUUID() };
  await Promise.all([elsewhere, ...attempts].map((attempt) => recorder.record(attempt)));
}

const WORK: Record<string, () => Promise<unknown>> = {
  'the recorder of failures': () => recordAll({ status: 'Failed', failureClass: 'HTTP301', httpStatus: 301 }),
  // It writes to a subscription that has had no success yet.
  'the recorder of successes': () => recordAll({ status: 'Delivered', failureClass: null, httpStatus: 204 }),
  'a lowered plan': () => setIntegrationPlan(asOperator(database.db), { id: integrationId, plan: 'free' }),
  'a sweep that tells again': () => publisher.republish(keys().reverse()),
  'a nudge': async () => {
    publisher.publish(keys().reverse());
    await publisher.flush();
  },
};

const countDeadlocks = async () => {
  const [row] = await own.sql<{ n: number }[]>`
    select pg_stat_force_next_flush(), deadlocks::int as n from pg_stat_database where datname = current_database()`;
  return row!.n;
};

describe('subscriptions are locked in one order', () => {
  const names = Object.keys(WORK);
  const pairs = names.flatMap((first) => names.filter((other) => other !== first).map((second) => ({ first, second })));

  it.each(pairs)('by $first and, a moment later, $second', async ({ first, second }) => {
    const before = await countDeadlocks();
    const works: Promise<unknown>[] = [];
    await own.sql.begin(async (tx) => {
      await tx`select 1 from webhook_subscriptions where integration_id = ${integrationId} and id = 'whk-2' for update`;
      for (const [index, name] of [first, second].entries()) {
        works.push(WORK[name]!());
        await waitForLocks(own.sql, index + 1);
      }
    });
    await Promise.all(works);
    expect(await countDeadlocks()).toBe(before);
  });
});
