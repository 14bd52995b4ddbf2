import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { createStaff } from '../../server/auth/accounts';
import { sendRaw } from '../support/connection';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { scoredSession } from '../support/facts';
import { readRecords } from '../support/next-prints';
import { findFreePort } from '../support/ports';
import { endProducts } from '../support/product';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { type Relay, startRelay } from '../support/relay';
import { createClient, PIPELINE_TOKEN } from '../support/server';
import { openSite, type Server, type Site, type Tenant } from '../support/site';
import { readCookie, trySignIn } from '../support/staff-client';

// What an operator sees of a real process: its log, its metrics and whether it is ready. Needs the build.

const PASSWORD = 'marked-password-4711';
const EMAIL = 'marked.person@example.com';
const NOTE = 'marked-note-of-a-label';
const QUERY = 'marked-query-text';
const POOL_MAX = 3;

let database: TestDatabase;
let relay: Relay;
let receiver: Receiver;
let site: Site;
let server: Server;
let tenant: Tenant;
let metricsUrl: string;
let secret: string;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  const url = new URL(database.url);
  relay = await startRelay(Number(url.port));
  url.port = String(relay.port);
  const port = String(await findFreePort());
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  site = await openSite(
    { db: database.db, url: url.href },
    {
      LOG_LEVEL: 'debug',
      METRICS_PORT: port,
      DATABASE_POOL_MAX: String(POOL_MAX),
      WEBHOOK_ALLOW_HOSTS: receiver.host,
      WEBHOOK_TIMEOUT: '1500ms',
      WEBHOOK_RETRY_DELAYS: '0s,1h,1h,1h,1h,1h',
    },
  );
  server = await site.start();
  tenant = await site.createTenant();
  ({ secret } = await site.subscribe(server, tenant, `${receiver.url}/hook`));
  await createStaff(asOperator(database.db), { email: EMAIL, password: PASSWORD, role: 'admin' });
});

afterAll(async () => {
  await endProducts();
  await relay.cut();
  await receiver.stop();
  await database.drop();
});

type Line = Record<string, unknown>;

/**
 * Reads every line of the log so far, each one JSON object. A start that finds a stale build prints other lines before.
 */
