import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { isIP, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AttemptPart, Resolve } from '../../server/webhooks/checked-connection';
import { createWebhookClient, type PostRequest, type PostResult } from '../../server/webhooks/http-client';
import { detours, dialled, resetConnector, SILENT } from '../support/connector';
import { answer, ok, type RawReceiver, type Reply, startRawReceiver } from '../support/raw-receiver';
import vectors from '../vectors/ssrf.json';

vi.mock('node:net', async (original) => (await import('../support/connector')).divertNet(await original()));

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  resetConnector();
  vi.restoreAllMocks();
});

const readPem = (file: string) => readFileSync(`tests/support/certificates/${file}`, 'utf8');
const KEY = readPem('self-signed.key');
const CERTIFICATE = readPem('self-signed.pem');

async function receive(reply: Reply, { host = '127.0.0.1', secure = false } = {}): Promise<RawReceiver> {
  const tls = secure ? { key: KEY, cert: CERTIFICATE, ALPNProtocols: ['h2', 'http/1.1'] } : null;
  const receiver = await startRawReceiver(reply, { host, tls });
  cleanups.push(() => receiver.stop());
  return receiver;
}

function clientFor(allowedHosts: string[], resolve: Resolve = async () => ['127.0.0.1']) {
  const client = createWebhookClient({ allowedHosts: new Set(allowedHosts), resolve });
  cleanups.push(() => client.close());
  return (url: string, request: Partial<PostRequest> = {}): Promise<PostResult> =>
    client.post({ url, headers: {}, body: '{}', timeoutMs: 5_000, ...request });
}

/** Starts one receiver, which is named receiver.test and allowed. */
async function setUp(reply: Reply) {
  const receiver = await receive(reply);
  const url = `http://receiver.test:${receiver.port}/hook`;
  return { receiver, url, post: clientFor([`receiver.test:${receiver.port}`]) };
}

const answered = (status: number, address = '127.0.0.1', retryAfter: string | null = null): PostResult => ({
  kind: 'response',
  status,
  address,
  retryAfter,
});
const refused = (address: string | null): PostResult => ({ kind: 'refused-address', address });
const failed = (reason: string, address: string | null = '127.0.0.1'): PostResult => ({
  kind: 'network',
  address,
  reason,
});
const timedOut = (awaited: AttemptPart, address: string | null = '127.0.0.1'): PostResult => ({
  kind: 'timeout',
  address,
  awaited,
});
/** Resolves when a socket is closed: the client closes its side now, not when the idle time ends. */
async function closed(socket: Socket | undefined): Promise<void> {
  if (!socket || socket.destroyed) return;
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('still open')), 1_000);
    socket.once('close', () => resolve(clearTimeout(late)));
  });
}

describe('the request', () => {
  it('has exactly the given headers, host, connection and content-length, and the bytes of the body', async () => {
    const { receiver, post, url } = await setUp(ok);
    const headers = { 'Content-Type': 'application/json', 'X-Webhook-Signature': `sha256=${'a'.repeat(64)}` };
    const body = '{"name":"Zoë 🪝","id":"\\u0000"}';
    expect(await post(`${url}/%20a/..;?x=user@host&y=é#fragment`, { headers, body })).toEqual(answered(200));
    expect(receiver.requests).toEqual([
      {
        head:
          `POST /hook/%20a/..;?x=user@host&y=%C3%A9 HTTP/1.1\r\nhost: receiver.test:${receiver.port}\r\n` +
          `connection: keep-alive\r\nContent-Type: application/json\r\n` +
          `X-Webhook-Signature: sha256=${'a'.repeat(64)}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`,
        body,
      },
    ]);
  });
  it('may have an empty or a large body', async () => {
    const { receiver, post, url } = await setUp(ok);
    for (const body of ['', 'é'.repeat(500_000)]) {
      expect(await post(url, { body })).toEqual(answered(200));
      expect(receiver.requests.at(-1)?.body === body).toBe(true);
    }
  });
  it('names the host as the URL does, without the default port', async () => {
    const receiver = await receive(ok);
    detours.set('1.1.1.1', receiver.port);
    detours.set('2606:4700::1111', receiver.port);
    const post = clientFor([], async () => ['1.1.1.1']);
    for (const host of ['Example.COM', 'example.com.:80', 'bücher.example', '1.1.1.1', '[2606:4700::1111]']) {
      expect(await post(`http://${host}/`)).toMatchObject({ status: 200 });
    }
    const hosts = receiver.requests.map(({ head }) => /host: (.*)\r/.exec(head)?.[1]);
    expect(hosts).toEqual(['example.com', 'example.com.', 'xn--bcher-kva.example', '1.1.1.1', '[2606:4700::1111]']);
  });
});

