import { hasReliableUser } from '../domain/correlation';
import type { Fact } from '../pipeline/facts';
import { type History, type JudgedSession, MAX_VISITS, MEMORY_DAYS } from './history';
import type { RuleDescription } from './rule';

/** How sure a user is who follows only from the device. */
const INFERRED_CONFIDENCE = 0.3;

export const INFERRED_USER: RuleDescription<'Correlation'> = {
  name: 'Correlation',
  definition: `A session of the pixel that closes without a user, and whose pages named nobody, belongs to the only user of its device within ${MEMORY_DAYS} days, if there is exactly one.`,
  parameters: [`confidence: ${INFERRED_CONFIDENCE}`, `memory: ${MEMORY_DAYS} days`],
  severity: 'none: it is a match, not an anomaly',
  metadata: [],
  innocent: ['somebody else who uses the device and never signs in'],
};

/**
 * Infers the user of a session from its device. It does so at the close, because until then the page can still say who it is, and
 * because a match is reported once. A session whose pages named somebody who does not count is not asked about: see `sessionClosed`.
 * Only for sessions of the pixel: a customer's own pipeline matches its sessions itself. Nobody follows from a device with a second user,
 * reliable or not, nor from one with more sessions than are looked at.
 */
export async function inferUser(session: JudgedSession, history: History): Promise<Fact | null> {
  const { id: sessionId, userId, closedAt, isCollected } = session;
  if (userId !== null || closedAt === null || !isCollected) return null;
  const visits = await history.listDeviceVisits();
  if (visits.length >= MAX_VISITS) return null;
  const named = visits.filter((visit) => visit.userId !== null && !visit.isInferred && visit.createdAt <= closedAt);
  const [first] = named;
  if (!first?.userId || !named.every((visit) => visit.userId === first.userId)) return null;
  if (!named.some(hasReliableUser)) return null;
  // A session has its latest user. Somebody else may have had it before.
  const matches = await Promise.all(named.map(({ id }) => history.listMatches(id)));
  if (matches.flat().some((match) => match.userId !== first.userId)) return null;
  return {
    kind: 'sessionCorrelated',
    sessionId,
    user: { id: first.userId, name: (await history.readUserName(first.userId)) ?? first.userId },
    confidence: INFERRED_CONFIDENCE,
    correlatedAt: closedAt,
    ...{ isUnverified: true, isInferred: true },
  };
}
