import { readFile, readlink } from 'node:fs/promises';
import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

// Everything that reaches into the inside of node:http. `tests/domain/library-internals.test.ts` fails when an upgrade of Node
// moves it.

/**
 * Takes no more connections; resolves when the last one is closed. Calls the `close` that node:http inherits: its own closes
 * idle connections at once.
 */
export const stopListening = (server: Server) =>
  new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });

/**
 * Shows each piece of a request's body to `accept` before anybody reads it; false ends the request. Replaces `push`, by which
 * the parser hands it over: a listener would set the body flowing before its reader is there.
 */
export function screenBody(request: IncomingMessage, accept: (piece: Uint8Array) => boolean): void {
  const push = request.push.bind(request);
  request.push = (piece: Uint8Array | null, encoding) => {
    if (piece === null || accept(piece)) return push(piece, encoding);
    request.destroy();
    return false;
  };
}

/**
 * How many bytes the system has taken from a socket to send them. Node's own counts move only at the end of a whole write, which
 * takes minutes if the piece is large and its reader slow. Node's timeouts of sockets look at the same queue.
 */
export function readTakenBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten;
}

/** Columns of the system's tables of connections: the bytes that wait to be sent and to be read, and the socket's number. */
const [QUEUES, NUMBER] = [4, 9];

/**
 * How many bytes the system holds for each socket because the other side has not taken them: it can be megabytes. Only Linux tells, by
 * the number behind a socket's descriptor, which Node does not show. A socket of which nothing is known is absent.
 */
export async function readHeldBytes(sockets: Socket[]): Promise<Map<Socket, number>> {
  const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => ''));
  const rows = (await Promise.all(tables)).join('').split('\n');
  const known = new Map<string, number>();
  for (const columns of rows.map((row) => row.trim().split(/ +/)))
    known.set(`socket:[${columns[NUMBER]}]`, Number.parseInt(columns[QUEUES]!, 16));
  const held = new Map<Socket, number>();
  await Promise.all(
    sockets.map(async (socket) => {
      const { _handle: handle } = socket as Socket & { _handle: { fd: number } | null };
      const bytes = known.get(await readlink(`/proc/self/fd/${handle?.fd}`).catch(() => ''));
      if (bytes !== undefined) held.set(socket, bytes);
    }),
  );
  return held;
}

/**
 * Answers clients that close their side after the request, as `nc -N` does: by default, node:http then closes the connection
 * without the answer. A client that has left is noticed when a short answer is written; what is sent as a stream watches the socket.
 */
export const answerHalfClosed = (server: Server) => Object.assign(server, { httpAllowHalfOpen: true });
