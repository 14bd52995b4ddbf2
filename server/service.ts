import { serve } from 'inngest/edge';
import { countMigrations, type Database, openDatabase } from '../db/client';
import journal from '../db/migrations/meta/_journal.json';
import { openSocket } from '../db/postgres-internals';
import { createInngestClient, createMessages } from '../inngest/client';
import { createEmbeddedEngine, type EmbeddedEngine } from '../inngest/embedded/engine';
import { createFunctions, type Jobs } from '../inngest/functions';
import { pruneRateWindows } from './domain/rate-windows';
import { pruneSessions } from './domain/retention';
import { createFolder, foldSessionDeltas } from './domain/rollups';
import { createUsageMeter, type UsageMeter } from './domain/usage';
import { createIngester, type Ingester } from './pipeline/ingest';
import { type Env, readEnv, SettingError } from './platform/env';
import { createLogger, type Logger } from './platform/log';
import { createMetrics, type Metrics } from './platform/metrics';
import { createReadiness, type Readiness } from './platform/readiness';
import { createSecrets, type Secrets } from './platform/secrets';
import { obtainService, releaseService } from './platform/service';
import { readBacklog } from './webhooks/deliveries';
import { createDispatcher, type Dispatcher } from './webhooks/dispatcher';
import { createWebhookClient, type WebhookClient } from './webhooks/http-client';
import { pruneDeliveries, pruneEvents } from './webhooks/retention';

export { isUnavailable } from '../db/client';

/** The live objects of a process: one pool, one publisher, one engine. */
export interface Service {
  env: Env;
  log: Logger;
  metrics: Metrics;
  readiness: Readiness;
  db: Database;
  secrets: Secrets;
  dispatcher: Dispatcher;
  ingester: Ingester;
  usage: UsageMeter;
  /** Serves `/api/inngest`; null where no Inngest is configured, so that nobody else can start runs. */
  inngestHandler: ((request: Request) => Promise<Response>) | null;
  engine: EmbeddedEngine | null;
  webhookClient: WebhookClient;
  /** Whether a server of ours stands in front of Next's pages and handlers; else they run by themselves. */
  isSelfHosted: boolean;
}

export interface ServiceOptions {
  env: Env;
  log: Logger;
  databaseUrl: string;
  appSecret: Buffer;
  /** A process of ours, which may run timers and loops; where Next runs by itself the functions need a real Inngest. */
  canRunEngine: boolean;
}

/** Whether Inngest can call us and be told: its development server asks for no keys. */
const isInngestConfigured = (env: Env) =>
  Boolean((env.INNGEST_SIGNING_KEY && env.INNGEST_EVENT_KEY) || (env.INNGEST_DEV && env.INNGEST_DEV !== '0'));

/** Somebody waits for nearly every statement, and would rather try again. */
const STATEMENT_LIMIT_MS = 4_000;

