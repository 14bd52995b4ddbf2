import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { explainAttempt } from '../../app/dashboard/[integrationId]/webhooks/attempt-faults';
import { toErrorCode } from '../../server/webhooks/attempt';
import type { Resolve } from '../../server/webhooks/checked-connection';
import { createWebhookClient, type PostResult } from '../../server/webhooks/http-client';
import { judgeAttempt } from '../../server/webhooks/retry-schedule';
import { detours, resetConnector, SILENT, trust } from '../support/connector';
import { answer, type Reply, startRawReceiver } from '../support/raw-receiver';

// From a receiver that does something wrong to the code that is stored with the attempt and the sentences that staff read.

vi.mock('node:net', async (original) => (await import('../support/connector')).divertNet(await original()));
vi.mock('node:tls', async (original) => (await import('../support/connector')).divertTls(await original()));

const PUBLIC = '1.1.1.1';
const read = (file: string) => readFileSync(`tests/support/certificates/${file}`, 'utf8');
const withCertificate = (name: string, more: TlsOptions = {}): TlsOptions => ({
  ...{ key: read('receiver.key'), cert: read(`${name}.pem`) },
  ...more,
});
const SELF_SIGNED: TlsOptions = { key: read('self-signed.key'), cert: read('self-signed.pem') };
const OLD_TLS: TlsOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  resetConnector();
});

interface Case {
  url?: string;
  tls?: TlsOptions;
  reply?: Reply;
  greet?: (socket: Socket) => void;
  resolve?: Resolve;
  /** Whether nothing listens. */
  isDown?: boolean;
  trusts?: 'authority.pem' | null;
  /** A host and port that may have a private address. */
  allows?: string;
  /** Short where the time is to run out. */
  timeoutMs?: number;
}

const SHORT_MS = 400;

/** Posts to a receiver at a public address and explains what became of it. */
async function explain(given: Case) {
  const {
    url,
    tls,
    reply = () => {},
    greet,
    resolve,
    isDown,
    trusts = 'authority.pem',
    allows,
    timeoutMs = 10_000,
  } = given;
  const receiver = await startRawReceiver(reply, { tls: tls ?? null });
  if (greet) receiver.greet = greet;
  trust.authority = trusts && read(trusts);
  detours.set(PUBLIC, receiver.port);
  if (isDown) receiver.stop();
  const client = createWebhookClient({
    allowedHosts: new Set(allows ? [allows] : []),
    resolve: resolve ?? (async () => [PUBLIC]),
  });
  cleanups.push(
    () => receiver.stop(),
    () => client.close(),
  );
  const target = url ?? `${tls ? 'https' : 'http'}://receiver.test/`;
  const result = await client.post({ url: target, headers: {}, body: '{}', timeoutMs });
  if (result.kind === 'aborted') throw new Error('aborted');
  const { failureClass } = judgeAttempt(result as Exclude<PostResult, { kind: 'aborted' }>, 1, [0, 1]);
  const errorCode = toErrorCode(result);
  const fault = explainAttempt({ errorCode, failureClass });
  return { errorCode, sentence: fault && `${fault.what} ${fault.act}` };
}

const says =
  (text: string): Reply =>
  (socket) =>
    socket.write(text);
const failing =
  (code: string): Resolve =>
  () =>
    Promise.reject(Object.assign(new Error(code), { code }));
const hang = () => new Promise<never>(() => {});

