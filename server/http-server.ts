import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  boundBody,
  CONNECTION_LIMITS,
  type ConnectionLimits,
  hasTooManyFields,
  hasTwoHosts,
  limitConnections,
  resetConnections,
} from './http-limits';
import { isRouterState } from './next-internals';
import { answerHalfClosed, stopListening } from './node-http-internals';
import { runRequest } from './platform/console';
import { beginAccess, endAccess } from './rest/access-log';
import { findClientAddress, noteClientAddress } from './rest/client-address';
import { answerCollect, COLLECT_PATH, MAX_BEACON_BYTES } from './rest/collect-endpoint';
import {
  handleNodeRequest,
  readHeader,
  readNodeBody,
  refuseUnreadableRequest,
  sendNodeResponse,
} from './rest/node-adapter';
import { answerPipeline, MAX_FACTS_BYTES, PIPELINE_PATH } from './rest/pipeline-endpoint';
import { decodeOrNull, splitTarget } from './rest/request';
import { findApiArea } from './rest/request-handler';
import { createPlainResponse } from './rest/responses';
import { listAnswerHeaders } from './rest/security-headers.mjs';
import type { Service } from './service';

/** Says what a page of the dashboard shows already, when it asks for another one. */
const ROUTER_STATE = 'next-router-state-tree';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Creates the self-hosted server. It answers the public API and the pipeline's endpoint itself. Passes everything else to
 * the dashboard's handler, which may still be loading.
 */
export function createHttpServer(
  service: Service,
  dashboard: Handler | Promise<Handler>,
  limits: ConnectionLimits = CONNECTION_LIMITS,
): Server {
  const refuse = (error: Error, socket: Duplex) => refuseUnreadableRequest(service, error, socket);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (hasTooManyFields(request, limits)) return refuse(new Error('too many header fields'), request.socket);
    if (hasTwoHosts(request)) return refuse(new Error('two Host headers'), request.socket);
    answerRequest(service, dashboard, request, response).catch((error: unknown) => {
      service.log.error({ err: error }, 'a response could not be sent');
      response.destroy();
    });
  };
  // node:http would refuse a request without Host; the API handles it like any other.
  return limitConnections(answerHalfClosed(createServer({ ...limits, requireHostHeader: false })), limits)
    .on('request', answer)
    .on('checkExpectation', answer)
    .on('connect', (_request, socket) => refuse(new Error('this is no proxy'), socket))
    .on('clientError', refuse);
}

async function answerRequest(
  service: Service,
  dashboard: Handler | Promise<Handler>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { path, query } = splitTarget(request.url ?? '/');
  // First, because nothing else is asked for as often.
  if (path === COLLECT_PATH) {
    const answer = await answerCollect(service, {
      method: request.method ?? 'GET',
      clientAddress: findClientAddress(request),
      header: (name) => readHeader(request, name),
      readBody: () => readNodeBody(request, MAX_BEACON_BYTES),
    });
    return sendNodeResponse(request, response, answer, service.readiness.isDraining);
  }
  // A target without a path (`OPTIONS *`) or with a bad escape belongs to no page, nor does TRACE; Next would answer 500.
  if (findApiArea(path) || !path.startsWith('/') || decodeOrNull(path) === null || request.method === 'TRACE')
    return handleNodeRequest(service, request, response);
  // Next would redirect the absolute form, which proxies send, to itself without an end.
  if (!request.url?.startsWith('/')) request.url = query === '' ? path : `${path}?${query}`;
  if (request.method === 'POST' && path === PIPELINE_PATH) {
    const answer = await answerPipeline(service, {
      header: (name) => readHeader(request, name),
      readBody: () => readNodeBody(request, MAX_FACTS_BYTES),
    });
    return sendNodeResponse(request, response, answer, service.readiness.isDraining);
  }
  if (service.readiness.isDraining) response.setHeader('connection', 'close');
  // The staff endpoints write their own log lines.
  const access =
    path.startsWith('/api/') || path === '/collect/check' ? null : beginAccess(request.method ?? 'GET', '(page)');
  if (access) {
    response.setHeader('x-request-id', access.requestId);
    response.once('finish', () => endAccess(service, access, response.statusCode));
  }
  const handler = await dashboard;
  const headers = listAnswerHeaders(service.env.publicUrl);
  if (!boundBody(request, path)) {
    const refusal = createPlainResponse(413, 'The body is too long');
    const answer = { ...refusal, headers: { ...refusal.headers, ...headers } };
    return sendNodeResponse(request, response, answer, service.readiness.isDraining);
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  noteClientAddress(request);
  dropServerAction(request);
  await dropUnreadableState(request);
  return access ? runRequest(access.requestId, () => handler(request, response)) : handler(request, response);
}

/** Next takes such a POST for a server action. There is none, so it would log a warning with a stack, for anybody who sends one. */
function dropServerAction({ headers }: IncomingMessage): void {
  delete headers['next-action'];
  if (headers['content-type']?.startsWith('multipart/')) delete headers['content-type'];
}

/** Without the header Next sends the whole page. One that it cannot read would be 500 and an error in the log, for anybody who sends one. */
async function dropUnreadableState({ headers }: IncomingMessage): Promise<void> {
  const state = headers[ROUTER_STATE];
  if (typeof state === 'string' && !(await isRouterState(state))) delete headers[ROUTER_STATE];
}

/** How long clients with a keep-alive connection may still send requests. The answer tells them to close it. */
const LINGER_MS = 500;

/**
 * Stops accepting connections and lets requests in flight finish. After `graceMs` it cuts all connections. Idle
 * connections stay open for a short while, because a request may already be on its way and would be lost.
 */
export async function stopHttpServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = stopListening(server);
  const lingersUntil = performance.now() + Math.min(LINGER_MS, graceMs);
  // A keep-alive connection becomes idle only when its request has ended.
  const idle = setInterval(() => {
    if (performance.now() >= lingersUntil) server.closeIdleConnections();
  }, 50);
  const deadline = setTimeout(() => resetConnections(server), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(deadline);
  // Stops node:http's timer for slow requests.
  server.close(() => {});
}
