import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSecrets } from '../../server/platform/secrets';
import { type AttemptDependencies, attemptDelivery, nameSecretContext } from '../../server/webhooks/attempt';
import { createWebhookClient, type PostResult } from '../../server/webhooks/http-client';
import { judgeAttempt } from '../../server/webhooks/retry-schedule';
import { dialled, resetConnector } from '../support/connector';
import { answer, type Reply, startRawReceiver } from '../support/raw-receiver';

// What a receiver can do wrong, by mistake or on purpose, and the failure class of each case (decisions: Deliveries).
// http-client.test.ts has the usual ones: redirects, timeouts, resets.

vi.mock('node:net', async (original) => (await import('../support/connector')).divertNet(await original()));

const RETRY_DELAYS_MS = [0, 60_000, 300_000];
const HOST = 'receiver.test';
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  resetConnector();
});

async function setUp(reply: Reply) {
  const receiver = await startRawReceiver(reply);
  const client = createWebhookClient({
    allowedHosts: new Set([`${HOST}:${receiver.port}`]),
    resolve: async () => ['127.0.0.1'],
  });
  cleanups.push(
    () => receiver.stop(),
    () => client.close(),
  );
  const url = `http://${HOST}:${receiver.port}/hook`;
  const post = (timeoutMs = 5_000, body = '{}') => client.post({ url, headers: {}, body, timeoutMs });
  return { receiver, client, url, post };
}

/** Answers status and class of a first attempt, as `Pending Network`. */
function judge(result: PostResult): string {
  if (result.kind === 'aborted') throw new Error('aborted');
  const { status, failureClass, retryDelayMs } = judgeAttempt(result, 1, RETRY_DELAYS_MS);
  expect(retryDelayMs).toBe(status === 'Pending' ? 60_000 : null);
  return `${status} ${failureClass}`;
}
const says =
  (text: string | Buffer): Reply =>
  (socket) =>
    socket.write(text);
const inChunks = (chunks: string) => says(`HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`);
const withHeaders = (headers: string) => says(`HTTP/1.1 200 X\r\n${headers}\r\n\r\nok`);

