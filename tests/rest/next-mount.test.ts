import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scoredSession } from '../support/facts';
import { type NextServer, startNextServer } from '../support/next-server';
import { PIPELINE_TOKEN, startTestServer, type TestServer } from '../support/server';

// The other mounts: plain `next start`, and Next's route handlers alone, as a serverless platform runs them. All answer
// from one database here.
describe.each<[string, Record<string, string>]>([
  ['plain next start', {}],
  ['Next’s route handlers', { VERCEL: '1' }],
])('the API through %s', (_mount, settings) => {
  let server: TestServer;
  let next: NextServer;
  let tenant: { id: string; key: string };

  beforeAll(async () => {
    server = await startTestServer();
    tenant = await server.createTenant('pro');
    next = await startNextServer(server, settings);
  });
  afterAll(async () => {
    await next?.stop();
    await server.stop();
  });

  /** What a client sees, apart from what differs between any two requests. */
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

  it('answers every kind of request as the self-hosted mount does', async () => {
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
      ['GET', '/v1/unknown', { headers: bearer() }],
      ['GET', '/v1', { headers: bearer() }],
      ['PATCH', '/v1/sessions', { headers: bearer() }],
      ['OPTIONS', '/v1/sessions', { headers: bearer() }],
      ['GET', '/v1/sessions'],
      ['GET', '/v1/unknown'],
      ['GET', '/v1/sessions', { headers: { authorization: 'Bearer nonsense' } }],
      ['GET', '/v1/integration', { headers: { 'x-api-key': tenant.key } }],
      ['GET', '/v1/webhooks', { headers: bearer() }],
      ['POST', '/v1/webhooks', { headers: json, body: '{' }],
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
    ];
    for (const [method, path, init] of cases) {
      const name = `${method} ${path}`;
      expect({ name, ...(await see(next.url, method, path, init)) }).toEqual({
        name,
        ...(await see(server.url, method, path, init)),
      });
    }
  });

  it('opens a cursor that the self-hosted mount has signed', async () => {
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
  ])('takes facts at the pipeline’s door within its limits, and refuses a bad token: %s', async (spelling) => {
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
    expect(await post(PIPELINE_TOKEN, batch)).toMatchObject({
      status: 200,
      result: { data: { accepted: 3, duplicates: 0, suppressed: 0 } },
    });
    const found = await server.call('GET', `/v1/sessions/${sessionId}`, { key: tenant.key });
    expect(found.body.data.status).toBe('Scored');
  });

  it('answers a customer’s procedure over tRPC with a clean 401, whatever key comes with it', async () => {
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

  it('keeps /api/inngest closed where no Inngest is configured', async () => {
    for (const method of ['GET', 'POST', 'PUT']) {
      const response = await fetch(`${next.url}/api/inngest`, { method });
      expect([response.status, await response.text()]).toEqual([404, 'Not found\n']);
    }
  });

  // The last test: it ends the server.
  it('has counted every request when it ends', async () => {
    const { key } = await server.createTenant('pro');
    const paths = ['/v1/stats', '/v1/stats', '/v1/users?pageSize=0', '/v1/unknown'];
    for (const path of paths) await fetch(next.url + path, { headers: { authorization: `Bearer ${key}` } });
    await next.stop();
    const { data } = (await server.call('GET', '/v1/usage', { key })).body;
    expect(data).toMatchObject({ totalRequests: 4, successfulRequests: 2, clientErrors: 2 });
    expect(data.byEndpoint).toEqual([
      { method: 'GET', path: '/v1/stats', requests: 2, errors: 0 },
      { method: 'GET', path: '(unmatched)', requests: 1, errors: 1 },
      { method: 'GET', path: '/v1/users', requests: 1, errors: 1 },
    ]);
  });
});
