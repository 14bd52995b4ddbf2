import { Logger } from 'graphile-worker';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, isUnavailable, openDatabase, type Query } from '../../db/client';
import { migrateDatabase } from '../../db/migrate';
import { openSession } from '../../db/session';
import { SESSION_SETTINGS } from '../../db/session-settings';
import { ENGINE_SESSION, openPool } from '../../inngest/embedded/pool';
import { migrateEngine } from '../../inngest/embedded/schema';
import { createEmptyDatabase } from '../support/database';

// An operator may have changed Postgres' defaults for a role or a database.

const DEFAULTS = {
  ...{ datestyle: 'German', timezone: 'Asia/Kathmandu', bytea_output: 'escape' },
  ...{ default_transaction_isolation: 'serializable', statement_timeout: '1ms', lock_timeout: '1ms' },
  ...{ idle_session_timeout: '1h', idle_in_transaction_session_timeout: '1h', search_path: 'own' },
};

let database: { url: string; drop(): Promise<void> };
let db: Database;
beforeAll(async () => {
  database = await createEmptyDatabase();
  const admin = postgres(database.url, { max: 1 });
  const name = new URL(database.url).pathname.slice(1);
  await admin`create schema own`;
  for (const [setting, value] of Object.entries(DEFAULTS))
    await admin.unsafe(`alter database ${name} set ${setting} = '${value}'`);
  await admin.end();
  db = openDatabase({ url: database.url, maxConnections: 1, statementLimitMs: 4_000 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** Every way to send a statement. */
const WAYS: [string, <Row extends object>(text: string) => Promise<Row[]>][] = [
  ['the pool', (text) => db.query(text, [])],
  ['the connection of look-ups', (text) => db.lookUp(text, [])],
  ['a transaction', (text) => db.transact((query: Query) => query(text, []))],
];

describe.each(WAYS)('with other defaults of its database, %s', (_way, ask) => {
  it('reads instants and bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const hex = bytes.toString('hex');
    const text = `select '2026-01-31T10:30:00.5+01:00'::timestamptz as at, '\\x${hex}'::bytea as bytes, ''::bytea as none`;
    expect(await ask(text)).toEqual([{ at: '2026-01-31T09:30:00.500Z', bytes, none: Buffer.alloc(0) }]);
  });

  it('has the isolation, the limits and the schema that the product sets', async () => {
    const names = ['transaction_isolation', 'lock_timeout', 'idle_session_timeout', 'search_path'];
    const shown = names.map((name) => `current_setting('${name}') as ${name}`);
    expect(await ask(`select ${shown.join(', ')}`)).toEqual([
      {
        ...{ transaction_isolation: 'read committed', lock_timeout: '0', idle_session_timeout: '0' },
        search_path: 'public',
      },
    ]);
  });
});

it('with other defaults of its database, the session that holds locks has the isolation and the limits that the product sets', async () => {
  const session = openSession(database.url, () => {});
  const names = ['transaction_isolation', 'statement_timeout', 'lock_timeout', 'idle_session_timeout'];
  const shown = names.map((name) => `current_setting('${name}') as ${name}`);
  try {
    expect(await session.query(`select ${shown.join(', ')}`, [])).toEqual([
      { transaction_isolation: 'read committed', statement_timeout: '0', lock_timeout: '0', idle_session_timeout: '0' },
    ]);
  } finally {
    await session.close();
  }
});

describe('with a time limit of its database', () => {
  beforeAll(async () => {
    // Postgres has it since version 17.
    const admin = postgres(database.url, { max: 1, fetch_types: false, connection: SESSION_SETTINGS });
    await admin.unsafe(`alter database ${new URL(database.url).pathname.slice(1)} set transaction_timeout = '300ms'`);
    await admin.end();
    await db.close();
    db = openDatabase({ url: database.url, maxConnections: 1, statementLimitMs: 4_000 });
  });

  it('long work in a transaction goes on past it, and other work is refused as unavailable', async () => {
    const sleep = (query: Query) => query('select pg_sleep(0.6)', []);
    expect(await db.transact(sleep, { isLong: true })).toHaveLength(1);
    await expect(sleep(db.query)).rejects.toSatisfy(isUnavailable);
  });

  it('long work in a transaction has none', async () => {
    const show = (query: Query) => query(`select current_setting('statement_timeout') as limit`, []);
    expect(await db.transact(show, { isLong: true })).toEqual([{ limit: '0' }]);
  });

  it('migrations and those of the engine run to their end', async () => {
    const { url } = database;
    expect(await migrateDatabase({ url, directory: 'db/migrations', region: 'us' })).not.toEqual([]);
    const session = postgres(url, {
      max: 1,
      fetch_types: false,
      onnotice: () => {},
      connection: ENGINE_SESSION,
    });
    await migrateEngine(session, url, new Logger(() => () => {}));
    await session.end();
  });

  it('the engine listens without an end, and sees what was committed while it waited', async () => {
    const pool = openPool(`${database.url}?options=-c%20synchronous_commit%3Doff`, 1);
    const names = ['synchronous_commit', 'transaction_isolation', 'idle_session_timeout', 'statement_timeout'];
    const { rows } = await pool.query(
      `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`,
    );
    await pool.end();
    expect(rows).toEqual([
      {
        ...{ synchronous_commit: 'off', transaction_isolation: 'read committed' },
        ...{ idle_session_timeout: '0', statement_timeout: '0' },
      },
    ]);
  });
});
