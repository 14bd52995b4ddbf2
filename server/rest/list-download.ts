import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { type ListName, readListQuery } from '../../contract/list-queries';
import type { Staff } from '../../contract/staff';
import type { Context } from '../procedures/context';
import { appRouter } from '../procedures/router';
import { findIssue } from '../procedures/trpc';
import type { Service } from '../service';
import type { Access } from './access-log';
import { toApiError } from './faults';
import { answerListFile, FilePlaces, makeFileFormats, type ReadPage, writeListFile } from './list-files';
import { decodeId, type RestRequest } from './request';
import { createErrorResponse, createJsonResponse, type RestResponse } from './responses';
import { findSignedIn } from './staff-cookies';
import { listProcedures, runProcedure } from './trpc-internals';

// `GET /lists/{integrationId}/{list}.csv`: what a list of the dashboard shows, as a file, for staff with a session. The query has
// the filters and the order of the list's page.

const ROUTE = '/lists/{integrationId}/{list}.csv';
const PATH = /^\/lists\/([^/]+)\/([a-z]+)\.csv$/;
const HEADERS = { 'cache-control': 'private, no-store' };

/** A file has at most this many rows, as many as a spreadsheet takes. Its last line says so if it is cut. */
const MAX_ROWS = 1_000_000;

const PLACES = new FilePlaces(4);

interface Call {
  /** GET for HEAD. */
  method: string;
  path: string;
  query: string;
  access: Access;
}

/** Answers a request under `/lists`. HEAD tells whether GET would be refused. Never rejects. */
export async function answerLists(service: Service, request: RestRequest, call: Call): Promise<RestResponse> {
  const { access } = call;
  const asked = call.method === 'GET' ? readPath(call.path) : null;
  if (asked) access.route = ROUTE;
  try {
    const staff = await findSignedIn(service, request.header('cookie'));
    if (!staff) return refuse(access, 401, 'UNAUTHORIZED', 'Sign in');
    access.staffId = staff.id;
    // A link on another site must not make a member of staff load the server or fill their disk.
    const site = request.header('sec-fetch-site');
    if (site !== null && site !== 'same-origin' && site !== 'none')
      return refuse(access, 403, 'FORBIDDEN', 'Files are downloaded from a page of this host');
    if (!asked) return refuse(access, 404, 'NOT_FOUND', 'No such list');
    access.integrationId = asked.integrationId;
    const read = readListQuery(asked.list, call.query);
    if ('fault' in read) return refuse(access, 400, 'BAD_REQUEST', `${read.field}: ${read.fault}`);
    return await answerFile(service, staff, { ...asked, input: read.input });
  } catch (error) {
    return refuseError(service, error, access);
  }
}

/** The procedures of the lists. */
const PROCEDURES: Record<ListName, string> = {
  sessions: 'sessions.listSorted',
  users: 'users.listSorted',
  courses: 'courses.listSorted',
  anomalies: 'anomalies.list',
  alerts: 'alerts.list',
  deliveries: 'deliveries.list',
  audit: 'audit.list',
};

function readPath(path: string): { integrationId: string; list: ListName } | null {
  const [, encoded = '', list = ''] = PATH.exec(path) ?? [];
  const integrationId = decodeId(encoded);
  return integrationId && Object.hasOwn(PROCEDURES, list) ? { integrationId, list: list as ListName } : null;
}

async function answerFile(
  service: Service,
  staff: Staff,
  { integrationId, list, input }: { integrationId: string; list: ListName; input: Record<string, string | number> },
): Promise<RestResponse> {
  const path = PROCEDURES[list];
  const procedure = listProcedures(appRouter)[path]!;
  // A list is only read, so no audit entry needs the client's address.
  const ctx: Context = { service, caller: { kind: 'staff', staff, integrationId, clientAddress: null } };
  const readPage = (position: object) =>
    runProcedure(procedure, { ctx, path, type: 'query', input: { ...input, ...position } }) as ReturnType<ReadPage>;
  const { csv: format } = makeFileFormats(procedure);
  const releasePlace = PLACES.take(service, staff.id);
  const pieces = writeListFile(readPage, format, MAX_ROWS);
  return answerListFile(pieces, { name: list, format, headers: HEADERS, releasePlace });
}

/** Refuses in the form of the dashboard's other calls. */
function refuse(access: Access, status: number, code: string, message: string) {
  access.code = code;
  return createJsonResponse(status, HEADERS, { error: { message, data: { code, httpStatus: status } } });
}

function refuseError(service: Service, error: unknown, access: Access): RestResponse {
  if (error instanceof TRPCError && error.code !== 'INTERNAL_SERVER_ERROR')
    return refuse(access, getHTTPStatusCodeFromError(error), error.code, findIssue(error.cause) ?? error.message);
  return createErrorResponse(
    { ...HEADERS },
    toApiError(service, error instanceof TRPCError ? error.cause : error, access),
  );
}
