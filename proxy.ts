import { randomBytes } from 'node:crypto';
import { type NextRequest, NextResponse } from 'next/server';
import { listAnswerHeaders, NONCE_HEADER, PAGE_HEADERS, writePagePolicy } from './server/rest/security-headers.mjs';

const NONCE_BYTES = 16;

const { REGION, PUBLIC_URL_US, PUBLIC_URL_EU } = process.env;
/** Of every answer: our own server sets them too, but nothing else does where Next runs by itself. */
const HEADERS = { ...listAnswerHeaders((REGION === 'eu' ? PUBLIC_URL_EU : PUBLIC_URL_US) || null), ...PAGE_HEADERS };

/** Gives every page a policy with its own nonce. Next reads the nonce from the request and sets it on its scripts. */
export function proxy(request: NextRequest): NextResponse {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  const policy = writePagePolicy(nonce, process.env.NODE_ENV === 'development');
  const headers = new Headers(request.headers);
  headers.set('content-security-policy', policy);
  headers.set(NONCE_HEADER, nonce);
  const response = NextResponse.next({ request: { headers } });
  for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value);
  response.headers.set('content-security-policy', policy);
  return response;
}

/**
 * All paths except those that are no pages: the API's own paths, the calls of the dashboard and the engine, and files of the
 * build. A path that only resembles one of these gets the not-found page, which needs the policy too.
 */
export const config = {
  matcher: [
    '/((?!(?:v1|openapi|swagger|pixel|pixel\\.js|reports|lists)(?:/|$)|(?:health|ready|collect|collect/check|demo/verdict|api/inngest|api/auth/(?:sign-in|sign-out|password|invitation|invitation/accept)|api/trpc/[^/]+)$|_next/static/).*)',
  ],
};
