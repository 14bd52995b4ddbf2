import { getEventListeners } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createWebhookClient } from '../../../server/webhooks/http-client';
import { detours } from '../../support/connector';
import { answer, ok, type Reply } from '../../support/raw-receiver';
import { answered, cleanups, clientFor, closed, receive, setUp, timedOut } from './receivers';

export function registerExchangeTests(): void {
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
}
