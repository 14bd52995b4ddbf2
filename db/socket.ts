import { connect, type Socket } from 'node:net';

type Opener = (address: { host: string[]; port: number[] }) => Socket;

/** A connection whose silence can be told. */
export interface WatchedSocket extends Socket {
  /** How long it has waited for an answer to what was written; 0 where nothing was written since the last one. */
  silentMs(now: number): number;
}

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
    const socket = connect({ host: host!, port: port! });
    endGently(socket);
    writeTogether(socket);
    opened.add(watchSilence(socket, () => opened.delete(socket as WatchedSocket)));
    // postgres.js reads the name to verify in TLS there.
    return Object.assign(socket, { host, port });
  };
}

/** Notes when a socket was written to and when something came. postgres.js removes the listeners of sockets, so this has none. */
function watchSilence(socket: Socket, onClose: () => void): WatchedSocket {
  let askedAt: number | null = null;
  const emit = socket.emit.bind(socket) as (...args: unknown[]) => boolean;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.emit = (...args: unknown[]) => {
    if (args[0] === 'data') askedAt = null;
    else if (args[0] === 'close') onClose();
    return emit(...args);
  };
  socket.write = (...args: unknown[]) => {
    askedAt ??= performance.now();
    return write(...args);
  };
  return Object.assign(socket, { silentMs: (now: number) => (askedAt === null ? 0 : now - askedAt) });
}

/**
 * Has postgres.js 3.4 hear of an end as an error first, so that the queries under way fail, and of the close when all that
 * these failures made it write (a ROLLBACK, say) has been written in vain: it writes in an immediate, and once it has let
 * go of a closed socket, such a write ends the process (porsager/postgres#1208).
 */
function endGently(socket: Socket): void {
  const emit = socket.emit.bind(socket);
  const fail = () => emit('error', Object.assign(new Error('the database has hung up'), { code: 'ECONNRESET' }));
  const end = (hadError: boolean) => {
    // What was written meanwhile fails too; where nothing is under way, an error changes nothing.
    fail();
    emit('close', hadError);
  };
  socket.emit = (event: string | symbol, ...args: unknown[]) => {
    if (event !== 'close') return emit(event as 'error', ...(args as [Error]));
    if (!args[0]) fail();
    setImmediate(() => setImmediate(() => setTimeout(end, 0, Boolean(args[0]))));
    return true;
  };
}

/** Hands the system what is written in one turn in one piece: postgres.js writes each longer statement by itself. */
function writeTogether(socket: Socket): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  const uncork = () => socket.uncork();
  socket.write = (...args: unknown[]) => {
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(uncork);
    }
    return write(...args);
  };
}
