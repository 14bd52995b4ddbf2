import { EventEmitter } from 'node:events';
import { type Logger, runTaskList, type Worker, type WorkerEvents } from 'graphile-worker';
import { openPool } from './pool';
import { QUEUE_SCHEMA, TASK } from './schema';
import type { Job } from './store';

/** Connections of graphile-worker. One listens; the others take and complete jobs, in a fraction of a millisecond each. */
const POOL_SIZE = 8;
/**
 * How often an idle worker polls. The engine's pulse polls for all workers and wakes as many as there are jobs. Otherwise two
 * hundred workers that poll every two seconds would cost a hundred statements a second.
 */
const POLL_INTERVAL_MS = 10 * 60_000;

export interface WorkersOptions {
  databaseUrl: string;
  slots: number;
  logger: Logger;
  execute: (job: Job) => Promise<void>;
  /** Publishes worker ids to the other processes. */
  register: (workerIds: string[]) => Promise<void>;
}

/**
 * graphile-worker's workers, which take jobs and `execute` them. After database errors, graphile-worker loses workers for good
 * (a worker that cannot complete its job exits) and may listen again only after a minute. So the caller replaces all workers
 * when the database answers again. The old ones finish their current jobs.
 */
export class Workers {
  /** `workers` are all that are alive; `taking` are those that take new jobs. */
  private readonly workers = new Set<Worker>();
  private taking = new Set<Worker>();
  /** The end of each set of workers that has been started: its jobs are done, and its connections are closed. */
  private readonly ends = new Set<() => Promise<void>>();
  private isStopping = false;
  /** An error occurred since the workers were started. */
  isDamaged = false;

  constructor(private readonly options: WorkersOptions) {}

  get ids(): string[] {
    return [...this.workers].map((worker) => worker.workerId);
  }

  get activeJobIds(): string[] {
    return [...this.workers].flatMap((worker) => worker.getActiveJob()?.id ?? []);
  }

  /** Starts new workers. The previous ones take no more jobs and end when their current jobs are done. */
  async start(): Promise<void> {
    const { databaseUrl, slots, logger, execute, register } = this.options;
    const old = [...this.ends];
    const events: WorkerEvents = new EventEmitter();
    const created = new Set<Worker>();
    events.on('worker:create', ({ worker }) => {
      created.add(worker);
      this.workers.add(worker);
    });
    events.on('worker:stop', ({ worker }) => {
      created.delete(worker);
      this.workers.delete(worker);
    });
    let areDamaged = false;
    const reportDamage = () => {
      areDamaged = true;
      if (this.taking === created) this.isDamaged = true;
    };
    events.on('worker:fatalError', reportDamage);
    events.on('worker:getJob:error', reportDamage);
    events.on('pool:listen:error', reportDamage);
    events.on('pool:gracefulShutdown', reportDamage);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const pool = openPool(withAsynchronousCommit(databaseUrl), POOL_SIZE);
    // Not `run`, which starts a crontab too: if an outage begins then, a rejection that nothing handles ends the process.
    const started = runTaskList(
      {
        schema: QUEUE_SCHEMA,
        concurrency: slots,
        pollInterval: POLL_INTERVAL_MS,
        noHandleSignals: true,
        events,
        logger,
        // Workers must not take jobs before the other processes know their ids.
        preset: { plugins: [{ name: 'EngineGate', version: '0.0.0', worker: { hooks: { startWorker: () => gate } } }] },
      },
      { [TASK]: (payload) => execute(payload as Job) },
      pool,
    );
    let ending: Promise<void> | null = null;
    const end = () => {
      ending ??= started
        .gracefulShutdown()
        .then(() => pool.end())
        .catch((error: unknown) => logger.error(`the workers did not end cleanly: ${String(error)}`))
        .finally(() => this.ends.delete(end));
      return ending;
    };
    this.ends.add(end);
    try {
      await register(this.ids);
      if (this.isStopping) throw new Error('the engine was stopped while its workers started');
    } catch (error) {
      for (const worker of created) dropJob(worker);
      void end();
      throw error;
    }
    this.taking = created;
    this.isDamaged = areDamaged;
    open();
    for (const endOld of old) void endOld();
  }

  /** Wakes as many idle workers as there are due jobs. */
  nudge(due: number): void {
    let left = due;
    for (const worker of this.taking) {
      if (left <= 0 || this.isStopping) return;
      try {
        if (worker.nudge()) left--;
      } catch {
        // `nudge` throws for a worker that has ended.
        this.isDamaged = true;
      }
    }
  }

  /** Stops taking jobs. Resolves when the running ones are done. */
  async drain(): Promise<void> {
    this.isStopping = true;
    await Promise.all([...this.ends].map((end) => end()));
  }

  /** Drops the running jobs, so that `drain` resolves. */
  release(): void {
    for (const worker of this.workers) dropJob(worker);
  }
}

/** Lets a worker end without its job. Its promise is rejected if the worker has failed, which `worker:fatalError` tells too. */
function dropJob(worker: Worker): void {
  Promise.resolve(worker.release(true)).catch(() => {});
}

/**
 * Turns on asynchronous commit for graphile-worker's own writes, which need not reach the disk at once. If a crash of Postgres
 * loses a lock or a completion, the job is offered again, and the run's `turn` tells whether anything is left to do.
 */
function withAsynchronousCommit(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  const options = url.searchParams.get('options') ?? '';
  url.searchParams.set('options', `${options} -c synchronous_commit=off`.trim());
  return url.href;
}
