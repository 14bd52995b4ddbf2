import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { revokeSite } from '../../server/domain/sites';
import { OVERDUE_GRACE_S } from '../../server/webhooks/deliveries';
import { DRIVEN, openPageSite, Tab } from '../support/beacon';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { scoredSession } from '../support/facts';
import { endProducts } from '../support/product';
import { type Received, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { type Relay, startRelay } from '../support/relay';
import { openSite, type Server, type Site, type Tenant } from '../support/site';

// The server's clock is hours away from the database's, and it steps during attempts and before retries. The database's
// clock decides what is due. Only the signature's timestamp and the log's startedAt come from the server's clock.

const RETRY_DELAY_MS = 4_000;
const HOUR_MS = 3_600_000;
/** A sweep runs every ten seconds, so at least one runs within this time. */
const HOLD_MS = 12_000;
/** What starts sooner was woken for its due time; a sweep would take over later. */
const OVERDUE_MS = OVERDUE_GRACE_S * 1_000;

let database: TestDatabase;
let receiver: Receiver;
let relay: Relay;
let directory: string;
let site: Site;
let server: Server;
let tenant: Tenant;

beforeAll(async () => {
  [database, receiver] = await Promise.all([createTestDatabase(), startReceiver()]);
  directory = await mkdtemp(join(tmpdir(), 'bot-detection-clock-'));
  const clock = join(directory, 'ahead-ms');
  await writeFile(clock, String(3 * HOUR_MS));
  const url = new URL(database.url);
  relay = await startRelay(Number(url.port));
  url.port = String(relay.port);
  site = await openSite(
    { db: database.db, url: url.href },
    {
      WEBHOOK_ALLOW_HOSTS: receiver.host,
      WEBHOOK_TIMEOUT: '25s',
      WEBHOOK_RETRY_DELAYS: `0s,${RETRY_DELAY_MS}ms,1m,1m,1m,1m`,
      NODE_OPTIONS: `--import ${pathToFileURL(resolve('tests/support/clock.mjs')).href}`,
      CLOCK_FILE: clock,
      LOG_LEVEL: 'warn',
    },
  );
  server = await site.start();
  tenant = await site.createTenant();
});
afterAll(async () => {
  await endProducts();
  await relay.cut();
  await receiver.stop();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

/** Reads from the server's own timestamp how far its clock runs ahead, to the second. */
async function readAheadMs(): Promise<number> {
  const { body } = await server.call('GET', '/health');
  return Date.parse(body.timestamp) - Date.now();
}

async function stepTo(aheadMs: number): Promise<void> {
  await writeFile(join(directory, 'ahead-ms'), String(aheadMs));
  server.signal('SIGUSR2');
  await waitUntil(async () => Math.abs((await readAheadMs()) - aheadMs) < 1_000);
}

const arrived = (path: string) => receiver.received.filter((request) => request.path === path);
const signedAheadMs = ({ headers, at }: Received) => Number(headers['x-webhook-timestamp']) * 1_000 - at;
const detectBots = async (count: number) => {
  const facts = Array.from({ length: count }, () => scoredSession(0.95)).flatMap((session) => session.facts);
  expect((await server.ingest(tenant.id, facts)).status).toBe(200);
};

it('attempts are made once, at the database’s due times, and no lease is stolen, however the server’s clock steps', async () => {
  for (const path of ['/held', '/retried']) await site.subscribe(server, tenant, `${receiver.url}${path}`);
  let release = () => {};
  const held = new Promise<number>((resolve) => {
    release = () => resolve(200);
  });
  const isFirst = ({ path, body }: Received) => arrived(path).filter((other) => other.body === body).length === 1;
  receiver.answer = (request) => (request.path === '/held' ? held : isFirst(request) ? 500 : 200);

  const steps = [3 * HOUR_MS, -2 * HOUR_MS, 26 * HOUR_MS, -5 * 60_000];
  for (const [n, aheadMs] of steps.entries()) {
    // The retry of the previous round is not due before this step.
    await stepTo(aheadMs);
    await detectBots(2);
    await waitUntil(() => arrived('/held').length === 2 * (n + 1));
    await waitUntil(
      async () => (await site.listDeliveries(tenant)).filter(({ logged }) => logged > 0).length >= 2 * (n + 1),
    );
    for (const request of arrived('/held').slice(2 * n)) {
      expect(Math.abs(signedAheadMs(request) - aheadMs)).toBeLessThan(3_000);
    }
  }
  const heldSince = Date.now();
  await waitUntil(() => arrived('/retried').length === 4 * steps.length);
  await waitUntil(() => Date.now() > heldSince + HOLD_MS, HOLD_MS + 1_000);
  // These attempts have run longer than the time between two sweeps, under every clock. No sweep took them for lost.
  expect(arrived('/held')).toHaveLength(2 * steps.length);
  release();
  await waitUntil(async () => (await site.listDeliveries(tenant)).every(({ status }) => status === 'Delivered'));
  expect([arrived('/held').length, arrived('/retried').length]).toEqual([2 * steps.length, 4 * steps.length]);
  for (const { body } of arrived('/held')) {
    const [first, second] = arrived('/retried').filter((request) => request.body === body);
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(RETRY_DELAY_MS - 10);
    expect(second!.at - first!.at).toBeLessThan(RETRY_DELAY_MS + OVERDUE_MS);
  }
  expect(new Set((await site.listDeliveries(tenant)).map(({ attempts, logged }) => `${attempts} ${logged}`))).toEqual(
    new Set(['1 1', '2 2']),
  );
});

it('pages that are open go on, and are judged, when the server’s clock steps back', async () => {
  await stepTo(3 * HOUR_MS);
  const campus = await site.createTenant();
  const page = await openPageSite({ db: database.db, url: server.url }, campus);
  const tab = new Tab(page);
  const readSessions = async () => (await server.call('GET', '/v1/sessions', { key: campus.key })).body.data;
  expect((await tab.send()).status).toBe(200);
  await waitUntil(async () => (await readSessions())[0]?.riskLevel === 'human');
  await stepTo(-2 * HOUR_MS);
  expect((await tab.send()).status).toBe(200);
  tab.navigate();
  expect((await tab.send({ e: DRIVEN })).status).toBe(200);
  await waitUntil(async () => (await readSessions())[0]?.riskLevel === 'bot', 20_000);
  expect(await readSessions()).toHaveLength(1);
  // Nor is a site remembered for longer.
  await revokeSite(asOperator(database.db), { id: page.siteId });
  await expect.poll(async () => (await tab.send()).status, { timeout: 20_000, interval: 500 }).toBe(204);
});

it('a clock that stepped back does not keep the engine from repairing itself after an outage of the database', async () => {
  const count = (message: string) => server.stderr().split(message).length - 1;
  const countRepairs = () => count('replaced the workers after database errors');
  for (const [n, aheadMs] of [2 * HOUR_MS, -2 * HOUR_MS].entries()) {
    // The engine repairs itself at most every five seconds.
    if (n > 0) await sleep(5_000);
    await stepTo(aheadMs);
    await relay.cut();
    // The engine notices an outage at a pulse. It may pass over one that is shorter than the time between two.
    await waitUntil(() => count('engine: the database does not answer') > n, 15_000);
    await relay.restore();
    await waitUntil(
      () => countRepairs() > n,
      15_000,
      () => `${countRepairs()} repairs after ${n + 1} outages`,
    );
  }
});
