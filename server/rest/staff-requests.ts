import type { z } from 'zod';
import { ApiError, OUTAGE_MESSAGE } from '../../contract/errors';
import type { Staff } from '../../contract/staff';
import { parseUrl } from '../../contract/urls';
import { findFaultLevel, isUnavailable } from '../../db/client';
import type { Service } from '../service';
import { type Access, beginAccess, endAccess } from './access-log';
import { readWebBody } from './fetch-adapter';
import { isJsonType } from './media-type';

// What the dashboard's endpoints have in common: where a request may come from, its body, its answer and its log line.

const MAX_FORM_BYTES = 8 * 1024;

/**
 * Whether a request that changes something comes from a page of this host. Browsers send the origin with every POST, and a
 * page of another host cannot forge it. The scheme counts too: anyone on the network can serve a page without TLS.
 */
export function isSameOrigin({ env }: Service, request: Request): boolean {
  const origin = parseUrl(request.headers.get('origin') ?? '')?.origin;
  if (origin === undefined) return false;
  const own = readOwnOrigin(request);
  // A proxy in front may send another Host header, so the public address counts too. For its host, nothing else does.
  const publicUrl = env.publicUrl === null ? null : new URL(env.publicUrl);
  const accepted = [publicUrl, own?.host === publicUrl?.host ? null : own];
  return accepted.some((url) => url?.origin === origin);
}

/** Reads the address at which the client reached the server. A proxy with TLS says so in `X-Forwarded-Proto`. */
function readOwnOrigin({ headers }: Request): URL | null {
  const scheme = headers.get('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  return parseUrl(`${scheme}://${headers.get('host')}`);
}

/** Whether a request says that its body is JSON. A form of another site's page cannot. */
export const isJson = (request: Request) => isJsonType(request.headers.get('content-type'));

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

/** Answers JSON. */
export const respond = (status: number, value: unknown, headers: Record<string, string> = {}) =>
  Response.json(value, { status, headers });
interface Refusal {
  /** The field of the input that is refused. */
  field?: string;
  headers?: Record<string, string>;
}

/** Puts code, message and field where tRPC's own errors have them. */
export const refuse = (code: Fault, message: string, { field, headers }: Refusal = {}) =>
  respond(
    STATUSES[code],
    { error: { message, data: { code, httpStatus: STATUSES[code], ...(field === undefined ? {} : { field }) } } },
    headers,
  );

/** Refuses a body for the schema's first issue. */
export function refuseInput({ issues }: z.ZodError): Response {
  const { path, message } = issues[0]!;
  const field = path.join('.') || 'body';
  return refuse('BAD_REQUEST', `${field}: ${message}`, { field });
}

/** Refuses a request that comes from a page of another host. */
export const refuseForeign = () =>
  refuse('FORBIDDEN', 'Requests that change something must come from a page of this host');

/** Names the account that the page was made for: another tab may have signed in another one since. */
const ACCOUNT_HEADER = 'x-staff-id';

/** Refuses a request of a page that was made for another account than the one that is signed in. Null: it is not. */
export function refuseOtherAccount(request: Request, staff: Staff | null): Response | null {
  const madeFor = request.headers.get(ACCOUNT_HEADER);
  if (!staff || madeFor === null || madeFor === staff.id) return null;
  return refuse('UNAUTHORIZED', 'Another account is signed in', { field: ACCOUNT_HEADER });
}

/** Sets the request id on the response, which nobody keeps, and writes the request's log line. */
export async function logAccess(
  service: Service,
  request: Request,
  route: string,
  answer: (access: Access) => Promise<Response>,
): Promise<Response> {
  const access = beginAccess(request.method, route);
  const response = await answer(access);
  response.headers.set('x-request-id', access.requestId);
  response.headers.set('cache-control', 'no-store');
  if (response.status >= 400) access.code ??= FAULT_OF_STATUS.get(response.status);
  endAccess(service, access, response.status);
  return response;
}

/** Reads a JSON body of at most 8 KiB; null if it is longer or no JSON. */
export async function readJson(request: Request): Promise<unknown> {
  const bytes = await readWebBody(request, MAX_FORM_BYTES);
  try {
    return bytes && JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

/** Answers a fault of ours, and logs it. */
export function refuseFault(service: Service, error: unknown, access: Access): Response {
  if (error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE')
    return refuse('SERVICE_UNAVAILABLE', error.message);
  const fields = { err: error, requestId: access.requestId };
  service.log[findFaultLevel(error)](fields, 'a staff session could not be read or changed');
  if (isUnavailable(error)) return refuse('SERVICE_UNAVAILABLE', OUTAGE_MESSAGE);
  return respond(500, {
    error: { message: 'Internal error', data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 } },
  });
}
