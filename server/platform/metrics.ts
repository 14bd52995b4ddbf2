import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { API_VERSION } from '../../contract/version';

/** A request that was answered. `route` is a template, never a path as it was asked. */
export interface AnsweredRequest {
  method: string;
  route: string;
  status: number;
  durationMs: number;
}

/** What is read when somebody asks for the metrics. */
export interface Readings {
  /** Deliveries that wait, and for how many seconds the oldest of those that are due has been. */
  readQueue(): Promise<{ pending: number; ageSeconds: number; unfolded: number }>;
  readDatabase(): { asked: number; connections: number; maxConnections: number; isAway: boolean };
}

/** The process's metrics, in a registry of their own. Counting never throws. */
export interface Metrics {
  countRequest(request: AnsweredRequest): void;
  /** `outcome` is Delivered, or the class of the failure. */
  countAttempt(attempt: { outcome: string; durationMs: number }): void;
  countFacts(facts: { accepted: number; duplicates: number; suppressed: number }): void;
  countRun(run: { function: string; outcome: 'completed' | 'failed' | 'retried'; durationMs: number | null }): void;
  /** Names where the readings come from. */
  observe(readings: Readings): void;
  /** All of them in Prometheus' text format. Never rejects, and never waits longer than two seconds. */
  scrape(): Promise<{ contentType: string; text: string }>;
}

const SCRAPE_MS = 2_000;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const ATTEMPT_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const RUN_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 20, 60];

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
  const facts = counter('facts_total', 'Facts of the pipeline by what became of them', ['result']);
  const runs = counter('engine_runs_total', 'Runs of functions that ended, and tries that will be repeated', [
    'function',
    'outcome',
  ]);
  const runDurations = histogram(
    'engine_run_duration_seconds',
    'A call of a function, from its beginning to its end',
    ['function'],
    RUN_BUCKETS,
  );
  const pending = gauge('deliveries_pending', 'Deliveries that are not over');
  const age = gauge('delivery_queue_age_seconds', 'Since when the oldest due delivery has been due; 0 where none is');
  const unfolded = gauge('session_deltas_unfolded', 'Changes of sessions that are not folded into the counts yet');
  const isRead = gauge(
    'queue_read',
    '1 where the figures of the queue are of this scrape, 0 where the database did not answer',
  );
  const asked = gauge('database_statements_waiting', 'Statements that were sent to the database, or wait to be');
  const connections = gauge('database_connections', 'Connections of this process, those being opened among them');
  const maxConnections = gauge('database_pool_max', 'Connections that the pool may have (DATABASE_POOL_MAX)');
  const isUp = gauge('database_up', '0 while requests are refused because the database is away');
  gauge('build_info', 'Always 1; its label is the version', ['version']).set({ version: API_VERSION }, 1);
  collectDefaultMetrics({ register: registry, prefix });
  /** Finding a metric by its labels costs more than counting. There are as many as there are labels: few. */
  const counted = new Map<string, { requests: Counter.Internal; durations: Histogram.Internal<'method' | 'route'> }>();
  let readings: Readings | null = null;

  async function read(): Promise<void> {
    if (!readings) return;
    const load = readings.readDatabase();
    asked.set(load.asked);
    connections.set(load.connections);
    maxConnections.set(load.maxConnections);
    isUp.set(load.isAway ? 0 : 1);
    try {
      const queue = await limit(readings.readQueue());
      pending.set(queue.pending);
      age.set(queue.ageSeconds);
      unfolded.set(queue.unfolded);
      isRead.set(1);
    } catch {
      // What was read before is no news.
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
      // A receiver may answer with any number.
      attempts.inc({ outcome: /^HTTP(?!3\d\d$)/.test(outcome) ? 'HTTPother' : outcome });
      attemptDurations.observe(durationMs / 1000);
    },
    countFacts({ accepted, duplicates, suppressed }) {
      facts.inc({ result: 'accepted' }, accepted);
      facts.inc({ result: 'duplicate' }, duplicates);
      facts.inc({ result: 'suppressed' }, suppressed);
    },
    countRun({ function: name, outcome, durationMs }) {
      runs.inc({ function: name, outcome });
      if (durationMs !== null) runDurations.observe({ function: name }, durationMs / 1000);
    },
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
