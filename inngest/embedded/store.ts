import type { Sql, TransactionSql } from 'postgres';
import { arrayOf } from './array-literal';
import { resetTaskSequence } from './graphile-worker-internals';
import { QUEUE_SCHEMA } from './schema';

/** The payload of a graphile-worker job: drive the run, end its sleep (`wake`), or execute one of its parallel steps (`step`). */
export interface Job {
  run: number;
  turn: number;
  wake?: string;
  step?: string;
  attempt?: number;
}

/** A run to drive. Its JSON stays text from the database to the SDK, because nothing in between reads it. */
export interface Run {
  functionId: string;
  event: string;
  attempt: number;
  /** The finished steps in order, and their results as the members of a JSON object. */
  stepIds: string[];
  steps: string;
}

export interface NewRun {
  /** Set if the sender gave the event an id. Within 24 hours, only the first event with an id starts runs. */
  eventId: string | null;
  functionId: string;
  event: string;
  key: string | null;
  limit: number | null;
  delayMs: number;
}

/** What a run waits for: a sleep until an instant or for a duration, or a parallel step. */
export interface PendingOp {
  id: string;
  kind: 'wake' | 'step';
  at: string | null;
  delayMs: number;
}

export class Store {
  constructor(private readonly sql: Sql | TransactionSql) {}

  /** Runs `work` in one transaction. */
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T> {
    return (this.sql as Sql).begin((tx) => work(new Store(tx))) as Promise<T>;
  }

  async startRuns(runs: NewRun[]): Promise<void> {
    if (runs.length === 0) return;
    await this.sql`select engine.start_runs(
      ${arrayOf(runs.map((run) => run.eventId))}::text::text[], ${arrayOf(runs.map((run) => run.functionId))}::text::text[],
      ${arrayOf(runs.map((run) => run.event))}::text::text[], ${arrayOf(runs.map((run) => run.key))}::text::text[],
      ${arrayOf(runs.map((run) => run.limit))}::text::int[], ${arrayOf(runs.map((run) => run.delayMs))}::text::float8[])`;
  }

  async begin({ run, turn, step }: Job): Promise<Run | null> {
    const [row] = await this.sql<
      { function_id: string; event: string; attempt: number; step_ids: string; steps: string }[]
    >`select * from engine.begin(${run}, ${turn}, ${step ?? null})`;
    if (!row) return null;
    const { function_id: functionId, event, attempt, steps } = row;
    return { functionId, event, attempt, steps, stepIds: JSON.parse(row.step_ids) };
  }

  async memorise({ run, turn }: Job, stepId: string, result: string): Promise<boolean> {
    return isTrue(await this.sql`select engine.memorise(${run}, ${turn}, ${stepId}, ${result}) as done`);
  }

  async suspend({ run, turn }: Job, ops: PendingOp[]): Promise<boolean> {
    return isTrue(
      await this.sql`select engine.suspend(${run}, ${turn},
        ${arrayOf(ops.map((op) => op.id))}::text::text[], ${arrayOf(ops.map((op) => op.kind))}::text::text[],
        ${arrayOf(ops.map((op) => op.at))}::text::text[], ${arrayOf(ops.map((op) => op.delayMs))}::text::float8[]) as done`,
    );
  }

  async resolve({ run, turn }: Job, opId: string, result: string): Promise<void> {
    await this.sql`select engine.resolve(${run}, ${turn}, ${opId}, ${result})`;
  }

  async retry({ run, turn }: Job, attempt: number, delayMs: number): Promise<boolean> {
    return isTrue(await this.sql`select engine.retry(${run}, ${turn}, ${attempt}, ${delayMs}) as done`);
  }

  async retryStep(job: Job, attempt: number, delayMs: number): Promise<void> {
    await this.sql`select ${this.sql(QUEUE_SCHEMA)}.add_jobs(array[
      engine.job(${JSON.stringify({ ...job, attempt })}::text::json, now() + ${delayMs}::float8 * interval '1 ms')])`;
  }

  async finish({ run, turn }: Job, error: string | null): Promise<boolean> {
    return isTrue(await this.sql`select engine.finish(${run}, ${turn}, ${error}) as done`);
  }

  /**
   * Deletes a batch of rows that are no longer needed. Returns whether there may be more. Events of the future are from before the
   * database's clock was set back. They would keep the crons of all minutes until then from starting again. Runs of functions that are
   * not among `functionIds` wait for a process that has them, but not forever: their jobs fail again and again.
   */
  async prune(functionIds: string[], batch = 1000): Promise<boolean> {
    const events = await this.sql`delete from engine.event where id in (
      select id from engine.event
      where received_at < now() - interval '24 hours' or received_at > now() + interval '1 minute'
      limit ${batch} for update skip locked)`;
    const runs = await this.sql`delete from engine.run where id in (
      select id from engine.run where status = 'Failed' and ended_at < now() - interval '7 days'
      limit ${batch} for update skip locked)`;
    // The oldest runs have the lowest ids. Most runs are young, and are not read.
    await this.sql`delete from engine.run where id in (
      select id from (select id, function_id, created_at from engine.run order by id limit ${batch}) oldest
      where created_at < now() - interval '7 days' and function_id <> all(${arrayOf(functionIds)}::text::text[]))`;
    await this.sql.unsafe("delete from engine.process where seen_at < now() - interval '1 hour'");
    await resetTaskSequence(this.sql);
    return events.count === batch || runs.count === batch;
  }
}

function isTrue(rows: readonly Record<string, unknown>[]): boolean {
  return rows[0]?.done === true;
}
