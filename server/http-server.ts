import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isApiPath } from './rest/dispatcher';
import {
  handleNodeRequest,
  readHeader,
  readNodeBody,
  refuseUnreadableRequest,
  sendNodeResponse,
} from './rest/node-adapter';
import { answerPipeline, MAX_FACTS_BYTES, PIPELINE_PATH } from './rest/pipeline-door';
import { splitTarget } from './rest/request';
import type { Service } from './service';

const MAX_HEADER_BYTES = 32 * 1024;

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Creates the self-hosted server: the public API and the pipeline's door are answered here, everything else by the
 * dashboard's handler, which may still be on its way.
 */
export function createHttpServer(service: Service, dashboard: Handler | Promise<Handler>): Server {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    answerRequest(service, dashboard, request, response).catch((error: unknown) => {
      service.log.error({ err: error }, 'a response could not be sent');
      response.destroy();
    });
  };
  // A request without Host is for the API to judge, like any other.
  return createServer({ maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false }, answer)
    .on('checkExpectation', answer)
    .on('clientError', refuseUnreadableRequest);
}

async function answerRequest(
  service: Service,
  dashboard: Handler | Promise<Handler>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { path, query } = splitTarget(request.url ?? '/');
  // What has no path (`OPTIONS *`) is nobody's page.
  if (isApiPath(path) || !path.startsWith('/')) return handleNodeRequest(service, request, response);
  if (request.method === 'POST' && path === PIPELINE_PATH && query === '') {
    const answer = await answerPipeline(service, {
      header: (name) => readHeader(request, name),
      readBody: () => readNodeBody(request, MAX_FACTS_BYTES),
    });
    return sendNodeResponse(request, response, answer);
  }
  const handler = await dashboard;
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
