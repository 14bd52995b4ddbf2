import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addPoint,
  createTrack,
  fitTracks,
  MAX_PLACE_PX,
  simplifyTrack,
  type Track,
} from '../../../server/detection/tracks';

const point = fc.tuple(
  fc.constantFrom(0, 0, 1, 8, 16, 250, 399, 5_000),
  fc.integer({ min: -60, max: 60 }),
  fc.integer({ min: -60, max: 60 }),
);
/** Tracks that go straight on, jump, turn back and rest. */
const track = fc.array(point, { maxLength: 120 }).map((steps) => {
  const made = createTrack();
  let [atMs, x, y] = [0, 0, 0];
  for (const [passedMs, dx, dy] of steps) {
    atMs += passedMs;
    x += dx;
    y += dy;
    addPoint(made, atMs, x, y);
  }
  return made;
});

/** Where a drawn track can be at a time: at a jump it is at both ends. */
function placesAt({ timesMs, xs, ys }: Track, chosen: readonly number[], atMs: number): [x: number, y: number][] {
  const here = chosen
    .filter((index) => timesMs[index] === atMs)
    .map((index): [number, number] => [xs[index]!, ys[index]!]);
  if (here.length > 0) return here;
  const after = chosen.findIndex((index) => timesMs[index]! > atMs);
  const [from, to] = [chosen[after - 1]!, chosen[after]!];
  const share = (atMs - timesMs[from]!) / (timesMs[to]! - timesMs[from]!);
  return [[xs[from]! + share * (xs[to]! - xs[from]!), ys[from]! + share * (ys[to]! - ys[from]!)]];
}

const farthest = (made: Track, chosen: readonly number[]) =>
  made.timesMs.reduce((most, atMs, index) => {
    const distances = placesAt(made, chosen, atMs).map(([x, y]) =>
      Math.max(Math.abs(x - made.xs[index]!), Math.abs(y - made.ys[index]!)),
    );
    return Math.max(most, Math.min(...distances));
  }, 0);

describe('a simplified track', () => {
  it('is nowhere and never further away than the tolerance', () => {
    fc.assert(
      fc.property(track, fc.constantFrom(0, 1, 3, 27, 300), (made, tolerance) => {
        const chosen = simplifyTrack(made, tolerance);
        expect(farthest(made, chosen)).toBeLessThanOrEqual(tolerance + 1e-6);
        expect(chosen).toEqual([...new Set(chosen)].sort((a, b) => a - b));
      }),
      { numRuns: 400 },
    );
  });

  it('keeps corners and pauses, and drops what is straight', () => {
    const made = createTrack();
    for (let step = 0; step <= 100; step++) addPoint(made, step * 10, step * 4, 0);
    for (let step = 1; step <= 100; step++) addPoint(made, 1_000 + step * 10, 400, step * 2);
    // Rests for a second before it goes back.
    for (let step = 0; step <= 50; step++) addPoint(made, 3_000 + step * 10, 400 - step * 8, 200);
    const chosen = simplifyTrack(made, 1).map((index) => [made.timesMs[index], made.xs[index], made.ys[index]]);
    expect(chosen).toEqual([
      [0, 0, 0],
      [1_000, 400, 0],
      [2_000, 400, 200],
      [3_000, 400, 200],
      [3_500, 0, 200],
    ]);
  });

  it('has at most so many points with others, and says how exact it is', () => {
    const made = Array.from({ length: 3 }, () => createTrack());
    const wide = fc.sample(fc.integer({ min: -1e9, max: 1e9 }), { numRuns: 3_000, seed: 1 });
    for (const [index, far] of wide.entries()) addPoint(made[index % 3]!, index, far, wide[(index * 7) % wide.length]!);
    const { tolerancePx, chosen } = fitTracks(made, 100);
    expect(chosen.flat().length).toBeLessThanOrEqual(100);
    expect(tolerancePx).toBeLessThanOrEqual(3 * 2 * MAX_PLACE_PX);
    for (const [index, one] of made.entries()) expect(farthest(one, chosen[index]!)).toBeLessThanOrEqual(tolerancePx);
    expect(fitTracks(made, 3_100).tolerancePx).toBe(1);
  });
});
