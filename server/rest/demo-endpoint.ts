import { DEMO_NONCE } from '../../contract/demo';
import { OUTAGE_MESSAGE } from '../../contract/errors';
import { isUnavailable } from '../../db/client';
import { readDemoVerdict, takeDemoCall } from '../demo/verdict';
import type { Service } from '../service';
import { readWebBody, toWebResponse } from './fetch-adapter';
import { createJsonResponse, createPlainResponse, type RestResponse } from './responses';

// `POST /demo/verdict`: tells the demo page about the session of its tab. The page names the session by its nonce, which
// only that tab knows.

const MAX_BODY_BYTES = 256;
/** Answers `POST /demo/verdict`: 404 while the demo is off. */
export async function answerDemoVerdict(service: Service, request: Request): Promise<Response> {
  const answer = await findAnswer(service, request);
  return toWebResponse({ ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } });
}

async function findAnswer(service: Service, request: Request): Promise<RestResponse> {
  const { demo } = service;
  if (demo === null) return createPlainResponse(404, 'Not found');
  const nonce = await readNonce(request);
  if (nonce === null) return createPlainResponse(400, 'The body must be the nonce of a session');
  if (!takeDemoCall(nonce)) {
    const refusal = createPlainResponse(429, 'Too many calls');
    return { ...refusal, headers: { ...refusal.headers, 'retry-after': '60' } };
  }
  try {
    return createJsonResponse(200, {}, await readDemoVerdict(service, demo, nonce));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return createPlainResponse(503, OUTAGE_MESSAGE);
  }
}

async function readNonce(request: Request): Promise<string | null> {
  const bytes = await readWebBody(request, MAX_BODY_BYTES);
  const text = bytes && new TextDecoder().decode(bytes);
  return text && DEMO_NONCE.test(text) ? text : null;
}
