import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { listCronRuns } from './crons';
import { Driver } from './driver';
import { type EngineFunction, type FetchHandler, listFunctions } from './functions';
import { takeEvents } from './intake';
import { createGraphileLogger, type Log } from './log';
import { ENGINE_SESSION } from './pool';
import { Presence, ReadOnlyServerError } from './presence';
import { migrateEngine } from './schema';
import { Store } from './store';
import { Workers } from './workers';

/** Runs Inngest functions in this process. Their runs and timers are stored in Postgres. */
export interface EmbeddedEngine {
  /** For `new Inngest({ fetch })`. It accepts events, and resolves when they and the runs that they start are committed. */
  fetch: typeof globalThis.fetch;
  start(): Promise<void>;
  /** Whether the engine runs, holds its lock and takes jobs. */
  isWorking(): boolean;
  /** Stops taking work and waits up to `graceMs` for running calls. Then it releases their jobs to other processes. */
  stop(graceMs: number): Promise<void>;
}

export interface EmbeddedEngineOptions {
  databaseUrl: string;
  /** The application's pool, for the engine's own tables. */
  sql: Sql;
  /** Opens the connection of the engine's own session. If absent, postgres.js opens it. */
  socket?: ((address: { host: string[]; port: number[] }) => Socket) | null;
  /** The SDK's serve handler. */
  handler: FetchHandler;
  log: Log;
  /** How many calls run at a time. It is large, because calls wait on I/O and one hanging tenant must not fill all slots. */
  slots?: number;
}

const DEFAULT_SLOTS = 200;
/** The time between two pulses. A timer set after the last pulse may be late by this; for known timers, a pulse comes earlier. */
const PULSE_MS = 500;
const SHORTEST_PULSE_MS = 20;
const PRESENCE_PULSES = 6;
const PRUNE_PULSES = 120;
const REPLACE_MS = 5000;
/** If the session's connection is silent for longer, it is closed and opened again. */
const SILENCE_MS = 5000;
/** While stopping, each statement may wait this long for a database that does not answer. */
const LEAVE_MS = 2000;

/** Creates the engine. `start` rejects if there are functions that it cannot run. */
export function createEmbeddedEngine(options: EmbeddedEngineOptions): EmbeddedEngine {
  const engine = new Engine(options);
  return {
    fetch: (input, init) => engine.take(new Request(input, init)),
    start: () => engine.start(),
    isWorking: () => engine.isWorking,
    stop: (graceMs) => engine.stop(graceMs),
  };
}

class Engine {
  private readonly store: Store;
  private readonly functions = new Map<string, EngineFunction>();
  private readonly driver: Driver;
  private readonly session: Sql;
  private socket: Socket | null = null;
  private readonly presence: Presence;
  private readonly workers: Workers;
  private preparing: Promise<void> | null = null;
  private isStarted = false;
  private stopping: Promise<void> | null = null;
  private pulses = 0;
  private minute: number | null = null;
  private isAway = false;
  /** When the workers were last replaced, on the monotonic clock. */
  private replacedAt = Number.NEGATIVE_INFINITY;
  private pulseTimer: NodeJS.Timeout | undefined;
  private pulsing: Promise<void> = Promise.resolve();
  private pruning: Promise<void> | null = null;

  constructor(private readonly options: EmbeddedEngineOptions) {
    const { databaseUrl, sql, socket, handler, log, slots = DEFAULT_SLOTS } = options;
    this.store = new Store(sql);
    this.driver = new Driver(this.functions, handler, this.store, log);
    this.session = postgres(databaseUrl, {
      ...(socket ? { socket: (address: { host: string[]; port: number[] }) => (this.socket = socket(address)) } : {}),
      max: 1,
      max_lifetime: null,
      fetch_types: false,
      connect_timeout: 5,
      backoff: () => 0.5,
      onnotice: () => {},
      onclose: () => this.presence.forgetSuspects(),
      // With these limits, the lock of a machine that vanished is released within half a minute. Keepalives alone do not do it:
      // Linux sends none while an answer is not acknowledged.
      connection: {
        application_name: 'engine',
        ...ENGINE_SESSION,
        tcp_keepalives_idle: 10,
        tcp_keepalives_interval: 5,
        tcp_keepalives_count: 3,
        tcp_user_timeout: 25_000,
      },
    });
    this.presence = new Presence(this.session);
    this.workers = new Workers({
      databaseUrl,
      slots,
      logger: createGraphileLogger(log),
      execute: (job) => this.driver.execute(job),
      register: (workerIds) => this.limitSilence(this.presence.register(workerIds)),
    });
  }

  get isWorking(): boolean {
    return this.isStarted && !this.stopping && !this.isAway && !this.workers.isDamaged;
  }

  async take(request: Request): Promise<Response> {
    if (request.method !== 'POST' || !new URL(request.url).pathname.startsWith('/e/')) {
      return Response.json({ error: 'the embedded engine takes only events' }, { status: 404 });
    }
    // The engine may never have been started here: the runs of an operator's command are left to the running processes.
    await this.prepare();
    return takeEvents(request, this.functions, this.store);
  }

