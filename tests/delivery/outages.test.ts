import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { isKnownOutage, isUnavailable, openDatabase } from '../../db/client';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../db/embedded';
import { migrateDatabase } from '../../db/migrate';
import { scoredSession } from '../support/facts';
import { findPostgres } from '../support/product';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { type Relay, startRelay } from '../support/relay';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';

// The database fails in every way it can, under traffic through every endpoint, and comes back. The server is never
// restarted.

// All of these take half as long on a machine of which others take nothing, and the recovery a second.
/** The limit of a request that was running when the outage began. */
const IN_FLIGHT_LIMIT_MS = 10_000;
/** The limit of a request that arrived a while later. */
const LIMIT_MS = 6_000;
const RECOVERY_LIMIT_MS = 15_000;
const OUTAGE_MS = 6_000;

let dataDir: string;
let cluster: EmbeddedDatabase;
let relay: Relay;
let receiver: Receiver;
let server: TestServer;
let staff: StaffClient;
let tenant: { id: string; key: string };

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'bot-detection-outages-'));
  receiver = await startReceiver();
  cluster = await startCluster();
  await migrateDatabase({ url: cluster.url, directory: 'db/migrations', region: 'us' });
  const url = new URL(cluster.url);
  relay = await startRelay(Number(url.port));
  url.port = String(relay.port);
  const db = openDatabase({ url: url.href, maxConnections: 2 });
  const database = { url: url.href, db, drop: () => db.close() };
  // A new server takes only the database and the secret from the server that it is given.
  const secret = { service: { env: { APP_SECRET: Buffer.alloc(32, 7) } } };
  server = await startStaffServer(
    { QUOTA_ENTERPRISE: '1000000', WEBHOOK_ALLOW_HOSTS: receiver.host, WEBHOOK_TIMEOUT: '1s' },
    {
      database,
      ...secret,
    } as unknown as TestServer,
  );
  tenant = await server.createTenant();
  staff = await createStaffClient(server, 'admin');
  const body = { url: receiver.url, eventType: 'BotDetected' };
  expect((await server.call('POST', '/v1/webhooks', { key: tenant.key, body })).status).toBe(200);
});

afterAll(async () => {
  await server.stop();
  await server.database.drop();
  await relay.cut();
  await cluster.stop();
  await receiver.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const startCluster = () => startEmbeddedDatabase({ dataDir, log: { info: () => {}, warn: () => {} } });

/** Runs statements past the relay. */
async function administer(...statements: string[]) {
  const sql = postgres(cluster.url, { max: 1, onnotice: () => {} });
  for (const statement of statements) await sql.unsafe(statement);
  await sql.end();
}

const listDescendants = (pid: number) =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .map(Number);

/** Starts a server that answers every connection as Postgres does when all its connections are taken. */
async function startFullServer() {
  const fields = ['SFATAL', 'VFATAL', 'C53300', 'Msorry, too many clients already', ''].map((field) => `${field}\0`);
  const refusal = Buffer.from(`E\0\0\0\0${fields.join('')}`);
  refusal.writeInt32BE(refusal.length - 1, 1);
  const full = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(refusal)));
  await new Promise<void>((resolve) => full.listen(0, '127.0.0.1', resolve));
  return { port: (full.address() as AddressInfo).port, stop: () => full.close() };
}

