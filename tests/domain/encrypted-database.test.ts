import { expect, it } from 'vitest';
import { isUnavailable, openDatabase } from '../../db/client';
import { createTestDatabase } from '../support/database';
import { waitUntil } from '../support/receiver';
import { startEncryptedRelay } from '../support/secured-database';

it('an outage of a database over TLS fails statements and transactions, and nothing else', async () => {
  const database = await createTestDatabase();
  const url = new URL(database.url);
  const relay = await startEncryptedRelay(Number(url.port));
  url.port = String(relay.port);
  url.search = '?sslmode=require';
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on('uncaughtExceptionMonitor', note);
  const db = openDatabase({ url: url.href, maxConnections: 2 });
  const isServed = async () => (await db.query('select 1', [])).length === 1;
  try {
    for (let outage = 0; outage < 3; outage++) {
      await waitUntil(() => isServed().catch(() => false));
      const asked = [
        db.query('select pg_sleep(60)', []),
        db.transact(async (query) => {
          await query('select 1', []);
          await query('select pg_sleep(60)', []);
        }),
      ].map((each) => expect(each).rejects.toSatisfy(isUnavailable));
      await waitUntil(() => db.load().connections >= 2);
      await relay.stop();
      await Promise.all(asked);
      // Each statement tries another connection, until probes of the database have failed too.
      await waitUntil(async () => !(await isServed().catch(() => false)) && db.load().isAway);
      await relay.restore();
    }
    await waitUntil(() => isServed().catch(() => false));
    expect(uncaught).toEqual([]);
  } finally {
    process.off('uncaughtExceptionMonitor', note);
    await db.close();
    await relay.stop();
    await database.drop();
  }
});