  /** Reads the functions and migrates the tables, once. */
  private prepare(): Promise<void> {
    this.preparing ??= (async () => {
      for (const fn of await listFunctions(this.options.handler)) this.functions.set(fn.id, fn);
      await migrateEngine(this.session, this.options.databaseUrl, createGraphileLogger(this.options.log));
    })().catch((error: unknown) => {
      this.preparing = null;
      throw error;
    });
    return this.preparing;
  }

  async start(): Promise<void> {
    if (this.isStarted || this.stopping) throw new Error('embedded engine: start() was called before');
    try {
      await this.prepare();
      await this.presence.enter();
      this.isStarted = true;
      await this.workers.start();
      await this.pulse();
    } catch (error) {
      await this.stop(0);
      throw error;
    }
    this.options.log.info({ functions: this.functions.size }, 'engine: started');
  }

  stop(graceMs: number): Promise<void> {
    this.stopping ??= this.end(graceMs);
    return this.stopping;
  }

  private async end(graceMs: number): Promise<void> {
    clearTimeout(this.pulseTimer);
    // If no job is running, only the database can delay the stop.
    const patienceMs = this.workers.activeJobIds.length > 0 ? graceMs : Math.min(graceMs, LEAVE_MS);
    const drained = this.workers.drain();
    const isDrained = await settlesWithin(drained, patienceMs);
    const { ids, activeJobIds } = this.workers;
    if (!isDrained) {
      const jobs = activeJobIds.length;
      if (jobs > 0) this.options.log.warn({ jobs }, 'engine: stopped before all calls ended; their jobs are released');
      this.driver.abandon();
      this.workers.release();
    }
    await settlesWithin(Promise.all([drained, this.pulsing, this.pruning]), LEAVE_MS);
    // Not before the workers' connections are closed: one that was about to take a job could take what was just unlocked.
    if (!isDrained) await settlesWithin(this.presence.handBack(ids), LEAVE_MS);
    // If the database is away, the next process finds the lock free and cleans up.
    await settlesWithin(this.presence.leave(), LEAVE_MS);
    await this.session.end({ timeout: 1 });
  }

  /** The engine's heartbeat. One statement shows other processes that this one lives, and reads which runs are due. */
  private async pulse(): Promise<void> {
    this.pulsing = this.beat();
    await this.pulsing;
  }

  private async beat(): Promise<void> {
    let nextMs = PULSE_MS;
    try {
      const pulse = await this.limitSilence(this.presence.pulse(this.options.slots ?? DEFAULT_SLOTS));
      this.workers.nudge(pulse.due);
      await this.fireCrons(pulse.minute);
      const isReplaced = await this.replaceDamagedWorkers();
      if (isReplaced || this.presence.isLookDue || this.pulses % PRESENCE_PULSES === 0) await this.tidyJobs();
      if (this.pulses % PRUNE_PULSES === 0) this.pruning ??= this.prune();
      this.pulses++;
      nextMs = Math.min(PULSE_MS, Math.max(SHORTEST_PULSE_MS, pulse.nextMs ?? PULSE_MS));
      if (this.isAway) this.options.log.info({}, 'engine: the database is back');
      this.isAway = false;
    } catch (error) {
      if (!this.isAway) this.options.log.error({ error: String(error) }, 'engine: the database does not answer');
      this.isAway = true;
      if (error instanceof ReadOnlyServerError) this.socket?.destroy(error);
      // The workers' connections may be dead too.
      this.workers.isDamaged = true;
    }
    if (!this.stopping) this.pulseTimer = setTimeout(() => void this.pulse(), Math.ceil(nextMs));
  }

  /** Closes the connection if an answer takes too long. If the network drops all packets, it would never answer nor end. */
  private async limitSilence<T>(answer: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.socket?.destroy(new Error('the database does not answer')), SILENCE_MS);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Starts the runs of crons once per minute. Minutes in which the engine or the database was down are skipped. */
  private async fireCrons(minute: number): Promise<void> {
    if (minute === this.minute) return;
    if (this.minute !== null) await this.store.startRuns(listCronRuns(this.functions.values(), minute));
    this.minute = minute;
  }

  private async tidyJobs(): Promise<void> {
    await this.limitSilence(this.presence.register(this.workers.ids));
    const { ids, activeJobIds } = this.workers;
    const released = await this.limitSilence(this.presence.releaseOrphans(ids, activeJobIds));
    if (released > 0)
      this.options.log.warn({ jobs: released }, 'engine: released jobs of a process that is dead or hangs');
  }

  private async prune(): Promise<void> {
    try {
      while ((await this.store.prune([...this.functions.keys()])) && !this.stopping) await delay(50);
    } catch (error) {
      this.options.log.warn({ error: String(error) }, 'engine: pruning failed');
    } finally {
      this.pruning = null;
    }
  }

  private async replaceDamagedWorkers(): Promise<boolean> {
    if (!this.workers.isDamaged || this.stopping || performance.now() - this.replacedAt < REPLACE_MS) return false;
    this.replacedAt = performance.now();
    await this.workers.start();
    this.options.log.warn({}, 'engine: replaced the workers after database errors');
    return true;
  }
}

async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const isSettled = await Promise.race([
    promise.then(
      () => true,
      () => true,
    ),
    delay(ms, false, { signal: timer.signal }).catch(() => false),
  ]);
  timer.abort();
  return isSettled;
}
