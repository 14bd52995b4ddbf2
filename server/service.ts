import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from 'inngest/edge';
import { countMigrations, type Database, openDatabase } from '../db/client';
import journal from '../db/migrations/meta/_journal.json';
import { openSocket } from '../db/postgres-internals';
import { openSession } from '../db/session';
import { createInngestClient, createMessages } from '../inngest/client';
import { createEmbeddedEngine, type EmbeddedEngine } from '../inngest/embedded/engine';
import { createFunctions } from '../inngest/functions';
import { type Collector, createCollector } from './collector/collector';
import { createRecordings, type Recordings } from './collector/recordings';
import { createKeyVerifier, type KeyVerifier } from './domain/key-verifier';
import { createFolder } from './domain/rollups';
import { createUsageMeter, type UsageMeter } from './domain/usage';
import { createErasures, type Erasures } from './erasure/erasures';
import { type AlertRules, createAlertRules } from './findings/alert-rules';
import { createFindings, type FindingsOutbox } from './findings/outbox';
import { createJobs } from './jobs';
import { createIngester, type Ingester } from './pipeline/ingest';
import { type Env, readEnv, SettingError } from './platform/env';
import { createLogger, type Logger } from './platform/log';
import { createMetrics, type Metrics } from './platform/metrics';
import { createReadiness, type Readiness } from './platform/readiness';
import { createSecrets, type Secrets } from './platform/secrets';
import { obtainService, releaseService } from './platform/service';
import { createReports, type ReportService } from './reports/reports';
import { openReportStores } from './reports/stores/open-stores';
import { readBacklog } from './webhooks/deliveries';
import { createDispatcher, type Dispatcher } from './webhooks/dispatcher';
import { createWebhookClient, type WebhookClient } from './webhooks/http-client';
import { LeasePresence } from './webhooks/lease-presence';
import { createOperatorNotices, type OperatorNotices } from './webhooks/operator-notices';

export { isUnavailable } from '../db/client';

/** The site of the demo page. */
export interface DemoSite {
  integrationId: string;
  siteId: string;
  siteKey: string;
}

/** The live objects of a process: one pool, one publisher, one engine. */
export interface Service {
  env: Env;
  log: Logger;
  metrics: Metrics;
  readiness: Readiness;
  db: Database;
  secrets: Secrets;
  verifyKey: KeyVerifier;
  dispatcher: Dispatcher;
  ingester: Ingester;
  collector: Collector;
  recordings: Recordings;
  alertRules: AlertRules;
  findings: FindingsOutbox;
  usage: UsageMeter;
  reports: ReportService;
  erasures: Erasures;
  /** Serves `/api/inngest`. Null if no Inngest server is configured, so that nobody else can start runs. */
  inngestHandler: ((request: Request) => Promise<Response>) | null;
  engine: EmbeddedEngine | null;
  webhookClient: WebhookClient;
  /** Null if there is no address to tell the operator at. */
  operatorNotices: OperatorNotices | null;
  /** Whether our own server stands in front of Next, as its options say. */
  isSelfHosted: boolean;
  /** Null while the demo is off. */
  demo: DemoSite | null;
}

export interface ServiceOptions {
  env: Env;
  log: Logger;
  databaseUrl: string;
  appSecret: Buffer;
  /**
   * Whether our own server stands in front of Next, so that the process may run timers and loops. If not, Next's pages and
   * route handlers run alone, and the functions need an Inngest server.
   */
  isSelfHosted: boolean;
}

/** Whether we and an Inngest server can reach each other. Its development server needs no keys. */
const isInngestConfigured = (env: Env) =>
  Boolean((env.INNGEST_SIGNING_KEY && env.INNGEST_EVENT_KEY) || (env.INNGEST_DEV && env.INNGEST_DEV !== '0'));

/** Limits the pool's statements. A caller waits for nearly every statement, and would rather try again than wait longer. */
const STATEMENT_LIMIT_MS = 4_000;

