import { afterAll, beforeAll } from 'vitest';
import { type RawRequest, sendRaw } from '../../support/connection';
import { startTestServer, type TestServer } from '../../support/server';

// One server, and one tenant whose key all requests have.

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const VALID = JSON.stringify({ url: 'https://example.com/', eventType: 'BotDetected', enabled: false });

export let server: TestServer;
export let tenant: { id: string; key: string };

export function shareServer(): void {
  beforeAll(async () => {
    server = await startTestServer();
    tenant = await server.createTenant('enterprise');
  });
  afterAll(() => server.stop());
}

export const keyed = (headers: Record<string, string> = {}) => ({ Authorization: `Bearer ${tenant.key}`, ...headers });
export const send = (method: string, target: string, { headers, ...request }: RawRequest = {}) =>
  sendRaw(server.url, method, target, { ...request, headers: keyed(headers) });
export const post = (
  body: string | Uint8Array,
  headers: Record<string, string> = { 'Content-Type': 'application/json' },
) => send('POST', '/v1/webhooks', { headers, body });

/** Makes a JSON body of exactly so many bytes. */
export const padded = (bytes: number) => VALID + ' '.repeat(bytes - VALID.length);
