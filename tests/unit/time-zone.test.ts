import { describe, expect, it } from 'vitest';
import { describeBound, readDateRange, showBound, writeBound } from '../../app/dashboard/date-range';
import {
  findDay,
  findInstant,
  nameOffset,
  readTimeZone,
  showClock,
  showInstant,
  showMinute,
  startOfDay,
} from '../../app/dashboard/time-zone';

const at = (iso: string) => Date.parse(iso);
const search = (query: string) => new URLSearchParams(query);

describe('a time zone of the dashboard', () => {
  it('is UTC unless the cookie names one that exists', () => {
    expect([undefined, '', 'Nowhere/At_All', '<script>', 'x'.repeat(5000)].map(readTimeZone)).toEqual(
      Array(5).fill('UTC'),
    );
    expect(readTimeZone('Europe/Berlin')).toBe('Europe/Berlin');
  });

  it.each([
    ['2026-11-22T14:03:12.900Z', 'UTC', '22 Nov 2026, 14:03:12 UTC'],
    ['2026-11-22T14:03:12.900Z', 'Europe/Berlin', '22 Nov 2026, 15:03:12 UTC+1'],
    ['2026-07-01T22:30:00Z', 'Europe/Berlin', '2 Jul 2026, 00:30:00 UTC+2'],
    ['2026-11-22T20:00:00Z', 'Asia/Kolkata', '23 Nov 2026, 01:30:00 UTC+5:30'],
    ['2026-01-01T02:00:00Z', 'America/St_Johns', '31 Dec 2025, 22:30:00 UTC−3:30'],
    ['2026-12-01T00:00:00Z', 'Europe/London', '1 Dec 2026, 00:00:00 UTC'],
  ])('shows %s in %s as %s', (iso, zone, text) => {
    expect(showInstant(iso, zone)).toBe(text);
  });

  it('shows minutes without the year', () => {
    expect(showMinute('2026-11-22T23:30:00Z', 'Europe/Berlin')).toBe('23 Nov, 00:30');
  });

  it.each([
    // The clocks go forward at 02:00, and back at 03:00.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00Z'],
    ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00Z'],
    // The clocks go from 23:59 to 01:00: the day has no midnight.
    ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00Z'],
    ['2026-11-22', 'Pacific/Auckland', '2026-11-21T11:00:00Z'],
    ['2026-11-22', 'UTC', '2026-11-22T00:00:00Z'],
  ])('begins %s in %s at %s', (day, zone, iso) => {
    expect(new Date(startOfDay(day, zone)).toISOString()).toBe(new Date(iso).toISOString());
    expect(findDay(startOfDay(day, zone), zone)).toBe(day);
    expect(findDay(startOfDay(day, zone) - 1, zone)).not.toBe(day);
  });

  it.each([
    ['2026-11-22T15:03', 'Asia/Kolkata', '2026-11-22T09:33:00Z'],
    ['2026-07-01T00:30', 'America/St_Johns', '2026-07-01T03:00:00Z'],
    // Clocks skip this hour, and show it twice in autumn.
    ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00Z'],
    ['2026-03-08T02:30', 'America/New_York', '2026-03-08T07:30:00Z'],
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T01:30:00Z'],
  ])('shows %s in %s at %s', (clock, zone, iso) => {
    expect(new Date(findInstant(clock, zone)).toISOString()).toBe(new Date(iso).toISOString());
  });

  it('reads in a field what it has written there', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kathmandu'])
      expect(findInstant(showClock(at('2026-11-22T15:03:59Z'), zone), zone)).toBe(at('2026-11-22T15:03:00Z'));
    expect(findInstant('', 'Europe/Berlin')).toBeNaN();
  });

  it('names the offset of the moment, not of today', () => {
    expect([at('2026-01-01T00:00Z'), at('2026-07-01T00:00Z')].map((ms) => nameOffset(ms, 'Europe/Berlin'))).toEqual([
      ...['UTC+1', 'UTC+2'],
    ]);
  });
});

