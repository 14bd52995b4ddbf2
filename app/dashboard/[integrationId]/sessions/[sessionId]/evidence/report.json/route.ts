import { writeContentDisposition } from '../../../../../../../server/rest/content-disposition';
import { createStaffCaller } from '../../../../../staff-session';

interface Params {
  params: Promise<{ integrationId: string; sessionId: string }>;
}

/** The status of a refused call. What is not here is ours, and Next answers 500. */
const STATUSES = new Map([
  ['UNAUTHORIZED', 401],
  ['FORBIDDEN', 403],
  ['NOT_FOUND', 404],
  ['BAD_REQUEST', 400],
  ['SERVICE_UNAVAILABLE', 503],
]);

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Answers the evidence of a session as a file: the same as the page next to it shows. For signed-in staff. */
export async function GET(_request: Request, { params }: Params): Promise<Response> {
  // Next decodes the parameters of a route handler, unlike those of a page.
  const { integrationId, sessionId } = await params;
  try {
    const caller = await createStaffCaller(integrationId);
    const report = await caller.sessions.getEvidenceReport({ sessionId });
    return new Response(`${JSON.stringify(report, null, 2)}\n`, {
      headers: {
        ...HEADERS,
        'content-type': 'application/json; charset=utf-8',
        'content-disposition': writeContentDisposition(`session-evidence-${sessionId}`, 'json'),
      },
    });
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    const status = code === undefined ? undefined : STATUSES.get(code);
    if (status === undefined) throw error;
    return Response.json({ error: { code, message } }, { status, headers: HEADERS });
  }
}
