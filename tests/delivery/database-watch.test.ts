import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openDatabase } from '../../db/client';
import { createTestDatabase, waitForConnection } from '../support/database';
import { WAIT_LIMIT_MS } from '../support/limits.mjs';
import { waitUntil } from '../support/receiver';
import { startRelay } from '../support/relay';

/** How long each turn of the event loop is blocked, and for how many turns. */
const BLOCKED_MS = 450;
const TURNS = 8;
/** As long as a route takes to load on a slow machine. */
const LONG_BLOCKED_MS = 3_000;
const CONNECTING_MS = 200;
/** How much later each answer arrives. A new connection needs three answers until its first statement is over. */
const DELAY_MS = 800;
/** A close gives statements that still run five seconds. */
const CLOSE_LIMIT_MS = 4_000;

function block(milliseconds: number) {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

/** Opens a pool of one connection, behind a relay, to a new database. */
async function openBehindRelay() {
  const database = await createTestDatabase();
  const url = new URL(database.url);
  const relay = await startRelay(Number(url.port));
  url.port = String(relay.port);
  const faults: unknown[] = [];
  const db = openDatabase({ url: url.href, maxConnections: 1, onOutage: (fault) => faults.push(fault) });
  const close = async () => {
    await db.close();
    await relay.cut();
    await database.drop();
  };
  return { db, relay, faults, close };
}

it('a process that hardly comes to read answers does not take its database for away', async () => {
  const database = await createTestDatabase();
  const faults: unknown[] = [];
  const db = openDatabase({ url: database.url, maxConnections: 2, onOutage: (fault) => faults.push(fault) });
  try {
    await db.query('select 1', []);
    // The answer is late, so the watch probes the database.
    const late = db.query('select pg_sleep(3)', []).catch((error: Error) => error.message);
    for (let n = 0; n < TURNS; n++) {
      block(BLOCKED_MS);
      await turn();
    }
    expect(await late).toEqual([{ pg_sleep: '' }]);
    expect(faults).toEqual([]);
  } finally {
    await db.close();
    await database.drop();
  }
});

it('a process that is blocked while it connects reads the answers that it got meanwhile', async () => {
  const { db, relay, close } = await openBehindRelay();
  relay.delay(CONNECTING_MS);
  try {
    const first = db.query('select 1 as one', []).catch((error: Error) => error.message);
    await sleep(CONNECTING_MS / 2);
    block(LONG_BLOCKED_MS);
    expect(await first).toEqual([{ one: 1 }]);
  } finally {
    await close();
  }
});

it('a database that answers slowly, also on a new connection, is not away', async () => {
  const { db, relay, faults, close } = await openBehindRelay();
  try {
    await waitForConnection(db);
    relay.delay(DELAY_MS);
    expect(await db.query('select pg_sleep(5)', [])).toEqual([{ pg_sleep: '' }]);
    expect(faults).toEqual([]);
  } finally {
    await close();
  }
});

it('a connection that Postgres ends fails with what Postgres says, and a later close does not wait for it', async () => {
  const database = await createTestDatabase();
  try {
    const { db } = database;
    const ended = db.query('select pg_sleep(600)', []).catch((error: unknown) => error);
    const end = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'`;
    await waitUntil(async () => (await db.query(end, [])).length === 1, WAIT_LIMIT_MS);
    expect(await ended).toMatchObject({
      code: 'ECONNRESET',
      message: 'the database has hung up: terminating connection due to administrator command',
    });
    const waited = sleep(CLOSE_LIMIT_MS, 'waits', { ref: false });
    expect(await Promise.race([db.close().then(() => 'closed'), waited])).toBe('closed');
  } finally {
    await database.drop();
  }
});

it('a connection that is lost later does not fail with what was wrong with an earlier statement', async () => {
  const { db, relay, close } = await openBehindRelay();
  try {
    await waitForConnection(db);
    await expect(db.query('select 1/0', [])).rejects.toThrow('division by zero');
    const ended = db.query('select pg_sleep(600)', []).catch((error: unknown) => error);
    await relay.cut();
    expect(await ended).toMatchObject({ code: 'ECONNRESET', message: 'the database has hung up' });
  } finally {
    await close();
  }
});