const readLog = (): Line[] =>
  server
    .stderr()
    .slice(server.stderr().indexOf('{"level"'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Parses Prometheus' text format, and fails on anything else. */
function parseMetrics(text: string): Sample[] {
  expect(text.endsWith('\n')).toBe(true);
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.trimEnd().split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    const type = /^# TYPE ([a-z_:][a-z0-9_:]*) (counter|gauge|histogram|summary)$/.exec(line);
    if (type) {
      expect(types.has(type[1]!)).toBe(false);
      types.set(type[1]!, type[2]!);
      continue;
    }
    const sample =
      /^([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (-?[0-9.e+-]+|\+Inf|-Inf|NaN|Nan)$/.exec(
        line,
      );
    expect(sample, line).not.toBeNull();
    const [, name, list = '', value] = sample!;
    expect(name!.startsWith('bot_detection_'), line).toBe(true);
    expect(
      [...types.keys()].some((known) => name!.startsWith(known)),
      line,
    ).toBe(true);
    const labels = Object.fromEntries([...list.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, k, v]) => [k, v]));
    samples.push({ name: name!, labels, value: Number(value) });
  }
  return samples;
}

async function scrape() {
  const response = await fetch(metricsUrl);
  expect(response.status).toBe(200);
  const samples = parseMetrics(await response.text());
  return {
    samples,
    sum: (name: string, labels: Record<string, string> = {}) =>
      samples
        .filter((s) => s.name === `bot_detection_${name}`)
        .filter((s) => Object.entries(labels).every(([label, value]) => s.labels[label] === value))
        .reduce((total, { value }) => total + value, 0),
  };
}

it('the log has a line for every answer of every endpoint, with its id, and no secret', async () => {
  const { call } = server;
  const { key } = tenant;
  const ids: string[] = [];
  const keep = <A extends { headers: Headers }>(answer: A): A => {
    ids.push(answer.headers.get('x-request-id')!);
    return answer;
  };
  const { facts, sessionId } = scoredSession(0.3, 'marked-session');
  keep(await server.ingest(tenant.id, facts));
  keep(await server.ingest(tenant.id, [{ kind: 'nonsense', note: NOTE }]));
  const wrong = `aik_v1_${'w'.repeat(40)}`;
  keep(await call('GET', `/v1/sessions?cursor=${QUERY}`, { key }));
  keep(await call('GET', `/v1/sessions/${sessionId}`, { key }));
  keep(await call('GET', `/v1/nowhere/${QUERY}?x=${QUERY}`, { key }));
  keep(await call('GET', '/v1/sessions', { key: wrong }));
  keep(await call('GET', '/v1/sessions', { headers: { 'x-api-key': wrong } }));
  keep(await call('GET', '/v1/sessions'));
  keep(await call('POST', `/v1/sessions/${sessionId}/label`, { key, body: { verdict: 'bot', notes: NOTE } }));
  keep(await call('GET', '/v1/webhooks', { key }));
  keep(await call('GET', '/health'));
  keep(await call('GET', '/ready'));
  keep(await call('GET', '/openapi/v3.json'));
  const refused = keep(await trySignIn(server, { email: EMAIL, password: `wrong-${PASSWORD}` }));
  expect(refused.status).toBe(401);
  const signedIn = keep(await trySignIn(server, { email: EMAIL, password: PASSWORD }));
  expect(signedIn.status).toBe(200);
  const cookie = readCookie(signedIn);
  const headers = { cookie, 'x-integration-id': tenant.id };
  keep(await call('GET', '/api/trpc/webhooks.list?input=%7B%7D', { headers }));
  keep(await call('GET', `/api/trpc/nothing.${QUERY}`, { headers }));
  keep(await call('POST', '/api/auth/sign-out', { body: {}, headers: { cookie, origin: server.url } }));
  const odd = await sendRaw(server.url, 'GET', '/v1/sessions', { headers: { 'bad header': NOTE } });
  ids.push(odd.header('x-request-id')!);
  expect(odd.status).toBe(400);
  await call('GET', '/sign-in');

  const lines = () => readLog().filter(({ msg }) => msg === 'request');
  await waitUntil(() => ids.every((id) => lines().filter(({ requestId }) => requestId === id).length === 1), 3_000);
  const find = (route: string, status: number) =>
    lines().find((line) => line.route === route && line.status === status);
  expect(find('/v1/sessions/{sessionId}', 200)).toEqual({
    level: 'info',
    time: expect.any(String),
    requestId: expect.stringMatching(/^req_/),
    method: 'GET',
    route: '/v1/sessions/{sessionId}',
    integrationId: tenant.id,
    keyId: expect.stringMatching(/^key_/),
    status: 200,
    durationMs: expect.any(Number),
    msg: 'request',
  });
  expect(find('/v1/sessions', 401)).toMatchObject({ code: 'INVALID_API_KEY' });
  expect(find('(unmatched)', 404)).toMatchObject({ code: 'NOT_FOUND', integrationId: tenant.id });
  expect(find('pipeline.ingest', 200)).toMatchObject({ accepted: 3, duplicates: 0 });
  expect(find('pipeline.ingest', 400)).toMatchObject({ code: 'BAD_REQUEST' });
  expect(find('webhooks.list', 200)).toMatchObject({ staffId: expect.any(String) });
  expect(find('/api/auth/sign-in', 401)).toMatchObject({ code: 'UNAUTHORIZED' });
  await expect.poll(() => find('(page)', 200)).toMatchObject({ level: 'debug' });
  for (const route of ['/health', '/ready', '/openapi/v3.json']) expect(find(route, 200)?.level).toBe('debug');
  for (const marked of [key, wrong, secret, PASSWORD, EMAIL, NOTE, QUERY, PIPELINE_TOKEN, cookie.split('=')[1]!]) {
    expect(server.stderr()).not.toContain(marked);
  }
});

describe('the process with Next in it', () => {
  it('answers a client that offers an upgrade, also after Next has answered a request', async () => {
    expect((await fetch(`${server.url}/`)).status).toBe(200);
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' };
    const asked = request(`${server.url}/health`, { headers }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
  });

  it('logs what Next prints of a page that fails, one JSON object per line, with the id of the request', async () => {
    const cookie = readCookie(await trySignIn(server, { email: EMAIL, password: PASSWORD }));
    const from = server.stderr().length;
    await database.db.sql`alter table staff_sessions rename to hidden`;
    const answer = await fetch(`${server.url}/dashboard`, { headers: { cookie } }).finally(
      () => database.db.sql`alter table hidden rename to staff_sessions`,
    );
    expect(answer.status).toBe(500);
    const listPrinted = () => {
      const log = server.stderr().slice(from);
      return readRecords(log.slice(0, log.lastIndexOf('\n') + 1)).filter(({ err }) => err);
    };
    await expect.poll(() => listPrinted().length).toBeGreaterThan(0);
    for (const record of listPrinted()) {
      expect(record).toMatchObject({
        level: 'error',
        requestId: answer.headers.get('x-request-id'),
        err: { stack: expect.stringContaining('\n') },
      });
    }
  });

  it('logs a page that an outage of the database keeps from being shown as it logs other requests of an outage', async () => {
    const cookie = readCookie(await trySignIn(server, { email: EMAIL, password: PASSWORD }));
    await relay.cut();
    try {
      await waitUntil(() => server.stderr().includes('the database is away'));
      const from = server.stderr().length;
      const { status, headers } = await fetch(`${server.url}/dashboard`, { headers: { cookie } });
      expect(status).toBe(500);
      const listLines = () => {
        const log = server.stderr().slice(from);
        const records = readRecords(log.slice(0, log.lastIndexOf('\n') + 1));
        return records.filter(({ requestId }) => requestId === headers.get('x-request-id'));
      };
      await expect.poll(() => listLines().length).toBeGreaterThan(1);
      expect(listLines().map(({ level }) => level)).not.toContain('error');
    } finally {
      await relay.restore();
    }
    await waitUntil(async () => (await fetch(`${server.url}/ready`)).status === 200);
  });

  it('logs nothing but the request for a server action, of which there is none, or with a state that Next cannot read', async () => {
    const from = server.stderr().length;
    const form = new FormData();
    form.append('$ACTION_ID_40', 'x');
    const headers = { 'next-action': `40${'a'.repeat(40)}` };
    const statuses = [];
    for (const path of ['/sign-in', '/nowhere', '/api/nowhere', '/_next/static/nowhere'])
      for (const init of [{ headers, body: '[]' }, { body: form }, { headers: { 'next-action': 'x' }, body: form }])
        statuses.push((await fetch(`${server.url}${path}`, { method: 'POST', ...init })).status);
    for (const state of ['no tree', '[]', '%']) {
      const answer = await fetch(`${server.url}/sign-in`, { headers: { rsc: '1', 'next-router-state-tree': state } });
      statuses.push(answer.status);
    }
    expect(new Set(statuses)).toEqual(new Set([200, 404]));
    await fetch(`${server.url}/sign-in?last`);
    const listLevels = () => {
      const log = server.stderr().slice(from);
      return readRecords(log.slice(0, log.lastIndexOf('\n') + 1)).map(({ level }) => level);
    };
    await expect.poll(() => listLevels().length).toBeGreaterThan(6);
    expect(listLevels().filter((level) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('has no image optimizer', async () => {
    for (const query of ['', '?url=%2Ficon.svg&w=640&q=75', '?url=http%3A%2F%2F127.0.0.1%2F&w=640&q=75'])
      expect([query, (await fetch(`${server.url}/_next/image${query}`)).status]).toEqual([query, 404]);
  });

  it('has one pool, which its entry point and Next’s bundles share', async () => {
    const body = () => ({ integrationId: tenant.id, facts: scoredSession(0.3).facts });
    const headers = { authorization: `Bearer ${PIPELINE_TOKEN}` };
    const post = (path: string) => server.call('POST', path, { headers, body: body() });
    // The entry point knows the pipeline's endpoint by one spelling of its path. Next's bundle answers any other.
    const ingestTwice = () => [post('/api/trpc/pipeline.ingest'), post('/api/trpc/pipeline%2Eingest')];
    const list = () => server.call('GET', '/v1/sessions', { key: tenant.key });
    const answers = await Promise.all(Array.from({ length: 12 }, () => [...ingestTwice(), list()]).flat());
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { sql } = database.db;
    const own = await Promise.all(
      Array.from({ length: 12 }, () => sql<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(0.1)`),
    );
    const pools = await sql`select pid from pg_stat_activity
      where datname = current_database() and application_name = 'bot-detection'
        and pid::text not in (select json_array_elements_text(${JSON.stringify(own.map(([row]) => row!.pid))}::text::json))`;
    expect(pools.length).toBeGreaterThan(0);
    // Look-ups have a separate connection, and facts and failed attempts are each written through one.
    expect(pools.length).toBeLessThanOrEqual(POOL_MAX + 3);
  });
});

it('the metrics count requests, facts, attempts by outcome and runs', async () => {
  const before = await scrape();
  await server.call('GET', '/v1/stats', { key: tenant.key });
  const answers = [200, 503, 404, 429, 302, null];
  receiver.answer = () => answers.shift() ?? null;
  for (let n = 0; n < 6; n++) {
    // A failed attempt may disable the subscription.
    await database.db.sql`update webhook_subscriptions set enabled = true, consecutive_failures = 0`;
    const left = answers.length;
    expect((await server.ingest(tenant.id, scoredSession(0.95).facts)).status).toBe(200);
    await waitUntil(() => answers.length < left);
  }
  const counted = async (name: string, labels = {}) => (await scrape()).sum(name, labels) - before.sum(name, labels);
  for (const outcome of ['Delivered', '5xx', '4xx', 'RateLimited', 'HTTP302', 'Timeout']) {
    await expect.poll(() => counted('delivery_attempts_total', { outcome })).toBe(1);
  }
  expect(await counted('http_requests_total', { method: 'GET', route: '/v1/stats', status: '200' })).toBe(1);
  expect(await counted('http_request_duration_seconds_count', { route: '/v1/stats' })).toBe(1);
  expect(await counted('facts_total', { result: 'accepted' })).toBe(18);
  expect(await counted('delivery_attempt_duration_seconds_count')).toBe(6);
  // A scrape during which the database does not answer in time says so.
  await expect.poll(async () => (await scrape()).sum('queue_read')).toBe(1);
  const after = await scrape();
  expect(after.sum('deliveries_pending')).toBe(3);
  expect(after.sum('database_up')).toBe(1);
  expect(after.sum('database_connections')).toBeGreaterThan(0);
  expect(after.samples.find(({ name }) => name === 'bot_detection_build_info')?.labels.version).toMatch(/^\d+\./);
  await expect.poll(() => counted('engine_runs_total', { outcome: 'completed' })).toBeGreaterThan(0);
});

it('the metrics have few labels, whatever is requested', async () => {
  const ask = (n: number) =>
    sendRaw(server.url, n % 3 ? 'GET' : 'PROPFIND', `/v1/${n}/x${n}?q=${n}`, {
      headers: n % 2 ? { Authorization: `Bearer ${tenant.key}` } : {},
    });
  await ask(0);
  await ask(1);
  await ask(3);
  // Meanwhile the minute may end, and functions of the engine run for the first time.
  const countSamples = async () => (await scrape()).samples.filter(({ name }) => !name.includes('_engine_')).length;
  const before = await countSamples();
  for (let n = 0; n < 120; n += 20) await Promise.all(Array.from({ length: 20 }, (_, i) => ask(n + i)));
  expect(await countSamples()).toBeLessThan(before + 20);
});

it('the metrics are only at their own port, which serves nothing else', async () => {
  expect((await server.call('GET', '/metrics')).status).toBe(404);
  for (const path of ['/', '/health', '/v1/sessions']) {
    expect((await fetch(metricsUrl.replace('/metrics', path))).status).toBe(404);
  }
});

it('a process whose private port is taken says so and does not start without it', async () => {
  const { host } = new URL(metricsUrl);
  const own = { PORT: String(await findFreePort()) };
  await expect(site.start(own)).rejects.toThrow(`METRICS_PORT: cannot listen on ${host} (EADDRINUSE)`);
  expect((await server.call('GET', '/health')).status).toBe(200);
});

it('a process that nothing migrates for, as on Vercel, is not ready on a database of another region', async () => {
  const { sql } = database.db;
  const readChecks = async () => (await server.call('GET', '/ready')).body.checks;
  await sql`update meta set region = 'eu'`;
  try {
    await expect.poll(readChecks).toEqual({ database: 'ok', migrations: 'failing', engine: 'ok' });
  } finally {
    await sql`update meta set region = 'us'`;
  }
  await expect.poll(readChecks).toEqual({ database: 'ok', migrations: 'ok', engine: 'ok' });
});

it('a process is ready if database, migrations and engine are, and says within seconds if one is not', async () => {
  const ready = await server.call('GET', '/ready');
  expect(ready.status).toBe(200);
  expect(ready.body).toEqual({ status: 'ready', checks: { database: 'ok', migrations: 'ok', engine: 'ok' } });
  relay.stall();
  try {
    await expect
      .poll(async () => (await server.call('GET', '/ready')).body)
      .toMatchObject({ status: 'unavailable', checks: { database: 'failing', migrations: 'failing' } });
    const scrapedAt = performance.now();
    expect((await scrape()).sum('queue_read')).toBe(0);
    expect(performance.now() - scrapedAt).toBeLessThan(4_000);
    expect((await server.call('GET', '/health')).status).toBe(200);
  } finally {
    await relay.restore();
  }
  await expect.poll(async () => (await server.call('GET', '/ready')).status).toBe(200);
  const { sql } = database.db;
  await sql`delete from drizzle.__drizzle_migrations where id = (select max(id) from drizzle.__drizzle_migrations)`;
  await expect
    .poll(async () => (await server.call('GET', '/ready')).body)
    .toMatchObject({ status: 'unavailable', checks: { database: 'ok', migrations: 'failing', engine: 'ok' } });
});

it('waiting log lines are written at the end', async () => {
  await createClient(server.url).call('GET', '/v1/stats', { key: tenant.key });
  server.signal('SIGTERM');
  // The process may wait for the connections that the stall silenced until the grace period ends, and a little longer.
  const { code, stderr } = await server.endWithin();
  expect(code).toBe(0);
  expect(stderr).toContain('/v1/stats');
  expect(stderr.endsWith('\n')).toBe(true);
});
