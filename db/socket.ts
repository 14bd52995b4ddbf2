import { connect, type Socket } from 'node:net';

/**
 * The option of postgres.js that opens its connections. By itself it connects again and again, without a pause, where a
 * connection ends before it is ready: the peer hangs up without a word (a balancer whose backend is down), or refuses
 * (a server that is starting) on a connection that was lost in the middle of a query. What is asked on it waits as long.
 * With this every end is an error, and the query fails. Lists of hosts and socket files are left to postgres.js.
 */
export function socketOption(url: string): { socket?: (address: { host: string[]; port: number[] }) => Socket } {
  if (/[,%]/.test(new URL(url).hostname)) return {};
  return {
    socket({ host: [host], port: [port] }) {
      const socket = connect({ host: host!, port: port! });
      endGently(socket);
      writeTogether(socket);
      // postgres.js reads the name to verify in TLS there.
      return Object.assign(socket, { host, port });
    },
  };
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
