// Tracks of a pointer or of scrolling with few points, so that they can be drawn.

/** Where something was at times, in whole milliseconds that never go back. */
export interface Track {
  timesMs: number[];
  xs: number[];
  ys: number[];
}

/** A pointer that says nothing for longer rests where it is: the pixel tells of moves more often. */
const REST_MS = 400;
/** Places are kept within this many pixels, so that every track can be drawn with two points. */
export const MAX_PLACE_PX = 32_767;
const FIRST_TOLERANCE_PX = 1;
const TOLERANCE_STEP = 3;

export const createTrack = (): Track => ({ timesMs: [], xs: [], ys: [] });

export const clampPlace = (px: number) => Math.max(-MAX_PLACE_PX, Math.min(MAX_PLACE_PX, Math.round(px)));

/** Adds a point to a track. A point before the last one counts as one at its time. */
export function addPoint({ timesMs, xs, ys }: Track, atMs: number, x: number, y: number): void {
  const last = timesMs.length - 1;
  const timeMs = last < 0 ? atMs : Math.max(atMs, timesMs[last]!);
  if (last >= 0 && timeMs - timesMs[last]! > REST_MS) {
    timesMs.push(timeMs - 1);
    xs.push(xs[last]!);
    ys.push(ys[last]!);
  }
  timesMs.push(timeMs);
  xs.push(clampPlace(x));
  ys.push(clampPlace(y));
}

/**
 * Chooses the points of a track that are enough to draw it. At the time of each point that is left out, the line between the
 * chosen points is at most the tolerance away from it, in x and in y. So the shape stays, and so do speed and pauses. Reads each
 * point once: from the last chosen point on, each further point narrows the speeds that pass all of them closely enough. Stops when it
 * has chosen more than `maxPoints`.
 */
export function simplifyTrack({ timesMs, xs, ys }: Track, tolerance: number, maxPoints = Infinity): number[] {
  const count = timesMs.length;
  if (count === 0) return [];
  const chosen = [0];
  let from = 0;
  let [leastX, mostX, leastY, mostY] = [-Infinity, Infinity, -Infinity, Infinity];
  const startAt = (index: number) => {
    if (index !== from) chosen.push(index);
    from = index;
    leastX = leastY = -Infinity;
    mostX = mostY = Infinity;
  };
  for (let index = 1; index < count && chosen.length <= maxPoints; index++) {
    let passedMs = timesMs[index]! - timesMs[from]!;
    const speedX = (xs[index]! - xs[from]!) / passedMs;
    const speedY = (ys[index]! - ys[from]!) / passedMs;
    const isPassing = speedX >= leastX && speedX <= mostX && speedY >= leastY && speedY <= mostY;
    if (passedMs > 0 && !isPassing) {
      startAt(index - 1);
      passedMs = timesMs[index]! - timesMs[from]!;
    }
    const [x, y] = [xs[index]! - xs[from]!, ys[index]! - ys[from]!];
    if (passedMs === 0) {
      // A jump takes no time.
      if (Math.abs(x) > tolerance || Math.abs(y) > tolerance) startAt(index);
      continue;
    }
    leastX = Math.max(leastX, (x - tolerance) / passedMs);
    mostX = Math.min(mostX, (x + tolerance) / passedMs);
    leastY = Math.max(leastY, (y - tolerance) / passedMs);
    mostY = Math.min(mostY, (y + tolerance) / passedMs);
  }
  startAt(count - 1);
  return chosen;
}

/**
 * Chooses the points of several tracks: at most `maxPoints` in all, with one tolerance, as small as that allows. There must be two
 * points for each track.
 */
export function fitTracks(tracks: readonly Track[], maxPoints: number): { tolerancePx: number; chosen: number[][] } {
  for (let tolerancePx = FIRST_TOLERANCE_PX; ; tolerancePx *= TOLERANCE_STEP) {
    let room = maxPoints;
    const chosen: number[][] = [];
    for (const track of tracks) {
      const indexes = simplifyTrack(track, tolerancePx, room);
      room -= indexes.length;
      if (room < 0) break;
      chosen.push(indexes);
    }
    if (room >= 0) return { tolerancePx, chosen };
  }
}
