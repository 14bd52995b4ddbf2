import { areComparable } from '../domain/correlation';
import { isReliable, type Match } from './history';
import type { AnomalyRule, FoundAnomaly } from './rule';
import { isSharedMachine, SHARED_MACHINE_USERS } from './shared-device';

/** A switch within this time is high. */
const SOON_MINUTES = 30;
const MINUTE_MS = 60_000;

/** Two users in one session, that is in one tab. The session has the later one. */
export const userSwitchRule: AnomalyRule = {
  name: 'UserSwitch',
  definition: 'A session that belongs to one user is matched with another one. Once for each session and later user.',
  parameters: [
    `soon: within ${SOON_MINUTES} minutes of the match with the user before`,
    `a device with ${SHARED_MACHINE_USERS} or more users is a shared machine and not judged`,
  ],
  severity: 'high if it was soon, else medium',
  metadata: ['previousUserId', 'minutesBetween'],
  innocent: [
    'a family computer, or the tablet of a class, on which one signs out and another signs in, in the same tab',
    'a teacher or administrator who acts as a student (Canvas: act as user; Moodle: log in as)',
    'one person with two accounts, or whose id was changed or is written in another way, such as in capitals',
  ],
  causes: ['correlated'],
  async find(session, history) {
    const matches = (await history.listMatches(session.id)).filter(isReliable);
    const seen = new Set<string>();
    const found: FoundAnomaly[] = [];
    const known = ({ confidence }: Match) => ({ origin: session.origin, correlationConfidence: confidence });
    for (const [index, match] of matches.entries()) {
      const { userId, correlatedAt } = match;
      const previous = matches[index - 1];
      if (previous && !seen.has(userId) && areComparable(known(previous), known(match))) {
        const betweenMs = Date.parse(correlatedAt) - Date.parse(previous.correlatedAt);
        found.push({
          cause: [session.id, userId],
          severity: betweenMs <= SOON_MINUTES * MINUTE_MS ? 'high' : 'medium',
          detectedAt: correlatedAt,
          ...{ sessionId: session.id, userId, deviceFingerprint: session.fingerprint },
          metadata: { previousUserId: previous.userId, minutesBetween: Math.round(betweenMs / MINUTE_MS) },
        });
      }
      seen.add(userId);
    }
    return found.length > 0 && isSharedMachine(await history.listDeviceVisits(), [...seen]) ? [] : found;
  },
};
