import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWebhookSecret } from '../../server/webhooks/signature';
import { installPythonTools } from '../support/generators/python-tools';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// Public verification libraries of Standard Webhooks accept what the product sends, with the secret as it is shown. The two share
// no code.

interface Request {
  secret: string;
  headers: Record<string, string>;
  body: string;
}

let server: TestServer;
let receiver: Receiver;
let python: string | Error;
let tenant: { key: string };
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
  tenant = await server.createTenant();
  python = await installPythonTools('tests/support/standard-webhooks/requirements.txt').then(
    (tools) => join(tools, 'bin/python'),
    (error: Error) => error,
  );
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const post = async (path: string, body: object = {}) =>
  (await server.call('POST', `/v1/webhooks${path}`, { key: tenant.key, body })).body.data;

/** Sends a delivery, and another one in the grace period of a rotation. */
async function captureDeliveries() {
  receiver.received.length = 0;
  const { id, secret } = await post('', { url: receiver.url, eventType: 'BotDetected' });
  await post(`/${id}/test`);
  const rotated = (await post(`/${id}/rotate-secret`, { gracePeriodSeconds: 60 })).secret;
  await post(`/${id}/test`);
  const [first, second] = receiver.received.map(({ headers, body }) => ({
    headers: headers as Record<string, string>,
    body,
  }));
  return { secret, rotated, first: first!, second: second! };
}

const verifyInNode = (requests: Request[]) =>
  requests.map(({ secret, headers, body }) => {
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return false;
      throw error;
    }
  });
const verifyInPython = (requests: Request[]): boolean[] =>
  JSON.parse(
    execFileSync(python as string, ['tests/support/standard-webhooks/verify.py'], {
      input: JSON.stringify(requests),
      encoding: 'utf8',
    }),
  );

describe.each([
  ['standardwebhooks for Node', verifyInNode],
  ['standardwebhooks for Python', verifyInPython],
])('%s', (name, verify) => {
  it('accepts deliveries, and in the grace period of a rotation both secrets', async (test) => {
    if (name.endsWith('Python') && python instanceof Error) return test.skip(`no packages: ${python.message}`);
    const { secret, rotated, first, second } = await captureDeliveries();
    const cases: [Request, boolean][] = [
      [{ secret, ...first }, true],
      [{ secret, ...second }, true],
      [{ secret: rotated, ...second }, true],
      [{ secret: rotated, ...first }, false],
      [{ secret: createWebhookSecret(), ...second }, false],
      [{ secret, ...first, body: `${first.body} ` }, false],
      [{ secret, ...first, headers: { ...first.headers, 'webhook-id': 'dlv_other' } }, false],
    ];
    expect(verify(cases.map(([request]) => request))).toEqual(cases.map(([, isGenuine]) => isGenuine));
  });
});
