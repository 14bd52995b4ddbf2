import { describe, expect, it } from 'vitest';
import {
  describeAnomaly,
  findMoment,
  nameAnomaly,
  nameRule,
} from '../../app/dashboard/[integrationId]/anomalies/anomaly-words';
import { ANOMALY_TYPES } from '../../contract/findings';
import { RULE_DESCRIPTIONS } from '../../server/findings/rules';

const describeOf = (anomalyType: string, metadata: Record<string, unknown> | null) =>
  describeAnomaly({ anomalyType, metadata });

describe('the words for anomalies', () => {
  it('name every type, and every rule', () => {
    expect(ANOMALY_TYPES.filter((type) => nameAnomaly(type) === type)).toEqual([]);
    expect(RULE_DESCRIPTIONS.filter(({ name }) => nameRule(name) === name)).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    [
      ...(['SharedDevice', { deviceFingerprint: '4be81f0c', otherUserCount: 1 }] as const),
      'The device was used by 1 other user within the 30 days before.',
    ],
    [
      'DeviceSwitch',
      { device: 'Safari on iOS (mobile)', otherDevice: 'Chrome on Windows (desktop)', minutesSinceOther: 290 },
      'The user came with Safari on iOS (mobile), 5 hours after activity with Chrome on Windows (desktop).',
    ],
    [
      ...(['UserSwitch', { previousUserId: 'ada', minutesBetween: 20 }] as const),
      'The session was matched with ada first, and with this user 20 minutes later.',
    ],
    [
      ...(['ImpossibleTravel', { distanceKm: 16_900, minutesBetween: 4_320, isSameDevice: true }] as const),
      'Two sessions began at least 16900 km apart within 3 days, both on one device.',
    ],
    [
      ...(['ConcurrentSessions', { devices: ['a laptop', 'a phone'] }] as const),
      'There was input with a laptop and with a phone in the same minute.',
    ],
    [
      ...(['AgentTakeover', { direction: 'person-to-program', segmentsBefore: 4, segmentsAfter: 3 }] as const),
      'The first 4 parts of the session look like a person, the 3 after that like a program.',
    ],
  ])('say what %s saw', (type, metadata, expected) => {
    expect(describeOf(type, metadata)).toBe(expected);
  });

  it('say nothing of a type or of metadata that nobody has described', () => {
    for (const type of [...ANOMALY_TYPES, 'OfTheirOwn', 'constructor', '__proto__'])
      for (const metadata of [null, {}, { otherUserCount: 'many', devices: [1, 2], direction: 'up' }])
        expect([type, describeOf(type, metadata)]).toEqual([type, null]);
    expect(nameAnomaly('OfTheirOwn')).toBe('OfTheirOwn');
    expect(nameAnomaly('constructor')).toBe('constructor');
  });

  it('find the moment that metadata names', () => {
    const moment = '2026-01-31T09:30:00.000Z';
    expect(findMoment({ anomalyType: 'AgentTakeover', metadata: { moment } })).toBe(moment);
    expect(findMoment({ anomalyType: 'ConcurrentSessions', metadata: { minute: moment } })).toBe(moment);
    expect(findMoment({ anomalyType: 'ConcurrentSessions', metadata: { minute: 'soon' } })).toBeNull();
    expect(findMoment({ anomalyType: 'SharedDevice', metadata: null })).toBeNull();
  });
});
