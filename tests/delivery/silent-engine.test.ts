import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { scoredSession } from '../support/facts';
import { type RawReceiver, startRawReceiver } from '../support/raw-receiver';
import { startTestServer, type TestServer } from '../support/server';

// An Inngest server that accepts connections and never answers, as one that hangs or stands behind a broken load balancer.

let server: TestServer;
let inngest: RawReceiver;
beforeAll(async () => {
  inngest = await startRawReceiver(() => {});
  const settings = { INNGEST_DEV: '1', INNGEST_BASE_URL: `http://127.0.0.1:${inngest.port}` };
  // Inngest's SDK reads its own environment.
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  server = await startTestServer(settings);
});
afterAll(() => {
  vi.unstubAllEnvs();
  inngest.stop();
});

it('an engine that never answers keeps no request waiting and no process from stopping', {
  timeout: 40_000,
}, async () => {
  const tenant = await server.createTenant();
  const body = { url: 'https://example.com/', eventType: 'BotDetected' };
  expect((await server.call('POST', '/v1/webhooks', { key: tenant.key, body })).status).toBe(200);
  expect((await server.ingest(tenant.id, scoredSession(0.99).facts)).status).toBe(200);
  const erased = await server.call('DELETE', '/v1/users/user-1', { key: tenant.key });
  expect(erased.status).toBe(200);
  // The delivery and the erasure.
  expect(inngest.requests.length).toBeGreaterThanOrEqual(2);
  await server.stop();
  // Tries are given up, so their connections do not pile up.
  await expect.poll(() => inngest.sockets[0]!.destroyed).toBe(true);
});
