import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ReceivedDelivery, readBody, verifyWebhook } from '../../clients/typescript/src/webhooks';
import { signPayload } from '../../server/webhooks/signature';
import { scoredSession } from '../support/facts';
import { POLL_LIMIT_MS } from '../support/limits.mjs';
import { type Received, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { copyPrograms, type InstalledPackage } from './installed-package';

/** Longer than a second, so that the second attempt has another timestamp. */
const RETRY_DELAYS = '0s,1200ms,1200ms,1200ms,1200ms,1200ms';

const FRAMEWORKS = ['express', 'fastify', 'next'] as const;

interface Line {
  framework: string;
  isFailing: boolean;
  type: string;
  payload: Record<string, unknown>;
  deliveryId: string;
  webhookId: string;
  sentAt: string;
}

/** Deliveries of the server to handlers of the three frameworks, which run with the installed client in a separate process. */
export function describeDeliveries(getClient: () => InstalledPackage): void {
  let receivers: ChildProcess;
  let addresses: Record<string, string>;
  const lines: Line[] = [];
  let plain: Receiver;
  let server: TestServer;
  let tenant: { id: string; key: string };

  beforeAll(async () => {
    const client = getClient();
    await copyPrograms(client, ['receivers.mjs']);
    receivers = spawn(process.execPath, [join(client.home, 'receivers.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
    const output = createInterface({ input: receivers.stdout! });
    addresses = JSON.parse((await once(output, 'line'))[0]);
    output.on('line', (line) => lines.push(JSON.parse(line)));
    plain = await startReceiver();
    const hosts = [...FRAMEWORKS.map((name) => addresses[name]!), plain.url].map((url) => new URL(url).host);
    const settings = { WEBHOOK_ALLOW_HOSTS: hosts.join(','), WEBHOOK_RETRY_DELAYS: RETRY_DELAYS };
    server = await startTestServer(settings);
  });
  beforeEach(async () => {
    lines.length = 0;
    plain.received.length = 0;
    tenant = await server.createTenant();
  });
  afterAll(async () => {
    receivers.kill();
    await server.stop();
    await plain.stop();
  });

  const post = async (path: string, body?: unknown) => {
    const answer = await server.call('POST', path, { key: tenant.key, body });
    expect([path, answer.status, answer.body.error]).toEqual([path, 200, undefined]);
    return answer.body.data;
  };
  const subscribe = (url: string) => post('/v1/webhooks', { url, eventType: 'BotDetected' });
  const rotate = (id: string, body?: object) => post(`/v1/webhooks/${id}/rotate-secret`, body);
  const test = (id: string) => post(`/v1/webhooks/${id}/test`);
  const detectBot = async () => {
    const { sessionId, facts } = scoredSession(0.93);
    await server.ingest(tenant.id, facts);
    return sessionId;
  };
  const instruct = (secrets: string[], failures = 0) =>
    fetch(addresses.control!, { method: 'POST', body: JSON.stringify({ secrets, failures }) });
  const waitForLines = (count: number) =>
    waitUntil(
      () => lines.length >= count,
      POLL_LIMIT_MS,
      () => `${lines.length} of ${count} lines`,
    );
  const send = async (url: string, { headers, body }: Pick<Received, 'headers' | 'body'>) => {
    const sent = { ...headers, host: undefined, connection: undefined, 'content-length': undefined };
    const entries = Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return (await fetch(url, { method: 'POST', headers: Object.fromEntries(entries), body })).status;
  };
  /** What the server really sent to a plain receiver. */
  async function captureDelivery(gracePeriodSeconds?: number) {
    const { id, secret: old } = await subscribe(plain.url);
    const { secret } = gracePeriodSeconds ? await rotate(id, { gracePeriodSeconds }) : { secret: old };
    await detectBot();
    const [delivery] = await plain.waitFor(1);
    return { secret, old, delivery: delivery! };
  }

  describe.each(FRAMEWORKS)('a receiver with %s', (framework) => {
    it('takes a delivery and a test, each with its type', async () => {
      const { id, secret } = await subscribe(`${addresses[framework]}/hook`);
      await instruct([secret]);
      expect(await test(id)).toMatchObject({ status: 'Delivered', responseCode: 204 });
      const sessionId = await detectBot();
      await waitForLines(2);
      const [tested, detected] = lines;
      expect(tested).toMatchObject({
        framework,
        type: 'TestDelivery',
        webhookId: id,
        payload: { data: { test: true } },
      });
      expect(detected).toMatchObject({ type: 'BotDetected', webhookId: id, payload: { sessionId, botScore: 0.93 } });
      expect(detected!.deliveryId).toMatch(/^dlv_/);
    });

    it('gets a delivery again, with a new signature, if it could not store it', async () => {
      const { secret } = await subscribe(`${addresses[framework]}/hook`);
      await instruct([secret], 1);
      await detectBot();
      await waitForLines(2);
      const [first, second] = lines;
      expect([first!.isFailing, second!.isFailing]).toEqual([true, false]);
      expect(second!.deliveryId).toBe(first!.deliveryId);
      expect(Date.parse(second!.sentAt)).toBeGreaterThan(Date.parse(first!.sentAt));
    });

    it('takes both secrets in a rotation, and refuses the old one after it', async () => {
      const { id, secret } = await subscribe(`${addresses[framework]}/hook`);
      const { secret: graced } = await rotate(id, { gracePeriodSeconds: 600 });
      for (const known of [secret, graced]) {
        await instruct([known]);
        expect(await test(id)).toMatchObject({ status: 'Delivered' });
      }
      const { secret: last } = await rotate(id);
      for (const known of [secret, graced]) {
        await instruct([known]);
        expect(await test(id)).toMatchObject({ status: 'PermanentFailure', responseCode: 401 });
      }
      await instruct([graced, last]);
      expect(await test(id)).toMatchObject({ status: 'Delivered' });
    });

    it('answers 401 and 400 to what is not genuine', async () => {
      const { secret, delivery } = await captureDelivery();
      const url = `${addresses[framework]}/hook`;
      await instruct([secret]);
      const { headers, body } = delivery;
      expect(await send(url, delivery)).toBe(204);
      expect(await send(url, { headers, body: body.replace('0.93', '0.94') })).toBe(401);
      expect(await send(url, { headers, body: `${body} ` })).toBe(401);
      expect(await send(url, { headers, body: '' })).toBe(401);
      expect(await send(url, { headers, body: ' '.repeat(2 ** 20 - 10) + body })).toBe(400);
      expect(await send(url, { headers: { ...headers, 'x-webhook-signature': undefined }, body })).toBe(400);
      expect(await send(url, { headers: sign(secret, body, -301), body })).toBe(401);
      expect(await send(url, { headers: sign(secret, '[]', 0), body: '[]' })).toBe(400);
      await instruct(['whsec_another']);
      expect(await send(url, delivery)).toBe(401);
      // A mistake of the receiver must not lose deliveries.
      await instruct([]);
      expect(await send(url, delivery)).toBe(500);
      expect(lines).toHaveLength(1);
    });
  });

  it('a receiver with Express takes the body of express.raw, and says that express.json came before it', async () => {
    const { secret, delivery } = await captureDelivery();
    await instruct([secret]);
    expect(await send(`${addresses.express}/raw`, delivery)).toBe(204);
    expect(await send(`${addresses.express}/parsed`, delivery)).toBe(500);
    expect(lines).toHaveLength(1);
  });

  it('a receiver with Fastify leaves parsed JSON to the other routes', async () => {
    const answer = await fetch(`${addresses.fastify}/echo`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(await answer.json()).toEqual({ type: 'object' });
  });

  it('a receiver copies a body that comes in small chunks a few times, not for each chunk', async () => {
    const { readBody: read } = await getClient().load<{ readBody: typeof readBody }>('webhooks');
    async function* send() {
      for (let sent = 0; sent < 2 ** 20; sent += 256) yield new Uint8Array(256).fill(sent / 256);
    }
    const set = vi.spyOn(Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array, 'set');
    const body = await read(send());
    const copied = set.mock.calls.reduce((sum, [bytes]) => sum + bytes.length, 0);
    set.mockRestore();
    expect(body).toHaveLength(2 ** 20);
    expect([body![255], body![256], body!.at(-1)]).toEqual([0, 1, 255]);
    expect(copied).toBeLessThan(4 * 2 ** 20);
  });

  describe('verifyWebhook', () => {
    let verify: typeof verifyWebhook;
    let captured: Awaited<ReturnType<typeof captureDelivery>>;
    let sentMs: number;
    beforeAll(async () => {
      ({ verifyWebhook: verify } = await getClient().load<{ verifyWebhook: typeof verifyWebhook }>('webhooks'));
      tenant = await server.createTenant();
      captured = await captureDelivery(3_600);
      sentMs = Number(captured.delivery.headers['x-webhook-timestamp']) * 1000;
    });

    type Change = Partial<Parameters<typeof verifyWebhook>[0]>;
    const attempt = (change: Change): Promise<ReceivedDelivery | string> =>
      verify({
        body: captured.delivery.body,
        headers: captured.delivery.headers,
        secrets: [captured.secret],
        nowMs: sentMs,
        ...change,
      }).catch(({ name, reason, status }) => (reason ? `${status} ${reason}` : name));
    const headersWith = (change: Record<string, string | undefined>) => ({ ...captured.delivery.headers, ...change });

    it.each<[string, () => Change]>([
      ['text', () => ({})],
      ['bytes', () => ({ body: new TextEncoder().encode(captured.delivery.body) })],
      ['bytes of Node', () => ({ body: Buffer.from(captured.delivery.body) })],
      ['headers of fetch', () => ({ headers: new Headers(captured.delivery.headers as Record<string, string>) })],
      [
        'headers in capitals',
        () => ({
          headers: Object.fromEntries(
            Object.entries(captured.delivery.headers).map(([name, value]) => [name.toUpperCase(), value]),
          ),
        }),
      ],
      [
        'headers in lists, as of headersDistinct',
        () => ({
          headers: Object.fromEntries(
            Object.entries(captured.delivery.headers).map(([name, value]) => [name, [value].flat() as string[]]),
          ),
        }),
      ],
      ['the old secret in the grace period', () => ({ secrets: [captured.old] })],
      ['one of several secrets', () => ({ secrets: ['whsec_another', captured.secret] })],
      ['300 seconds later', () => ({ nowMs: sentMs + 300_000 })],
      ['300 seconds earlier', () => ({ nowMs: sentMs - 300_000 })],
    ])('takes a delivery: %s', async (_name, change) => {
      expect(await attempt(change())).toMatchObject({ type: 'BotDetected', payload: { botScore: 0.93 } });
    });

    it.each<[string, string, () => Change]>([
      ['stale', '401 stale', () => ({ nowMs: sentMs + 300_001 })],
      ['of the future', '401 stale', () => ({ nowMs: sentMs - 300_001 })],
      ['with a changed byte', '401 bad-signature', () => ({ body: captured.delivery.body.replace('3', '4') })],
      ['with a further byte', '401 bad-signature', () => ({ body: `${captured.delivery.body}\n` })],
      [
        'with another timestamp',
        '401 bad-signature',
        () => ({ headers: headersWith({ 'x-webhook-timestamp': `${sentMs / 1000 + 1}` }) }),
      ],
      ['with another secret', '401 bad-signature', () => ({ secrets: ['whsec_another'] })],
      [
        'with the old secret, without its signature',
        '401 bad-signature',
        () => ({ secrets: [captured.old], headers: headersWith({ 'x-webhook-signature-previous': undefined }) }),
      ],
      [
        'with a signature in capitals',
        '401 bad-signature',
        () => ({
          headers: headersWith({
            'x-webhook-signature': String(captured.delivery.headers['x-webhook-signature']).toUpperCase(),
          }),
        }),
      ],
      ['with an empty signature', '401 bad-signature', () => ({ headers: headersWith({ 'x-webhook-signature': '' }) })],
      ...[...'signature timestamp id event delivery-id'.split(' ')].map((name): [string, string, () => Change] => [
        `without x-webhook-${name}`,
        '400 missing-header',
        () => ({ headers: headersWith({ [`x-webhook-${name}`]: undefined }) }),
      ]),
      [
        'with a timestamp that is none',
        '400 missing-header',
        () => ({ headers: headersWith({ 'x-webhook-timestamp': '1e9' }) }),
      ],
      ['without secrets', 'TypeError', () => ({ secrets: [] })],
      ['with an empty secret', 'TypeError', () => ({ secrets: [captured.secret, ''] })],
      ['as parsed JSON', 'TypeError', () => ({ body: JSON.parse(captured.delivery.body) })],
    ])('refuses a delivery %s: %s', async (_name, refusal, change) => {
      expect(await attempt(change())).toBe(refusal);
    });

    it('tells a test by its body, which is signed, and not by its headers', async () => {
      expect(await attempt({ headers: headersWith({ 'x-webhook-test': 'true' }) })).toMatchObject({
        type: 'BotDetected',
      });
    });
  });
}

/** Headers of a delivery that the server's own signer signs. */
function sign(secret: string, body: string, afterSeconds: number): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000) + afterSeconds);
  return {
    'content-type': 'application/json',
    'x-webhook-event': 'BotDetected',
    'x-webhook-id': 'whk_1',
    'x-webhook-delivery-id': 'dlv_1',
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': signPayload(secret, timestamp, body),
  };
}
