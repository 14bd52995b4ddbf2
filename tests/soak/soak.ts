import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../server/demo/session-facts';
import { readResidentMemory } from '../bench/memory';
import { describeDistribution, type Figure } from '../bench/report';
import { findBookFaults } from '../support/books';
import type { TestDatabase } from '../support/database';
import { findFreePort } from '../support/ports';
import { startReceiver } from '../support/receiver';
import { startRelay } from '../support/relay';
import type { Client } from '../support/server';
import { openSite } from '../support/site';
import { type Callers, pollEvents, postFacts, read, write } from './callers';
import { FAULTS } from './faults';
import { Ledger } from './ledger';
import { ATTEMPT_LIMIT_MS, ReceiverAccount, type RecordedDelivery } from './receiver-account';
import { SoakTenant } from './tenant';

// Two servers on one database under mixed traffic, with one fault after the other. In the end every fact must be
// counted, every delivery accepted, and every failure explained by a fault.

const TENANTS = 3;
const PATHS = ['/one', '/two'];
const LOOPS: [caller: (callers: Callers) => Promise<void>, count: number, pauseMs: number][] = [
  [read, 4, 20],
  [write, 2, 100],
  [postFacts, 2, 150],
  [pollEvents, 1, 100],
];
/** Time between two faults. Short runs use less, so that they include some faults. */
const CALM_MS = 7_000;
const CALM_SHARE = 0.05;
const SETTLE_LIMIT_MS = 90_000;
/** Over a shorter time, the slope only shows caches warming up. */
const SLOPE_FROM_MS = 10 * 60_000;
const NO_FAULTS: Goal = { atMost: 0 };

type Goal = NonNullable<Figure['goal']>;

export interface SoakOptions {
  durationMs: number;
  seed: number;
  /** Called with the current fault, or with the progress of the traffic. */
  onProgress(what: string, doneMs: number): void;
}

export interface SoakReport {
  figures: Figure[];
  /** What went wrong, one line each. */
  faults: string[];
}

