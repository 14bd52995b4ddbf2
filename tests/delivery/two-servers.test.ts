import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { scoredSession } from '../support/facts';
import { findFreePort } from '../support/ports';
import { endProducts } from '../support/product';
import { type Received, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { openSite, type Server, type Site, TAKE_OVER_LIMIT_MS } from '../support/site';

// Two processes on one database. The clock of the second is an hour ahead, so a signature's timestamp shows which
// process sent it.

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let receiver: Receiver;
let directory: string;
let site: Site;
let servers: Server[];
beforeAll(async () => {
  [database, receiver] = await Promise.all([createTestDatabase(), startReceiver()]);
  directory = await mkdtemp(join(tmpdir(), 'bot-detection-clock-'));
  const clock = join(directory, 'ahead-ms');
  await writeFile(clock, String(HOUR_MS));
  site = await openSite(database, {
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_TIMEOUT: '15s',
    WEBHOOK_RETRY_DELAYS: '0s,500ms,1m,1m,1m,1m',
  });
  const ahead = {
    PORT: String(await findFreePort()),
    NODE_OPTIONS: `--import ${pathToFileURL(resolve('tests/support/clock.mjs')).href}`,
    CLOCK_FILE: clock,
  };
  servers = await Promise.all([site.start(), site.start(ahead)]);
});
afterAll(async () => {
  await endProducts();
  await receiver.stop();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

const attemptOf = ({ path, body }: Received) =>
  receiver.received.filter((other) => other.path === path && other.body === body).length;
const senderOf = ({ headers, at }: Received) =>
  Number(headers['x-webhook-timestamp']) * 1_000 - at > HOUR_MS / 2 ? 1 : 0;

/** Makes a tenant whose subscriptions all receive every event. The events are posted to both servers in turn. */
async function sendToBoth(subscriptions: number, events: number) {
  const tenant = await site.createTenant();
  const ids: string[] = [];
  for (let n = 0; n < subscriptions; n++) {
    ids.push((await site.subscribe(servers[n % 2]!, tenant, `${receiver.url}/${tenant.id}/${n}`)).id);
  }
  const statuses = await Promise.all(
    Array.from({ length: events }, async (_, n) => {
      const { status } = await servers[n % 2]!.ingest(tenant.id, scoredSession(0.95).facts);
      return status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  return { tenant, ids, arrived: () => receiver.received.filter(({ path }) => path.startsWith(`/${tenant.id}/`)) };
}

it('two servers share the work, and no attempt is made by both', async () => {
  receiver.answer = (request) => (attemptOf(request) === 1 ? 500 : 200);
  const { tenant, arrived } = await sendToBoth(10, 24);
  await waitUntil(async () => (await site.listDeliveries(tenant)).every(({ status }) => status === 'Delivered'));
  await sleep(500);
  // 240 deliveries of two attempts each.
  const deliveries = new Set(arrived().map(({ headers }) => headers['x-webhook-delivery-id']));
  expect([deliveries.size, arrived().length]).toEqual([240, 480]);
  expect(arrived().every((request) => attemptOf(request) === 2)).toBe(true);
  const rows = await site.listDeliveries(tenant);
  expect(new Set(rows.map(({ attempts, logged }) => `${attempts} ${logged}`))).toEqual(new Set(['2 2']));
  // Chance decides which server takes a subscription, so more rounds may be needed.
  const senders = new Set(arrived().map(senderOf));
  for (let round = 0; senders.size < 2 && round < 12; round++) {
    const more = await sendToBoth(4, 2);
    await waitUntil(async () => (await site.listDeliveries(more.tenant)).every(({ status }) => status === 'Delivered'));
    for (const request of more.arrived()) senders.add(senderOf(request));
  }
  expect(senders.size).toBe(2);
});

it('simultaneous failures on two servers are all counted, and the third disables once, with its class', async () => {
  const EVENTS = 6;
  const SUBSCRIPTIONS = 8;
  await database.db.sql.unsafe(`
    create table disablings (subscription_id text);
    create function note_disabling() returns trigger language plpgsql as
      $$ begin insert into disablings values (new.id); return null; end $$;
    create trigger note_disabling after update on webhook_subscriptions for each row
      when (old.enabled and not new.enabled) execute function note_disabling()`);
  const waiting = new Map<string, ((status: number) => void)[]>();
  receiver.answer = (request) => {
    if (attemptOf(request) === 1) return 500;
    return new Promise((answer) => waiting.set(request.path, [...(waiting.get(request.path) ?? []), answer]));
  };
  const { tenant, ids, arrived } = await sendToBoth(SUBSCRIPTIONS, EVENTS);
  const readHealth = () =>
    database.db.sql<{ id: string; n: number; enabled: boolean; reason: string | null; class: string | null }[]>`
      select id, consecutive_failures as n, enabled, disabled_reason as reason, disabled_failure_class as class
        from webhook_subscriptions where integration_id = ${tenant.id} order by id`;
  await waitUntil(() => [...waiting.values()].flat().length === SUBSCRIPTIONS * EVENTS);
  // First two answers for each subscription at once, then all the others at once.
  for (const answers of waiting.values()) for (const answer of answers.splice(0, 2)) answer(404);
  await waitUntil(async () => (await readHealth()).every(({ n }) => n === 2));
  expect((await readHealth()).every(({ enabled }) => enabled)).toBe(true);
  for (const answer of [...waiting.values()].flat()) answer(301);
  await waitUntil(async () => (await site.listDeliveries(tenant)).every(({ status }) => status !== 'Pending'));

  const disabled = { n: EVENTS, enabled: false, reason: 'auto:consecutive-failures', class: 'HTTP301' };
  expect(await readHealth()).toEqual(ids.sort().map((id) => ({ id, ...disabled })));
  const disablings = await database.db.sql`select subscription_id as id from disablings order by 1`;
  expect(disablings.map(({ id }) => id)).toEqual(ids);
  await sleep(500);
  expect(arrived()).toHaveLength(2 * SUBSCRIPTIONS * EVENTS);
});

/** Makes deliveries that wait for an answer at both servers. The answers are given by the test. */
async function holdDeliveries() {
  const answers = new Map<Received, (status: number) => void>();
  receiver.answer = (request) =>
    attemptOf(request) > 1 ? 200 : new Promise<number>((answer) => answers.set(request, answer));
  const { tenant, arrived } = await sendToBoth(10, 2);
  await waitUntil(() => answers.size === 20);
  const deliveryIdOf = ({ headers }: Received) => String(headers['x-webhook-delivery-id']);
  /** The ids of the deliveries in flight, by the process that sends them. */
  const held = new Map<number, Set<string>>();
  for (const { id, leaseOwner } of await site.listDeliveries(tenant))
    held.set(leaseOwner!, (held.get(leaseOwner!) ?? new Set()).add(id));
  expect([...held.keys()]).not.toContain(null);
  return { tenant, arrived, answers, deliveryIdOf, held };
}

it('a server that loses only the connection by which others see it keeps its deliveries and sends nothing twice', async () => {
  const { tenant, arrived, answers, held } = await holdDeliveries();
  for (let n = 0; n < 3; n++) {
    for (const owner of held.keys()) await site.endPresence(owner);
    await sleep(700);
  }
  const owners = (await site.listDeliveries(tenant)).map(({ leaseOwner }) => leaseOwner!);
  expect(new Set(owners)).toEqual(new Set(held.keys()));
  for (const answer of answers.values()) answer(200);
  await waitUntil(async () => (await site.listDeliveries(tenant)).every(({ status }) => status === 'Delivered'));
  expect(arrived()).toHaveLength(20);
});

it('a paused server changes nothing after another one took over from it', async () => {
  const { tenant, arrived, answers, deliveryIdOf, held } = await holdDeliveries();
  const [paused, ids] = [...held].sort(([, a], [, b]) => b.size - a.size)[0]!;
  const [first] = [...answers.keys()].filter((request) => ids.has(deliveryIdOf(request)));
  const server = servers[senderOf(first!)]!;
  server.signal('SIGSTOP');
  try {
    // A paused process keeps its connection, and so its deliveries. Without it, another process takes over.
    await sleep(2_000);
    expect((await site.listDeliveries(tenant)).filter(({ leaseOwner }) => leaseOwner === paused)).toHaveLength(
      ids.size,
    );
    const endedAt = Date.now();
    await site.endPresence(paused);
    const listPaused = async () => (await site.listDeliveries(tenant)).filter(({ id }) => ids.has(id));
    await waitUntil(async () => (await listPaused()).every(({ status }) => status === 'Delivered'));
    expect(Date.now() - endedAt).toBeLessThan(TAKE_OVER_LIMIT_MS);
    // The paused server finds answers that would end its deliveries and disable the subscriptions.
    for (const answer of answers.values()) answer(404);
    await waitUntil(async () => (await site.listDeliveries(tenant)).every(({ status }) => status !== 'Pending'));
    const read = () => database.db.sql`
      select d.*, s.consecutive_failures, s.enabled, s.last_delivery_at from webhook_deliveries d
        join webhook_subscriptions s on s.integration_id = d.integration_id and s.id = d.subscription_id
       where d.id in ${database.db.sql([...ids])} order by d.id`;
    const before = await read();
    server.signal('SIGCONT');
    await waitUntil(async () => (await server.call('GET', '/health')).status === 200);
    await sleep(1_000);
    expect(await read()).toEqual(before);
    expect(arrived()).toHaveLength(20 + ids.size);
  } finally {
    server.signal('SIGCONT');
  }
});
