import { ApiError } from '../../contract/errors';
import { type PresentedKey, type VerifiedKey, verifyKey } from '../domain/api-keys';
import type { Service } from '../service';
import type { RestRequest } from './request';

const BEARER = /^bearer[ \t]+(.+)$/i;

/** Reads the presented key; Authorization wins where both headers are present (specification: Authentication). */
function readPresentedKey(request: RestRequest): PresentedKey | null {
  const authorization = request.header('authorization');
  if (authorization !== null) {
    // What is no Bearer key takes the same look-up as an unknown one.
    return { scheme: 'bearer', key: BEARER.exec(authorization)?.[1]?.trim() ?? '' };
  }
  const key = request.header('x-api-key');
  return key === null ? null : { scheme: 'x-api-key', key };
}

/** Finds who calls and counts the request. MISSING_API_KEY, or INVALID_API_KEY for every other failure. */
export async function authenticate(service: Service, request: RestRequest): Promise<VerifiedKey> {
  const presented = readPresentedKey(request);
  if (presented === null) {
    throw new ApiError('MISSING_API_KEY', 'Send an API key as Authorization: Bearer <key> or as x-api-key');
  }
  const verified = await verifyKey({ db: service.db, quotas: service.env.quotas }, presented);
  if (verified === null) throw new ApiError('INVALID_API_KEY', 'The API key is not valid');
  return verified;
}
