import { join, resolve } from 'node:path';
import { isUnavailable, lacksRight } from '../db/client';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../db/embedded';
import { lacksCluster, withdrawRights } from '../db/embedded-cluster';
import { migrateDatabase, NoSessionError, RegionMismatchError, UnsuitableDatabaseError } from '../db/migrate';
import { hasSealedSecrets } from '../db/sealed-secrets';
import { nameIdentitySecretContext } from './domain/collecting';
import { createDataDir, obtainAppSecret, obtainPipelineToken } from './platform/data-dir';
import { type Env, SettingError } from './platform/env';
import { type Logger, serializeError } from './platform/log';
import { createService, type Service, type ServiceOptions } from './service';
import { nameSecretContext } from './webhooks/attempt';

/** What a process runs on: the migrated database and the secrets. */
export interface Runtime {
  options: ServiceOptions;
  /** Null if the operator provides a database. */
  embedded: EmbeddedDatabase | null;
  /** The names of the migrations that this start applied. */
  migrated: string[];
}

/** Throws a SettingError if a start would make a new database. */
export async function requireDatabase({ DATABASE_URL, DATA_DIR }: Env): Promise<void> {
  const dataDir = resolve(DATA_DIR);
  if (!DATABASE_URL && (await lacksCluster(dataDir)))
    throw new SettingError(`DATA_DIR: ${dataDir} has no database; run the command with the settings of the server`);
}

/**
 * Starts the embedded Postgres if DATABASE_URL is not set, gets the secrets, and applies migrations. An aborted `signal` ends waits
 * that may be long. It then rejects with its reason.
 */
export async function prepareRuntime(env: Env, log: Logger, signal?: AbortSignal): Promise<Runtime> {
  if (env.DATABASE_URL && env.APP_SECRET) {
    // Migrations take a session lock. Through a pooler, it would stay with whatever connection the pooler had lent.
    if (env.DATABASE_POOLER && !env.DATABASE_DIRECT_URL)
      throw new SettingError('DATABASE_DIRECT_URL: is required with DATABASE_POOLER where the database is migrated');
    const migrated = await migrate(env, env.DATABASE_DIRECT_URL ?? env.DATABASE_URL, log, signal);
    return {
      options: { env, log, databaseUrl: env.DATABASE_URL, appSecret: env.APP_SECRET, isSelfHosted: true },
      embedded: null,
      migrated,
    };
  }
  const dataDir = resolve(env.DATA_DIR);
  await createDataDir(dataDir);
  const embedded = await startEmbeddedDatabase({ dataDir, log, signal }).catch((cause: Error) => {
    signal?.throwIfAborted();
    throw new SettingError(cause.message, { cause });
  });
  try {
    const migrated = await migrate(env, embedded.url, log, signal);
    const appSecret = env.APP_SECRET ?? (await obtainAppSecret(dataDir, () => hasSealedSecrets(embedded.url)));
    const pipelineToken = env.PIPELINE_TOKEN ?? (await obtainPipelineToken(dataDir));
    for (const name of ['app-secret', 'pipeline-token']) await withdrawRights(join(dataDir, name));
    const complete: Env = { ...env, PIPELINE_TOKEN: pipelineToken };
    return {
      options: { env: complete, log, databaseUrl: embedded.url, appSecret, isSelfHosted: true },
      embedded,
      migrated,
    };
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

/**
 * Warns if secrets were sealed under another APP_SECRET. It is no error: after a change of APP_SECRET they are rotated while the
 * product runs (docs/operating.md).
 */
export async function warnOfUnreadableSecrets({ db, secrets, log }: Service): Promise<void> {
  const rows = await db.sql<{ integrationId: string; webhookId: string | null; sealed: Buffer }[]>`
    select integration_id as "integrationId", id as "webhookId", secret_sealed as sealed
      from webhook_subscriptions where deleted_at is null
    union all select id, null, identity_secret from integrations where identity_secret is not null`;
  const unreadable = rows.filter(({ integrationId, webhookId, sealed }) => {
    const context = webhookId ? nameSecretContext(integrationId, webhookId) : nameIdentitySecretContext(integrationId);
    return secrets.open(sealed, context) === null;
  }).length;
  if (unreadable > 0)
    log.warn(
      { unreadable, secrets: rows.length },
      'APP_SECRET cannot read secrets of webhooks or identities: set the one that sealed them, or rotate them',
    );
}

async function migrate(env: Env, url: string, log: Logger, signal?: AbortSignal): Promise<string[]> {
  const name = env.DATABASE_DIRECT_URL ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  try {
    const directory = join(process.cwd(), 'db/migrations');
    return await migrateDatabase({ url, directory, region: env.REGION, log, signal });
  } catch (error) {
    if (error instanceof RegionMismatchError) throw new SettingError(error.message);
    if (error instanceof UnsuitableDatabaseError) throw new SettingError(`${name}: ${error.message}`);
    if (env.DATABASE_URL && error instanceof NoSessionError)
      throw new SettingError(`${name}: cannot connect (${error.message})`);
    if (env.DATABASE_URL && (isUnavailable(error) || lacksRight(error)))
      throw new SettingError(`${name}: cannot migrate (${readReason(error)})`);
    throw error;
  }
}

/** Reads what caused an error: Drizzle's own message names the statement alone. */
function readReason(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? readReason(cause) : message || 'no answer';
}

/** Says in one line why a process or a command ended: for the operator if they can do something about it, else for us. */
export function describeFault(error: unknown): string {
  if (error instanceof SettingError) return error.message;
  if (isUnavailable(error)) return `the database cannot be used now (${readReason(error)})`;
  return JSON.stringify(serializeError(error));
}

/** Creates a service for a short command. It can notify the engine but does not run it. */
export function createCommandService(runtime: Runtime): Service {
  return createService({ ...runtime.options, env: { ...runtime.options.env, DATABASE_POOL_MAX: 2 } });
}
