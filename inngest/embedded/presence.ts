import type { Sql } from 'postgres';
import { arrayOf } from './array-literal';
import { announceJobs, selectDueTimes, unlockLostJobs } from './graphile-worker-internals';
import { PROCESS_LOCK, QUEUE_SCHEMA } from './schema';

/** How long a process must have held no lock until it is taken for dead. One that lost only its connection is back earlier. */
const ABSENCE_MS = 1_500;
/**
 * How long a process that holds its lock must not have renewed its row until it is taken for hung, as if it were paused. It does so every
 * three seconds. Otherwise its jobs, and all that wait for their concurrency key, would wait until it is ended.
 */
const HANG_MS = 45_000;

/** The server takes no writes: it is perhaps no longer the primary. Its connections stay with it, so a new one is needed. */
export class ReadOnlyServerError extends Error {}

/** The result of one look at the queue: due jobs (capped), the time until the next timer, the database's minute. */
export interface Pulse {
  due: number;
  nextMs: number | null;
  minute: number;
}

/**
 * Makes a process visible to others. Its row names its graphile-worker workers, and its session lock shows that it lives.
 * `session` must be a single, separate connection that is never recycled, because the lock ends with it.
 */
export class Presence {
  private processId = 0;
  /** Other workers that hold jobs, each with the last sign of its process: since when it has not changed, and how long it may not. */
  private suspects = new Map<string, { since: number; limitMs: number }>();

  constructor(private readonly session: Sql) {}

  async enter(): Promise<void> {
    const [row] = await this.session<{ id: number }[]>`insert into engine.process default values returning id`;
    this.processId = row!.id;
    await this.session`select pg_try_advisory_lock(${PROCESS_LOCK}, ${this.processId})`;
  }

  /** Call this before a worker takes its first job, and then regularly, because old rows are removed. */
  async register(workerIds: string[]): Promise<void> {
    await this
      .session`insert into engine.process (id, worker_ids) values (${this.processId}, ${arrayOf(workerIds)}::text::text[])
      on conflict (id) do update set worker_ids = excluded.worker_ids, seen_at = now()`;
  }

  /** Unlocks the jobs of these workers and notifies other processes. */
  async handBack(workerIds: string[]): Promise<void> {
    await this.session`select ${this.session(QUEUE_SCHEMA)}.force_unlock_workers(${arrayOf(workerIds)}::text::text[])`;
    await announceJobs(this.session, workerIds.length);
  }

  async leave(): Promise<void> {
    if (this.processId) await this.session`delete from engine.process where id = ${this.processId}`;
  }

  /**
   * Renews the lock that shows that this process lives, and reads which runs are due. If the session holds the lock already, this
   * only increases its count. After a reconnect, it takes the lock again. Throws a ReadOnlyServerError.
   */
  async pulse(limit: number): Promise<Pulse> {
    const [row] = await this.session<{ due: number; next_ms: number | null; minute: number; is_read_only: boolean }[]>`
      select pg_try_advisory_lock(${PROCESS_LOCK}, ${this.processId}), upcoming.*,
        current_setting('transaction_read_only')::boolean as is_read_only,
        floor(extract(epoch from now()) / 60)::int as minute
      from (
        select count(*) filter (where run_at <= now())::int as due,
          (extract(epoch from min(run_at) filter (where run_at > now()) - now()) * 1000)::float8 as next_ms
        from (${selectDueTimes(this.session, limit)}) first
      ) upcoming`;
    if (row!.is_read_only) throw new ReadOnlyServerError('the server takes no writes');
    return { due: row!.due, nextMs: row!.next_ms, minute: row!.minute };
  }

  /** Whether `releaseOrphans` can now tell the dead from those that have lost only their connection. */
  get isLookDue(): boolean {
    return [...this.suspects.values()].some(isOver);
  }

  /** Call this when the session has ended: others may have lost theirs too, and get the time to come back. */
  forgetSuspects(): void {
    this.suspects.clear();
  }

  /**
   * Unlocks abandoned jobs: those locked by a worker of a dead or hung process, and those locked by one of our workers that did not
   * get the answer, because the connection broke. Returns how many.
   */
  async releaseOrphans(workerIds: string[], activeJobIds: string[]): Promise<number> {
    const since = performance.now();
    const others = await this.session<{ id: string; seenAt: string | null }[]>`
      select distinct locked_by as id, living.seen_at::text as "seenAt"
      from ${this.session(QUEUE_SCHEMA)}.jobs left join (
        select unnest(process.worker_ids) as worker_id, process.seen_at from engine.process join pg_locks held
          on held.locktype = 'advisory' and held.classid = ${PROCESS_LOCK} and held.objid = process.id
            and held.objsubid = 2 and held.granted
        where held.database = (select oid from pg_database where datname = current_database())) living
        on living.worker_id = locked_by
      where locked_by <> all(${arrayOf(workerIds)}::text::text[])`;
    const before = this.suspects;
    this.suspects = new Map();
    const lost = others.filter(({ id, seenAt }) => {
      const name = `${id} ${seenAt}`;
      const suspect = before.get(name) ?? { since, limitMs: seenAt === null ? ABSENCE_MS : HANG_MS };
      this.suspects.set(name, suspect);
      return isOver(suspect);
    });
    const lostWorkers = lost.map(({ id }) => id);
    return unlockLostJobs(this.session, { deadWorkers: lostWorkers, ownWorkers: workerIds, ownJobs: activeJobIds });
  }
}

const isOver = ({ since, limitMs }: { since: number; limitMs: number }): boolean =>
  performance.now() - since >= limitMs;
