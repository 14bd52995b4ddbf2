// How fast somebody must have travelled to be at two places.

/** A place, known up to a radius. */
export interface Place {
  latitude: number;
  longitude: number;
  accuracyKm: number;
}

/** The mean radius of the Earth. */
const EARTH_RADIUS_KM = 6_371;
/** Times that are closer count as this far apart, so that the speed stays a number. */
const MIN_HOURS = 1 / 60;
/** Airliners are slower. */
export const MAX_SPEED_KMH = 900;
/** Less is within what the coordinates of an address are worth, whatever accuracy they claim. */
export const MIN_DISTANCE_KM = 300;

export interface Travel {
  /** The great-circle distance less both accuracies. */
  distanceKm: number;
  speedKmh: number;
  /** Nobody travels as far in the time. */
  isImpossible: boolean;
}

/** Measures the least travel between two places in a time. */
export function measureTravel(from: Place, to: Place, hours: number): Travel {
  const distanceKm = Math.max(0, measureDistance(from, to) - from.accuracyKm - to.accuracyKm);
  const speedKmh = distanceKm / Math.max(Math.abs(hours), MIN_HOURS);
  return { distanceKm, speedKmh, isImpossible: distanceKm > MIN_DISTANCE_KM && speedKmh > MAX_SPEED_KMH };
}

/** The great-circle distance, by the haversine formula. */
export function measureDistance(
  from: Pick<Place, 'latitude' | 'longitude'>,
  to: Pick<Place, 'latitude' | 'longitude'>,
): number {
  const [a, b] = [toRadians(from.latitude), toRadians(to.latitude)];
  const haversine = (angle: number) => Math.sin(angle / 2) ** 2;
  const h =
    haversine(b - a) + Math.cos(a) * Math.cos(b) * haversine(toRadians(to.longitude) - toRadians(from.longitude));
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)));
}

const toRadians = (degrees: number) => (degrees * Math.PI) / 180;
