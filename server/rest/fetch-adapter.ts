import { Readable } from 'node:stream';
import type { Service } from '../service';
import { collectBody, MAX_BODY_BYTES } from './request';
import { handleRequest } from './request-handler';
import type { RestResponse } from './responses';

/** Answers a web Request (Next's route handlers) through the request handler. */
export async function handleWebRequest(service: Service, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const answer = await handleRequest(service, {
    method: request.method,
    target: url.pathname + url.search,
    header: (name) => request.headers.get(name),
    readBody: () => readWebBody(request, MAX_BODY_BYTES),
  });
  return toWebResponse(answer);
}

/** Reads a body as `collectBody` does. */
export const readWebBody = async (request: Request, maxBytes: number): Promise<Uint8Array | null> =>
  request.body ? collectBody(request.body as unknown as AsyncIterable<Uint8Array>, maxBytes) : new Uint8Array();

/** Makes a web Response. */
export function toWebResponse({ status, headers, body, stream }: RestResponse): Response {
  const sent = stream ? Readable.toWeb(Readable.from(stream, { objectMode: false })) : body;
  return new Response(sent as BodyInit | null, { status, headers });
}
