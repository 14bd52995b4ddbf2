import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureDistance, measureTravel, type Place } from '../../../server/detection/travel';

const at = (latitude: number, longitude: number, accuracyKm = 0): Place => ({ latitude, longitude, accuracyKm });
const LONDON = at(51.5074, -0.1278);
const NEW_YORK = at(40.7128, -74.006);
const anywhere = fc
  .tuple(fc.double({ min: -90, max: 90, noNaN: true }), fc.double({ min: -180, max: 180, noNaN: true }))
  .map(([latitude, longitude]) => at(latitude, longitude));

describe('the distance of two places', () => {
  it.each([
    ['London to New York', LONDON, NEW_YORK, 5_570],
    ['pole to pole', at(90, 0), at(-90, 0), 20_015],
    ['across the date line', at(0, 179.5), at(0, -179.5), 111],
    ['a place to itself', LONDON, LONDON, 0],
  ])('%s', (_, from, to, km) => {
    expect(Math.abs(measureDistance(from, to) - km)).toBeLessThan(1);
  });

  it('is the same in both directions, and never more than half of the way around', () => {
    fc.assert(
      fc.property(anywhere, anywhere, (from, to) => {
        const km = measureDistance(from, to);
        expect(km).toBeCloseTo(measureDistance(to, from), 6);
        expect(km).toBeGreaterThanOrEqual(0);
        expect(km).toBeLessThanOrEqual(20_016);
      }),
    );
  });
});

describe('travel', () => {
  it.each<[string, Place, Place, number, boolean]>([
    ['an hour across the Atlantic', LONDON, NEW_YORK, 1, true],
    ['a flight across it', LONDON, NEW_YORK, 7, false],
    ['a flight, told the other way round', LONDON, NEW_YORK, -7, false],
    ['both ends at once', LONDON, NEW_YORK, 0, true],
    ['299 km at once', at(0, 0), at(0, 2.688), 0, false],
    ['301 km at once', at(0, 0), at(0, 2.708), 0, true],
    ['899 km in an hour', at(0, 0), at(0, 8.085), 1, false],
    ['901 km in an hour', at(0, 0), at(0, 8.104), 1, true],
    ['places that may overlap', at(51, 0, 3_000), at(40, -74, 3_000), 0, false],
    ['901 km less 10 of accuracy in an hour', at(0, 0, 10), at(0, 8.104), 1, false],
  ])('%s: impossible %#', (_, from, to, hours, isImpossible) => {
    expect(measureTravel(from, to, hours).isImpossible).toBe(isImpossible);
  });

  it('has a speed that is a number', () => {
    expect(measureTravel(LONDON, NEW_YORK, 0)).toMatchObject({ speedKmh: expect.closeTo(5_570 * 60, -4) });
  });
});