describe('the answer', () => {
  it.each([200, 201, 204, 299, 300, 304, 400, 404, 410, 500, 599, 999])('%i is the result', async (status) => {
    const { post, url } = await setUp((socket) => socket.write(answer(status)));
    expect(await post(url)).toEqual(answered(status));
  });
  it.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
    const other = await receive(ok);
    const location = `location: http://127.0.0.1:${other.port}/\r\n`;
    const { receiver, post, url } = await setUp((socket) => socket.write(answer(status, '', location)));
    expect(await post(url)).toEqual(answered(status));
    await sleep(20);
    expect([receiver.requests.length, other.sockets.length]).toEqual([1, 0]);
  });
  it.each([
    ['retry-after: 120\r\n', '120'],
    ['Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n', 'Wed, 21 Oct 2026 07:28:00 GMT'],
    ['retry-after: 1\r\nretry-after: 2\r\n', '1'],
    [`retry-after: ${'9'.repeat(1000)}\r\n`, '9'.repeat(64)],
    ['', null],
  ])('keeps %j', async (header, retryAfter) => {
    const { post, url } = await setUp((socket) => socket.write(answer(429, '', header)));
    expect(await post(url)).toEqual(answered(429, '127.0.0.1', retryAfter));
  });
  it.each([
    ['after informational ones', `HTTP/1.1 102 X\r\n\r\nHTTP/1.1 103 X\r\nretry-after: 7\r\n\r\n${answer(202)}`, 202],
    ['in chunks', 'HTTP/1.1 201 X\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx: y\r\n\r\n', 201],
    ['of HTTP/1.0, ended by the connection', 'HTTP/1.0 203 X\r\n\r\nok', 203],
  ])('%s', async (_how, text, status) => {
    const { post, url } = await setUp((socket) => (status === 203 ? socket.end(text) : socket.write(text)));
    expect(await post(url)).toEqual(answered(status));
  });
  it('may come byte by byte', async () => {
    const { post, url } = await setUp(async (socket) => {
      for (const byte of answer(200, 'ok')) await new Promise((sent) => socket.write(byte, () => setImmediate(sent)));
    });
    expect(await post(url)).toEqual(answered(200));
  });
});

describe('the body of the answer', () => {
  it('is read up to 64 KiB, after which the connection is used again', async () => {
    const { receiver, post, url } = await setUp((socket) => socket.write(answer(200, 'a'.repeat(65_536))));
    for (const _ of [1, 2]) expect(await post(url)).toEqual(answered(200));
    expect(receiver.sockets.length).toBe(1);
  });
  it.each([200, 500])('is dropped with its connection beyond 64 KiB; the status %i counts', async (status) => {
    const { receiver, post, url } = await setUp((socket) => socket.write(answer(status, 'a'.repeat(65_537))));
    for (const _ of [1, 2]) expect(await post(url)).toEqual(answered(status));
    expect(receiver.sockets.length).toBe(2);
  });
  it('may be endless', async () => {
    let sentBytes = 0;
    const { receiver, post, url } = await setUp((socket) => {
      socket.write('HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n');
      const more = () => {
        for (let room = true; room && !socket.destroyed; sentBytes += 4096) {
          room = socket.write(`1000\r\n${'a'.repeat(4096)}\r\n`);
        }
      };
      socket.on('drain', more);
      more();
    });
    expect(await post(url)).toEqual(answered(200));
    await closed(receiver.sockets[0]);
    expect(sentBytes).toBeLessThan(50_000_000);
  });
  it('counts towards the timeout', async () => {
    const { receiver, post, url } = await setUp((socket) => {
      socket.write('HTTP/1.1 200 X\r\ncontent-length: 1000\r\n\r\n');
      const dripping = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(dripping));
    });
    expect(await post(url, { timeoutMs: 150 })).toEqual(timedOut('body'));
    await closed(receiver.sockets[0]);
  });
});

