import type { SessionEventType } from '../../contract/session-events';

/**
 * The least confidence of a match that says something about its user: read from a page of the LMS (0.7), or signed by the
 * customer's server (1). Anybody can claim the others.
 */
export const RELIABLE_CONFIDENCE = 0.7;

/** Whether it is known reliably who the session's user is. */
export const hasReliableUser = (session: { userId: string | null; correlationConfidence: number | null }): boolean =>
  session.userId !== null && (session.correlationConfidence ?? 0) >= RELIABLE_CONFIDENCE;

/** The confidence of a user who is signed by the customer's server. */
const SIGNED_CONFIDENCE = 1;

/** Where and how surely a user is known. */
interface KnownUser {
  origin: string;
  correlationConfidence: number;
}

/**
 * Whether the users of two sessions have ids of one kind: then equal ids are one person, and different ids are two. Each platform
 * numbers its users itself, so an id that was read from a page (0.7) is only compared with ids of the same origin, and not with
 * those that the customer's server signs (1).
 */
export function areComparable(one: KnownUser, other: KnownUser): boolean {
  const confidences = [one.correlationConfidence, other.correlationConfidence];
  if (!confidences.includes(RELIABLE_CONFIDENCE)) return true;
  return one.origin === other.origin && !confidences.includes(SIGNED_CONFIDENCE);
}

/** What a page says of its visitor, without a signature: anybody could say it. */
const CLAIMED_CONFIDENCE = 0.5;

/** Says how a session was matched with its user. A pipeline of the customer's may give any confidence. */
export function describeMatch(session: { isInferred: boolean | null; correlationConfidence: number | null }): string {
  if (session.isInferred)
    return 'Inferred: the session named nobody, and this is the only user of its device within 30 days.';
  switch (session.correlationConfidence) {
    case SIGNED_CONFIDENCE:
      return 'Sure: as when the customer’s server signs who the visitor is.';
    case RELIABLE_CONFIDENCE:
      return 'Reliable: as when the id is read from a page of the learning platform.';
    case CLAIMED_CONFIDENCE:
      return 'Claimed: as when a page names the user without a signature, which anybody can do.';
    default:
      return 'The pipeline that sent the match said how sure it was.';
  }
}

/** What people do themselves. Pages scroll, hide and put the focus into forms without anybody. */
const INPUT_TYPES: ReadonlySet<SessionEventType> = new Set(['mouse', 'keyboard', 'touch', 'clipboard']);

/** Whether an event is input of the session's user: not made by a script of the page, nor at a page where nobody is signed in. */
export const isInput = ({ type, metadata }: { type: SessionEventType; metadata: Record<string, unknown> | null }) =>
  INPUT_TYPES.has(type) && metadata?.trusted !== false && metadata?.signedIn !== false;
