import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { createStaff } from '../../server/auth/accounts';
import { Connection, sendRaw } from '../support/connection';
import { scoredSession } from '../support/facts';
import { type NextServer, startNextServer } from '../support/next-server';
import { findFreePort } from '../support/ports';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { createClient, PIPELINE_TOKEN, startTestServer, type TestServer } from '../support/server';
import { createCaller } from '../support/staff';
import { openStaffClient, PASSWORD, readCookie, trySignIn } from '../support/staff-client';
import { insertWideSessions } from '../support/volume';

const PIXEL = JSON.parse(readFileSync('pixel/released/current.json', 'utf8'));

// What Next's route handlers do with a request and its answer, under plain `next start` and as Vercel runs them. The
// self-hosted server answers from the same database.
describe.each<[string, Record<string, string>]>([
  ['plain next start', {}],
  ['next start with VERCEL=1', { VERCEL: '1', WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1' }],
])('the API through %s', (_adapter, settings) => {
  let server: TestServer;
  let receiver: Receiver;
  let next: NextServer;
  let metricsPort: number;
  let tenant: { id: string; key: string };

  beforeAll(async () => {
    receiver = await startReceiver();
    server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
    tenant = await server.createTenant('pro');
    metricsPort = await findFreePort();
    const own = { WEBHOOK_ALLOW_HOSTS: receiver.host, METRICS_PORT: String(metricsPort) };
    next = await startNextServer(server, { ...own, ...settings });
  });
  afterAll(async () => {
    await next?.stop();
    await server.stop();
    await receiver.stop();
  });

  /** Reads what a client sees, without what differs between any two requests. */
  async function see(base: string, method: string, path: string, init: RequestInit = {}) {
    const response = await fetch(base + path, { method, redirect: 'manual', ...init });
    const headers = Object.fromEntries(
      ['content-type', 'cache-control', 'x-service-tier', 'www-authenticate', 'ratelimit-policy'].map((name) => [
        name,
        response.headers.get(name),
      ]),
    );
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    return { status: response.status, headers, body: (await response.text()).replace(/"timestamp":"[^"]+"/, '') };
  }

  const bearer = () => ({ authorization: `Bearer ${tenant.key}` });

  it('answers every kind of request as the self-hosted server does', async () => {
    await server.ingest(tenant.id, scoredSession(0.9, 'session é 1').facts);
    const json = { ...bearer(), 'content-type': 'application/json' };
    const cases: [method: string, path: string, init?: RequestInit][] = [
      ['GET', '/health'],
      ['POST', '/health'],
      ['GET', '/v1/sessions?pageSize=5', { headers: bearer() }],
      ['HEAD', '/v1/sessions', { headers: bearer() }],
      ['GET', '/v1/sessions?pageSize=0', { headers: bearer() }],
      ['GET', `/v1/sessions/${encodeURIComponent('session é 1')}`, { headers: bearer() }],
      ['GET', '/v1/sessions/', { headers: bearer() }],
      ['GET', `/v1/sessions/${encodeURIComponent('a/b%2F+\\..')}`, { headers: bearer() }],
      ['GET', '/v1/sessions?userId=a%2Bb+c%26d&pageSize=2', { headers: bearer() }],
      ['GET', '/v1/unknown', { headers: bearer() }],
      ['GET', '/v1', { headers: bearer() }],
      ['PATCH', '/v1/sessions', { headers: bearer() }],
      ['OPTIONS', '/v1/sessions', { headers: bearer() }],
      ['GET', '/v1/sessions'],
      ['GET', '/v1/unknown'],
      ['GET', '/v1/sessions', { headers: { authorization: 'Bearer nonsense' } }],
      ['GET', '/v1/integration', { headers: { 'x-api-key': tenant.key } }],
      ['GET', '/v1/webhooks', { headers: bearer() }],
      ['GET', '/v1/exports/sessions', { headers: bearer() }],
      ['GET', '/v1/exports/audit-log?format=csv', { headers: bearer() }],
      ['HEAD', '/v1/exports/sessions', { headers: bearer() }],
      ['GET', '/v1/exports/sessions?format=xlsx', { headers: bearer() }],
      ['POST', '/v1/webhooks', { headers: json, body: '{' }],
      ['PUT', '/v1/settings/risk-thresholds', { headers: json, body: '\ufeff{"mediumAt":40,"botAt":70}' }],
      [
        'POST',
        '/v1/webhooks',
        { headers: json, body: JSON.stringify({ url: 'http://10.0.0.1/', eventType: 'BotDetected' }) },
      ],
      ['POST', '/v1/webhooks', { headers: json, body: 'x'.repeat(100_000) }],
      ['GET', '/openapi/v3.json'],
      ['GET', '/swagger'],
      ['GET', '/swagger/start.js'],
      ['GET', '/swagger/nothing.js'],
      ['GET', '/pixel.js'],
      ['GET', '/pixel.js/'],
      ['GET', `/pixel/${PIXEL.file}`],
      ['GET', '/pixel/0123456789abcdef.js'],
      ['GET', '/reports/rep_nobody/download', { headers: bearer() }],
      ['GET', '/reports/rep_nobody/download'],
      ['POST', '/reports/rep_nobody/download', { headers: bearer() }],
      ['GET', '/reports', { headers: bearer() }],
    ];
    for (const [method, path, init] of cases) {
      const name = `${method} ${path}`;
      expect({ name, ...(await see(next.url, method, path, init)) }).toEqual({
        name,
        ...(await see(server.url, method, path, init)),
      });
    }
  });

  it('sends the file of a report that the self-hosted server has made', async () => {
    const staff = await createCaller(server, tenant.key);
    const { id } = await staff.reports.request({ template: 'weekly-overview', format: 'pdf' });
    await waitUntil(async () => (await staff.reports.list({})).data.some((report) => report.id === id));
    const read = async (base: string, method: string) => {
      const response = await fetch(`${base}/reports/${id}/download`, { method, headers: bearer() });
      const names = ['content-type', 'content-disposition', 'cache-control', 'x-content-type-options'];
      const headers = names.map((name) => response.headers.get(name));
      return { status: response.status, headers, bytes: Buffer.from(await response.arrayBuffer()).toString('base64') };
    };
    for (const method of ['GET', 'HEAD']) {
      const own = await read(server.url, method);
      expect(own).toMatchObject({ status: 200, headers: ['application/pdf', ...own.headers.slice(1)] });
      expect(own.bytes.length > 1_000).toBe(method === 'GET');
      expect(await read(next.url, method)).toEqual(own);
    }
  });

  it('writes an export as it is read, ends it when the client leaves, and breaks the connection if it fails', async () => {
    const { id, key } = await server.createTenant();
    await insertWideSessions(server.database.db, id, 15_000);
    const open = (path: string, signal?: AbortSignal) =>
      fetch(`${next.url}/v1/exports/${path}`, {
        headers: { authorization: `Bearer ${key}` },
        ...(signal ? { signal } : {}),
      });
    const leaving = new AbortController();
    // Kept, because the body of an answer that nobody holds is cancelled.
    const held = [await open('sessions', leaving.signal), await open('sessions', leaving.signal)];
    // If they were read without a reader, they would end soon and leave their places.
    await sleep(2_000);
    expect((await open('users')).status).toBe(429);
    leaving.abort();
    expect(held.map(({ status }) => status)).toEqual([200, 200]);
    await waitUntil(async () => (await open('users')).status === 200);
    const reader = (await open('sessions')).body!.getReader();
    await reader.read();
    const { sql } = server.database.db;
    await sql`alter table sessions rename to sessions_away`;
    const readAll = async () => {
      while (!(await reader.read()).done);
    };
    await expect(readAll().finally(() => sql`alter table sessions_away rename to sessions`)).rejects.toThrow();
  });

  it('accepts a cursor that the self-hosted server has signed', async () => {
    await server.ingest(tenant.id, [...scoredSession(0.1).facts, ...scoredSession(0.1).facts]);
    const { body } = await server.call('GET', '/v1/sessions?pageSize=1', { key: tenant.key });
    const rest = `/v1/sessions?pageSize=1&cursor=${body.pagination.nextCursor}`;
    const seen = await see(next.url, 'GET', rest, { headers: bearer() });
    expect(seen.status).toBe(200);
    expect(seen).toEqual(await see(server.url, 'GET', rest, { headers: bearer() }));
  });

  it.each([
    'pipeline.ingest',
    'pipeline.ingest?x=1',
    'pipeline.ingest?batch=1',
    'pipeline%2Eingest',
    'pipeline.ingest/',
  ])('takes facts at the pipeline’s endpoint within its limits, and refuses a bad token: %s', async (spelling) => {
    const post = async (token: string, body: string) => {
      const response = await fetch(`${next.url}/api/trpc/${spelling}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
      });
      return { status: response.status, ...(await response.json()) };
    };
    const { sessionId, facts } = scoredSession(0.2);
    const batch = JSON.stringify({ integrationId: tenant.id, facts });
    expect((await post('a-wrong-token-of-the-tests', batch)).status).toBe(401);
    expect((await post(PIPELINE_TOKEN, batch + ' '.repeat(1024 * 1024))).status).toBe(413);
    // A byte order mark is ignored.
    expect(await post(PIPELINE_TOKEN, `\ufeff${batch}`)).toMatchObject({
      status: 200,
      result: { data: { accepted: 3, duplicates: 0, suppressed: 0 } },
    });
    const found = await server.call('GET', `/v1/sessions/${sessionId}`, { key: tenant.key });
    expect(found.body.data.status).toBe('Scored');
  });

  it('answers a customer’s procedure over tRPC with a plain 401, whatever key is sent', async () => {
    const before = next.output();
    const calls: [method: string, path: string][] = [
      ['GET', 'sessions.list'],
      ['GET', 'integration.get?input=%zz'],
      ['POST', 'webhooks.create'],
      ['POST', 'webhooks.delete?input={'],
    ];
    for (const [method, path] of calls) {
      const response = await fetch(`${next.url}/api/trpc/${path}`, {
        method,
        headers: { ...bearer(), 'content-type': 'application/json' },
        ...(method === 'POST' ? { body: '{' } : {}),
      });
      expect([path, response.status, await response.json()]).toEqual([
        path,
        401,
        {
          error: {
            message: 'Sign in',
            code: -32001,
            data: { code: 'UNAUTHORIZED', httpStatus: 401, path: path.split('?')[0] },
          },
        },
      ]);
    }
    expect(next.output()).toBe(before);
  });

  it('answers HEAD of a procedure without calling it', async () => {
    expect((await fetch(`${next.url}/api/trpc/staff.me`, { method: 'HEAD' })).status).toBe(204);
  });

  it('tells no verdicts, because it has no demo', async () => {
    const response = await fetch(`${next.url}/demo/verdict`, { method: 'POST', body: 'a'.repeat(32) });
    expect([response.status, await response.text()]).toEqual([404, 'Not found\n']);
  });

  it('keeps /api/inngest closed if no Inngest is configured', async () => {
    for (const method of ['GET', 'POST', 'PUT']) {
      const response = await fetch(`${next.url}/api/inngest`, { method });
      expect([response.status, await response.text()]).toEqual([404, 'Not found\n']);
    }
  });

  const VALID = JSON.stringify({ url: 'https://example.com/', eventType: 'BotDetected', enabled: false });
  const json = (headers: Record<string, string> = {}) => ({
    Authorization: `Bearer ${tenant.key}`,
    'Content-Type': 'application/json',
    ...headers,
  });

  it('passes on a body of 64 KiB byte for byte, and refuses one byte more', async () => {
    const pad = (length: number) => `{"name":"ä😀",${VALID.slice(1)}${' '.repeat(length)}`;
    const longest = pad(64 * 1024 - Buffer.byteLength(pad(0)));
    const taken = await sendRaw(next.url, 'POST', '/v1/webhooks', { headers: json(), body: longest });
    expect([taken.status, taken.body.data.name]).toEqual([200, 'ä😀']);
    const refused = await sendRaw(next.url, 'POST', '/v1/webhooks', { headers: json(), body: `${longest} ` });
    expect([refused.status, refused.body.error.details]).toEqual([400, { field: 'body' }]);
    const path = `/v1/webhooks/${taken.body.data.id}`;
    const gone = await sendRaw(next.url, 'DELETE', path, { headers: json() });
    expect([gone.status, gone.text, gone.header('content-type')]).toEqual([204, '', null]);
  });

  it('accepts an action without a body, with an empty one and with one that is not read', async () => {
    const path = '/v1/users/u/devices/d/confirm';
    const cases: [headers: Record<string, string>, body: string][] = [
      [{}, ''],
      [{ 'Content-Length': '0' }, ''],
      [{ 'Transfer-Encoding': 'chunked' }, '0\r\n\r\n'],
      [{ 'Content-Type': 'text/plain' }, ''],
    ];
    for (const [headers, body] of cases) {
      const connection = await Connection.open(next.url);
      connection.writeHead('POST', path, { Authorization: `Bearer ${tenant.key}`, ...headers });
      connection.write(body);
      expect([headers, (await connection.read()).status]).toEqual([headers, 200]);
      connection.close();
    }
    // A name that no server has, so that the test delivery goes nowhere.
    const nowhere = { url: 'https://nowhere.example/', eventType: 'BotDetected', enabled: false };
    const { id } = (await server.call('POST', '/v1/webhooks', { key: tenant.key, body: nowhere })).body.data;
    const unread = { headers: json({ 'Content-Type': 'nonsense' }), body: 'x'.repeat(300_000) };
    expect((await sendRaw(next.url, 'POST', `/v1/webhooks/${id}/test`, unread)).status).toBe(200);
    await server.call('DELETE', `/v1/webhooks/${id}`, { key: tenant.key });
  });

  it('refuses a signed-in page of another host, and lets its own pages sign in and out', async () => {
    const client = { url: next.url, ...createClient(next.url) };
    const email = `${crypto.randomUUID()}@example.com`;
    await createStaff(asOperator(server.service.db), { email, password: PASSWORD, role: 'viewer' });
    expect((await trySignIn(client, { email, password: PASSWORD }, { origin: 'https://evil.example' })).status).toBe(
      403,
    );
    const signedIn = await trySignIn(client, { email, password: PASSWORD });
    expect(signedIn.status).toBe(200);
    const cookie = readCookie(signedIn);
    const me = await openStaffClient(client, cookie).query('staff.me');
    expect([me.status, me.body.result.data.email]).toEqual([200, email]);
    const headers = { cookie, origin: next.url };
    const body = { siteKey: 'site_unknown', origin: 'https://lms.example.edu' };
    const checked = await client.call('POST', '/collect/check', { body, headers });
    expect([checked.status, checked.body.state]).toEqual([200, 'UnknownKey']);
    expect(checked.headers.get('content-security-policy')).toBeNull();
    const signedOut = await client.call('POST', '/api/auth/sign-out', { headers: { cookie, origin: next.url } });
    expect([signedOut.status, signedOut.text]).toEqual([204, '']);
    expect((await openStaffClient(client, cookie).query('staff.me')).status).toBe(401);
  });

  it('takes the client’s address from the platform, never from the client', async () => {
    const tryFrom = async (headers: Record<string, string>) => {
      await server.database.db.sql`delete from sign_in_windows`;
      const client = { url: next.url, ...createClient(next.url) };
      await trySignIn(client, { email: 'x@example.com', password: PASSWORD }, headers);
      const rows = await server.database.db.sql`select bucket from sign_in_windows where bucket like 'address:%'`;
      return rows.map(({ bucket }) => bucket);
    };
    const claimed = { 'x-client-address': '198.51.100.7' };
    expect(await tryFrom(claimed)).toEqual(['address:127.0.0.1']);
    const forwarded = { ...claimed, 'x-forwarded-for': '192.0.2.1, 192.0.2.2' };
    // Vercel writes the whole header. A proxy appends its entry to what the client has sent.
    expect(await tryFrom(forwarded)).toEqual([`address:${settings.VERCEL ? '192.0.2.1' : '192.0.2.2'}`]);
  });

  it('says that it has no engine, and keeps deliveries for a process that has one', async () => {
    const ready = await fetch(`${next.url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'unavailable', checks: { database: 'ok', migrations: 'ok', engine: 'failing' } },
    ]);
    const body = { url: `${receiver.url}/kept`, eventType: 'BotDetected' };
    const { secret } = (await server.call('POST', '/v1/webhooks', { key: tenant.key, body })).body.data;
    expect((await createClient(next.url).ingest(tenant.id, scoredSession(0.95).facts)).status).toBe(200);
    await waitUntil(() => /could not tell the engine about due deliveries/.test(next.output()));
    expect(receiver.received).toEqual([]);
    // Does what the sweep would do a minute later.
    await server.database.db.sql`update webhook_deliveries set next_attempt_at = now() - interval '1 minute'`;
    await server.service.dispatcher.sweep();
    await waitUntil(() => receiver.received.length > 0);
    expectSigned(receiver.received[0]!, secret);
  });

  it('with an invalid setting fails every request and names the setting in the log', async () => {
    await expect(startNextServer(server, { ...settings, WEBHOOK_TIMEOUT: 'soon' })).rejects.toThrow(
      /next start answers 500: .*WEBHOOK_TIMEOUT: must be a duration/s,
    );
  });

  it('opens no port for metrics', async () => {
    await expect(fetch(`http://127.0.0.1:${metricsPort}/metrics`)).rejects.toThrow('fetch failed');
  });

  // This test is the last one because it ends the server.
  it('has counted every request when it ends', async () => {
    const { key } = await server.createTenant('pro');
    const ask = (path: string) => fetch(next.url + path, { headers: { authorization: `Bearer ${key}` } });
    // All at once, so that the process ends while some counts are still to be written.
    const stats = await Promise.all(Array.from({ length: 20 }, () => ask('/v1/stats')));
    expect(new Set(stats.map(({ status }) => status))).toEqual(new Set([200]));
    for (const path of ['/v1/users?pageSize=0', '/v1/unknown']) await ask(path);
    await next.stop();
    const { data } = (await server.call('GET', '/v1/usage', { key })).body;
    expect(data).toMatchObject({ totalRequests: 22, successfulRequests: 20, clientErrors: 2 });
    expect(data.byEndpoint).toEqual([
      { method: 'GET', path: '/v1/stats', requests: 20, errors: 0 },
      { method: 'GET', path: '(unmatched)', requests: 1, errors: 1 },
      { method: 'GET', path: '/v1/users', requests: 1, errors: 1 },
    ]);
  });
});
