import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { readHeldBytes, readTakenBytes, screenBody } from './node-http-internals';

// Limits on what one client may use, so that slow, silent and endless requests leave room for others.

/** Times in milliseconds. Names are those of node:http's server options where they exist. */
export interface ConnectionLimits {
  /** The maximum number of connections. Further ones are closed at once. */
  maxConnections: number;
  /** The maximum bytes of a request's first line and headers together. */
  maxHeaderSize: number;
  /** The maximum number of header fields in a request. */
  maxHeaderFields: number;
  /** Time from a new connection, or from the first byte of a later request, to the end of the request's headers. */
  headersTimeout: number;
  /** Time from there to the end of the whole request. */
  requestTimeout: number;
  /** Time between two requests of a connection. Longer than the minute after which load balancers close theirs. */
  keepAliveTimeout: number;
  /** Time that a client may leave a waiting answer unread. */
  answerTimeout: number;
  /** How often these times are checked. */
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

/** Applies the limits that node:http does not take as options: `server` was created with the others. */
export function limitConnections(server: Server, limits: ConnectionLimits): Server {
  const { maxConnections, maxHeaderFields, answerTimeout, connectionsCheckingInterval } = limits;
  server.maxConnections = maxConnections;
  // One more than allowed: Node silently drops fields above its limit, but such a request must be refused.
  server.maxHeadersCount = maxHeaderFields + 1;
  cutIdleReaders(server, answerTimeout, connectionsCheckingInterval);
  return server;
}

/** How far a client has read. */
interface Progress {
  /** What the system has taken to send it, and since when it takes no more. */
  takenBytes: number;
  sinceMs: number;
  /** What the system held when the client seemed silent for half of its time. */
  heldBytes?: number;
}

/** The open connections of each server. */
const openConnections = new WeakMap<Server, Map<Socket, Progress>>();

/** Cuts all connections. Resets them: an answer without a length would end with the connection for a client of HTTP/1.0. */
export function resetConnections(server: Server): void {
  for (const socket of openConnections.get(server)?.keys() ?? []) socket.resetAndDestroy();
}

/**
 * Cuts connections whose clients stop reading their answers. A socket timeout would not work, because every byte that
 * such a client sends restarts it.
 */
function cutIdleReaders(server: Server, answerTimeoutMs: number, checkEveryMs: number): void {
  const connections = new Map<Socket, Progress>();
  openConnections.set(server, connections);
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { takenBytes: 0, sinceMs: performance.now() });
    socket.once('close', () => connections.delete(socket));
  });
  const check = () => {
    const nowMs = performance.now();
    const silent: Socket[] = [];
    for (const [socket, { takenBytes, sinceMs, heldBytes }] of connections) {
      const nowTakenBytes = readTakenBytes(socket);
      if (socket.writableLength === 0 || nowTakenBytes !== takenBytes)
        connections.set(socket, { takenBytes: nowTakenBytes, sinceMs: nowMs });
      else if (nowMs - sinceMs > (heldBytes === undefined ? answerTimeoutMs / 2 : answerTimeoutMs)) silent.push(socket);
    }
    if (silent.length > 0) void judgeSilent(silent, nowMs);
  };
  /** A system that holds megabytes takes more only when a large part of them is read, for which a slow client may need minutes. */
  async function judgeSilent(sockets: Socket[], nowMs: number) {
    const before = sockets.map((socket) => connections.get(socket));
    const held = await readHeldBytes(sockets);
    for (const [index, socket] of sockets.entries()) {
      const last = connections.get(socket);
      // It has read on or is closed meanwhile.
      if (!last || last !== before[index]) continue;
      const heldBytes = held.get(socket);
      if (heldBytes !== undefined && last.heldBytes !== undefined && heldBytes < last.heldBytes)
        connections.set(socket, { takenBytes: last.takenBytes, sinceMs: nowMs });
      else if (last.heldBytes !== undefined && nowMs - last.sinceMs > answerTimeoutMs) socket.resetAndDestroy();
      else connections.set(socket, { ...last, heldBytes: heldBytes ?? Number.NEGATIVE_INFINITY });
    }
  }
  const timer = setInterval(check, checkEveryMs).unref();
  server.once('close', () => clearInterval(timer));
}

/** Whether a request has more header fields than are allowed. */
export const hasTooManyFields = ({ rawHeaders }: IncomingMessage, { maxHeaderFields }: ConnectionLimits) =>
  rawHeaders.length > 2 * maxHeaderFields;

/**
 * Whether a request names two hosts, or one host twice. node:http silently takes the first, and a proxy in front may have
 * taken the last (RFC 9112, 3.2).
 */
export const hasTwoHosts = ({ rawHeaders }: IncomingMessage) =>
  rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length > 1;

/** The maximum bytes of a call's body. The engine's calls carry the state of runs; other endpoints set lower limits. */
const MAX_CALL_BYTES = 4 * 1024 * 1024;
const MAX_PAGE_BODY_BYTES = 64 * 1024;

/**
 * Limits the body of a request that Next answers. Returns false if the announced length is too long. A body without an
 * announced length is cut off at the limit.
 */
export function boundBody(request: IncomingMessage, path: string): boolean {
  const maxBytes = path.startsWith('/api/') ? MAX_CALL_BYTES : MAX_PAGE_BODY_BYTES;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return false;
  if (request.headers['transfer-encoding'] === undefined) return true;
  let length = 0;
  screenBody(request, (piece) => {
    length += piece.length;
    return length <= maxBytes;
  });
  return true;
}
