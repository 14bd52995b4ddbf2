import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ScoredSegment } from '../../contract/evidence';
import { pruneSessions } from '../../server/domain/retention';
import { foldSessionDeltas } from '../../server/domain/rollups';
import type { Fact } from '../../server/pipeline/facts';
import { Campus, shorten } from '../support/campus';
import { startTestServer, type TestServer } from '../support/server';
import { daysAgo, HOUR, IPHONE, makeVisit, minutesAgo, OLD_CHROME, type VisitFields } from '../support/visits';

// What the rules find in the facts of any pipeline, and whom they leave alone.

let server: TestServer;
let campus: Campus;
beforeAll(async () => {
  server = await startTestServer();
});
beforeEach(async () => {
  campus = await Campus.create(server);
});
afterAll(() => server.stop());

const visit = (...visits: VisitFields[]) => campus.visit(...visits);
const listTypes = (...visits: VisitFields[]) => campus.listTypes(...visits);

const [LAPTOP, PHONE] = [{ device: 'laptop' }, { device: 'phone', userAgent: IPHONE }];
const LONDON = { latitude: 51.5, longitude: -0.12, accuracyKm: 50 };
const SYDNEY = { latitude: -33.87, longitude: 151.2, accuracyKm: 50 };
const PARIS = { latitude: 48.86, longitude: 2.35, accuracyKm: 50 };
const users = (count: number, fields: VisitFields = {}) =>
  Array.from({ length: count }, (_, n) => ({ ...fields, user: `user-${n}`, ago: 500 - n * 10 }));

