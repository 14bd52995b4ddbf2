import type { BeaconUser } from '../../contract/beacon';
import type { FoundSite } from '../domain/sites';
import type { KeptBatch, NamedUser } from './packing';
import { isSignedId } from './tokens';

/** How sure it is that the visitor is who a page says, by where that comes from. All but signatures can be forged. */
const SIGNED_CONFIDENCE = 1;
const LMS_CONFIDENCE = 0.7;
const UNSIGNED_CONFIDENCE = 0.5;

/**
 * Reads who a page says the visitor is. Once the integration has an identity secret, a name without the signature of the
 * customer's server is nobody's, unless the integration accepts it; before that, every name is unsigned.
 */
export function readUser(
  named: BeaconUser,
  { identitySecret, acceptsUnsignedUsers }: Pick<FoundSite, 'identitySecret' | 'acceptsUnsignedUsers'>,
): NamedUser | null {
  const isSigned = identitySecret !== null && isSignedId(identitySecret, named.id, named.hash);
  if (identitySecret !== null && !isSigned && !acceptsUnsignedUsers) return null;
  const { id, name = null, email = null, url = null, context = null, lms } = named;
  return { id, name, email, url, context, isSigned, ...(lms && !isSigned && { isFromLms: true as const }) };
}

/** How sure it is that the visitor is this user: the higher one counts within a session. */
export const findConfidence = ({ isSigned, isFromLms }: NamedUser): number =>
  isSigned ? SIGNED_CONFIDENCE : isFromLms ? LMS_CONFIDENCE : UNSIGNED_CONFIDENCE;

/** Whether it is another user, or the same one with another confidence. */
export const isOtherUser = (one: NamedUser, other: NamedUser | null): boolean =>
  one.id !== other?.id || findConfidence(one) !== findConfidence(other);

/** Whether a page of a session named anybody, even somebody who does not count. */
export const isAnybodyNamed = (batches: readonly KeptBatch[]): boolean =>
  batches.some(({ user, hasRefusedUser }) => user !== undefined || hasRefusedUser);

/**
 * Finds the documents of a session that name nobody, or only others less surely than its user is named. What happens there need not
 * be the user's: at the page that follows a sign-out, it may be the next person.
 */
export function findForeignDocuments(batches: readonly KeptBatch[], user: NamedUser | null): Set<string> {
  if (!user) return new Set();
  const isOwn = (named: NamedUser) => named.id === user.id || findConfidence(named) === findConfidence(user);
  const own = new Set(batches.filter(({ user: named }) => named && isOwn(named)).map(({ d }) => d));
  return new Set(batches.map(({ d }) => d).filter((document) => !own.has(document)));
}
