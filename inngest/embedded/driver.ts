import { setTimeout as delay } from 'node:timers/promises';
import { callFunction, type StepError } from './executor';
import { type EngineFunction, FAILED_EVENT, type FetchHandler } from './functions';
import { listStarts } from './intake';
import type { Log } from './log';
import type { Job, Run, Store } from './store';

/** Drives runs: executes each job and acts on each answer of a function. */
export class Driver {
  private isAbandoned = false;
  /** The result of what was abandoned. */
  private readonly never = new Promise<never>(() => {});

  constructor(
    private readonly functions: ReadonlyMap<string, EngineFunction>,
    private readonly handler: FetchHandler,
    private readonly store: Store,
    private readonly log: Log,
  ) {}

  /**
   * Drops the answers of calls that still run, and calls nothing more, because the jobs are left to other processes. Their promises
   * stay pending: graphile-worker would record an error, and delay the job by it.
   */
  abandon(): void {
    this.isAbandoned = true;
  }

  /** Executes one job. Throws if the job must not count as done. */
  async execute(job: Job): Promise<void> {
    if (job.wake) return this.persist(() => this.store.resolve(job, job.wake!, 'null'));
    const run = await this.persist(() => this.store.begin(job));
    if (!run) return;
    const fn = this.functions.get(run.functionId);
    // Another version of the application may have this function. graphile-worker retries the job with growing delays.
    if (!fn) throw new Error(`run ${job.run}: no function "${run.functionId}" in this process`);
    await this.drive(job, run, fn);
  }

  /** Calls the function repeatedly, as long as its steps finish at once. */
  private async drive(job: Job, run: Run, fn: EngineFunction): Promise<void> {
    let attempt = job.step ? (job.attempt ?? 0) : run.attempt;
    for (;;) {
      if (this.isAbandoned) return this.never;
      const verdict = await callFunction(this.handler, fn, job, run, attempt);
      if (verdict.kind === 'memo') {
        if (job.step) return this.persist(() => this.store.resolve(job, verdict.stepId, verdict.result));
        this.assertOurs(await this.persist(() => this.store.memorise(job, verdict.stepId, verdict.result)), job);
        run.steps += `${run.steps && ','}${JSON.stringify(verdict.stepId)}:${verdict.result}`;
        run.stepIds.push(verdict.stepId);
        attempt = 0;
        continue;
      }
      switch (verdict.kind) {
        case 'completed':
          return this.assertOurs(await this.persist(() => this.store.finish(job, null)), job);
        case 'suspended':
          return this.assertOurs(await this.persist(() => this.store.suspend(job, verdict.ops)), job);
        case 'failed':
          return this.fail(job, run, fn, verdict.error);
        case 'retry':
          this.log.warn(
            { run: job.run, function: fn.id, attempt, error: verdict.error.message },
            'engine: attempt failed',
          );
          if (job.step) return this.persist(() => this.store.retryStep(job, attempt + 1, verdict.delayMs));
          return this.assertOurs(await this.persist(() => this.store.retry(job, attempt + 1, verdict.delayMs)), job);
      }
    }
  }

  private async fail(job: Job, run: Run, fn: EngineFunction, error: StepError): Promise<void> {
    this.log.error({ run: job.run, function: fn.id, error: error.message }, 'engine: run failed');
    const starts = listStarts(this.functions.values(), failedEvent(job, run, fn, error), fn.id);
    const isFinished = await this.persist(() =>
      this.store.transaction(async (store) => {
        if (!(await store.finish(job, JSON.stringify(error)))) return false;
        await store.startRuns(starts);
        return true;
      }),
    );
    this.assertOurs(isFinished, job);
  }

  /**
   * Records a result. While the database is away, it retries, because the work is done: waiting is better than repeating it
   * only because it could not be recorded.
   */
  private async persist<T>(write: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      if (this.isAbandoned) return this.never;
      try {
        return await write();
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
        await delay(Math.min(100 * 2 ** attempt, 2000), undefined, { ref: false });
      }
    }
  }

  /** Throws if a write found that the run has moved on. Another process has taken the job over then. */
  private assertOurs(isOurs: boolean, job: Job): void {
    if (!isOurs) throw new Error(`run ${job.run}: another worker has taken it over`);
  }
}

/** Makes the event that starts `onFailure` handlers. Returns null if the failed run was itself such a handler. */
function failedEvent(job: Job, run: Run, fn: EngineFunction, error: StepError): Record<string, unknown> | null {
  const event = JSON.parse(run.event) as { name: string };
  if (event.name === FAILED_EVENT) return null;
  const data = {
    function_id: fn.id,
    run_id: String(job.run),
    error,
    event,
    events: [event],
    _inngest: { status: 'Failed' },
  };
  return { name: FAILED_EVENT, id: `failed:${job.run}`, ts: Date.now(), data };
}

const AWAY_CODES = new Set([
  ...['57P01', '57P02', '57P03', '57P04', '57P05', '57014', '25P03', '25P04'],
  ...['25006', '53100', '53200', '53300', '40001', '40P01', '55P03'],
  // The database was removed (a backup is being restored), or its password was changed.
  ...['3D000', '28P01', '28000'],
  ...[
    'CONNECTION_CLOSED',
    'CONNECTION_DESTROYED',
    'CONNECTION_ENDED',
    'CONNECT_TIMEOUT',
    'DATABASE_AWAY',
    'DATABASE_BUSY',
  ],
]);
/** SQLSTATE class 08 (connection exception), and error codes of the system. */
const AWAY_CLASS = /^(?:08...|E[A-Z]+)$/;

function isDatabaseAway(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && (AWAY_CODES.has(code) || AWAY_CLASS.test(code));
}