describe('an attempt that fails has a code and a sentence that says what happened and what to do', () => {
  it.each<[string | RegExp, RegExp, Case]>([
    ['ECONNREFUSED', /refused the connection.*Start the receiver/, { isDown: true }],
    [/^(ECONNRESET|UND_ERR_SOCKET)$/, /was cut before an answer.*log/, { reply: (socket) => socket.resetAndDestroy() }],
    [/^(ECONNRESET|UND_ERR_SOCKET)$/, /was cut before an answer/, { reply: (socket) => socket.end() }],
    ['ENOTFOUND', /does not exist.*Correct the URL/, { resolve: failing('ENOTFOUND') }],
    ['EAI_AGAIN', /DNS did not answer.*name servers/, { resolve: failing('EAI_AGAIN') }],
    ['ERR_TIMEOUT_NAME', /look-up.*in time/, { resolve: hang, timeoutMs: SHORT_MS }],
    [
      'ERR_TIMEOUT_CONNECTION',
      /No connection.*firewall/,
      { resolve: async () => [SILENT], allows: 'receiver.test:80', timeoutMs: SHORT_MS },
    ],
    ['ERR_TIMEOUT_ANSWER', /did not answer in time\. Answer at once/, { timeoutMs: SHORT_MS }],
    [
      'ERR_TIMEOUT_BODY',
      /did not end it in time/,
      { reply: says('HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nok'), timeoutMs: SHORT_MS },
    ],
    [
      'CERT_HAS_EXPIRED 2021-01-01T00:00:00.000Z',
      /expired on 1 January 2021\. Renew it\./,
      { tls: withCertificate('expired') },
    ],
    [
      'CERT_NOT_YET_VALID 2120-01-01T00:00:00.000Z',
      /not valid before 1 January 2120/,
      { tls: withCertificate('early') },
    ],
    ['INVALID_PURPOSE', /not one for servers/, { tls: withCertificate('client') }],
    [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      /for another host name/,
      { tls: withCertificate('receiver'), url: 'https://other.test/' },
    ],
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      /cannot be traced.*intermediate/,
      { tls: withCertificate('receiver'), trusts: null },
    ],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /self-signed/, { tls: SELF_SIGNED, trusts: null }],
    [
      'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
      /only HTTP\/2\. Let it speak HTTP\/1\.1 too\.$/,
      { tls: withCertificate('receiver', { ALPNProtocols: ['h2'] }) },
    ],
    [/^(ERR_SSL_\w+|EPROTO)$/, /TLS 1\.2 or 1\.3/, { tls: withCertificate('receiver', OLD_TLS) }],
    [
      /^(ERR_SSL_\w+|EPROTO)$/,
      /handshake failed/,
      {
        url: 'https://receiver.test/',
        greet: (socket) => socket.once('data', () => socket.write('no TLS here\r\n\r\n')),
      },
    ],
    [/^(HPE_\w+|HTTPParserError)$/, /not a complete answer in HTTP/, { reply: says('<html>no</html>') }],
    ['ERR_ENDLESS_ANSWER', /512 KiB/, { reply: says('HTTP/1.1 103 X\r\na: b\r\n\r\n'.repeat(30_000)) }],
    ['ERR_FORBIDDEN_ADDRESS', /private or reserved.*public address/, { resolve: async () => ['10.0.0.1'] }],
    ['ERR_FORBIDDEN_URL', /not one that webhooks may be sent to/, { url: 'http://127.0.0.1/' }],
    ['HTTP_308', /redirect, which is never followed/, { reply: says(answer(308, '', 'location: /x\r\n')) }],
    ['HTTP_401', /present secret/, { reply: says(answer(401)) }],
    ['HTTP_403', /forbidden/, { reply: says(answer(403)) }],
    ['HTTP_404', /Correct the path/, { reply: says(answer(404)) }],
    ['HTTP_405', /accepts no POST/, { reply: says(answer(405)) }],
    ['HTTP_408', /gave up waiting/, { reply: says(answer(408)) }],
    ['HTTP_410', /is gone/, { reply: says(answer(410)) }],
    ['HTTP_413', /too large/, { reply: says(answer(413)) }],
    ['HTTP_422', /refused the request\. Its answer/, { reply: says(answer(422)) }],
    ['HTTP_429', /fewer requests/, { reply: says(answer(429)) }],
    ['HTTP_500', /failed while it handled/, { reply: says(answer(500)) }],
    ['HTTP_502', /cannot reach the receiver/, { reply: says(answer(502)) }],
    ['HTTP_503', /unavailable/, { reply: says(answer(503)) }],
    ['HTTP_504', /takes too long/, { reply: says(answer(504)) }],
    ['HTTP_999', /means nothing to us/, { reply: says(answer(999)) }],
  ])('%s', async (code, sentence, given) => {
    const explained = await explain(given);
    expect(explained.errorCode).toEqual(typeof code === 'string' ? code : expect.stringMatching(code));
    expect(explained.sentence).toMatch(sentence);
  });

  it('but one that is delivered has none', async () => {
    expect(await explain({ reply: says(answer(204)) })).toEqual({ errorCode: null, sentence: null });
  });
});

describe('a code that no receiver here can cause, and an attempt from before codes were kept', () => {
  it.each([
    ['EHOSTUNREACH', 'Network', /no way to the receiver/],
    ['ENETUNREACH', 'Network', /no way to the receiver/],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'Network', /private authority/],
    ['SOMETHING_NEW', 'Network', /No connection came about, or it broke/],
    [null, 'Network', /No connection came about, or it broke/],
    [null, '5xx', /failed while it handled/],
    [null, '4xx', /refused the request/],
    [null, 'Timeout', /did not answer in time/],
    [null, 'RateLimited', /fewer requests/],
    [null, 'BlockedSsrf', /private or reserved/],
    [null, 'HTTP301', /redirect/],
  ])('%s, %s', (errorCode, failureClass, sentence) => {
    expect(explainAttempt({ errorCode, failureClass })?.what).toMatch(sentence);
  });
});
