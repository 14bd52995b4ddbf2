import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeasePresence } from '../../server/webhooks/lease-presence';
import { scored, scoredSession, secondsAgo, started } from '../support/facts';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// Makes the six attempts within seconds. The setting's default is the real schedule.
const RETRY_DELAYS = '0s,200ms,300ms,400ms,500ms,600ms';

describe('webhook deliveries', () => {
  let server: TestServer;
  let receiver: Receiver;
  let tenant: { id: string; key: string };

  beforeAll(async () => {
    receiver = await startReceiver();
    server = await startTestServer({
      WEBHOOK_ALLOW_HOSTS: receiver.host,
      WEBHOOK_RETRY_DELAYS: RETRY_DELAYS,
      WEBHOOK_TIMEOUT: '1s',
    });
  });
  beforeEach(async () => {
    tenant = await server.createTenant('enterprise');
  });
  afterEach(() => {
    receiver.received.length = 0;
    receiver.answer = () => 200;
  });
  afterAll(async () => {
    await server.stop();
    await receiver.stop();
  });

  async function subscribe(fields: Record<string, unknown> = {}) {
    const body = { url: `${receiver.url}/hook`, eventType: 'BotDetected', ...fields };
    const answer = await server.call('POST', '/v1/webhooks', { key: tenant.key, body });
    expect(answer.status).toBe(200);
    return answer.body.data as { id: string; secret: string };
  }
  const getWebhook = async (id: string) =>
    (await server.call('GET', `/v1/webhooks/${id}`, { key: tenant.key })).body.data;
  const patch = (id: string, body: unknown) => server.call('PATCH', `/v1/webhooks/${id}`, { key: tenant.key, body });
  const detectBot = async (botScore = 0.91) => {
    const session = scoredSession(botScore);
    const answer = await server.ingest(tenant.id, session.facts);
    expect(answer.body).toEqual({ result: { data: { accepted: 3, duplicates: 0, suppressed: 0 } } });
    return session.sessionId;
  };
  const listDeliveries = () => server.database.db.sql<
    { status: string; attempts: number; failure_class: string | null; logged: number }[]
  >`select d.status, d.attempts, d.failure_class,
           (select count(*)::int from webhook_attempts a where a.delivery_id = d.id) as logged
      from webhook_deliveries d where d.integration_id = ${tenant.id} order by d.created_at, d.id`;

  it('sends a signed BotDetected when a bot session closes', async () => {
    const { id, secret } = await subscribe();
    const sessionId = await detectBot(0.91);
    const [delivery] = await receiver.waitFor(1);
    expectSigned(delivery!, secret);
    expect(delivery!.headers).toMatchObject({
      'content-type': 'application/json',
      'x-webhook-event': 'BotDetected',
      'x-webhook-id': id,
    });
    expect(delivery!.headers['x-webhook-test']).toBeUndefined();
    expect(JSON.parse(delivery!.body)).toEqual({
      sessionId,
      botScore: 0.91,
      scoredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      userId: null,
      contextId: expect.stringMatching(/^[0-9a-f]{16}$/),
      sessionUrl: null,
    });
    await waitUntil(async () => (await getWebhook(id)).lastDeliveryStatus === 'Delivered');
    expect((await getWebhook(id)).lastDeliveryAt).not.toBeNull();
  });

  it('wakes for a first attempt that is to come later, when the run that the event began is over', async () => {
    const later = await startTestServer({
      WEBHOOK_ALLOW_HOSTS: receiver.host,
      WEBHOOK_RETRY_DELAYS: '4s,1m,1m,1m,1m,1m',
    });
    // A sweep would send it too, half a minute late.
    vi.spyOn(later.service.dispatcher.publisher, 'republish').mockResolvedValue();
    const { id, key } = await later.createTenant();
    const body = { url: `${receiver.url}/later`, eventType: 'BotDetected' };
    expect((await later.call('POST', '/v1/webhooks', { key, body })).status).toBe(200);
    await later.ingest(id, scoredSession(0.91).facts);
    await receiver.waitFor(1);
    await later.stop();
  });

  it('sends nothing for a human session, for another type, or below a threshold, and stores the reason', async () => {
    const strict = await subscribe({ threshold: { field: 'botScore', operator: 'gte', value: 0.95 } });
    await subscribe({ eventType: 'ReportReady' });
    const open = await subscribe();
    await detectBot(0.1);
    await detectBot(0.8);
    await receiver.waitFor(1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(receiver.received.map(({ headers }) => headers['x-webhook-id'])).toEqual([open.id]);
    const events = await server.database.db.sql`select skips from domain_events where integration_id = ${tenant.id}`;
    expect(events).toEqual([{ skips: { [strict.id]: 'threshold' } }]);
  });

  it('tries six times with one delivery id and fresh signatures, then gives up', async () => {
    const { id, secret } = await subscribe();
    receiver.answer = () => 503;
    await detectBot();
    const attempts = await receiver.waitFor(6);
    await waitUntil(async () => (await getWebhook(id)).lastDeliveryStatus === 'MaxRetriesExceeded');
    for (const attempt of attempts) expectSigned(attempt, secret);
    expect(new Set(attempts.map(({ headers }) => headers['x-webhook-delivery-id'])).size).toBe(1);
    expect(new Set(attempts.map(({ body }) => body)).size).toBe(1);
    const waits = attempts.slice(1).map(({ at }, n) => at - attempts[n]!.at);
    [200, 300, 400, 500, 600].forEach((delayMs, n) => {
      expect(waits[n]).toBeGreaterThanOrEqual(delayMs - 5);
      expect(waits[n]).toBeLessThan(delayMs + 1_500);
    });
    expect(await listDeliveries()).toEqual([
      { status: 'MaxRetriesExceeded', attempts: 6, failure_class: '5xx', logged: 6 },
    ]);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(receiver.received).toHaveLength(6);
  });

  it('shows Pending between attempts, and Delivered if a later one succeeds', async () => {
    const { id } = await subscribe();
    receiver.answer = () => (receiver.received.length < 3 ? 500 : 204);
    await detectBot();
    await receiver.waitFor(1);
    await waitUntil(async () => (await getWebhook(id)).lastDeliveryStatus === 'Pending');
    await waitUntil(async () => (await getWebhook(id)).lastDeliveryStatus === 'Delivered');
    expect(await listDeliveries()).toEqual([{ status: 'Delivered', attempts: 3, failure_class: null, logged: 3 }]);
  });

  it.each([
    [400, 'PermanentFailure', '4xx'],
    [410, 'PermanentFailure', '4xx'],
    [301, 'Failed', 'HTTP301'],
    [307, 'Failed', 'HTTP307'],
  ])('ends at once on %i: %s', async (status, expected, failureClass) => {
    const { id } = await subscribe();
    receiver.answer = () => status;
    await detectBot();
    await waitUntil(async () => (await getWebhook(id)).lastDeliveryStatus === expected);
    expect(await listDeliveries()).toEqual([{ status: expected, attempts: 1, failure_class: failureClass, logged: 1 }]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    [408, 'Timeout'],
    [429, 'RateLimited'],
    [null, 'Timeout'],
  ])('retries %s as %s', async (status, failureClass) => {
    await subscribe();
    receiver.answer = () => (receiver.received.length === 1 ? status : 200);
    await detectBot();
    await waitUntil(async () => (await listDeliveries())[0]?.status === 'Delivered');
    const rows = await server.database.db.sql`select attempt, failure_class, address from webhook_attempts
      where integration_id = ${tenant.id} order by attempt`;
    expect(rows).toEqual([
      { attempt: 1, failure_class: failureClass, address: '127.0.0.1' },
      { attempt: 2, failure_class: null, address: '127.0.0.1' },
    ]);
  });

  it('disables a subscription after three failures in a row, and not if a success comes between them', async () => {
    const { id } = await subscribe();
    const statuses = [400, 400, 200, 400, 301, 404];
    receiver.answer = () => statuses[receiver.received.length - 1]!;
    for (let n = 0; n < statuses.length; n++) {
      expect((await getWebhook(id)).enabled).toBe(true);
      await detectBot();
      await waitUntil(async () => (await listDeliveries()).filter((row) => row.status !== 'Pending').length === n + 1);
    }
    expect(await getWebhook(id)).toMatchObject({
      enabled: false,
      disabledReason: 'auto:consecutive-failures',
      disabledFailureClass: '4xx',
    });
    await detectBot();
    const [event] = await server.database.db.sql`select skips from domain_events where integration_id = ${tenant.id}
      order by created_at desc limit 1`;
    expect(event).toEqual({ skips: { [id]: 'disabled' } });

    const answer = await patch(id, { enabled: true });
    expect(answer.body.data).toMatchObject({ enabled: true, disabledReason: null, disabledFailureClass: null });
    receiver.answer = () => 400;
    await detectBot();
    await waitUntil(async () => (await getWebhook(id)).lastDeliveryStatus === 'PermanentFailure');
    expect((await getWebhook(id)).enabled).toBe(true);
  });

  it('holds pending deliveries while disabled, and sends them when enabled again', async () => {
    const { id } = await subscribe();
    receiver.answer = async () => {
      // The retry follows soon after the answer.
      await patch(id, { enabled: false });
      return 500;
    };
    await detectBot();
    await waitUntil(async () => (await listDeliveries())[0]?.logged === 1);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(receiver.received).toHaveLength(1);
    expect((await listDeliveries())[0]!.status).toBe('Pending');
    receiver.answer = () => 200;
    await patch(id, { enabled: true });
    await waitUntil(async () => (await listDeliveries())[0]?.status === 'Delivered');
    expect(receiver.received).toHaveLength(2);
  });

  it('sends the next attempt to the current address and with the current secret', async () => {
    const { id, secret } = await subscribe();
    receiver.answer = async () => {
      if (receiver.received.length > 1) return 200;
      // The retry follows soon after the answer.
      await patch(id, { url: `${receiver.url}/moved` });
      return 500;
    };
    await detectBot();
    const [first, second] = await receiver.waitFor(2);
    expect(first!.path).toBe('/hook');
    expect(second!.path).toBe('/moved');
    expectSigned(second!, secret);
  });

  it('ends pending deliveries when their subscription is deleted', async () => {
    const { id } = await subscribe();
    const statuses: number[] = [];
    receiver.answer = async () => {
      // The third attempt follows soon after the answer.
      if (receiver.received.length === 2)
        statuses.push((await server.call('DELETE', `/v1/webhooks/${id}`, { key: tenant.key })).status);
      return 500;
    };
    await detectBot();
    await waitUntil(() => statuses.length > 0);
    expect(statuses).toEqual([204]);
    expect((await listDeliveries())[0]).toMatchObject({ status: 'PoisonAborted', logged: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(receiver.received).toHaveLength(2);
  });

  it('fires BotDetected once, however often the facts are sent and the score changes', async () => {
    await subscribe();
    const { sessionId, facts } = scoredSession(0.9);
    await server.ingest(tenant.id, facts);
    await server.ingest(tenant.id, facts);
    await server.ingest(tenant.id, [scored(sessionId, 0.97, { scoredAt: secondsAgo(1) })]);
    await receiver.waitFor(1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(receiver.received).toHaveLength(1);
  });

  it('records deliveries while their subscription is being deleted, without a deadlock', async () => {
    const failures: unknown[] = [];
    const warn = server.service.log.warn.bind(server.service.log);
    server.service.log.warn = ((fields: unknown, message: string) => {
      if (message.startsWith('an attempt could not be recorded')) failures.push(fields);
    }) as typeof warn;
    try {
      for (let round = 0; round < 25; round++) {
        const { id } = await subscribe();
        const sessions = Array.from({ length: 20 }, () => scoredSession(0.9));
        receiver.received.length = 0;
        await server.ingest(
          tenant.id,
          sessions.flatMap(({ facts }) => facts),
        );
        await receiver.waitFor(1 + (round % 10));
        expect((await server.call('DELETE', `/v1/webhooks/${id}`, { key: tenant.key })).status).toBe(204);
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(failures).toEqual([]);
    } finally {
      server.service.log.warn = warn;
    }
  });

  it('begins no attempt that others may have taken over since its claim, and sends it later', async () => {
    const { id } = await subscribe();
    let asked = 0;
    // As if the process lost its id between a claim and the attempt, again and again.
    const owner = vi.spyOn(LeasePresence.prototype, 'owner', 'get').mockImplementation(() => ++asked);
    try {
      await server.ingest(tenant.id, scoredSession(0.9).facts);
      await waitUntil(() => asked > 10);
      expect(receiver.received).toEqual([]);
    } finally {
      owner.mockRestore();
    }
    await receiver.waitFor(1);
    const readDelivery = async () => {
      const [row] = await server.service.db.sql`
        select status, attempts, crashes, lease_owner from webhook_deliveries where subscription_id = ${id}`;
      return row;
    };
    await waitUntil(async () => (await readDelivery())!.status === 'Delivered');
    expect(await readDelivery()).toEqual({ status: 'Delivered', attempts: 1, crashes: 0, lease_owner: null });
    expect(receiver.received).toHaveLength(1);
  });

  it('does not let a tenant with hundreds of hanging retries delay another', async () => {
    const { id } = await subscribe();
    receiver.answer = () => 500;
    const sessions = Array.from({ length: 250 }, () => scoredSession(0.9));
    await server.ingest(
      tenant.id,
      sessions.slice(0, 160).flatMap(({ facts }) => facts),
    );
    await server.ingest(
      tenant.id,
      sessions.slice(160).flatMap(({ facts }) => facts),
    );
    await receiver.waitFor(250);
    receiver.answer = ({ path }) => (path === '/fast' ? 200 : null);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const other = await server.createTenant('pro');
    await server.call('POST', '/v1/webhooks', {
      key: other.key,
      body: { url: `${receiver.url}/fast`, eventType: 'BotDetected' },
    });
    await server.ingest(other.id, scoredSession(0.9).facts);
    await waitUntil(() => receiver.received.some(({ path }) => path === '/fast'), 5_000);
    const countUnderWay = async () => {
      const [row] = await server.database.db.sql<{ n: number }[]>`select count(*)::int as n from webhook_deliveries
        where integration_id = ${tenant.id} and lease is not null and attempts > 1`;
      return row!.n;
    };
    // On a busy machine the retries begin later than the other tenant's delivery.
    await waitUntil(async () => (await countUnderWay()) > 0);
    const underWay: number[] = [];
    for (let sample = 0; sample < 20; sample++) {
      underWay.push(await countUnderWay());
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // 25 attempts run, while 25 others that timed out together may still wait to be recorded.
    expect(Math.max(...underWay)).toBeLessThanOrEqual(50);
    // Ends the remaining retries, which would reach the receiver during the next tests.
    await server.call('DELETE', `/v1/webhooks/${id}`, { key: tenant.key });
  });

  it('refuses an address that became forbidden after the subscription was made', async () => {
    const { id } = await subscribe();
    await server.database.db.sql`update webhook_subscriptions set url = 'http://10.0.0.1/' where id = ${id}`;
    await detectBot();
    await waitUntil(async () => (await listDeliveries())[0]?.status === 'PermanentFailure');
    expect((await listDeliveries())[0]).toMatchObject({ attempts: 1, failure_class: 'BlockedSsrf' });
  });

  it('ends a delivery whose secret cannot be decrypted, without counting it against the subscription', async () => {
    const { id } = await subscribe();
    await server.database.db.sql`update webhook_subscriptions set secret_sealed = '\\x00' where id = ${id}`;
    await detectBot();
    await waitUntil(async () => (await listDeliveries())[0]?.status === 'PoisonAborted');
    expect(receiver.received).toHaveLength(0);
    expect((await getWebhook(id)).lastDeliveryStatus).toBeNull();
  });

  it('leaves a session in the same state if the score arrives before the close', async () => {
    await subscribe();
    const { sessionId } = scoredSession(0.9);
    await server.ingest(tenant.id, [started(sessionId), scored(sessionId, 0.88)]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(receiver.received).toHaveLength(0);
    await server.ingest(tenant.id, [{ kind: 'sessionClosed', sessionId, closedAt: secondsAgo(1) }]);
    await receiver.waitFor(1);
  });
});
