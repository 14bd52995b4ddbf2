import { describe, expect, it } from 'vitest';
import {
  describeAnomaly,
  listReported,
  nameAnomaly,
  nameRule,
  sayAnomaly,
} from '../../app/dashboard/[integrationId]/anomalies/anomaly-words';
import { ANOMALY_TYPES, type Anomaly } from '../../contract/findings';
import { RULE_DESCRIPTIONS } from '../../server/findings/rules';

const AT = '2026-01-31T09:30:00.000Z';
const makeAnomaly = (anomalyType: string, metadata: Anomaly['metadata'], fields: Partial<Anomaly> = {}): Anomaly => ({
  ...{ id: 'ano-1', anomalyType, severity: 'high', detectedAt: AT, metadata },
  ...{ sessionId: 'ses-2', userId: 'ada', userName: 'Ada Lovelace', deviceFingerprint: 'fp-1', previousUserName: null },
  ...{ session: null, otherSession: null, status: 'Open' },
  ...{ acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null },
  ...fields,
});
const session = (country: string | null) => ({ startedAt: AT, country, device: 'Chrome 142 on Windows' });

describe('the words for anomalies', () => {
  it('name every type, and every rule', () => {
    expect(ANOMALY_TYPES.filter((type) => nameAnomaly(type) === type)).toEqual([]);
    expect(RULE_DESCRIPTIONS.filter(({ name }) => nameRule(name) === name)).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, Partial<Anomaly>, string]>([
    [
      ...(['SharedDevice', { deviceFingerprint: '4be81f0c', otherUserCount: 1 }, {}] as const),
      'Ada Lovelace used a device that 1 other user had used within the 30 days before.',
    ],
    [
      'DeviceSwitch',
      { device: 'Safari on iOS (mobile)', otherDevice: 'Chrome on Windows (desktop)', minutesSinceOther: 290 },
      { userName: null },
      'ada came with Safari on iOS (mobile), 5 hours after activity with Chrome on Windows (desktop).',
    ],
    [
      ...(['UserSwitch', { previousUserId: 'bob', minutesBetween: 20 }, { previousUserName: 'Bob' }] as const),
      'The session was matched with Bob first, and with Ada Lovelace 20 minutes later.',
    ],
    [
      'ImpossibleTravel',
      { distanceKm: 16_900, minutesBetween: 180, speedKmh: 5_633, isSameDevice: true, otherSessionId: 'ses-1' },
      { otherSession: session('GB'), session: session('AU') },
      'Ada Lovelace began a session in United Kingdom and, 3 hours later, one in Australia, at least 16,900 km away, both on one device. That is 5,633 km/h.',
    ],
    [
      ...(['ImpossibleTravel', { distanceKm: 900, minutesBetween: 1 }, { otherSession: session(null) }] as const),
      'Ada Lovelace began a session and, 1 minute later, another, at least 900 km away.',
    ],
    [
      ...(['ConcurrentSessions', { devices: ['a laptop', 'a phone'], minute: AT }, {}] as const),
      'Ada Lovelace used a laptop and a phone in the same minute, 31 Jan 2026, 15:00:00 UTC+5:30.',
    ],
    [
      'AgentTakeover',
      {
        ...{ direction: 'person-to-program', segmentsBefore: 4, segmentsAfter: 3 },
        ...{ scoreBefore: 0.12, scoreAfter: 0.934, moment: AT },
      },
      {},
      'The first 4 parts of the session of Ada Lovelace look like a person (score 12), the 3 after that like a program (score 93). The change was at 31 Jan 2026, 15:00:00 UTC+5:30.',
    ],
    [
      'AgentTakeover',
      { direction: 'program-to-person', segmentsBefore: 1, segmentsAfter: 2, moment: '2026-01-31T09:30:00' },
      { userId: null },
      'The first part of the session looks like a program, the 2 after that like a person.',
    ],
    // Names in their own direction, which ends with them, and without marks that turn what follows.
    [
      ...(['UserSwitch', { previousUserId: 'u-1', minutesBetween: 20 }] as const),
      { userName: '\u0645\u062d\u0645\u062f', previousUserName: 'Bob\u202e\u2069\u202e' },
      'The session was matched with Bob first, and with \u2068\u0645\u062d\u0645\u062f\u2069 20 minutes later.',
    ],
  ])('say what %s saw', (type, metadata, fields, expected) => {
    expect(sayAnomaly(makeAnomaly(type, metadata, fields), 'Asia/Kolkata')).toBe(expected);
  });

  it('name users, sessions and devices by their ids, for links', () => {
    const travel = makeAnomaly('ImpossibleTravel', { distanceKm: 900, minutesBetween: 1, otherSessionId: 'ses-1' });
    expect(describeAnomaly(travel)!.filter((part) => typeof part !== 'string')).toEqual([
      { kind: 'user', id: 'ada', name: 'Ada Lovelace' },
      { kind: 'session', id: 'ses-1', name: 'a session' },
      { kind: 'session', id: 'ses-2', name: 'another' },
    ]);
    const shared = makeAnomaly('SharedDevice', { otherUserCount: 2 });
    expect(describeAnomaly(shared)).toContainEqual({ kind: 'device', id: 'fp-1', name: 'a device' });
    const unknown = { userId: null, userName: null, deviceFingerprint: null };
    expect(describeAnomaly(makeAnomaly('SharedDevice', { otherUserCount: 2 }, unknown))!.slice(0, 3)).toEqual([
      ...['A user', ' used ', 'a device'],
    ]);
  });

  it('say nothing of a type or of metadata that nobody has described', () => {
    for (const type of [...ANOMALY_TYPES, 'OfTheirOwn', 'constructor', '__proto__'])
      for (const metadata of [null, {}, { otherUserCount: 'many', devices: [1, 2], direction: 'up', distanceKm: '1' }])
        expect([type, sayAnomaly(makeAnomaly(type, metadata), 'UTC')]).toEqual([type, null]);
    expect(nameAnomaly('OfTheirOwn')).toBe('OfTheirOwn');
    expect(nameAnomaly('constructor')).toBe('constructor');
  });
});

describe('metadata of a customer', () => {
  it.each([
    ['2026-01-31T09:30:00Z', true],
    ['2026-01-31T09:30:00.123456+05:30', true],
    ['2026-01-31T09:30-08:00', true],
    // Nobody knows where it is that late.
    ['2026-01-31T09:30:00', false],
    ['2026-01-31T09:30', false],
    ['2026-01-31', false],
    ['Seen at 2026-01-31T09:30:00Z', false],
    ['2026-01-31T99:30:00Z', false],
  ])('have a time only if it names its offset: %s', (seenAt, isTime) => {
    expect(listReported({ seenAt })).toEqual([{ name: 'Seen at', value: seenAt, isTime }]);
  });

  it('are rows with names in words, whatever they are', () => {
    const rows = listReported({
      ...{ minutesSinceOther: 1_290, is_same_device: false, 'Exam-Room': null, seenAt: AT, IPAddress: '10.0.0.1' },
      ...{ tags: ['a', 2, true], rooms: [{ name: 'A 1' }, { name: 'B 2' }], empty: {}, list: [] },
    });
    expect(rows.map(({ name, value }) => [name, value])).toEqual([
      ...[
        ['Minutes since other', '1,290'],
        ['Is same device', 'no'],
        ['Exam room', '–'],
        ['Seen at', AT],
      ],
      ...[
        ['IPAddress', '10.0.0.1'],
        ['Tags', 'a, 2, yes'],
        ['Rooms, 1, name', 'A 1'],
        ['Rooms, 2, name', 'B 2'],
      ],
      ...[['List', '–']],
    ]);
    expect(rows.filter(({ isTime }) => isTime).map(({ name }) => name)).toEqual(['Seen at']);
  });

  it('are shown within bounds', () => {
    const deep = { a: { b: { c: { d: { e: 1 } } } } };
    expect(listReported(deep)).toEqual([{ name: 'A, b, c, d', value: '{"e":1}', isTime: false }]);
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`key${n}`, n]));
    expect(listReported(wide)).toHaveLength(100);
    expect(listReported({ odd: '2026-99-99T00:00:00Z' })).toEqual([
      { name: 'Odd', value: '2026-99-99T00:00:00Z', isTime: false },
    ]);
  });
});
