import type { Sql } from 'postgres';
import { arrayOf } from './array-literal';
import { announceJobs, selectDueTimes, unlockLostJobs } from './graphile-worker-internals';
import { PROCESS_LOCK, QUEUE_SCHEMA } from './schema';

/** What one look at the queue tells: due jobs (capped), the time until the next timer, the database's minute. */
export interface Pulse {
  due: number;
  nextMs: number | null;
  minute: number;
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
    await this
      .session`insert into engine.process (id, worker_ids) values (${this.processId}, ${arrayOf(workerIds)}::text::text[])
      on conflict (id) do update set worker_ids = excluded.worker_ids, seen_at = now()`;
  }

  /** Unlocks the jobs of these workers and lets other processes know. */
  async handBack(workerIds: string[]): Promise<void> {
    await this.session`select ${this.session(QUEUE_SCHEMA)}.force_unlock_workers(${arrayOf(workerIds)}::text::text[])`;
    await announceJobs(this.session, workerIds.length);
  }

  async leave(): Promise<void> {
    if (this.processId) await this.session`delete from engine.process where id = ${this.processId}`;
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
        from (${selectDueTimes(this.session, limit)}) first
      ) upcoming`;
    return { due: row!.due, nextMs: row!.next_ms, minute: row!.minute };
  }

  /**
   * Unlocks the jobs that nobody works on: locked by a worker of no living process, or by one of ours that does not know of
   * it, because the connection broke between the lock and the answer. Answers how many.
   */
  async releaseOrphans(workerIds: string[], activeJobIds: string[]): Promise<number> {
    const selectLiveWorkers = this.session`
      select unnest(process.worker_ids) from engine.process join pg_locks held
        on held.locktype = 'advisory' and held.classid = ${PROCESS_LOCK} and held.objid = process.id
          and held.objsubid = 2 and held.granted
      where held.database = (select oid from pg_database where datname = current_database())`;
    return unlockLostJobs(this.session, { selectLiveWorkers, ownWorkers: workerIds, ownJobs: activeJobIds });
  }
}
