import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '../contract/errors';
import { createId } from '../platform/ids';
import type { Service } from '../service';
import { dispatchRequest } from './dispatcher';
import { MAX_BODY_BYTES, MAX_DRAINED_BYTES } from './request';
import { errorResponse, type RestResponse } from './responses';

/** Answers a request of a node:http server through the dispatcher. */
export async function handleNodeRequest(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = await dispatchRequest(service, {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    header: (name) => readHeader(request, name),
    readBody: () => readNodeBody(request, MAX_BODY_BYTES),
  });
  sendNodeResponse(request, response, answer);
}

/** One header by its lower-case name; null when absent. */
export function readHeader(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
}

/**
 * Reads a body of at most `maxBytes`; null when it is longer. A longer one is read on up to 1 MiB, so that the client
 * has sent it all when the answer comes; beyond that it is left, and the connection closes after the answer.
 */
export async function readNodeBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      if (length > Math.max(maxBytes, MAX_DRAINED_BYTES)) return null;
    }
  } catch {
    // The client hung up: there is no whole body, nobody reads the answer, and it is no fault of ours.
    return null;
  }
  return length <= maxBytes ? Buffer.concat(chunks, length) : null;
}

/** Sends a response; closes the connection after it where the request's body was left unread. */
export function sendNodeResponse(request: IncomingMessage, response: ServerResponse, answer: RestResponse): void {
  if (response.destroyed) return;
  if (!request.complete && hasBody(request)) response.setHeader('connection', 'close');
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body ?? undefined);
}

const hasBody = (request: IncomingMessage) =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;

/**
 * Answers what is no HTTP request, or has too long a head, as the API answers; Node by itself would close the connection
 * with 431 or 400 and no word.
 */
export function refuseUnreadableRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const refusal = new ApiError('INVALID_REQUEST', 'The request is not readable HTTP', { field: 'request' });
  const { headers, body } = errorResponse({ 'x-request-id': createId('req'), connection: 'close' }, refusal);
  headers['content-length'] = String(Buffer.byteLength(body ?? ''));
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${head.join('')}\r\n${body}`);
}
