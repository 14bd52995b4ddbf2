import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

// What a client may take of a server that is ours, so that slow, silent and endless ones leave room for others.

/** Times in milliseconds. Names are those of node:http's servers, where there is one. */
export interface ConnectionLimits {
  /** Connections at once; those beyond it are closed as they come. */
  maxConnections: number;
  /** Bytes of a request's first line and headers together. */
  maxHeaderSize: number;
  /** Header fields of a request. */
  maxHeaderFields: number;
  /** From a connection, or the first byte of a later request on it, to the end of a request's head. */
  headersTimeout: number;
  /** From there to the end of the whole request. */
  requestTimeout: number;
  /** A connection between two requests: longer than the minute after which load balancers let go of theirs. */
  keepAliveTimeout: number;
  /** A client that takes nothing of an answer that waits for it. */
  answerTimeout: number;
  /** How often these times are looked at; the two of a request every 30 seconds under plain `next start`. */
  connectionsCheckingInterval: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 10_000,
  maxHeaderSize: 32 * 1024,
  maxHeaderFields: 1_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  answerTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
};

/** Holds a server to limits. Node reads its own off it at each connection and each look. */
export function limitConnections<S extends Server>(server: S, limits: ConnectionLimits): S {
  const { maxHeaderFields, answerTimeout, connectionsCheckingInterval, ...ofNode } = limits;
  // One more than is allowed: Node drops those beyond its bound without a word, and a request is refused instead.
  Object.assign(server, ofNode, { maxHeadersCount: maxHeaderFields + 1 });
  cutIdleReaders(server, answerTimeout, connectionsCheckingInterval);
  return server;
}

/**
 * Cuts clients that take nothing of their answers. A timeout of the socket would not do: it starts anew with every byte
 * that such a client sends.
 */
function cutIdleReaders(server: Server, answerTimeoutMs: number, lookMs: number): void {
  const connections = new Map<Socket, { takenBytes: number; sinceMs: number }>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { takenBytes: 0, sinceMs: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  const look = () => {
    const nowMs = performance.now();
    for (const [socket, last] of connections) {
      const takenBytes = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || takenBytes !== last.takenBytes)
        connections.set(socket, { takenBytes, sinceMs: nowMs });
      else if (nowMs - last.sinceMs > answerTimeoutMs) socket.destroy();
    }
  };
  const looking = setInterval(look, lookMs).unref();
  server.once('close', () => clearInterval(looking));
}

/** Whether a request has more header fields than are allowed. */
export const hasTooManyFields = ({ rawHeaders }: IncomingMessage, { maxHeaderFields }: ConnectionLimits) =>
  rawHeaders.length > 2 * maxHeaderFields;

/** Bytes of a body: of calls, for the engine's carry the state of runs (other doors are stricter), and of pages. */
const MAX_CALL_BYTES = 4 * 1024 * 1024;
const MAX_PAGE_BODY_BYTES = 64 * 1024;

/**
 * Bounds the body of a request that Next answers; false where it says itself that it is longer. One that does not say its
 * length is cut off where it passes the bound.
 */
export function boundBody(request: IncomingMessage, path: string): boolean {
  const maxBytes = path.startsWith('/api/') ? MAX_CALL_BYTES : MAX_PAGE_BODY_BYTES;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return false;
  if (request.headers['transfer-encoding'] === undefined) return true;
  let length = 0;
  const push = request.push.bind(request);
  request.push = (chunk: Uint8Array | null, encoding) => {
    length += chunk?.length ?? 0;
    if (length <= maxBytes) return push(chunk, encoding);
    request.destroy();
    return false;
  };
  return true;
}
