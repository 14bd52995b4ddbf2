import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { checkSiteInput } from '../../contract/sites';
import { signInInput } from '../../contract/staff';
import { isKnownOutage, isUnavailable } from '../../db/client';
import { closeStaffSession, SESSION_MAX_AGE_SECONDS } from '../auth/sessions';
import { signIn } from '../auth/sign-in';
import { checkSite } from '../domain/site-checks';
import { UNMATCHED_PATH } from '../domain/usage';
import type { Caller } from '../procedures/context';
import { appRouter } from '../procedures/router';
import type { Service } from '../service';
import { type Access, beginAccess, endAccess } from './access-log';
import { readClientAddress } from './client-address';
import { readWebBody } from './fetch-adapter';
import { isJsonType } from './media-type';
import { findSignedIn, makeCookie, readToken } from './staff-cookies';
import { listProcedures } from './trpc-internals';

// The dashboard's endpoints: sign-in, sign-out, the check of a site, and its tRPC calls, with a session cookie.

const MAX_FORM_BYTES = 8 * 1024;
const SITE_CHECK_PATH = '/collect/check';
const MAX_CALL_BYTES = 64 * 1024;
/** Names the integration that the dashboard shows. */
const INTEGRATION_HEADER = 'x-integration-id';

/**
 * Whether a request that changes something comes from a page of this host. Browsers send the origin with every POST, and a
 * page of another host cannot forge it. The scheme counts too: anyone on the network can serve a page without TLS.
 */
function isSameOrigin({ env }: Service, request: Request): boolean {
  const origin = request.headers.get('origin');
  if (origin === null || !URL.canParse(origin)) return false;
  const own = readOwnOrigin(request);
  // A proxy in front may send another Host header, so the public address counts too. For its host, nothing else does.
  const publicUrl = env.publicUrl === null ? null : new URL(env.publicUrl);
  const accepted = [publicUrl, own?.host === publicUrl?.host ? null : own];
  return accepted.some((url) => url?.origin === new URL(origin).origin);
}

/** Reads the address at which the client reached the server. A proxy with TLS says so in `X-Forwarded-Proto`. */
function readOwnOrigin({ headers }: Request): URL | null {
  const scheme = headers.get('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  const address = `${scheme}://${headers.get('host')}`;
  return URL.canParse(address) ? new URL(address) : null;
}

const isJson = (request: Request) => isJsonType(request.headers.get('content-type'));

type Fault = keyof typeof STATUSES;
const STATUSES = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  PAYLOAD_TOO_LARGE: 413,
  TOO_MANY_REQUESTS: 429,
  SERVICE_UNAVAILABLE: 503,
};

const FAULT_OF_STATUS = new Map(Object.entries(STATUSES).map(([fault, status]) => [status, fault]));

const respond = (status: number, value: unknown, headers: Record<string, string> = {}) =>
  Response.json(value, { status, headers: { 'cache-control': 'no-store', ...headers } });
/** Puts code and message where tRPC's own errors have them. */
const refuse = (code: Fault, message: string, headers?: Record<string, string>) =>
  respond(STATUSES[code], { error: { message, data: { code, httpStatus: STATUSES[code] } } }, headers);
const refuseForeign = () => refuse('FORBIDDEN', 'Requests that change something must come from a page of this host');

/**
 * Answers `POST /api/auth/sign-in` with `{"email","password"}` as JSON: 200 with `{"staff": {id, email, name, role}}` and the
 * session cookie, 401 for every wrong pair, 429 with Retry-After after too many attempts, 400 for any other body, 403 for a
 * request from another host.
 */
export const answerSignIn = (service: Service, request: Request): Promise<Response> =>
  logAccess(service, request, '/api/auth/sign-in', (access) => checkSignIn(service, request, access));

