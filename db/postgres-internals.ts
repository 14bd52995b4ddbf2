import { connect, type Socket } from 'node:net';
import type postgres from 'postgres';

// Everything that reaches into the inside of postgres.js 3.4: its statements, its sockets and its parsers.
// `tests/domain/library-internals.test.ts` fails when an upgrade moves what stands here.

/** What a pool tells of its statements. */
export interface StatementListener {
  /** Answers why a statement must not be sent; null where it may. `waiting` statements wait for an answer already. */
  refuse(waiting: number): Error | null;
  onAnswer(): void;
  onFailure(error: unknown): void;
}

/** The statements of a pool that wait for an answer. */
export interface WaitingStatements {
  count(): number;
  /** Fails those for which `judge` answers an error. `isQueued`: no connection has taken it yet. */
  review(judge: (statement: { since: number; isQueued: boolean }) => Error | null): void;
}

/** A statement: what it is made of and what postgres.js calls. */
interface Statement {
  strings: string[];
  args: unknown[];
  /** Null until a connection takes it. */
  state: unknown;
  handler(statement: Statement): void;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Ours, while it waits for an answer. */
  waiting?: Waiting;
}

interface Waiting {
  pool: { waiting: Statement[]; listener: StatementListener };
  since: number;
  /** Its index among those of its pool. */
  place: number;
  resolve: Statement['resolve'];
  reject: Statement['reject'];
}

/**
 * Follows the statements of a pool that go through `unsafe`, and `begin`, which calls it. Replaces what they call: postgres.js
 * tells nobody when a statement begins and ends, and waiting for one would send it.
 */
export function followStatements(sql: postgres.Sql, listener: StatementListener): WaitingStatements {
  const pool: Waiting['pool'] = { waiting: [], listener };
  const { unsafe } = sql;
  sql.unsafe = ((...args: Parameters<typeof unsafe>) => {
    const statement = unsafe(...args) as unknown as Statement;
    const { handler } = statement;
    statement.handler = () => {
      const refusal = listener.refuse(pool.waiting.length);
      if (refusal) return statement.reject(refusal);
      beginWaiting(pool, statement);
      handler(statement);
    };
    return statement;
  }) as unknown as typeof unsafe;
  return {
    count: () => pool.waiting.length,
    review(judge) {
      for (const statement of [...pool.waiting]) {
        const error = judge({ since: statement.waiting!.since, isQueued: statement.state === null });
        if (error) failStatement(statement, error);
      }
    },
  };
}

function beginWaiting(pool: Waiting['pool'], statement: Statement): void {
  const { resolve, reject } = statement;
  statement.waiting = { pool, since: performance.now(), place: pool.waiting.length, resolve, reject };
  pool.waiting.push(statement);
  statement.resolve = resolveWaiting;
  statement.reject = rejectWaiting;
}

// One function each for all statements: a closure that holds its statement took the rows of an answer along into the old
// generation, a fifth of the time of a page.
function resolveWaiting(this: Statement, value: unknown): void {
  const { listener } = endWaiting(this);
  listener.onAnswer();
  this.resolve(value);
}

function rejectWaiting(this: Statement, error: unknown): void {
  const { listener } = endWaiting(this);
  listener.onFailure(error);
  this.reject(error);
}

/** Takes a statement from those that wait, and gives it back what postgres.js calls. */
function endWaiting(statement: Statement): Waiting['pool'] {
  const { pool, place, resolve, reject } = statement.waiting!;
  statement.waiting = undefined;
  statement.resolve = resolve;
  statement.reject = reject;
  const last = pool.waiting.pop()!;
  if (last !== statement) {
    pool.waiting[place] = last;
    last.waiting!.place = place;
  }
  return pool;
}

/**
 * Fails a statement. Empties one that waits for a connection: postgres.js can take none back (its `cancel` loses a connection
 * that is being opened), so it stays in the queue and does nothing.
 */
function failStatement(statement: Statement, error: Error): void {
  if (statement.state === null) {
    statement.strings = ['select 1'];
    statement.args = [];
  }
  statement.reject(error);
}

/** A connection, with the times of its last question and answer. */
export interface WatchedSocket extends Socket {
  /** Since when it has waited for an answer to what was written; null where something came since. */
  askedAt: number | null;
  heardAt: number;
}

export type SocketOpener = (address: { host: string[]; port: number[] }) => Socket;

/**
 * Creates the `socket` option of postgres.js, which opens its connections. Without it postgres.js connects again and again,
 * without a pause, when a connection ends before it is ready: the peer hangs up without a word (a balancer whose backend is
 * down), or refuses (a server that is starting) after a connection was lost in the middle of a query. Statements wait as
 * long. With it every end is an error, and the statement fails. Lists of hosts and socket files are left to postgres.js
 * (null). `opened` holds the open connections.
 */
export function openSocket(url: string, opened: Set<WatchedSocket>): SocketOpener | null {
  if (/[,%]/.test(new URL(url).hostname)) return null;
  return ({ host: [host], port: [port] }) => {
    const socket = Object.assign(connect({ host: host!, port: port! }), { askedAt: null, heardAt: performance.now() });
    opened.add(socket);
    watchEvents(socket, () => opened.delete(socket));
    watchWrites(socket);
    // postgres.js reads the name that TLS verifies from the socket.
    return Object.assign(socket, { host, port });
  };
}

/**
 * Notes what arrives. Tells postgres.js of an end as an error first, so that the statements under way fail, and of the close
 * only after it has written what these failures made it write (a ROLLBACK, say): it writes in an immediate, and a write after
 * it has let go of a closed socket ends the process (porsager/postgres#1208). Replaces `emit`: postgres.js removes all
 * listeners of a socket, ours too.
 */
function watchEvents(socket: WatchedSocket, onEnd: () => void): void {
  const emit = socket.emit.bind(socket) as (event: string | symbol, argument?: unknown) => boolean;
  const fail = () => emit('error', Object.assign(new Error('the database has hung up'), { code: 'ECONNRESET' }));
  const end = (hadError: boolean) => {
    // Fails what was written since; where nothing is under way, an error changes nothing.
    fail();
    emit('close', hadError);
  };
  socket.emit = (event: string | symbol, argument?: unknown) => {
    if (event === 'data') {
      socket.askedAt = null;
      socket.heardAt = performance.now();
    }
    if (event !== 'close') return emit(event, argument);
    onEnd();
    if (!argument) fail();
    setImmediate(() => setImmediate(() => setTimeout(end, 0, Boolean(argument))));
    return true;
  };
}

/**
 * Notes when something is asked, and hands the system all writes of one turn in one piece. Replaces `write`: postgres.js
 * writes each longer statement separately.
 */
function watchWrites(socket: WatchedSocket): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  const uncork = () => socket.uncork();
  socket.write = (...args: unknown[]) => {
    socket.askedAt ??= performance.now();
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(uncork);
    }
    return write(...args);
  };
}

/** Functions that read the text of a value, by the number of its type in Postgres. */
export type Parsers = Record<number, (text: string) => unknown>;

/**
 * Sets parsers of a pool and answers all that it has then. Changes the pool's own table: Drizzle replaces in it what is given
 * as an option.
 */
export const setParsers = (sql: postgres.Sql, parsers: Parsers): Parsers => Object.assign(sql.options.parsers, parsers);