describe('an answer that is not HTTP is class Network, retried, and the request was sent once', () => {
  it.each<[string, Reply]>([
    ['a page without a head', (socket) => socket.end('<html>no</html>')],
    ['bytes', says(Buffer.from([0, 1, 2, 255, 254]))],
    ['an alert of TLS', says(Buffer.from([0x15, 3, 1, 0, 2, 2, 80]))],
    ['a status of two digits', says('HTTP/1.1 99 X\r\ncontent-length: 0\r\n\r\n')],
    ['a status of four digits', says('HTTP/1.1 2000 X\r\ncontent-length: 0\r\n\r\n')],
    ['a status that is no number', says('HTTP/1.1 2x0 X\r\ncontent-length: 0\r\n\r\n')],
    ['a negative status', says('HTTP/1.1 -200 X\r\ncontent-length: 0\r\n\r\n')],
    ['a status below 100', says('HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n')],
    ['the status 000', says('HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n')],
    ['a version there is not', says('HTTP/3.7 200 X\r\ncontent-length: 0\r\n\r\n')],
    ['the 101 of no protocol', says('HTTP/1.1 101 X\r\n\r\n')],
    [
      'a 101 that goes on as a WebSocket',
      says('HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n\x81'),
    ],
    ['informational answers alone', (socket) => socket.end('HTTP/1.1 103 X\r\n\r\nHTTP/1.1 102 X\r\n\r\n')],
    ['lines without carriage returns', says('HTTP/1.1 200 X\ncontent-length: 0\n\n')],
    ['a header without a colon', withHeaders('abc')],
    ['a header without a name', withHeaders(': x')],
    ['a space before the colon', withHeaders('content-length : 2')],
    ['a header with a zero byte', withHeaders('a: b\0c')],
    ['a header with a bare carriage return', withHeaders('a: b\rc: d')],
    ['a folded header', withHeaders('a: b\r\n c')],
    ['a negative length', withHeaders('content-length: -1')],
    ['a length that is no number', withHeaders('content-length: 0x2')],
    ['a length beyond all numbers', withHeaders(`content-length: ${'9'.repeat(30)}`)],
    ['two lengths', withHeaders('content-length: 2\r\ncontent-length: 3')],
    ['a list of lengths', withHeaders('content-length: 2, 2')],
    ['a length and chunks', withHeaders('content-length: 2\r\ntransfer-encoding: chunked')],
    ['a chunk of no size', inChunks('zz\r\nok\r\n0\r\n\r\n')],
    ['a chunk of negative size', inChunks('-2\r\nok\r\n0\r\n\r\n')],
    ['a chunk beyond all sizes', inChunks(`${'f'.repeat(19)}\r\nok\r\n`)],
    ['a chunk longer than it says', inChunks('2\r\nokok\r\n0\r\n\r\n')],
    [
      'chunks without a last one',
      (socket) => socket.end('HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n'),
    ],
  ])('%s', async (_what, reply) => {
    const { receiver, post } = await setUp(reply);
    const result = await post();
    expect(result).toMatchObject({ kind: 'network', address: '127.0.0.1' });
    expect(judge(result)).toBe('Pending Network');
    expect([receiver.requests.length, dialled.length]).toEqual([1, 1]);
    // The connection is closed, and the next delivery uses a new one.
    expect(await post()).toMatchObject({ kind: 'network' });
    expect(receiver.sockets.length).toBe(2);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['a reset', (socket) => socket.resetAndDestroy()],
    ['a close', (socket) => socket.end()],
    ['the greeting of another protocol', (socket) => socket.write('220 mail.example ESMTP\r\n')],
  ])('and so is %s before the request: the address is not dialled again', async (_what, greet) => {
    const { receiver, post } = await setUp(() => {});
    receiver.greet = greet;
    expect(judge(await post())).toBe('Pending Network');
    await sleep(50);
    expect([dialled.length, receiver.sockets.length]).toEqual([1, 1]);
  });
});

