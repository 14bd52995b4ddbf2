import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, finished, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '../../contract/errors';
import { UNMATCHED_PATH } from '../domain/usage';
import type { Service } from '../service';
import { beginAccess, endAccess } from './access-log';
import { collectBody, MAX_BODY_BYTES } from './request';
import { handleRequest } from './request-handler';
import { createErrorResponse, type RestResponse } from './responses';
import { listAnswerHeaders } from './security-headers.mjs';

/** How long a client has to read the answer to an unreadable request. */
const LINGER_MS = 1_000;

/** Answers a request of a node:http server through the request handler. */
export async function handleNodeRequest(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = await handleRequest(service, {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    header: (name) => readHeader(request, name),
    readBody: () => readNodeBody(request, MAX_BODY_BYTES),
  });
  if (answer.stream) return sendStream(service, request, response, answer, answer.stream);
  sendNodeResponse(request, response, answer, service.readiness.isDraining);
}

/** Sends a long body piece by piece. If a piece cannot be read, the connection breaks, so that the client knows that a part is missing. */
async function sendStream(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: RestResponse,
  stream: AsyncIterable<Uint8Array>,
): Promise<void> {
  if (service.readiness.isDraining || !request.complete) response.setHeader('connection', 'close');
  response.writeHead(status, headers);
  const pieces = Readable.from(stream, { objectMode: false });
  // To a client of HTTP/1.0, as many proxies are, a mere end of the connection is the end of the file.
  pieces.once('error', () => request.socket.resetAndDestroy());
  // A client that closes its side has left, as far as one can know before the next piece, which may take long to find.
  const unwatch = finished(request.socket, { writable: false }, () => response.destroy());
  try {
    await pipeline(pieces, response);
  } catch (error) {
    // A client may leave before the end.
    if ((error as { code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    service.log.warn({ err: error }, 'a file could not be sent to its end');
  } finally {
    unwatch();
  }
}

/** Reads one header by its lower-case name. Returns null if it is absent. A signature may name any, such as `constructor`. */
export function readHeader({ headers }: IncomingMessage, name: string): string | null {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
}

/** Reads a body as `collectBody` does. If a part is left unread, the connection closes after the answer. */
export const readNodeBody = (request: IncomingMessage, maxBytes: number) =>
  collectBody(request.iterator({ destroyOnReturn: false }), maxBytes);

/**
 * Sends a response. Closes the connection after it if the process is about to end, or if the request's body was not read to
 * its end. node:http reads and drops a short rest of the body: a client that must come back should not need a new connection
 * for that.
 */
export function sendNodeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  answer: RestResponse,
  isDraining: boolean,
): void {
  if (response.destroyed) return;
  const isUnread = !request.complete && !hasShortBody(request);
  if (isDraining || isUnread) response.setHeader('connection', 'close');
  response.writeHead(answer.status, answer.headers);
  if (isUnread && answer.body) sendBeforeClose(request, response, answer.body);
  else response.end(answer.body ?? undefined);
}

/** A connection that closes with unread bytes is reset, and its client loses what it has not read yet. So the rest is read first. */
function sendBeforeClose(request: IncomingMessage, response: ServerResponse, body: string | Uint8Array): void {
  response.write(body);
  const end = () => response.end();
  const timer = setTimeout(end, LINGER_MS);
  request
    .once('close', () => clearTimeout(timer))
    .once('end', end)
    .resume();
}

const hasShortBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= MAX_BODY_BYTES;

/**
 * Answers a request that is not valid HTTP, has too long headers or arrives too slowly, in the API's format. By default, Node
 * would answer 431, 408 or 400 without a body and close the connection.
 */
export function refuseUnreadableRequest(service: Service, error: NodeJS.ErrnoException, socket: Duplex): void {
  // Browsers open connections that they may use later. An answer on a silent one would be taken for that of a request that is
  // just being sent; if the connection closes without one, they send the request again on another.
  const isSilent = (socket as Socket).bytesRead === 0;
  if (isSilent || error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const access = { ...beginAccess('other', UNMATCHED_PATH), code: 'INVALID_REQUEST' };
  endAccess(service, access, 400);
  const refusal = new ApiError('INVALID_REQUEST', 'The request is not readable HTTP', { field: 'request' });
  const { headers, body } = createErrorResponse(
    { 'x-request-id': access.requestId, connection: 'close', ...listAnswerHeaders(service.env.publicUrl) },
    refusal,
  );
  headers['content-length'] = String(Buffer.byteLength(body ?? ''));
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${head.join('')}\r\n${body}`);
  // A client that keeps sending would otherwise keep the half-closed connection open.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
