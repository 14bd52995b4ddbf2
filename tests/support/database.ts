import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../db/client';
import { eventually } from './eventually';
import { waitUntil } from './receiver';

export interface TestDatabase {
  url: string;
  /** A pool for the test. */
  db: Database;
  drop(): Promise<void>;
}

/** Creates an empty database in the run's Postgres. */
export const createEmptyDatabase = () => createDatabase('template1');

async function createDatabase(template: string): Promise<{ url: string; drop(): Promise<void> }> {
  const base = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = postgres(base, { max: 1, onnotice: () => {} });
  // Half the time of the default, which writes each page to the log.
  await admin.unsafe(`create database ${name} template ${template} strategy file_copy`);
  await admin.end();
  const url = new URL(base);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      const sql = postgres(base, { max: 1, onnotice: () => {} });
      await sql.unsafe(`drop database if exists ${name} with (force)`);
      await sql.end();
    },
  };
}

/** Creates a migrated database in the run's Postgres, as a copy of the one that the run has migrated. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url, drop } = await createDatabase(inject('templateDatabase'));
  const db = openDatabase({ url, maxConnections: 4 });
  await waitForConnection(db);
  return {
    url,
    db,
    async drop() {
      await db.close();
      await drop();
    },
  };
}

/** Opens the first connection of a pool: an address that does not answer at once is asked again. */
export const waitForConnection = (db: Database) => eventually(() => db.query('select 1', []));

/**
 * The settings of a server in another process, on a new migrated database in the run's Postgres, with the demo
 * integration. Much cheaper than a first start on a new data directory. The database goes with the run.
 */
export async function createDemoSettings(): Promise<Record<string, string>> {
  const { url } = await createDatabase(inject('templateDatabase'));
  const secrets = { APP_SECRET: randomBytes(32).toString('base64'), PIPELINE_TOKEN: randomBytes(24).toString('hex') };
  return { DATABASE_URL: url, DEMO: '1', ...secrets };
}

/** Removes a database while it is in use, as during the restore of a backup. Returns a function that brings it back. */
export async function withdrawDatabase(url: string): Promise<() => Promise<void>> {
  const name = new URL(url).pathname.slice(1);
  const run = async (...statements: string[]) => {
    const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => {} });
    for (const statement of statements) await sql.unsafe(statement);
    await sql.end();
  };
  await run(
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
    `alter database ${name} rename to ${name}_away`,
  );
  return () => run(`alter database ${name}_away rename to ${name}`, `alter database ${name} allow_connections true`);
}

/** Resolves when no delivery of a database is pending any more. */
export const waitForDeliveries = (sql: Database['sql']) =>
  waitUntil(async () => (await sql`select from webhook_deliveries where status = 'Pending' limit 1`).length === 0);

/** Resolves when so many statements of a database wait for a lock. */
export const waitForLocks = (sql: Database['sql'], count: number) =>
  waitUntil(async () => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return row!.n === count;
  });
