import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../db/client';
import { asOperator } from '../../server/audit/acts';
import { mintKey, revokeKey } from '../../server/domain/api-keys';
import { createIntegration } from '../../server/domain/integrations';
import { createKeyVerifier } from '../../server/domain/key-verifier';
import { beginWindow } from '../support/clock-window';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { createGate } from '../support/gate';
import { waitUntil } from '../support/receiver';

const LIMIT = 1_000;
const quotas = {
  free: { key: LIMIT, shared: LIMIT },
  pro: { key: LIMIT, shared: LIMIT },
  enterprise: { key: LIMIT, shared: LIMIT },
};

let database: TestDatabase;
let integrationId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ id: integrationId } = await createIntegration(asOperator(database.db), {
    name: 'keys',
    plan: 'free',
    allowedOrigins: [],
  }));
});
afterAll(() => database.drop());
// A key has its full quota again in the next minute.
beforeEach(() => beginWindow(database.db, 60_000, 15_000));

type Query = Database['query'];
/** A verifier and a new key. `wrap` stands between the verifier and the database, as a network does. */
async function prepare(wrap: (query: Query) => Query = (query) => query) {
  const { id, key } = await mintKey(asOperator(database.db), { integrationId, name: 'key' });
  const verify = createKeyVerifier({ db: { ...database.db, lookUp: wrap(database.db.lookUp) }, quotas });
  return { id, key, verify: () => verify({ key, scheme: 'bearer' }) };
}

describe('requests with one key at the same time', () => {
  it('are counted by few statements, and each once', async () => {
    let statements = 0;
    const { verify } = await prepare((query) => (text, parameters) => {
      statements++;
      return query(text, parameters);
    });
    const verified = await Promise.all(Array.from({ length: 100 }, verify));
    const later = await Promise.all(Array.from({ length: 100 }, verify));
    expect(statements).toBeLessThanOrEqual(4);
    expect([...verified, ...later].map((one) => one?.rateLimit.remaining)).toEqual(
      Array.from({ length: 200 }, (_, n) => LIMIT - 1 - n),
    );
  });

  it('are never verified by a statement that began before they came', async () => {
    // Answers are late, as on a slow network.
    let answered = 0;
    const arrive = createGate();
    const { id, verify } = await prepare((query) => async (text, parameters) => {
      const rows = await query(text, parameters);
      answered++;
      await arrive.opened;
      return rows as never;
    });
    const first = verify();
    await waitUntil(() => answered === 1);
    await revokeKey(asOperator(database.db), { id });
    const second = verify();
    arrive.open();
    expect([(await first)?.keyId, await second]).toEqual([id, null]);
  });

  it('do not wait for long behind a connection that does not answer', async () => {
    let statements = 0;
    const { verify } = await prepare((query) => (text, parameters) => {
      statements++;
      return statements === 1 ? new Promise(() => {}) : query(text, parameters);
    });
    void verify();
    await sleep(20);
    const begunAt = performance.now();
    expect((await verify())?.rateLimit.remaining).toBe(LIMIT - 1);
    expect(performance.now() - begunAt).toBeLessThan(2_000);
  });

  it('ask for no time that is over already, which Node would warn of', async () => {
    const { verify } = await prepare();
    const first = verify();
    const beganMs = performance.now();
    // The process is busy with something else.
    while (performance.now() - beganMs < 300);
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const second = verify();
    const delays = timers.mock.calls.map(([, ms]) => ms ?? 0);
    timers.mockRestore();
    expect(delays).toHaveLength(1);
    expect(delays[0]).toBeGreaterThanOrEqual(0);
    expect(await Promise.all([first, second])).not.toContain(null);
  });

  it('fail together with their statement, and not those before and after them', async () => {
    let statements = 0;
    const { verify } = await prepare((query) => (text, parameters) => {
      statements++;
      return statements === 2 ? query('select 1 / 0', []) : query(text, parameters);
    });
    const outcomes = await Promise.allSettled([verify(), verify(), verify()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect((await verify())?.rateLimit.remaining).toBe(LIMIT - 2);
  });
});
