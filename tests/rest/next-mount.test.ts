import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scoredSession } from '../support/facts';
import { findFreePort } from '../support/ports';
import { waitUntil } from '../support/receiver';
import { PIPELINE_TOKEN, startTestServer, type TestServer } from '../support/server';

// The other mount: plain `next start`, as a serverless platform runs it. Both answer from one database here.
describe('the API through Next’s route handlers', () => {
  let server: TestServer;
  let next: ChildProcess;
  let nextUrl: string;
  let tenant: { id: string; key: string };
  let output = '';

  beforeAll(async () => {
    server = await startTestServer();
    tenant = await server.createTenant('pro');
    const port = await findFreePort();
    nextUrl = `http://127.0.0.1:${port}`;
    next = spawn(
      process.execPath,
      ['node_modules/next/dist/bin/next', 'start', '-p', String(port), '-H', '127.0.0.1'],
      {
        env: {
          ...process.env,
          NODE_ENV: 'production',
          DATABASE_URL: server.database.url,
          APP_SECRET: randomBytes(32).toString('base64'),
          PIPELINE_TOKEN,
          LOG_LEVEL: 'warn',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    for (const stream of [next.stdout!, next.stderr!]) stream.on('data', (chunk) => (output += chunk));
    const isUp = () =>
      fetch(`${nextUrl}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitUntil(isUp, 30_000, () => `next start did not answer: ${output}`);
  });
  afterAll(async () => {
    const ended = once(next, 'exit');
    next.kill('SIGTERM');
    await ended;
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
      expect({ name, ...(await see(nextUrl, method, path, init)) }).toEqual({
        name,
        ...(await see(server.url, method, path, init)),
      });
    }
  });

  it('takes facts at the pipeline’s door, and refuses a bad token', async () => {
    const post = (token: string, body: unknown) =>
      fetch(`${nextUrl}/api/trpc/pipeline.ingest`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const { sessionId, facts } = scoredSession(0.2);
    const refused = await post('a-wrong-token-of-the-tests', { integrationId: tenant.id, facts });
    expect(refused.status).toBe(401);
    const answer = await post(PIPELINE_TOKEN, { integrationId: tenant.id, facts });
    expect(await answer.json()).toEqual({ result: { data: { accepted: 3, duplicates: 0, suppressed: 0 } } });
    const found = await server.call('GET', `/v1/sessions/${sessionId}`, { key: tenant.key });
    expect(found.body.data.status).toBe('Scored');
  });

  it('keeps /api/inngest closed where no Inngest is configured', async () => {
    for (const method of ['GET', 'POST', 'PUT']) {
      expect((await fetch(`${nextUrl}/api/inngest`, { method })).status).toBe(404);
    }
  });
});
