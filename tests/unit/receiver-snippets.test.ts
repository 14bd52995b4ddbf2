import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { createSecrets } from '../../server/platform/secrets';
import { attemptDelivery, nameSecretContext } from '../../server/webhooks/attempt';
import { createWebhookClient, type PostRequest } from '../../server/webhooks/http-client';
import { createWebhookSecret, signPayload } from '../../server/webhooks/signature';
import { readBlocks } from '../support/documents';
import { findFreePort } from '../support/ports';
import { waitUntil } from '../support/receiver';
import vectors from '../vectors/signature.json';

// Runs the code that customers paste from docs/webhooks.md, exactly as printed.

const blocks = readBlocks('docs/webhooks.md');
const findProgram = (name: string) => blocks.find((block) => block.name === name)?.code;
const [nodeVerifier, nodeReceiver, pythonVerifier, pythonReceiver] = [
  ...['verify-webhook.mjs', 'receiver.mjs', 'verify_webhook.py', 'receiver.py'],
].map(findProgram);

const directory = mkdtempSync(join(tmpdir(), 'receiver-snippets-'));
afterAll(() => rmSync(directory, { recursive: true }));
const write = (name: string, text: string) => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};

interface Case {
  name: string;
  secret: string;
  /** Null if the header is missing. */
  timestamp: string | null;
  signature: string | null;
  body: Buffer;
  /** Null uses the clock. */
  now: number | null;
  isValid: boolean;
}

const { secret, timestamp } = vectors;
const NOW = Number(timestamp);
const BODY = '{"botScore":0.91,"name":"Zoë 🪝"}';
/** Genuine, but larger than any delivery: who has no secret can send as much. */
const LARGE = JSON.stringify({ name: 'x'.repeat(2 ** 20) });
const signBytes = (body: Buffer, key = secret, at = timestamp) =>
  `sha256=${createHmac('sha256', key).update(`${at}.`).update(body).digest('hex')}`;
const SIGNATURE = signBytes(Buffer.from(BODY));
const good = { secret, timestamp, signature: SIGNATURE, body: Buffer.from(BODY), now: NOW, isValid: true };
const accepted = (name: string, change: Partial<Case> = {}): Case => ({ name, ...good, ...change });
const refused = (name: string, change: Partial<Case>): Case => ({ name, ...good, ...change, isValid: false });
const at = (seconds: number) => String(seconds);
const clock = at(Math.floor(Date.now() / 1000));
const BYTES = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0xc3, 0x28, 0x0a, 0x7d]);
const newSecret = createWebhookSecret();

const CASES: Case[] = [
  ...vectors.vectors.map(({ body, signature }) =>
    accepted(`the shared vector ${JSON.stringify(body)}`, { body: Buffer.from(body), signature }),
  ),
  accepted('a body with non-Latin scripts and symbols'),
  accepted('a signature of the product with another secret', {
    secret: newSecret,
    signature: signPayload(newSecret, timestamp, BODY),
  }),
  accepted('bytes that are not UTF-8', { body: BYTES, signature: signBytes(BYTES) }),
  accepted('a body of a megabyte', {
    body: Buffer.alloc(1_000_000, 'é'),
    signature: signBytes(Buffer.alloc(1_000_000, 'é')),
  }),
  accepted('a timestamp 300 seconds old', { now: NOW + 300 }),
  accepted('a timestamp 300 seconds ahead', { now: NOW - 300 }),
  accepted('the current time, by the clock', {
    timestamp: clock,
    signature: signPayload(secret, clock, BODY),
    now: null,
  }),
  refused('a timestamp 301 seconds old', { now: NOW + 301 }),
  refused('a timestamp 301 seconds ahead', { now: NOW - 301 }),
  refused('a timestamp years old, by the clock', { now: null }),
  refused('another timestamp', { timestamp: at(NOW + 1) }),
  refused('another body', { body: Buffer.from(BODY.replace('0.91', '0.19')) }),
  refused('a body with an extra space', { body: Buffer.from(`${BODY} `) }),
  refused('a truncated body', { body: Buffer.from(BODY).subarray(0, -1) }),
  refused('an empty body', { body: Buffer.alloc(0) }),
  refused('a body whose invalid UTF-8 was replaced', {
    body: Buffer.from(BYTES.toString('utf8')),
    signature: signBytes(BYTES),
  }),
  refused('another secret', { secret: `${secret}x` }),
  refused('a secret without its prefix', { secret: secret.replace('whsec_', '') }),
  refused('a signature with one digit changed', { signature: SIGNATURE.replace(/.$/, (c) => (c === '0' ? '1' : '0')) }),
  refused('uppercase hex', { signature: `sha256=${SIGNATURE.slice(7).toUpperCase()}` }),
  refused('a signature without its prefix', { signature: SIGNATURE.slice(7) }),
  refused('another algorithm’s prefix', { signature: SIGNATURE.replace('sha256', 'sha512') }),
  refused('a prefix in uppercase', { signature: SIGNATURE.replace('sha256', 'SHA256') }),
  refused('a truncated signature', { signature: SIGNATURE.slice(0, -2) }),
  refused('a signature with extra digits', { signature: `${SIGNATURE}00` }),
  refused('two signatures in one header', { signature: `${SIGNATURE}, ${SIGNATURE}` }),
  refused('a signature with a character that is not hex', { signature: SIGNATURE.replace(/.$/, 'é') }),
  refused('an empty signature', { signature: '' }),
  refused('only the prefix', { signature: 'sha256=' }),
  refused('no signature', { signature: null }),
  refused('no timestamp', { timestamp: null }),
  refused('neither signature nor timestamp', { timestamp: null, signature: null }),
  refused('a signature over an empty timestamp', {
    timestamp: '',
    signature: signBytes(Buffer.from(BODY), secret, ''),
  }),
  ...[
    'NaN',
    '-1',
    '1e9',
    `${NOW}.0`,
    ` ${NOW}`,
    `${NOW}\n`,
    `0x${NOW.toString(16)}`,
    '9'.repeat(5_000),
    '١٦٧٤٠٨٧٢٣١',
  ].map((odd) =>
    refused(`the timestamp ${JSON.stringify(odd.slice(0, 20))}, with a valid signature`, {
      timestamp: odd,
      signature: signBytes(Buffer.from(BODY), secret, odd),
    }),
  ),
];

