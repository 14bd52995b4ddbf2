import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../server/pipeline/facts';
import { makeSessionsDue, openPageSite, pageShown, Tab, typed } from '../support/beacon';
import { Campus, shorten } from '../support/campus';
import { startTestServer, type TestServer } from '../support/server';
import { daysAgo, FIREFOX, IPHONE, makeVisit, minutesAgo, type VisitFields } from '../support/visits';

// People whom the rules on findings leave alone, although something looks odd: tabs in which one follows the other, and
// facts that do not say what the device is.

let server: TestServer;
let campus: Campus;
beforeAll(async () => {
  server = await startTestServer();
});
beforeEach(async () => {
  campus = await Campus.create(server);
});
afterAll(() => server.stop());

const [LAPTOP, PHONE] = [{ device: 'laptop' }, { device: 'phone', userAgent: IPHONE }];

/** Says who has a session from some minutes ago on. */
const match = (sessionId: string, userId: string, ago: number, confidence = 1): Fact => ({
  ...{ kind: 'sessionCorrelated', sessionId, user: { id: userId, name: userId } },
  ...{ confidence, correlatedAt: minutesAgo(ago) },
});
const findTypes = async (...types: string[]) =>
  shorten((await campus.listAnomalies()).filter(({ anomalyType }) => types.includes(anomalyType)));

describe('the device of a user whose session another one has taken over', () => {
  /** Ada's session on her laptop, which bob has from 15 minutes later on. */
  const lend = async (fields: VisitFields = {}) => {
    await campus.send(makeVisit({ ...LAPTOP, id: 'lent', ago: 90, minutes: null, ...fields }));
    await campus.send([match('lent', 'bob', (fields.ago ?? 90) - 15)]);
  };

  it.each<[string, VisitFields]>([
    ['known reliably', {}],
    ['said by a page', { confidence: 0.5 }],
  ])('is not new to the user, who was there first, %s', async (_, fields) => {
    await lend(fields);
    await campus.send(makeVisit({ ...LAPTOP, ago: 30 }));
    expect(await findTypes('SharedDevice')).toEqual([]);
  });

  it('is no device of a new kind to the user', async () => {
    await lend({ ago: daysAgo(2) });
    await campus.visit({ ...PHONE, ago: 60 });
    await campus.send(makeVisit({ ...LAPTOP, ago: 30 }));
    expect(await findTypes('DeviceSwitch')).toEqual([]);
  });

  it('is new to a user who had it only later', async () => {
    await campus.send(makeVisit({ ...LAPTOP, id: 'lent', user: 'bob', ago: 90, minutes: null }));
    await campus.send(makeVisit({ ...LAPTOP, ago: 60 }));
    await campus.send([match('lent', 'ada', 50), match('lent', 'bob', 40)]);
    expect(await findTypes('SharedDevice')).toEqual(['SharedDevice low ada']);
  });
});

describe('a machine on which people follow each other in one tab', () => {
  it('is a shared machine, as in a library, from ten users on', async () => {
    await campus.send(makeVisit({ id: 's', user: 'user-0', ago: 600, minutes: null, device: 'kiosk' }));
    for (let n = 1; n < 14; n++) await campus.send([match('s', `user-${n}`, 600 - 10 * n)]);
    expect(await findTypes('UserSwitch')).toEqual(Array.from({ length: 8 }, (_, n) => `UserSwitch high user-${n + 1}`));
  });

  it('is none by users whom pages only claim, so that nobody hides behind invented ones', async () => {
    for (let n = 0; n < 12; n++)
      await campus.send(makeVisit({ user: `claimed-${n}`, device: 'kiosk', confidence: 0.5, ago: 600 - 10 * n }));
    await campus.send(makeVisit({ id: 's', user: 'ada', device: 'kiosk', ago: 60, minutes: null }));
    await campus.send([match('s', 'bob', 50)]);
    expect(await findTypes('UserSwitch')).toEqual(['UserSwitch high bob']);
    const [found] = (await campus.listAnomalies()).filter(({ anomalyType }) => anomalyType === 'UserSwitch');
    expect(found!.metadata).toEqual({ previousUserId: 'ada', minutesBetween: 10 });
  });
});