/** Creates the process's live objects. Starts nothing. */
export function createService(options: ServiceOptions): Service {
  const { env, log } = options;
  const db = openDatabase({
    url: options.databaseUrl,
    maxConnections: env.DATABASE_POOL_MAX,
    isPooled: env.DATABASE_POOLER === 'transaction',
    statementLimitMs: STATEMENT_LIMIT_MS,
    onNotice: (message) => log.debug({ message }, 'notice from Postgres'),
    onOutage(fault) {
      if (fault !== null) {
        log.error({ err: fault }, 'the database is away; requests are refused until it is back');
        return;
      }
      log.info('the database is back');
      // Wake-ups were lost meanwhile. The running sweeper might find them too late.
      void dispatcher.requestSweep();
    },
  });
  const metrics = createMetrics();
  const secrets = createSecrets(options.appSecret);
  const webhookClient = createWebhookClient({
    allowedHosts: env.WEBHOOK_ALLOW_HOSTS,
    keepsAnswers: env.WEBHOOK_KEEP_ANSWERS,
  });

  const isEmbedded = options.isSelfHosted && !env.usesInngest;
  // The engine calls the handler, and the handler's functions send through the engine, so the handler is set later.
  let handler: (request: Request) => Promise<Response> = () => Promise.reject(new Error('not ready'));
  // The engine and the presence use LISTEN and session locks, which a transaction pooler does not support.
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
    onCall: metrics.observeCall,
    ...(engine ? { embeddedFetch: engine.fetch } : {}),
  });
  const messages = createMessages(client);
  const dispatcher = createDispatcher({
    db,
    log,
    onAttempt: metrics.countAttempt,
    onFailed: ({ integrationId }) => alertRules.noteChanges([integrationId]),
    secrets,
    client: webhookClient,
    messages,
    presence: new LeasePresence({ openSession: (onEnd) => openSession(directUrl, onEnd), log }),
    retryDelaysMs: env.WEBHOOK_RETRY_DELAYS,
    timeoutMs: env.WEBHOOK_TIMEOUT,
    isLongLived: options.isSelfHosted,
  });
  // Other processes do no work between requests; there only the cron of each minute folds.
  const noteChanges = options.isSelfHosted ? createFolder(db, log) : () => {};
  const ingester = createIngester({
    db,
    log,
    publisher: dispatcher.publisher,
    handover: dispatcher.handover,
    firstDelayMs: env.WEBHOOK_RETRY_DELAYS[0]!,
    publicUrl: env.publicUrl,
    erasureKey: secrets.erasureKey,
    onCommitted({ integrationIds, changedSessions, concerns }) {
      noteChanges(changedSessions);
      alertRules.noteChanges(integrationIds);
      findings.notice(concerns);
    },
  });
  const hasTimers = options.isSelfHosted;
  const findings = createFindings({ db, log, ingester, hasTimers });
  const alertRules = createAlertRules({ db, log, ingester, publicUrl: env.publicUrl, hasTimers });
  const collector = createCollector({ env, db, log, metrics, secrets, ingester, webhookClient, hasTimers });
  metrics.observe({
    readBacklog: () => readBacklog(db),
    readDatabase: () => ({ ...db.load(), maxConnections: env.DATABASE_POOL_MAX }),
    readCollector: collector.load,
    readFindings: findings.count,
  });
  const stores = openReportStores(db, env);
  const reports = createReports({
    ...{ db, log, ingester, cursorKey: secrets.cursorKey },
    stores,
    wake: messages.sendReports,
  });
  const { OPERATOR_WEBHOOK_URL: operatorUrl, OPERATOR_WEBHOOK_SECRET: operatorSecret } = env;
  const operatorNotices =
    operatorUrl && operatorSecret
      ? createOperatorNotices({ db, log, url: operatorUrl, secret: operatorSecret, publicUrl: env.publicUrl })
      : null;
  const { erasureKey } = secrets;
  const erasures = createErasures({ db, log, stores, erasureKey, wake: messages.sendErasures });
  const jobs = createJobs({ env, db, dispatcher, operatorNotices, collector, findings, alertRules, reports, erasures });
  // Outside of Vercel, the SDK sees the address that we listen on: Next does not tell which one was asked.
  const origin = env.serveOrigin === null ? {} : { serveOrigin: env.serveOrigin };
  handler = serve({ client, functions: createFunctions(client, jobs), ...origin });

  return {
    env,
    log,
    metrics,
    readiness: createReadiness({
      database: async () => (await db.query('select 1', [])).length === 1,
      migrations: async () => (await countMigrations(db, env.REGION)) >= journal.entries.length,
      engine: () => (engine ? engine.isWorking() : isInngestConfigured(env)),
    }),
    db,
    secrets,
    verifyKey: createKeyVerifier({ db, quotas: env.quotas }),
    dispatcher,
    ingester,
    collector,
    recordings: createRecordings({ db, traceDays: env.TRACE_DAYS }),
    alertRules,
    findings,
    usage: createUsageMeter({ db, log }),
    reports,
    erasures,
    inngestHandler: env.usesInngest ? handler : null,
    engine,
    webhookClient,
    operatorNotices,
    isSelfHosted: options.isSelfHosted,
    demo: null,
  };
}

/** Stops the work of a service within about `graceMs` and closes its connections. */
export async function closeService(service: Service, graceMs: number): Promise<void> {
  // First, because its facts cause deliveries.
  const { collector, findings, alertRules } = service;
  const stopFacts = () => collector.stop().then(findings.stop).then(alertRules.stop);
  await Promise.race([stopFacts(), sleep(graceMs, undefined, { ref: false })]);
  // Send wake-ups for committed deliveries while the engine still accepts events.
  await service.dispatcher.publisher.flush();
  await Promise.all([service.dispatcher.stop(graceMs), service.engine?.stop(graceMs)]);
  await Promise.all([service.webhookClient.close(), service.operatorNotices?.close()]);
  await service.usage.close();
  await service.db.close();
  releaseService();
}

/** Finishes the deferred work of a request or run, because a serverless process may be frozen for good after it. */
export async function settleService({
  log,
  usage,
  dispatcher,
  collector,
  findings,
  isSelfHosted,
}: Service): Promise<void> {
  // A process with timers judges by itself. Judgements come first, because their facts cause deliveries.
  if (!isSelfHosted) await collector.flush().then(findings.flush);
  const flushed = usage.flushSoon().catch((error: unknown) => log.warn({ err: error }, 'usage could not be written'));
  await Promise.all([flushed, dispatcher.flush()]);
}

/**
 * Returns the service of this process. In the self-hosted server, its entry has created it. If Next runs alone (serverless
 * platform, plain `next start`), it is created here from the settings, without an engine.
 */
export function getService(): Service {
  return obtainService(() => {
    const env = readEnv(process.env);
    if (!env.DATABASE_URL || !env.APP_SECRET)
      throw new SettingError('DATABASE_URL: is required where Next runs by itself');
    const log = createLogger(env);
    return createService({ env, log, databaseUrl: env.DATABASE_URL, appSecret: env.APP_SECRET, isSelfHosted: false });
  });
}
