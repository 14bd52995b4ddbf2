import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { API_VERSION } from '../../contract/version';

/** An answered request. `route` is a template, never the requested path. */
export interface AnsweredRequest {
  method: string;
  route: string;
  status: number;
  durationMs: number;
}

/** Values that are read at each scrape. */
export interface Readings {
  /**
   * Counts pending deliveries and unfolded session changes. `ageSeconds` is how long the oldest due delivery has
   * waited.
   */
  readBacklog(): Promise<{ pending: number; ageSeconds: number; unfolded: number }>;
  readDatabase(): { asked: number; connections: number; maxConnections: number; isAway: boolean };
  readCollector(): { waiting: number; sessions: number };
  /** Counts the sessions that the rules on findings have not judged yet, in this process. */
  readFindings(): number;
}

/** The process's metrics in their own registry. Counting never throws. */
export interface Metrics {
  countRequest(request: AnsweredRequest): void;
  /** `outcome` is Delivered, or the failure class. */
  countAttempt(attempt: { outcome: string; durationMs: number }): void;
  countFacts(facts: { accepted: number; duplicates: number; suppressed: number }): void;
  /** `outcome` says what became of a batch of a page. */
  countBatch(outcome: string): void;
  countCollectedSession(): void;
  countClose(): void;
  observeJudgement(durationMs: number): void;
  countRun(run: { function: string; outcome: 'completed' | 'failed' | 'retried' }): void;
  observeCall(call: { function: string; durationMs: number }): void;
  /** Sets the source of the readings. */
  observe(readings: Readings): void;
  /** Returns all metrics in Prometheus' text format. Never rejects, and waits at most two seconds. */
  scrape(): Promise<{ contentType: string; text: string }>;
}

const SCRAPE_MS = 2_000;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const ATTEMPT_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const JUDGEMENT_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1];
const CALL_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 20, 60];

/** Creates the metrics of a process. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const prefix = 'bot_detection_';
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name: `${prefix}${name}`, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name: `${prefix}${name}`, help, labelNames, registers });
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
    new Histogram({ name: `${prefix}${name}`, help, labelNames, buckets, registers });

  const requests = counter('http_requests_total', 'Requests answered', ['method', 'route', 'status']);
  const durations = histogram(
    'http_request_duration_seconds',
    'From the head of a request to its answer',
    ['method', 'route'],
    REQUEST_BUCKETS,
  );
  const attempts = counter('delivery_attempts_total', 'Delivery attempts by outcome', ['outcome']);
  const attemptDurations = histogram('delivery_attempt_duration_seconds', 'Delivery attempts', [], ATTEMPT_BUCKETS);
  const facts = counter('facts_total', 'Pipeline facts by result', ['result']);
  const batches = counter('collector_batches_total', 'Batches that pages sent, by what became of them', ['outcome']);
  const collected = counter('collector_sessions_total', 'Sessions that pages began');
  const closes = counter('collector_closes_total', 'Sessions of pages that this process closed');
  const judgements = histogram('collector_judgement_seconds', 'Judgements of sessions', [], JUDGEMENT_BUCKETS);
  const waitingBatches = gauge('collector_batches_waiting', 'Batches that wait for their commit');
  const openSessions = gauge('collector_open_sessions', 'Open sessions in the memory of this process');
  const unjudged = gauge('findings_waiting', 'Sessions that wait in this process for the rules on findings');
  const runs = counter('engine_runs_total', 'Function runs that ended, and attempts that will be retried', [
    'function',
    'outcome',
  ]);
  const callDurations = histogram(
    'engine_run_duration_seconds',
    'Calls of functions: one step each, or what follows the last one',
    ['function'],
    CALL_BUCKETS,
  );
  const pending = gauge('deliveries_pending', 'Deliveries that are not finished');
  const age = gauge('delivery_queue_age_seconds', 'Seconds since the oldest due delivery became due; 0 if none is due');
  const unfolded = gauge('session_deltas_unfolded', 'Session changes that are not folded into the counts yet');
  const isRead = gauge('queue_read', '1 if the queue figures are from this scrape, 0 if the database did not answer');
  const asked = gauge(
    'database_statements_waiting',
    'Statements sent to the database without an answer yet, or waiting to be sent',
  );
  const connections = gauge(
    'database_connections',
    'Connections of the pool, for look-ups and for transactions, including those being opened. The engine and the presence have others',
  );
  const maxConnections = gauge('database_pool_max', 'Connections that the pool may have (DATABASE_POOL_MAX)');
  const isUp = gauge('database_up', '0 while requests are refused because the database is away');
  gauge('build_info', 'Always 1; its label is the version', ['version']).set({ version: API_VERSION }, 1);
  collectDefaultMetrics({ register: registry, prefix });
  /** Caches label lookups, which cost more than counting. The number of label combinations is small. */
  const counted = new Map<string, { requests: Counter.Internal; durations: Histogram.Internal<'method' | 'route'> }>();
  let readings: Readings | null = null;

  async function read(): Promise<void> {
    if (!readings) return;
    const load = readings.readDatabase();
    asked.set(load.asked);
    connections.set(load.connections);
    maxConnections.set(load.maxConnections);
    isUp.set(load.isAway ? 0 : 1);
    const { waiting, sessions } = readings.readCollector();
    waitingBatches.set(waiting);
    openSessions.set(sessions);
    unjudged.set(readings.readFindings());
    try {
      const backlog = await limit(readings.readBacklog());
      pending.set(backlog.pending);
      age.set(backlog.ageSeconds);
      unfolded.set(backlog.unfolded);
      isRead.set(1);
    } catch {
      // The gauges keep old values; `queue_read` marks them as stale.
      isRead.set(0);
    }
  }

  return {
    countRequest({ method, route, status, durationMs }) {
      const known = METHODS.has(method) ? method : 'other';
      const name = `${known} ${route} ${status}`;
      let counts = counted.get(name);
      if (!counts) {
        counts = { requests: requests.labels(known, route, String(status)), durations: durations.labels(known, route) };
        counted.set(name, counts);
      }
      counts.requests.inc();
      counts.durations.observe(durationMs / 1000);
    },
    countAttempt({ outcome, durationMs }) {
      // A receiver may answer any status, so rare ones share a label.
      attempts.inc({ outcome: /^HTTP(?!3\d\d$)/.test(outcome) ? 'HTTPother' : outcome });
      attemptDurations.observe(durationMs / 1000);
    },
    countFacts({ accepted, duplicates, suppressed }) {
      facts.inc({ result: 'accepted' }, accepted);
      facts.inc({ result: 'duplicate' }, duplicates);
      facts.inc({ result: 'suppressed' }, suppressed);
    },
    countBatch: (outcome) => batches.inc({ outcome }),
    countCollectedSession: () => collected.inc(),
    countClose: () => closes.inc(),
    observeJudgement: (durationMs) => judgements.observe(durationMs / 1000),
    countRun: (run) => runs.inc(run),
    observeCall: ({ function: name, durationMs }) => callDurations.observe({ function: name }, durationMs / 1000),
    observe(from) {
      readings = from;
    },
    async scrape() {
      await read();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function limit<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer')), SCRAPE_MS);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