describe('a device that facts do not describe', () => {
  /** What native applications send. */
  const APPLICATION = 'CampusApp/3.2 (com.example.campus; build 7)';
  const at = { ago: 60, minutes: 20, input: [3, 9] };

  it.each<[string, VisitFields]>([
    ['a pipeline that knows no user agent', { userAgent: '' }],
    ['an application whose user agent names no system', { userAgent: APPLICATION }],
  ])('is of no other kind, as of %s beside the pixel', async (_, fields) => {
    const [laptop, posted] = [
      { ...LAPTOP, ...at },
      { device: 'posted', ...at, ...fields },
    ];
    expect(await campus.listTypes(laptop, posted)).toEqual([]);
    expect(
      await campus.listTypes({ ...posted, user: 'bob', device: 'bobs' }, { ...PHONE, ...at, user: 'bob' }),
    ).toEqual([]);
  });

  it('is of another kind if its system is another one', async () => {
    const view =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22B83';
    await campus.visit({ ...LAPTOP, ...at }, { device: 'view', ...at, userAgent: view });
    expect(await findTypes('ConcurrentSessions')).toEqual(['ConcurrentSessions medium ada']);
  });
});

describe('a session whose user a page only claims', () => {
  it('says nothing about that user, because anybody can claim it', async () => {
    const sydney = { latitude: -33.9, longitude: 151.2, accuracyKm: 20 };
    const claimed = { ...PHONE, confidence: 0.5, location: sydney, ago: 90, minutes: 80, input: [60] };
    const signed = { ...LAPTOP, location: { latitude: 47.4, longitude: 8.5, accuracyKm: 20 }, ago: 30, input: [0] };
    expect(await campus.listTypes(claimed, signed)).toEqual([]);
    // Nor if the signed session is judged first.
    const [first, later] = [
      { ...signed, user: 'bob', device: 'desktop' },
      { ...claimed, user: 'bob' },
    ];
    expect(await campus.listTypes(first, later)).toEqual([]);
  });
});

describe('a session without coordinates', () => {
  it('says nothing of a journey, and leaves the others to be judged', async () => {
    const [zurich, sydney] = [
      { latitude: 47.4, longitude: 8.5, accuracyKm: 20 },
      { latitude: -33.9, longitude: 151.2, accuracyKm: 20 },
    ];
    await campus.visit({ ago: 90, location: zurich }, { ago: 60 }, { ago: 30, location: sydney });
    const found = (await campus.listAnomalies()).filter(({ anomalyType }) => anomalyType === 'ImpossibleTravel');
    expect(found.map(({ severity, metadata }) => [severity, metadata!.minutesBetween])).toEqual([['low', 60]]);
  });
});

describe('a page after one that named the user', () => {
  const u = { id: 'ada', lms: 1 } as const;

  it.each<[string, object, string[]]>([
    ['is used by somebody else if it names nobody: the user has signed out', {}, []],
    ['is used by somebody else if it names another one, less surely', { u: { id: 'ben' } }, []],
    ['is used by the user if it names them', { u }, ['ConcurrentSessions medium ada']],
  ])('%s', async (_, named, expected) => {
    const { db, collector, findings } = server.service;
    const site = await openPageSite({ db, url: server.url }, campus.customer);
    const [tab, phone] = [new Tab(site), new Tab(site)];
    const onPhone = () => phone.send({ u, ev: typed(phone.now10, 2) }, { 'user-agent': IPHONE });
    await tab.send({ u });
    tab.navigate();
    // Before and after, so that one of them is in the same minute.
    await onPhone();
    await tab.send({ ...named, ev: [...pageShown(0), ...typed(tab.now10, 2)] });
    await onPhone();
    await makeSessionsDue(db, site);
    await collector.sweep();
    await findings.flush();
    expect(await findTypes('ConcurrentSessions')).toEqual(expected);
  });
});

describe('a session without a user, on a device with a single one', () => {
  it.each<[string, object, string | null]>([
    ['is theirs if its pages name nobody', {}, 'ada'],
    ['is theirs if its pages say that nobody is signed in', { u: {} }, 'ada'],
    ['is nobody’s if a page names somebody by an id that cannot be kept', { u: { id: 'x'.repeat(257) } }, null],
  ])('%s', async (_, named, userId) => {
    const { db, collector, findings } = server.service;
    const site = await openPageSite({ db, url: server.url }, campus.customer);
    const { device } = new Tab(site);
    for (const content of [{ u: { id: 'ada', lms: 1 } as const }, named]) {
      const tab = new Tab(site);
      tab.device = device;
      await tab.send({ ...content, x: 1 });
      await collector.flush();
      await findings.flush();
    }
    const { data } = (await server.call('GET', '/v1/sessions', { key: site.key })).body;
    expect(data.map((session: { userId: string | null }) => session.userId)).toEqual([userId, 'ada']);
  });
});

