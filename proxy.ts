import { randomBytes } from 'node:crypto';
import { type NextRequest, NextResponse } from 'next/server';
import { PAGE_HEADERS, writePagePolicy } from './server/rest/security-headers.mjs';

const NONCE_BYTES = 16;

/** Gives every page a policy with a nonce of its own. Next reads it off the request and puts the nonce on its scripts. */
export function proxy(request: NextRequest): NextResponse {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  const policy = writePagePolicy(nonce, process.env.NODE_ENV === 'development');
  const headers = new Headers(request.headers);
  headers.set('content-security-policy', policy);
  const response = NextResponse.next({ request: { headers } });
  for (const [name, value] of Object.entries(PAGE_HEADERS)) response.headers.set(name, value);
  response.headers.set('content-security-policy', policy);
  return response;
}

/**
 * All but what is no page: the API's own paths, the calls of dashboard and engine, files of the build. What is merely near
 * them is answered with the page that says so.
 */
export const config = {
  matcher: [
    '/((?!(?:v1|openapi|swagger)(?:/|$)|(?:health|ready|api/inngest|api/auth/sign-in|api/auth/sign-out|api/trpc/[^/]+)$|_next/static/).*)',
  ],
};
