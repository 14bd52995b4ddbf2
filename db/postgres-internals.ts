import { connect, type Socket } from 'node:net';
import tls from 'node:tls';
import postgres from 'postgres';

// Everything that uses internals of postgres.js 3.4: its statements, its sockets and its parsers.
// `tests/domain/library-internals.test.ts` fails if an upgrade changes one of them.

/** Callbacks about the statements of a pool. */
export interface StatementListener {
  /** Whether a connection gets a statement only when the one before is answered. */
  isSerial?: boolean;
  /** Returns an error if a statement must not be sent, else null. `waiting` is the number of unanswered statements. */
  refuse(waiting: number): Error | null;
  /** Returns what a statement must wait for before a connection takes it; null if nothing. */
  prepare(waiting: number): Promise<void> | null;
  onAnswer(): void;
  onFailure(error: unknown): void;
}

/** The unanswered statements of a pool. */
export interface WaitingStatements {
  count(): number;
  /** Fails the statements for which `judge` returns an error. `isQueued`: no connection has taken the statement yet. */
  review(judge: (statement: { since: number; isQueued: boolean }) => Error | null): void;
}

/** A statement of postgres.js: its content, and the functions that postgres.js calls. */
interface Statement {
  strings: string[];
  args: unknown[];
  /** Null until a connection takes it. */
  state: unknown;
  handler(statement: Statement): void;
  /** `onexecute` is called when a connection has sent the statement, and says whether it may send another one at once. */
  options: { onexecute?: (connection: unknown) => unknown };
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Takes each row. Without it, postgres.js adds the rows to the result itself. */
  forEachFn?(row: unknown, result: unknown[]): void;
  /** Our own property, set while the statement waits for an answer. */
  waiting?: Waiting;
}

interface Waiting {
  pool: { waiting: Statement[]; listener: StatementListener };
  since: number;
  /** The statement's index in `pool.waiting`. */
  place: number;
  resolve: Statement['resolve'];
  reject: Statement['reject'];
}

/**
 * Follows the statements of a pool that go through `unsafe`, and through `begin`, which calls it. Replaces the functions of
 * each statement, because postgres.js has no events for its start and end, and awaiting a statement would send it.
 */
