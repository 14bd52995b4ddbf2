import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseSession } from '../../db/session';
import type { Logger } from '../platform/log';

const BEAT_MS = 250;
/**
 * How long a proof that we hold our lock is valid: without a newer one, others may take us for dead. Equally long must a lock
 * have been free until its process is taken for dead. So a process that lost only its connection stops before others begin.
 */
const PROOF_MS = 1_500;
/** If a statement takes longer, the connection is given up and opened again. */
const ANSWER_LIMIT_MS = 2_000;
/** The first number of the advisory locks of lease owners. The second is the owner's id. */
const LOCK_CLASS = 7_201_005;

const UNSEEN = 'others cannot see that this process lives; if it dies, its deliveries wait until their leases expire';

/** An owner whose lock is free, and how often it had taken the lock until then. */
export interface LostOwner {
  id: number;
  locks: number;
}

export interface LeasePresenceDependencies {
  /** Opens a separate connection. Calls `onEnd` when it is lost. */
  openSession(onEnd: () => void): DatabaseSession;
  log: Logger;
}

interface OwnerRow extends LostOwner {
  /** Whether this session holds the lock, or another one (false). Null if none does. */
  isOurs: boolean | null;
}

/**
 * Shows other processes that this one lives, and finds those that died. The process holds a session lock, which Postgres
 * releases when the connection ends. It keeps its id over a lost connection, unless another process has taken over meanwhile.
 */
export class LeasePresence {
  readonly #dependencies: LeasePresenceDependencies;
  #onDeath: (owner: LostOwner) => Promise<void> = async () => {};
  #session: DatabaseSession | null = null;
  /** Whether the session has taken the lock of `#id`. */
  #isLocked = false;
  #id: number | null = null;
  /** When the statement was sent that found our lock held, on the monotonic clock. */
  #provenAt = Number.NEGATIVE_INFINITY;
  /** Owners whose lock is free, and when this was first seen. */
  #suspects = new Map<string, number>();
  /** Owners whose deliveries are being taken over right now. */
  #takeOvers = new Set<string>();
  #hasWarned = false;
  #beating: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(dependencies: LeasePresenceDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * The id under which this process may claim and begin attempts. Null if others may not see that it lives: before the start,
   * and while its connection or the database is away. A lease without an owner is only over when it expires.
   */
  get owner(): number | null {
    return performance.now() - this.#provenAt < PROOF_MS ? this.#id : null;
  }

  /** Registers the process. Never rejects, and tries again until `stop`. `onDeath` is called until the owner's row is gone. */
  start(onDeath: (owner: LostOwner) => Promise<void>): Promise<void> {
    this.#onDeath = onDeath;
    return this.#beat();
  }

  /** Ends the connection. If leases are left, other processes take them over, as if this one had died. */
  async stop(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#beating;
    await this.#leaveSession();
  }

  /** Runs one beat after the other. */
  #beat(): Promise<void> {
    this.#beating = this.#beating.then(async () => {
      clearTimeout(this.#timer);
      if (!this.#isOver) await this.#prove();
      if (!this.#isOver) this.#timer = setTimeout(() => void this.#beat(), BEAT_MS);
    });
    return this.#beating;
  }