/** Each one begins an outage and answers a function that ends it. */
const OUTAGES: Record<string, () => Promise<() => Promise<unknown>>> = {
  'refuses connections': async () => {
    await relay.cut();
    return () => relay.restore();
  },
  'hangs up on connections': async () => {
    await relay.hangUp();
    return async () => {
      await relay.cut();
      await relay.restore();
    };
  },
  'lies behind a network that drops everything': async () => {
    relay.stall();
    return () => relay.restore();
  },
  'is stopped in the middle of its work': async () => {
    const postmaster = (await findPostgres(dataDir))!;
    const all = [postmaster, ...listDescendants(postmaster)];
    for (const pid of all) process.kill(pid, 'SIGSTOP');
    return async () => {
      for (const pid of all) process.kill(pid, 'SIGCONT');
    };
  },
  'is shut down and started again': async () => {
    await cluster.stop();
    return async () => {
      const before = new URL(cluster.url).port;
      cluster = await startCluster();
      relay.lead(Number(new URL(cluster.url).port));
      return before;
    };
  },
  'has no connection left': async () => {
    const full = await startFullServer();
    await relay.cut();
    relay.lead(full.port);
    await relay.restore();
    return () => {
      relay.lead(Number(new URL(cluster.url).port));
      return Promise.resolve(full.stop());
    };
  },
  'has another password, until the old one holds again': async () => {
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = 'app' and pid <> pg_backend_pid()`;
    // A connection that had just given the old password is listed a little later.
    await administer(`alter role postgres password 'rotated'`, end, 'select pg_sleep(0.3)', end);
    return async () => {
      const { password } = new URL(cluster.url);
      const sql = postgres(cluster.url, { max: 1, password: 'rotated' });
      await sql.unsafe(`alter role postgres password '${password}'`);
      await sql.end();
    };
  },
  'has become read-only, and its successor is at the same address': async () => {
    // All existing sessions and every new one.
    await administer(`alter system set default_transaction_read_only = on`, 'select pg_reload_conf()');
    return async () => {
      const sql = postgres(cluster.url, { max: 1, connection: { default_transaction_read_only: false } });
      await sql`alter system reset default_transaction_read_only`;
      await sql`select pg_reload_conf()`;
      await sql.end();
    };
  },
  'has become read-only and stays up, and its successor is at another address': async () => {
    await administer('alter system set default_transaction_read_only = on');
    await cluster.stop();
    const successorDir = `${dataDir}-successor`;
    execFileSync('cp', ['-Rp', dataDir, successorDir]);
    await rm(join(successorDir, 'postgres', 'postgresql.auto.conf'));
    const predecessor = await startCluster();
    relay.lead(Number(new URL(predecessor.url).port));
    return async () => {
      const predecessorDir = dataDir;
      dataDir = successorDir;
      cluster = await startCluster();
      relay.lead(Number(new URL(cluster.url).port));
      onTestFinished(async () => {
        await predecessor.stop();
        await rm(predecessorDir, { recursive: true, force: true });
      });
    };
  },
};

interface Asked {
  what: string;
  status: number;
  code: string;
  tookMs: number;
  /** Since the outage began. */
  atMs: number;
}

/** Sends 16 requests a second to all endpoints until it is stopped. */
function keepAsking(beganAt: number) {
  const asked: Promise<Asked>[] = [];
  const ask = async (what: string, answering: Promise<{ status: number; body: unknown; text: string }>) => {
    const at = performance.now();
    const { status, body } = await answering;
    // biome-ignore lint/suspicious/noExplicitAny: the endpoints have different shapes
    const { error } = (body ?? {}) as any;
    const code = error?.code === undefined || typeof error.code === 'number' ? error?.data?.code : error.code;
    return { what, status, code: String(code), tookMs: performance.now() - at, atMs: at - beganAt };
  };
  const timer = setInterval(() => {
    asked.push(ask('GET', server.call('GET', '/v1/sessions', { key: tenant.key })));
    asked.push(
      ask(
        'PUT',
        server.call('PUT', '/v1/settings/risk-thresholds', { key: tenant.key, body: { mediumAt: 40, botAt: 70 } }),
      ),
    );
    asked.push(ask('facts', server.ingest(tenant.id, scoredSession(0.2).facts)));
    asked.push(ask('staff', listAsStaff()));
  }, 1000 / 4);
  onTestFinished(() => clearInterval(timer));
  return async () => {
    clearInterval(timer);
    return Promise.all(asked);
  };
}

/** Lists, past the relay, the runs of the sweeper that did not start because of the clock. A run that ends leaves the list. */
async function listRequestedSweeps(): Promise<string[]> {
  const sql = postgres(cluster.url, { max: 1 });
  const rows = await sql<{ id: string }[]>`
    select id from engine.run where function_id like '%sweep-deliveries' and event->>'name' <> 'inngest/scheduled.timer'`;
  await sql.end();
  return rows.map(({ id }) => id);
}

/** Counts, past the relay, the processes whose lock shows others that they live. */
async function countLivingOwners(): Promise<number> {
  const sql = postgres(cluster.url, { max: 1 });
  const rows = await sql`
    select from lease_owners o join pg_locks l on l.locktype = 'advisory' and l.classid = 7201005 and l.objid = o.id`;
  await sql.end();
  return rows.length;
}

const listSessions = async () => (await server.call('GET', '/v1/sessions', { key: tenant.key })).status;
const readStats = async () => (await server.call('GET', '/v1/stats', { key: tenant.key })).status;
const listAsStaff = () => staff.query('webhooks.list', {}, { 'x-integration-id': tenant.id });

/** Waits until the endpoints work. Connections that were given up are replaced within moments. */
async function expectToWork() {
  await waitUntil(async () => (await tryEndpoints()).every((status) => status === 200), RECOVERY_LIMIT_MS);
}

async function tryEndpoints() {
  const answers = await Promise.all([
    server.call('GET', '/v1/sessions', { key: tenant.key }),
    server.ingest(tenant.id, scoredSession(0.2).facts),
    listAsStaff(),
  ]);
  return answers.map(({ status }) => status);
}

const REFUSALS = [
  'a request failed',
  'the pipeline’s facts could not be written',
  'a staff session could not be read or changed',
];
interface Line {
  level: string;
  err: unknown;
  message: string;
}

/** Records the log lines about requests that fail from now on. Answers a function that ends this and returns them. */
function recordLines() {
  const { log } = server.service;
  const spies = (['debug', 'warn', 'error'] as const).map((level) => ({ level, spy: vi.spyOn(log, level) }));
  return (): Line[] =>
    spies.flatMap(({ level, spy }) => {
      const { calls } = spy.mock;
      spy.mockRestore();
      return calls
        .map(([fields, message]) => ({ level, err: (fields as { err?: unknown }).err, message: String(message) }))
        .filter(({ message }) => REFUSALS.includes(message));
    });
}

it.each(Object.keys(OUTAGES))(
  'a database that %s is answered with 503 at once, and is used again without a restart when it is back',
  async (name) => {
    await expectToWork();
    const sweeps = new Set(await listRequestedSweeps());
    const readLines = recordLines();
    const beganAt = performance.now();
    const stop = keepAsking(beganAt);
    await sleep(200);
    const end = await OUTAGES[name]!();
    // Bringing it about takes seconds on a slow machine.
    const awayAtMs = performance.now() - beganAt;
    await sleep(OUTAGE_MS);
    const asked = await stop();
    await end();
    // The refused batch is sent again unchanged. Facts that had been committed count as duplicates.
    const { facts } = scoredSession(0.97);
    const received = receiver.received.length;
    let answer = await server.ingest(tenant.id, facts);
    await waitUntil(async () => {
      if (answer.status === 503) answer = await server.ingest(tenant.id, facts);
      return answer.status === 200 && (await listSessions()) === 200;
    }, RECOVERY_LIMIT_MS);
    await expectToWork();
    // The outage is one line of the log. What is refused because of it has lines at level debug, at every endpoint.
    const lines = readLines();
    const isRefusal = ({ err }: Line) => isKnownOutage(err);
    expect(lines.filter((line) => isRefusal(line) !== (line.level === 'debug') || line.level === 'error')).toEqual([]);
    expect(new Set(lines.filter(isRefusal).map(({ message }) => message))).toEqual(new Set(REFUSALS));
    const slowest = (list: Asked[]) => Math.max(...list.map(({ tookMs }) => tookMs));
    const during = asked.filter(({ atMs }) => atMs > awayAtMs + 1_300);
    expect(
      asked.filter(({ status, code }) => status !== 200 && !(status === 503 && code === 'SERVICE_UNAVAILABLE')),
    ).toEqual([]);
    expect(during.filter(({ status, atMs }) => status !== 503 && atMs > awayAtMs + 2_800)).toEqual([]);
    expect(asked.at(-1)!.atMs).toBeGreaterThan(awayAtMs + 4_000);
    expect(slowest(asked)).toBeLessThan(IN_FLIGHT_LIMIT_MS);
    expect(slowest(during)).toBeLessThan(LIMIT_MS);
    // Deliveries continue, and the sweeper looks at once for those whose wake-ups were lost.
    await waitUntil(() => receiver.received.length > received);
    await waitUntil(async () => (await listRequestedSweeps()).some((id) => !sweeps.has(id)));
    // The engine works on the database that is back, and others see there that this process lives.
    await waitUntil(async () => (await server.call('GET', '/ready')).status === 200);
    await waitUntil(async () => (await countLivingOwners()) === 1);
  },
);

it('requests on connections that died silently end soon, even if the database serves new ones', async () => {
  await expectToWork();
  relay.forget();
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => server.call('GET', '/v1/stats', { key: tenant.key })),
  );
  expect(performance.now() - began).toBeLessThan(IN_FLIGHT_LIMIT_MS);
  for (const { status } of answers) expect([200, 503]).toContain(status);
  await expectToWork();
});

it('requests do not pile up during an outage', async () => {
  await expectToWork();
  relay.stall();
  const took: number[] = [];
  try {
    const statuses = await Promise.all(
      Array.from({ length: 400 }, async (_, n) => {
        await sleep(10 * n);
        const askedAt = performance.now();
        const status = await readStats();
        took.push(performance.now() - askedAt);
        return status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([503]));
    expect(Math.max(...took)).toBeLessThan(IN_FLIGHT_LIMIT_MS);
    expect(server.service.db.load().asked).toBeLessThan(50);
  } finally {
    await relay.restore();
  }
  await waitUntil(async () => (await readStats()) === 200, RECOVERY_LIMIT_MS);
});

it('connections that were idle when the database went away are not used again', async () => {
  const askAtOnce = () =>
    Promise.all([
      server.ingest(tenant.id, scoredSession(0.2).facts),
      ...Array.from({ length: 50 }, () => server.call('GET', '/v1/stats', { key: tenant.key })),
    ]);
  await askAtOnce();
  relay.stall();
  try {
    expect(await readStats()).toBe(503);
  } finally {
    await relay.restore();
  }
  await waitUntil(async () => !server.service.db.load().isAway, RECOVERY_LIMIT_MS);
  expect(new Set((await askAtOnce()).map(({ status }) => status))).toEqual(new Set([200]));
});

it('a transaction ends soon if the database goes silent between two answers that were requested together', async () => {
  const { db } = server.service;
  const isServed = async () => (await db.query('select 1', [])).length === 1;
  await isServed();
  let tookMs = Number.POSITIVE_INFINITY;
  const transaction = db.transact(async (query) => {
    await Promise.all([query('select 1', []), query('select pg_sleep(0.5)', [])]);
  });
  const began = performance.now();
  await sleep(200);
  relay.stall();
  try {
    await expect(transaction).rejects.toSatisfy(isUnavailable);
    tookMs = performance.now() - began;
  } finally {
    await relay.restore();
  }
  expect(tookMs).toBeLessThan(IN_FLIGHT_LIMIT_MS);
  await waitUntil(() => isServed().catch(() => false), RECOVERY_LIMIT_MS);
});

it('a full disk is an outage for writes', async () => {
  const { sql } = server.database.db;
  await sql.unsafe(`create function refuse() returns trigger language plpgsql as $$ begin
      raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
    create trigger full_disk before insert on sessions execute function refuse()`);
  try {
    expect((await server.ingest(tenant.id, scoredSession(0.2).facts)).status).toBe(503);
    expect(await listSessions()).toBe(200);
  } finally {
    await sql.unsafe('drop function refuse() cascade');
  }
  await expectToWork();
});

it('an attempt that ended while nothing could be written is recorded later, and not repeated', async () => {
  const { sql } = server.database.db;
  await sql.unsafe(`create function refuse() returns trigger language plpgsql as $$ begin
      raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
    create trigger full_disk before insert on webhook_attempts execute function refuse()`);
  const sent = receiver.received.length;
  try {
    expect((await server.ingest(tenant.id, scoredSession(0.97).facts)).status).toBe(200);
    await waitUntil(() => receiver.received.length > sent);
    await sleep(700);
  } finally {
    await sql.unsafe('drop function refuse() cascade');
  }
  // Well before the end of the lease, which lasts for 16 s.
  const isRecorded = async () => (await sql`select from webhook_deliveries where status = 'Pending'`).length === 0;
  await waitUntil(isRecorded, 8_000);
  expect(receiver.received).toHaveLength(sent + 1);
});
