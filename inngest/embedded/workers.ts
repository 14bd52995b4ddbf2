import { EventEmitter } from 'node:events';
import { type Logger, type Runner, run, type Worker, type WorkerEvents } from 'graphile-worker';
import { QUEUE_SCHEMA, TASK } from './schema';
import type { Job } from './store';

/** Connections of graphile-worker: one listens, the others take and complete jobs in a fraction of a millisecond each. */
const POOL_SIZE = 8;
/**
 * A worker that found nothing asks again after this time. The engine's pulse looks for all of them and nudges as many
 * as there are jobs: two hundred workers that poll every two seconds would cost a hundred statements a second.
 */
const POLL_INTERVAL_MS = 10 * 60_000;

export interface WorkersOptions {
  databaseUrl: string;
  slots: number;
  logger: Logger;
  execute: (job: Job) => Promise<void>;
  /** Makes worker ids known to the other processes. */
  register: (workerIds: string[]) => Promise<void>;
}

/**
 * graphile-worker's workers: they take the jobs and `execute` them. After trouble with the database graphile-worker
 * loses workers for good (one that cannot complete its job exits) and may listen again only after a minute, so the
 * caller replaces them all when the database answers again; the old ones finish what they have.
 */
export class Workers {
  /** All that live, and of those the ones that take jobs. */
  private readonly workers = new Set<Worker>();
  private taking = new Set<Worker>();
  private readonly runners = new Set<Runner>();
  private isStopping = false;
  /** Something went wrong since they were started. */
  isDamaged = false;

  constructor(private readonly options: WorkersOptions) {}

  get ids(): string[] {
    return [...this.workers].map((worker) => worker.workerId);
  }

  get activeJobIds(): string[] {
    return [...this.workers].flatMap((worker) => worker.getActiveJob()?.id ?? []);
  }

  /** Starts workers; those that ran before take no more jobs and end when theirs are done. */
  async start(): Promise<void> {
    const { databaseUrl, slots, logger, execute, register } = this.options;
    const old = [...this.runners];
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
    const runner = await run({
      connectionString: withAsynchronousCommit(databaseUrl),
      schema: QUEUE_SCHEMA,
      concurrency: slots,
      maxPoolSize: POOL_SIZE,
      pollInterval: POLL_INTERVAL_MS,
      noHandleSignals: true,
      // Not its crontab: when the database is away at the minute, it ends the process by an unhandled rejection.
      parsedCronItems: [],
      taskList: { [TASK]: (payload) => execute(payload as Job) },
      events,
      logger,
      // Nobody may take a job before the other processes can tell whose it is.
      preset: { plugins: [{ name: 'EngineGate', version: '0.0.0', worker: { hooks: { startWorker: () => gate } } }] },
    });
    runner.promise.catch(() => {});
    this.runners.add(runner);
    try {
      await register(this.ids);
      if (this.isStopping) throw new Error('stopped meanwhile');
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

  /** Lets as many idle workers as there are due jobs look for one. */
  nudge(due: number): void {
    let left = due;
    for (const worker of this.taking) {
      if (left <= 0 || this.isStopping) return;
      try {
        if (worker.nudge()) left--;
      } catch {
        // It has ended: nudging it is a failed assertion.
        this.isDamaged = true;
      }
    }
  }

  /** Takes no more jobs; resolves when those at work are done. */
  async drain(): Promise<void> {
    this.isStopping = true;
    await Promise.all([...this.runners].map((runner) => this.end(runner)));
  }

  /** Forgets the jobs at work, so that `drain` resolves. */
  release(): void {
    for (const worker of this.workers) void Promise.resolve(worker.release(true)).catch(() => {});
  }

  private async end(runner: Runner): Promise<void> {
    // Rejects if it stopped by itself.
    await runner.stop().catch(() => {});
    this.runners.delete(runner);
  }
}

/**
 * What graphile-worker writes itself need not reach the disk at once: a lock or a completion that a crash of Postgres
 * takes back offers the job again, and its run's `turn` tells whether there is anything left to do.
 */
function withAsynchronousCommit(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  const options = url.searchParams.get('options') ?? '';
  url.searchParams.set('options', `${options} -c synchronous_commit=off`.trim());
  return url.href;
}
