import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../db/client';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../db/embedded';
import { migrateDatabase } from '../../db/migrate';
import { createRandom } from '../../server/demo/session-facts';
import { findFaults } from '../faults/kill';
import { Traffic } from '../faults/traffic';
import { endProducts, findPostgres } from '../support/product';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { type Relay, startRelay } from '../support/relay';
import { openSite, type Server, type Site } from '../support/site';

// The test has its own Postgres, which dies in the middle of deliveries. The server keeps running and is not restarted.

const TIMEOUT_MS = 1_000;
const EVENTS = 100;
const LIMIT_MS = 60_000;

let dataDir: string;
let receiver: Receiver;
let site: Site;
let server: Server;
let cluster: EmbeddedDatabase;
/** The server's way to Postgres. */
let relay: Relay;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'bot-detection-crash-'));
  receiver = await startReceiver();
  cluster = await startEmbeddedDatabase({ dataDir, log: { info: () => {}, warn: () => {} } });
  const { url } = cluster;
  relay = await startRelay(Number(new URL(url).port));
  const relayed = new URL(url);
  relayed.port = String(relay.port);
  await migrateDatabase({ url, directory: 'db/migrations', region: 'us' });
  const db = openDatabase({ url, maxConnections: 2 });
  site = await openSite(
    { db, url: relayed.href },
    {
      WEBHOOK_ALLOW_HOSTS: receiver.host,
      WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
      WEBHOOK_RETRY_DELAYS: '0s,300ms,300ms,300ms,300ms,300ms',
      // Its log lines about the outage do not matter here.
      LOG_LEVEL: 'silent',
    },
  );
  server = await site.start();
});

afterAll(async () => {
  await endProducts();
  await receiver.stop();
  await relay.cut();
  await site.db.close();
  await cluster.stop();
  await rm(dataDir, { recursive: true, force: true });
});

it('if Postgres dies in the middle of deliveries and comes back, nothing is lost and the server is not restarted', async () => {
  const deadline = Date.now() + LIMIT_MS;
  const traffic = await Traffic.open(site, server, receiver, createRandom(1), EVENTS);
  const posted = traffic.post(server, deadline);
  posted.catch(() => {}); // awaited below
  const postgres = await findPostgres(dataDir);
  const list = () => site.listDeliveries(traffic.tenant);
  await waitUntil(async () => (await list()).some(({ leaseEndsAt }) => leaseEndsAt !== null));
  expect((await list()).length).toBeLessThan(2 * EVENTS);
  process.kill(postgres!, 'SIGKILL');
  // Keeps Postgres away from the server until the test has read what was in flight.
  await relay.cut();
  // The users of the cluster start it again: here the test, otherwise the server. Backends outlive it for a moment.
  await waitUntil(async () => ![null, postgres].includes(await findPostgres(dataDir)), 20_000);
  const answers = () =>
    site.db.query('select 1', []).then(
      () => true,
      () => false,
    );
  await waitUntil(answers);
  const deliveries = await site.listDeliveries(traffic.tenant);
  const recoveredAt = Date.now();
  await relay.restore();
  // Backends outlive Postgres for a moment and finish what they had received, so a claim may be later than the cut.
  const inFlight = deliveries.filter(({ leaseEndsAt }) => leaseEndsAt !== null);
  expect(inFlight.length).toBeGreaterThan(0);
  await posted;
  await traffic.settle(deadline);
  // The server lives and keeps its leases; what it could not record waits for their end.
  expect(findFaults(await traffic.judge(inFlight, recoveredAt, false)).join('\n')).toBe('');
  expect((await server.call('GET', '/health')).status).toBe(200);
});