describe('SharedDevice', () => {
  it('names the new user of a device, once, with the number of other users', async () => {
    const found = await visit(
      { user: 'ada', device: 'a-device-of-ada', ago: 90 },
      { user: 'bob', device: 'a-device-of-ada', ago: 60, id: 'bobs' },
      { user: 'bob', device: 'a-device-of-ada', ago: 30 },
      { user: 'ada', device: 'a-device-of-ada', ago: 20 },
    );
    expect(found).toEqual([
      {
        id: expect.stringMatching(/^ano_[\w-]{22}$/),
        ...{ anomalyType: 'SharedDevice', severity: 'low', sessionId: 'bobs', userId: 'bob' },
        ...{ detectedAt: minutesAgo(60 - 0.05), deviceFingerprint: 'a-device-of-ada' },
        metadata: { deviceFingerprint: 'a-device', otherUserCount: 1 },
        ...{ status: 'Open', acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null },
        ...{ userName: expect.any(String), previousUserName: null, otherSession: null },
        session: { startedAt: minutesAgo(60), country: null, device: 'Chrome 142 on Windows' },
      },
    ]);
  });

  it('is worse the more others there are, and ends at ten: a machine in a laboratory', async () => {
    const found = await visit(...users(15));
    expect(found.map(({ severity }) => severity)).toEqual([
      ...['low', 'medium', 'medium', 'high', 'high', 'high', 'high', 'high'],
    ]);
    expect(found.map(({ metadata }) => metadata?.otherUserCount)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('forgets after 30 days', async () => {
    expect(await listTypes({ user: 'ada', ago: daysAgo(31) }, { user: 'bob' })).toEqual([]);
  });

  it('is never told of a user who was there long ago, or before the others', async () => {
    const days: [string, number][] = [
      ...([
        ['ada', 60],
        ['bob', 59],
        ['ada', 40],
        ['bob', 20],
        ['ada', 15],
        ['bob', 3],
        ['ada', 2],
      ] as [string, number][]),
    ];
    const visits = days.map(([user, ago]) => ({ user, ago: daysAgo(ago) }));
    expect(await listTypes(...visits)).toEqual(['SharedDevice low bob']);
  });

  it('reads only users who are known reliably', async () => {
    const unsigned = { confidence: 0.5 };
    expect(await listTypes({ user: 'ada', ...unsigned }, { user: 'bob', ago: 50, confidence: 0.7 })).toEqual([]);
    expect(await listTypes({ user: 'eve', ago: 40, ...unsigned })).toEqual([]);
    expect(await listTypes({ user: 'cyd', ago: 30, confidence: 0.7 })).toEqual(['SharedDevice low cyd']);
  });

  it('is not told of users who had the device before the site signed its users', async () => {
    const unsigned = ['ada', 'bob'].map((user, n) => ({ user, confidence: 0.5, ago: 90 - n }));
    expect(await listTypes(...unsigned, { user: 'ada', ago: 50 }, { user: 'bob', ago: 40 })).toEqual([]);
  });

  it('is not told of one person whom the LMS and the customer’s server name by ids of different kinds', async () => {
    expect(await listTypes({ user: '42', confidence: 0.7 }, { user: 'sis-7', ago: 50 })).toEqual([]);
    expect(await listTypes({ user: 'bob', ago: 40 })).toEqual(['SharedDevice low bob']);
  });

  it('leaves a device alone whose sessions retention has removed, of its user and of one who shares it', async () => {
    await server.service.db.sql`update integrations set plan = 'free' where id = ${campus.customer.id}`;
    const away = await listTypes({ ...LAPTOP, ago: daysAgo(40) }, { ...PHONE, ago: 90 });
    expect(away).toEqual([]);
    await pruneSessions(server.service.db);
    expect(await listTypes({ ...LAPTOP, user: 'bob', ago: 60 }, { ...LAPTOP, ago: 30 })).toEqual([]);
    // Whether they are folded or not.
    await foldSessionDeltas(server.service.db);
    expect(await listTypes({ ...LAPTOP, ago: 20 })).toEqual([]);
  });

  it('is found whichever of the two sessions is told first', async () => {
    expect(await listTypes({ user: 'bob', ago: 30 }, { user: 'ada', ago: 60 })).toEqual(['SharedDevice low bob']);
  });

  it('is told of a user whose facts come late, and what was told of a later one stays, without a warning', async () => {
    await visit({ user: 'ada', ago: 90 }, { user: 'bob', ago: 60 });
    const warn = vi.spyOn(server.service.log, 'warn');
    const found = await visit({ user: 'cyd', ago: 80 });
    expect(found.map(({ userId, metadata }) => [userId, metadata!.otherUserCount]).sort()).toEqual([
      ['bob', 1],
      ['cyd', 1],
    ]);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('of a family computer is told once for each person', async () => {
    const family = ['ada', 'bob', 'cyd', 'bob', 'ada', 'cyd'].map((user, n) => ({ user, ago: 600 - n * 60 }));
    expect(await listTypes(...family)).toEqual(['SharedDevice low bob', 'SharedDevice medium cyd']);
  });

  it('is not told of a device that was confirmed as the user’s own', async () => {
    await campus.customer.confirm('bob', 'laptop');
    expect(await listTypes({ user: 'ada', ago: 90 }, { user: 'bob' }, { user: 'cyd', ago: 30 })).toEqual([
      'SharedDevice medium cyd',
    ]);
  });
});

describe('DeviceSwitch', () => {
  it('names a device of another kind, once', async () => {
    const found = await visit(
      { ...LAPTOP, ago: 600, minutes: 10 },
      { ...PHONE, ago: 300, id: 'first' },
      { ...LAPTOP, ago: 200 },
      { ...PHONE, ago: 100 },
    );
    expect(found).toMatchObject([
      {
        ...{ anomalyType: 'DeviceSwitch', severity: 'low', sessionId: 'first', userId: 'ada' },
        deviceFingerprint: 'phone',
        metadata: {
          ...{ device: 'Safari on iOS (mobile)', otherDevice: 'Chrome on Windows (desktop)' },
          minutesSinceOther: 290,
        },
      },
    ]);
  });

  it('is told of no device that the user has had for long', async () => {
    const days: [VisitFields, number][] = [
      ...([
        [LAPTOP, 60],
        [PHONE, 59],
        [PHONE, 35],
        [LAPTOP, 32],
        [PHONE, 20],
        [LAPTOP, 15],
        [PHONE, 3],
        [LAPTOP, 2],
      ] as [VisitFields, number][]),
    ];
    const found = await visit(...days.map(([device, ago]) => ({ ...device, ago: daysAgo(ago) })));
    expect(found.map(({ anomalyType, deviceFingerprint }) => `${anomalyType} ${deviceFingerprint}`)).toEqual([
      'DeviceSwitch phone',
    ]);
  });

  it('is medium soon after activity on the other device', async () => {
    const open = { ...LAPTOP, ago: 600, minutes: null, input: [570] };
    const ended = { ...LAPTOP, ago: 90, minutes: 1 };
    expect(await listTypes(open, ended, { ...PHONE, ago: 20, minutes: null })).toEqual(['DeviceSwitch medium ada']);
    expect((await campus.listAnomalies())[0]!.metadata).toMatchObject({ minutesSinceOther: 10 });
  });

  it('takes the end of a session without events for activity only if it came before the new device', async () => {
    const ended = { ...LAPTOP, ago: 300, minutes: 250 };
    expect(await listTypes({ ...PHONE, ago: 40 }, ended)).toEqual(['DeviceSwitch medium ada']);
    const endedLater = { ...LAPTOP, user: 'bob', device: 'laptop 2', ago: 300, minutes: 299 };
    expect(await listTypes({ ...PHONE, user: 'bob', device: 'phone 2', ago: 40 }, endedLater)).toContain(
      'DeviceSwitch low bob',
    );
    const ofBob = (await campus.listAnomalies()).find(({ userId }) => userId === 'bob');
    expect(ofBob!.metadata).toMatchObject({ minutesSinceOther: 260 });
  });

  it('is judged by the latest of several sessions that are open', async () => {
    const open = (ago: number, input: number) => ({ ...LAPTOP, ago, minutes: null, input: [input] });
    await visit(open(600, 1), open(300, 285), open(200, 1), { ...PHONE, ago: 180 });
    expect((await campus.listAnomalies())[0]!.metadata).toMatchObject({ minutesSinceOther: 19 });
  });

  it('is low if a page was only left open on the other device', async () => {
    const leftOpen = { ...LAPTOP, ago: 300, minutes: 270, input: [10] };
    expect(await listTypes(leftOpen, { ...PHONE, ago: 29 })).toEqual(['DeviceSwitch low ada']);
    expect((await campus.listAnomalies())[0]!.metadata).toMatchObject({ minutesSinceOther: 261 });
  });

  it.each<[string, VisitFields[]]>([
    ['a user’s first device', [PHONE]],
    ['cleared storage', [LAPTOP, { device: 'cleared' }]],
    ['cleared storage after an update of the browser', [{ userAgent: OLD_CHROME }, { device: 'cleared' }]],
    ['a frame whose storage is partitioned', [LAPTOP, { device: 'frame', ago: 59 }]],
    [
      'a phone whose storage was cleared',
      [
        { ...PHONE, ago: 90 },
        { ...PHONE, device: 'cleared' },
      ],
    ],
    ['a device that has no id', [LAPTOP, { ...PHONE, device: null }]],
    ['another user', [LAPTOP, { ...PHONE, user: 'bob' }]],
    ['an unsigned user', [LAPTOP, { ...PHONE, confidence: 0.5 }]],
    ['a user who was away for 31 days', [{ ...LAPTOP, ago: daysAgo(31) }, PHONE]],
    [
      'a device that the user had before the site signed its users',
      [{ ...PHONE, confidence: 0.5, ago: daysAgo(9) }, LAPTOP, { ...PHONE, ago: 30 }],
    ],
    [
      'a kind of device that the user had before it kept an id',
      [{ ...PHONE, device: null, ago: daysAgo(9) }, LAPTOP, { ...PHONE, ago: 30 }],
    ],
    [
      'a laptop that was not used for a holiday',
      [{ ...LAPTOP, ago: daysAgo(80) }, { ...PHONE, ago: daysAgo(20) }, LAPTOP],
    ],
  ])('leaves %s alone', async (_, visits) => {
    expect(await listTypes(...visits)).toEqual([]);
  });

  it('is found whichever of the two sessions is told first', async () => {
    expect(await listTypes({ ...PHONE, ago: 50 }, { ...LAPTOP, ago: 55 })).toEqual(['DeviceSwitch medium ada']);
  });

  it('is not told of a device that was confirmed as the user’s own', async () => {
    await campus.customer.confirm('ada', 'phone');
    expect(await listTypes(LAPTOP, { ...PHONE, ago: 30 })).toEqual([]);
  });
});

describe('UserSwitch', () => {
  const match = (userId: string, ago: number, confidence = 1): Fact => ({
    ...{ kind: 'sessionCorrelated', sessionId: 's', user: { id: userId, name: userId } },
    ...{ confidence, correlatedAt: minutesAgo(ago) },
  });
  const matched = async (...matches: Fact[]) => {
    await campus.send(makeVisit({ id: 's', user: null, ago: 600, minutes: null, device: null }));
    for (const fact of matches) await campus.send([fact]);
    return campus.listAnomalies();
  };

  it('names the later user of a session, who has it then', async () => {
    const found = await matched(match('ada', 500), match('bob', 480), match('ada', 450), match('bob', 440));
    expect(found).toMatchObject([
      {
        ...{ anomalyType: 'UserSwitch', severity: 'high', sessionId: 's', userId: 'bob' },
        ...{ detectedAt: minutesAgo(480), metadata: { previousUserId: 'ada', minutesBetween: 20 } },
      },
    ]);
    expect(await campus.customer.session('s')).toMatchObject({ userId: 'bob' });
  });

  it('is medium after half an hour, and told for each further user', async () => {
    expect(shorten(await matched(match('ada', 500), match('bob', 400), match('cyd', 399)))).toEqual([
      'UserSwitch medium bob',
      'UserSwitch high cyd',
    ]);
  });

  it('is not told of a shared machine, as of the tablets of a class', async () => {
    for (let n = 0; n < 10; n++)
      await campus.send(makeVisit({ id: `v${n}`, user: `user-${n}`, ago: 900 - n, minutes: null, device: 'tablet' }));
    await campus.send(makeVisit({ id: 's', user: null, ago: 600, minutes: null, device: 'tablet' }));
    for (const fact of [match('ada', 500), match('bob', 480)]) await campus.send([fact]);
    expect(shorten(await campus.listAnomalies()).filter((text) => text.startsWith('UserSwitch'))).toEqual([]);
  });

  it('is not told of one person whom the LMS and the customer’s server name by ids of different kinds', async () => {
    expect(shorten(await matched(match('42', 500, 0.7), match('sis-7', 499)))).toEqual([]);
    await campus.send([match('bob', 480)]);
    expect(shorten(await campus.listAnomalies())).toEqual(['UserSwitch high bob']);
  });

  it('is not told of a user whom anybody could have named, nor of a better match of the same user', async () => {
    expect(shorten(await matched(match('ada', 500), match('eve', 490, 0.5), match('ada', 480, 0.7)))).toEqual([]);
  });
});

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

describe('a session that another user had before', () => {
  /** A session that ada or another user had first, and bob after 20 minutes. */
  const takeOver = (before: string | null, fields: VisitFields = {}) => [
    ...makeVisit({ ...LAPTOP, id: 'taken', user: before, ago: 60, minutes: null, ...fields }),
    ...makeMatch('taken', 'bob', 40),
  ];
  const makeMatch = (sessionId: string, userId: string, ago: number, confidence = 1): Fact[] => [
    {
      kind: 'sessionCorrelated',
      sessionId,
      user: { id: userId, name: userId },
      confidence,
      correlatedAt: minutesAgo(ago),
    },
  ];
  const find = async (type: string, ...facts: Fact[]) => {
    await campus.send(facts);
    return shorten((await campus.listAnomalies()).filter(({ anomalyType }) => anomalyType === type));
  };
  const onPhone = (fields: VisitFields) => makeVisit({ ...PHONE, user: 'bob', ago: 59, minutes: 40, ...fields });

  it.each<[string, string | null, number[], number[], string[]]>([
    ['is not taken for the later user’s input', 'ada', [5], [4], []],
    ['is the later user’s from the match on', 'ada', [5, 25], [24], ['ConcurrentSessions medium bob']],
    ['is the user’s from its start if nobody else had it', null, [5], [4], ['ConcurrentSessions medium bob']],
  ])('%s', async (_, before, input, onOther, expected) => {
    const facts = [...takeOver(before, { input }), ...onPhone({ input: onOther })];
    expect(await find('ConcurrentSessions', ...facts)).toEqual(expected);
  });

  it('is the later user’s from their first match on, also if a later one is surer', async () => {
    await campus.send(makeVisit({ ...LAPTOP, id: 'taken', ago: 60, minutes: null, input: [25], confidence: 0.7 }));
    await campus.send([...makeMatch('taken', 'bob', 40, 0.7), ...makeMatch('taken', 'bob', 30, 0.8)]);
    expect(await find('ConcurrentSessions', ...onPhone({ input: [24], confidence: 0.7 }))).toEqual([
      'ConcurrentSessions medium bob',
    ]);
  });

  it('is not taken for that of somebody whom a page only claimed before', async () => {
    await campus.send(makeVisit({ ...LAPTOP, id: 's', user: 'eve', confidence: 0.5, minutes: null, location: LONDON }));
    await campus.send(makeMatch('s', 'bob', 40));
    expect(await find('ImpossibleTravel', ...onPhone({ location: SYDNEY }))).toEqual(['ImpossibleTravel high bob']);
  });

  it.each<[string | null, string[]]>([
    ['ada', []],
    [null, ['ImpossibleTravel high bob']],
  ])('does not say where the later user was when it began: %s', async (before, expected) => {
    const facts = [...onPhone({ location: SYDNEY }), ...takeOver(before, { location: LONDON })];
    expect(await find('ImpossibleTravel', ...facts)).toEqual(expected);
  });
});

describe('the user 1234 of two platforms', () => {
  const [MOODLE, CANVAS] = ['https://moodle.example.edu', 'https://canvas.example.edu'];
  const read = { user: '1234', confidence: 0.7 };
  /** What a person on both platforms does: travels too fast, changes the device, and types on both at once. */
  const visits = (one: VisitFields, other: VisitFields): VisitFields[] => [
    { ...LAPTOP, ago: 60, minutes: 20, input: [3, 9], location: LONDON, origin: MOODLE, ...one },
    { ...PHONE, ago: 59, minutes: 20, input: [8, 12], location: SYDNEY, origin: CANVAS, ...other },
  ];
  const FOUND = ['ConcurrentSessions medium 1234', 'DeviceSwitch medium 1234', 'ImpossibleTravel high 1234'];

  it.each<[string, VisitFields, VisitFields, string[]]>([
    ['is not taken for one person if both ids were read from pages', read, read, []],
    ['is not taken for one person if one id was read from a page', read, { ...read, confidence: 0.8 }, []],
    ['is one person if the customer’s server signed both ids', { user: '1234' }, { user: '1234' }, FOUND],
    ['is one person on one platform', read, { ...read, origin: MOODLE }, FOUND],
  ])('%s', async (_, one, other, expected) => {
    expect((await listTypes(...visits(one, other))).sort()).toEqual(expected);
  });

  it('is not taken for two people on one device either, if they have other ids on the platforms', async () => {
    const onCanvas = { ...read, user: '77', origin: CANVAS };
    expect(await listTypes({ ...read, origin: MOODLE }, { ...onCanvas, ago: 50 })).toEqual([]);
    expect(await listTypes({ ...onCanvas, user: '78', ago: 40 })).toEqual(['SharedDevice low 78']);
  });
});

describe('AgentTakeover', () => {
  const segmentsOf = (...logOdds: number[]): ScoredSegment[] =>
    logOdds.map((one, n) => ({ startedAt: minutesAgo(50 - n), logOdds: one }));
  const score = (segments: ScoredSegment[], ago = 30): Fact => ({
    ...{
      kind: 'sessionScored',
      sessionId: 's',
      botScore: 0.8,
      detectionFlags: [],
      scoredAt: minutesAgo(ago),
      segments,
    },
  });
  const TAKEN_OVER = segmentsOf(-3.5, -3.5, -3.2, -3.5, 3.4, 2.8, 3.6);

  it('says that a program went on, and when it began, once for the session', async () => {
    await campus.send([...makeVisit({ id: 's', minutes: null }), score(TAKEN_OVER)]);
    await campus.send([score(TAKEN_OVER, 29)]);
    expect(await campus.listAnomalies()).toMatchObject([
      {
        ...{
          anomalyType: 'AgentTakeover',
          severity: 'high',
          sessionId: 's',
          userId: 'ada',
          detectedAt: minutesAgo(30),
        },
        metadata: {
          ...{ moment: minutesAgo(46), direction: 'person-to-program', segmentsBefore: 4, segmentsAfter: 3 },
          ...{ scoreBefore: expect.closeTo(0.03, 2), scoreAfter: expect.closeTo(0.963, 2) },
        },
      },
    ]);
  });

  it('is medium if a person went on, and names no user whom anybody could have named', async () => {
    const turned = segmentsOf(3.4, 2.8, 3.6, -3.5, -3.5, -3.2);
    await campus.send([...makeVisit({ id: 's', confidence: 0.5, minutes: null }), score(turned)]);
    expect(shorten(await campus.listAnomalies())).toEqual(['AgentTakeover medium null']);
  });

  it('names no user if two had the session: one of them may be the program', async () => {
    await campus.send([
      ...makeVisit({ id: 's', minutes: null }),
      ...makeVisit({ id: 't', user: 'bob', device: 'other' }),
    ]);
    const match = {
      kind: 'sessionCorrelated' as const,
      sessionId: 's',
      user: { id: 'bob', name: 'Bob' },
      confidence: 1,
    };
    await campus.send([{ ...match, correlatedAt: minutesAgo(46) }, score(TAKEN_OVER)]);
    expect(shorten(await campus.listAnomalies())).toContain('AgentTakeover high null');
  });

  it('is not told of a session that somebody has labelled human', async () => {
    await campus.send(makeVisit({ id: 's', minutes: null }));
    const answer = await campus.customer.post('/v1/sessions/s/label', { verdict: 'human' });
    expect(answer.status).toBe(200);
    await campus.send([score(TAKEN_OVER)]);
    expect(await campus.listAnomalies()).toEqual([]);
  });

  it('is told of one that somebody has labelled bot', async () => {
    await campus.send(makeVisit({ id: 's', minutes: null }));
    await campus.customer.post('/v1/sessions/s/label', { verdict: 'bot' });
    await campus.send([score(TAKEN_OVER)]);
    expect(shorten(await campus.listAnomalies())).toEqual(['AgentTakeover high ada']);
  });

  it('follows from the latest score', async () => {
    await campus.send([...makeVisit({ id: 's', minutes: null }), score(segmentsOf(-3.5, -3.5, -3.2, -3.5), 40)]);
    await campus.send([score(TAKEN_OVER)]);
    expect(shorten(await campus.listAnomalies())).toEqual(['AgentTakeover high ada']);
  });

  it('is not told of a session of one actor', async () => {
    await campus.send([...makeVisit({ id: 's', minutes: null }), score(segmentsOf(3, 3, 3, 3, 3, 3))]);
    expect(await campus.listAnomalies()).toEqual([]);
  });
});