describe('the guard', () => {
  const never: Resolve = async (hostname) => {
    throw new Error(`resolved ${hostname}`);
  };

  it.each(vectors.rejectAddresses)('refuses a name that resolves to %s', async (address) => {
    const post = clientFor([], async () => [address]);
    expect(await post('https://example.com/hook')).toEqual(refused(address));
    expect(await post('http://example.com:80/hook')).toEqual(refused(address));
    expect(dialled).toEqual([]);
  });
  it.each(vectors.rejectAddresses)('refuses the literal %s', async (address) => {
    const post = clientFor([], never);
    expect(await post(`http://${isIP(address) === 6 ? `[${address}]` : address}/`)).toEqual(refused(null));
    expect(dialled).toEqual([]);
  });
  it.each([...vectors.rejectUrls, 'https://example.com:8443/', 'http://127.0.0.1:9000/'])(
    'refuses the URL %j, however it was stored',
    async (url) => {
      expect(await clientFor(['127.0.0.1:9001'], never)(url)).toEqual(refused(null));
      expect(dialled).toEqual([]);
    },
  );
  it.each([
    [['1.1.1.1', '127.0.0.1'], '127.0.0.1'],
    [['10.0.0.1', '1.1.1.1'], '10.0.0.1'],
    [['2606:4700::1111', '1.1.1.1', '::ffff:1.1.1.1'], '::ffff:1.1.1.1'],
    [['1.1.1.1', 'fe80::1%eth0'], 'fe80::1%eth0'],
    [['2606:4700::1111%eth0'], '2606:4700::1111%eth0'],
    [['1.1.1.1', '0x7f.1'], '0x7f.1'],
    [['1.1.1.1', 'localhost'], 'localhost'],
    [['1.1.1.1', ''], ''],
  ])('refuses the answer %j, because one forbidden address is enough', async (addresses, forbidden) => {
    expect(await clientFor([], async () => addresses)('http://example.com/')).toEqual(refused(forbidden));
    expect(dialled).toEqual([]);
  });
  it.each(vectors.allowAddresses)('dials %s itself, never the name', async (address) => {
    const receiver = await receive(ok);
    detours.set(address, receiver.port);
    const resolve = vi.fn<Resolve>(async () => [address]);
    expect(await clientFor([], resolve)('http://example.com/hook')).toEqual(answered(200, address));
    expect(dialled).toEqual([`${address} 80`]);
    expect(resolve.mock.calls).toEqual([['example.com']]);
  });
  it('judges every new connection: a name that rebinds is refused', async () => {
    const receiver = await receive((socket) => socket.end(answer(200, '', 'connection: close\r\n')));
    detours.set('1.1.1.1', receiver.port);
    const answers = [['1.1.1.1'], ['169.254.169.254'], ['1.1.1.1', '10.0.0.1'], ['1.1.1.1']];
    const resolve = vi.fn<Resolve>(async () => answers.shift() ?? []);
    const post = clientFor([], resolve);
    const results: PostResult[] = [];
    for (let n = 0; n < 4; n += 1) results.push(await post('http://example.com/'));
    expect(results).toEqual([
      answered(200, '1.1.1.1'),
      refused('169.254.169.254'),
      refused('10.0.0.1'),
      answered(200, '1.1.1.1'),
    ]);
    expect(dialled).toEqual(['1.1.1.1 80', '1.1.1.1 80']);
    expect(resolve).toHaveBeenCalledTimes(4);
  });
  it('keeps the judged peer on a reused connection, whatever the name resolves to then', async () => {
    const receiver = await receive(ok);
    detours.set('1.1.1.1', receiver.port);
    const answers = [['1.1.1.1'], ['10.0.0.1']];
    const resolve = vi.fn<Resolve>(async () => answers.shift() ?? []);
    const post = clientFor([], resolve);
    for (let n = 0; n < 3; n += 1) expect(await post('http://example.com/')).toEqual(answered(200, '1.1.1.1'));
    expect([resolve.mock.calls.length, dialled.length, receiver.sockets.length]).toEqual([1, 1, 1]);
  });
  it('resolves and judges again after an idle connection was closed', async () => {
    const receiver = await receive(ok);
    detours.set('1.1.1.1', receiver.port);
    const answers = [['1.1.1.1'], ['10.0.0.1']];
    const post = clientFor([], async () => answers.shift() ?? []);
    expect(await post('http://example.com/')).toEqual(answered(200, '1.1.1.1'));
    receiver.sockets[0]?.end();
    await closed(receiver.sockets[0]);
    expect(await post('http://example.com/')).toEqual(refused('10.0.0.1'));
    expect(dialled).toEqual(['1.1.1.1 80']);
  });
  it('keeps an idle connection for a while, or as long as the receiver says', async () => {
    const { receiver, post, url } = await setUp((socket, _request, count) =>
      socket.write(answer(200, '', count === 2 ? 'keep-alive: timeout=2\r\n' : '')),
    );
    const counts: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      await post(url);
      counts.push(receiver.sockets.length);
      await sleep(200);
    }
    expect(counts).toEqual([1, 1, 1, 2]);
  });
  it('replaces a connection after a minute of use, wherever the clock stands', async () => {
    const { receiver, post, url } = await setUp(ok);
    const fromMs = performance.now();
    for (const elapsedMs of [0, 30_000, 61_000, 62_000]) {
      vi.spyOn(performance, 'now').mockReturnValue(fromMs + elapsedMs);
      vi.spyOn(Date, 'now').mockReturnValue(1e12 - elapsedMs);
      expect(await post(url)).toEqual(answered(200));
    }
    expect(receiver.sockets.length).toBe(2);
  });

  it('does not use a connection that a process left before it was frozen', async () => {
    const { receiver, url, post } = await setUp(ok);
    expect(await post(url)).toEqual(answered(200));
    const thawedAtMs = performance.now() + 61_000;
    vi.spyOn(performance, 'now').mockReturnValue(thawedAtMs);
    expect(await post(url)).toEqual(answered(200));
    expect(receiver.sockets.length).toBe(2);
  });

  it('exempts an allowed host and port, and nothing else', async () => {
    const receiver = await receive(ok);
    const post = clientFor([`receiver.test:${receiver.port}`, `127.0.0.1:${receiver.port}`]);
    expect(await post(`http://receiver.test:${receiver.port}/`)).toEqual(answered(200));
    expect(await post(`http://127.1:${receiver.port}/`)).toEqual(answered(200));
    for (const host of ['receiver.test', `other.test:${receiver.port}`, '127.0.0.1', `127.0.0.2:${receiver.port}`]) {
      expect(await post(`http://${host}/`)).toMatchObject({ kind: 'refused-address' });
    }
  });
  it('never dials anything but an address, not even for an allowed host', async () => {
    const post = clientFor(['receiver.test:9000'], async () => ['127.0.0.1', 'localhost']);
    expect(await post('http://receiver.test:9000/')).toEqual(refused('localhost'));
    expect(dialled).toEqual([]);
  });
  it('lets the operating system resolve by default', async () => {
    const receiver = await receive(ok);
    const client = createWebhookClient({ allowedHosts: new Set([`localhost:${receiver.port}`]) });
    cleanups.push(() => client.close());
    const request = { headers: {}, body: '', timeoutMs: 5_000 };
    expect(await client.post({ url: `http://localhost:${receiver.port}/`, ...request })).toEqual(answered(200));
  });
});