describe('an answer that is odd but complete counts', () => {
  it.each<[string, string, Reply]>([
    ['a status without a reason', 'Delivered null', says('HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n')],
    ['blank lines ahead', 'Delivered null', says(`\r\n\r\n${answer(202)}`)],
    ['names that objects have', 'Delivered null', says(answer(200, '', '__proto__: x\r\nconstructor: y\r\n'))],
    ['a chunk with an extension', 'Delivered null', inChunks('2;a=b\r\nok\r\n0\r\n\r\n')],
    [
      'another coding before the chunks',
      'Delivered null',
      (socket) => socket.write('HTTP/1.1 200 X\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
    ],
    ['more bytes than its length', 'Delivered null', says('HTTP/1.1 200 X\r\ncontent-length: 2\r\n\r\nok and more')],
    ['a 204 with a body', 'Delivered null', says(answer(204, 'hello'))],
    ['a 204 with a length and no body', 'Delivered null', says('HTTP/1.1 204 X\r\ncontent-length: 5\r\n\r\n')],
    [
      'a 204 with chunks',
      'Delivered null',
      says('HTTP/1.1 204 X\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
    ],
    [
      'a 304 with the length of what it stands for',
      'Failed HTTP304',
      says('HTTP/1.1 304 X\r\ncontent-length: 5\r\n\r\n'),
    ],
    ['a status there is not', 'Failed HTTP999', says(answer(999))],
    ['the end of the range of 4xx', 'PermanentFailure 4xx', says(answer(499))],
    ['the end of the range of 5xx', 'Pending 5xx', says(answer(599))],
  ])('%s', async (_what, outcome, reply) => {
    const { receiver, post } = await setUp(reply);
    for (const count of [1, 2]) {
      expect(judge(await post())).toBe(outcome);
      expect(receiver.requests.length).toBe(count);
      await sleep(10);
    }
  });

  it('and an answer sent ahead is never taken for the answer to the next delivery', async () => {
    const { receiver, post } = await setUp((socket, _request, count) =>
      socket.write(count === 0 ? answer(500) + answer(200) : answer(410)),
    );
    expect(judge(await post())).toBe('Pending 5xx');
    expect(judge(await post())).toBe('PermanentFailure 4xx');
    expect(receiver.sockets.length).toBe(2);
  });
});

/** Writes without end, as fast as the connection accepts it. */
const floods =
  (start: string, more: string): Reply =>
  (socket) => {
    const block = more.repeat(Math.ceil(4_096 / more.length));
    const write = () => {
      for (let room = true; room && !socket.destroyed; ) room = socket.write(block);
    };
    socket.write(start);
    socket.on('drain', write);
    write();
  };
const CHUNKED = 'HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n';

describe('an endless answer is cut off long before the timeout, and uses little memory', () => {
  it.each<[string, string, Reply]>([
    ['a body in chunks', 'Delivered null', floods(CHUNKED, `400\r\n${'a'.repeat(1_024)}\r\n`)],
    ['a body in chunks of one byte', 'Delivered null', floods(CHUNKED, '1\r\na\r\n')],
    ['a body up to the end of the connection', 'Delivered null', floods('HTTP/1.1 200 X\r\n\r\n', 'a')],
    ['a body of a redirect', 'Failed HTTP302', floods('HTTP/1.1 302 X\r\nlocation: /\r\n\r\n', 'a')],
    ['headers', 'Pending Network', floods('HTTP/1.1 200 X\r\n', 'a: b\r\n')],
    ['one header', 'Pending Network', floods('HTTP/1.1 200 X\r\na: ', 'b')],
    ['the spaces before a header', 'Pending Network', floods('HTTP/1.1 200 X\r\na:', ' ')],
    ['the reason of the status', 'Pending Network', floods('HTTP/1.1 200 ', 'a')],
    ['blank lines', 'Pending Network', floods('', '\r\n')],
    ['informational answers', 'Pending Network', floods('', 'HTTP/1.1 102 X\r\n\r\n')],
    [
      'informational answers with headers',
      'Pending Network',
      floods('', `HTTP/1.1 103 X\r\na: ${'b'.repeat(4_000)}\r\n\r\n`),
    ],
    ['the extension of a chunk', 'Pending Network', floods(`${CHUNKED}2;a=`, 'b')],
    ['the zeros of a chunk’s size', 'Pending Network', floods(CHUNKED, '0')],
    ['trailers', 'Pending Network', floods(`${CHUNKED}0\r\n`, 'a: b\r\n')],
  ])('%s', async (_what, outcome, reply) => {
    const { receiver, post } = await setUp(reply);
    const before = process.memoryUsage();
    const from = performance.now();
    expect(judge(await post(20_000))).toBe(outcome);
    expect(performance.now() - from).toBeLessThan(4_000);
    const [socket] = receiver.sockets;
    await vi.waitFor(() => expect(socket!.destroyed).toBe(true));
    // The buffers at both ends of the loopback add to the limit.
    expect(socket!.bytesWritten).toBeLessThan(16_000_000);
    const after = process.memoryUsage();
    expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(48_000_000);
  });

  it.each([
    [512 * 1024, 'Delivered null'],
    [512 * 1024 + 1, 'Pending Network'],
  ])('an answer of %i bytes with its informational answers: %s', async (bytes, outcome) => {
    const last = answer(200);
    const [begin, end] = ['HTTP/1.1 103 X\r\na: ', '\r\n\r\n'];
    const pieces: string[] = [];
    for (let left = bytes - last.length; left > 0; left -= pieces.at(-1)!.length) {
      const length = left < 8_192 ? left : 4_096;
      pieces.push(begin + 'b'.repeat(length - begin.length - end.length) + end);
    }
    const { post } = await setUp(says(pieces.join('') + last));
    expect(judge(await post(20_000))).toBe(outcome);
  });

  it('but many answers on one connection are not endless', async () => {
    const { receiver, post } = await setUp(says(answer(200, 'a'.repeat(60_000))));
    for (let n = 0; n < 20; n += 1) expect(judge(await post())).toBe('Delivered null');
    expect(receiver.sockets.length).toBe(1);
  });
});

describe('a body that is compressed', () => {
  it('is neither requested nor decompressed: 30 MB of zeros are the 30 KB that were sent', async () => {
    const bomb = gzipSync(Buffer.alloc(30_000_000));
    const { receiver, post } = await setUp((socket) => {
      socket.write(`HTTP/1.1 200 X\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    for (const _ of [1, 2]) expect(judge(await post())).toBe('Delivered null');
    // Over 64 KiB would have closed the connection.
    expect(receiver.sockets.length).toBe(1);
    expect(receiver.requests[0]?.head.toLowerCase()).not.toContain('accept-encoding');
  });

  it('counts by its status, even if it is not gzip at all', async () => {
    const { post } = await setUp(says(answer(200, 'plain', 'content-encoding: gzip\r\n')));
    expect(judge(await post())).toBe('Delivered null');
  });
});

describe('a receiver that does not read', () => {
  it('is class Timeout, and the connection is closed', async () => {
    const { receiver, post } = await setUp(() => {});
    receiver.greet = (socket) => socket.pause();
    expect(judge(await post(1_000, 'x'.repeat(20_000_000)))).toBe('Pending Timeout');
    const [socket] = receiver.sockets;
    socket!.resume();
    await vi.waitFor(() => expect(socket!.destroyed).toBe(true), 5_000);
    expect(receiver.requests).toEqual([]);
  });

  it('but answers early has answered', async () => {
    const { receiver, post } = await setUp(() => {});
    receiver.greet = (socket) => socket.once('data', () => socket.end(answer(503)));
    expect(judge(await post(5_000, 'x'.repeat(2_000_000)))).toBe('Pending 5xx');
  });
});

describe('Retry-After', () => {
  const context = { integrationId: 'int_1', subscriptionId: 'whk_1' };
  const secrets = createSecrets(Buffer.alloc(32));

  it.each([
    ['0', 503],
    ['-1', 503],
    ['99999999999999999999', 503],
    ['1e400', 429],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 429],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 408],
    ['NaN', 500],
    ['\u00e9\u00ff', 500],
    ['', 503],
  ])('%j does not change the schedule', async (retryAfter, status) => {
    const { client, url } = await setUp(
      says(Buffer.from(answer(status, '', `retry-after: ${retryAfter}\r\n`), 'latin1')),
    );
    const dependencies: AttemptDependencies = { secrets, client, retryDelaysMs: RETRY_DELAYS_MS, timeoutMs: 5_000 };
    const delivery = {
      ...context,
      deliveryId: 'dlv_1',
      lease: 'a',
      leaseOwner: null,
      eventType: 'BotDetected' as const,
      payload: '{}',
      url,
      secretSealed: secrets.seal('whsec_x', nameSecretContext(context.integrationId, context.subscriptionId)),
      previousSecretSealed: null,
      isTest: false,
    };
    const { signal } = new AbortController();
    const records = await Promise.all(
      [1, 2, 3].map((attempt) => attemptDelivery(dependencies, { ...delivery, attempt }, signal)),
    );
    expect(records.map((record) => [record?.status, record?.httpStatus, record?.retryDelayMs])).toEqual([
      ['Pending', status, 60_000],
      ['Pending', status, 300_000],
      ['MaxRetriesExceeded', status, null],
    ]);
  });
});
