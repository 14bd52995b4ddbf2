import type { Service } from '../service';
import { dispatchRequest } from './dispatcher';
import { MAX_BODY_BYTES, MAX_DRAINED_BYTES } from './request';
import type { RestResponse } from './responses';

/** Answers a web Request (Next's route handlers) through the dispatcher. */
export async function handleWebRequest(service: Service, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const answer = await dispatchRequest(service, {
    method: request.method,
    target: url.pathname + url.search,
    header: (name) => request.headers.get(name),
    readBody: () => readWebBody(request, MAX_BODY_BYTES),
  });
  return toWebResponse(answer);
}

/** Reads a body of at most `maxBytes`; null when it is longer, read on up to 1 MiB. */
export async function readWebBody(request: Request, maxBytes: number): Promise<Uint8Array | null> {
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      if (length > Math.max(maxBytes, MAX_DRAINED_BYTES)) return null;
    }
  } catch {
    // The client hung up: nobody reads the answer.
    return null;
  }
  return length <= maxBytes ? Buffer.concat(chunks, length) : null;
}

/** Makes a web Response. */
export function toWebResponse({ status, headers, body }: RestResponse): Response {
  return new Response(body as BodyInit | null, { status, headers });
}
