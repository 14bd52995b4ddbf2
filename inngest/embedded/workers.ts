import { EventEmitter } from 'node:events';
import { type Logger, type Runner, run, type Worker, type WorkerEvents } from 'graphile-worker';
import type { Pool } from 'pg';
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
  /** The runners, each with its pool. */
  private readonly runners = new Map<Runner, Pool>();
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
    const old = [...this.runners.keys()];
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
    const reportDamage = () => {
      if (this.taking === created) this.isDamaged = true;
    };
    events.on('worker:fatalError', reportDamage);
    events.on('worker:getJob:error', reportDamage);
    events.on('pool:listen:error', reportDamage);
    events.on('stop', reportDamage);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const pool = openPool(withAsynchronousCommit(databaseUrl), POOL_SIZE);
    const runner = await run({
      pgPool: pool,
      schema: QUEUE_SCHEMA,
      concurrency: slots,
      pollInterval: POLL_INTERVAL_MS,
      noHandleSignals: true,
      // graphile-worker's own crontab is not used: if the database is away, its unhandled rejection ends the process.
      parsedCronItems: [],
      taskList: { [TASK]: (payload) => execute(payload as Job) },
      events,
      logger,
      // Workers must not take jobs before the other processes know their ids.
      preset: { plugins: [{ name: 'EngineGate', version: '0.0.0', worker: { hooks: { startWorker: () => gate } } }] },
    }).catch(async (error) => {
      await pool.end();
      throw error;
    });
    runner.promise.catch(() => {});
    this.runners.set(runner, pool);
    try {
      await register(this.ids);
      if (this.isStopping) throw new Error('the engine was stopped while its workers started');
    } catch (error) {
      for (const worker of created) void worker.release(true);
      await this.end(runner);
      throw error;
    }
    this.taking = created;
    this.isDamaged = false;
    open();
    for (const runner of old) void this.end(runner);
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
    await Promise.all([...this.runners.keys()].map((runner) => this.end(runner)));
  }

  /** Drops the running jobs, so that `drain` resolves. */
  release(): void {
    for (const worker of this.workers) void Promise.resolve(worker.release(true)).catch(() => {});
  }

  private async end(runner: Runner): Promise<void> {
    // `stop` rejects if the runner has already stopped by itself.
    await runner.stop().catch(() => {});
    await this.runners
      .get(runner)
      ?.end()
      .catch(() => {});
    this.runners.delete(runner);
  }
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
