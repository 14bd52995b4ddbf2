import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from 'graphile-worker';
import postgres from 'postgres';
import type { TestProject } from 'vitest/node';
import { startEmbeddedDatabase } from '../../db/embedded';
import { migrateDatabase } from '../../db/migrate';
import { migrateEngine } from '../../inngest/embedded/schema';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
    /** The name of a migrated database that test files clone. */
    templateDatabase: string;
  }
}

const TEMPLATE = 'template_migrated';

/**
 * Nothing here has to survive a crash, so commits do not wait for the disk. Databases live for seconds, so nothing vacuums
 * them: what a test needs of statistics it asks for. Without statistics, Postgres reads tables of a few rows in parallel, and
 * each worker costs as much as a connection. Tests of crashes and outages have separate clusters with the product's settings.
 */
const SETTINGS = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' },
  max_parallel_workers_per_gather: '0',
};

/** Starts one real Postgres for the whole run. Each test file makes its own databases in it. */
export default async function setup({ vitest }: TestProject) {
  // All projects have what the root project provides. The first project that needs Postgres starts it.
  const root = vitest.getRootProject();
  if (root.getProvidedContext().postgresUrl !== undefined) return;
  const dataDir = await mkdtemp(join(tmpdir(), 'bot-detection-tests-'));
  const database = await startEmbeddedDatabase({ dataDir, log: { info: () => {}, warn: () => {} } });
  await prepareCluster(database.url);
  root.provide('postgresUrl', database.url);
  root.provide('templateDatabase', TEMPLATE);
  return async () => {
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}

async function prepareCluster(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  for (const [name, value] of Object.entries(SETTINGS)) await sql.unsafe(`alter system set ${name} = ${value}`);
  await sql`select pg_reload_conf()`;
  // Thousands of connections sign in. Each would hash the password 4,096 times.
  await sql.unsafe(`set scram_iterations = 1; alter role postgres password '${new URL(url).password}'`);
  await sql.unsafe(`create database ${TEMPLATE}`);
  const template = Object.assign(new URL(url), { pathname: `/${TEMPLATE}` });
  await migrateDatabase({ url: template.href, directory: 'db/migrations', region: 'us' });
  // Otherwise the engine of each server would make its tables on the clone, which takes longer than cloning them.
  const session = postgres(template.href, { max: 1, fetch_types: false, onnotice: () => {} });
  await migrateEngine(session, template.href, new Logger(() => () => {}));
  await session.end();
  // A database can be cloned only while it has no connection.
  await sql.unsafe(`alter database ${TEMPLATE} allow_connections false`);
  await sql.end();
}
