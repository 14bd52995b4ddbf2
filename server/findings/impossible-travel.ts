import { MAX_SPEED_KMH, MIN_DISTANCE_KM, measureTravel } from '../detection/travel';
import { areComparable } from '../domain/correlation';
import { comesBefore, findTaken, type History, isNamed, type NamedVisit } from './history';
import type { AnomalyRule, FoundAnomaly } from './rule';

const HOUR_MS = 3_600_000;
/** At the greatest speed, half of the way around the Earth takes this long. Sessions further apart need no look. */
const MAX_HOURS = 23;

/**
 * One user at two places, too far apart for the time between. A place is known at the start of a session only, so the time is
 * that between the starts. Of a session that another user had before, the place is that user's.
 */
export const impossibleTravelRule: AnomalyRule = {
  name: 'ImpossibleTravel',
  definition: `Two sessions of a user begin at places so far apart that the way between them takes more than ${MAX_SPEED_KMH} km/h. Once for each user, pair of places and day.`,
  parameters: [
    'distance: along the great circle, less the accuracies of both places',
    `speed: above ${MAX_SPEED_KMH} km/h, and distance above ${MIN_DISTANCE_KM} km, also if the user came to a session only when it was matched`,
    'a session without coordinates, or that began with another user, is not judged',
  ],
  severity:
    'high; low if both sessions are of one device, which has not travelled either; medium if a device is not known, as it may be the same',
  metadata: ['otherSessionId', 'distanceKm', 'minutesBetween', 'speedKmh', 'isSameDevice'],
  innocent: [
    'a VPN or proxy that was switched on or off',
    'a phone whose carrier leaves its network in another city or country',
    'a database of addresses that is wrong or out of date',
    'a teacher or administrator elsewhere who acts as the user (Canvas: act as user; Moodle: log in as)',
  ],
  causes: ['correlated'],
  async find(session, history) {
    if (!isNamed(session) || session.location === null) return [];
    const visits = (await history.listUserVisits()).filter(isNamed);
    const travels = visits.flatMap((other) => {
      if (other.id === session.id || !areComparable(session, other)) return [];
      const [earlier, later] = comesBefore(other, session) ? [other, session] : [session, other];
      const travel = describeTravel(earlier, later);
      return travel ? [{ other, travel }] : [];
    });
    if (travels.length === 0 || (await wasTaken(session, history))) return [];
    const taken = await Promise.all(travels.map(({ other }) => wasTaken(other, history)));
    const found = new Map<string, FoundAnomaly>();
    for (const [place, { travel }] of travels.entries()) if (!taken[place]) found.set(travel.cause.join(), travel);
    return [...found.values()];
  },
};

/** Whether another user had the session before. */
const wasTaken = async (visit: NamedVisit, history: History) => (await findTaken(visit, history)) !== null;

function describeTravel(earlier: NamedVisit, later: NamedVisit): FoundAnomaly | null {
  const betweenMs = Date.parse(later.createdAt) - Date.parse(earlier.createdAt);
  if (earlier.location === null || later.location === null || betweenMs > MAX_HOURS * HOUR_MS) return null;
  const { distanceKm, speedKmh } = measureTravel(earlier.location, later.location, betweenMs / HOUR_MS);
  const longestMs = measureLongest(earlier, later);
  if (!measureTravel(earlier.location, later.location, longestMs / HOUR_MS).isImpossible) return null;
  const areKnown = later.fingerprint !== null && earlier.fingerprint !== null;
  const isSameDevice = areKnown && later.fingerprint === earlier.fingerprint;
  // Whole degrees: the coordinates of a network vary a little.
  const places = [earlier, later].map(({ location }) =>
    [location!.latitude, location!.longitude].map(Math.round).join(),
  );
  return {
    cause: [later.userId, later.createdAt.slice(0, 10), ...places.sort()],
    severity: isSameDevice ? 'low' : areKnown ? 'high' : 'medium',
    detectedAt: later.correlatedAt,
    ...{ sessionId: later.id, userId: later.userId, deviceFingerprint: later.fingerprint },
    metadata: {
      otherSessionId: earlier.id,
      distanceKm: Math.round(distanceKm),
      minutesBetween: Math.round(betweenMs / 60_000),
      speedKmh: Math.round(speedKmh),
      isSameDevice,
    },
  };
}

/**
 * Measures the longest time that the user may have had. A page can be open for hours, as on a machine in a library, before somebody
 * signs in: the user came to it at any time until the match, but not after its close.
 */
function measureLongest(earlier: NamedVisit, later: NamedVisit): number {
  const [start, laterStart] = [earlier, later].map(({ createdAt }) => Date.parse(createdAt)) as [number, number];
  return Math.max(laterStart - start, findLatest(later) - start, findLatest(earlier) - laterStart);
}

const findLatest = ({ correlatedAt, closedAt }: NamedVisit) =>
  Math.min(Date.parse(correlatedAt), closedAt === null ? Number.POSITIVE_INFINITY : Date.parse(closedAt));
