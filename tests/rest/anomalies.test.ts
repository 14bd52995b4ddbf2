import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ScoredSegment } from '../../contract/evidence';
import type { Fact } from '../../server/pipeline/facts';
import { Customer } from '../support/customer';
import { startTestServer, type TestServer } from '../support/server';
import { createCaller } from '../support/staff';
import { daysAgo, FIREFOX, HOUR, IPHONE, makeVisit, minutesAgo, OLD_CHROME, type VisitFields } from '../support/visits';

// What the rules find in the facts of any pipeline, and whom they leave alone.

let server: TestServer;
let customer: Customer;
beforeAll(async () => {
  server = await startTestServer();
});
beforeEach(async () => {
  customer = await Customer.create(server);
});
afterAll(() => server.stop());

/** Sends visits one after the other, each judged before the next one, and answers the anomalies, oldest first. */
async function visit(...visits: VisitFields[]) {
  for (const fields of visits) await send(makeVisit(fields));
  return listAnomalies();
}
async function send(facts: Fact[], of = customer) {
  await of.tell(facts);
  await server.service.findings.flush();
}
async function listAnomalies(of = customer) {
  const { data } = await (await createCaller(server, of.key)).anomalies.list({ pageSize: 100 });
  return data.reverse();
}
const shorten = (anomalies: Awaited<ReturnType<typeof listAnomalies>>) =>
  anomalies.map(({ anomalyType, severity, userId }) => `${anomalyType} ${severity} ${userId}`);
const listTypes = async (...visits: VisitFields[]) => shorten(await visit(...visits));

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

  it('is not told of one person whom the LMS and the customer’s server name by ids of different kinds', async () => {
    expect(await listTypes({ user: '42', confidence: 0.7 }, { user: 'sis-7', ago: 50 })).toEqual([]);
    expect(await listTypes({ user: 'bob', ago: 40 })).toEqual(['SharedDevice low bob']);
  });

  it('is found whichever of the two sessions is told first', async () => {
    expect(await listTypes({ user: 'bob', ago: 30 }, { user: 'ada', ago: 60 })).toEqual(['SharedDevice low bob']);
  });

  it('of a family computer is told once for each person', async () => {
    const family = ['ada', 'bob', 'cyd', 'bob', 'ada', 'cyd'].map((user, n) => ({ user, ago: 600 - n * 60 }));
    expect(await listTypes(...family)).toEqual(['SharedDevice low bob', 'SharedDevice medium cyd']);
  });

  it('is not told of a device that was confirmed as the user’s own', async () => {
    await customer.confirm('bob', 'laptop');
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
    expect((await listAnomalies())[0]!.metadata).toMatchObject({ minutesSinceOther: 10 });
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
    await customer.confirm('ada', 'phone');
    expect(await listTypes(LAPTOP, { ...PHONE, ago: 30 })).toEqual([]);
  });
});

