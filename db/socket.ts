import { connect, type Socket } from 'node:net';

/** A connection that tells how it goes. */
export interface WatchedSocket extends Socket {
  /** Since when it has waited for an answer to what was written; null where something came since. */
  askedAt: number | null;
  heardAt: number;
}

type Opener = (address: { host: string[]; port: number[] }) => Socket;

/**
 * The option of postgres.js that opens its connections. By itself it connects again and again, without a pause, where a
 * connection ends before it is ready: the peer hangs up without a word (a balancer whose backend is down), or refuses
 * (a server that is starting) on a connection that was lost in the middle of a query. What is asked on it waits as long.
 * With this every end is an error, and the query fails. Lists of hosts and socket files are left to postgres.js
 * (null). `opened` holds those that are open.
 */
export function openSocket(url: string, opened: Set<WatchedSocket>): Opener | null {
  if (/[,%]/.test(new URL(url).hostname)) return null;
  return ({ host: [host], port: [port] }) => {
    const socket = Object.assign(connect({ host: host!, port: port! }), { askedAt: null, heardAt: performance.now() });
    opened.add(socket);
    watchEvents(socket, () => opened.delete(socket));
    watchWrites(socket);
    // postgres.js reads the name to verify in TLS there.
    return Object.assign(socket, { host, port });
  };
}

/**
 * Notes what comes, and has postgres.js 3.4 hear of an end as an error first, so that the queries under way fail, and of the
 * close when all that these failures made it write (a ROLLBACK, say) has been written in vain: it writes in an immediate,
 * and once it has let go of a closed socket, such a write ends the process (porsager/postgres#1208). It removes the
 * listeners of sockets, so that listening would not do.
 */
function watchEvents(socket: WatchedSocket, onEnd: () => void): void {
  const emit = socket.emit.bind(socket) as (event: string | symbol, argument?: unknown) => boolean;
  const fail = () => emit('error', Object.assign(new Error('the database has hung up'), { code: 'ECONNRESET' }));
  const end = (hadError: boolean) => {
    // What was written meanwhile fails too; where nothing is under way, an error changes nothing.
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
 * Notes what is asked, and hands the system what is written in one turn in one piece: postgres.js writes each longer
 * statement by itself.
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