describe('several addresses', () => {
  it('are tried in turn', async () => {
    const receiver = await receive(ok, { host: '::1' });
    const post = clientFor([`receiver.test:${receiver.port}`], async () => ['127.0.0.1', '::1']);
    expect(await post(`http://receiver.test:${receiver.port}/`)).toEqual(answered(200, '::1'));
    expect(dialled).toEqual([`127.0.0.1 ${receiver.port}`, `::1 ${receiver.port}`]);
  });
  it('share the time: 3 s to connect if another address follows, the whole time for the last one and for the answer', async () => {
    const withAddresses = async (addresses: string[], reply: Reply) => {
      const receiver = await receive(reply);
      const post = clientFor([`receiver.test:${receiver.port}`], async () => addresses);
      return post(`http://receiver.test:${receiver.port}/`, { timeoutMs: 4_000 });
    };
    const slowHeaders: Reply = (socket) => setTimeout(() => socket.write(answer(201)), 3_300);
    const slowBody: Reply = (socket) => {
      socket.write('HTTP/1.1 202 X\r\ncontent-length: 2\r\n\r\n');
      setTimeout(() => socket.write('ok'), 3_300);
    };
    const results = await Promise.all([
      withAddresses([SILENT, '127.0.0.1'], ok),
      withAddresses([SILENT], ok),
      withAddresses(['127.0.0.1', SILENT], slowHeaders),
      withAddresses(['127.0.0.1', SILENT], slowBody),
    ]);
    expect(results).toEqual([answered(200), timedOut('connection', SILENT), answered(201), answered(202)]);
  });
  it('share one look-up while it runs', async () => {
    const receiver = await receive(ok);
    const resolve = vi.fn<Resolve>(async () => {
      await sleep(20);
      return ['127.0.0.1'];
    });
    const post = clientFor([`receiver.test:${receiver.port}`], resolve);
    const url = `http://receiver.test:${receiver.port}/`;
    for (const result of await Promise.all([post(url), post(url), post(url)])) expect(result).toEqual(answered(200));
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(receiver.sockets.length).toBe(3);
  });
});

