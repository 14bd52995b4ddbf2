import type { Sql, TransactionSql } from 'postgres';
import { PROCESS_LOCK, QUEUE_SCHEMA } from './schema';

/** The payload of a graphile-worker job: drive the run, wake its sleep, or execute one of its parallel steps. */
export interface Job {
  run: number;
  turn: number;
  wake?: string;
  step?: string;
  attempt?: number;
}

/** JSON stays text from the database to the SDK: nothing in between looks inside. */
export interface Run {
  functionId: string;
  event: string;
  attempt: number;
  steps: Map<string, string>;
}

export interface NewRun {
  /** Set where the event came with an id of its own: within 24 hours only its first sending starts runs. */
  eventId: string | null;
  functionId: string;
  event: string;
  key: string | null;
  limit: number | null;
  delayMs: number;
}

/** What a run waits for: a sleep until an instant or for a time, or a step that runs side by side with others. */
export interface PendingOp {
  id: string;
  kind: 'wake' | 'step';
  at: string | null;
  delayMs: number;
}

export interface Pulse {
  due: number;
  nextMs: number | null;
  minute: number;
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
      ${runs.map((run) => run.eventId)}::text[], ${runs.map((run) => run.functionId)}::text[],
      ${runs.map((run) => run.event)}::text[], ${runs.map((run) => run.key)}::text[],
      ${runs.map((run) => run.limit)}::int[], ${runs.map((run) => run.delayMs)}::float8[])`;
  }

  async begin({ run, turn, step }: Job): Promise<Run | null> {
    const [row] = await this.sql<
      {
        function_id: string;
        event: string;
        attempt: number;
        step_ids: string[] | null;
        step_results: string[] | null;
      }[]
    >`select * from engine.begin(${run}, ${turn}, ${step ?? null})`;
    if (!row) return null;
    const steps = new Map(row.step_ids?.map((id, index) => [id, row.step_results![index]!]));
    return { functionId: row.function_id, event: row.event, attempt: row.attempt, steps };
  }

  async memorise({ run, turn }: Job, stepId: string, result: string): Promise<boolean> {
    return isTrue(await this.sql`select engine.memorise(${run}, ${turn}, ${stepId}, ${result}) as done`);
  }

  async suspend({ run, turn }: Job, ops: PendingOp[]): Promise<boolean> {
    return isTrue(
      await this.sql`select engine.suspend(${run}, ${turn},
        ${ops.map((op) => op.id)}::text[], ${ops.map((op) => op.kind)}::text[],
        ${ops.map((op) => op.at)}::text[], ${ops.map((op) => op.delayMs)}::float8[]) as done`,
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

  /** Deletes a batch of what is no longer needed; answers whether there may be more. */
  async prune(batch = 1000): Promise<boolean> {
    const events = await this.sql`delete from engine.event where id in (
      select id from engine.event where received_at < now() - interval '24 hours' limit ${batch} for update skip locked)`;
    const runs = await this.sql`delete from engine.run where id in (
      select id from engine.run where status = 'Failed' and ended_at < now() - interval '7 days'
      limit ${batch} for update skip locked)`;
    await this.sql`delete from engine.process where seen_at < now() - interval '1 hour'`;
    // graphile-worker draws a number of this 32 bit sequence with every job it adds, though there is only one task.
    await this.sql`select setval(pg_get_serial_sequence(${`${QUEUE_SCHEMA}._private_tasks`}, 'id'),
      (select max(id) from ${this.sql(QUEUE_SCHEMA)}._private_tasks))`;
    return events.count === batch || runs.count === batch;
  }
}

/**
 * The part of a process that others see: its row names its graphile workers, and its session lock says that it lives.
 * `session` is one connection of its own, never recycled, or the lock would go with it.
 */
export class Presence {
  private processId = 0;

  constructor(private readonly session: Sql) {}

  async enter(): Promise<void> {
    const [row] = await this.session<{ id: number }[]>`insert into engine.process default values returning id`;
    this.processId = row!.id;
    await this.session`select pg_try_advisory_lock(${PROCESS_LOCK}, ${this.processId})`;
  }

  /** To be called before a worker takes its first job, and again and again: the row must never grow old. */
  async register(workerIds: string[]): Promise<void> {
    await this.session`insert into engine.process (id, worker_ids) values (${this.processId}, ${workerIds}::text[])
      on conflict (id) do update set worker_ids = excluded.worker_ids, seen_at = now()`;
  }

  /** Unlocks the jobs of these workers and lets other processes know. */
  async handBack(workerIds: string[]): Promise<void> {
    await this.session`select ${this.session(QUEUE_SCHEMA)}.force_unlock_workers(${workerIds}::text[])`;
    await this.session`select pg_notify('jobs:insert', ${JSON.stringify({ count: workerIds.length })})`;
  }

  async leave(): Promise<void> {
    await this.session`delete from engine.process where id = ${this.processId}`;
  }

  /**
   * Says that this process lives (locking again what the session holds already only counts up; after a reconnect it
   * takes the lock anew) and tells what is due.
   */
  async pulse(limit: number): Promise<Pulse> {
    const [row] = await this.session<{ due: number; next_ms: number | null; minute: number }[]>`
      select pg_try_advisory_lock(${PROCESS_LOCK}, ${this.processId}), upcoming.*,
        floor(extract(epoch from now()) / 60)::int as minute
      from (
        select count(*) filter (where run_at <= now())::int as due,
          (extract(epoch from min(run_at) filter (where run_at > now()) - now()) * 1000)::float8 as next_ms
        from (
          select run_at from ${this.session(QUEUE_SCHEMA)}._private_jobs
          where is_available and priority = 0 order by run_at limit ${limit}
        ) first
      ) upcoming`;
    return { due: row!.due, nextMs: row!.next_ms, minute: row!.minute };
  }

  /**
   * Gives back the jobs that nobody works on: locked by a worker of no living process, or by one of ours that does not
   * know of it, because the connection broke between the lock and the answer. Answers how many.
   */
  async releaseOrphans(workerIds: string[], activeJobIds: string[]): Promise<number> {
    const released = await this.session`
      with live as (
        select unnest(process.worker_ids) as worker_id from engine.process join pg_locks held
          on held.locktype = 'advisory' and held.classid = ${PROCESS_LOCK} and held.objid = process.id
            and held.objsubid = 2 and held.granted
        where held.database = (select oid from pg_database where datname = current_database())
      )
      update ${this.session(QUEUE_SCHEMA)}._private_jobs set locked_at = null, locked_by = null
      where locked_by is not null and (
        locked_by not in (select worker_id from live)
        or (locked_by = any(${workerIds}::text[]) and id <> all(${activeJobIds}::bigint[])
          and locked_at < now() - interval '10 seconds'))`;
    return released.count;
  }
}

function isTrue(rows: readonly Record<string, unknown>[]): boolean {
  return rows[0]?.done === true;
}
