import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DatabaseSession, openSession } from '../../db/session';
import { createLogger } from '../../server/platform/log';
import { takeOverLeases } from '../../server/webhooks/deliveries';
import { LeasePresence, type LostOwner } from '../../server/webhooks/lease-presence';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { waitUntil } from '../support/receiver';
import { type Relay, startRelay } from '../support/relay';

// Two processes on one database show each other that they live. `first` reaches it through a relay, which can fail.

const log = createLogger({ LOG_LEVEL: 'silent' });
/** How long a lock must have been free until its process is taken for dead. */
const GRACE_MS = 1_500;
/** Longer than the leases of these tests. */
const LEASE_MS = 45_000;
/** Others notice a dead process within this time. */
const NOTICE_LIMIT_MS = 2_000;

let database: TestDatabase;
let relay: Relay;
let relayed: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  relay = await startRelay(Number(url.port));
  url.port = String(relay.port);
  relayed = url.href;
});
afterAll(async () => {
  await relay.cut();
  await database.drop();
});

const presences: LeasePresence[] = [];
afterEach(async () => {
  for (const presence of presences.splice(0)) await presence.stop();
  await relay.restore();
  await database.db.sql`truncate lease_owners, webhook_deliveries`;
});

/** What a presence reported, when, and under which ids the presences of the test may claim then. */
interface Death extends LostOwner {
  at: number;
  claiming: (number | null)[];
}

async function open(
  url: string,
  openSessionOf: (onEnd: () => void) => DatabaseSession = (onEnd) => openSession(url, onEnd),
) {
  const deaths: Death[] = [];
  const presence = new LeasePresence({ openSession: openSessionOf, log });
  presences.push(presence);
  await presence.start(async (owner) => {
    deaths.push({ ...owner, at: performance.now(), claiming: presences.map(({ owner }) => owner) });
  });
  return { presence, deaths };
}

const listOwners = () =>
  database.db.sql<{ id: number; locks: number }[]>`select id, locks from lease_owners order by id`;

