import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { DatabaseAwayError, DatabaseBusyError, isUnavailable } from './errors';
import { openSocket, type WatchedSocket } from './socket';

const TICK_MS = 250;
/** Without an answer for so long, a database is asked how it is. */
const SUSPICIOUS_MS = 750;
const PROBE_MS = 1_500;
const RETRY_MS = 250;
/** A database that was found well is not asked again at once, however slow it is. */
const WELL_MS = 500;

/** Connections as they are opened through a watch. `limitMs`: what a statement may take; null: nobody waits for it. */
export interface LineOptions {
  limitMs: () => number | null;
  /** How many statements may wait for an answer; more are refused, and so is every one while the database is away. */
  maxAsked?: number;
}

/** What is asked at a moment, of all connections of a process. */
export interface Load {
  /** Statements that were sent, or wait to be. */
  asked: number;
  /** Open connections, those that are just being opened among them. */
  connections: number;
  isAway: boolean;
}

/**
 * Keeps the process from hanging on a database that does not answer. An established connection whose network drops its
 * packets, or whose server is stopped, says nothing at all, and postgres.js waits for ever. Where an answer is late or a
 * connection has failed, a fresh connection asks how the database is; where that fails too, the database is away: what
 * waits fails, and what comes is refused at once, until a fresh connection succeeds.
 */
export interface Watch {
  open(options: postgres.Options<never>, line: LineOptions): postgres.Sql;
  /** Throws a DatabaseAwayError while the database is known to be away. */
  check(): void;
  load(): Load;
  close(): void;
}

/**
 * A statement of postgres.js 3.4: what it is made of and what it calls. There is no other way: it tells nobody when a
 * statement begins and ends (waiting for one would send it), and its `cancel` loses the connection that is being opened.
 */
interface Asked {
  strings: string[];
  args: unknown[];
  options: { onexecute?: unknown };
  /** Null until a connection takes it. */
  state: unknown;
  handler(query: Asked): void;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Ours, while it waits for an answer. */
  waiting?: Waiting;
}

interface Waiting {
  line: Line;
  since: number;
  /** Its index among those of its line. */
  place: number;
  resolve: Asked['resolve'];
  reject: Asked['reject'];
}

interface Line extends LineOptions {
  sockets: Set<WatchedSocket>;
  /** What waits for an answer, in no order. */
  asked: Asked[];
}

/** Takes a statement from those that wait, and gives it back what postgres.js calls. */
function endWaiting(query: Asked): void {
  const { waiting } = query;
  if (!waiting) return;
  query.waiting = undefined;
  query.resolve = waiting.resolve;
  query.reject = waiting.reject;
  const { asked } = waiting.line;
  const last = asked.pop()!;
  if (last === query) return;
  asked[waiting.place] = last;
  last.waiting!.place = waiting.place;
}

const timedOut = () => Object.assign(new Error('the database does not answer'), { code: 'ETIMEDOUT' });

const isReadOnly = (error: unknown) => (error as { code?: unknown }).code === '25006';

