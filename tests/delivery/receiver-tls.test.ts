import { readFileSync } from 'node:fs';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWebhookClient, type PostResult } from '../../server/webhooks/http-client';
import { judgeAttempt } from '../../server/webhooks/retry-schedule';
import { detours, dialled, resetConnector, trust } from '../support/connector';
import { answer, ok, type RawReceiver, type Reply, startRawReceiver } from '../support/raw-receiver';

// TLS is verified for the URL's host, whatever address was judged and dialled (decisions: URL and address rules). These
// tests trust an authority of their own instead of the public ones.

vi.mock('node:net', async (original) => (await import('../support/connector')).divertNet(await original()));
vi.mock('node:tls', async (original) => (await import('../support/connector')).divertTls(await original()));

const PUBLIC = '1.1.1.1';
const read = (file: string) => readFileSync(`tests/support/certificates/${file}`, 'utf8');
const KEY = read('receiver.key');

const cleanups: (() => unknown)[] = [];
beforeEach(() => {
  trust.authority = read('authority.pem');
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  resetConnector();
});

/** Starts a receiver at a public address that every name resolves to. */
async function setUp(tls: TlsOptions | null, reply: Reply = ok) {
  const receiver = await startRawReceiver(reply, { tls });
  detours.set(PUBLIC, receiver.port);
  const client = createWebhookClient({ allowedHosts: new Set(), resolve: async () => [PUBLIC] });
  cleanups.push(
    () => receiver.stop(),
    () => client.close(),
  );
  const post = (url: string) => client.post({ url, headers: {}, body: '{}', timeoutMs: 5_000 });
  return { receiver, post };
}

const answered: PostResult = { kind: 'response', status: 200, address: PUBLIC, retryAfter: null };
const withCertificate = (name: string): TlsOptions => ({ key: KEY, cert: read(`${name}.pem`) });

function expectRetried(
  result: PostResult,
  reason: string | RegExp,
  receiver: RawReceiver,
  dates: { certificateDate?: string } = {},
) {
  const expected = typeof reason === 'string' ? reason : expect.stringMatching(reason);
  expect(result).toEqual({ kind: 'network', address: PUBLIC, reason: expected, ...dates });
  if (result.kind === 'aborted') throw new Error('aborted');
  expect(judgeAttempt(result, 1, [0, 60_000])).toEqual({
    status: 'Pending',
    failureClass: 'Network',
    retryDelayMs: 60_000,
  });
  expect(receiver.requests).toEqual([]);
}

