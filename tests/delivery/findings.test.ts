import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ANOMALY_TYPES, type AnomalyType } from '../../contract/findings';
import { asOperator } from '../../server/audit/acts';
import { rotateIdentitySecret } from '../../server/domain/collecting';
import { DRIVEN, moved, ORDINARY, openPageSite, type PageSite, pageShown, Tab, typed } from '../support/beacon';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { IPHONE } from '../support/visits';

// From what pages send to the webhooks: each anomaly, and the match that follows from a device.

/** From the last fact to the POST at the receiver. */
const TOLD_WITHIN_MS = 6_000;
/** Longer than it takes a batch to arrive, so that the pages of a tab keep their order. */
const PAGE_MS = 200;
const LONDON = { 'x-vercel-ip-city': 'London', 'x-vercel-ip-latitude': '51.5', 'x-vercel-ip-longitude': '-0.12' };
const SYDNEY = { 'x-vercel-ip-city': 'Sydney', 'x-vercel-ip-latitude': '-33.87', 'x-vercel-ip-longitude': '151.2' };

let server: TestServer;
let receiver: Receiver;
let site: PageSite;
let identitySecret: string;

beforeAll(async () => {
  receiver = await startReceiver();
  const hosts = { WEBHOOK_ALLOW_HOSTS: receiver.host, WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1' };
  server = await startTestServer({ ...hosts, VERCEL: '1', SESSION_GONE: '500ms' });
  const { db, secrets, collector, findings } = server.service;
  collector.start();
  findings.start();
  site = await openPageSite({ db, url: server.url }, await server.createTenant());
  ({ identitySecret } = await rotateIdentitySecret(asOperator(db), secrets, site));
  for (const eventType of ['SessionAnomaly', 'SessionCorrelated']) {
    const body = { url: receiver.url, eventType };
    expect((await server.call('POST', '/v1/webhooks', { key: site.key, body })).status).toBe(200);
  }
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

/** A user as the customer's server signs them. */
const sign = (id: string) => ({ id, hash: createHmac('sha256', identitySecret).update(id).digest('hex') });
/** Opens a page of a user, and answers its tab. */
async function open(user: string | null, tab = new Tab(site, ORDINARY), headers: Record<string, string> = {}) {
  const reply = await tab.send(user === null ? {} : { u: sign(user) }, headers);
  expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('token')]);
  return tab;
}
const tabOn = (device: string | undefined) => Object.assign(new Tab(site, ORDINARY), { device });

// biome-ignore lint/suspicious/noExplicitAny: the payloads differ by type
const listTold = (type: string): any[] =>
  receiver.received.filter(({ headers }) => headers['x-webhook-event'] === type).map(({ body }) => JSON.parse(body));
const findAnomaly = (type: AnomalyType, userId: string | null) =>
  listTold('SessionAnomaly').find((told) => told.anomalyType === type && told.userId === userId);
/** Waits until an anomaly was told, and answers its payload. */
async function expectTold(type: AnomalyType, userId: string | null) {
  await waitUntil(
    () => findAnomaly(type, userId) !== undefined,
    TOLD_WITHIN_MS,
    () => `${type} was not told`,
  );
  return findAnomaly(type, userId);
}

it('a device with two users is told', async () => {
  const first = await open('ada-1');
  const second = await open('bob-1', tabOn(first.device));
  const told = await expectTold('SharedDevice', 'bob-1');
  expect(told).toMatchObject({ severity: 'low', metadata: { otherUserCount: 1 } });
  expect(told.metadata.deviceFingerprint).toMatch(/^[0-9a-f]{8}$/);
  expect(second.device).toBe(first.device);
});

it('a user on another device, with input on both in the same minute, is told', async () => {
  const laptop = await open('ada-2');
  const phone = new Tab(site, ORDINARY);
  await open('ada-2', phone, { 'user-agent': IPHONE });
  expect(await expectTold('DeviceSwitch', 'ada-2')).toMatchObject({
    ...{ severity: 'medium', metadata: { device: 'Safari on iOS (mobile)', minutesSinceOther: 0 } },
  });
  // The end has the input told at once.
  for (const tab of [laptop, phone]) await tab.send({ ev: typed(tab.now10, 3), x: 1 });
  expect(await expectTold('ConcurrentSessions', 'ada-2')).toMatchObject({ severity: 'medium' });
});

it('a second user in a tab is told', async () => {
  const tab = await open('ada-3');
  await waitUntil(() => listTold('SessionCorrelated').some(({ userId }) => userId === 'ada-3'), TOLD_WITHIN_MS);
  await tab.send({ u: sign('bob-3') });
  expect(await expectTold('UserSwitch', 'bob-3')).toMatchObject({
    ...{ severity: 'high', metadata: { previousUserId: 'ada-3', minutesBetween: 0 } },
  });
});

it('a user at two ends of the Earth is told', async () => {
  await open('ada-4', undefined, LONDON);
  await open('ada-4', undefined, SYDNEY);
  const told = await expectTold('ImpossibleTravel', 'ada-4');
  expect(told).toMatchObject({ severity: 'high', metadata: { isSameDevice: false } });
  expect(told.metadata.distanceKm).toBeGreaterThan(16_000);
});

it('a program that goes on after a person is told, with the moment', async () => {
  const tab = await open('ada-5');
  const act = async (environment = ORDINARY) => {
    await tab.send({ e: environment, ev: [...moved(tab.now10, 20), ...typed(160, 20)] });
    tab.navigate();
    await sleep(PAGE_MS);
    await tab.send({ e: environment, ev: pageShown(tab.now10) });
  };
  for (const environment of [ORDINARY, ORDINARY, DRIVEN, DRIVEN, DRIVEN]) await act(environment);
  await tab.send({ x: 1 });
  const told = await expectTold('AgentTakeover', 'ada-5');
  expect(told).toMatchObject({ severity: 'high', metadata: { direction: 'person-to-program' } });
  expect(Date.parse(told.metadata.moment)).toBeLessThan(Date.now());
});

it('a session without a user belongs to the only user of its device', async () => {
  const named = await open('ada-6');
  await waitUntil(() => listTold('SessionCorrelated').some(({ userId }) => userId === 'ada-6'), TOLD_WITHIN_MS);
  const tab = await open(null, tabOn(named.device));
  await tab.send({ x: 1 });
  const isInferred = () =>
    listTold('SessionCorrelated').some(
      ({ userId, correlationConfidence }) => userId === 'ada-6' && correlationConfidence === 0.3,
    );
  await waitUntil(isInferred, TOLD_WITHIN_MS);
});

it('nothing else is told, and each once', async () => {
  const types = listTold('SessionAnomaly').map(({ anomalyType }) => anomalyType as AnomalyType);
  expect(types.sort()).toEqual([...ANOMALY_TYPES].sort());
});
