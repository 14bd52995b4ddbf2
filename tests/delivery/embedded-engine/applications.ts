import { type ChildProcess, spawn } from 'node:child_process';
import { drizzle } from 'drizzle-orm/postgres-js';
import { Inngest, type InngestFunction } from 'inngest';
import { serve } from 'inngest/edge';
import postgres, { type Sql } from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest';
import {
  createEmbeddedEngine,
  type EmbeddedEngine,
  type EmbeddedEngineOptions,
} from '../../../inngest/embedded/engine';
import { bundleChildScript, type ChildScript } from '../../support/child-script';

// Applications with an embedded engine, in this process and in others. Each test has a new database.

interface App {
  client: Inngest;
  engine: EmbeddedEngine;
  errors: string[];
}

let server: { url: (database: string) => string };
let engineApp: ChildScript;
let admin: Sql;
let databases = 0;
export let databaseUrl: string;
export let sql: Sql;
export const cleanups: (() => Promise<unknown>)[] = [];

/**
 * Two idle applications that run as long as this file. Their cron fires meanwhile, so that no test has to wait a minute
 * for it.
 */
let cronDatabase: { url: string; sql: Sql };
export let cronFirings: string[];
let cronApps: App[];

export function shareApplications(): void {
  beforeAll(async () => {
    engineApp = await bundleChildScript('tests/support/engine-app.ts');
    server = {
      url: (name) => Object.assign(new URL(inject('postgresUrl')), { pathname: `/${name}` }).href,
    };
    admin = postgres(server.url('postgres'), { max: 1, onnotice: () => {} });
    cronDatabase = await createDatabase();
    cronFirings = [];
    cronApps = await Promise.all(
      ['a', 'b'].map((name) =>
        startApp(cronDatabase, (client) => [
          client.createFunction({ id: 'tick', triggers: [{ cron: '* * * * *' }] }, async ({ event }) => {
            cronFirings.push(`${event.id} ${name}`);
          }),
        ]),
      ),
    );
  });

  afterAll(async () => {
    await engineApp.remove();
    for (const app of cronApps) await app.engine.stop(0);
    await cronDatabase.sql.end();
    await admin.end();
  });

  beforeEach(async () => {
    ({ url: databaseUrl, sql } = await createDatabase());
  });

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    await sql.end({ timeout: 1 });
  });
}

async function createDatabase() {
  const name = `engine_${++databases}`;
  // With the tables of the engine, which take longer to make than to copy.
  await admin.unsafe(`create database ${name} template ${inject('templateDatabase')} strategy file_copy`);
  const url = server.url(name);
  const created = postgres(url, { max: 4, onnotice: () => {} });
  // The application attaches Drizzle to its pool, which changes how parameters and results are read and written.
  drizzle(created);
  return { url, sql: created };
}

export function startTestApp(
  functions: (client: Inngest) => InngestFunction.Any[],
  options: Partial<EmbeddedEngineOptions> = {},
) {
  return startApp({ url: databaseUrl, sql }, functions, options, cleanups);
}

export async function startApp(
  database: { url: string; sql: Sql },
  functions: (client: Inngest) => InngestFunction.Any[],
  options: Partial<EmbeddedEngineOptions> = {},
  cleanups: (() => Promise<unknown>)[] = [],
): Promise<App> {
  const errors: string[] = [];
  const silent = { info() {}, warn() {}, error() {}, debug() {} };
  const client = new Inngest({
    id: 'app',
    isDev: true,
    logger: silent,
    fetch: (input, init) => engine.fetch(input, init),
  });
  const engine: EmbeddedEngine = createEmbeddedEngine({
    databaseUrl: database.url,
    sql: database.sql,
    handler: serve({ client, functions: functions(client) }),
    log: { info() {}, warn() {}, error: (_, message) => void errors.push(message) },
    ...options,
  });
  cleanups.push(() => engine.stop(0));
  await engine.start();
  return { client, engine, errors };
}

export async function startChild(env: Record<string, string>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [engineApp.path], {
    env: { ...process.env, DATABASE_URL: databaseUrl, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  cleanups.push(() => kill(child));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr!.on('data', (chunk) => {
      output += chunk;
    });
    child.stdout!.once('data', () => resolve());
    child.once('exit', () => reject(new Error(`the child ended: ${output}`)));
  });
  return child;
}

export function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', resolve));
}

export async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await exitOf(child);
}

export async function notes(): Promise<string[]> {
  return (await sql`select text from note order by id`).map((row) => row.text);
}

export async function countRuns(): Promise<number> {
  return (await sql`select count(*)::int as n from engine.run`)[0]!.n;
}
