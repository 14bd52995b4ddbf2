/**
 * The error codes of the API (specification: Errors): the status, whether `details` names a field, and the description
 * in the OpenAPI document.
 */
export const ERROR_CODES = {
  MISSING_API_KEY: { status: 401, hasField: false, description: 'Neither key header is present.' },
  INVALID_API_KEY: {
    status: 401,
    hasField: false,
    description: 'The key is malformed, unknown, revoked, expired or of another region.',
  },
  INVALID_REQUEST: {
    status: 400,
    hasField: true,
    description: 'A query or path parameter or a header failed validation; `details.field` names it.',
  },
  INVALID_BODY: {
    status: 400,
    hasField: true,
    description:
      'The body is malformed, misses a required field or is not JSON; `details.field` is the dotted path of the first offending field, or `body`.',
  },
  INVALID_URL: {
    status: 400,
    hasField: true,
    description: 'The webhook URL was refused by the format and address rules.',
  },
  INVALID_EVENT_TYPE: { status: 400, hasField: true, description: '`eventType` is not one of the event types.' },
  NOT_FOUND: {
    status: 404,
    hasField: false,
    description: 'The resource does not exist or belongs to another integration.',
  },
  FORBIDDEN: {
    status: 403,
    hasField: false,
    description: 'The key is valid but does not have the scope of the operation.',
  },
  PLAN_LIMIT_REACHED: { status: 402, hasField: false, description: 'The plan’s cap for the resource is reached.' },
  RATE_LIMITED: {
    status: 429,
    hasField: false,
    description:
      'The quota of this minute is used up, too many test deliveries or exports of the integration are under way, or the first request with the same `Idempotency-Key` is; `Retry-After` says in how many seconds to try again.',
  },
  UNSUPPORTED_OPERATION: {
    status: 400,
    hasField: false,
    description: 'The arguments are valid, but not in this combination.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    hasField: false,
    description: 'Something the service depends on is unavailable; retry with backoff.',
  },
  INTERNAL_ERROR: { status: 500, hasField: false, description: 'An unexpected fault on our side.' },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
type FieldCode = { [C in ErrorCode]: (typeof ERROR_CODES)[C]['hasField'] extends true ? C : never }[ErrorCode];
type PlainCode = Exclude<ErrorCode, FieldCode>;

/** The message of `SERVICE_UNAVAILABLE` if the database is away. */
export const OUTAGE_MESSAGE = 'The service is temporarily unavailable';

const BRAND = Symbol.for('bot-detection.api-error');

/**
 * An error that the caller may read: `message` is public. Recognised by a brand and not by `instanceof`, because the
 * self-hosted entry and Next's bundles hold different copies of this class.
 */
export class ApiError extends Error {
  readonly [BRAND] = true;
  readonly code: ErrorCode;
  readonly field: string | null;
  /** When it makes sense to try again. Sent as `Retry-After`. */
  readonly retryAfterSeconds: number | null;
  constructor(code: FieldCode, message: string, options: { field: string; cause?: unknown });
  constructor(code: 'RATE_LIMITED', message: string, options: { retryAfterSeconds: number });
  constructor(code: Exclude<PlainCode, 'RATE_LIMITED'>, message: string, options?: { cause?: unknown });
  constructor(
    code: ErrorCode,
    message: string,
    options: { field?: string; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.field = options.field ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** Finds the ApiError in an error or in what caused it (tRPC wraps what procedures throw). */
export function findApiError(error: unknown): ApiError | null {
  for (let e = error; e instanceof Object; e = (e as { cause?: unknown }).cause) {
    if (BRAND in e) return e as ApiError;
  }
  return null;
}