describe('the timeout', () => {
  const hang = () => new Promise<never>(() => {});
  it.each([
    ['a look-up', (): Resolve => hang, timedOut('name', null)],
    ['a connection', (): Resolve => async () => [SILENT], timedOut('connection', SILENT)],
    ['the last of several', (): Resolve => async () => ['127.0.0.1', SILENT], timedOut('connection', SILENT)],
  ])('covers %s that hangs', async (_what, resolve, result) => {
    const startedAt = performance.now();
    expect(await clientFor(['receiver.test:1'], resolve())('http://receiver.test:1/', { timeoutMs: 100 })).toEqual(
      result,
    );
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
  it('covers a TLS handshake that hangs', async () => {
    const receiver = await receive(() => {});
    const post = clientFor([`receiver.test:${receiver.port}`]);
    expect(await post(`https://receiver.test:${receiver.port}/`, { timeoutMs: 200 })).toEqual(timedOut('connection'));
    await closed(receiver.sockets[0]);
  });
  it.each<[string, Reply]>([
    ['no answer', () => {}],
    [
      'endless headers',
      (socket) => {
        socket.write('HTTP/1.1 200 X\r\n');
        const dripping = setInterval(() => socket.write('a: b\r\n'), 20);
        socket.on('close', () => clearInterval(dripping));
      },
    ],
    [
      'endless informational answers',
      (socket) => {
        const dripping = setInterval(() => socket.write('HTTP/1.1 102 X\r\n\r\n'), 20);
        socket.on('close', () => clearInterval(dripping));
      },
    ],
  ])('covers %s, and the connection is closed', async (_what, reply) => {
    const { receiver, post, url } = await setUp(reply);
    expect(await post(url, { timeoutMs: 150 })).toEqual(timedOut('answer'));
    await closed(receiver.sockets[0]);
  });
  it('is one for all stages', async () => {
    // Each stage alone is over in time, also on a busy machine.
    const stageMs = 500;
    const receiver = await receive((socket) => setTimeout(() => socket.write(answer(200)), stageMs));
    const post = clientFor([`receiver.test:${receiver.port}`], async () => {
      await sleep(stageMs);
      return ['127.0.0.1'];
    });
    const url = `http://receiver.test:${receiver.port}/`;
    expect(await post(url, { timeoutMs: 1.8 * stageMs })).toEqual(timedOut('answer'));
    expect(await post(url, { timeoutMs: 20 * stageMs })).toEqual(answered(200));
  });
  it('does not name the address of a closed connection', async () => {
    const receiver = await receive((socket) => socket.end(answer(200, '', 'connection: close\r\n')));
    const answers = [Promise.resolve(['127.0.0.1'])];
    const post = clientFor([`receiver.test:${receiver.port}`], () => answers.shift() ?? hang());
    const url = `http://receiver.test:${receiver.port}/`;
    expect(await post(url)).toEqual(answered(200));
    expect(await post(url, { timeoutMs: 50 })).toEqual(timedOut('name', null));
  });
  it('dials nothing after it', async () => {
    const post = clientFor(['receiver.test:1'], async () => {
      await sleep(60);
      return ['127.0.0.1'];
    });
    expect(await post('http://receiver.test:1/', { timeoutMs: 20 })).toEqual(timedOut('name', null));
    await sleep(100);
    expect(dialled).toEqual([]);
  });
});

describe('a network failure', () => {
  it('of the look-up', async () => {
    const notFound = async () => {
      throw Object.assign(new Error('secret text'), { code: 'ENOTFOUND' });
    };
    expect(await clientFor([], notFound)('http://example.com/')).toEqual(failed('ENOTFOUND', null));
    expect(await clientFor([], async () => [])('http://example.com/')).toEqual(failed('ENOTFOUND', null));
    const nameless = async () => Promise.reject(new Error('secret text'));
    expect(await clientFor([], nameless)('http://example.com/')).toEqual(failed('Error', null));
  });
  it('of a port where nothing listens', async () => {
    const receiver = await receive(ok);
    await cleanups.pop()?.();
    const post = clientFor([`127.0.0.1:${receiver.port}`]);
    expect(await post(`http://127.0.0.1:${receiver.port}/`)).toEqual(failed('ECONNREFUSED'));
  });
  it.each<[string, string, Reply]>([
    ['ECONNRESET', 'a reset', (socket) => socket.resetAndDestroy()],
    ['UND_ERR_SOCKET', 'a close', (socket) => socket.end()],
    ['UND_ERR_SOCKET', 'a close within the headers', (socket) => socket.end('HTTP/1.1 200 X\r\na: b')],
    [
      'UND_ERR_SOCKET',
      'a close within the body',
      (socket) => socket.end('HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nok'),
    ],
    [
      'ECONNRESET',
      'a reset within the body',
      (socket) =>
        socket.write('HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nok', () =>
          setTimeout(() => socket.resetAndDestroy(), 30),
        ),
    ],
    ['HTTPParserError', 'what is not HTTP', (socket) => socket.write('SSH-2.0-OpenSSH_9.9\r\n')],
    [
      'UND_ERR_HEADERS_OVERFLOW',
      'headers of 20 KB',
      (socket) => socket.write(answer(200, '', `a: ${'b'.repeat(20_000)}\r\n`)),
    ],
    [
      'UND_ERR_SOCKET',
      'an upgrade',
      (socket) => socket.write('HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'),
    ],
    // undici's own rule: it treats a 100 that it did not ask for as a broken answer. RFC 9110, 15.2.1 would ignore it.
    ['UND_ERR_SOCKET', 'an unasked 100', (socket) => socket.write(`HTTP/1.1 100 X\r\n\r\n${answer(200)}`)],
  ])('%s by %s', async (reason, _what, reply) => {
    const { receiver, post, url } = await setUp(reply);
    expect(await post(url)).toEqual(failed(reason));
    expect(receiver.requests.length).toBe(1);
  });
  it('on a reused connection is not sent again', async () => {
    const { receiver, post, url } = await setUp((socket, _request, count) => {
      if (count === 0) socket.write(answer(200));
      else if (count === 1) socket.resetAndDestroy();
      else socket.write(answer(201));
    });
    expect(await post(url)).toEqual(answered(200));
    expect(await post(url)).toEqual(failed('ECONNRESET'));
    expect(await post(url)).toEqual(answered(201));
    expect([receiver.requests.length, receiver.sockets.length]).toEqual([3, 2]);
  });
  it('is never caused by an idle connection that the receiver closed', async () => {
    const { receiver, post, url } = await setUp((socket) => {
      socket.write(answer(200));
      setTimeout(() => socket.end(), 5);
    });
    for (let n = 0; n < 20; n += 1) {
      expect(await post(url)).toEqual(answered(200));
      await closed(receiver.sockets.at(-1)); // before, the request would cross the end of the connection
    }
    expect(receiver.requests.length).toBe(20);
  });
});

describe('TLS', () => {
  it('does not trust a certificate of an unknown authority, whatever the environment says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const receiver = await receive(ok, { secure: true });
    const post = clientFor([`receiver.test:${receiver.port}`]);
    expect(await post(`https://receiver.test:${receiver.port}/`)).toEqual(failed('DEPTH_ZERO_SELF_SIGNED_CERT'));
    expect(receiver.requests).toEqual([]);
    vi.unstubAllEnvs();
  });
  it('fails against a receiver that speaks plain HTTP', async () => {
    const receiver = await receive(() => {});
    const result = clientFor([`receiver.test:${receiver.port}`])(`https://receiver.test:${receiver.port}/`);
    await vi.waitFor(() => expect(receiver.sockets.length).toBe(1));
    receiver.sockets[0]?.write(answer(400));
    expect(await result).toMatchObject({ kind: 'network', reason: expect.stringMatching(/^(EPROTO|ERR_SSL_\w+)$/) });
  });

  it('is verified against the name or address of the URL; proxy variables do not matter', async () => {
    const receiver = await receive(ok, { secure: true });
    const onIpv6 = await receive(ok, { secure: true, host: '::1' });
    const plain = await receive(ok);
    const directory = await mkdtemp(join(tmpdir(), 'webhook-tls-'));
    cleanups.push(() => rm(directory, { recursive: true }));
    await writeFile(join(directory, 'ca.pem'), CERTIFICATE);
    const urls = [
      `https://receiver.test:${receiver.port}/`,
      `https://RECEIVER.test.:${receiver.port}/`,
      `https://127.0.0.1:${receiver.port}/`,
      `https://other.test:${receiver.port}/`,
      `https://[::1]:${onIpv6.port}/`,
      `http://receiver.test:${plain.port}/`,
    ];
    const hosts = urls.map((url) => new URL(url).host);
    // Node reads NODE_EXTRA_CA_CERTS when a process starts, so this needs a new process.
    const program = `
      import { createWebhookClient } from './server/webhooks/http-client';
      const client = createWebhookClient({
        allowedHosts: new Set(${JSON.stringify(hosts)}),
        resolve: async () => ['127.0.0.1'],
      });
      const results = [];
      for (const url of ${JSON.stringify(urls)}) {
        results.push(await client.post({ url, headers: {}, body: '{}', timeoutMs: 5000 }));
      }
      await client.close();
      process.stdout.write(JSON.stringify(results));`;
    const deadProxy = 'http://127.0.0.1:1';
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', program],
      {
        env: {
          NODE_ENV: 'test',
          PATH: process.env.PATH,
          NODE_EXTRA_CA_CERTS: join(directory, 'ca.pem'),
          NODE_USE_ENV_PROXY: '1',
          ...{ HTTP_PROXY: deadProxy, HTTPS_PROXY: deadProxy, ALL_PROXY: deadProxy },
          ...{ http_proxy: deadProxy, https_proxy: deadProxy, all_proxy: deadProxy },
        },
      },
    );
    expect(JSON.parse(stdout)).toEqual([
      answered(200),
      answered(200),
      answered(200),
      failed('ERR_TLS_CERT_ALTNAME_INVALID'),
      failed('ERR_TLS_CERT_ALTNAME_INVALID', '::1'),
      answered(200),
    ]);
    expect([receiver.requests.length, onIpv6.requests.length, plain.requests.length]).toEqual([3, 0, 1]);
    const sockets = receiver.sockets as TLSSocket[];
    expect(sockets.map(({ alpnProtocol }) => alpnProtocol)).toEqual(sockets.map(() => 'http/1.1'));
    const names = sockets.map((socket) => (socket as TLSSocket & { servername: string | false }).servername);
    expect(names.slice(0, 3)).toEqual(['receiver.test', 'receiver.test', false]);
  });
});

