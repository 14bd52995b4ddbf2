/** Where something was at a time. */
export type TrackPoint = [timeMs: number, x: number, y: number];

export interface Thinner {
  add(point: TrackPoint): void;
  /** Keeps the last point, if it is not kept yet, and allows the finest detail again. */
  settle(): void;
}

/** An enum, because the bundler writes its values in place. */
enum Limit {
  /** A straight stretch has at most this many points between two kept ones, and no pause. */
  pending = 16,
  gapMs = 150,
  /** After each so many kept points the tolerance grows, until the track is settled. */
  finePoints = 40,
}

/**
 * Thins a track by its shape: points leave that lie, at their time, on the line between the points that are kept. So speed
 * is kept as well as form. The first and the last point of a movement always stay. `keep` gets the points in order.
 */
export function createThinner(
  keep: (point: TrackPoint) => void,
  tolerance: number,
  maxPending: number = Limit.pending,
): Thinner {
  let anchor: TrackPoint | undefined;
  let pending: TrackPoint[] = [];
  let kept = 0;

  const keepPoint = (point: TrackPoint | undefined) => {
    if (!point) return;
    pending = [];
    anchor = point;
    kept++;
    keep(point);
  };
  const keepLast = () => keepPoint(pending[pending.length - 1]);
  /** Tells if a pending point lies off the line from the last kept point to this one. */
  const isBent = ([toMs, toX, toY]: TrackPoint) => {
    const [fromMs, fromX, fromY] = anchor!;
    return pending.some(([timeMs, x, y]) => {
      const share = (timeMs - fromMs) / (toMs - fromMs || 1);
      const error = Math.hypot(fromX + share * (toX - fromX) - x, fromY + share * (toY - fromY) - y);
      return error > tolerance * (1 + kept / Limit.finePoints);
    });
  };

  return {
    add(point) {
      const last = pending[pending.length - 1] ?? anchor;
      if (!last || point[0] - last[0] > Limit.gapMs) {
        keepLast();
        keepPoint(point);
        return;
      }
      if (pending.length >= maxPending || isBent(point)) keepLast();
      pending.push(point);
    },
    settle() {
      keepLast();
      kept = 0;
    },
  };
}