async function checkSignIn(service: Service, request: Request, access: Access): Promise<Response> {
  if (!isSameOrigin(service, request)) return refuseForeign();
  const input = isJson(request) ? signInInput.safeParse(await readJson(request)) : null;
  if (!input?.success) return refuse('BAD_REQUEST', 'Send email and password as JSON');
  try {
    const result = await signIn(service, input.data, readClientAddress(service, request.headers));
    if (result.outcome === 'refused') return refuse('UNAUTHORIZED', 'Email or password is wrong');
    if (result.outcome === 'throttled') {
      const minutes = Math.ceil(result.retryAfterSeconds / 60);
      const message = `Too many tries. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
      return refuse('TOO_MANY_REQUESTS', message, { 'retry-after': String(result.retryAfterSeconds) });
    }
    access.staffId = result.staff.id;
    // End the browser's previous session, so that the new sign-in replaces it.
    await closeSession(service, request);
    const cookie = makeCookie(service, result.token, SESSION_MAX_AGE_SECONDS);
    return respond(200, { staff: result.staff }, { 'set-cookie': cookie });
  } catch (error) {
    return refuseFault(service, error, access);
  }
}

/** Answers `POST /api/auth/sign-out` with 204 and ends the session, if there is one. */
export const answerSignOut = (service: Service, request: Request): Promise<Response> =>
  logAccess(service, request, '/api/auth/sign-out', (access) => endSession(service, request, access));

async function endSession(service: Service, request: Request, access: Access): Promise<Response> {
  if (!isSameOrigin(service, request)) return refuseForeign();
  try {
    await closeSession(service, request);
    const headers = { 'cache-control': 'no-store', 'set-cookie': makeCookie(service, '', 0) };
    return new Response(null, { status: 204, headers });
  } catch (error) {
    return refuseFault(service, error, access);
  }
}

/**
 * Answers `POST /collect/check` with `{"siteKey","origin"}` as JSON: 200 with why pages of that origin send nothing, or what
 * arrived; 401 without a staff session, 400 for any other body, 403 for a request from another host.
 */
export const answerSiteCheck = (service: Service, request: Request): Promise<Response> =>
  logAccess(service, request, SITE_CHECK_PATH, (access) => checkAsked(service, request, access));

async function checkAsked(service: Service, request: Request, access: Access): Promise<Response> {
  if (!(isSameOrigin(service, request) && isJson(request))) return refuseForeign();
  try {
    const staff = await findSignedIn(service, request.headers.get('cookie'));
    if (!staff) return refuse('UNAUTHORIZED', 'Sign in');
    access.staffId = staff.id;
    const input = checkSiteInput.safeParse(await readJson(request));
    if (!input.success) {
      const issue = input.error.issues[0]!;
      return refuse('BAD_REQUEST', `${issue.path.join('.') || 'body'}: ${issue.message}`);
    }
    return respond(200, await checkSite(service.db, input.data));
  } catch (error) {
    return refuseFault(service, error, access);
  }
}

/** Answers a tRPC call over HTTP. Without a valid session cookie, the caller is anonymous. */
export const answerStaffCall = (service: Service, request: Request): Promise<Response> =>
  logAccess(service, request, UNMATCHED_PATH, (access) => answerProcedure(service, request, access));

async function answerProcedure(service: Service, request: Request, access: Access): Promise<Response> {
  const procedurePath = new URL(request.url).pathname.slice('/api/trpc/'.length);
  if (Object.hasOwn(listProcedures(appRouter), procedurePath)) access.route = procedurePath;
  let caller: Caller = { kind: 'bearer', token: null };
  try {
    const staff = await findSignedIn(service, request.headers.get('cookie'));
    // The cookie alone proves nothing: browsers may send it with a request that another site's page makes.
    if (staff && request.method !== 'GET' && !(isSameOrigin(service, request) && isJson(request)))
      return refuseForeign();
    const integrationId = request.headers.get(INTEGRATION_HEADER);
    if (staff) access.staffId = staff.id;
    if (staff)
      caller = { kind: 'staff', staff, integrationId, clientAddress: readClientAddress(service, request.headers) };
  } catch (error) {
    return refuseFault(service, error, access);
  }
  // Next passes HEAD to the handler of GET. Neither has a body.
  const isBodyless = request.method === 'GET' || request.method === 'HEAD';
  const body = isBodyless ? null : await readWebBody(request, MAX_CALL_BYTES);
  if (!isBodyless && body === null)
    return refuse('PAYLOAD_TOO_LARGE', `The body is longer than ${MAX_CALL_BYTES} bytes`);
  const { url, method, headers } = request;
  return fetchRequestHandler({
    endpoint: '/api/trpc',
    req: new Request(url, { method, headers, body: body as BodyInit | null }),
    router: appRouter,
    allowBatching: false,
    // The caller never gets a token here, because facts may enter only through the pipeline's endpoint with its limits.
    createContext: () => ({ service, caller }),
    onError({ error, path }) {
      access.code = error.code;
      const { requestId } = access;
      if (error.code === 'SERVICE_UNAVAILABLE' && !isKnownOutage(error))
        service.log.warn({ err: error, requestId, procedure: path }, 'a call failed');
      if (error.code === 'INTERNAL_SERVER_ERROR')
        service.log.error({ err: error, requestId, procedure: path }, 'a call failed');
    },
  });
}

/** Sets the request id on the response and writes the request's log line. */
async function logAccess(
  service: Service,
  request: Request,
  route: string,
  answer: (access: Access) => Promise<Response>,
): Promise<Response> {
  const access = beginAccess(request.method, route);
  const response = await answer(access);
  response.headers.set('x-request-id', access.requestId);
  if (response.status >= 400) access.code ??= FAULT_OF_STATUS.get(response.status);
  endAccess(service, access, response.status);
  return response;
}

async function closeSession(service: Service, request: Request): Promise<void> {
  const token = readToken(service, request.headers.get('cookie'));
  if (token !== null) await closeStaffSession(service, token);
}

async function readJson(request: Request): Promise<unknown> {
  const bytes = await readWebBody(request, MAX_FORM_BYTES);
  try {
    return bytes && JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

function refuseFault(service: Service, error: unknown, access: Access): Response {
  const isOutage = isUnavailable(error);
  const level = isKnownOutage(error) ? 'debug' : isOutage ? 'warn' : 'error';
  service.log[level]({ err: error, requestId: access.requestId }, 'a staff session could not be read or changed');
  if (isOutage) return refuse('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable');
  return respond(500, {
    error: { message: 'Internal error', data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 } },
  });
}