/** Creates the watch of a database. `onChange` is told when it goes away, and why, and when it is back (null). */
export function openWatch(options: {
  url: string;
  defaults: postgres.Options<never>;
  onChange: (fault: unknown) => void;
}): Watch {
  const lines = new Set<Line>();
  let isAway = false;
  let isClosed = false;
  let isExamining = false;
  /** Whether a statement found the server read-only. */
  let isMisled = false;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let foundWellAt = Number.NEGATIVE_INFINITY;
  let probedAt = Number.NEGATIVE_INFINITY;
  let wasLate = false;
  let tickedAt = performance.now();
  const timer = setInterval(tick, TICK_MS).unref();

  function open(more: postgres.Options<never>, lineOptions: LineOptions): postgres.Sql {
    const line: Line = { ...lineOptions, sockets: new Set(), asked: [] };
    const socket = openSocket(options.url, line.sockets);
    const sql = postgres(options.url, { ...options.defaults, ...more, ...(socket ? { socket } : {}) });
    lines.add(line);
    const { unsafe, end } = sql;
    // `begin` calls it too.
    sql.unsafe = ((...args: Parameters<typeof unsafe>) => {
      const query = unsafe(...args) as unknown as Asked;
      const { handler } = query;
      query.handler = () => ask(line, query, handler);
      return query;
    }) as unknown as typeof unsafe;
    sql.end = async (ending) => {
      await end(ending);
      lines.delete(line);
      for (const left of line.sockets) left.destroy();
    };
    return sql;
  }

  function ask(line: Line, query: Asked, send: (query: Asked) => void) {
    const now = performance.now();
    if (line.maxAsked !== undefined) {
      if (isKnownAway(now)) return query.reject(new DatabaseAwayError('the database is away'));
      if (line.asked.length >= line.maxAsked) return query.reject(new DatabaseBusyError('too much is asked already'));
    }
    const { resolve, reject } = query;
    query.waiting = { line, since: now, place: line.asked.length, resolve, reject };
    line.asked.push(query);
    query.resolve = resolveAsked;
    query.reject = rejectAsked;
    send(query);
  }

  // One function each for all statements: a closure that holds its statement took the rows of an answer along into the old
  // generation, a fifth of the time of a page.
  function resolveAsked(this: Asked, value: unknown) {
    endWaiting(this);
    answeredAt = performance.now();
    this.resolve(value);
  }

  function rejectAsked(this: Asked, error: unknown) {
    endWaiting(this);
    note(error);
    this.reject(error);
  }

  /** A process that stood still in between (a serverless platform's) knows nothing. */
  const isKnownAway = (now: number) => isAway && now - probedAt < PROBE_MS + 2 * RETRY_MS;

  function note(error: unknown) {
    if (!isUnavailable(error)) {
      answeredAt = performance.now();
      return;
    }
    if (isReadOnly(error)) isMisled = true;
    void examine();
  }

  function tick() {
    const now = performance.now();
    // After a standstill of the process, answers have come that nobody has read yet.
    const isLate = !wasLate && now - tickedAt > 4 * TICK_MS;
    tickedAt = now;
    wasLate = isLate;
    if (isLate) return;
    let isOverdue = false;
    for (const line of lines) {
      const limitMs = line.limitMs() ?? Number.POSITIVE_INFINITY;
      const judge = (since: number) => {
        if (now - since > SUSPICIOUS_MS) void examine();
        if (now - since > limitMs) isOverdue = true;
      };
      // What runs inside of `begin` is known to its socket alone, and what waits after another answer to us alone.
      for (const { askedAt } of line.sockets) if (askedAt !== null) judge(askedAt);
      for (const query of [...line.asked]) {
        const { since } = query.waiting!;
        if (now - since <= SUSPICIOUS_MS) continue;
        // One that waits for a connection tells nothing about those that there are.
        if (query.state === null) void examine();
        else judge(since);
        if (now - since > limitMs + 2 * TICK_MS) withdraw(query, timedOut());
      }
    }
    if (isAway) letGo();
    else if (isOverdue) loseSilent(now);
  }

  /**
   * One connection was dead although the database answers new ones: so may be all that are silent, those at rest among
   * them. What works on something long is left alone.
   */
  function loseSilent(now: number) {
    for (const line of lines) {
      const isLong = line.limitMs() === null;
      cut(line, ({ askedAt, heardAt }) => {
        const waitedMs = now - Math.max(heardAt, askedAt ?? heardAt);
        return waitedMs > SUSPICIOUS_MS && !(isLong && askedAt !== null);
      });
    }
  }

  /** Finds out whether the database answers, and asks again and again while it does not. */
  async function examine() {
    if (isExamining || isClosed || performance.now() - foundWellAt < WELL_MS) return;
    isExamining = true;
    try {
      while (!isClosed) {
        probedAt = performance.now();
        const fault = await probe();
        // Connections to a server that is no primary any more stay with it until they are closed.
        if (isMisled) for (const line of lines) cut(line, () => true);
        isMisled = false;
        if (fault === null) {
          foundWellAt = performance.now();
          if (isAway) options.onChange(null);
          isAway = false;
          return;
        }
        // As long as others are answered, only new connections fail.
        if (!isAway && (isReadOnly(fault) || performance.now() - answeredAt > SUSPICIOUS_MS)) {
          isAway = true;
          options.onChange(fault);
        }
        if (isAway) letGo();
        await delay(RETRY_MS, undefined, { ref: false });
      }
    } finally {
      isExamining = false;
    }
  }

  /** Asks on a connection of its own. Answers what is wrong, or null where the database answers and can be written to. */
  async function probe(): Promise<unknown> {
    const sockets = new Set<WatchedSocket>();
    const socket = openSocket(options.url, sockets);
    const sql = postgres(options.url, { ...options.defaults, max: 1, ...(socket ? { socket } : {}) });
    const deadline = new AbortController();
    try {
      const asked = sql<
        { isReadOnly: boolean }[]
      >`select current_setting('transaction_read_only')::boolean as "isReadOnly"`;
      const late = delay(PROBE_MS, undefined, { ref: false, signal: deadline.signal }).then(async () => {
        // What has come during a standstill of the process is read first.
        await new Promise(setImmediate);
        await new Promise(setImmediate);
        throw timedOut();
      });
      late.catch(() => {});
      const [row] = await Promise.race([asked, late]);
      return row!.isReadOnly ? Object.assign(new Error('the database is read-only'), { code: '25006' }) : null;
    } catch (error) {
      return isUnavailable(error) ? error : null;
    } finally {
      deadline.abort();
      sql.end({ timeout: 0 }).catch(() => {});
      for (const left of sockets) left.destroy();
    }
  }

  /**
   * Of a database that is away: ends what waits for it, and all connections. Those at rest may have died as well, and who
   * took one of them afterwards would wait in vain.
   */
  function letGo() {
    for (const line of lines) {
      cut(line, () => true);
      if (line.maxAsked === undefined) continue;
      for (const query of [...line.asked]) {
        if (query.state === null) withdraw(query, new DatabaseAwayError('the database is away'));
      }
    }
  }

  function cut(line: Line, isIt: (socket: WatchedSocket) => boolean) {
    for (const socket of [...line.sockets].filter(isIt)) socket.destroy(timedOut());
  }

  return {
    open,
    check() {
      if (isKnownAway(performance.now())) throw new DatabaseAwayError('the database is away');
    },
    load() {
      let asked = 0;
      let connections = 0;
      for (const line of lines) {
        asked += line.asked.length;
        connections += line.sockets.size;
      }
      return { asked, connections, isAway };
    },
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}

/**
 * Fails a statement. postgres.js can take none back that waits for a connection (a connection that is being opened for it
 * would never be used again): it stays in its queue as one that does nothing.
 */
function withdraw(query: Asked, error: Error) {
  if (query.state === null) {
    query.strings = ['select 1'];
    query.args = [];
    query.options.onexecute = undefined;
  }
  query.reject(error);
}