describe('the page', () => {
  it('has the snippets', () => {
    expect([nodeVerifier, nodeReceiver, pythonVerifier].map((code) => typeof code)).toEqual(Array(3).fill('string'));
    expect(nodeVerifier!.match(/from '(.+)'/g)).toEqual(["from 'node:crypto'"]);
    expect(nodeVerifier).toContain('timingSafeEqual(');
    expect(pythonVerifier).toContain('hmac.compare_digest(');
    expect(readFileSync('README.md', 'utf8')).toContain('(docs/webhooks.md)');
  });
});

it('a delivery has the headers that the page lists', async () => {
  const { headers } = await captureDelivery();
  expect(Object.keys(headers).sort()).toEqual([
    'content-type',
    'user-agent',
    'webhook-id',
    'webhook-signature',
    'webhook-timestamp',
    'x-webhook-delivery-id',
    'x-webhook-event',
    'x-webhook-id',
    'x-webhook-signature',
    'x-webhook-test',
    'x-webhook-timestamp',
  ]);
});

/** Captures what the product sends for a test delivery, which has every header. */
async function captureDelivery(url = 'http://hooks.example.com/', key = secret, payload = BODY): Promise<PostRequest> {
  const secrets = createSecrets(Buffer.alloc(32));
  const owner = { integrationId: 'int_1', subscriptionId: 'whk_1' };
  const requests: PostRequest[] = [];
  const client = {
    post: async (request: PostRequest) => {
      requests.push(request);
      return { kind: 'aborted' as const };
    },
    get: async () => ({ kind: 'aborted' as const }),
    close: async () => {},
  };
  await attemptDelivery(
    { secrets, client, retryDelaysMs: [0], timeoutMs: 1_000 },
    {
      ...owner,
      deliveryId: 'dlv_1',
      lease: 'a',
      leaseOwner: null,
      attempt: 1,
      eventType: 'BotDetected',
      payload,
      url,
      secretSealed: secrets.seal(key, nameSecretContext(owner.integrationId, owner.subscriptionId)),
      previousSecretSealed: null,
      isTest: true,
    },
    new AbortController().signal,
  );
  return requests[0]!;
}

/** Sends a part of a request and closes the connection, as anybody can. Resolves when the receiver has noticed. */
async function breakOff(host: string): Promise<void> {
  const socket = connect(Number(host.split(':')[1]), '127.0.0.1');
  await once(socket, 'connect');
  socket.end('POST / HTTP/1.1\r\nHost: receiver\r\nContent-Length: 100\r\n\r\nhalf of it');
  await once(socket.resume(), 'close');
}

