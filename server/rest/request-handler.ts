import { ApiError } from '../../contract/errors';
import type { VerifiedKey } from '../domain/key-verifier';
import { UNMATCHED_PATH } from '../domain/usage';
import type { Context } from '../procedures/context';
import { JsonFile } from '../procedures/file-answer';
import type { Service } from '../service';
import { type Access, beginAccess, endAccess } from './access-log';
import { authenticate, requireScope } from './authentication';
import { readDocument } from './document';
import { answerExport, answerJsonFile } from './exports';
import { toApiError } from './faults';
import { readIdempotencyKey, runOnce } from './idempotency';
import { answerLists } from './list-download';
import { readPixelFile } from './pixel-files';
import { callProcedure } from './procedure-call';
import { answerReadiness } from './readiness';
import { answerReports } from './report-download';
import { type RestRequest, readJsonBody, readPathParameters, readQuery, splitTarget } from './request';
import {
  createErrorResponse,
  createJsonResponse,
  createPlainResponse,
  makeIdentityHeaders,
  type RestResponse,
  writeRateLimitedMessage,
} from './responses';
import { type FoundRoute, findRoute } from './routes';
import { listAnswerHeaders } from './security-headers.mjs';
import { readSwaggerAsset } from './swagger';

const API_PATH = /^\/+(v1|health|ready|openapi|swagger|pixel\.js|pixel|reports|lists)(\/|$)/;

/**
 * Finds the first segment of a path that the public API answers; null for the dashboard's paths. Paths that Next's router
 * would redirect or resolve to such a path (`//v1`, `/x/../v1`, `/\v1`) belong to the API too, which refuses them.
 */
export function findApiArea(path: string): string | null {
  if (!path.startsWith('/')) return null;
  const found = API_PATH.exec(path) ?? API_PATH.exec(new URL(`http://localhost${path}`).pathname);
  return found?.[1] ?? null;
}

/**
 * Answers a request to the public API, independent of the server that received it. Never rejects. The order is: request id,
 * authentication and rate limit, route, scope, path, query, body, procedure, envelope.
 */
export async function handleRequest(service: Service, request: RestRequest): Promise<RestResponse> {
  const access = beginAccess(request.method, UNMATCHED_PATH);
  const { requestId } = access;
  const { path, query } = splitTarget(request.target);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const answer = ANSWERS.get(findApiArea(path)) ?? answerPublic;
  const response = await answer(service, request, { method, path, query, access });
  response.headers['x-request-id'] = requestId;
  Object.assign(response.headers, listAnswerHeaders(service.env.publicUrl));
  // A HEAD request gets the content-length of the GET response.
  if (response.body !== null) response.headers['content-length'] = String(Buffer.byteLength(response.body));
  endAccess(service, access, response.status);
  if (request.method !== 'HEAD') return response;
  const { stream, ...head } = response;
  await stream?.[Symbol.asyncIterator]().return?.();
  return { ...head, body: null };
}

interface Call {
  method: string;
  path: string;
  query: string;
  access: Access;
}

async function answerAuthenticated(service: Service, request: RestRequest, call: Call): Promise<RestResponse> {
  try {
    const found = findRoute(call.method, call.path);
    if (found) call.access.route = found.route.template;
    const verified = await authenticate(service, request);
    call.access.integrationId = verified.integration.id;
    call.access.keyId = verified.keyId;
    const response = await answerKnown(service, request, call, verified, found);
    service.usage.record({
      integrationId: verified.integration.id,
      keyId: verified.keyId,
      method: call.method,
      path: found?.route.template ?? UNMATCHED_PATH,
      status: response.status,
    });
    return response;
  } catch (error) {
    return createErrorResponse({ 'cache-control': 'no-store' }, toApiError(service, error, call.access));
  }
}

/** Answers a caller whose key is valid. Never rejects. */
async function answerKnown(
  service: Service,
  request: RestRequest,
  call: Call,
  verified: VerifiedKey,
  found: FoundRoute | null,
): Promise<RestResponse> {
  const headers: Record<string, string> = { 'cache-control': 'no-store', ...makeIdentityHeaders(verified) };
  try {
    const { rateLimit } = verified;
    if (rateLimit.isExceeded) {
      const retryAfterSeconds = rateLimit.resetSeconds;
      throw new ApiError('RATE_LIMITED', writeRateLimitedMessage(rateLimit), { retryAfterSeconds });
    }
    if (!found) throw new ApiError('NOT_FOUND', 'No such route');
    const { route, parameters } = found;
    requireScope(verified, route.scope);
    const input: Record<string, unknown> = Object.create(null);
    for (const [name, value] of readPathParameters(route, parameters)) input[name] = value;
    for (const [name, value] of readQuery(route, call.query)) input[name] = value;
    const key = readIdempotencyKey(route, request);
    if (route.body) for (const [name, value] of await readJsonBody(route.body, request)) input[name] = value;
    if (route.formats) return await answerExport(service, verified, { route, input, headers });
    const run = (bound: Service) =>
      callProcedure(route, { service: bound, caller: { kind: 'api-key', verified } }, input);
    if (key === null) {
      const result = await run(service);
      if (result instanceof JsonFile) return await answerJsonFile(service, verified, headers, result);
      return showResult(headers, result);
    }
    const { result, isReplayed } = await runOnce(service, verified, { route, input, key }, run);
    return showResult({ ...headers, ...(isReplayed ? { 'idempotent-replayed': 'true' } : {}) }, result);
  } catch (error) {
    return createErrorResponse(headers, toApiError(service, error, call.access));
  }
}

/** Wraps a result in the envelope. A page already has one. Without a result, the status is 204. */
function showResult(headers: Record<string, string>, result: unknown): RestResponse {
  if (result === undefined) return { status: 204, headers, body: null };
  const isPage = typeof result === 'object' && result !== null && 'pagination' in result;
  return createJsonResponse(200, headers, isPage ? result : { data: result });
}

/** Answers `/health`, `/ready`, `/openapi/v3.json`, `/swagger` and the pixel, which need no key and have no envelope. */
async function answerPublic(service: Service, request: RestRequest, call: Call): Promise<RestResponse> {
  try {
    return (await findPublic(service, request, call)) ?? createPlainResponse(404, 'Not found');
  } catch (error) {
    toApiError(service, error, call.access);
    return createPlainResponse(500, 'Something went wrong on our side');
  }
}

async function findPublic(
  service: Service,
  request: RestRequest,
  { method, path, access }: Call,
): Promise<RestResponse | null> {
  const found = findRoute(method, path);
  if (found) {
    access.route = found.route.template;
    const anonymous: Context = { service, caller: { kind: 'bearer', token: null } };
    const result = await callProcedure(found.route, anonymous, {});
    return createJsonResponse(200, { 'cache-control': 'no-store' }, result);
  }
  if (method !== 'GET') return null;
  if (path === '/ready') {
    access.route = '/ready';
    return answerReadiness(service);
  }
  if (path === '/openapi/v3.json') {
    access.route = '/openapi/v3.json';
    return readDocument(service.env);
  }
  const pixel = await readPixelFile(path, request.header('if-none-match'));
  if (pixel) {
    access.route = '/pixel';
    return pixel;
  }
  const asset = await readSwaggerAsset(path);
  if (asset) access.route = '/swagger';
  return asset;
}

/** What answers an area. Everything else is public. */
const ANSWERS = new Map<string | null, typeof answerPublic>([
  ['v1', answerAuthenticated],
  ['reports', answerReports],
  ['lists', answerLists],
]);
