import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { startTestServer, type TestServer } from '../support/server';

// Stands for Inngest: keeps the addresses that services register.
let inngest: Server;
let server: TestServer | null = null;
const registered: string[] = [];

beforeAll(async () => {
  inngest = createServer(async (request, response) => {
    const chunks = await request.toArray();
    registered.push(JSON.parse(Buffer.concat(chunks).toString()).url);
    response.end(JSON.stringify({ ok: true, status: 200, modified: true }));
  });
  await once(inngest.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.stop();
  server = null;
});
afterAll(() => inngest.close());

it.each<[string, Record<string, string>, string]>([
  ['Inngest Cloud at the public address', { PUBLIC_URL_US: 'https://us.example' }, 'https://us.example/api/inngest'],
  ['any Inngest where it is told', { INNGEST_SERVE_ORIGIN: 'http://app:3000' }, 'http://app:3000/api/inngest'],
])('registers with %s, whatever address Next sees', async (_engine, settings, expected) => {
  const keys = { INNGEST_EVENT_KEY: 'an-event-key', INNGEST_SIGNING_KEY: 'signkey-test-0123456789abcdef' };
  // The SDK reads its settings from the process. This one leads it to our server in the place of Inngest Cloud.
  const { port } = inngest.address() as AddressInfo;
  vi.stubEnv('INNGEST_API_BASE_URL', `http://127.0.0.1:${port}`);
  vi.stubEnv('INNGEST_SIGNING_KEY', keys.INNGEST_SIGNING_KEY);
  server = await startTestServer({ ...keys, ...settings });
  const request = new Request('http://localhost:3000/api/inngest', {
    method: 'PUT',
    headers: { host: 'evil.example' },
  });
  const answer = await server.service.inngestHandler!(request);
  expect([answer.status, registered.pop()]).toEqual([200, expected]);
});
