import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NATURAL_KEYS } from '../../server/webhooks/natural-keys';
import { COUNT_TABLES, foldCounts, readCounts } from '../support/count-rows';
import { Customer } from '../support/customer';
import {
  alert,
  anomaly,
  closed,
  correlated,
  failed,
  happened,
  report,
  scored,
  secondsAgo,
  started,
  writing,
} from '../support/facts';
import { createGate } from '../support/gate';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { TENANT_TABLES } from '../support/tenant-tables';

// Facts reach the pipeline's endpoint in any order, several times, in batches of any size, over several connections to
// several processes.

const CONNECTIONS = 6;

let server: TestServer;
let receiver: Receiver;
/** The processes that take the facts. */
let servers: TestServer[];
beforeAll(async () => {
  receiver = await startReceiver();
  const settings = { WEBHOOK_ALLOW_HOSTS: receiver.host };
  server = await startTestServer(settings);
  servers = [await startTestServer(settings, server), await startTestServer(settings, server)];
});
afterAll(async () => {
  for (const each of servers) await each.stop();
  await server.stop();
  await receiver.stop();
});

type Fact = Record<string, unknown> & { kind: string };

const second = fc.nat({ max: 99 });
const unit = fc.integer({ min: 0, max: 100 }).map((n) => n / 100);
const session = fc.record({
  isClosed: fc.boolean(),
  isFailed: fc.boolean(),
  // The score that is current when the session closes decides about BotDetected. So all scores of a session are on one
  // side of the threshold.
  isBot: fc.boolean(),
  scores: fc.uniqueArray(second, { maxLength: 3 }),
  // A match that is replaced before it was recorded sends no event. So a session is matched only once.
  user: fc.option(fc.nat({ max: 2 })),
  events: fc.uniqueArray(fc.nat({ max: 20 }), { maxLength: 8 }),
});
const story = fc.record({
  sessions: fc.array(session, { minLength: 1, maxLength: 4 }),
  writings: fc.uniqueArray(fc.record({ of: fc.constantFrom('s-0', 's-9', 'w'), at: second, aiScore: unit }), {
    selector: ({ of, at }) => `${of} ${at}`,
    maxLength: 6,
  }),
  reports: fc.uniqueArray(fc.nat({ max: 9 }), { maxLength: 4 }),
  alerts: fc.uniqueArray(fc.nat({ max: 9 }), { maxLength: 4 }),
  anomalies: fc.uniqueArray(fc.nat({ max: 9 }), { maxLength: 4 }),
  /** Random numbers that decide how the facts are shuffled, repeated and cut into batches. */
  chance: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })),
});
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

const TIME = Date.now() - 3_600_000;
const timeAt = (index: number) => new Date(TIME + index * 1_000).toISOString();

/** Lists the facts of a story, each once. Those that start a session are listed separately. */
function factsOf({ sessions, writings, reports, alerts, anomalies }: Story): { starts: Fact[]; rest: Fact[] } {
  const starts: Fact[] = sessions.map((_, n) =>
    started(`s-${n}`, { startedAt: timeAt(n), deviceFingerprint: `device-${n}` }),
  );
  const ofSessions = sessions.flatMap(({ isClosed, isFailed, isBot, scores, user, events }, n): Fact[] => {
    const id = `s-${n}`;
    return [
      ...(isClosed ? [closed(id, { closedAt: timeAt(200) })] : []),
      ...(isFailed ? [failed(id, { failedAt: timeAt(201), reason: 'no model' })] : []),
      ...scores.map((at) => scored(id, (isBot ? 0.8 : 0.1) + at / 1_000, { scoredAt: timeAt(at) })),
      ...(user === null
        ? []
        : [correlated(id, `user-${user}`, { user: { id: `user-${user}`, name: id }, correlatedAt: timeAt(300 + n) })]),
      ...events.map((sequence) => happened(id, [{ sequence, eventCount: sequence, timestamp: timeAt(sequence) }])),
    ];
  });
  const rest: Fact[] = [
    ...ofSessions,
    ...writings.map(({ of, at, aiScore }) => writing(of, aiScore, { scoredAt: timeAt(at), wordCount: at })),
    ...reports.map((n) => report(`r-${n}`, { completedAt: timeAt(n), expiresAt: timeAt(n + 60), fileSize: n * 1e9 })),
    ...alerts.map((n) => alert(`a-${n}`, { triggeredAt: timeAt(n) })),
    // An anomaly takes the user from its session at the moment it arrives. So these name the user themselves.
    ...anomalies.map((n) =>
      anomaly(`n-${n}`, { detectedAt: timeAt(n), ...(n % 2 ? { sessionId: 's-0', userId: 'user-0' } : {}) }),
    ),
  ];
  return { starts, rest };
}