describe('the Node snippet', () => {
  type Verify = (secret: string, headers: Record<string, string>, body: Buffer, now?: number) => boolean;
  const load = async (): Promise<{ verifyWebhook: Verify }> =>
    import(/* @vite-ignore */ pathToFileURL(write('verify-webhook.mjs', nodeVerifier!)).href);

  it.each(CASES)('gives $isValid for $name', async (each) => {
    const { verifyWebhook } = await load();
    const headers = {
      ...(each.timestamp === null ? {} : { 'x-webhook-timestamp': each.timestamp }),
      ...(each.signature === null ? {} : { 'x-webhook-signature': each.signature }),
    };
    expect(verifyWebhook(each.secret, headers, each.body, each.now ?? undefined)).toBe(each.isValid);
  });

  it.each([
    { name: 'with one secret', secrets: newSecret, rotating: '', refusal: 401 },
    { name: 'during a rotation of the secret', secrets: `whsec_new,${newSecret}`, rotating: '1', refusal: 503 },
  ])('in a receiver takes a delivery once, refuses all else, and survives a broken request, $name', async (each) => {
    write('verify-webhook.mjs', nodeVerifier!);
    const child = spawn(process.execPath, [write('receiver.mjs', nodeReceiver!)], {
      env: { NODE_ENV: 'test', PORT: '0', WEBHOOK_SECRETS: each.secrets, ROTATING: each.rotating },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    try {
      await once(child.stdout, 'data');
      const host = `127.0.0.1:${/listening (\d+)/.exec(printed)![1]}`;
      const client = createWebhookClient({ allowedHosts: new Set([host]) });
      const request = await captureDelivery(`http://${host}/`, newSecret);
      const post = async (change: Partial<PostRequest> = {}) => {
        const result = await client.post({ ...request, signal: undefined, timeoutMs: 5_000, ...change });
        return result.kind === 'response' ? result.status : result.kind;
      };
      expect([await post(), await post(), await post({ body: `${BODY} ` })]).toEqual([204, 204, each.refusal]);
      expect(await post({ headers: {} })).toBe(each.refusal);
      await breakOff(host);
      expect(await post()).toBe(204);
      expect(await post(await captureDelivery(`http://${host}/`, newSecret, LARGE))).toBe(each.refusal);
      await client.close();
    } finally {
      child.kill();
      await once(child, 'close');
    }
    expect(printed.match(/^BotDetected /gm)).toHaveLength(1);
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

describe.skipIf(!hasPython)(`the Python snippet${hasPython ? '' : ' (skipped: there is no python3 here)'}`, () => {
  const RUNNER = `
import base64, email.message, json, sys
from verify_webhook import verify_webhook
results = []
for case in json.load(sys.stdin):
    headers = email.message.Message() # of http.server: names in any case
    for name in ("timestamp", "signature"):
        if case[name] is not None:
            headers["x-WEBHOOK-" + name] = case[name]
    try:
        results.append(verify_webhook(case["secret"], headers, base64.b64decode(case["body"]), case["now"]))
    except Exception as error:
        results.append(repr(error))
json.dump(results, sys.stdout)
`;
  let results: unknown[] | undefined;
  /** Runs all cases in one process. */
  function run(): unknown[] {
    write('verify_webhook.py', pythonVerifier!);
    const input = JSON.stringify(CASES.map((each) => ({ ...each, body: each.body.toString('base64') })));
    return JSON.parse(execFileSync('python3', [write('runner.py', RUNNER)], { input, encoding: 'utf8' }));
  }

  it.each(CASES.map((each, index) => ({ ...each, index })))('gives $isValid for $name', ({ index, isValid }) => {
    results ??= run();
    expect(results[index]).toBe(isValid);
  });

  it('in a receiver takes a delivery, and reads no body of over 1 MiB', async () => {
    write('verify_webhook.py', pythonVerifier!);
    const port = await findFreePort();
    const child = spawn('python3', [write('receiver.py', pythonReceiver!)], {
      env: { NODE_ENV: 'test', PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRETS: newSecret },
      stdio: 'ignore',
    });
    const url = `http://127.0.0.1:${port}/`;
    const client = createWebhookClient({ allowedHosts: new Set([`127.0.0.1:${port}`]) });
    const post = async (payload: string) => {
      const request = await captureDelivery(url, newSecret, payload);
      const result = await client.post({ ...request, signal: undefined, timeoutMs: 5_000 });
      return result.kind === 'response' ? result.status : result.kind;
    };
    try {
      await waitUntil(async () => (await post(BODY)) === 204);
      // It may close the connection before the answer is read.
      expect([401, 'network']).toContain(await post(LARGE));
      expect(await post(BODY)).toBe(204);
    } finally {
      await client.close();
      child.kill();
      await once(child, 'close');
    }
  });
});
