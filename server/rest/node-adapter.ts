import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '../../contract/errors';
import { UNMATCHED_PATH } from '../domain/usage';
import type { Service } from '../service';
import { beginAccess, endAccess } from './access-log';
import { collectBody, MAX_BODY_BYTES } from './request';
import { handleRequest } from './request-handler';
import { errorResponse, type RestResponse } from './responses';
import { listAnswerHeaders } from './security-headers.mjs';

/** How long a client has to take the answer to what was unreadable. */
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
  sendNodeResponse(request, response, answer, service.readiness.isDraining);
}

/** One header by its lower-case name; null when absent. */
export function readHeader(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
}

/** Reads a body as `collectBody` does; what is left unread closes the connection after the answer. */
export const readNodeBody = (request: IncomingMessage, maxBytes: number) =>
  collectBody(request.iterator({ destroyOnReturn: false }), maxBytes);

/**
 * Sends a response; closes the connection after it where the request's body was left unread, or the process is about to
 * end.
 */
export function sendNodeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  answer: RestResponse,
  isDraining: boolean,
): void {
  if (response.destroyed) return;
  if (isDraining || (!request.complete && hasBody(request))) response.setHeader('connection', 'close');
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body ?? undefined);
}

const hasBody = (request: IncomingMessage) =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;

/**
 * Answers what is no HTTP request, or has too long a head, as the API answers; Node by itself would close the connection
 * with 431, 408 or 400 and no word. So too what takes too long to arrive.
 */
export function refuseUnreadableRequest(service: Service, error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const access = { ...beginAccess('other', UNMATCHED_PATH), code: 'INVALID_REQUEST' };
  endAccess(service, access, 400);
  const refusal = new ApiError('INVALID_REQUEST', 'The request is not readable HTTP', { field: 'request' });
  const { headers, body } = errorResponse(
    { 'x-request-id': access.requestId, connection: 'close', ...listAnswerHeaders(service.env.publicUrl) },
    refusal,
  );
  headers['content-length'] = String(Buffer.byteLength(body ?? ''));
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${head.join('')}\r\n${body}`);
  // Whoever sends on forever would otherwise hold the connection, half closed.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