describe('UserSwitch', () => {
  const match = (userId: string, ago: number, confidence = 1): Fact => ({
    ...{ kind: 'sessionCorrelated', sessionId: 's', user: { id: userId, name: userId } },
    ...{ confidence, correlatedAt: minutesAgo(ago) },
  });
  const matched = async (...matches: Fact[]) => {
    await send(makeVisit({ id: 's', user: null, ago: 600, minutes: null, device: null }));
    for (const fact of matches) await send([fact]);
    return listAnomalies();
  };

  it('names the later user of a session, who has it then', async () => {
    const found = await matched(match('ada', 500), match('bob', 480), match('ada', 450), match('bob', 440));
    expect(found).toMatchObject([
      {
        ...{ anomalyType: 'UserSwitch', severity: 'high', sessionId: 's', userId: 'bob' },
        ...{ detectedAt: minutesAgo(480), metadata: { previousUserId: 'ada', minutesBetween: 20 } },
      },
    ]);
    expect(await customer.session('s')).toMatchObject({ userId: 'bob' });
  });

  it('is medium after half an hour, and told for each further user', async () => {
    expect(shorten(await matched(match('ada', 500), match('bob', 400), match('cyd', 399)))).toEqual([
      'UserSwitch medium bob',
      'UserSwitch high cyd',
    ]);
  });

  it('is not told of one person whom the LMS and the customer’s server name by ids of different kinds', async () => {
    expect(shorten(await matched(match('42', 500, 0.7), match('sis-7', 499)))).toEqual([]);
    await send([match('bob', 480)]);
    expect(shorten(await listAnomalies())).toEqual(['UserSwitch high bob']);
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
    await send([{ kind: 'sessionEvents', sessionId: 'b', events }]);
    expect((await listAnomalies()).map(({ anomalyType }) => anomalyType)).toContain('ConcurrentSessions');
  });

  it.each<[string, VisitFields, VisitFields]>([
    ['a person who changes from one device to the other', { input: [1, 2] }, { input: [4] }],
    ['a page that scrolls or is hidden', { inputType: 'scroll' }, {}],
    ['a page that is only looked at', { inputType: 'visibility' }, {}],
    ['a frame whose storage is partitioned', {}, { device: 'frame', userAgent: undefined }],
    ['sessions that follow each other', { minutes: 2, input: [1] }, { ago: 57, input: [1] }],
    ['an unsigned user', {}, { confidence: 0.5 }],
    ['two users', {}, { user: 'bob' }],
  ])('leaves %s alone', async (_, one, other) => {
    expect(await find(...both(one, other))).toEqual([]);
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
    await send([...makeVisit({ id: 's', minutes: null }), score(TAKEN_OVER)]);
    await send([score(TAKEN_OVER, 29)]);
    expect(await listAnomalies()).toMatchObject([
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
    await send([...makeVisit({ id: 's', confidence: 0.5, minutes: null }), score(turned)]);
    expect(shorten(await listAnomalies())).toEqual(['AgentTakeover medium null']);
  });

  it('is not told of a session of one actor', async () => {
    await send([...makeVisit({ id: 's', minutes: null }), score(segmentsOf(3, 3, 3, 3, 3, 3))]);
    expect(await listAnomalies()).toEqual([]);
  });
});

describe('findings', () => {
  const STORY = () => [
    ...makeVisit({ id: '1', user: 'ada', ago: 300 }),
    ...makeVisit({ id: '2', user: 'bob', ago: 200, input: [1], minutes: 10 }),
    ...makeVisit({ id: '3', user: 'bob', ago: 199, device: 'phone', userAgent: FIREFOX, minutes: 10, input: [0, 1] }),
  ];

  it('are the same however the facts are cut into batches, and a repeat adds none', async () => {
    const whole = await Customer.create(server);
    await send(STORY(), whole);
    for (const fact of STORY()) await send([fact]);
    const strip = (list: Awaited<ReturnType<typeof listAnomalies>>) =>
      list.map(({ id: _, ...rest }) => rest).sort((a, b) => a.anomalyType.localeCompare(b.anomalyType));
    expect(strip(await listAnomalies())).toEqual(strip(await listAnomalies(whole)));
    const before = await listAnomalies(whole);
    expect(shorten(before).sort()).toEqual([
      ...['ConcurrentSessions medium bob', 'DeviceSwitch medium bob', 'SharedDevice low bob'],
    ]);
    await send(STORY(), whole);
    expect(await listAnomalies(whole)).toEqual(before);
  });

  it('are not looked for once an admin has switched the rule off, which is audited', async () => {
    const context = { kind: 'staff' as const, integrationId: customer.id, clientAddress: null };
    const staff = { id: 'stf_1', email: 'admin@example.edu', name: 'Admin', role: 'admin' as const };
    const { appRouter } = await import('../../server/procedures/router');
    const caller = appRouter.createCaller({ service: server.service, caller: { ...context, staff } });
    const listed = await caller.findingRules.list();
    expect(listed.map(({ rule, isEnabled }) => [rule, isEnabled])).toEqual([
      ...['Correlation', 'SharedDevice', 'DeviceSwitch', 'UserSwitch'].map((rule) => [rule, true]),
      ...['ImpossibleTravel', 'ConcurrentSessions', 'AgentTakeover', 'WritingSessionScored'].map((rule) => [
        rule,
        true,
      ]),
    ]);
    const off = { rule: 'SharedDevice' as const, isEnabled: false };
    expect(await caller.findingRules.set(off)).toEqual(off);
    await caller.findingRules.set(off);
    expect((await caller.findingRules.list()).filter(({ isEnabled }) => !isEnabled)).toMatchObject([off]);
    await send(STORY());
    expect(shorten(await listAnomalies()).sort()).toEqual(['ConcurrentSessions medium bob', 'DeviceSwitch medium bob']);
    await caller.findingRules.set({ ...off, isEnabled: true });
    const { data } = await caller.audit.list({ pageSize: 10 });
    const acts = data.filter(({ action }) => action === 'FindingRuleSwitched');
    expect(acts.map(({ subjectId, details }) => [subjectId, details])).toEqual([
      ['SharedDevice', { ...off, isEnabled: true }],
      ['SharedDevice', off],
    ]);
  });
});

describe('a session without a user', () => {
  const readMatch = async (id: string) => {
    const { userId, userName, correlationConfidence } = await customer.session(id);
    return { userId, userName, correlationConfidence };
  };
  const NOBODY = { userId: null, userName: null, correlationConfidence: null };
  const unnamed = { id: 's', user: null, ago: 30 };

  it('belongs to the only user of its device, with little confidence', async () => {
    await visit({ user: 'ada', ago: 90 }, unnamed);
    expect(await readMatch('s')).toEqual({ userId: 'ada', userName: 'Name of ada', correlationConfidence: 0.3 });
    const [row] = await server.database.db.query<{ at: string }>(
      'select correlated_at as at from session_correlations where integration_id = $1 and session_id = $2',
      [customer.id, 's'],
    );
    expect(row!.at).toBe(minutesAgo(29));
  });

  it('belongs to nobody while it is open', async () => {
    await visit({ user: 'ada', ago: 90 }, { ...unnamed, minutes: null });
    expect(await readMatch('s')).toEqual(NOBODY);
  });

  it.each<[string, VisitFields[]]>([
    ['a second user', [{ user: 'ada' }, { user: 'bob' }]],
    ['a second user whom anybody could have named', [{ user: 'ada' }, { user: 'bob', confidence: 0.5 }]],
    ['no reliable user', [{ user: 'ada', confidence: 0.5 }]],
    ['a user of 31 days ago', [{ user: 'ada', ago: daysAgo(31) }]],
    ['the users of a laboratory', users(12)],
    ['no user', []],
  ])('belongs to nobody if the device has %s', async (_, visits) => {
    await visit(...visits.map((one) => ({ ago: 90, ...one })), unnamed);
    expect(await readMatch('s')).toEqual(NOBODY);
  });

  it('is no reason for another one: an inferred user infers nobody', async () => {
    await visit({ user: 'ada', ago: daysAgo(29) }, { ...unnamed, ago: 60 });
    expect(await readMatch('s')).toMatchObject({ userId: 'ada' });
    await server.database.db.query("delete from sessions where integration_id = $1 and user_id = 'ada' and id <> 's'", [
      customer.id,
    ]);
    await visit({ ...unnamed, id: 't' });
    expect(await readMatch('t')).toEqual(NOBODY);
  });

  it('gets any other match instead, also one that was made before its close', async () => {
    await visit({ user: 'ada', ago: 90 }, unnamed);
    const match = (user: string, ago: number): Fact => ({
      ...{ kind: 'sessionCorrelated', sessionId: 's', user: { id: user, name: user }, confidence: 0.5 },
      correlatedAt: minutesAgo(ago),
    });
    await send([match('bob', 29.9)]);
    expect(await readMatch('s')).toMatchObject({ userId: 'bob', correlationConfidence: 0.5 });
    await send([{ ...match('eve', 1), confidence: 0.3, isInferred: true } as Fact]);
    expect(await readMatch('s')).toMatchObject({ userId: 'bob' });
  });

  it('belongs to nobody if the rule is switched off', async () => {
    await server.database.db.query("insert into finding_rules values ($1, 'Correlation', false)", [customer.id]);
    await visit({ user: 'ada', ago: 90 }, unnamed);
    expect(await readMatch('s')).toEqual(NOBODY);
  });
});
