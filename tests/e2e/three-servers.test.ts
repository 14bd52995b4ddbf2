import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Plan } from '../../contract/tiers';
import { type Database, openDatabase } from '../../db/client';
import { asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import { createIntegration } from '../../server/domain/integrations';
import { type Balancer, startBalancer, startKeepingBalancer } from '../support/balancer';
import { beginWindow } from '../support/clock-window';
import { Connection, type RawAnswer } from '../support/connection';
import { createEmptyDatabase } from '../support/database';
import { scoredSession } from '../support/facts';
import { findFreePort } from '../support/ports';
import { endProducts } from '../support/product';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { type Client, createClient } from '../support/server';
import { openSite, RECOVERY_LIMIT_MS, type Server, type Site, TAKE_OVER_LIMIT_MS } from '../support/site';
import { keepSending } from '../support/traffic';

// Three processes on one database behind a round-robin balancer. They start at the same time on an empty database.

const COUNT = 3;
const QUOTA = 60;
const SHARED_QUOTA = 75;
const TIMEOUT_MS = 3_000;
const MINUTE_MS = 60_000;
const PAUSE_MS = 120;
const CLIENTS = 12;
/** A server that dies breaks a few connections of each client. */
const MAX_BROKEN = 5 * CLIENTS;

let database: { url: string; drop(): Promise<void> };
let db: Database;
let receiver: Receiver;
let site: Site;
let ports: number[];
let servers: Server[];
let balancer: Balancer;
let client: Client;
beforeAll(async () => {
  [database, receiver] = await Promise.all([createEmptyDatabase(), startReceiver()]);
  db = openDatabase({ url: database.url, maxConnections: 4 });
  site = await openSite(
    { db, url: database.url },
    {
      WEBHOOK_ALLOW_HOSTS: receiver.host,
      WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
      QUOTA_FREE: String(QUOTA),
      QUOTA_SHARED_FREE: String(SHARED_QUOTA),
      QUOTA_ENTERPRISE: '1000000',
    },
  );
  ports = await Promise.all(Array.from({ length: COUNT }, findFreePort));
  servers = await Promise.all(ports.map((port) => site.start({ PORT: String(port) })));
  balancer = await startBalancer(ports);
  client = createClient(balancer.url);
  await db.sql.unsafe(`
    create table cron_runs (function_id text, scheduled_at text);
    create function note_cron_run() returns trigger language plpgsql as $$ begin
      insert into cron_runs values (new.function_id, new.event->'data'->>'scheduledAt'); return null; end $$;
    create trigger note_cron_run after insert on engine.run for each row
      when (new.event->>'name' = 'inngest/scheduled.timer') execute function note_cron_run()`);
});
afterAll(async () => {
  await endProducts();
  await balancer?.stop();
  await receiver.stop();
  await db.close();
  await database.drop();
});

async function createTenant(plan: Plan) {
  const { id } = await createIntegration(asOperator(db), { name: `A tenant on ${plan}`, plan, allowedOrigins: [] });
  const { key } = await mintKey(asOperator(db), { integrationId: id, name: 'test' });
  return { id, key };
}

const times = <T>(count: number, make: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

/** Counts the answers by status. */
async function countStatuses(count: number, send: (n: number) => Promise<{ status: number }>) {
  const counts: Record<number, number> = {};
  for (const { status } of await times(count, send)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const subscribe = (key: string, path: string) =>
  client.call('POST', '/v1/webhooks', { key, body: { url: `${receiver.url}${path}`, eventType: 'BotDetected' } });

it('servers that start together on an empty database migrate it once', async () => {
  const journal = JSON.parse(await readFile('db/migrations/meta/_journal.json', 'utf8'));
  const [applied] = await db.sql`select count(*)::int as n from drizzle.__drizzle_migrations`;
  expect(applied!.n).toBe(journal.entries.length);
  expect(await db.sql`select region from meta`).toEqual([{ region: 'us' }]);
});

it('a quota is exact across all of them', async () => {
  const { key } = await createTenant('free');
  // Windows are clock minutes of the database.
  await beginWindow(db, MINUTE_MS, 10_000);
  await db.sql`delete from rate_windows`;
  const before = [...balancer.answered];
  const get = (headers: Record<string, string>) => client.call('GET', '/v1/integration', { headers });
  expect(await countStatuses(150, () => get({ authorization: `Bearer ${key}` }))).toEqual({
    200: QUOTA,
    429: 150 - QUOTA,
  });
  expect(await countStatuses(150, () => get({ 'x-api-key': key }))).toEqual({
    200: SHARED_QUOTA,
    429: 150 - SHARED_QUOTA,
  });
  expect(balancer.answered.map((n, index) => n - before[index]!)).toEqual([100, 100, 100]);
});

it.each([
  ['pro', 1],
  ['enterprise', 10],
] as const)('of webhooks created at once through all of them, plan %s has room for exactly %i', async (plan, cap) => {
  const { key } = await createTenant(plan);
  const statuses = await countStatuses(36, (n) => subscribe(key, `/${plan}/${n}`));
  expect(statuses).toEqual({ 200: cap, 402: 36 - cap });
  expect((await client.call('GET', '/v1/webhooks', { key })).body.data).toHaveLength(cap);
});

it('usage counts add up', async () => {
  const { id, key } = await createTenant('enterprise');
  const paths = ['/v1/stats', '/v1/users?pageSize=0', '/v1/nothing'];
  await times(120, (n) => client.call('GET', paths[n % 4] ?? '/v1/integration', { key }));
  // A process writes its counts within seconds.
  const countWritten = async () =>
    (await db.sql`select coalesce(sum(requests), 0)::int as n from usage_daily where integration_id = ${id}`)[0]!.n;
  await waitUntil(async () => (await countWritten()) === 120);
  const { data } = (await client.call('GET', '/v1/usage', { key })).body;
  expect(data).toMatchObject({ totalRequests: 120, successfulRequests: 60, clientErrors: 60, serverErrors: 0 });
  expect(
    data.byEndpoint.map(({ path, requests }: { path: string; requests: number }) => [path, requests]).sort(),
  ).toEqual([
    ['(unmatched)', 30],
    ['/v1/integration', 30],
    ['/v1/stats', 30],
    ['/v1/users', 30],
  ]);
});

it('facts sent to all of them are delivered once', async () => {
  const tenant = await createTenant('enterprise');
  expect((await subscribe(tenant.key, '/once')).status).toBe(200);
  expect(await countStatuses(120, () => client.ingest(tenant.id, scoredSession(0.95).facts))).toEqual({ 200: 120 });
  await waitUntil(async () => (await site.listDeliveries(tenant)).every(({ status }) => status === 'Delivered'));
  await sleep(500);
  const arrived = receiver.received.filter(({ path }) => path === '/once');
  const ids = new Set(arrived.map(({ headers }) => headers['x-webhook-delivery-id']));
  const bodies = new Set(arrived.map(({ body }) => JSON.parse(body).sessionId));
  expect([arrived.length, ids.size, bodies.size]).toEqual([120, 120, 120]);
});

/** Prepares deliveries for which every server has an attempt under way. */
function prepareDeliveries() {
  const tenants: Awaited<ReturnType<typeof createTenant>>[] = [];
  const arrivals = (deliveryId: string) =>
    receiver.received.filter(({ headers }) => headers['x-webhook-delivery-id'] === deliveryId);
  return {
    arrivals,
    /** Begins deliveries for ten subscriptions of a tenant at a time, until each server has some. Answers them. */
    async begin() {
      for (;;) {
        const tenant = await createTenant('enterprise');
        tenants.push(tenant);
        await times(10, (n) => subscribe(tenant.key, `/under-way/${n}`));
        expect((await client.ingest(tenant.id, scoredSession(0.95).facts)).status).toBe(200);
        const begun = () => receiver.received.filter(({ path }) => path.startsWith('/under-way/'));
        await waitUntil(() => begun().length >= 10 * tenants.length);
        // One that is about to time out may end before its server dies.
        const isYoung = (id: string) => arrivals(id)[0]!.at > Date.now() - TIMEOUT_MS + 1_000;
        const held = (await Promise.all(tenants.map(site.listDeliveries)))
          .flat()
          .filter(({ id, leaseOwner }) => leaseOwner !== null && isYoung(id));
        if (new Set(held.map(({ leaseOwner }) => leaseOwner)).size === COUNT) return held;
      }
    },
  };
}

it('the death of one server loses nothing and breaks only its own requests; others send again at once what it sent', async () => {
  balancer.broken.fill(0);
  const tenant = await createTenant('enterprise');
  expect((await subscribe(tenant.key, '/death')).status).toBe(200);
  const underWay = prepareDeliveries();
  receiver.answer = async ({ path, headers }) => {
    // The first request hangs.
    const isFirst = underWay.arrivals(String(headers['x-webhook-delivery-id'])).length === 1;
    if (path.startsWith('/under-way/') && isFirst) return null;
    await sleep(400);
    return 200;
  };
  const arrived = () => receiver.received.filter(({ path }) => path === '/death');
  const broken: string[] = [];
  const statuses = new Set<number>();
  const sessions = new Set<string>();
  /** Repeats a request whose connection broke, as a client should. */
  async function send(call: () => Promise<{ status: number }>): Promise<void> {
    try {
      statuses.add((await call()).status);
    } catch (error) {
      broken.push(String((error as Error).cause));
      if (broken.length > MAX_BROKEN) throw error;
      await send(call);
    }
  }
  const traffic = keepSending(CLIENTS, async (n) => {
    const { sessionId, facts } = scoredSession(0.95);
    sessions.add(sessionId);
    await send(() => client.ingest(tenant.id, facts));
    await send(() => client.call('GET', n % 2 ? '/v1/stats' : '/v1/sessions', { key: tenant.key }));
    // Otherwise the traffic takes the processors from the server that starts.
    await sleep(PAUSE_MS);
  });
  await waitUntil(() => arrived().length > 20);
  const held = await underWay.begin();
  const [dying] = servers;
  const killedAt = Date.now();
  dying!.signal('SIGKILL');
  await dying!.endWithin();
  await waitUntil(async () => (await site.listDeadOwners()).length > 0, TAKE_OVER_LIMIT_MS);
  const dead = await site.listDeadOwners();
  const lost = held.filter(({ leaseOwner }) => dead.includes(leaseOwner!));
  expect(lost.length).toBeGreaterThan(0);
  const sentAgainAt = (id: string) => underWay.arrivals(id).find(({ at }) => at > killedAt)?.at;
  await waitUntil(() => lost.every(({ id }) => sentAgainAt(id) !== undefined), RECOVERY_LIMIT_MS);
  expect(Math.max(...lost.map(({ id }) => sentAgainAt(id)!)) - killedAt).toBeLessThan(TAKE_OVER_LIMIT_MS);
  const toldBefore = sessions.size;
  await waitUntil(() => sessions.size > toldBefore + 50);
  servers[0] = await site.start({ PORT: String(ports[0]) });
  const answeredBefore = balancer.answered[0]!;
  await waitUntil(() => balancer.answered[0]! > answeredBefore + 20);
  await traffic.stop();

  expect([...statuses]).toEqual([200]);
  expect([broken.length, balancer.broken], broken.join('\n')).toEqual([balancer.broken[0], [balancer.broken[0], 0, 0]]);
  await waitUntil(
    async () => (await site.listDeliveries(tenant)).every(({ status }) => status === 'Delivered'),
    RECOVERY_LIMIT_MS,
  );
  const rows = await site.listDeliveries(tenant);
  expect(rows).toHaveLength(sessions.size);
  // A repeat is the same delivery: each session is reported under exactly one id.
  const reported = new Map<string, Set<string>>();
  for (const { headers, body } of arrived()) {
    const { sessionId } = JSON.parse(body);
    reported.set(sessionId, (reported.get(sessionId) ?? new Set()).add(`${headers['x-webhook-delivery-id']} ${body}`));
  }
  expect([...reported.keys()].sort()).toEqual([...sessions].sort());
  expect([...reported.values()].every(({ size }) => size === 1)).toBe(true);
  // At most one repeat each, and only of deliveries that the dead server had in flight: at most its whole window.
  expect(arrived().length - sessions.size).toBeLessThanOrEqual(100);
  for (let n = 0; n < COUNT; n++) {
    const { data } = (await client.call('GET', '/v1/stats', { key: tenant.key })).body;
    expect(data).toMatchObject({ totalSessions: sessions.size, botSessions: sessions.size });
  }
});

it('crons run once a minute in all, not once per server', async () => {
  const read = () =>
    db.sql<{ id: string; at: string; n: number }[]>`
      select function_id as id, scheduled_at as at, count(*)::int as n from cron_runs group by 1, 2 order by 1, 2`;
  const minutesOf = (runs: { id: string; at: string }[], id: string) =>
    runs.filter((run) => run.id.endsWith(id)).map(({ at }) => Date.parse(at) / MINUTE_MS);
  const ids = ['sweep-deliveries', 'fold-session-deltas'];
  const haveRun = async () => {
    const all = await read();
    return ids.every((id) => minutesOf(all, id).length > 0);
  };
  await waitUntil(haveRun, 2 * MINUTE_MS);
  const runs = await read();
  expect(runs.filter(({ n }) => n !== 1)).toEqual([]);
  for (const id of ids) {
    const minutes = minutesOf(runs, id);
    expect([id, minutes]).toEqual([id, minutes.map((_, n) => minutes[0]! + n)]);
  }
});

// From here on the servers end.

it('behind a balancer that keeps connections, a server that stops fails no request', async () => {
  const two = servers.slice(1).map(({ port }) => port);
  const keeping = await startKeepingBalancer(two);
  const { key } = await createTenant('enterprise');
  const failures: string[] = [];
  let answered = 0;
  const traffic = keepSending(8, async () => {
    const response = await fetch(`${keeping.url}/v1/stats`, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    if (response.status === 200) answered++;
    else failures.push(`${response.status} ${text}`);
  });
  await waitUntil(() => answered >= 100);
  const before = answered;
  servers[1]!.signal('SIGTERM');
  await sleep(100);
  // A second signal changes nothing.
  servers[1]!.signal('SIGTERM');
  const { code } = await servers[1]!.endWithin(12_000);
  await sleep(500);
  await traffic.stop();
  await keeping.stop();
  expect(failures).toEqual([]);
  expect(code).toBe(0);
  expect(answered).toBeGreaterThan(before + 10);
});

it('a server that stops says so on open connections, and then closes them', async () => {
  const server = servers[0]!;
  const open = await Connection.open(server.url);
  open.writeHead('GET', '/ready');
  expect((await open.read()).body).toMatchObject({ status: 'ready' });
  server.signal('SIGTERM');
  // The signal may take a moment to arrive.
  let answer: RawAnswer;
  do {
    open.writeHead('GET', '/ready');
    answer = await open.read();
  } while (answer.status === 200);
  expect(answer.status).toBe(503);
  expect(answer.body).toMatchObject({ status: 'draining' });
  expect(answer.header('connection')).toBe('close');
  await open.closed;
  await expect(Connection.open(server.url)).rejects.toThrow('ECONNREFUSED');
  expect((await server.endWithin(12_000)).code).toBe(0);
});
