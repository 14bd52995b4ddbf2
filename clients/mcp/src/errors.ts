import {
  ApiError,
  AuthenticationError,
  BotDetectionError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  PlanLimitError,
  RateLimitError,
  SecretLostError,
  ServerError,
  TimeoutError,
} from 'bot-detection-client';
import { cutText, showInvisible } from './texts.js';

/** A call that the server itself refuses or cannot finish. `advice` says what to do. */
export class RefusedCall extends Error {
  readonly code: string;
  readonly field: string | null;
  readonly advice: string;

  constructor(code: string, message: string, advice: string, field: string | null = null) {
    super(message);
    this.code = code;
    this.field = field;
    this.advice = advice;
  }
}

/** Whether the API may have done what was asked, although nobody heard so. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof ConnectionError || error instanceof ServerError;

/** Whether a secret was made that nobody has. */
export const isSecretLost = (error: unknown): boolean =>
  error instanceof SecretLostError || (error instanceof RefusedCall && error.code === 'SECRET_LOST');

/** Says an error in one sentence: code, field, message, what to do, and the id of the request. */
export function describeError(error: unknown, isWrite: boolean): string {
  const { code, field, message, advice } = readError(error, isWrite);
  const requestId = error instanceof ApiError ? error.requestId : null;
  const named = field === null ? code : `${code} (field ${clean(field)})`;
  const said = clean(message).trim().replace(/\.$/, '');
  return `${clean(named)}: ${said}; ${advice}${requestId === null ? '' : ` (request ${clean(requestId)})`}.`;
}

function readError(error: unknown, isWrite: boolean) {
  const again = isWrite
    ? 'it is unknown whether the change was made, so call again with the same arguments, which has one effect, or look first'
    : 'call again in a moment';
  if (error instanceof RefusedCall) return error;
  if (error instanceof ApiError) return { ...pick(error), advice: adviseOn(error, again) };
  if (error instanceof SecretLostError)
    return { code: 'SECRET_LOST', field: null, message: error.message, advice: 'call rotate_webhook_secret for it' };
  const { message } = error as Error;
  if (error instanceof TimeoutError) return { code: 'TIMEOUT', field: null, message, advice: again };
  if (error instanceof ConnectionError)
    return {
      code: 'NO_CONNECTION',
      field: null,
      message: addCause(message, error),
      advice: `${again}; if it stays so, check BOT_DETECTION_BASE_URL`,
    };
  if (error instanceof BotDetectionError)
    return { code: 'INVALID_ARGUMENTS', field: null, message, advice: 'correct the arguments' };
  return {
    code: 'INTERNAL_ERROR',
    field: null,
    message: 'this MCP server has a fault',
    advice: 'its stderr says more',
  };
}

/** Adds what Node calls the reason, such as ENOTFOUND or the fault of a certificate. */
function addCause(message: string, { cause }: Error): string {
  for (let why = cause; why instanceof Error; why = why.cause)
    if ('code' in why && typeof why.code === 'string') return `${message} (${why.code})`;
  return message;
}

const pick = ({ code, field, message }: ApiError) => ({ code, field, message });

function adviseOn(error: ApiError, again: string): string {
  if (error instanceof AuthenticationError)
    return 'the operator must set BOT_DETECTION_API_KEY to a valid key of this region, and calling again does not help';
  if (error instanceof PermissionError)
    return 'nothing was done, and the operator must give a key with that scope if this is wanted';
  if (error instanceof PlanLimitError) return 'nothing was changed, because the plan permits no more';
  if (error instanceof NotFoundError) return 'check the ids, which the lists show';
  if (error instanceof RateLimitError)
    return `wait ${error.retryAfterSeconds ?? 60} seconds, then call again with the same arguments`;
  if (error instanceof ServerError) return again;
  if (error.code === 'UNEXPECTED_ANSWER') return 'the operator must check BOT_DETECTION_BASE_URL';
  return 'correct the arguments and call again';
}

/** Messages may repeat what they were asked. */
const clean = (text: string) => cutText(showInvisible(text), 400);