/** Ends the session that holds the lock of an owner. */
const endSession = (id: number) =>
  database.db.sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = ${id}`;

it('a process that ends is reported within two seconds, but not before it must have noticed itself', async () => {
  const [first, second] = [await open(relayed), await open(database.url)];
  const [one, two] = [first.presence.owner!, second.presence.owner!];
  expect([one < two, await listOwners()]).toEqual([
    true,
    [
      { id: one, locks: 1 },
      { id: two, locks: 1 },
    ],
  ]);
  await sleep(500);
  expect(first.presence.owner).toBe(one);
  const cutAt = performance.now();
  await relay.cut();
  await waitUntil(() => second.deaths.length > 0);
  const [death] = second.deaths;
  expect(death).toMatchObject({ id: one, locks: 1, claiming: [null, two] });
  expect(death!.at - cutAt).toBeGreaterThan(GRACE_MS);
  expect(death!.at - cutAt).toBeLessThan(NOTICE_LIMIT_MS);
  // Nobody has taken over yet, so the process keeps its id when it comes back.
  await relay.restore();
  await waitUntil(() => first.presence.owner === one);
  expect((await listOwners())[0]).toEqual({ id: one, locks: 2 });
  expect(first.deaths).toEqual([]);
});

it('a process that another one took over from comes back under a new id', async () => {
  const [first, second] = [await open(relayed), await open(database.url)];
  const before = first.presence.owner!;
  await relay.cut();
  await database.db.sql`delete from lease_owners where id = ${before}`;
  await waitUntil(() => first.presence.owner === null);
  await relay.restore();
  await waitUntil(() => first.presence.owner !== null);
  expect(first.presence.owner).toBeGreaterThan(second.presence.owner!);
  expect(second.deaths).toEqual([]);
});

it('a process whose connection is ended again and again is never reported and keeps its id', async () => {
  const [first, second] = [await open(relayed), await open(database.url)];
  const id = first.presence.owner!;
  const countLocks = async () => (await listOwners())[0]!.locks;
  for (let n = 0; n < 8; n++) {
    const before = await countLocks();
    await endSession(id);
    for (let m = 0; m < 5; m++) {
      expect(first.presence.owner).toBe(id);
      await sleep(50);
    }
    await waitUntil(async () => (await countLocks()) > before);
  }
  expect(second.deaths).toEqual([]);
});

it('a process whose connection is silent owns nothing after a moment, while its lock lasts', async () => {
  const [first, second] = [await open(relayed), await open(database.url)];
  const id = first.presence.owner!;
  relay.stall();
  await sleep(GRACE_MS + 100);
  expect(first.presence.owner).toBeNull();
  await sleep(500);
  expect(second.deaths).toEqual([]);
  await relay.cut();
  await relay.restore();
  await waitUntil(() => first.presence.owner === id);
  expect(second.deaths).toEqual([]);
});

it('a process whose server takes no more writes shows itself on a new connection, which may lead to the successor', async () => {
  const sessions: DatabaseSession[] = [];
  const { presence } = await open(database.url, (onEnd) => {
    sessions.push(openSession(database.url, onEnd));
    return sessions.at(-1)!;
  });
  const before = presence.owner!;
  await sessions[0]!.query('set session characteristics as transaction read only', []);
  await waitUntil(() => sessions.length > 1);
  await waitUntil(async () => (await listOwners())[0]?.locks === 2);
  await waitUntil(() => presence.owner === before);
});

it('behind a pooler, which hides the sessions, a process owns nothing and is never reported', async () => {
  const second = await open(database.url);
  // As a pooler in transaction mode: each statement runs in the next of several sessions, which outlive the client.
  const sessions = Array.from({ length: 3 }, () => openSession(database.url, () => {}));
  let asked = 0;
  const first = await open('', () => ({
    query: (text, parameters) => sessions[asked++ % sessions.length]!.query(text, parameters),
    close: async () => {},
  }));
  await sleep(500);
  expect(first.presence.owner).toBeNull();
  expect(await listOwners()).toEqual([{ id: second.presence.owner, locks: 1 }]);
  const askedBefore = asked;
  for (const session of sessions) await session.close();
  await sleep(GRACE_MS + 500);
  expect([second.deaths, asked]).toEqual([[], askedBefore]);
});

it('a process that ends is reported again and again, but not while the report before is worked on', async () => {
  await open(relayed);
  const presence = new LeasePresence({ openSession: (onEnd) => openSession(database.url, onEnd), log });
  presences.push(presence);
  let [calls, running, most] = [0, 0, 0];
  await presence.start(async () => {
    calls++;
    running++;
    most = Math.max(most, running);
    await sleep(600);
    running--;
  });
  await relay.cut();
  await waitUntil(() => calls >= 2);
  expect(most).toBe(1);
});

describe('taking over the leases of a process', () => {
  /** Makes deliveries in flight, one line each: owner, crashes before, seconds until the lease ends. */
  const insertDeliveries = (rows: Record<string, [owner: number | null, crashes: number, seconds: number]>) =>
    database.db.sql.unsafe(
      `insert into webhook_deliveries (integration_id, id, subscription_id, attempts, lease, lease_owner, crashes, next_attempt_at)
       select 'int_1', r.id, 'whk_' || left(r.id, 1), 1, gen_random_uuid(), r.owner, r.crashes, now() + r.seconds * interval '1 s'
         from json_to_recordset($1::text::json) r (id text, owner int, crashes int, seconds int)`,
      [
        JSON.stringify(
          Object.entries(rows).map(([id, [owner, crashes, seconds]]) => ({ id, owner, crashes, seconds })),
        ),
      ],
    );
  const listFree = async () =>
    (await database.db.sql`select id, attempts, crashes from webhook_deliveries where lease is null order by id`).map(
      ({ id, attempts, crashes }) => `${id} ${attempts} ${crashes}`,
    );

  it('releases them once, apart from those that ended a process before', async () => {
    const [{ presence, deaths }, alive] = [await open(relayed), await open(database.url)];
    const [lost, other] = [presence.owner!, alive.presence.owner!];
    await insertDeliveries({
      ...{ a1: [lost, 0, 30], a2: [lost, 0, 30], b1: [lost, 0, 30], again: [lost, 1, 30] },
      ...{ other: [other, 0, 30], nobody: [null, 0, 30] },
    });
    await relay.cut();
    await waitUntil(() => alive.deaths.length > 0);
    const results = await Promise.all(
      [1, 2, 3].map(() => takeOverLeases(database.db, log, alive.deaths[0]!, LEASE_MS)),
    );
    expect(results.flat().sort((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1))).toEqual([
      { integrationId: 'int_1', subscriptionId: 'whk_a' },
      { integrationId: 'int_1', subscriptionId: 'whk_b' },
    ]);
    expect(await listFree()).toEqual(['a1 0 1', 'a2 0 1', 'b1 0 1']);
    expect(await listOwners()).toEqual([{ id: other, locks: 1 }]);
    expect(deaths).toEqual([]);
  });

  it('changes nothing while the process lives, or if it was back since', async () => {
    const { presence } = await open(relayed);
    const id = presence.owner!;
    await insertDeliveries({ a1: [id, 0, 30] });
    expect(await takeOverLeases(database.db, log, { id, locks: 1 }, LEASE_MS)).toEqual([]);
    await endSession(id);
    await waitUntil(async () => (await listOwners())[0]!.locks === 2);
    await presence.stop();
    await waitUntil(
      async () =>
        (await database.db.sql`select 1 from pg_locks where objid = ${id} and locktype = 'advisory'`).length === 0,
    );
    expect(await takeOverLeases(database.db, log, { id, locks: 1 }, LEASE_MS)).toEqual([]);
    expect([await listFree(), await listOwners()]).toEqual([[], [{ id, locks: 2 }]]);
    expect(await takeOverLeases(database.db, log, { id, locks: 2 }, LEASE_MS)).toHaveLength(1);
    expect([await listFree(), await listOwners()]).toEqual([['a1 0 1'], []]);
  });
});
