import { describe, expect, it } from 'vitest';
import { Campus, shorten } from '../../support/campus';
import { daysAgo, HOUR, makeVisit, minutesAgo, type VisitFields } from '../../support/visits';
import { campus, LAPTOP, LONDON, listTypes, PARIS, PHONE, SYDNEY, server, visit } from './shared-campus';

export function registerPlaceTests(): void {
  describe('ImpossibleTravel', () => {
    const travel = (from: VisitFields, to: VisitFields) => [
      { ago: 180, location: LONDON, device: 'one', ...from },
      { ago: 60, location: SYDNEY, device: 'two', ...to },
    ];

    it('names two places that are too far apart for the time between', async () => {
      const found = await visit(...travel({ id: 'a' }, { id: 'b' }));
      expect(found).toMatchObject([
        {
          ...{ anomalyType: 'ImpossibleTravel', severity: 'high', sessionId: 'b', userId: 'ada' },
          metadata: { otherSessionId: 'a', minutesBetween: 120, isSameDevice: false },
        },
      ]);
      const { distanceKm, speedKmh } = found[0]!.metadata as Record<string, number>;
      expect(distanceKm).toBeGreaterThan(16_800);
      expect(distanceKm).toBeLessThan(16_950);
      expect(speedKmh).toBe(Math.round(distanceKm! / 2));
    });

    it('is told once for the places and day, whichever session is told first', async () => {
      const at = (hour: number, location: VisitFields['location']) => ({
        ...{ ago: (HOUR - hour) * 60, location, device: `${hour}` },
      });
      expect(await listTypes(at(6, SYDNEY), at(5, LONDON), at(7, LONDON), at(8, SYDNEY))).toEqual([
        'ImpossibleTravel high ada',
      ]);
    });

    it('is low if the device is one and the same, because that has not travelled either', async () => {
      expect(await listTypes(...travel({ device: 'one' }, { device: 'one' }))).toEqual(['ImpossibleTravel low ada']);
    });

    it.each<[string | null, string | null]>([
      [null, null],
      ['one', null],
      [null, 'two'],
    ])('is medium if a device is not known, because it may be the same: %j and %j', async (one, other) => {
      expect(await listTypes(...travel({ device: one }, { device: other }))).toEqual(['ImpossibleTravel medium ada']);
    });

    it.each<[string, VisitFields, VisitFields]>([
      ['a flight', { ago: 60 + 24 * 60 }, {}],
      ['a train', {}, { location: PARIS }],
      ['places that are known to a thousand kilometres only', {}, { location: { ...PARIS, accuracyKm: 1_000 } }],
      ['a session without coordinates', {}, { location: undefined }],
      ['two users', {}, { user: 'bob' }],
      ['an unsigned user', {}, { confidence: 0.5 }],
    ])('leaves %s alone', async (_, from, to) => {
      expect(await listTypes(...travel(from, to))).toEqual([]);
    });
  });

  describe('ConcurrentSessions', () => {
    const both = (one: VisitFields, other: VisitFields): VisitFields[] => [
      { ...LAPTOP, ago: 60, minutes: 20, input: [3, 9], ...one },
      { ...PHONE, ago: 59, minutes: 20, input: [8, 12], ...other },
    ];
    /** Without the switch to the other device. */
    const find = async (...visits: VisitFields[]) => {
      const found = await visit(...visits);
      return found.filter(({ anomalyType }) => anomalyType === 'ConcurrentSessions');
    };

    it('names input on two devices in the same minute, once a day', async () => {
      const found = await find(...both({ id: 'a' }, { id: 'b' }), ...both({ ago: 50 }, { ago: 49 }));
      expect(found).toMatchObject([
        {
          ...{ severity: 'medium', sessionId: 'b', userId: 'ada', deviceFingerprint: 'phone' },
          metadata: {
            devices: ['Chrome on Windows (desktop)', 'Safari on iOS (mobile)'],
            ...{ otherSessionId: 'a', minute: `${minutesAgo(51).slice(0, 16)}:00.000Z` },
          },
        },
      ]);
    });

    it('is found by input that comes later than the match', async () => {
      await find({ ...LAPTOP, id: 'a', minutes: null, input: [10] }, { ...PHONE, id: 'b', ago: 55, minutes: null });
      const events = [{ sequence: 9, type: 'touch' as const, timestamp: minutesAgo(50) }];
      await campus.send([{ kind: 'sessionEvents', sessionId: 'b', events }]);
      expect((await campus.listAnomalies()).map(({ anomalyType }) => anomalyType)).toContain('ConcurrentSessions');
    });

    it('names the first of several minutes', async () => {
      const found = await find(...both({ input: [9, 15] }, { input: [14, 8] }));
      expect(found.map(({ detectedAt }) => detectedAt)).toEqual([minutesAgo(51)]);
    });

    it.each<[string, number, string[]]>([
      ['reaches into the minute in which it ends', 40_000, ['ConcurrentSessions medium ada']],
      ['says nothing about its end if it is as long as a minute', 60_000, []],
    ])('knows that a stretch of input %s', async (_, durationMs, expected) => {
      await campus.send(makeVisit({ ...LAPTOP, id: 'a', minutes: null }));
      const events = [{ sequence: 0, type: 'mouse' as const, timestamp: minutesAgo(51.5), durationMs }];
      await campus.send([{ kind: 'sessionEvents', sessionId: 'a', events }]);
      const found = await find({ ...PHONE, ago: 59, minutes: 20, input: [59 - 50.9, 59 - 50.1] });
      expect(shorten(found)).toEqual(expected);
    });

    it('compares a session with the five latest ones that were open at the time', async () => {
      const phones = Array.from({ length: 6 }, (_, n) => ({ ...PHONE, ago: 80 - n, minutes: 40 }));
      const input = (at: number, n: number) =>
        phones.map((phone, i) => ({ ...phone, input: i === n ? [phone.ago - at] : [] }));
      const laptop = { ...LAPTOP, ago: 70, minutes: 30, input: [70 - 55, 70 - 50] };
      expect(shorten(await find(...input(55, 0), laptop))).toEqual([]);
      const other = await Campus.create(server);
      expect(shorten(await other.visit(...input(50, 5), laptop))).toContain('ConcurrentSessions medium ada');
    });

    it('is not told of a session that was left open a day before', async () => {
      const atOnce = (ago: number) => both({ ago, minutes: null, input: [ago - 51] }, {});
      expect(shorten(await find(...atOnce(daysAgo(1) + 60)))).toEqual([]);
      expect(shorten(await find(...atOnce(daysAgo(1))))).toEqual(['ConcurrentSessions medium ada']);
    });

    it.each<[string, VisitFields, VisitFields]>([
      ['a person who changes from one device to the other', { input: [1, 2] }, { input: [4] }],
      ['a page that scrolls or is hidden', { inputType: 'scroll' }, {}],
      ['a page that puts the focus into a form', { inputType: 'form' }, {}],
      ['a page that is only looked at', { inputType: 'visibility' }, {}],
      ['a frame whose storage is partitioned', {}, { device: 'frame', userAgent: undefined }],
      ['sessions that follow each other', { minutes: 2, input: [1] }, { ago: 57, input: [1] }],
      ['an unsigned user', {}, { confidence: 0.5 }],
      ['two users', {}, { user: 'bob' }],
    ])('leaves %s alone', async (_, one, other) => {
      expect(await find(...both(one, other))).toEqual([]);
    });
  });
}
