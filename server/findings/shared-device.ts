import type { Severity } from '../../contract/events';
import { areComparable } from '../domain/correlation';
import {
  type History,
  isMatched,
  listFirsts,
  listRemembered,
  MAX_VISITS,
  type MatchedVisit,
  MEMORY_DAYS,
  type Visit,
} from './history';
import type { AnomalyRule, FoundAnomaly } from './rule';

/** A device with this many users is a shared machine, as in a laboratory. */
export const SHARED_MACHINE_USERS = 10;
/** From this many other users on, the anomaly is medium and high. */
const MEDIUM_USERS = 2;
const HIGH_USERS = 4;

/** A device that another user has used, of each new user once. */
export const sharedDeviceRule: AnomalyRule = {
  name: 'SharedDevice',
  definition: `A user is new to a device that another user has used within ${MEMORY_DAYS} days. Once for each device and new user.`,
  parameters: [
    `memory: ${MEMORY_DAYS} days; new: not among the user’s latest ${MAX_VISITS} sessions, however long ago, nor in one that retention has removed or that another user has now`,
    `a device with ${SHARED_MACHINE_USERS} or more users is a shared machine and not judged`,
  ],
  severity: `low for one other user, medium from ${MEDIUM_USERS}, high from ${HIGH_USERS}`,
  metadata: ['deviceFingerprint: its first 8 characters', 'otherUserCount'],
  innocent: [
    'a family computer, or a friend’s',
    'a machine in a library or laboratory, until it has had enough users',
    'a teacher who signs in as a student to help (Canvas: act as user)',
    'one person with two accounts, or whose id was changed or is written in another way, such as in capitals',
  ],
  causes: ['correlated'],
  async find(session, history) {
    if (!isMatched(session)) return [];
    const visits = (await history.listDeviceVisits()).filter(isMatched);
    if (isSharedMachine(visits)) return [];
    const found: FoundAnomaly[] = [];
    for (const first of listFirsts(session, visits, ({ userId }) => userId)) {
      const otherUserCount = countOthersBefore(first, visits);
      if (otherUserCount > 0 && (await isNew(first, history))) found.push(describeUser(first, otherUserCount));
    }
    return found;
  },
};

/**
 * Whether a device has so many users that it is a shared machine. A visit has its latest user only, so those of a tab that
 * people use in turn are given besides.
 */
export const isSharedMachine = (visits: readonly Visit[], inTurn: readonly string[] = []): boolean =>
  new Set([...visits.filter(isMatched).map(({ userId }) => userId), ...inTurn]).size >= SHARED_MACHINE_USERS;

/** Whether the user never had the device, not before a holiday either. A match that is not reliable accuses nobody, but it excuses. */
async function isNew(first: MatchedVisit, history: History): Promise<boolean> {
  const before = await history.listVisitsBefore(first);
  return before.every(({ fingerprint }) => fingerprint !== first.fingerprint) && !(await history.hadDevice(first));
}

const describeUser = (
  { id: sessionId, userId, fingerprint, correlatedAt }: MatchedVisit,
  otherUserCount: number,
): FoundAnomaly => ({
  cause: [fingerprint, userId],
  severity: rate(otherUserCount),
  detectedAt: correlatedAt,
  ...{ sessionId, userId, deviceFingerprint: fingerprint },
  metadata: { deviceFingerprint: fingerprint, otherUserCount },
});

function countOthersBefore(first: MatchedVisit, visits: MatchedVisit[]): number {
  const before = listRemembered(first, visits).filter(
    (visit) => visit.userId !== first.userId && areComparable(visit, first),
  );
  return new Set(before.map(({ userId }) => userId)).size;
}

const rate = (others: number): Severity => (others >= HIGH_USERS ? 'high' : others >= MEDIUM_USERS ? 'medium' : 'low');
