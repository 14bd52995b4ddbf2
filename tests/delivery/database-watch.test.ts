import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openDatabase } from '../../db/client';
import { createTestDatabase } from '../support/database';

/** How long each turn of the event loop is blocked, and for how many turns. */
const BLOCKED_MS = 450;
const TURNS = 8;

it('a process that hardly comes to read answers does not take its database for away', async () => {
  const database = await createTestDatabase();
  const faults: unknown[] = [];
  const db = openDatabase({ url: database.url, maxConnections: 2, onOutage: (fault) => faults.push(fault) });
  try {
    await db.query('select 1', []);
    // The answer is late, so the watch probes the database.
    const late = db.query('select pg_sleep(3)', []).catch((error: Error) => error.message);
    for (let n = 0; n < TURNS; n++) {
      const until = performance.now() + BLOCKED_MS;
      while (performance.now() < until);
      await turn();
    }
    expect(await late).toEqual([{ pg_sleep: '' }]);
    expect(faults).toEqual([]);
  } finally {
    await db.close();
    await database.drop();
  }
});