/** Runs the soak on its own database. Stops what it starts, except the processes that `endProducts` stops. */
export async function runSoak(database: Pick<TestDatabase, 'db' | 'url'>, options: SoakOptions): Promise<SoakReport> {
  const random = createRandom(options.seed);
  const directory = await mkdtemp(join(tmpdir(), 'bot-detection-events-'));
  const receiver = await startReceiver();
  const url = new URL(database.url);
  const relay = await startRelay(Number(url.port));
  url.port = String(relay.port);
  const site = await openSite(
    { db: database.db, url: url.href },
    {
      WEBHOOK_ALLOW_HOSTS: receiver.host,
      WEBHOOK_TIMEOUT: `${ATTEMPT_LIMIT_MS}ms`,
      WEBHOOK_RETRY_DELAYS: '0s,500ms,1s,2s,5s,15s',
      QUOTA_ENTERPRISE: '100000000',
      LOG_LEVEL: 'fatal',
    },
  );
  const victimPort = String(await findFreePort());
  const startVictim = () => site.start({ PORT: victimPort });
  try {
    const [survivor, first] = [await site.start(), await startVictim()];
    const victim = { current: first, start: startVictim };
    const tenants: SoakTenant[] = [];
    for (let n = 0; n < TENANTS; n++) {
      const created = await site.createTenant();
      const tenant = new SoakTenant(created, random, join(directory, created.id));
      for (const path of PATHS) await site.subscribe(survivor, tenant, `${receiver.url}/${tenant.id}${path}`);
      tenants.push(tenant);
    }
    const ledger = new Ledger();
    const account = new ReceiverAccount(receiver, random);
    const callers: Callers = { choose: () => (random() < 0.5 ? survivor : victim.current), tenants, random, ledger };
    const startedAt = Date.now();
    const endsAt = startedAt + options.durationMs;
    const memory: [minutes: number, megabytes: number][] = [];

    const loop = async (caller: (callers: Callers) => Promise<void>, pauseMs: number) => {
      while (Date.now() < endsAt) {
        await caller(callers);
        await sleep(random() * 2 * pauseMs);
      }
    };
    const watchMemory = async () => {
      for (; Date.now() < endsAt; await sleep(1_000)) {
        const megabytes = readResidentMemory(survivor.pid);
        if (megabytes !== null) memory.push([(Date.now() - startedAt) / 60_000, megabytes]);
        options.onProgress('traffic', Date.now() - startedAt);
      }
    };
    /** Where the books of webhook events did not close. */
    const unclosed: string[] = [];
    const calmMs = Math.min(CALM_MS, options.durationMs * CALM_SHARE);
    const injectFaults = async () => {
      for (;;) {
        for (const name of shuffle(Object.keys(FAULTS), random)) {
          await sleep(Math.min(calmMs, Math.max(0, endsAt - Date.now())));
          if (Date.now() >= endsAt) return;
          options.onProgress(name, Date.now() - startedAt);
          await ledger.during(name, () => FAULTS[name]!({ relay, db: database.db, receiver: account, victim }));
          unclosed.push(...(await findBookFaults(database.db)).map((fault) => `after ${name}: ${fault}`));
        }
      }
    };
    const traffic = LOOPS.flatMap(([caller, count, pauseMs]) =>
      Array.from({ length: count }, () => loop(caller, pauseMs)),
    );
    await Promise.all([...traffic, watchMemory(), injectFaults()]);

    const settleBy = Date.now() + SETTLE_LIMIT_MS;
    const readPending = () =>
      database.db.query(`select 1 from webhook_deliveries where status = 'Pending' limit 1`, []);
    while ((await readPending()).length > 0 && Date.now() < settleBy) await sleep(500);
    const wrong = [...ledger.wrong];
    for (const tenant of tenants) wrong.push(...(await compareStats(survivor, tenant)));
    unclosed.push(...(await findBookFaults(database.db)));
    const polled = await Promise.all(tenants.map((tenant) => comparePolled(database.db, survivor, tenant)));
    const undelivered = await database.db.query<RecordedDelivery>(LIST_UNDELIVERED, []);
    const deliveries = account.judge(tenants, PATHS, undelivered, ledger);
    const sessions = tenants.reduce((sum, tenant) => sum + tenant.sessions.size, 0);
    const calm = describeDistribution(ledger.calm);
    const figures: Figure[] = [
      { name: 'requests answered', value: ledger.all.length, unit: '' },
      { name: 'refused or cut off by faults', value: ledger.excused, unit: '' },
      { name: 'errors that no fault explains', value: ledger.errors.length, unit: '', goal: NO_FAULTS },
      { name: 'wrong answers', value: wrong.length, unit: '', goal: NO_FAULTS },
      { name: 'faults injected', value: ledger.windows.length, unit: '' },
      { name: 'sessions told', value: sessions, unit: '' },
      { name: 'deliveries', value: deliveries.expected, unit: '' },
      { name: 'lost', value: deliveries.lost.length, unit: '', goal: NO_FAULTS },
      { name: 'given up after six attempts', value: deliveries.givenUp, unit: '' },
      { name: 'repeated', value: deliveries.repeated, unit: '' },
      { name: 'repeated though no fault explains it', value: deliveries.unexplained.length, unit: '', goal: NO_FAULTS },
      { name: 'events polled', value: polled.reduce((sum, { count }) => sum + count, 0), unit: '' },
      {
        name: 'missed or repeated by polling',
        value: polled.flatMap(({ faults }) => faults).length,
        unit: '',
        goal: NO_FAULTS,
      },
      { name: 'books that do not close', value: unclosed.length, unit: '', goal: NO_FAULTS },
      { name: 'p50 while nothing is wrong', value: calm.p50, unit: 'ms' },
      { name: 'p99 while nothing is wrong', value: calm.p99, unit: 'ms' },
      { name: 'p99 in all', value: describeDistribution(ledger.all).p99, unit: 'ms' },
      ...describeMemory(memory, options.durationMs),
    ];
    return {
      figures,
      faults: [
        ...ledger.errors,
        ...wrong,
        ...deliveries.lost.map((one) => `lost: ${one}`),
        ...deliveries.unexplained,
        ...polled.flatMap(({ faults }) => faults),
        ...unclosed,
      ],
    };
  } finally {
    await relay.cut();
    await receiver.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

// A delivery that is recorded as delivered and was never accepted is lost.
const LIST_UNDELIVERED = `
  select regexp_replace(s.url, '^http://[^/]*', '') as path, e.payload::json->>'sessionId' as "sessionId", d.status,
         (select coalesce(json_agg(json_build_object('failureClass', a.failure_class,
                   'at', (extract(epoch from a.started_at) * 1000)::float8) order by a.attempt), '[]')
            from webhook_attempts a where a.integration_id = d.integration_id and a.delivery_id = d.id) as attempts
    from webhook_deliveries d
    join domain_events e on e.integration_id = d.integration_id and e.id = d.event_id
    join webhook_subscriptions s on s.integration_id = d.integration_id and s.id = d.subscription_id
   where d.status <> 'Delivered'`;

/** Lets a tenant's client poll to the end, and compares what it holds with what was recorded. */
async function comparePolled(db: TestDatabase['db'], server: Client, tenant: SoakTenant) {
  const recorded = await db.query<{ id: string }>('select id from domain_events where integration_id = $1', [
    tenant.id,
  ]);
  let polled: string[] = [];
  // A transaction of another database of the cluster may hold the last events back for a moment.
  for (const until = Date.now() + SETTLE_LIMIT_MS; polled.length < recorded.length && Date.now() < until; ) {
    await tenant.poller.poll((path) => server.call('GET', path, { key: tenant.key }));
    polled = (await tenant.poller.readEvents()).map(({ id }) => id);
    if (polled.length < recorded.length) await sleep(500);
  }
  const known = new Set(polled);
  return {
    count: polled.length,
    faults: [
      ...recorded.filter(({ id }) => !known.has(id)).map(({ id }) => `${id} was not polled`),
      ...polled.filter((id, at) => polled.indexOf(id) !== at).map((id) => `${id} was polled again`),
    ],
  };
}

/** Compares the API's counts of a tenant with what was sent. */
async function compareStats(
  server: { call(method: string, path: string, options: { key: string }): Promise<{ body: { data: object } }> },
  tenant: SoakTenant,
): Promise<string[]> {
  const { data } = (await server.call('GET', '/v1/stats', { key: tenant.key })).body;
  const stats = data as Record<string, unknown>;
  return Object.entries(tenant.expectStats())
    .filter(([name, value]) => stats[name] !== value)
    .map(([name, value]) => `${tenant.id} ${name}: ${stats[name]} instead of ${value}`);
}

/** Describes the memory of the server that runs throughout: its final size, and its slope over the second half. */
function describeMemory(samples: [minutes: number, megabytes: number][], durationMs: number): Figure[] {
  if (samples.length < 4) return [];
  const half = samples.slice(Math.floor(samples.length / 2));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(half.map(([at]) => at)), mean(half.map(([, size]) => size))];
  const slope =
    half.reduce((sum, [at, size]) => sum + (at - x) * (size - y), 0) /
    half.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  const goal: Goal | undefined = durationMs >= SLOPE_FROM_MS ? { atMost: 2 } : undefined;
  return [
    { name: 'memory at the end', value: samples.at(-1)![1], unit: 'MB' },
    { name: 'memory slope, second half', value: slope, unit: 'MB/min', ...(goal ? { goal } : {}) },
  ];
}

function shuffle<T>(list: T[], random: () => number): T[] {
  const keyed = list.map((one) => ({ one, place: random() }));
  return keyed.sort((a, b) => a.place - b.place).map(({ one }) => one);
}