describe('our shutdown', () => {
  it('aborts running requests at once, and sends nothing afterwards', async () => {
    const { receiver, post, url } = await setUp(() => {});
    const shutdown = new AbortController();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    cleanups.push(() => process.off('warning', onWarning));
    const results = Array.from({ length: 40 }, () => post(url, { signal: shutdown.signal }));
    await vi.waitFor(() => expect(receiver.requests.length).toBe(40));
    shutdown.abort();
    expect(await Promise.all(results)).toEqual(results.map(() => ({ kind: 'aborted' })));
    expect(await post(url, { signal: shutdown.signal })).toEqual({ kind: 'aborted' });
    for (const socket of receiver.sockets) await closed(socket);
    expect(receiver.requests.length).toBe(40);
    expect(warnings).toEqual([]);
  });
  it('aborts a look-up and a connection', async () => {
    for (const resolve of [() => new Promise<never>(() => {}), async () => [SILENT]]) {
      const post = clientFor(['receiver.test:1'], resolve);
      const shutdown = new AbortController();
      const result = post('http://receiver.test:1/', { signal: shutdown.signal });
      await sleep(20);
      shutdown.abort();
      expect(await result).toEqual({ kind: 'aborted' });
    }
  });
  it('waits in close for running requests, then accepts no more', async () => {
    const order: string[] = [];
    const receiver = await receive((socket) =>
      setTimeout(() => {
        order.push('answer');
        socket.write(answer(200));
      }, 50),
    );
    const client = createWebhookClient({ allowedHosts: new Set([`127.0.0.1:${receiver.port}`]) });
    const request = { url: `http://127.0.0.1:${receiver.port}/`, headers: {}, body: '', timeoutMs: 5_000 };
    expect(await client.post(request)).toEqual(answered(200));
    const results = [client.post(request), client.post(request)];
    await Promise.all([client.close(), client.close()]).then(() => order.push('closed'));
    expect(await Promise.all(results)).toEqual([answered(200), answered(200)]);
    expect(order).toEqual(['answer', 'answer', 'answer', 'closed']);
    expect(await client.post(request)).toEqual({ kind: 'aborted' });
    for (const socket of receiver.sockets) await closed(socket);
    await client.close();
  });
  it('closes idle connections at once', async () => {
    const receiver = await receive(ok);
    const client = createWebhookClient({ allowedHosts: new Set([`127.0.0.1:${receiver.port}`]) });
    await client.post({ url: `http://127.0.0.1:${receiver.port}/`, headers: {}, body: '', timeoutMs: 5_000 });
    await client.close();
    await closed(receiver.sockets[0]);
  });
});

