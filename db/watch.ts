import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { DatabaseAwayError, DatabaseBusyError, isUnavailable } from './errors';
import { followStatements, openSocket, type WaitingStatements, type WatchedSocket } from './postgres-internals';
import { createRenewal } from './renewal';

const TICK_MS = 250;
/** If an answer takes longer, the database is probed. */
const SUSPICIOUS_MS = 750;
/** If nothing arrives for so long during a probe, the database does not answer. */
const PROBE_MS = 1_500;
const PROBE_SLICES = 6;
const RETRY_MS = 250;
/** After a successful probe, the database is not probed again for this time, even if it is slow. */
const WELL_MS = 500;

/** Options of connections that a watch opens. `limitMs` is the time limit of a statement; null means no limit. */
export interface LineOptions {
  limitMs: () => number | null;
  /** How many statements may wait for an answer. Further ones are refused, and all while the database is away. */
  maxAsked?: number;
  /** Opens one connection and never another: postgres.js would run there what waited for the first one. */
  isSingle?: boolean;
  /** A connection gets a statement only when the one before is answered. Only for statements that go through `unsafe`. */
  isSerial?: boolean;
}

/** The load on all connections of a process at one moment. */
export interface Load {
  /** Statements that were sent or wait to be sent. */
  asked: number;
  /** Connections that are open or being opened. */
  connections: number;
  isAway: boolean;
}

