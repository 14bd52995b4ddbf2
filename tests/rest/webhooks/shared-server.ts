import { afterAll, beforeAll, expect } from 'vitest';
import { type Answer, startTestServer, type TestServer } from '../../support/server';

// One server for all tests of subscriptions.

export const VALID = { url: 'https://example.com/hook', eventType: 'BotDetected' };
export const DISABLED = { ...VALID, enabled: false };
export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export let server: TestServer;
export let tenant: Tenant;

export function shareServer(): void {
  beforeAll(async () => {
    server = await startTestServer();
    tenant = await server.createTenant('enterprise');
  });
  afterAll(() => server.stop());
}

export type Tenant = { id: string; key: string };
export const create = ({ key }: Tenant, body: unknown) => server.call('POST', '/v1/webhooks', { key, body });
export const list = ({ key }: Tenant) => server.call('GET', '/v1/webhooks', { key });
export const get = ({ key }: Tenant, id: string) => server.call('GET', `/v1/webhooks/${id}`, { key });
export const patch = ({ key }: Tenant, id: string, body: unknown) =>
  server.call('PATCH', `/v1/webhooks/${id}`, { key, body });
export const remove = ({ key }: Tenant, id: string) => server.call('DELETE', `/v1/webhooks/${id}`, { key });

/** Creates a subscription, disabled by default so that no test fills the plan. */
export async function created(owner: Tenant, fields: Record<string, unknown> = {}) {
  const { status, body } = await create(owner, { ...DISABLED, ...fields });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data;
}
export const countOf = (answers: Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;