it('leaves no timer and no listener behind', async () => {
  const { post, url } = await setUp(ok);
  const { signal } = new AbortController();
  await post(url);
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  for (let n = 0; n < 10; n += 1) expect(await post(url, { signal, timeoutMs: 60_000 })).toEqual(answered(200));
  expect(timers() - before).toBeLessThan(5);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('uses as many connections as requests at the same time, and reuses them', async () => {
  const { receiver, post, url } = await setUp((socket, { body }) => socket.write(answer(200, body)));
  const worker = async (id: number) => {
    for (let n = 0; n < 50; n += 1) expect(await post(url, { body: `${id}-${n}` })).toEqual(answered(200));
  };
  await Promise.all(Array.from({ length: 32 }, (_, id) => worker(id)));
  expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1_600);
  expect(receiver.sockets.length).toBe(32);
});

describe('a GET', () => {
  const get = async (reply: Reply, timeoutMs = 5_000) => {
    const receiver = await receive(reply);
    const client = createWebhookClient({
      allowedHosts: new Set([`receiver.test:${receiver.port}`]),
      resolve: async () => ['127.0.0.1'],
    });
    cleanups.push(() => client.close());
    const url = `http://receiver.test:${receiver.port}/keys`;
    const result = await client.get({ url, headers: { accept: 'application/json' }, timeoutMs });
    return { result, receiver };
  };

  it('has the body of the answer, up to 64 KiB', async () => {
    const { result, receiver } = await get((socket) => socket.write(answer(200, '{"keys":[]}')));
    expect(result).toEqual({ kind: 'response', status: 200, body: Buffer.from('{"keys":[]}') });
    expect(receiver.requests[0]!.head).toMatch(/^GET \/keys HTTP\/1.1\r\n/);
    const full = await get((socket) => socket.write(answer(200, 'a'.repeat(64 * 1024))));
    expect(full.result).toMatchObject({ status: 200, body: { length: 64 * 1024 } });
    const longer = await get((socket) => socket.write(answer(200, 'a'.repeat(64 * 1024 + 1))));
    expect(longer.result).toEqual({ kind: 'response', status: 200, body: null });
  });

  it('follows the same rules as a POST', async () => {
    const moved = (socket: Socket) => socket.write(answer(302, '', 'location: http://169.254.169.254/\r\n'));
    expect((await get(moved)).result).toMatchObject({ kind: 'response', status: 302 });
    expect((await get(() => {}, 300)).result).toMatchObject({ kind: 'timeout' });
    const client = createWebhookClient({ allowedHosts: new Set(), resolve: async () => ['10.0.0.1'] });
    cleanups.push(() => client.close());
    const request = { headers: {}, timeoutMs: 1_000 };
    for (const url of ['http://127.0.0.1/keys', 'http://agent.example/keys'])
      expect(await client.get({ ...request, url })).toMatchObject({ kind: 'refused-address' });
  });
});