describe('a range of days', () => {
  const berlin = { nowMs: at('2026-11-22T23:30:00Z'), timeZone: 'Europe/Berlin' };

  it('of a preset begins at midnight in the zone, and ends now', () => {
    expect(readDateRange(search('range=today'), berlin)).toEqual({
      startDate: '2026-11-22T23:00:00.000Z',
      endDate: undefined,
    });
    expect(readDateRange(search('range=7d'), berlin).startDate).toBe('2026-11-16T23:00:00.000Z');
    expect(readDateRange(search('range=30d'), berlin).startDate).toBe('2026-10-24T22:00:00.000Z');
    expect(readDateRange(search('range=7d'), { ...berlin, timeZone: 'UTC' }).startDate).toBe(
      '2026-11-16T00:00:00.000Z',
    );
  });

  it('passes other bounds as they are, also those that the API will refuse', () => {
    expect(readDateRange(search('range=ever&startDate=soon'), berlin)).toEqual({
      startDate: 'soon',
      endDate: undefined,
    });
  });

  it.each(['UTC', 'Europe/Berlin', 'America/Santiago', 'Asia/Kolkata'])(
    'shows the days in %s that were chosen',
    (zone) => {
      for (const day of ['2026-03-29', '2026-09-06', '2026-10-25', '2026-12-31'])
        for (const edge of ['start', 'end'] as const)
          expect(showBound(writeBound(day, edge, zone), edge, zone)).toBe(day);
    },
  );

  it('keeps UTC days as days, for everyone who gets the link', () => {
    expect(writeBound('2026-11-22', 'end', 'UTC')).toBe('2026-11-22');
    expect(showBound('2026-11-22', 'start', 'America/Santiago')).toBe('2026-11-21');
    expect(showBound('nonsense', 'start', 'UTC')).toBe('');
  });

  it('that begins or ends with UTC days shows the days of the zone that it has a part of', () => {
    expect((['start', 'end'] as const).map((edge) => showBound('2026-11-22', edge, 'America/Santiago'))).toEqual([
      ...['2026-11-21', '2026-11-22'],
    ]);
    expect((['start', 'end'] as const).map((edge) => showBound('2026-11-22', edge, 'Asia/Kolkata'))).toEqual([
      ...['2026-11-22', '2026-11-23'],
    ]);
  });

  it.each([
    ['2026-11-22', 'start', 'UTC', '2026-11-22'],
    ['2026-11-22', 'end', 'UTC', '2026-11-22'],
    ['9999-12-31', 'end', 'UTC', '9999-12-31'],
    ['2026-11-22T00:00:00.000Z', 'start', 'UTC', '2026-11-22'],
    ['2026-11-23T00:00:00.000Z', 'end', 'UTC', '2026-11-22'],
    ['2026-03-29T22:00:00.000Z', 'end', 'Europe/Berlin', '2026-03-29'],
    ['2026-09-06T04:00:00.000Z', 'start', 'America/Santiago', '2026-09-06'],
    // An hour of the overview, and a minute of a course.
    ['2026-11-22T14:00:00.000Z', 'start', 'UTC', '22 Nov 2026, 14:00:00 UTC'],
    ['2026-11-22T15:00:00.000Z', 'end', 'UTC', '22 Nov 2026, 15:00:00 UTC'],
    ['2026-11-22T14:01:00.000Z', 'end', 'Europe/Berlin', '22 Nov 2026, 15:01:00 UTC+1'],
    ['2026-11-22', 'start', 'Europe/Berlin', '22 Nov 2026, 01:00:00 UTC+1'],
    ['soon', 'start', 'UTC', 'soon'],
    // A link may say any time. One whose day has no year of four digits stays as it is.
    ['9999-12-31', 'end', 'Asia/Kolkata', '9999-12-31'],
    ['9999-12-31T23:00:00.000Z', 'end', 'Asia/Kolkata', '9999-12-31T23:00:00.000Z'],
    ['+275760-09-13T00:00:00.000Z', 'start', 'Asia/Kolkata', '+275760-09-13T00:00:00.000Z'],
    ['-000001-01-01T00:00:00.000Z', 'end', 'Asia/Kolkata', '-000001-01-01T00:00:00.000Z'],
  ] as const)('that has %s as its %s says in %s: %s', (bound, edge, zone, words) => {
    expect(describeBound(bound, edge, zone)).toBe(words);
  });
});
