import { areComparable, isInput } from '../domain/correlation';
import { describeDevice, isOtherKind } from '../domain/user-agents';
import { comesBefore, findTaken, type History, isMatched, type MatchedVisit } from './history';
import type { AnomalyRule, FoundAnomaly } from './rule';

const MINUTE_MS = 60_000;
/** Longer sessions are not looked for. Ours end after 8 hours. */
const MAX_SESSION_MS = 24 * 3_600_000;
/** The most sessions that one is compared with: the latest ones. */
const MAX_OTHERS = 5;

/**
 * Input of one user on two devices in the same minute. Devices with equal descriptions are left out: a frame with
 * partitioned storage has another fingerprint than the page around it, and a person uses both in one minute. So two equal
 * computers are missed, and said to be.
 */
export const concurrentSessionsRule: AnomalyRule = {
  name: 'ConcurrentSessions',
  definition:
    'Mouse, keyboard, touch or clipboard input of one user on two devices in the same minute. The devices are of another type, browser or system. Once for each user, pair of devices and day.',
  parameters: [
    'minute: of the clock, in UTC',
    `compared: the ${MAX_OTHERS} latest sessions that were open at the time, and the latest 500 events of each`,
    'a device whose user agent names no system is of no other kind',
    'input from before the match does not count in a session that another user had before',
    'input at a page that names nobody does not count, once another page of the session named the user',
  ],
  severity: 'medium',
  metadata: ['devices', 'otherSessionId', 'minute'],
  innocent: [
    'a person who reads on a laptop and answers on a phone',
    'a page that is left open on one device and moved over by accident',
    'two browsers side by side on one computer',
    'a teacher or administrator who acts as the user, on another computer (Canvas: act as user; Moodle: log in as)',
  ],
  causes: ['correlated', 'happened'],
  async find(session, history) {
    if (!isMatched(session)) return [];
    const visits = (await history.listUserVisits()).filter(isMatched);
    const others = visits.filter(
      (other) => areComparable(session, other) && isOtherDevice(session, other) && overlaps(session, other),
    );
    if (others.length === 0) return [];
    const minutes = await listMinutes(session, history);
    const found: FoundAnomaly[] = [];
    for (const other of others.slice(-MAX_OTHERS)) found.push(...(await compare(session, minutes, other, history)));
    return found;
  },
};

const isOtherDevice = (one: MatchedVisit, other: MatchedVisit) =>
  one.fingerprint !== other.fingerprint && isOtherKind(one, other);

function overlaps(one: MatchedVisit, other: MatchedVisit): boolean {
  const [startA, startB] = [Date.parse(one.createdAt), Date.parse(other.createdAt)];
  const endOf = ({ closedAt }: MatchedVisit) => (closedAt === null ? Number.POSITIVE_INFINITY : Date.parse(closedAt));
  return startA <= endOf(other) && startB <= endOf(one) && Math.abs(startA - startB) <= MAX_SESSION_MS;
}

async function compare(session: MatchedVisit, minutes: Set<number>, other: MatchedVisit, history: History) {
  const shared = [...(await listMinutes(other, history))].filter((minute) => minutes.has(minute));
  if (shared.length === 0) return [];
  const minute = new Date(Math.min(...shared) * MINUTE_MS).toISOString();
  const [earlier, later] = comesBefore(other, session) ? [other, session] : [session, other];
  return [
    {
      cause: [later.userId, minute.slice(0, 10), ...[earlier.fingerprint, later.fingerprint].sort()],
      severity: 'medium' as const,
      detectedAt: minute,
      ...{ sessionId: later.id, userId: later.userId, deviceFingerprint: later.fingerprint },
      metadata: { devices: [describeDevice(earlier), describeDevice(later)], otherSessionId: earlier.id, minute },
    },
  ];
}

/** Lists the minutes in which there was input of the user: those in which a stretch of events begins and ends. */
async function listMinutes(visit: MatchedVisit, history: History): Promise<Set<number>> {
  const [events, takenAt] = await Promise.all([history.listEvents(visit.id), findTaken(visit, history)]);
  const minutes = new Set<number>();
  for (const event of events) {
    if (!isInput(event) || (takenAt !== null && event.timestamp < takenAt)) continue;
    const startMs = Date.parse(event.timestamp);
    minutes.add(Math.floor(startMs / MINUTE_MS));
    // A longer stretch says nothing about its end.
    if ((event.durationMs ?? 0) < MINUTE_MS) minutes.add(Math.floor((startMs + (event.durationMs ?? 0)) / MINUTE_MS));
  }
  return minutes;
}
