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

/**
 * Answers clients that close their side after the request, as `nc -N` does: by default, node:http then closes the connection
 * without the answer. A client that has left is noticed when a short answer is written; what is sent as a stream watches the socket.
 */
export const answerHalfClosed = (server: Server) => Object.assign(server, { httpAllowHalfOpen: true });
