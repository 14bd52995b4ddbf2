import { MAX_SPEED_KMH, MIN_DISTANCE_KM, measureTravel } from '../detection/travel';
import { areComparable } from '../domain/correlation';
import { comesBefore, isNamed, type NamedVisit } from './history';
import type { AnomalyRule, FoundAnomaly } from './rule';

const HOUR_MS = 3_600_000;
/** At the greatest speed, half of the way around the Earth takes this long. Sessions further apart need no look. */
const MAX_HOURS = 23;

/**
 * One user at two places, too far apart for the time between. A place is known at the start of a session only, so the time is
 * that between the starts.
 */
export const impossibleTravelRule: AnomalyRule = {
  name: 'ImpossibleTravel',
  definition: `Two sessions of a user begin at places so far apart that the way between them takes more than ${MAX_SPEED_KMH} km/h. Once for each user, pair of places and day.`,
  parameters: [
    'distance: along the great circle, less the accuracies of both places',
    `speed: above ${MAX_SPEED_KMH} km/h, and distance above ${MIN_DISTANCE_KM} km`,
    'a session without coordinates is not judged',
  ],
  severity: 'high; low if both sessions are of one device, which has not travelled either',
  metadata: ['otherSessionId', 'distanceKm', 'minutesBetween', 'speedKmh', 'isSameDevice'],
  innocent: [
    'a VPN or proxy that was switched on or off',
    'a phone whose carrier leaves its network in another city or country',
    'a database of addresses that is wrong or out of date',
  ],
  causes: ['correlated'],
  async find(session, history) {
    if (!isNamed(session) || session.location === null) return [];
    const visits = (await history.listUserVisits()).filter(isNamed);
    const found = new Map<string, FoundAnomaly>();
    for (const other of visits) {
      if (other.id === session.id || !areComparable(session, other)) continue;
      const [earlier, later] = comesBefore(other, session) ? [other, session] : [session, other];
      const travel = describeTravel(earlier, later);
      if (travel) found.set(travel.cause.join(), travel);
    }
    return [...found.values()];
  },
};

function describeTravel(earlier: NamedVisit, later: NamedVisit): FoundAnomaly | null {
  const betweenMs = Date.parse(later.createdAt) - Date.parse(earlier.createdAt);
  if (earlier.location === null || later.location === null || betweenMs > MAX_HOURS * HOUR_MS) return null;
  const { distanceKm, speedKmh, isImpossible } = measureTravel(earlier.location, later.location, betweenMs / HOUR_MS);
  if (!isImpossible) return null;
  const isSameDevice = later.fingerprint !== null && later.fingerprint === earlier.fingerprint;
  // Whole degrees: the coordinates of a network vary a little.
  const places = [earlier, later].map(({ location }) =>
    [location!.latitude, location!.longitude].map(Math.round).join(),
  );
  return {
    cause: [later.userId, later.createdAt.slice(0, 10), ...places.sort()],
    severity: isSameDevice ? 'low' : 'high',
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