describe('the connection goes to the judged address', () => {
  it('with the name of the URL in the handshake and in Host', async () => {
    const { receiver, post } = await setUp(withCertificate('receiver'));
    expect(await post('https://Receiver.TEST/hook')).toEqual(answered);
    expect(dialled).toEqual([`${PUBLIC} 443`]);
    const [socket] = receiver.sockets as (TLSSocket & { servername: string | false })[];
    expect(socket!.servername).toBe('receiver.test');
    expect(receiver.requests[0]?.head).toMatch(/^POST \/hook HTTP\/1\.1\r\nhost: receiver\.test\r\n/);
  });

  it('and with the port of the URL', async () => {
    const { receiver, post } = await setUp(withCertificate('receiver'));
    expect(await post('https://receiver.test:80/')).toEqual(answered);
    expect(dialled).toEqual([`${PUBLIC} 80`]);
    expect(receiver.requests[0]?.head).toContain('\r\nhost: receiver.test:80\r\n');
  });

  it('and a wildcard covers one label', async () => {
    const { receiver, post } = await setUp(withCertificate('receiver'));
    expect(await post('https://hooks.wild.test/')).toEqual(answered);
    expect(receiver.requests.length).toBe(1);
    expect(await post('https://a.b.wild.test/')).toMatchObject({ reason: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(receiver.requests.length).toBe(1);
  });
});

describe('an invalid certificate is class Network, retried, and nothing is sent', () => {
  it.each([
    ['expired', 'https://receiver.test/', 'CERT_HAS_EXPIRED', { certificateDate: '2021-01-01T00:00:00.000Z' }],
    ['early', 'https://receiver.test/', 'CERT_NOT_YET_VALID', { certificateDate: '2120-01-01T00:00:00.000Z' }],
    ['client', 'https://receiver.test/', 'INVALID_PURPOSE'],
    ['receiver', 'https://other.test/', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['receiver', 'https://receiver.test.example/', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['receiver', `https://${PUBLIC}/`, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ] as [string, string, string, object?][])('%s.pem for %s', async (certificate, url, reason, dates) => {
    const { receiver, post } = await setUp(withCertificate(certificate));
    expectRetried(await post(url), reason, receiver, dates);
  });

  it('one by an unknown authority', async () => {
    trust.authority = null;
    const { receiver, post } = await setUp(withCertificate('receiver'));
    expectRetried(await post('https://receiver.test/'), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', receiver);
  });
});

describe('a failed handshake is class Network, retried', () => {
  it('if the receiver supports no version after TLS 1.1', async () => {
    const old: TlsOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    const { receiver, post } = await setUp({ ...withCertificate('receiver'), ...old });
    expectRetried(await post('https://receiver.test/'), /^(EPROTO|ECONNRESET|ERR_SSL_\w+)$/, receiver);
  });

  it.each<[string, RegExp, (receiver: RawReceiver) => void]>([
    ['is reset', /^ECONNRESET$/, (receiver) => receiver.sockets[0]?.resetAndDestroy()],
    ['is closed', /^ECONNRESET$/, (receiver) => receiver.sockets[0]?.end()],
    [
      'is answered with text',
      /^(EPROTO|ERR_SSL_\w+)$/,
      (receiver) => receiver.sockets[0]?.write('no TLS here\r\n\r\n'),
    ],
  ])('if it %s', async (_what, reason, act) => {
    const { receiver, post } = await setUp(null, () => {});
    receiver.greet = (socket) => socket.once('data', () => act(receiver));
    expectRetried(await post('https://receiver.test/'), reason, receiver);
  });

  it('and so is plain HTTP to a TLS port', async () => {
    const { receiver, post } = await setUp(withCertificate('receiver'));
    expectRetried(await post('http://receiver.test:443/'), /^(UND_ERR_SOCKET|ECONNRESET|HTTPParserError)$/, receiver);
    expect(dialled).toEqual([`${PUBLIC} 443`]);
  });
});

describe('with TLS as without it', () => {
  it('a redirect is not followed', async () => {
    const { receiver, post } = await setUp(withCertificate('receiver'), (socket) =>
      socket.write(answer(308, '', 'location: https://receiver.test/elsewhere\r\n')),
    );
    expect(await post('https://receiver.test/')).toEqual({ ...answered, status: 308 });
    expect([receiver.requests.length, dialled.length]).toEqual([1, 1]);
  });

  it('an endless answer is cut off', async () => {
    const { receiver, post } = await setUp(withCertificate('receiver'), (socket) => {
      const more = () => {
        for (let room = true; room && !socket.destroyed; ) room = socket.write('HTTP/1.1 102 X\r\n\r\n'.repeat(200));
      };
      socket.on('drain', more);
      more();
    });
    expect(await post('https://receiver.test/')).toMatchObject({ kind: 'network', address: PUBLIC });
    expect(receiver.sockets[0]!.bytesWritten).toBeLessThan(16_000_000);
  });

  it('a connection is reused, so there is one handshake', async () => {
    const { receiver, post } = await setUp(withCertificate('receiver'), (socket) =>
      socket.write(answer(200, 'a'.repeat(60_000))),
    );
    for (let n = 0; n < 15; n += 1) expect(await post('https://receiver.test/')).toEqual(answered);
    expect([receiver.sockets.length, dialled.length]).toEqual([1, 1]);
  });
});
