import type { BeaconUser } from '../../contract/beacon';
import type { NamedUser } from './packing';
import { isSignedId } from './tokens';

/**
 * Reads who a page says the visitor is. Once the integration has an identity secret, a name without the signature of the
 * customer's server is nobody's; before that, every name is unsigned.
 */
export function readUser(named: BeaconUser, identitySecret: Buffer | null): NamedUser | null {
  const isSigned = identitySecret !== null && isSignedId(identitySecret, named.id, named.hash);
  if (identitySecret !== null && !isSigned) return null;
  const { id, name = null, email = null, url = null, context = null } = named;
  return { id, name, email, url, context, isSigned };
}
