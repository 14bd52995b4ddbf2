import { afterAll, beforeAll, expect } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server';

// One server for all tests of sessions.

export let server: TestServer;

export function shareServer(): void {
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());
}

export type Tenant = { id: string; key: string };
export const get = ({ key }: Tenant, path: string) => server.call('GET', path, { key });
export const list = (tenant: Tenant, query: Record<string, string> = {}) =>
  get(tenant, `/v1/sessions?${new URLSearchParams(query)}`);

export async function ingest(tenant: Tenant, facts: unknown[]) {
  const answer = await server.ingest(tenant.id, facts);
  expect(answer.text).toContain('"accepted"');
}
export async function listIds(tenant: Tenant, query: Record<string, string> = {}): Promise<string[]> {
  const { status, body } = await list(tenant, query);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data.map((session: { id: string }) => session.id);
}
