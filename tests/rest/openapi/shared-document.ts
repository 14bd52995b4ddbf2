import { afterAll, beforeAll } from 'vitest';
import { OpenApiDocument } from '../../support/document';
import { startTestServer, type TestServer } from '../../support/server';

// One server and its document.

export const WEBHOOK = { url: 'https://example.com/hook', eventType: 'BotDetected' };

export let server: TestServer;
export let document: OpenApiDocument;

export function shareDocument(): void {
  beforeAll(async () => {
    server = await startTestServer();
    document = new OpenApiDocument((await server.call('GET', '/openapi/v3.json')).body);
  });
  afterAll(() => server.stop());
}