/**
 * Deals each connection its batches: every fact goes over at least one connection, a session's start before its other
 * facts.
 */
function dealFacts({ starts, rest }: ReturnType<typeof factsOf>, chance: Iterator<number>): Fact[][][] {
  const draw = () => chance.next().value as number;
  return Array.from({ length: CONNECTIONS }, (_, connection) => {
    const mine = rest.flatMap((fact, index) => {
      const times = Math.floor(draw() * 3) || Number(index % CONNECTIONS === connection);
      return Array.from({ length: times }, () => ({ fact, at: draw() }));
    });
    const shuffled = mine.sort((a, b) => a.at - b.at).map(({ fact }) => fact);
    const batches = connection === 0 ? [starts] : [];
    while (shuffled.length > 0) {
      const batch = shuffled.splice(0, 1 + Math.floor(draw() * 12));
      const named = new Set(batch.map(({ kind, sessionId }) => kind !== 'writingScored' && sessionId));
      const first = starts.filter(({ sessionId }) => named.has(sessionId));
      batches.push(draw() < 0.5 ? [...first, ...batch] : [...first.toReversed(), ...batch]);
    }
    return batches;
  });
}

/** Tables that no fact writes, and deliveries, which are checked where they arrive. */
const OTHER_TABLES = [
  ...['integrations', 'api_keys', 'audit_entries', 'usage_daily', 'device_confirmations', 'pruned_outcomes'],
  ...['outcome_counts', 'webhook_subscriptions', 'webhook_deliveries', 'webhook_attempts', 'webhook_answers'],
];
/** Columns that are generated or say when and for which subscription. */
const VOLATILE = ['integration_id', 'updated_at', 'created_at', 'skips', 'entry'];

/** Reads all rows that facts make, without the columns that differ each time. */
async function readRows({ id }: Customer): Promise<Record<string, unknown[]>> {
  const { sql } = server.database.db;
  const tables = TENANT_TABLES.map(({ name }) => name).filter((name) => !OTHER_TABLES.includes(name));
  const read = async (name: string) => {
    // A session's `created_at` is its start.
    const volatile = name === 'sessions' ? VOLATILE.filter((column) => column !== 'created_at') : VOLATILE;
    const rows = await sql<{ row: Record<string, unknown> }[]>`
      select to_jsonb(t) - ${`{${volatile}}`}::text[] as row from ${sql(name)} t where integration_id = ${id}`;
    return rows.flatMap(({ row }) => {
      if (COUNT_TABLES.includes(name)) return readCounts(row) ?? [];
      if (name !== 'domain_events') return row;
      const { id: _, position: __, payload, ...rest } = row;
      // The order decides which of several scores was current, and whose session it was by then.
      return row.type === 'BotDetected' ? rest : { ...rest, payload };
    });
  };
  const entries = tables.map(async (name) => [name, (await read(name)).map((row) => JSON.stringify(row)).sort()]);
  return Object.fromEntries(await Promise.all(entries));
}

/** Waits until the rules on findings have judged all sessions, which they do when the facts are answered. */
const waitForFindings = (integrationId: string) =>
  waitUntil(async () => {
    const waiting = await server.database.db.sql`select from fact_outbox where integration_id = ${integrationId}`;
    return waiting.length === 0;
  });

async function createSubscriber(): Promise<Customer> {
  const customer = await Customer.create(server);
  await customer.switchOffFindings();
  for (const eventType of Object.keys(NATURAL_KEYS)) {
    const { status } = await customer.post('/v1/webhooks', { url: `${receiver.url}/${customer.id}`, eventType });
    expect(status).toBe(200);
  }
  return customer;
}

