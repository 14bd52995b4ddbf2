import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Beacon } from '../../contract/beacon';
import type { Anomaly } from '../../contract/findings';
import { asOperator } from '../../server/audit/acts';
import { createCollector } from '../../server/collector/collector';
import { eraseCollected } from '../../server/collector/erased-sessions';
import { deriveFingerprint } from '../../server/collector/tokens';
import { rotateIdentitySecret } from '../../server/domain/collecting';
import type { Fact } from '../../server/pipeline/facts';
import { appRouter } from '../../server/procedures/router';
import { openPageSite, type PageSite, Tab } from '../support/beacon';
import { Campus, shorten } from '../support/campus';
import { startTestServer, type TestServer } from '../support/server';
import { daysAgo, FIREFOX, makeVisit, minutesAgo, type VisitFields } from '../support/visits';

// What holds for all findings, and users who follow from a device.

let server: TestServer;
let campus: Campus;
beforeAll(async () => {
  server = await startTestServer();
});
beforeEach(async () => {
  campus = await Campus.create(server);
});
afterAll(() => server.stop());

describe('findings', () => {
  const STORY = () => [
    ...makeVisit({ id: '1', user: 'ada', ago: 300 }),
    ...makeVisit({ id: '2', user: 'bob', ago: 200, input: [1], minutes: 10 }),
    ...makeVisit({ id: '3', user: 'bob', ago: 199, device: 'phone', userAgent: FIREFOX, minutes: 10, input: [0, 1] }),
  ];

  it('are the same however the facts are cut into batches, and a repeat adds none', async () => {
    const whole = await Campus.create(server);
    await whole.send(STORY());
    for (const fact of STORY()) await campus.send([fact]);
    const strip = (list: Anomaly[]) =>
      list.map(({ id: _, ...rest }) => rest).sort((a, b) => a.anomalyType.localeCompare(b.anomalyType));
    expect(strip(await campus.listAnomalies())).toEqual(strip(await whole.listAnomalies()));
    const before = await whole.listAnomalies();
    expect(shorten(before).sort()).toEqual([
      ...['ConcurrentSessions medium bob', 'DeviceSwitch medium bob', 'SharedDevice low bob'],
    ]);
    await whole.send(STORY());
    expect(await whole.listAnomalies()).toEqual(before);
  });

  it('are not looked for once an admin has switched the rule off, which is audited', async () => {
    const context = { kind: 'staff' as const, integrationId: campus.customer.id, clientAddress: null };
    const staff = { id: 'stf_1', email: 'admin@example.edu', name: 'Admin', role: 'admin' as const };
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
    await campus.send(STORY());
    expect(shorten(await campus.listAnomalies()).sort()).toEqual([
      'ConcurrentSessions medium bob',
      'DeviceSwitch medium bob',
    ]);
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
    const { userId, userName, correlationConfidence } = await campus.customer.session(id);
    return { userId, userName, correlationConfidence };
  };
  const NOBODY = { userId: null, userName: null, correlationConfidence: null };
  const unnamed = { id: 's', user: null, ago: 30 };
  beforeEach(async () => {
    for (const id of ['s', 't'])
      await server.database.db.sql`
        insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent)
        values (${campus.customer.id}, ${id}, 'ste_1', now(), current_date, '')`;
  });

  it('belongs to the only user of its device, with little confidence', async () => {
    await campus.visit({ user: 'ada', ago: 90 }, unnamed);
    expect(await readMatch('s')).toEqual({ userId: 'ada', userName: 'Name of ada', correlationConfidence: 0.3 });
    const [row] = await server.database.db.query<{ at: string }>(
      'select correlated_at as at from session_correlations where integration_id = $1 and session_id = $2',
      [campus.customer.id, 's'],
    );
    expect(row!.at).toBe(minutesAgo(29));
  });

  it('belongs to nobody if the pixel did not begin it: a customer’s own pipeline matches its sessions itself', async () => {
    await campus.visit({ user: 'ada', ago: 90 }, { ...unnamed, id: 'posted' });
    expect(await readMatch('posted')).toEqual(NOBODY);
  });

  it('belongs to nobody while it is open', async () => {
    await campus.visit({ user: 'ada', ago: 90 }, { ...unnamed, minutes: null });
    expect(await readMatch('s')).toEqual(NOBODY);
  });

  it.each<[string, VisitFields[]]>([
    ['a second user', [{ user: 'ada' }, { user: 'bob' }]],
    ['a second user whom anybody could have named', [{ user: 'ada' }, { user: 'bob', confidence: 0.5 }]],
    ['no reliable user', [{ user: 'ada', confidence: 0.5 }]],
    ['a user of 31 days ago', [{ user: 'ada', ago: daysAgo(31) }]],
    ['the users of a laboratory', Array.from({ length: 12 }, (_, n) => ({ user: `user-${n}`, ago: 500 - n * 10 }))],
    ['no user', []],
  ])('belongs to nobody if the device has %s', async (_, visits) => {
    await campus.visit(...visits.map((one) => ({ ago: 90, ...one })), unnamed);
    expect(await readMatch('s')).toEqual(NOBODY);
  });

  it('belongs to nobody whose first session on the device came only after its close', async () => {
    await campus.send([...makeVisit({ user: 'ada', ago: 20 }), ...makeVisit(unnamed)]);
    expect(await readMatch('s')).toEqual(NOBODY);
  });

  it('belongs to nobody if its device has more sessions than are looked at', async () => {
    await campus.send(Array.from({ length: 199 }, (_, n) => makeVisit({ ago: 500 - n, minutes: null })).flat());
    await campus.visit(unnamed);
    expect(await readMatch('s')).toEqual(NOBODY);
  });

  it('belongs to nobody if another user had a session of the device before its user', async () => {
    await campus.visit({ id: 'taken', user: 'bob', ago: 90, confidence: 0.5 });
    const user = { id: 'ada', name: 'ada' };
    const match = { kind: 'sessionCorrelated' as const, sessionId: 'taken', user, confidence: 1 };
    await campus.send([{ ...match, correlatedAt: minutesAgo(89) }, ...makeVisit(unnamed)]);
    expect(await readMatch('s')).toEqual(NOBODY);
  });

  it('is no reason for another one: an inferred user infers nobody', async () => {
    await campus.visit({ user: 'ada', ago: daysAgo(29) }, { ...unnamed, ago: 60 });
    expect(await readMatch('s')).toMatchObject({ userId: 'ada' });
    await server.database.db.query("delete from sessions where integration_id = $1 and user_id = 'ada' and id <> 's'", [
      campus.customer.id,
    ]);
    await campus.visit({ ...unnamed, id: 't' });
    expect(await readMatch('t')).toEqual(NOBODY);
  });

  it('gets any other match instead, also one that was made before its close', async () => {
    await campus.visit({ user: 'ada', ago: 90 }, unnamed);
    const match = (user: string, ago: number): Fact => ({
      ...{ kind: 'sessionCorrelated', sessionId: 's', user: { id: user, name: user }, confidence: 0.5 },
      correlatedAt: minutesAgo(ago),
    });
    await campus.send([match('bob', 29.9)]);
    expect(await readMatch('s')).toMatchObject({ userId: 'bob', correlationConfidence: 0.5 });
    await campus.send([{ ...match('eve', 1), confidence: 0.3, isInferred: true } as Fact]);
    expect(await readMatch('s')).toMatchObject({ userId: 'bob' });
  });

  it('belongs to nobody if the rule is switched off', async () => {
    await server.database.db.query("insert into finding_rules values ($1, 'Correlation', false)", [campus.customer.id]);
    await campus.visit({ user: 'ada', ago: 90 }, unnamed);
    expect(await readMatch('s')).toEqual(NOBODY);
  });
});

describe('a session whose pages name somebody who does not count', () => {
  let site: PageSite;
  let tab: Tab;
  beforeEach(async () => {
    const { db, secrets } = server.service;
    site = await openPageSite({ db, url: server.url }, campus.customer);
    tab = new Tab(site);
    const device = deriveFingerprint(secrets.collectorKey, site.integrationId, tab.device!);
    await campus.visit({ id: 'known', user: 'ada', device }, { id: 'other', user: 'bob', device: 'phone' });
  });

  const startProcess = () => createCollector({ ...server.service, hasTimers: false });
  /** Sends beacons of the tab, each to another process. Answers the session, judged. */
  async function send(...beacons: Partial<Beacon>[]) {
    for (const beacon of beacons) {
      const collector = startProcess();
      await tab.hand(collector, beacon);
      await collector.flush();
    }
    await server.service.findings.flush();
    const { data } = (await campus.customer.get('/v1/sessions')).body;
    return data.find(({ id }: { id: string }) => !['known', 'other'].includes(id));
  }
  const ofNobody = expect.objectContaining({ status: 'Scored', userId: null });
  const bob = { u: { id: 'bob' } };

  it('belongs to nobody if the name lacks the signature that is needed', async () => {
    await rotateIdentitySecret(asOperator(server.service.db), server.service.secrets, site);
    expect(await send(bob, {}, { x: 1 })).toEqual(ofNobody);
  });

  it('belongs to nobody if that user was erased', async () => {
    const { key } = campus.customer;
    expect((await server.call('DELETE', '/v1/users/bob', { key })).status).toBe(200);
    expect(await send(bob, {}, { x: 1 })).toEqual(ofNobody);
  });

  it('belongs to nobody if that user is erased while it is open', async () => {
    // A process takes the first batch, and dies before it tells of the user.
    await tab.hand(startProcess(), bob);
    const { db } = server.service;
    const { integrationId } = site;
    const [open] = await db.query<{ id: string }>(
      'select session_id as id from collected_sessions where integration_id = $1',
      [integrationId],
    );
    const erased = { integrationId, userId: 'bob', finder: { replace: (text: string) => text } };
    await db.transact((query) => eraseCollected(query, erased, [open!.id]));
    expect(await send({ x: 1 })).toEqual(ofNobody);
  });

  it('is unlike one whose pages name nobody', async () => {
    expect(await send({}, { x: 1 })).toMatchObject({ status: 'Scored', userId: 'ada' });
  });
});
