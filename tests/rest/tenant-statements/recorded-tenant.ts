import { expect } from 'vitest';
import { type Receiver, startReceiver } from '../../support/receiver';
import type { RouteCall } from '../../support/route-calls';
import { startTestServer, type TestServer } from '../../support/server';
import { recordStatements } from '../../support/statements';
import type { makeTenantFacts } from '../../support/tenant-facts';

// The one tenant of a server, whose statements are recorded.

export let server: TestServer;
export let receiver: Receiver;
export let tenant: { id: string; key: string };
export const sentKinds = new Set<string>();

/** Starts the server with its tenant. Answers the recorder of its statements. */
export async function startTenant() {
  receiver = await startReceiver();
  server = await startTestServer({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_RETRY_DELAYS: '0s,50ms,50ms,50ms,50ms,50ms',
    OPERATOR_WEBHOOK_URL: `${receiver.url}/operator`,
    OPERATOR_WEBHOOK_SECRET: 'a-secret-of-the-operator',
  });
  const recorder = recordStatements(server.service.db);
  tenant = await server.createTenant();
  return recorder;
}

export async function stopTenant(): Promise<void> {
  await server.stop();
  await receiver.stop();
}

export const call = ({ method, path, body }: RouteCall) =>
  server.call(method, path, { key: tenant.key, ...(body === undefined ? {} : { body }) });

export async function subscribe(path: string, eventType: string): Promise<string> {
  const body = { url: receiver.url + path, eventType };
  const headers = { 'idempotency-key': `${path}${eventType}` };
  return (await server.call('POST', '/v1/webhooks', { key: tenant.key, body, headers })).body.data.id;
}

export async function ingest(groups: ReturnType<typeof makeTenantFacts>) {
  for (const facts of groups) {
    for (const { kind } of facts) sentKinds.add(kind);
    expect((await server.ingest(tenant.id, facts)).status).toBe(200);
  }
}
