import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { type ListName, readListQuery } from '../../contract/list-queries';
import type { Staff } from '../../contract/staff';
import { appRouter } from '../procedures/router';
import { findIssue } from '../procedures/trpc';
import type { Service } from '../service';
import type { Access } from './access-log';
import { writeContentDisposition } from './content-disposition';
import { toApiError } from './faults';
import { LIST_FILES, type ListFile, writeListFile } from './list-files';
import { decodeOrNull, type RestRequest } from './request';
import { errorResponse, jsonResponse, type RestResponse } from './responses';
import { findSignedIn } from './staff-cookies';

// `GET /lists/{integrationId}/{list}.csv`: what a list of the dashboard shows, as a file, for staff with a session. The query has
// the filters and the order of the list's page.

const ROUTE = '/lists/{integrationId}/{list}.csv';
const PATH = /^\/lists\/([^/]+)\/([a-z]+)\.csv$/;
const HEADERS = { 'cache-control': 'private, no-store' };

/** How many files a process writes at a time, and how many of them for one account. Each takes one connection again and again. */
const MAX_FILES = 4;
const MAX_FILES_OF_ACCOUNT = 2;
const RETRY_AFTER_SECONDS = 10;

/** Who is being written a file, once for each file. By service, because tests run several in a process. */
const writing = new WeakMap<Service, string[]>();

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
    return await answerFile(service, staff, { ...asked, input: read.input, access, isHead: request.method === 'HEAD' });
  } catch (error) {
    return refuseError(service, error, access);
  }
}

interface Asked {
  integrationId: string;
  list: ListName;
  file: ListFile;
}

function readPath(path: string): Asked | null {
  const [, encoded = '', list = ''] = PATH.exec(path) ?? [];
  const integrationId = decodeOrNull(encoded);
  const file = Object.hasOwn(LIST_FILES, list) ? LIST_FILES[list as ListName] : undefined;
  return integrationId && file ? { integrationId, list: list as ListName, file } : null;
}

async function answerFile(
  service: Service,
  staff: Staff,
  asked: Asked & { input: Record<string, string | number>; access: Access; isHead: boolean },
): Promise<RestResponse> {
  const release = takePlace(service, staff.id);
  if (!release) {
    const message = 'Too many files are being written. Try again when one has ended';
    return refuse(asked.access, 429, 'TOO_MANY_REQUESTS', message, { 'retry-after': String(RETRY_AFTER_SECONDS) });
  }
  // A list is only read, so no audit entry needs the client's address.
  const { integrationId } = asked;
  const caller = appRouter.createCaller({
    service,
    caller: { kind: 'staff', staff, integrationId, clientAddress: null },
  });
  const pieces = writeListFile(caller, asked.file, asked.input);
  try {
    // Before the answer, so that a refusal is an answer and not a broken connection.
    const first = await pieces.next();
    const headers = {
      ...HEADERS,
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': writeContentDisposition(`${asked.list} ${new Date().toISOString().slice(0, 10)}`, 'csv'),
    };
    if (asked.isHead) {
      release();
      return { status: 200, headers, body: null };
    }
    return { status: 200, headers, body: null, stream: readOn(first.value ?? new Uint8Array(), pieces, release) };
  } catch (error) {
    release();
    throw error;
  }
}

/** Takes a place among the files that are being written. Returns how to give it back, or null if there is none. */
function takePlace(service: Service, staffId: string): (() => void) | null {
  const places = writing.get(service) ?? [];
  writing.set(service, places);
  if (places.length >= MAX_FILES || places.filter((id) => id === staffId).length >= MAX_FILES_OF_ACCOUNT) return null;
  places.push(staffId);
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    places.splice(places.indexOf(staffId), 1);
  };
}

/** Goes on after the first piece. Gives the place back at the end, and also if nobody reads on. */
function readOn(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
  release: () => void,
): AsyncIterable<Uint8Array> {
  let isFirst = true;
  const stop = async () => {
    release();
    await rest.return();
    return { done: true as const, value: undefined };
  };
  const next = async () => {
    if (isFirst) {
      isFirst = false;
      return { done: false as const, value: first };
    }
    try {
      const piece = await rest.next();
      return piece.done ? await stop() : piece;
    } catch (error) {
      release();
      throw error;
    }
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: stop }) };
}

/** Refuses in the form of the dashboard's other calls. */
function refuse(access: Access, status: number, code: string, message: string, headers: Record<string, string> = {}) {
  access.code = code;
  return jsonResponse(status, { ...HEADERS, ...headers }, { error: { message, data: { code, httpStatus: status } } });
}

function refuseError(service: Service, error: unknown, access: Access): RestResponse {
  if (error instanceof TRPCError && error.code !== 'INTERNAL_SERVER_ERROR')
    return refuse(access, getHTTPStatusCodeFromError(error), error.code, findIssue(error.cause) ?? error.message);
  return errorResponse({ ...HEADERS }, toApiError(service, error instanceof TRPCError ? error.cause : error, access));
}
