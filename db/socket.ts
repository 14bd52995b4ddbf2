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
      // Before postgres.js hears of the end; where it has nothing under way, an error changes nothing.
      socket.once('close', (hadError) => {
        if (hadError) return;
        socket.emit('error', Object.assign(new Error('the database has hung up'), { code: 'ECONNRESET' }));
      });
      // postgres.js reads the name to verify in TLS there.
      return Object.assign(socket, { host, port });
    },
  };
}
