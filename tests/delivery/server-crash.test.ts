import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFaults, killServer, killSettings } from '../faults/kill';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { scoredSession } from '../support/facts';
import { endProducts } from '../support/product';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { type Relay, startRelay } from '../support/relay';
import {
  LEASE_MARGIN_MS,
  openSite,
  RECOVERY_LIMIT_MS,
  type Server,
  type Site,
  TAKE_OVER_LIMIT_MS,
} from '../support/site';

// kill -9 of the server at the critical moments of a delivery, each reached on purpose, and at one of the random moments that
// `npm run test:faults` tries. Postgres keeps running.

const TIMEOUT_MS = 2_000;
const RETRY_DELAY_MS = 2_000;
const EVENTS = 3;
const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));

let database: TestDatabase;
let receiver: Receiver;
let relay: Relay;
let site: Site;
/** The server that was started after the last kill, for the next one. */
let server: Server | null = null;
beforeAll(async () => {
  [database, receiver] = await Promise.all([createTestDatabase(), startReceiver()]);
  relay = await startRelay(Number(new URL(database.url).port));
  const url = new URL(database.url);
  url.port = String(relay.port);
  site = await openSite({ db: database.db, url: url.href }, killSettings(receiver));
});
afterAll(async () => {
  await endProducts();
  await relay.cut();
  await receiver.stop();
  await database.drop();
});

it('kill -9 loses nothing, and repeats only attempts in flight, under the same delivery id', async () => {
  const killed = await site.start({
    WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
    WEBHOOK_RETRY_DELAYS: `0s,${RETRY_DELAY_MS}ms,1m,1m,1m,1m`,
  });
  const tenant = await site.createTenant();
  const subscribe = (path: string) => site.subscribe(killed, tenant, `${receiver.url}${path}`);
  const arrived = (path: string) => receiver.received.filter((request) => request.path === path);
  const countIds = (path: string) =>
    new Set(arrived(path).map(({ headers, body }) => `${headers['x-webhook-delivery-id']} ${body}`)).size;
  const PATHS = ['/delivered', '/sleeping', '/in-post', '/unrecorded'] as const;
  const subscriptions = new Map<string, { id: string; secret: string }>();
  for (const path of PATHS) subscriptions.set(path, await subscribe(path));

  let answerUnrecorded = () => {};
  const isAnswered = new Promise<number>((resolve) => {
    answerUnrecorded = () => resolve(200);
  });
  receiver.answer = ({ path }) => {
    if (path === '/sleeping') return 500;
    if (path === '/in-post') return null;
    return path === '/unrecorded' ? isAnswered : 200;
  };
  const facts = Array.from({ length: EVENTS }, () => scoredSession(0.95)).flatMap((session) => session.facts);
  expect((await killed.ingest(tenant.id, facts)).status).toBe(200);
  await waitUntil(() => PATHS.every((path) => arrived(path).length === EVENTS));
  const isRecorded = async (path: string) => {
    const { id } = subscriptions.get(path)!;
    const deliveries = (await site.listDeliveries(tenant)).filter(({ subscriptionId }) => subscriptionId === id);
    return deliveries.every(({ logged }) => logged === 1);
  };
  await waitUntil(async () => (await isRecorded('/delivered')) && (await isRecorded('/sleeping')));
  // From now on nothing from the server reaches Postgres: the receiver answers, but the answer is not recorded.
  relay.stall();
  answerUnrecorded();
  await sleep(100);
  killed.signal('SIGKILL');
  expect(await killed.endWithin()).toMatchObject({ signal: 'SIGKILL' });
  await relay.cut();
  await relay.restore();
  await site.waitForQuiet();

  const left = await site.listDeliveries(tenant);
  const leases = left.flatMap(({ leaseEndsAt }) => leaseEndsAt ?? []);
  expect(leases).toHaveLength(2 * EVENTS);
  for (const end of leases) expect(end).toBeLessThan(Date.now() + TIMEOUT_MS + LEASE_MARGIN_MS);
  receiver.answer = () => 200;
  server = await site.start();
  const healthyAt = Date.now();

  await waitUntil(
    async () => (await site.listDeliveries(tenant)).every(({ status }) => status === 'Delivered'),
    RECOVERY_LIMIT_MS,
  );
  await sleep(500);
  const counts = PATHS.map((path) => [path, arrived(path).length, countIds(path)]);
  expect(counts).toEqual([
    ['/delivered', EVENTS, EVENTS],
    ['/sleeping', 2 * EVENTS, EVENTS],
    ['/in-post', 2 * EVENTS, EVENTS],
    ['/unrecorded', 2 * EVENTS, EVENTS],
  ]);
  for (const { at } of arrived('/sleeping').slice(EVENTS)) expect(at - healthyAt).toBeLessThan(RECOVERY_LIMIT_MS);
  for (const path of ['/in-post', '/unrecorded']) {
    for (const request of arrived(path).slice(EVENTS)) {
      // Long before the lease ends: nothing shows any more that the server lives.
      expect(request.at - healthyAt).toBeLessThan(TAKE_OVER_LIMIT_MS);
      expectSigned(request, subscriptions.get(path)!.secret);
    }
  }
  // The lost attempt does not count, and no attempt is logged twice.
  const ends = (await site.listDeliveries(tenant)).map(({ subscriptionId, attempts, logged }) => {
    const path = PATHS.find((one) => subscriptions.get(one)!.id === subscriptionId);
    return `${path} ${attempts} ${logged}`;
  });
  expect([...new Set(ends)].sort()).toEqual(['/delivered 1 1', '/in-post 1 1', '/sleeping 2 2', '/unrecorded 1 1']);
});

it(`kill -9 at a random moment of a stream loses nothing (KILL_SEED=${seed})`, async () => {
  const outcome = await killServer(site, server ?? (await site.start()), receiver, seed);
  expect(findFaults(outcome)).toEqual([]);
  expect(outcome.arrivals).toBeGreaterThanOrEqual(outcome.deliveries);
});
