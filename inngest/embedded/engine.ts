import { setTimeout as delay } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { cronRuns } from './crons';
import { Driver } from './driver';
import { type EngineFunction, type Handler, listFunctions } from './functions';
import { takeEvents } from './intake';
import { graphileLogger, type Log } from './log';
import { migrateEngine } from './schema';
import { Presence, Store } from './store';
import { Workers } from './workers';

/** Inngest in this process: the same functions, their runs and timers kept in Postgres. */
export interface EmbeddedEngine {
  /** The `fetch` of `new Inngest({ fetch })`: takes events; resolves when they and the runs they start are committed. */
  fetch: typeof globalThis.fetch;
  start(): Promise<void>;
  /** Takes no more work, waits up to `graceMs` for running calls, then hands the rest back at once. */
  stop(graceMs: number): Promise<void>;
}

export interface EmbeddedEngineOptions {
  databaseUrl: string;
  /** The application's pool, for the engine's own tables. */
  sql: Sql;
  /** The SDK's serve handler. */
  handler: Handler;
  log: Log;
  /** How many calls run at a time: they wait on I/O, and a hung tenant's must not fill them all. */
  slots?: number;
}

const DEFAULT_SLOTS = 200;
/** How late a timer can be that was set after the last pulse; known ones get a pulse of their own. */
const PULSE_MS = 500;
const SHORTEST_PULSE_MS = 20;
const PRESENCE_PULSES = 10;
const PRUNE_PULSES = 120;
const REPLACE_MS = 5000;

/** Creates the engine. Functions it cannot run are refused by `start`. */
export function createEmbeddedEngine(options: EmbeddedEngineOptions): EmbeddedEngine {
  const engine = new Engine(options);
  return {
    fetch: (input, init) => engine.take(new Request(input, init)),
    start: () => engine.start(),
    stop: (graceMs) => engine.stop(graceMs),
  };
}

class Engine {
  private readonly store: Store;
  private readonly functions = new Map<string, EngineFunction>();
  private readonly driver: Driver;
  private readonly session: Sql;
  private readonly presence: Presence;
  private readonly workers: Workers;
  private isStarted = false;
  private stopping: Promise<void> | null = null;
  private pulses = 0;
  private minute: number | null = null;
  private isAway = false;
  private replacedAt = 0;
  private pulseTimer: NodeJS.Timeout | undefined;
  private pulsing: Promise<void> = Promise.resolve();
  private pruning: Promise<void> | null = null;

  constructor(private readonly options: EmbeddedEngineOptions) {
    const { databaseUrl, sql, handler, log, slots = DEFAULT_SLOTS } = options;
    this.store = new Store(sql);
    this.driver = new Driver(this.functions, handler, this.store, log);
    this.session = postgres(databaseUrl, {
      max: 1,
      max_lifetime: null,
      connect_timeout: 5,
      backoff: () => 0.5,
      onnotice: () => {},
      // The lock of a machine that vanished is free within half a minute.
      connection: {
        application_name: 'engine',
        tcp_keepalives_idle: 10,
        tcp_keepalives_interval: 5,
        tcp_keepalives_count: 3,
      },
    });
    this.presence = new Presence(this.session);
    this.workers = new Workers({
      databaseUrl,
      slots,
      logger: graphileLogger(log),
      execute: (job) => this.driver.execute(job),
      register: (workerIds) => this.presence.register(workerIds),
    });
  }

  async take(request: Request): Promise<Response> {
    if (request.method !== 'POST' || !new URL(request.url).pathname.startsWith('/e/')) {
      return Response.json({ error: 'the embedded engine takes only events' }, { status: 404 });
    }
    if (!this.isStarted)
      return Response.json({ status: 503, error: 'the embedded engine has not started' }, { status: 503 });
    return takeEvents(request, this.functions, this.store);
  }

  async start(): Promise<void> {
    if (this.isStarted || this.stopping) throw new Error('embedded engine: start() was called before');
    try {
      for (const fn of await listFunctions(this.options.handler)) this.functions.set(fn.id, fn);
      await migrateEngine(this.session, this.options.databaseUrl, graphileLogger(this.options.log));
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
    const drained = this.workers.drain();
    if (!(await settlesWithin(drained, graceMs))) {
      this.driver.abandon();
      const jobs = this.workers.activeJobIds;
      await this.presence.handBack(this.workers.ids).catch(() => {});
      this.workers.release();
      this.options.log.warn({ jobs: jobs.length }, 'engine: stopped before all calls had ended; they were handed back');
      await drained;
    }
    await this.pulsing;
    await this.pruning;
    // Without a database the next process sees the lock gone and does the same.
    await this.presence.leave().catch(() => {});
    await this.session.end({ timeout: 1 });
  }

  /** The engine's heartbeat: one statement says that the process lives and what is due. */
  private async pulse(): Promise<void> {
    this.pulsing = this.beat();
    await this.pulsing;
  }

  private async beat(): Promise<void> {
    let nextMs = PULSE_MS;
    try {
      const pulse = await this.presence.pulse(this.options.slots ?? DEFAULT_SLOTS);
      this.workers.nudge(pulse.due);
      await this.fireCrons(pulse.minute);
      const isReplaced = await this.replaceDamagedWorkers();
      if (isReplaced || this.pulses % PRESENCE_PULSES === 0) await this.tidyJobs();
      if (this.pulses % PRUNE_PULSES === 0) this.pruning ??= this.prune();
      this.pulses++;
      nextMs = Math.min(PULSE_MS, Math.max(SHORTEST_PULSE_MS, pulse.nextMs ?? PULSE_MS));
      if (this.isAway) this.options.log.info({}, 'engine: the database is back');
      this.isAway = false;
    } catch (error) {
      if (!this.isAway) this.options.log.error({ error: String(error) }, 'engine: the database does not answer');
      this.isAway = true;
    }
    if (!this.stopping) this.pulseTimer = setTimeout(() => void this.pulse(), Math.ceil(nextMs));
  }

  /** Starts the runs of crons once per minute; the minutes of a time without engine or database are skipped. */
  private async fireCrons(minute: number): Promise<void> {
    if (minute === this.minute) return;
    if (this.minute !== null) await this.store.startRuns(cronRuns(this.functions.values(), minute));
    this.minute = minute;
  }

  private async tidyJobs(): Promise<void> {
    await this.presence.register(this.workers.ids);
    const released = await this.presence.releaseOrphans(this.workers.ids, this.workers.activeJobIds);
    if (released > 0) this.options.log.warn({ jobs: released }, 'engine: took back jobs of a process that died');
  }

  private async prune(): Promise<void> {
    try {
      while ((await this.store.prune()) && !this.stopping) await delay(50);
    } catch (error) {
      this.options.log.warn({ error: String(error) }, 'engine: pruning failed');
    } finally {
      this.pruning = null;
    }
  }

  private async replaceDamagedWorkers(): Promise<boolean> {
    if (!this.workers.isDamaged || this.stopping || Date.now() - this.replacedAt < REPLACE_MS) return false;
    this.replacedAt = Date.now();
    await this.workers.start();
    this.options.log.warn({}, 'engine: workers replaced after trouble with the database');
    return true;
  }
}

async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const isSettled = await Promise.race([
    promise.then(() => true),
    delay(ms, false, { signal: timer.signal }).catch(() => false),
  ]);
  timer.abort();
  return isSettled;
}
