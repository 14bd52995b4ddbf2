/** Where something was at a time. */
export type TrackPoint = [timeMs: number, x: number, y: number];

/** An enum, because the bundler writes its values in place. */
enum Limit {
  /** The longest time between two kept points of a movement, and between two points that belong to one. */
  stretchMs = 250,
  pauseMs = 150,
  /** After each so many kept points the tolerance grows, until the track is settled. */
  finePoints = 40,
}

/**
 * Thins a track by its shape: points leave as long as the track goes on straight and at the same speed from the point that
 * was kept last. The first and the last point of a movement always stay. `keep` gets the points in order. `settle` keeps
 * the last point, if it is not kept yet, and allows the finest detail again.
 */
export function createThinner(
  keep: (point: TrackPoint) => void,
  tolerance: number,
  stretchMs: number = Limit.stretchMs,
): [add: (point: TrackPoint) => void, settle: () => void] {
  let last: TrackPoint | undefined;
  let anchor: TrackPoint | undefined;
  let speedX = 0;
  let speedY = 0;
  let kept = 0;

  function keepLast(): void {
    if (!last || last === anchor) return;
    anchor = last;
    kept++;
    keep(last);
  }
  return [
    (point) => {
      const [timeMs, x, y] = point;
      if (!last || timeMs - last[0] > Limit.pauseMs) {
        keepLast();
        last = point;
        keepLast();
        return;
      }
      let [fromMs, fromX, fromY] = anchor!;
      const passedMs = timeMs - fromMs;
      const error = Math.hypot(fromX + speedX * passedMs - x, fromY + speedY * passedMs - y);
      if (last === anchor || passedMs > stretchMs || error > tolerance * (1 + kept / Limit.finePoints)) {
        keepLast();
        [fromMs, fromX, fromY] = last;
        speedX = (x - fromX) / (timeMs - fromMs || 1);
        speedY = (y - fromY) / (timeMs - fromMs || 1);
      }
      last = point;
    },
    () => {
      keepLast();
      kept = 0;
    },
  ];
}
