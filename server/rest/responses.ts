import { type ApiError, ERROR_CODES } from '../../contract/errors';
import type { RateLimit, VerifiedKey } from '../domain/key-verifier';

/** A response, independent of the server that sends it. `body` null means none. */
export interface RestResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  /** A long body, read as fast as the client reads it. Its length is in the headers, and `body` is null. */
  stream?: AsyncIterable<Uint8Array>;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Creates a JSON response. */
export function createJsonResponse(status: number, headers: Record<string, string>, value: unknown): RestResponse {
  return { status, headers: { 'content-type': JSON_TYPE, ...headers }, body: JSON.stringify(value) };
}

/** Creates a response with one line of text, for paths without the envelope. */
export function createPlainResponse(status: number, text: string): RestResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
}

/** Creates a response with the error envelope (specification: Errors). */
export function createErrorResponse(headers: Record<string, string>, error: ApiError): RestResponse {
  const { status } = ERROR_CODES[error.code];
  const details = error.field === null ? null : { field: error.field };
  const authenticate: Record<string, string> = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  const retry: Record<string, string> =
    error.retryAfterSeconds === null ? {} : { 'retry-after': String(error.retryAfterSeconds) };
  return createJsonResponse(
    status,
    { ...headers, ...authenticate, ...retry },
    { error: { code: error.code, message: error.message, details } },
  );
}

/** The headers of every authenticated response: the tier and the state of its rate limit (IETF draft ratelimit-headers). */
export function makeIdentityHeaders({ integration, rateLimit }: VerifiedKey): Record<string, string> {
  const { policy, limitPerMinute, remaining, resetSeconds } = rateLimit;
  return {
    'x-service-tier': integration.tier,
    'ratelimit-policy': `"${policy}";q=${limitPerMinute};w=60`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  };
}

/** Writes the message of a 429. */
export function writeRateLimitedMessage({ policy, limitPerMinute, resetSeconds }: RateLimit): string {
  const bucket =
    policy === 'key'
      ? `This key may make ${limitPerMinute} requests a minute`
      : `Requests with x-api-key share a bucket of ${limitPerMinute} requests a minute with all traffic of the tier; a key sent as Authorization: Bearer has a quota of its own`;
  return `${bucket}. The next window begins in ${resetSeconds} s.`;
}
