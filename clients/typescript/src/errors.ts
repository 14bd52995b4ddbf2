/** Everything that the client throws by itself. A cancelled call throws the reason of its signal instead. */
export class BotDetectionError extends Error {
  override name = 'BotDetectionError';
}

/** What an answer with an error says. */
export interface ApiFault {
  /** The HTTP status. */
  status: number;
  /** The stable identifier of the error, such as `NOT_FOUND`. `UNEXPECTED_ANSWER` if the answer does not come from the API. */
  code: string;
  /** For people; it may change. */
  message: string;
  /** The field or parameter that is wrong, if the error is about one. */
  field: string | null;
  /** The answer's `x-request-id`. Give it when you ask for help. */
  requestId: string | null;
  /** What `Retry-After` says, in seconds. */
  retryAfterSeconds: number | null;
}

/** The API answered with an error, or with something that is no answer of the API. */
export class ApiError extends BotDetectionError implements ApiFault {
  override name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly field: string | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor({ status, code, message, field, requestId, retryAfterSeconds }: ApiFault) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** 400: the request is wrong; `field` names what. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError';
}

/** 401: the key is unknown, revoked or expired, or belongs to another region. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}

/** 402: the plan permits no more of it. */
export class PlanLimitError extends ApiError {
  override name = 'PlanLimitError';
}

/** 403: the key lacks the scope that the message names. */
export class PermissionError extends ApiError {
  override name = 'PermissionError';
}

/** 404: the integration has no such thing. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** 429: too many requests, even after the repeats, or `retryAfterSeconds` is longer than the client waits. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
}

/** 5xx: a fault or an outage of the service, even after the repeats. */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

/** There was no answer, or it broke off. `cause` says why. */
export class ConnectionError extends BotDetectionError {
  override name = 'ConnectionError';
}

/** There was no answer, or no further part of a file, within the time limit. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError';
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/**
 * The webhook was created or its secret rotated, but the only answer that had the secret got lost. Rotate the secret of
 * `webhookId` to get one. Until then its deliveries cannot be verified.
 */
export class SecretLostError extends BotDetectionError {
  override name = 'SecretLostError';
  readonly webhookId: string;

  constructor(webhookId: string) {
    super(`the answer with the secret of ${webhookId} got lost; rotate the secret`);
    this.webhookId = webhookId;
  }
}

const ERRORS_BY_STATUS: Record<number, typeof ApiError> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  402: PlanLimitError,
  403: PermissionError,
  404: NotFoundError,
  429: RateLimitError,
};

/** Makes the error of the family to which the status belongs. */
export function makeApiError(fault: ApiFault): ApiError {
  const Family = ERRORS_BY_STATUS[fault.status] ?? (fault.status >= 500 ? ServerError : ApiError);
  return new Family(fault);
}
