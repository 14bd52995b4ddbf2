import { areComparable, isInput } from '../domain/correlation';
import { describeDevice, isOtherKind } from '../domain/user-agents';
import {
  findTaken,
  type History,
  isMatched,
  listFirsts,
  listRemembered,
  MAX_VISITS,
  type MatchedVisit,
  MEMORY_DAYS,
} from './history';
import type { AnomalyRule, FoundAnomaly } from './rule';

/** A switch within this time of activity on the other device is medium. */
const SOON_MINUTES = 30;
const MINUTE_MS = 60_000;

/**
 * A user who comes from a device of a new kind. A new fingerprint alone says little: cleared storage gives one, and so does a
 * frame whose storage the browser partitions. So a device that is described like one the user has is not judged.
 */
export const deviceSwitchRule: AnomalyRule = {
  name: 'DeviceSwitch',
  definition: `A user who has used another device within ${MEMORY_DAYS} days comes from one that is new to them, and of another type, browser or system than any they had. Once for each user and new device.`,
  parameters: [
    `memory: ${MEMORY_DAYS} days; new: not among the user’s latest ${MAX_VISITS} sessions, however long ago, nor in one that retention has removed or that another user has now`,
    'a device whose user agent names no system is of no other kind',
    `soon: within ${SOON_MINUTES} minutes of input on the other device, or of the end of its session if no events of it are told`,
  ],
  severity: `medium if it was soon after activity on the other device, else low`,
  metadata: ['device', 'otherDevice', 'minutesSinceOther'],
  innocent: [
    'a new phone or laptop, or a phone in addition to a laptop, at its first use',
    'another browser on the same computer',
    'a computer of the university',
  ],
  causes: ['correlated'],
  async find(session, history) {
    if (!isMatched(session)) return [];
    const visits = (await history.listUserVisits()).filter(isMatched);
    const found: FoundAnomaly[] = [];
    for (const first of listFirsts(session, visits, ({ fingerprint }) => fingerprint)) {
      const others = listOthers(first, visits);
      if (others.length === 0 || !(await isNewKind(first, history))) continue;
      const anomaly = await describeSwitch(first, others, history);
      if (anomaly) found.push(anomaly);
    }
    return found;
  },
};

/** Lists the sessions in memory that may have been active last: the one that ended last, and the newest that is open. */
function listOthers(first: MatchedVisit, visits: MatchedVisit[]): MatchedVisit[] {
  const before = listRemembered(first, visits).filter((other) => areComparable(first, other));
  const ended = before.filter(({ closedAt }) => closedAt !== null).sort((a, b) => (a.closedAt! < b.closedAt! ? 1 : -1));
  return [...ended.slice(0, 1), ...before.filter(({ closedAt }) => closedAt === null).slice(-1)];
}

/**
 * Whether the user never had the device, nor one that is described like it: not before a holiday either. A match that is not
 * reliable accuses nobody, but it excuses, and so does a session without a device's id.
 */
async function isNewKind(first: MatchedVisit, history: History): Promise<boolean> {
  const before = await history.listVisitsBefore(first);
  const isNew = before.every((visit) => visit.fingerprint !== first.fingerprint && isOtherKind(visit, first));
  return isNew && !(await history.hadDevice(first));
}

async function describeSwitch(
  first: MatchedVisit,
  others: MatchedVisit[],
  history: History,
): Promise<FoundAnomaly | null> {
  const { id: sessionId, userId, fingerprint } = first;
  const cameAt = (await findTaken(first, history)) ?? first.createdAt;
  const active = await Promise.all(
    others.map(async (other) => {
      const takenAt = await findTaken(other, history);
      if (takenAt !== null && takenAt > cameAt) return [];
      const at = await findActivity(other, { from: takenAt ?? other.createdAt, to: cameAt }, history);
      return [{ other, sinceMs: Math.max(0, Date.parse(cameAt) - Date.parse(at)) }];
    }),
  );
  const [latest] = active.flat().sort((a, b) => a.sinceMs - b.sinceMs);
  if (!latest) return null;
  const { other, sinceMs } = latest;
  return {
    cause: [userId, fingerprint],
    severity: sinceMs <= SOON_MINUTES * MINUTE_MS ? 'medium' : 'low',
    detectedAt: first.correlatedAt,
    ...{ sessionId, userId, deviceFingerprint: fingerprint },
    metadata: {
      device: describeDevice(first),
      otherDevice: describeDevice(other),
      minutesSinceOther: Math.round(sinceMs / MINUTE_MS),
    },
  };
}

/**
 * Finds the last input of a session that its events show: until the user came to the other device, and not before the
 * session was the user's. A page that is left open scrolls, reloads and hides by itself, and its session goes on.
 */
async function findActivity(
  { id, closedAt }: MatchedVisit,
  { from, to }: { from: string; to: string },
  history: History,
): Promise<string> {
  const events = await history.listEvents(id);
  const latest = events.find((event) => isInput(event) && event.timestamp >= from && event.timestamp <= to);
  if (latest) return latest.timestamp;
  // A session without events may be of a pipeline that tells none: then its end is all that is known, unless it came later.
  return events.length === 0 && closedAt !== null && closedAt <= to ? closedAt : from;
}
