import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { type Database, openDatabase } from '../../db/client';
import { createTestDatabase, type TestDatabase, waitForConnection } from '../support/database';
import { type Relay, startRelay } from '../support/relay';

// A process of a serverless platform is frozen between two requests, perhaps for hours. Here only the clock is moved.

let database: TestDatabase;
let relay: Relay;
let db: Database;
let outages: number;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await db.close();
  await relay.cut();
});
afterAll(() => database.drop());

async function open() {
  relay = await startRelay(Number(new URL(database.url).port));
  const url = Object.assign(new URL(database.url), { port: String(relay.port) }).href;
  outages = 0;
  db = openDatabase({ url, maxConnections: 3, statementLimitMs: 4_000, onOutage: () => outages++ });
  await waitForConnection(db);
  // Open all connections that there can be.
  await Promise.all([...Array.from({ length: 3 }, ask), lookUp(), transact()]);
}

const ask = () => db.query<{ n: number }>('select 1 as n', []);
const lookUp = () => db.lookUp<{ n: number }>('select 1 as n', []);
const transact = () => db.transact((query) => query<{ n: number }>('select 1 as n', []));

function passTime(ms: number) {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ms);
}

it.each<[string, () => void | Promise<void>]>([
  ['that the network forgot meanwhile', () => relay.forget()],
  [
    'that the other side closed meanwhile',
    async () => {
      // Returns before this process has read that its connections ended.
      const { sql } = database.db;
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    },
  ],
])('after a long rest, statements do not use connections %s', async (_how, lose) => {
  await open();
  passTime(60_000);
  await lose();
  expect(await Promise.all([ask(), ask(), lookUp(), lookUp(), transact(), transact()])).toEqual(
    Array(6).fill([{ n: 1 }]),
  );
  expect(outages).toBe(0);
});
