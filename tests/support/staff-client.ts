import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { StaffRole } from '../../contract/staff';
import { staff } from '../../db/schema';
import { hashPassword } from '../../server/auth/passwords';
import { openStaffSession } from '../../server/auth/sessions';
import { createId } from '../../server/platform/ids';
import {
  answerInvitation,
  answerInvitationAccept,
  answerPasswordChange,
  answerSignIn,
  answerSignOut,
} from '../../server/rest/account-endpoints';
import { answerSiteCheck, answerStaffCall } from '../../server/rest/staff-endpoints';
import type { Service } from '../../server/service';
import { type Answer, startTestServer, type TestServer } from './server';

export const PASSWORD = 'correct horse battery';

/** A staff member at a browser. Their cookie is sent with every request. */
export interface StaffClient {
  id: string;
  email: string;
  cookie: string;
  query(procedure: string, input?: unknown, headers?: Record<string, string>): Promise<Answer>;
  mutate(procedure: string, input?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

const ENDPOINTS = new Map([
  ['/api/auth/sign-in', answerSignIn],
  ['/api/auth/sign-out', answerSignOut],
  ['/api/auth/password', answerPasswordChange],
  ['/api/auth/invitation', answerInvitation],
  ['/api/auth/invitation/accept', answerInvitationAccept],
  ['/collect/check', answerSiteCheck],
]);

/** Answers the dashboard's routes as Next would, for a test server, which has no Next. */
export const answerDashboard = (service: Service) => async (request: IncomingMessage, response: ServerResponse) => {
  const url = `http://${request.headers.host}${request.url}`;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const method = request.method!;
  const body = method === 'GET' ? null : (Readable.toWeb(request) as ReadableStream);
  const asked = new Request(url, { method, headers, body, duplex: 'half' } as RequestInit);
  const { pathname } = new URL(url);
  const answer = await (ENDPOINTS.get(pathname) ?? answerStaffCall)(service, asked);
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
};

/** Starts a test server with the dashboard's routes. */
export const startStaffServer = (settings: Record<string, string> = {}, shared?: TestServer) =>
  startTestServer(settings, shared, answerDashboard);

/** Tries to sign in, as a page of the server does. */
export const trySignIn = (
  server: Pick<TestServer, 'url' | 'call'>,
  body: unknown,
  headers: Record<string, string> = {},
) => server.call('POST', '/api/auth/sign-in', { body, headers: { origin: server.url, ...headers } });

/** Reads the cookie of an answer, as a browser sends it back. */
export const readCookie = ({ headers }: Answer) => headers.get('set-cookie')?.split(';')[0] ?? '';

let passwordHash: Promise<string> | undefined;

/** Adds an account with the password `PASSWORD`. Hashes it once for all accounts, because that takes 0.2 s of CPU time. */
export async function insertStaff(
  { db }: Pick<Service, 'db'>,
  { email, role, name = role }: { email: string; role: StaffRole; name?: string },
): Promise<{ id: string; email: string; passwordHash: string }> {
  passwordHash ??= hashPassword(PASSWORD);
  const account = { id: createId('stf'), email, passwordHash: await passwordHash };
  await db.orm.insert(staff).values({ ...account, name, role });
  return account;
}

/** Adds an account, and opens a session of it without its password. */
export async function createStaffClient(server: TestServer, role: StaffRole): Promise<StaffClient> {
  const email = `${role}-${randomBytes(4).toString('hex')}@example.com`;
  const account = await insertStaff(server.service, { email, role });
  const { id } = account;
  const token = await openStaffSession(server.service, account);
  return {
    id,
    email,
    ...openStaffClient(server, `${server.service.env.isDeployed ? '__Host-' : ''}staff_session=${token}`),
  };
}

/** Opens a client that calls procedures with a cookie. */
export function openStaffClient(
  server: Pick<TestServer, 'url' | 'call'>,
  cookie: string,
): Pick<StaffClient, 'cookie' | 'query' | 'mutate'> {
  return {
    cookie,
    query: (procedure, input, headers = {}) => {
      const query = input === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(input))}`;
      return server.call('GET', `/api/trpc/${procedure}${query}`, { headers: { cookie, ...headers } });
    },
    mutate: (procedure, input = {}, headers = {}) =>
      server.call('POST', `/api/trpc/${procedure}`, {
        body: input,
        headers: { cookie, origin: server.url, ...headers },
      }),
  };
}
