import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { prunePreviousSecrets } from '../../server/webhooks/retention';
import { signPayload } from '../../server/webhooks/signature';
import { scoredSession } from '../support/facts';
import { expectSigned, type Received, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

let server: TestServer;
let receiver: Receiver;
let tenant: { id: string; key: string };
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
});
beforeEach(async () => {
  tenant = await server.createTenant();
  receiver.received.length = 0;
  receiver.answer = () => 200;
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const post = async (path: string, body?: object) => {
  const answer = await server.call('POST', `/v1/webhooks${path}`, { key: tenant.key, ...(body && { body }) });
  expect(answer.status).toBe(200);
  return answer.body.data;
};
const subscribe = (): Promise<{ id: string; secret: string }> =>
  post('', { url: receiver.url, eventType: 'BotDetected' });
const rotate = async (id: string, body?: object): Promise<string> => (await post(`/${id}/rotate-secret`, body)).secret;
/** Sends a test delivery and returns it. */
const deliver = async (id: string): Promise<Received> => {
  await post(`/${id}/test`);
  return receiver.received.at(-1)!;
};
const detectBots = async (count: number) => {
  const facts = Array.from({ length: count }, () => scoredSession(0.95)).flatMap((session) => session.facts);
  expect((await server.ingest(tenant.id, facts)).status).toBe(200);
};
const readPrevious = async (id: string) => {
  const [row] = await server.database.db.sql`
    select previous_secret_sealed as sealed, previous_secret_until as until from webhook_subscriptions where id = ${id}`;
  return row;
};

/** Whether a receiver that knows one secret accepts a delivery: by either of its signatures. */
const isGenuine = ({ headers, body }: Received, secret: string) =>
  ['x-webhook-signature', 'x-webhook-signature-previous'].some(
    (name) => headers[name] === signPayload(secret, String(headers['x-webhook-timestamp']), body),
  );
/** Checks that a delivery has the signature of the secret, and that of `previous` if there is one. */
function expectSignedBy(delivery: Received, secret: string, previous: string | null) {
  expectSigned(delivery, secret);
  const timestamp = String(delivery.headers['x-webhook-timestamp']);
  expect(delivery.headers['x-webhook-signature-previous']).toBe(
    previous === null ? undefined : signPayload(previous, timestamp, delivery.body),
  );
  const messages = String(delivery.headers['webhook-signature']).split(' ');
  expect([messages.length, new Set(messages).size]).toEqual(previous === null ? [1, 1] : [2, 2]);
}

describe('a rotation', () => {
  it('with a grace period lets both secrets sign until it is over, then removes the old one', async () => {
    const { id, secret } = await subscribe();
    const rotated = await rotate(id, { gracePeriodSeconds: 604_800 });
    expectSignedBy(await deliver(id), rotated, secret);
    expect(await prunePreviousSecrets(server.service.db)).toBe(0);
    const { sealed, until } = (await readPrevious(id))!;
    expect(Buffer.from(sealed).includes(secret)).toBe(false);
    expect(Math.abs(Date.parse(until) - Date.now() - 604_800_000)).toBeLessThan(60_000);
    await server.database.db
      .sql`update webhook_subscriptions set previous_secret_until = now() - interval '1 ms' where id = ${id}`;
    expectSignedBy(await deliver(id), rotated, null);
    expect(await prunePreviousSecrets(server.service.db)).toBe(1);
    expect(await readPrevious(id)).toEqual({ sealed: null, until: null });
  });

  it('in the grace period of another one replaces its old secret', async () => {
    const { id } = await subscribe();
    const second = await rotate(id, { gracePeriodSeconds: 60 });
    const third = await rotate(id, { gracePeriodSeconds: 60 });
    expectSignedBy(await deliver(id), third, second);
    // Without a grace period it ends every old secret.
    expectSignedBy(await deliver(id), third, second);
    const fourth = await rotate(id);
    expectSignedBy(await deliver(id), fourth, null);
    expect(await readPrevious(id)).toEqual({ sealed: null, until: null });
  });

  it('is not spoiled by an old secret that cannot be decrypted', async () => {
    const { id } = await subscribe();
    const rotated = await rotate(id, { gracePeriodSeconds: 60 });
    await server.database.db.sql`update webhook_subscriptions set previous_secret_sealed = '\\x00' where id = ${id}`;
    expectSignedBy(await deliver(id), rotated, null);
  });

  it('with a grace period loses none of 100 deliveries a second at a receiver that verifies either', async () => {
    const TICKS = 30;
    const { id, secret } = await subscribe();
    let known = secret;
    let refused = 0;
    receiver.answer = (delivery) => {
      if (isGenuine(delivery, known)) return 200;
      refused++;
      return 401;
    };
    let rotated = '';
    const from = Date.now();
    for (let tick = 0; tick < TICKS; tick++) {
      await sleep(Math.max(0, from + tick * 100 - Date.now()));
      if (tick === 10) rotated = await rotate(id, { gracePeriodSeconds: 60 });
      // A second later the receiver has the new secret, and only that.
      if (tick === 20) known = rotated;
      await detectBots(10);
    }
    const countDelivered = async () =>
      Number(
        (
          await server.database.db.sql`
            select count(*) from webhook_deliveries where integration_id = ${tenant.id} and status = 'Delivered' and attempts = 1`
        )[0]!.count,
      );
    await waitUntil(async () => (await countDelivered()) === TICKS * 10);
    expect(refused).toBe(0);
    const previous = receiver.received.filter(({ headers }) => headers['x-webhook-signature-previous']);
    expect(previous.length).toBeGreaterThan(100);
  });
});