/** Creates the process's live objects and starts nothing. */
export function createService(options: ServiceOptions): Service {
  const { env, log } = options;
  const db = openDatabase({
    url: options.databaseUrl,
    maxConnections: env.DATABASE_POOL_MAX,
    isPooled: env.DATABASE_POOLER === 'transaction',
    statementLimitMs: STATEMENT_LIMIT_MS,
    onNotice: (message) => log.debug({ message }, 'notice from Postgres'),
    onOutage: (fault) =>
      fault === null
        ? log.info('the database is back')
        : log.error({ err: fault }, 'the database is away; requests are refused until it is back'),
  });
  const metrics = createMetrics();
  metrics.observe({
    readBacklog: () => readBacklog(db),
    readDatabase: () => ({ ...db.load(), maxConnections: env.DATABASE_POOL_MAX }),
  });
  const secrets = createSecrets(options.appSecret);
  const webhookClient = createWebhookClient({ allowedHosts: env.WEBHOOK_ALLOW_HOSTS });

  const isEmbedded = options.canRunEngine && !env.usesInngest;
  // The engine calls the handler, which is made of functions that send through the engine: one of them comes late.
  let handler: (request: Request) => Promise<Response> = () => Promise.reject(new Error('not ready'));
  // The engine listens and holds session locks, which a transaction pooler does not carry.
  const directUrl = env.DATABASE_DIRECT_URL ?? options.databaseUrl;
  const engine = isEmbedded
    ? createEmbeddedEngine({
        databaseUrl: directUrl,
        sql: db.sql,
        socket: openSocket(directUrl, new Set()),
        handler: (request) => handler(request),
        log,
      })
    : null;
  const client = createInngestClient({
    region: env.REGION,
    logger: log.child({ component: 'inngest' }),
    onRun: metrics.countRun,
    ...(engine ? { embeddedFetch: engine.fetch } : {}),
  });
  const dispatcher = createDispatcher({
    db,
    log,
    onAttempt: metrics.countAttempt,
    secrets,
    client: webhookClient,
    messages: createMessages(client),
    retryDelaysMs: env.WEBHOOK_RETRY_DELAYS,
    timeoutMs: env.WEBHOOK_TIMEOUT,
    isLongLived: options.canRunEngine,
  });
  handler = serve({ client, functions: createFunctions(client, createJobs(db, dispatcher)) });

  return {
    env,
    log,
    metrics,
    readiness: createReadiness({
      database: async () => (await db.query('select 1', [])).length === 1,
      migrations: async () => (await countMigrations(db)) >= journal.entries.length,
      engine: () => (engine ? engine.isWorking() : isInngestConfigured(env)),
    }),
    db,
    secrets,
    dispatcher,
    ingester: createIngester({
      db,
      log,
      publisher: dispatcher.publisher,
      handover: dispatcher.handover,
      firstDelayMs: env.WEBHOOK_RETRY_DELAYS[0]!,
      publicUrl: env.publicUrl,
      // Elsewhere the minute's cron folds: nothing runs on between two requests.
      onSessionsChanged: options.canRunEngine ? createFolder(db, log) : () => {},
    }),
    usage: createUsageMeter({ db, log }),
    inngestHandler: env.usesInngest ? handler : null,
    engine,
    webhookClient,
    isSelfHosted: options.canRunEngine,
  };
}

/** Here the types of the engine and of the delivery code meet: what differs between them does not compile. */
const createJobs = (db: Database, dispatcher: Dispatcher): Jobs => ({
  drainSubscription: dispatcher.drainSubscription,
  wakeSubscription: dispatcher.wakeSubscription,
  sweep: dispatcher.sweep,
  pruneRateWindows: () => pruneRateWindows(db),
  pruneDeliveries: () => pruneDeliveries(db),
  pruneEvents: () => pruneEvents(db),
  foldSessionDeltas: () => foldSessionDeltas(db),
  pruneSessions: () => pruneSessions(db),
});

/** Stops the work of a service within about `graceMs` and closes its connections. */
export async function closeService(service: Service, graceMs: number): Promise<void> {
  // What was committed is told while the engine still listens.
  await service.dispatcher.publisher.flush();
  await Promise.all([service.dispatcher.stop(graceMs), service.engine?.stop(graceMs)]);
  await service.webhookClient.close();
  await service.usage.close();
  await service.db.close();
  releaseService();
}

/** Writes and sends what a request or a run has left for later: a serverless process may never go on after it. */
export async function settleService({ log, usage, dispatcher }: Service): Promise<void> {
  const flushed = usage.flush().catch((error: unknown) => log.warn({ err: error }, 'usage could not be written'));
  await Promise.all([flushed, dispatcher.flush()]);
}

/**
 * The service of this process: the self-hosted entry's, or, where Next runs by itself (a serverless platform, plain
 * `next start`), one made from the settings, without an engine.
 */
export function getService(): Service {
  return obtainService(() => {
    const env = readEnv(process.env);
    if (!env.DATABASE_URL || !env.APP_SECRET)
      throw new SettingError('DATABASE_URL: is required where Next runs by itself');
    const log = createLogger(env);
    return createService({ env, log, databaseUrl: env.DATABASE_URL, appSecret: env.APP_SECRET, canRunEngine: false });
  });
}
