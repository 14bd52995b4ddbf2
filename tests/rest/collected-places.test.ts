import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPageSite, PAGE_URL, pageShown, Tab } from '../support/beacon';
import { Campus } from '../support/campus';
import { CHROME } from '../support/facts';
import { mmdbDouble, mmdbMap, mmdbNumber, writeMmdb } from '../support/mmdb';
import { startTestServer, type TestServer } from '../support/server';
import { IPHONE } from '../support/visits';

// Where the visitors of pages are. Every page is in London.

const directory = mkdtempSync(join(tmpdir(), 'places-'));
let server: TestServer;
beforeAll(async () => {
  const location = mmdbMap([
    ['latitude', mmdbDouble(51.5)],
    ['longitude', mmdbDouble(-0.12)],
    ['accuracy_radius', mmdbNumber(20)],
  ]);
  const places = writeMmdb(join(directory, 'places.mmdb'), mmdbMap([['location', location]]));
  server = await startTestServer({ GEOIP_DATABASE: places });
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

const MINUTE_MS = 60_000;
const BERLIN = { latitude: 52.52, longitude: 13.4, accuracyKm: 20 };

/** A visit to a page in Berlin on the phone, and one that began as long ago on the laptop and is told of only now, from London. */
async function travel(minutes: number) {
  const campus = await Campus.create(server);
  const { id, key } = campus.customer;
  const site = await openPageSite({ db: server.service.db, url: server.url }, { id, key });
  const at = new Date(Date.now() - minutes * MINUTE_MS).toISOString();
  await campus.send([
    {
      kind: 'sessionStarted',
      sessionId: 'berlin',
      startedAt: at,
      pageUrl: PAGE_URL,
      userAgent: IPHONE,
      location: BERLIN,
    },
    {
      kind: 'sessionCorrelated',
      sessionId: 'berlin',
      user: { id: '42', name: '42' },
      confidence: 0.7,
      correlatedAt: at,
    },
  ]);
  const tab = new Tab(site);
  const c: [number, number] = [minutes * MINUTE_MS + 1_000, Date.now()];
  await tab.send({ c, ev: pageShown(0), u: { id: '42', lms: 1 } }, { 'user-agent': CHROME });
  const readSessions = async () => (await server.call('GET', '/v1/sessions?userId=42', { key })).body.data;
  await expect.poll(readSessions).toHaveLength(2);
  await server.service.findings.flush();
  return (await campus.listAnomalies()).filter(({ anomalyType }) => anomalyType === 'ImpossibleTravel');
}

it('is where the visitor was when a session began', async () => {
  expect(await travel(1)).toHaveLength(1);
});

it('is not known of a session whose first batch came hours later: the visitor has travelled since', async () => {
  expect(await travel(300)).toEqual([]);
});
