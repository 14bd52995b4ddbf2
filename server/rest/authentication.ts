import { ApiError } from '../../contract/errors';
import type { KeyScope } from '../../contract/integrations';
import type { PresentedKey, VerifiedKey } from '../domain/key-verifier';
import type { Service } from '../service';
import type { RestRequest } from './request';

const BEARER = /^bearer[ \t]+([^ \t].*)$/i;

/** Reads the presented key. If both headers are present, Authorization wins (specification: Authentication). */
function readPresentedKey(request: RestRequest): PresentedKey | null {
  const authorization = request.header('authorization');
  if (authorization !== null) {
    // If this is not a Bearer key, look up an empty one, so that it takes the same path as an unknown key.
    return { scheme: 'bearer', key: BEARER.exec(authorization)?.[1]?.trim() ?? '' };
  }
  const key = request.header('x-api-key');
  return key === null ? null : { scheme: 'x-api-key', key };
}

/** Identifies the caller and counts the request. Throws MISSING_API_KEY, or INVALID_API_KEY for every other failure. */
export async function authenticate(service: Service, request: RestRequest): Promise<VerifiedKey> {
  const presented = readPresentedKey(request);
  if (presented === null) {
    throw new ApiError('MISSING_API_KEY', 'Send an API key as Authorization: Bearer <key> or as x-api-key');
  }
  const verified = await service.verifyKey(presented);
  if (verified === null) throw new ApiError('INVALID_API_KEY', 'The API key is not valid');
  return verified;
}

/** Throws FORBIDDEN unless the key has the scope. */
export function requireScope({ scopes }: VerifiedKey, scope: KeyScope): void {
  if (!scopes.includes(scope)) throw new ApiError('FORBIDDEN', `This needs a key with the scope ${scope}`);
}