  async #prove(): Promise<void> {
    const limit = new AbortController();
    const late = delay(ANSWER_LIMIT_MS, undefined, { signal: limit.signal }).then(() => {
      throw new Error('the database does not answer');
    });
    late.catch(() => {});
    try {
      this.#session ??= this.#dependencies.openSession(() => this.#onSessionEnd());
      await Promise.race([this.#proveIn(this.#session), late]);
    } catch (error) {
      // Once it has worked, only an outage stops it, which has its own log lines. Before, it may be a pooler.
      const level = this.#id === null && !this.#hasWarned ? 'warn' : 'debug';
      this.#hasWarned = true;
      this.#dependencies.log[level]({ err: error }, UNSEEN);
      await this.#leaveSession();
    } finally {
      limit.abort();
    }
  }

  async #proveIn(session: DatabaseSession): Promise<void> {
    if (!this.#isLocked && !(await this.#takeLock(session))) return;
    const askedAt = performance.now();
    const owners = await session.query<OwnerRow>(LIST_OWNERS, []);
    const own = owners.find(({ id }) => id === this.#id);
    if (own?.isOurs === false) return this.#hide(session);
    if (!own?.isOurs) return this.#leaveSession();
    this.#provenAt = askedAt;
    this.#reportDeaths(owners.filter(({ isOurs }) => isOurs === null));
  }

  /** Takes the lock, of a new id if there is none or another process has taken over. False if the old session still has it. */
  async #takeLock(session: DatabaseSession): Promise<boolean> {
    if (this.#id !== null) {
      const [taken] = await session.query<{ isLocked: boolean }>(TAKE_LOCK, [this.#id]);
      if (!taken!.isLocked) return false;
      this.#isLocked = true;
      // A separate statement, because it must see what was committed before the lock was free.
      if ((await session.query(COUNT_LOCK, [this.#id])).length > 0) return true;
      this.#dependencies.log.warn({ leaseOwner: this.#id }, 'another process took over from this one');
    }
    const [registered] = await session.query<{ id: number }>(REGISTER, []);
    this.#id = registered!.id;
    this.#isLocked = true;
    return true;
  }

  #reportDeaths(free: LostOwner[]): void {
    const now = performance.now();
    const suspects = new Map<string, number>();
    for (const { id, locks } of free) {
      const name = `${id} ${locks}`;
      const since = this.#suspects.get(name) ?? now;
      suspects.set(name, since);
      if (now - since < PROOF_MS || this.#takeOvers.has(name)) continue;
      this.#takeOvers.add(name);
      this.#onDeath({ id, locks })
        .catch((error: unknown) =>
          this.#dependencies.log.warn({ err: error }, 'could not take over from a dead process; trying again'),
        )
        .finally(() => this.#takeOvers.delete(name));
    }
    this.#suspects = suspects;
  }

  /** Gives the presence up: through a pooler, other processes would see the pooler live, not this process. */
  async #hide(session: DatabaseSession): Promise<void> {
    await session.query(UNREGISTER, [this.#id]);
    this.#id = null;
    this.#isOver = true;
    this.#dependencies.log.warn({ err: new Error('a pooler hides the sessions of Postgres') }, UNSEEN);
    await this.#leaveSession();
  }

  /** A session that ends often comes back at once. If none was ever locked, the next beat tries again. */
  #onSessionEnd(): void {
    if (!this.#isLocked) return;
    this.#beating = this.#beating.then(() => this.#leaveSession());
    void this.#beat();
  }

  async #leaveSession(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    this.#isLocked = false;
    // Others have lost their connections too if the database was away. They get the time to come back.
    this.#suspects.clear();
    await session?.close();
  }
}

const LOCK = `pg_try_advisory_lock(${LOCK_CLASS}, id)`;

// The lock is taken before the row is visible to others.
const REGISTER = `
  with registered as (insert into lease_owners default values returning id)
  select id, ${LOCK} as "isLocked" from registered`;

const TAKE_LOCK = `select ${LOCK} as "isLocked" from (select $1::int as id) own`;

const COUNT_LOCK = 'update lease_owners set locks = locks + 1 where id = $1 returning id';

const UNREGISTER = 'delete from lease_owners where id = $1';

// A server that takes no writes proves nothing: it is perhaps no longer the primary, and the others look at another one.
const LIST_OWNERS = `
  select o.id, o.locks, l.pid = pg_backend_pid() as "isOurs"
    from lease_owners o
    left join pg_locks l
      on l.locktype = 'advisory' and l.classid = ${LOCK_CLASS} and l.objid = o.id and l.objsubid = 2 and l.granted
         and l.database = (select oid from pg_database where datname = current_database())
   where not current_setting('transaction_read_only')::boolean`;

/**
 * A CTE that removes the row of a lost owner (`$1`: its id, `$2`: its count of locks) and returns its id. It returns no row
 * if the owner is back, or if another process was faster. The lock keeps the owner from coming back before the commit.
 */
export const REMOVE_LOST_OWNER = `
  delete from lease_owners where id = $1 and locks = $2 and pg_try_advisory_xact_lock(${LOCK_CLASS}, id) returning id`;
