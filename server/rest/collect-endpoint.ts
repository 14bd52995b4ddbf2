import { MAX_BEACON_BYTES } from '../../contract/beacon';
import { ERROR_CODES } from '../../contract/errors';
import { parseUrl } from '../../contract/urls';
import type { Service } from '../service';
import { type Access, beginAccess, endAccess } from './access-log';
import { createJsonResponse, createPlainResponse, type RestResponse } from './responses';
import { listAnswerHeaders } from './security-headers.mjs';

// The endpoint of the pixel. Pages of any site may call it, and no answer tells them why nothing was kept.

export const COLLECT_PATH = '/collect';
export { MAX_BEACON_BYTES };

export interface BeaconRequest {
  method: string;
  clientAddress: string;
  header(name: string): string | null;
  /** Reads the body. Returns null if it is longer than MAX_BEACON_BYTES, or if the client has disconnected. */
  readBody(): Promise<Uint8Array | null>;
}

const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'no-store',
};
/** The pixel's requests need no preflight, unless the page wraps fetch and adds headers, of which none is read. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': '*, Authorization',
  'access-control-max-age': '86400',
};

/** Answers a request to `/collect`. Never rejects. */
export async function answerCollect(service: Service, request: BeaconRequest): Promise<RestResponse> {
  const access = beginAccess(request.method, COLLECT_PATH);
  const response = await answerMethod(service, request, access);
  Object.assign(response.headers, listAnswerHeaders(service.env.publicUrl), { 'x-request-id': access.requestId });
  if (response.body !== null) response.headers['content-length'] = String(Buffer.byteLength(response.body));
  endAccess(service, access, response.status);
  return response;
}

async function answerMethod(service: Service, request: BeaconRequest, access: Access): Promise<RestResponse> {
  if (request.method === 'OPTIONS')
    return { status: 204, headers: { ...CORS_HEADERS, ...PREFLIGHT_HEADERS }, body: null };
  if (request.method !== 'POST') return createPlainResponse(404, 'Not found');
  const answer = await service.collector.collect({
    origin: request.header('origin'),
    userAgent: request.header('user-agent'),
    hasPrivacyControl: request.header('sec-gpc') === '1',
    clientAddress: request.clientAddress,
    place: service.env.VERCEL === '1' ? describePlace(request) : null,
    signed: request.header('signature-agent') === null ? null : describeMessage(service, request),
    readBody: request.readBody,
  });
  switch (answer.status) {
    case 200:
      return createJsonResponse(200, { ...CORS_HEADERS }, answer.answer);
    case 204:
      return { status: 204, headers: { ...CORS_HEADERS }, body: null };
    case 400:
      return refuse(access, 'INVALID_BODY', answer.message, {});
    case 503:
      return refuse(access, 'SERVICE_UNAVAILABLE', 'Send the batch again later', {
        'retry-after': String(answer.retrySeconds),
      });
  }
}

/** What the platform says of the client. Only it can set these headers. */
const describePlace = ({ header }: BeaconRequest) => ({
  country: header('x-vercel-ip-country'),
  latitude: header('x-vercel-ip-latitude'),
  longitude: header('x-vercel-ip-longitude'),
  city: header('x-vercel-ip-city'),
});

/** What of a request an agent can have signed. It must have been signed for this service: other hosts' signatures say nothing. */
function describeMessage({ env }: Service, { method, header }: BeaconRequest) {
  const scheme = env.publicUrl?.startsWith('https:') ? 'https' : 'http';
  const ours = env.publicUrl ?? `${scheme}://${header('host') ?? ''}`;
  const authority = parseUrl(ours)?.host ?? '';
  return { method, scheme, authority, path: COLLECT_PATH, header };
}

function refuse(
  access: Access,
  code: 'INVALID_BODY' | 'SERVICE_UNAVAILABLE',
  message: string,
  headers: Record<string, string>,
): RestResponse {
  access.code = code;
  return createJsonResponse(ERROR_CODES[code].status, { ...CORS_HEADERS, ...headers }, { error: { code, message } });
}
