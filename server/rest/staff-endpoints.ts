import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { checkSiteInput } from '../../contract/sites';
import { isKnownOutage } from '../../db/client';
import { checkSite } from '../domain/site-checks';
import { UNMATCHED_PATH } from '../domain/usage';
import type { Caller } from '../procedures/context';
import { appRouter } from '../procedures/router';
import type { Service } from '../service';
import type { Access } from './access-log';
import { readClientAddress } from './client-address';
import { readWebBody } from './fetch-adapter';
import { findSignedIn } from './staff-cookies';
import {
  isJson,
  isSameOrigin,
  logAccess,
  readJson,
  refuse,
  refuseFault,
  refuseForeign,
  refuseInput,
  refuseOtherAccount,
  respond,
} from './staff-requests';
import { listProcedures } from './trpc-internals';

// The dashboard's endpoints: the check of a site, and its tRPC calls, with a session cookie.

const SITE_CHECK_PATH = '/collect/check';
const MAX_CALL_BYTES = 64 * 1024;
/** Names the integration that the dashboard shows. */
const INTEGRATION_HEADER = 'x-integration-id';
/** Says that a timer of the page calls, and nobody is there. */
const UNATTENDED_HEADER = 'x-unattended';

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
    if (!input.success) return refuseInput(input.error);
    return respond(200, await checkSite(service.db, input.data));
  } catch (error) {
    return refuseFault(service, error, access);
  }
}

/** Answers a tRPC call over HTTP. Without a valid session cookie, the caller is anonymous. */
export const answerStaffCall = (service: Service, request: Request): Promise<Response> =>
  logAccess(service, request, UNMATCHED_PATH, (access) => answerProcedure(service, request, access));

/** Adds the number of the code, without which tRPC's client takes a refusal for an answer of something else. */
async function refuseCall(refusal: Response): Promise<Response> {
  const { error } = (await refusal.json()) as { error: { data: { code: keyof typeof TRPC_ERROR_CODES_BY_KEY } } };
  return respond(refusal.status, { error: { ...error, code: TRPC_ERROR_CODES_BY_KEY[error.data.code] } });
}

async function answerProcedure(service: Service, request: Request, access: Access): Promise<Response> {
  const procedurePath = new URL(request.url).pathname.slice('/api/trpc/'.length);
  if (Object.hasOwn(listProcedures(appRouter), procedurePath)) access.route = procedurePath;
  let caller: Caller = { kind: 'bearer', token: null };
  try {
    const isUse = !request.headers.has(UNATTENDED_HEADER);
    const staff = await findSignedIn(service, request.headers.get('cookie'), isUse);
    // The cookie alone proves nothing: browsers may send it with a request that another site's page makes.
    if (staff && request.method !== 'GET' && !(isSameOrigin(service, request) && isJson(request)))
      return refuseCall(refuseForeign());
    const otherAccount = refuseOtherAccount(request, staff);
    if (otherAccount) return refuseCall(otherAccount);
    const integrationId = request.headers.get(INTEGRATION_HEADER);
    if (staff) access.staffId = staff.id;
    if (staff)
      caller = { kind: 'staff', staff, integrationId, clientAddress: readClientAddress(service, request.headers) };
  } catch (error) {
    return refuseCall(refuseFault(service, error, access));
  }
  // Next passes HEAD to the handler of GET. Neither has a body.
  const isBodyless = request.method === 'GET' || request.method === 'HEAD';
  const body = isBodyless ? null : await readWebBody(request, MAX_CALL_BYTES);
  if (!isBodyless && body === null)
    return refuseCall(refuse('PAYLOAD_TOO_LARGE', `The body is longer than ${MAX_CALL_BYTES} bytes`));
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
