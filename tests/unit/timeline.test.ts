import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_EVENT_TYPE, SESSION_EVENT_TYPES } from '../../contract/session-events';
import { buildTimeline, type StretchCount } from '../../server/domain/session-events';

const START = '2026-01-31T09:30:00.250Z';
const millisecondsOf = (iso: string) => Date.parse(iso);
const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

/** Sessions of up to a month, in milliseconds, including the limits of the rule. */
const duration = fc.oneof(
  fc.constantFrom(0, 0.001, 0.999, 1, 59, 59.999, 60, 60.001, 61, 119, 120, 121, 3_600, 86_400),
  fc.integer({ min: 0, max: 31 * 86_400_000 }).map((ms) => ms / 1000),
);
const stretchOf = (durationSeconds: number) => Math.max(1, Math.ceil(durationSeconds / 60));
const counts = fc.array(
  fc.record({
    stretch: fc.integer({ min: -1, max: 60 }),
    type: fc.constantFrom(...SESSION_EVENT_TYPES),
    count: fc.nat({ max: 1_000 }),
  }),
  { maxLength: 30 },
) satisfies fc.Arbitrary<StretchCount[]>;

const forAll = (
  check: (timeline: ReturnType<typeof buildTimeline>, counted: StretchCount[], seconds: number) => void,
) =>
  fc.assert(
    fc.property(duration, counts, (seconds, counted) =>
      check(buildTimeline(START, seconds, stretchOf(seconds), counted), counted, seconds),
    ),
    { numRuns: 100 },
  );

describe('buildTimeline', () => {
  it('loses no event and adds none', () => {
    forAll((timeline, counted) => {
      expect(sum(timeline.map(({ eventCount }) => eventCount))).toBe(sum(counted.map(({ count }) => count)));
    });
  });

  it('counts the types of each interval', () => {
    forAll((timeline) => {
      for (const { countsByType, eventCount, dominantEventType } of timeline) {
        const values = Object.values(countsByType);
        expect(sum(values)).toBe(eventCount);
        if (dominantEventType !== NO_EVENT_TYPE) expect(countsByType[dominantEventType]).toBe(Math.max(...values));
      }
    });
  });

  it('covers the session with at most sixty intervals of equal length, the first at its start', () => {
    forAll((timeline, _counted, seconds) => {
      const step = stretchOf(seconds) * 1000;
      timeline.forEach(({ timestamp }, n) => {
        expect(millisecondsOf(timestamp)).toBe(millisecondsOf(START) + n * step);
      });
      expect(timeline.length).toBeGreaterThanOrEqual(1);
      expect(timeline.length).toBeLessThanOrEqual(60);
      expect(timeline.length * step).toBeGreaterThanOrEqual(seconds * 1000);
      // No interval begins at the end or after it.
      expect((timeline.length - 1) * step).toBeLessThan(Math.max(seconds * 1000, 1));
    });
  });

  it('counts each event in its interval, and events outside the session in the first or last one', () => {
    forAll((timeline, counted) => {
      timeline.forEach(({ eventCount }, n) => {
        const last = timeline.length - 1;
        const here = counted.filter(({ stretch }) => Math.max(0, Math.min(stretch, last)) === n);
        expect(eventCount).toBe(sum(here.map(({ count }) => count)));
      });
    });
  });

  it('measures activity relative to the busiest interval: 0 to 1, with a 1 if there is any event', () => {
    forAll((timeline, counted) => {
      const busiest = Math.max(...timeline.map(({ eventCount }) => eventCount));
      for (const { activityLevel, eventCount } of timeline)
        expect(activityLevel).toBe(busiest === 0 ? 0 : eventCount / busiest);
      const hasEvents = counted.some(({ count }) => count > 0);
      expect(Math.max(...timeline.map(({ activityLevel }) => activityLevel))).toBe(hasEvents ? 1 : 0);
    });
  });

  it('names the type with the most events, on a tie the first in the list, and none without events', () => {
    forAll((timeline, counted) => {
      timeline.forEach(({ dominantEventType }, n) => {
        const last = timeline.length - 1;
        const countOf = (type: string) =>
          sum(
            counted
              .filter((one) => one.type === type && Math.max(0, Math.min(one.stretch, last)) === n)
              .map(({ count }) => count),
          );
        const most = Math.max(...SESSION_EVENT_TYPES.map(countOf));
        const expected = most === 0 ? NO_EVENT_TYPE : SESSION_EVENT_TYPES.find((type) => countOf(type) === most);
        expect(dominantEventType).toBe(expected);
      });
    });
  });
});
