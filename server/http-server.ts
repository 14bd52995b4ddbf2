import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { noteClientAddress } from './rest/client-address';
import { findApiArea } from './rest/dispatcher';
import {
  handleNodeRequest,
  readHeader,
  readNodeBody,
  refuseUnreadableRequest,
  sendNodeResponse,
} from './rest/node-adapter';
import { answerPipeline, MAX_FACTS_BYTES, PIPELINE_PATH } from './rest/pipeline-door';
import { decodeOrNull, splitTarget } from './rest/request';
import type { Service } from './service';

/** How a server reads heads. A request without Host is for the API to judge, like any other. */
export const READING = { maxHeaderSize: 32 * 1024, requireHostHeader: false };

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Creates the self-hosted server. */
export function createHttpServer(service: Service, dashboard: Handler | Promise<Handler>): Server {
  return mountApi(createServer(READING), service, dashboard);
}

/**
 * Puts the public API and the pipeline's door in front of a server: they are answered here, everything else by the
 * dashboard's handler, which may still be on its way.
 */
export function mountApi(server: Server, service: Service, dashboard: Handler | Promise<Handler>): Server {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    answerRequest(service, dashboard, request, response).catch((error: unknown) => {
      service.log.error({ err: error }, 'a response could not be sent');
      response.destroy();
    });
  };
  return server
    .on('request', answer)
    .on('checkExpectation', answer)
    .on('connect', (_request, socket) => refuseUnreadableRequest(new Error('this is no proxy'), socket))
    .on('clientError', refuseUnreadableRequest);
}

async function answerRequest(
  service: Service,
  dashboard: Handler | Promise<Handler>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { path } = splitTarget(request.url ?? '/');
  // What has no path (`OPTIONS *`) or a bad escape is nobody's page: Next would answer 500.
  if (findApiArea(path) || !path.startsWith('/') || decodeOrNull(path) === null)
    return handleNodeRequest(service, request, response);
  if (request.method === 'POST' && path === PIPELINE_PATH) {
    const answer = await answerPipeline(service, {
      header: (name) => readHeader(request, name),
      readBody: () => readNodeBody(request, MAX_FACTS_BYTES),
    });
    return sendNodeResponse(request, response, answer);
  }
  const handler = await dashboard;
  noteClientAddress(request);
  return handler(request, response);
}

/** Stops accepting and lets what is in flight finish; after `graceMs` the connections are cut. */
export async function stopHttpServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A keep-alive connection is idle only once its request has ended.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(deadline);
}
