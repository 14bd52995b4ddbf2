import type { z } from 'zod';
import { acceptInvitationInput, changePasswordInput, showInvitationInput } from '../../contract/invitations';
import { type Staff, signInInput } from '../../contract/staff';
import { acceptInvitation, readInvitation } from '../auth/invitations';
import { changePassword } from '../auth/own-password';
import { closeStaffSession, SESSION_MAX_AGE_SECONDS } from '../auth/sessions';
import { signIn } from '../auth/sign-in';
import type { Throttled } from '../auth/tries';
import type { Service } from '../service';
import type { Access } from './access-log';
import { readClientAddress } from './client-address';
import { findSignedIn, makeCookie, readToken } from './staff-cookies';
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

// Signing in and out, the own password, and links to an account. They set or need the cookie, so they are no procedures.

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
    if (result.outcome === 'throttled') return refuseThrottled(result);
    return await welcome(service, request, access, result);
  } catch (error) {
    return refuseFault(service, error, access);
  }
}

/** Answers `POST /api/auth/sign-out` with 204 and ends the session, if there is one; 401 if it is of another account than the page. */
export const answerSignOut = (service: Service, request: Request): Promise<Response> =>
  logAccess(service, request, '/api/auth/sign-out', (access) => endSession(service, request, access));

async function endSession(service: Service, request: Request, access: Access): Promise<Response> {
  if (!isSameOrigin(service, request)) return refuseForeign();
  try {
    const otherAccount = refuseOtherAccount(request, await findSignedIn(service, request.headers.get('cookie')));
    if (otherAccount) return otherAccount;
    await closeSession(service, request);
    const headers = { 'cache-control': 'no-store', 'set-cookie': makeCookie(service, '', 0) };
    return new Response(null, { status: 204, headers });
  } catch (error) {
    return refuseFault(service, error, access);
  }
}

/**
 * Answers `POST /api/auth/password` with `{"currentPassword","newPassword"}` as JSON: 200 with a new session cookie, since all
 * sessions of the account end; 401 without a session, or with one of another account than the page, 400 that names the field of a
 * wrong or unfit password, 429 with Retry-After after too many tries, 403 for a request from another host.
 */
export const answerPasswordChange = (service: Service, request: Request): Promise<Response> =>
  logAccess(service, request, '/api/auth/password', (access) =>
    answerForm(service, request, access, changePasswordInput, async (input, clientAddress) => {
      const staff = await findSignedIn(service, request.headers.get('cookie'));
      if (!staff) return refuse('UNAUTHORIZED', 'Sign in');
      const otherAccount = refuseOtherAccount(request, staff);
      if (otherAccount) return otherAccount;
      access.staffId = staff.id;
      const result = await changePassword(service, staff, input, clientAddress);
      if (result.outcome === 'throttled') return refuseThrottled(result);
      if (result.outcome === 'refused')
        return refuse('BAD_REQUEST', 'currentPassword: is wrong', { field: 'currentPassword' });
      return respond(200, {}, { 'set-cookie': makeCookie(service, result.token, SESSION_MAX_AGE_SECONDS) });
    }),
  );

/**
 * Answers `POST /api/auth/invitation` with `{"token"}` as JSON: 200 with what the link does and for whom; 401 for every token
 * that is unknown, used, revoked or expired; 429 after too many tries.
 */
export const answerInvitation = (service: Service, request: Request): Promise<Response> =>
  logAccess(service, request, '/api/auth/invitation', (access) =>
    answerForm(service, request, access, showInvitationInput, async ({ token }, clientAddress) => {
      const result = await readInvitation(service, token, clientAddress);
      if (result.outcome === 'throttled') return refuseThrottled(result);
      return result.outcome === 'refused' ? refuseLink() : respond(200, { invitation: result.invitation });
    }),
  );

/**
 * Answers `POST /api/auth/invitation/accept` with `{"token","name","password"}` as JSON: 200 with the account and a session
 * cookie, like a sign-in; 400 that names the field of an unfit name or password; 401 and 429 as above.
 */
export const answerInvitationAccept = (service: Service, request: Request): Promise<Response> =>
  logAccess(service, request, '/api/auth/invitation/accept', (access) =>
    answerForm(service, request, access, acceptInvitationInput, async (input, clientAddress) => {
      const result = await acceptInvitation(service, input, clientAddress);
      if (result.outcome === 'throttled') return refuseThrottled(result);
      return result.outcome === 'refused' ? refuseLink() : welcome(service, request, access, result);
    }),
  );

/** Answers a form of a page of this host, if its input fits the schema. */
async function answerForm<S extends z.ZodType>(
  service: Service,
  request: Request,
  access: Access,
  schema: S,
  answer: (input: z.output<S>, clientAddress: string) => Promise<Response>,
): Promise<Response> {
  if (!(isSameOrigin(service, request) && isJson(request))) return refuseForeign();
  const input = schema.safeParse(await readJson(request));
  if (!input.success) return refuseInput(input.error);
  try {
    return await answer(input.data, readClientAddress(service, request.headers));
  } catch (error) {
    return refuseFault(service, error, access);
  }
}

/** One answer for every link that does not work, so that it says nothing about accounts. */
const refuseLink = () =>
  refuse('UNAUTHORIZED', 'This link does not work: it was used, replaced or revoked, or it is older than three days');

function refuseThrottled({ retryAfterSeconds }: Throttled): Response {
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const message = `Too many tries. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
  return refuse('TOO_MANY_REQUESTS', message, { headers: { 'retry-after': String(retryAfterSeconds) } });
}

/** Answers the account that signed in, with the cookie of its session. */
async function welcome(
  service: Service,
  request: Request,
  access: Access,
  { staff, token }: { staff: Staff; token: string },
): Promise<Response> {
  access.staffId = staff.id;
  // End the browser's previous session, so that the new sign-in replaces it.
  await closeSession(service, request);
  return respond(200, { staff }, { 'set-cookie': makeCookie(service, token, SESSION_MAX_AGE_SECONDS) });
}

async function closeSession(service: Service, request: Request): Promise<void> {
  const token = readToken(service, request.headers.get('cookie'));
  if (token !== null) await closeStaffSession(service, token);
}