/** Waits until all deliveries have ended. The events must have arrived, each once. */
async function expectDelivered({ id }: Customer) {
  const { sql } = server.database.db;
  await waitUntil(async () => {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::int as open from webhook_deliveries where integration_id = ${id} and status <> 'Delivered'`;
    return row!.open === 0;
  });
  const events = await sql<{ event: string }[]>`
    select type || ' ' || payload as event from domain_events where integration_id = ${id}`;
  const arrived = receiver.received.filter(({ path }) => path === `/${id}`);
  const received = arrived.map(({ headers, body }) => `${headers['x-webhook-event']} ${body}`);
  expect(received.sort()).toEqual(events.map(({ event }) => event).sort());
}

describe('facts in any order, repeated, in other batches and at the same time', () => {
  it('end in the same rows and fire each event once', async () => {
    const kinds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(story, async (drawn) => {
        const facts = factsOf(drawn);
        const all = [...facts.starts, ...facts.rest];
        for (const { kind } of all) kinds.add(kind);
        // What follows from facts depends on which came first: a session that closed without a user is given that of its device.
        const inOrder = await Customer.create(server);
        await inOrder.switchOffFindings();
        await inOrder.accept(all);
        const customer = await createSubscriber();
        const dealt = dealFacts(facts, drawn.chance);
        const accepted = await Promise.all(
          dealt.map(async (batches, connection) => {
            let count = 0;
            for (const batch of batches) {
              const { status, body } = await servers[connection % 2]!.ingest(customer.id, batch);
              expect([status, body.error]).toEqual([200, undefined]);
              count += body.result.data.accepted;
            }
            return count;
          }),
        );
        expect(accepted.reduce((sum, count) => sum + count, 0)).toBe(all.length);
        await foldCounts(server.database.db);
        for (const { id } of [inOrder, customer]) await waitForFindings(id);
        expect(await readRows(customer)).toEqual(await readRows(inOrder));
        await expectDelivered(customer);
      }),
      { numRuns: 20, endOnFailure: true },
    );
    expect(kinds.size).toBe(10);
  });

  it('never block each other: Postgres counts no deadlock', async () => {
    const at = secondsAgo(60);
    for (let round = 0; round < 30; round++) {
      const customer = await Customer.create(server);
      const numbers = Array.from({ length: 45 }, (_, n) => n);
      const facts = (n: number): Fact[] => [
        started(`s-${n}`, { startedAt: at }),
        closed(`s-${n}`, { closedAt: at }),
        failed(`s-${n}`, { failedAt: at }),
        correlated(`s-${n}`, `u-${n}`, { correlatedAt: at }),
        scored(`s-${n}`, 0.9, { scoredAt: at }),
        happened(`s-${n}`, [{ sequence: n, timestamp: at }]),
        anomaly(`n-${n}`, { detectedAt: at }),
        writing(`w-${n}`, 0.5, { scoredAt: at }),
        report(`r-${n}`, { completedAt: at }),
        alert(`a-${n}`, { triggeredAt: at }),
      ];
      const more = (n: number): Fact[] => [scored(`s-${n}`, 0.1, { scoredAt: secondsAgo(0) })];
      const send = async (on: TestServer, batch: Fact[]) => {
        const { status, body } = await on.ingest(customer.id, batch);
        expect([status, body.error]).toEqual([200, undefined]);
        return body.result.data.accepted;
      };
      // At first all rows are new, and only keys can be locked. The second time the sessions exist.
      for (const make of [facts, more]) {
        const batches = [numbers, numbers.toReversed()].map((order) => order.flatMap(make));
        const accepted = await Promise.all(batches.map((batch, n) => send(servers[n]!, batch)));
        if (make === facts) expect(accepted.reduce((sum, count) => sum + count, 0)).toBe(batches[0]!.length);
      }
    }
    // When a connection ends, it has reported its statistics to Postgres.
    for (const each of servers.splice(0)) await each.stop();
    const [row] = await server.database.db.sql`
        select deadlocks::int from pg_stat_database where datname = current_database()`;
    expect(row).toEqual({ deadlocks: 0 });
  });
});

it('batches that are large together are written by several transactions, so that one slow statement does not fail them all', async () => {
  const customer = await Customer.create(server);
  const { db, ingester } = server.service;
  const { transact } = db;
  const ingestFacts = vi.spyOn(ingester, 'ingestFacts');
  let transactions = 0;
  const held = createGate();
  db.transact = async (work, options) => {
    transactions++;
    await held.opened;
    return transact(work, options);
  };
  try {
    // The first one keeps the others waiting, so that they would be one group.
    const first = customer.ingest([started('s0')]);
    await waitUntil(() => transactions === 1);
    const large = [1, 2, 3].map((n) => {
      const events = Array.from({ length: 8_000 }, (_, sequence) => ({ sequence, url: 'https://lms.example.edu/' }));
      return customer.ingest([started(`s${n}`), happened(`s${n}`, events)]);
    });
    await waitUntil(() => ingestFacts.mock.calls.length === 1 + large.length);
    held.open();
    for (const answer of await Promise.all([first, ...large])) expect(answer.status).toBe(200);
    expect(transactions).toBe(3);
  } finally {
    ingestFacts.mockRestore();
    db.transact = transact;
  }
});
