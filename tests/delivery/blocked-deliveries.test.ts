import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { detours, dialled, passed, resetConnector } from '../support/connector';
import { type DnsServer, startDnsServer } from '../support/dns-server';
import { scoredSession } from '../support/facts';
import { answer, type RawReceiver, startRawReceiver } from '../support/raw-receiver';
import { waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// The name of a subscription was allowed when it was saved and leads elsewhere later (specification: Endpoints, rule
// 7). Tested through the whole product with its real look-up.

const system = vi.hoisted(() => ({ resolve: async (_hostname: string): Promise<string[]> => [] }));
vi.mock('node:net', async (original) => (await import('../support/connector')).divertNet(await original()));
vi.mock('node:dns/promises', async (original) => ({
  ...(await original<typeof import('node:dns/promises')>()),
  lookup: async (hostname: string, options: { all: true }) => {
    if (options.all !== true) throw new Error('one address of several would be judged');
    return (await system.resolve(hostname)).map((address) => ({ address, family: isIP(address) }));
  },
}));

const PUBLIC = '1.1.1.1';
const HOOK = 'http://hooks.example.com/';

describe('a delivery to a name', () => {
  let dns: DnsServer;
  let receiver: RawReceiver;
  let server: TestServer;
  let tenant: { id: string; key: string };

  beforeAll(async () => {
    passed.add(Number(new URL(inject('postgresUrl')).port));
    dns = await startDnsServer();
    system.resolve = dns.resolve;
    receiver = await startRawReceiver((socket) => socket.end(answer(200, '', 'connection: close\r\n')));
    server = await startTestServer({ WEBHOOK_RETRY_DELAYS: '0s,200ms,200ms,200ms,200ms,200ms', WEBHOOK_TIMEOUT: '1s' });
  });
  beforeEach(async () => {
    tenant = await server.createTenant('enterprise');
    for (const address of [PUBLIC, '10.0.0.1', '127.0.0.1']) detours.set(address, receiver.port);
    dns.answer = () => [PUBLIC];
  });
  afterEach(() => {
    receiver.requests.length = 0;
    receiver.sockets.length = 0;
    dns.queries.length = 0;
    resetConnector();
  });
  afterAll(async () => {
    await server.stop();
    receiver.stop();
    await dns.stop();
  });

  const call = (method: string, path: string, body?: unknown) => server.call(method, path, { key: tenant.key, body });
  const getWebhook = async (id: string) => (await call('GET', `/v1/webhooks/${id}`)).body.data;
  async function subscribe(): Promise<string> {
    const created = await call('POST', '/v1/webhooks', { url: HOOK, eventType: 'BotDetected' });
    expect(created.status).toBe(200);
    return created.body.data.id;
  }
  const listDeliveries = () => server.database.db.sql<
    { status: string; failure_class: string | null; attempts: number }[]
  >`
    select status, failure_class, attempts from webhook_deliveries
     where integration_id = ${tenant.id} order by created_at, id`;
  const listAttempts = () => server.database.db.sql<
    { http_status: number | null; failure_class: string | null; address: string | null }[]
  >`select http_status, failure_class, address from webhook_attempts
     where integration_id = ${tenant.id} order by started_at, attempt`;
  /** Makes an event and waits for the end of its delivery. */
  async function deliver(): Promise<void> {
    const before = (await listDeliveries()).length;
    await server.ingest(tenant.id, scoredSession(0.9).facts);
    await waitUntil(async () => {
      const deliveries = await listDeliveries();
      return deliveries.length > before && deliveries.every(({ status }) => status !== 'Pending');
    });
  }
  const blocked = { status: 'PermanentFailure', failure_class: 'BlockedSsrf', attempts: 1 };

  it('is blocked permanently once the name leads to a private address, and the third one disables the subscription', async () => {
    const id = await subscribe();
    await deliver();
    expect(await getWebhook(id)).toMatchObject({ enabled: true, lastDeliveryStatus: 'Delivered' });
    expect(await listAttempts()).toEqual([{ http_status: 200, failure_class: null, address: PUBLIC }]);

    dns.answer = () => ['10.0.0.1'];
    for (const count of [1, 2, 3]) {
      expect((await getWebhook(id)).enabled).toBe(true);
      await deliver();
      expect((await listDeliveries()).slice(1)).toEqual(Array(count).fill(blocked));
    }
    expect(await getWebhook(id)).toMatchObject({
      enabled: false,
      lastDeliveryStatus: 'PermanentFailure',
      disabledReason: 'auto:consecutive-failures',
      disabledFailureClass: 'BlockedSsrf',
    });
    await sleep(500); // a retry would have been due
    expect((await listAttempts()).slice(1)).toEqual(
      Array(3).fill({ http_status: null, failure_class: 'BlockedSsrf', address: '10.0.0.1' }),
    );
    expect(dialled).toEqual([`${PUBLIC} 80`]);
    expect(receiver.sockets.length).toBe(1);
    expect(dns.queries.length).toBe(2 * 4);

    dns.answer = () => [PUBLIC];
    expect((await call('PATCH', `/v1/webhooks/${id}`, { enabled: true })).body.data).toMatchObject({ enabled: true });
    await deliver();
    expect((await getWebhook(id)).lastDeliveryStatus).toBe('Delivered');
  });

  it('is blocked if one of several addresses is private, and nothing is contacted', async () => {
    await subscribe();
    dns.answer = () => [PUBLIC, '127.0.0.1'];
    await deliver();
    expect(await listDeliveries()).toEqual([blocked]);
    expect((await listAttempts())[0]?.address).toBe('127.0.0.1');
    expect([dialled, receiver.sockets]).toEqual([[], []]);
  });

  it('is blocked at the second attempt if the name rebinds after the first', async () => {
    await subscribe();
    let lookUps = 0;
    dns.answer = ({ type }) => {
      if (type === 'A') lookUps += 1;
      return lookUps < 2 ? { rcode: 'SERVFAIL' } : ['10.0.0.1'];
    };
    await deliver();
    expect(await listDeliveries()).toEqual([{ ...blocked, attempts: 2 }]);
    expect(await listAttempts()).toEqual([
      { http_status: null, failure_class: 'Network', address: null },
      { http_status: null, failure_class: 'BlockedSsrf', address: '10.0.0.1' },
    ]);
    expect(dialled).toEqual([]);
  });

  it('is blocked without a look-up if the stored URL itself is forbidden, and the log names no address', async () => {
    const id = await subscribe();
    await server.database.db.sql`update webhook_subscriptions set url = 'http://169.254.169.254/' where id = ${id}`;
    await deliver();
    expect(await listDeliveries()).toEqual([blocked]);
    expect(await listAttempts()).toEqual([{ http_status: null, failure_class: 'BlockedSsrf', address: null }]);
    expect([dns.queries, dialled]).toEqual([[], []]);
  });

  it('is retried while the name does not resolve or resolves too slowly', async () => {
    await subscribe();
    let attempt = 0;
    dns.answer = ({ type }) => {
      if (type === 'A') attempt += 1;
      if (attempt === 1) return { rcode: 'NXDOMAIN' };
      return attempt === 2 ? { records: [PUBLIC], afterMs: 1_100 } : [PUBLIC];
    };
    await deliver();
    expect((await listDeliveries())[0]).toMatchObject({ status: 'Delivered' });
    const attempts = await listAttempts();
    expect(attempts.slice(0, 2)).toEqual([
      { http_status: null, failure_class: 'Network', address: null },
      { http_status: null, failure_class: 'Timeout', address: null },
    ]);
    expect(attempts.at(-1)).toEqual({ http_status: 200, failure_class: null, address: PUBLIC });
  });

  it('answers a test that it was blocked, and does not change the subscription', async () => {
    const id = await subscribe();
    dns.answer = () => ['10.0.0.1'];
    for (let n = 0; n < 3; n += 1) {
      const { body } = await call('POST', `/v1/webhooks/${id}/test`);
      expect(body.data).toMatchObject({
        status: 'PermanentFailure',
        responseCode: 0,
        errorClass: 'BlockedSsrf',
        attempts: 1,
      });
    }
    expect(await getWebhook(id)).toMatchObject({ enabled: true, lastDeliveryStatus: null, disabledReason: null });
    expect([dialled, receiver.sockets]).toEqual([[], []]);
  });
});
