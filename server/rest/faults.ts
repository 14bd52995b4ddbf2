import { ApiError, findApiError, OUTAGE_MESSAGE } from '../../contract/errors';
import { findFaultLevel, isUnavailable } from '../../db/client';
import type { Service } from '../service';
import type { Access } from './access-log';

/** Converts an error for the client. Only an ApiError's message is shown; any other error is logged with the request's id. */
export function toApiError(service: Service, error: unknown, access: Access): ApiError {
  const known = findApiError(error) ?? toFault(service, error, access);
  access.code = known.code;
  return known;
}

function toFault(service: Service, error: unknown, { method, requestId }: Access): ApiError {
  service.log[findFaultLevel(error)]({ err: error, requestId, method }, 'a request failed');
  if (isUnavailable(error)) return new ApiError('SERVICE_UNAVAILABLE', OUTAGE_MESSAGE, { cause: error });
  return new ApiError('INTERNAL_ERROR', 'Something went wrong on our side', { cause: error });
}