describe('a device that is put away', () => {
  it.each(['first', 'later'])('is not used beside the next one, if its facts come %s', async (when) => {
    const laptop = makeVisit({ ...LAPTOP, ago: 60, minutes: 0.3, input: [0.2] });
    const phone = makeVisit({ ...PHONE, ago: 59.5, minutes: 5, input: [0.1] });
    for (const facts of when === 'first' ? [laptop, phone] : [phone, laptop]) await campus.send(facts);
    expect(await findTypes('ConcurrentSessions', 'DeviceSwitch')).toEqual(['DeviceSwitch medium ada']);
  });
});

describe('activity on the other device of a DeviceSwitch', () => {
  it.each(['scroll', 'visibility', 'form'] as const)('is not what a page does by itself: %s', async (inputType) => {
    await campus.send(makeVisit({ ...LAPTOP, id: 'open', ago: 300, minutes: null, input: [10] }));
    const events = [{ sequence: 9, type: inputType, timestamp: minutesAgo(31) }];
    await campus.send([{ kind: 'sessionEvents', sessionId: 'open', events }]);
    await campus.visit({ ...PHONE, ago: 29 });
    expect(await campus.listAnomalies()).toMatchObject([
      { anomalyType: 'DeviceSwitch', severity: 'low', metadata: { minutesSinceOther: 261 } },
    ]);
  });

  it('lasted until the close of a session of which no events are known', async () => {
    await campus.send(makeVisit({ ...LAPTOP, ago: 120, minutes: 100 }));
    await campus.send(makeVisit({ ...PHONE, ago: 10 }));
    const [found] = await campus.listAnomalies();
    expect(found).toMatchObject({
      anomalyType: 'DeviceSwitch',
      severity: 'medium',
      metadata: { minutesSinceOther: 10 },
    });
  });

  it('was as long ago as the user has had the new one, if another one had it before', async () => {
    await campus.send(makeVisit({ ...PHONE, ago: 300, minutes: 2, input: [1] }));
    await campus.send(
      makeVisit({ id: 's', user: 'bob', device: 'kiosk', userAgent: FIREFOX, ago: 295, minutes: null }),
    );
    await campus.send([match('s', 'ada', 60)]);
    expect(await findTypes('DeviceSwitch')).toEqual(['DeviceSwitch low ada']);
  });

  it('is what was before the user came, if facts arrive late', async () => {
    await campus.visit({ ...LAPTOP, ago: 300, minutes: 290, input: [10, 280] }, { ...PHONE, ago: 200 });
    expect(await campus.listAnomalies()).toMatchObject([
      { anomalyType: 'DeviceSwitch', severity: 'low', metadata: { minutesSinceOther: 90 } },
    ]);
  });

  it('is not that of the user who had its tab before', async () => {
    const kiosk = { device: 'kiosk', userAgent: FIREFOX };
    await campus.send(makeVisit({ ...kiosk, id: 's', user: 'bob', ago: 300, minutes: null, input: [5, 99] }));
    await campus.send(makeVisit({ ...PHONE, ago: 200, input: [1] }));
    await campus.send([match('s', 'ada', 100)]);
    expect(await findTypes('DeviceSwitch')).toEqual([]);
    // Nor what happened in it until the user came.
    await campus.send(makeVisit({ ...LAPTOP, ago: 50, input: [1] }));
    expect(await campus.listAnomalies()).toContainEqual(
      expect.objectContaining({
        anomalyType: 'DeviceSwitch',
        metadata: expect.objectContaining({ device: 'Chrome on Windows (desktop)', minutesSinceOther: 50 }),
      }),
    );
  });
});

describe('a page that nobody had signed in to, as on a machine in a library', () => {
  const [LONDON, BERLIN] = [
    { latitude: 51.5, longitude: -0.12, accuracyKm: 20 },
    { latitude: 52.52, longitude: 13.4, accuracyKm: 20 },
  ];
  const kiosk = { device: 'kiosk', user: null, ago: 300, minutes: null, location: LONDON };

  it.each<[string, number, number | null, string[]]>([
    ['does not say where a user was before, who signs in hours later', 60, null, []],
    ['says where a user was who signs in soon', 280, null, ['ImpossibleTravel high ada']],
    [
      'says where a user was until it was closed, however late the match is told',
      60,
      20,
      ['ImpossibleTravel high ada'],
    ],
  ])('%s', async (_, matchedAgo, minutes, expected) => {
    // Whichever of the two pages was opened first.
    for (const ago of [290, 310]) {
      campus = await Campus.create(server);
      await campus.send(makeVisit({ ...PHONE, ago, location: BERLIN }));
      await campus.send(makeVisit({ ...kiosk, id: 's', minutes }));
      await campus.send([match('s', 'ada', matchedAgo)]);
      expect(await findTypes('ImpossibleTravel')).toEqual(expected);
    }
  });
});