/**
 * Keeps the process from hanging on a database that does not answer. If the network drops the packets of a connection, or
 * the server is stopped, the connection stays silent and postgres.js waits forever. So if an answer is late or a connection
 * fails, the watch probes the database on a new connection. If the probe fails too, the database is away: waiting
 * statements fail, and new ones are refused at once, until a new connection succeeds.
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

/** Creates the watch of a database. `onChange` is called with the reason when an outage begins, and with null when it is back. */
export function openWatch(options: {
  url: string;
  defaults: postgres.Options<never>;
  onChange: (fault: unknown) => void;
}): Watch {
  const lines = new Set<Line>();
  let isAway = false;
  let isClosed = false;
  let isExamining = false;
  /** A statement failed because the server is read-only. */
  let wasReadOnly = false;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let foundWellAt = Number.NEGATIVE_INFINITY;
  let probedAt = Number.NEGATIVE_INFINITY;
  let wasLate = false;
  let tickedAt = performance.now();
  const timer = setInterval(tick, TICK_MS).unref();

  function open(more: postgres.Options<never>, lineOptions: LineOptions): postgres.Sql {
    const sockets = new Set<WatchedSocket>();
    const opener = openSocket(options.url, sockets);
    const renewal = createRenewal(() => closeSockets(line, () => true));
    let isOpened = false;
    const socket: typeof opener = (address) => {
      if (isOpened && lineOptions.isSingle) throw new DatabaseAwayError('the connection is lost');
      isOpened = true;
      renewal.noteOpened();
      return opener!(address);
    };
    const onclose = (id: number) => {
      renewal.noteClosed();
      more.onclose?.(id);
    };
    const sql = postgres(options.url, { ...options.defaults, ...more, ...(opener ? { socket, onclose } : {}) });
    const statements = followStatements(sql, {
      ...(lineOptions.isSerial ? { isSerial: true } : {}),
      refuse: (waiting) => findRefusal(lineOptions, waiting),
      // Transactions choose their connections themselves.
      prepare: (waiting) => (lineOptions.isSingle ? null : renewal.begin(waiting === 0)),
      onAnswer() {
        renewal.noteUse();
        onAnswer();
      },
      onFailure(error) {
        renewal.noteUse();
        onFailure(error);
      },
    });
    const line: Line = { ...lineOptions, sockets, statements };
    lines.add(line);
    const { end } = sql;
    sql.end = async (ending) => {
      // postgres.js would also wait for statements that failed when their connection was lost.
      await end(statements.count() === 0 ? { timeout: 0 } : ending);
      // With a connection that is lost already, postgres.js ends at once and leaves the queue as it is.
      statements.review(() => new DatabaseAwayError('the connection is lost'));
      lines.delete(line);
      for (const left of line.sockets) left.destroy();
    };
    return sql;
  }

  function findRefusal({ maxAsked }: LineOptions, waiting: number): Error | null {
    if (maxAsked === undefined) return null;
    if (isKnownAway()) return new DatabaseAwayError('the database is away');
    return waiting >= maxAsked ? new DatabaseBusyError('too many statements are waiting') : null;
  }

  /** If the process was frozen since the last probe (on a serverless platform), the result of that probe is stale. */
  const isKnownAway = () => isAway && performance.now() - probedAt < PROBE_MS + 2 * RETRY_MS;

  function onAnswer() {
    answeredAt = performance.now();
  }

  function onFailure(error: unknown) {
    if (!isUnavailable(error)) return onAnswer();
    if (isReadOnly(error)) wasReadOnly = true;
    void examine();
  }

  function tick() {
    const now = performance.now();
    // After the process was blocked, answers have arrived that it has not read yet.
    const isLate = !wasLate && now - tickedAt > 4 * TICK_MS;
    tickedAt = now;
    wasLate = isLate;
    if (isLate) return;
    let isOverdue = false;
    for (const line of lines) {
      const limitMs = line.limitMs() ?? Number.POSITIVE_INFINITY;
      const checkWait = (since: number) => {
        if (now - since > SUSPICIOUS_MS) void examine();
        if (now - since > limitMs) isOverdue = true;
      };
      // Only the socket knows of a statement inside `begin`. Only `statements` knows of one that still waits after the
      // socket received the answer to another.
      for (const { askedAt } of line.sockets) if (askedAt !== null) checkWait(askedAt);
      line.statements.review(({ since, isQueued }) => {
        if (now - since <= SUSPICIOUS_MS) return null;
        // A statement that waits for a connection says nothing about the open connections.
        if (isQueued) void examine();
        else checkWait(since);
        return now - since > limitMs + 2 * TICK_MS ? timedOut() : null;
      });
    }
    if (isAway) failEverything();
    else if (isOverdue) closeSilentConnections(now);
  }

  /**
   * Closes all silent connections, idle ones too: if one connection is dead although the database answers new ones, the
   * others may be dead as well. Connections that run a statement without a time limit stay open.
   */
  function closeSilentConnections(now: number) {
    for (const line of lines) {
      const isLong = line.limitMs() === null;
      closeSockets(line, ({ askedAt, heardAt }) => {
        const waitedMs = now - Math.max(heardAt, askedAt ?? heardAt);
        return waitedMs > SUSPICIOUS_MS && !(isLong && askedAt !== null);
      });
    }
  }

  /** Probes the database, and repeats this until it answers. */
  async function examine() {
    if (isExamining || isClosed || performance.now() - foundWellAt < WELL_MS) return;
    isExamining = true;
    try {
      while (!isClosed) {
        probedAt = performance.now();
        const fault = await probe();
        // Open connections stay with a server that is no longer the primary, so close them.
        if (wasReadOnly) for (const line of lines) closeSockets(line, () => true);
        wasReadOnly = false;
        if (fault === null) {
          foundWellAt = performance.now();
          const wasAway = isAway;
          isAway = false;
          if (wasAway) options.onChange(null);
          return;
        }
        // While open connections still get answers, only new connections fail.
        if (!isAway && (isReadOnly(fault) || performance.now() - answeredAt > SUSPICIOUS_MS)) {
          isAway = true;
          options.onChange(fault);
        }
        if (isAway) failEverything();
        await delay(RETRY_MS, undefined, { ref: false });
      }
    } finally {
      isExamining = false;
    }
  }

  /** Queries the database on a new connection. Returns the fault, or null if the database answers and accepts writes. */
  async function probe(): Promise<unknown> {
    const sockets = new Set<WatchedSocket>();
    const socket = openSocket(options.url, sockets);
    const sql = postgres(options.url, {
      ...options.defaults,
      connect_timeout: 0,
      max: 1,
      ...(socket ? { socket } : {}),
    });
    const deadline = new AbortController();
    try {
      const asked = sql<
        { isReadOnly: boolean }[]
      >`select current_setting('transaction_read_only')::boolean as "isReadOnly"`;
      const late = passProbeTime(sockets, deadline.signal).then(() => {
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
   * Resolves when nothing has arrived on `sockets` for the time of a probe: a database on a busy machine is slow, but not away.
   * The time passes in slices, each with a turn of the event loop in which answers are read. So a process that is blocked for
   * long, or again and again, does not take the database for away.
   */
  async function passProbeTime(sockets: Set<WatchedSocket>, signal: AbortSignal) {
    let heardAt = Number.NEGATIVE_INFINITY;
    for (let left = PROBE_SLICES; left > 0; left--) {
      await delay(PROBE_MS / PROBE_SLICES, undefined, { ref: false, signal });
      await new Promise(setImmediate);
      for (const socket of sockets) {
        if (socket.heardAt > heardAt) left = PROBE_SLICES;
        heardAt = Math.max(heardAt, socket.heardAt);
      }
    }
    await new Promise(setImmediate);
  }

  /**
   * Fails all waiting statements and closes all connections. Idle ones may be dead too, and a statement on one of them would
   * get no answer.
   */
  function failEverything() {
    for (const line of lines) {
      closeSockets(line, () => true);
      if (line.maxAsked === undefined) continue;
      line.statements.review(({ isQueued }) => (isQueued ? new DatabaseAwayError('the database is away') : null));
    }
  }

  function closeSockets(line: Line, shouldClose: (socket: WatchedSocket) => boolean) {
    for (const socket of [...line.sockets].filter(shouldClose)) socket.destroy(timedOut());
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
