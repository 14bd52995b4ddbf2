import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advanceEventPositions } from '../../db/event-positions';
import { MAX_EXAMINED_EVENTS } from '../../server/webhooks/event-record';
import { pruneDeliveries } from '../../server/webhooks/retention';
import { expectError } from '../support/answers';
import { Customer } from '../support/customer';
import { waitForLocks } from '../support/database';
import { EventPoller } from '../support/event-poller';
import { anomaly, closed, correlated, scored, scoredSession, started } from '../support/facts';
import { createGate } from '../support/gate';
import { countRead, explainStatement } from '../support/plans';
import { waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { recordStatements } from '../support/statements';

const LIST = '/v1/webhook-events';
const OLDEST = `${LIST}?sort=oldest`;

let server: TestServer;
let directory: string;
let writers: postgres.Sql;
beforeAll(async () => {
  server = await startTestServer();
  directory = await mkdtemp(join(tmpdir(), 'event-poller-'));
  writers = postgres(server.database.url, { max: 12, onnotice: () => {} });
});
afterAll(async () => {
  await writers.end();
  await server.stop();
  await rm(directory, { recursive: true });
});

/** Writes events as the pipeline does, but without facts. */
const insertEvents = (sql: postgres.Sql | postgres.TransactionSql, customer: Customer, ids: string[]) => sql`
  insert into domain_events (integration_id, id, type, natural_key, payload)
  select ${customer.id}, id, 'AlertTriggered', id, '{}' from unnest(${ids}::text[]) id`;
/** Other tests use the same cluster. A transaction of theirs can hold events back for a moment. */
const waitForEvents = (customer: Customer, path: string, count: number) =>
  waitUntil(async () => (await customer.readAll(path)).length === count);
const idsOf = (events: { id: string }[]) => events.map(({ id }) => id);

describe('the record of webhook events', () => {
  it('has every event with its payload, also without a subscription, newest or oldest first', async () => {
    const customer = await Customer.create(server);
    const { sessionId, facts } = scoredSession(0.9);
    await customer.accept(facts);
    await customer.accept([correlated(sessionId, 'u-1')]);
    await waitForEvents(customer, OLDEST, 2);
    const [first, second] = await customer.readAll(OLDEST);
    expect(first).toMatchObject({ eventType: 'BotDetected', outcomes: [] });
    expect(second).toMatchObject({ eventType: 'SessionCorrelated', outcomes: [] });
    expect(JSON.parse(first.payload)).toMatchObject({ sessionId, botScore: 0.9 });
    const [stored] = await writers`select payload, created_at from domain_events where id = ${first.id}`;
    expect([first.payload, first.createdAt]).toEqual([stored!.payload, stored!.created_at.toISOString()]);
    expect(await customer.readAll(LIST)).toEqual([second, first]);
    expect(await customer.read(`${LIST}/${first.id}`)).toEqual(first);
    expectError(await (await Customer.create(server)).get(`${LIST}/${first.id}`), 'NOT_FOUND');
  });

  it('can be filtered by type, time, session and user, together with paging', async () => {
    const customer = await Customer.create(server);
    await customer.switchOffFindings();
    const ids = ['s-1', 's-2'];
    await customer.accept(ids.flatMap((id) => [started(id), correlated(id, `u-${id}`), closed(id), scored(id, 0.9)]));
    await customer.accept([anomaly('a-1', { sessionId: 's-2', userId: 'u-x' })]);
    await writers`update domain_events set created_at = '2026-01-31T10:00:00Z'
                   where integration_id = ${customer.id} and type = 'SessionAnomaly'`;
    await waitForEvents(customer, OLDEST, 5);
    const count = async (query: string) => {
      const found = await customer.readAll(`${LIST}?${query}`);
      expect(idsOf(await customer.readAll(`${OLDEST}&${query}`)).reverse()).toEqual(idsOf(found));
      return found.length;
    };
    expect(await count('eventType=BOTDETECTED')).toBe(2);
    expect(await count('sessionId=s-2')).toBe(3);
    expect(await count('userId=u-s-1')).toBe(2);
    expect(await count('userId=u-s-2&eventType=SessionCorrelated')).toBe(1);
    expect(await count('startDate=2026-01-31&endDate=2026-01-31')).toBe(1);
    expect(await count('endDate=2026-01-31T10:00:00Z')).toBe(0);
    expectError(await customer.get(`${LIST}?startDate=2026-02-01&endDate=2026-01-01`), 'INVALID_REQUEST', 'endDate');
    expectError(await customer.get(`${LIST}?sort=up`), 'INVALID_REQUEST', 'sort');
  });

  it('examines a bounded number of events for a page, and a short page goes on behind them', async () => {
    const customer = await Customer.create(server);
    const ids = Array.from({ length: MAX_EXAMINED_EVENTS + 5 }, (_, n) => `evt_${String(n).padStart(5, '0')}`);
    await insertEvents(writers, customer, ids);
    await writers`update domain_events set type = 'ReportReady'
                   where integration_id = ${customer.id} and id in ('evt_00001', 'evt_10002')`;
    await waitUntil(async () => (await customer.get(OLDEST)).body.data.length > 0);
    const path = `${OLDEST}&eventType=ReportReady&pageSize=100`;
    const { body } = await customer.get(path);
    expect([idsOf(body.data), body.pagination.hasMore]).toEqual([['evt_00001'], true]);
    const { body: rest } = await customer.get(`${path}&cursor=${body.pagination.nextCursor}`);
    expect([idsOf(rest.data), rest.pagination.hasMore]).toEqual([['evt_10002'], false]);
  });

  it('examines a bounded number of bytes for a page, which each payload may make longer', async () => {
    const customer = await Customer.create(server);
    const ids = Array.from({ length: 1_200 }, (_, n) => `evt_${String(n).padStart(5, '0')}`);
    await insertEvents(writers, customer, ids);
    await writers`update domain_events set payload = json_build_object('userId', 'u-' || id, 'metadata', repeat('x', 16000))::text
                   where integration_id = ${customer.id}`;
    await waitUntil(async () => (await customer.get(OLDEST)).body.data.length > 0);
    for (const [sort, [id]] of Object.entries({ oldest: ids.slice(-1), newest: ids })) {
      const path = `${LIST}?sort=${sort}&userId=u-${id}`;
      const { body } = await customer.get(path);
      expect([sort, idsOf(body.data), body.pagination.hasMore]).toEqual([sort, [], true]);
      const { body: rest } = await customer.get(`${path}&cursor=${body.pagination.nextCursor}`);
      expect([sort, idsOf(rest.data), rest.pagination.hasMore]).toEqual([sort, [id], false]);
    }
    const walked = await customer.readAll(OLDEST);
    expect(idsOf(walked)).toEqual(ids);
  });

  it('reads a page along its index, whatever the statistics say', async () => {
    const customer = await Customer.create(server);
    await insertEvents(
      writers,
      customer,
      Array.from({ length: 3_000 }, (_, n) => `evt_p${n}`),
    );
    for (const path of [`${LIST}?sort=newest`, OLDEST]) {
      const recorder = recordStatements(server.service.db);
      await customer.get(`${path}&pageSize=20`);
      const statement = recorder.take().find(({ text }) => text.includes('domain_events'))!;
      recorder.stop();
      for (const plan of ['custom', 'generic'] as const) {
        const nodes = await explainStatement(server.database.db.sql, statement, plan);
        for (const node of nodes) expect([path, plan, countRead(node) < 100]).toEqual([path, plan, true]);
      }
    }
  });
});

describe('a client that polls', () => {
  it('gets a cursor at the end too, and goes on from there', async () => {
    const customer = await Customer.create(server);
    const { pagination } = (await customer.get(OLDEST)).body;
    expect(pagination).toEqual({ nextCursor: expect.any(String), hasMore: false, limit: 50 });
    await insertEvents(writers, customer, ['evt_1']);
    await waitForEvents(customer, OLDEST, 1);
    const { body } = await customer.get(`${OLDEST}&cursor=${pagination.nextCursor}`);
    expect([idsOf(body.data), body.pagination.hasMore]).toEqual([['evt_1'], false]);
    const { body: again } = await customer.get(`${OLDEST}&cursor=${body.pagination.nextCursor}`);
    expect(again).toEqual({ data: [], pagination: { ...pagination, nextCursor: body.pagination.nextCursor } });
    expect((await customer.get(LIST)).body.pagination).toEqual({ hasMore: false, limit: 50 });
  });

  it('sees nothing behind a transaction that still runs, and then everything in order', async () => {
    const customer = await Customer.create(server);
    const commit = createGate();
    const slow = writers.begin(async (sql) => {
      await insertEvents(sql, customer, ['evt_b']);
      await commit.opened;
    });
    await waitUntil(
      async () =>
        (await writers`select 1 from pg_stat_activity where datname = current_database() and backend_xid is not null`)
          .length > 0,
    );
    await insertEvents(writers, customer, ['evt_a']);
    expect(idsOf(await customer.readAll(LIST))).toEqual(['evt_a']);
    const { body } = await customer.get(OLDEST);
    expect(body.data).toEqual([]);
    commit.open();
    await slow;
    const path = `${OLDEST}&cursor=${body.pagination.nextCursor}`;
    await waitForEvents(customer, path, 2);
    expect(idsOf(await customer.readAll(path))).toEqual(['evt_b', 'evt_a']);
  });

  it('is not held back by transactions that only read, such as a dump', async () => {
    const customer = await Customer.create(server);
    await writers.begin('isolation level repeatable read read only', async (sql) => {
      await sql`select count(*) from domain_events`;
      await insertEvents(writers, customer, ['evt_1']);
      await waitForEvents(customer, OLDEST, 1);
    });
  });

  it('has every event exactly once, however transactions overlap and whenever it is killed', async () => {
    const customer = await Customer.create(server);
    const file = join(directory, 'overlapping');
    const WRITERS = 8;
    const TRANSACTIONS = 25;
    let open = WRITERS;
    const write = async (writer: number) => {
      for (let n = 0; n < TRANSACTIONS; n++) {
        const ids = [0, 1].map((at) => `evt_${writer}-${n}-${at}`);
        // The transaction gets its number at its first change, and its time at its beginning.
        await writers.begin(async (sql) => {
          await sql`select 1`;
          await sleep(Math.random() * 10);
          await insertEvents(sql, customer, [ids[0]!]);
          await sleep(Math.random() * 20);
          await insertEvents(sql, customer, [ids[1]!]);
        });
      }
      open--;
    };
    const poll = async () => {
      while (open > 0) await new EventPoller(file, 3).poll((path) => customer.get(path));
    };
    await Promise.all([...Array.from({ length: WRITERS }, (_, n) => write(n)), poll()]);
    await waitForEvents(customer, OLDEST, 2 * WRITERS * TRANSACTIONS);
    await new EventPoller(file).poll((path) => customer.get(path));
    const got = idsOf(await new EventPoller(file).readEvents());
    const [stored] =
      await writers`select array_agg(id order by id) as ids from domain_events where integration_id = ${customer.id}`;
    expect(got.toSorted()).toEqual(stored!.ids);
  });

  it('gets the events after a restore, whose transactions have lower numbers than those it knows', async () => {
    const customer = await Customer.create(server);
    await insertEvents(writers, customer, ['evt_1']);
    await waitForEvents(customer, OLDEST, 1);
    // As if the backup had been followed by many transactions: the position that the client knows is far ahead.
    await writers`update domain_events set position = position + 500000 where integration_id = ${customer.id}`;
    const at = async (id: string) => {
      const [row] =
        await writers`select position from domain_events where integration_id = ${customer.id} and id = ${id}`;
      return BigInt(row!.position);
    };
    await insertEvents(writers, customer, ['evt_2']);
    expect(await at('evt_2')).toBeLessThan(await at('evt_1'));
    // As the autovacuum that follows a restore, which gives way after a second.
    const vacuum = await writers.reserve();
    await vacuum`begin`;
    await vacuum`lock table domain_events in share update exclusive mode`;
    const advanced = advanceEventPositions(writers);
    await waitForLocks(writers, 1);
    await vacuum`rollback`;
    vacuum.release();
    expect(await advanced).toBe(true);
    await insertEvents(writers, customer, ['evt_3']);
    expect(await at('evt_3')).toBeGreaterThan(await at('evt_1'));
  });

  it('is not disturbed by a start of another process while events are written', async () => {
    const before = await writers`select event_position('0') as base`;
    const customer = await Customer.create(server);
    await writers.begin(async (sql) => {
      await insertEvents(sql, customer, ['evt_1']);
      expect(await advanceEventPositions(writers)).toBe(false);
    });
    expect(await writers`select event_position('0') as base`).toEqual(before);
  });
});

describe('the outcomes of an event', () => {
  it('stay when the delivery log is pruned', async () => {
    const customer = await Customer.create(server);
    await insertEvents(writers, customer, ['evt_1']);
    const insert = (id: string, status: string) => writers`
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, finished_at)
      values (${customer.id}, ${id}, ${`whk_${id}`}, 'evt_1', ${status}, now() - interval '31 days')`;
    await insert('1', 'Delivered');
    await pruneDeliveries(server.service.db);
    await insert('2', 'PermanentFailure');
    const ended = (id: string, outcome: string, status: string) => ({
      ...{ subscriptionId: `whk_${id}`, outcome, reason: null, deliveryId: null, status },
    });
    await pruneDeliveries(server.service.db);
    const { outcomes } = await customer.read(`${LIST}/evt_1`);
    expect(outcomes).toEqual([ended('1', 'delivered', 'Delivered'), ended('2', 'failed', 'PermanentFailure')]);
  });
});
