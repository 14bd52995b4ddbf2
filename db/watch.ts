import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { DatabaseAwayError, DatabaseBusyError, isUnavailable } from './errors';
import { followStatements, openSocket, type WaitingStatements, type WatchedSocket } from './postgres-internals';

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

interface Line extends LineOptions {
  sockets: Set<WatchedSocket>;
  statements: WaitingStatements;
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
    const sockets = new Set<WatchedSocket>();
    const socket = openSocket(options.url, sockets);
    const sql = postgres(options.url, { ...options.defaults, ...more, ...(socket ? { socket } : {}) });
    const statements = followStatements(sql, {
      refuse: (waiting) => findRefusal(lineOptions, waiting),
      onAnswer,
      onFailure,
    });
    const line: Line = { ...lineOptions, sockets, statements };
    lines.add(line);
    const { end } = sql;
    sql.end = async (ending) => {
      await end(ending);
      lines.delete(line);
      for (const left of line.sockets) left.destroy();
    };
    return sql;
  }

  function findRefusal({ maxAsked }: LineOptions, waiting: number): Error | null {
    if (maxAsked === undefined) return null;
    if (isKnownAway()) return new DatabaseAwayError('the database is away');
    return waiting >= maxAsked ? new DatabaseBusyError('too much is asked already') : null;
  }

  /** A process that stood still in between (a serverless platform's) knows nothing. */
  const isKnownAway = () => isAway && performance.now() - probedAt < PROBE_MS + 2 * RETRY_MS;

  function onAnswer() {
    answeredAt = performance.now();
  }

  function onFailure(error: unknown) {
    if (!isUnavailable(error)) return onAnswer();
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
      line.statements.review(({ since, isQueued }) => {
        if (now - since <= SUSPICIOUS_MS) return null;
        // One that waits for a connection tells nothing about those that there are.
        if (isQueued) void examine();
        else judge(since);
        return now - since > limitMs + 2 * TICK_MS ? timedOut() : null;
      });
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
      line.statements.review(({ isQueued }) => (isQueued ? new DatabaseAwayError('the database is away') : null));
    }
  }

  function cut(line: Line, isIt: (socket: WatchedSocket) => boolean) {
    for (const socket of [...line.sockets].filter(isIt)) socket.destroy(timedOut());
  }

  return {
    open,
    check() {
      if (isKnownAway()) throw new DatabaseAwayError('the database is away');
    },
    load() {
      let asked = 0;
      let connections = 0;
      for (const line of lines) {
        asked += line.statements.count();
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
