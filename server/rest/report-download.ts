import { ApiError } from '../../contract/errors';
import type { ReportFormat } from '../../contract/events';
import type { VerifiedKey } from '../domain/key-verifier';
import type { Service } from '../service';
import type { Access } from './access-log';
import { authenticate, requireScope } from './authentication';
import { writeContentDisposition } from './content-disposition';
import { toApiError } from './faults';
import { FilePlaces, openFile } from './list-files';
import { decodeId, type RestRequest } from './request';
import { createErrorResponse, makeIdentityHeaders, type RestResponse, writeRateLimitedMessage } from './responses';
import { findSignedIn } from './staff-cookies';

// `GET /reports/{reportId}/download`: the file of a report, for customers with a key and for staff with a session. It is not
// under /v1, because webhooks name it as a path of the dashboard's host.

const ROUTE = '/reports/{reportId}/download';
const PATH = /^\/reports\/([^/]+)\/download$/;
const MAX_ID_LENGTH = 256;

const PLACES = new FilePlaces(8);

const TYPES: Record<ReportFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json; charset=utf-8',
  pdf: 'application/pdf',
};

interface Call {
  /** GET for HEAD. */
  method: string;
  path: string;
  access: Access;
}

/** Answers a request under `/reports`. The order is that of the API: key or session, rate limit, route, scope, report, place. Never rejects. */
export async function answerReports(service: Service, request: RestRequest, call: Call): Promise<RestResponse> {
  const headers: Record<string, string> = { 'cache-control': 'private, no-store' };
  const reportId = call.method === 'GET' ? readReportId(call.path) : null;
  if (reportId !== null) call.access.route = ROUTE;
  try {
    const verified = await identify(service, request, call.access);
    const response = await answerKnown(service, reportId, verified, { headers, access: call.access });
    if (verified) {
      const { integration, keyId } = verified;
      const { status } = response;
      const path = call.access.route;
      service.usage.record({ integrationId: integration.id, keyId, method: call.method, path, status });
    }
    return response;
  } catch (error) {
    return createErrorResponse(headers, toApiError(service, error, call.access));
  }
}

/** Finds out who asks: the key if there is one, else null for signed-in staff. Throws for everybody else. */
async function identify(service: Service, request: RestRequest, access: Access): Promise<VerifiedKey | null> {
  if (request.header('authorization') === null && request.header('x-api-key') === null) {
    const staff = await findSignedIn(service, request.header('cookie'));
    if (staff) {
      access.staffId = staff.id;
      return null;
    }
  }
  const verified = await authenticate(service, request);
  access.integrationId = verified.integration.id;
  access.keyId = verified.keyId;
  return verified;
}

async function answerKnown(
  service: Service,
  reportId: string | null,
  verified: VerifiedKey | null,
  { headers, access }: { headers: Record<string, string>; access: Access },
): Promise<RestResponse> {
  try {
    if (verified) Object.assign(headers, makeIdentityHeaders(verified));
    if (verified?.rateLimit.isExceeded) {
      const retryAfterSeconds = verified.rateLimit.resetSeconds;
      throw new ApiError('RATE_LIMITED', writeRateLimitedMessage(verified.rateLimit), { retryAfterSeconds });
    }
    if (reportId === null) throw new ApiError('NOT_FOUND', 'No such route');
    if (verified) requireScope(verified, 'read');
    const file = await service.reports.openFile({ integrationId: verified?.integration.id ?? null, reportId });
    access.integrationId = file.integrationId;
    const releasePlace = PLACES.take(service, verified?.integration.id ?? access.staffId!);
    const stream = await openFile(readFile(file), releasePlace);
    return {
      status: 200,
      headers: {
        ...headers,
        'content-type': TYPES[file.format],
        'content-length': String(file.size),
        'content-disposition': writeContentDisposition(file.name, file.format),
        'x-content-type-options': 'nosniff',
      },
      body: null,
      stream,
    };
  } catch (error) {
    return createErrorResponse(headers, toApiError(service, error, access));
  }
}

async function* readFile(file: { open(): Promise<AsyncIterable<Uint8Array>> }) {
  yield* await file.open();
}

/** Reads the id in the path. An id that cannot be a report's is as unknown as any other. */
function readReportId(path: string): string | null {
  const encoded = PATH.exec(path)?.[1];
  if (encoded === undefined) return null;
  const id = decodeId(encoded);
  return id === null || id.length > MAX_ID_LENGTH ? null : id;
}
