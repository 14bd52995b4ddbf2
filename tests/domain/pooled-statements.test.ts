import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../db/client';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { findPgBouncer, type Pooler, startPooler } from '../support/pooler';

const program = findPgBouncer(process.env);

/** Postgres needs some milliseconds to parse it, so its first answers come well after those of the statement before. */
const LONG = `select $1::int as n where ${Array.from({ length: 20_000 }, () => 'true').join(' and ')}`;

describe.skipIf(!program)(`behind a transaction pooler (${program ?? 'none: pgbouncer is not installed'})`, () => {
  let database: TestDatabase;
  let pooler: Pooler;
  let db: Database;
  beforeAll(async () => {
    database = await createTestDatabase();
    pooler = await startPooler(program!, database.url);
    const url = Object.assign(new URL(database.url), { port: String(pooler.port) }).href;
    // A statement whose answer is lost fails at its limit.
    db = openDatabase({ url, maxConnections: 1, isPooled: true, statementLimitMs: 60_000 });
    await db.query('select 1', []);
  });
  afterAll(async () => {
    await db?.close();
    await pooler?.stop();
    await database?.drop();
  });

  it('a statement with parameters is answered that is asked while one without parameters runs', async () => {
    const answers = await Promise.all([
      db.query('select 1 as n from pg_sleep(0.2)', []),
      db.query(LONG, [2]),
      db.query('select 3 as n', []),
      db.query(LONG, [4]),
    ]);
    expect(answers).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }], [{ n: 4 }]]);
  });

  it('so is the first one of a transaction', async () => {
    const answers = await Promise.all([1, 2].map((n) => db.transact((query) => query<{ n: number }>(LONG, [n]))));
    expect(answers).toEqual([[{ n: 1 }], [{ n: 2 }]]);
  });
});