export function followStatements(sql: postgres.Sql, listener: StatementListener): WaitingStatements {
  const pool: Waiting['pool'] = { waiting: [], listener };
  const { unsafe } = sql;
  Object.getPrototypeOf(unsafe('')).forEachFn = appendRow;
  sql.unsafe = ((...args: Parameters<typeof unsafe>) => {
    const statement = unsafe(...args) as unknown as Statement;
    const { handler } = statement;
    if (listener.isSerial) statement.options.onexecute ??= () => false;
    statement.handler = () => {
      const refusal = listener.refuse(pool.waiting.length);
      if (refusal) return statement.reject(refusal);
      const prepared = listener.prepare(pool.waiting.length);
      beginWaiting(pool, statement);
      if (prepared) void prepared.then(() => handler(statement));
      else handler(statement);
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

/**
 * Adds a row to the result of its statement. Every statement of postgres.js inherits this function. Without it, postgres.js
 * writes each row at an index that the connection counts and does not reset when an error ends a result
 * (porsager/postgres#1119): the result of the connection's next statement would begin with holes.
 */
function appendRow(row: unknown, result: unknown[]): void {
  result[result.length] = row;
}

function beginWaiting(pool: Waiting['pool'], statement: Statement): void {
  const { resolve, reject } = statement;
  statement.waiting = { pool, since: performance.now(), place: pool.waiting.length, resolve, reject };
  pool.waiting.push(statement);
  statement.resolve = resolveWaiting;
  statement.reject = rejectWaiting;
}

// One function for all statements, no closure for each: closures that held their statement moved the rows of answers into
// the garbage collector's old generation, which took a fifth of a page's time.
function resolveWaiting(this: Statement, value: unknown): void {
  const { listener } = endWaiting(this);
  listener.onAnswer();
  this.resolve(value);
}

function rejectWaiting(this: Statement, error: unknown): void {
  const { listener } = endWaiting(this);
  if (isLeftBehind(this, error)) {
    this.handler(this);
    return;
  }
  listener.onFailure(error);
  this.reject(error);
}

/**
 * Whether an error belongs to an earlier statement of the connection. If Postgres ends a connection with an error, postgres.js
 * keeps this error and rejects the first statement of the next connection with it, before it sends that statement. It writes
 * into each error the text of the first statement that it rejects with it.
 */
const isLeftBehind = ({ state }: Statement, error: unknown): boolean =>
  state === null && error instanceof postgres.PostgresError && error.query !== undefined;

/** Removes a statement from the waiting ones and restores the functions of postgres.js. */
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
 * Fails a statement. postgres.js cannot remove a queued one (its `cancel` loses a connection that is being opened). So a
 * statement that waits for a connection stays in the queue, but with a text that does nothing.
 */
function failStatement(statement: Statement, error: Error): void {
  if (statement.state === null) {
    statement.strings = ['select 1'];
    statement.args = [];
  }
  statement.reject(error);
}

/** A connection with the times of its last write and its last answer. */
export interface WatchedSocket extends Socket {
  /** When the first unanswered write happened; null if data arrived since. */
  askedAt: number | null;
  heardAt: number;
}

/** A message of Postgres begins with a letter and its length. An error has fields: a letter and a text each. */
const MESSAGE_HEAD = 5;
const ERROR_RESPONSE = 'E'.charCodeAt(0);

export type SocketOpener = (address: { host: string[]; port: number[] }) => Socket;

/**
 * Creates the `socket` option of postgres.js, which opens its connections. Without it, postgres.js reconnects in a loop
 * without a pause if a connection ends before it is ready: the peer closes it without a message (a load balancer whose
 * backend is down), or refuses it (a starting server) after a connection was lost during a query. Statements wait all that
 * time. With it, every close is an error and the statement fails. Returns null for lists of hosts and for socket files,
 * which postgres.js opens itself. `opened` holds the open connections.
 */
export function openSocket(url: string, opened: Set<WatchedSocket>): SocketOpener | null {
  if (/[,%]/.test(new URL(url).hostname)) return null;
  return ({ host: [host], port: [port] }) => {
    const socket = watchSocket(connect({ host: host!, port: port! }), opened);
    ENCRYPTIONS.set(socket, (encrypted) => {
      // What it does itself now concerns only the encrypted one, which ends it.
      opened.delete(socket);
      Object.assign(socket, { emit: Object.getPrototypeOf(socket).emit, write: Object.getPrototypeOf(socket).write });
      watchSocket(encrypted, opened);
    });
    // postgres.js reads the name that TLS verifies from the socket. It passes on no address, so Node would verify `localhost` instead.
    return Object.assign(socket, { host, port, _host: host });
  };
}

/** What is to be done when postgres.js encrypts a socket that we opened. */
const ENCRYPTIONS = new WeakMap<object, (encrypted: Socket) => void>();

// postgres.js makes the encrypted socket itself and uses it instead of ours: it is the one to watch and to close. Writes to it would fail
// if ours was closed under it, and nobody listens to errors of ours any more.
const { connect: connectTls } = tls;
tls.connect = ((...args: Parameters<typeof connectTls>) => {
  const encrypted = connectTls(...args);
  const { socket } = Object(args[0]) as { socket?: Socket };
  if (socket) ENCRYPTIONS.get(socket)?.(encrypted);
  return encrypted;
}) as typeof connectTls;

function watchSocket(socket: Socket, opened: Set<WatchedSocket>): WatchedSocket {
  const watched = Object.assign(socket, { askedAt: null, heardAt: performance.now() });
  opened.add(watched);
  watchEvents(watched, () => opened.delete(watched));
  watchWrites(watched);
  return watched;
}

/**
 * Records when data arrives. If the socket closes, postgres.js gets an error first, so that running statements fail. It gets
 * the close event later, when it has written what these failures cause (for example a ROLLBACK): it writes in an immediate,
 * and a write after it has dropped the closed socket would end the process (porsager/postgres#1208). Replaces `emit`, because
 * postgres.js removes all listeners of a socket, ours too.
 */
function watchEvents(socket: WatchedSocket, onEnd: () => void): void {
  const emit = socket.emit.bind(socket) as (event: string | symbol, argument?: unknown) => boolean;
  let latest: Buffer = Buffer.alloc(0);
  const fail = () => {
    const reason = readRefusal(latest);
    const message = `the database has hung up${reason === null ? '' : `: ${reason}`}`;
    emit('error', Object.assign(new Error(message), { code: 'ECONNRESET' }));
  };
  const end = (hadError: boolean) => {
    // Fails statements that were written since. If there are none, the error has no effect.
    fail();
    emit('close', hadError);
  };
  socket.emit = (event: string | symbol, argument?: unknown) => {
    if (event === 'data') {
      socket.askedAt = null;
      socket.heardAt = performance.now();
      latest = argument as Buffer;
    }
    if (event !== 'close') return emit(event, argument);
    onEnd();
    if (!argument) fail();
    setImmediate(() => setImmediate(() => setTimeout(end, 0, Boolean(argument))));
    return true;
  };
}

/**
 * Reads the text of an error that ends a piece of data, which is the last one before Postgres or a pooler ends a connection. postgres.js
 * keeps it until the server is ready for the next statement, which it never is. Null if there is none.
 */
function readRefusal(piece: Buffer): string | null {
  for (let at = 0; at + MESSAGE_HEAD <= piece.length; ) {
    const end = at + 1 + piece.readUInt32BE(at + 1);
    if (end === piece.length && piece[at] === ERROR_RESPONSE) {
      const fields = piece.toString('utf8', at + MESSAGE_HEAD).split('\0');
      return fields.find((field) => field.startsWith('M'))?.slice(1) ?? null;
    }
    at = end;
  }
  return null;
}

/**
 * Records when something is written, and joins all writes of one tick into one system call. Replaces `write`, because
 * postgres.js writes each longer statement separately.
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

/** Functions that parse the text of a value, by the OID of its Postgres type. */
export type Parsers = Record<number, (text: string) => unknown>;

/**
 * Sets parsers of a pool and returns all its parsers. Changes the pool's own table, because Drizzle overwrites there the
 * parsers that were given as an option.
 */
export const setParsers = (sql: postgres.Sql, parsers: Parsers): Parsers => Object.assign(sql.options.parsers, parsers);

/** Lets a pool write and read values as another one does, with what Drizzle has changed there. */
export function copyTypes(from: postgres.Sql, to: postgres.Sql): void {
  Object.assign(to.options.parsers, from.options.parsers);
  Object.assign(to.options.serializers, from.options.serializers);
}

/**
 * Gives a transaction what Drizzle needs and postgres.js gives to a pool alone: the pool's options, and `begin`, which makes a
 * savepoint. Drizzle writes into the parsers, so it gets a copy; the connection reads with those of the pool.
 */
export function asPool(transaction: postgres.TransactionSql, { options }: postgres.Sql): postgres.Sql {
  const own = { ...options, parsers: { ...options.parsers }, serializers: { ...options.serializers } };
  return Object.assign(transaction, { options: own, begin: transaction.savepoint }) as unknown as postgres.Sql;
}
