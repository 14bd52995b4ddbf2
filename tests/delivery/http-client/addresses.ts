import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Resolve } from '../../../server/webhooks/checked-connection';
import { createWebhookClient, type PostResult } from '../../../server/webhooks/http-client';
import { detours, dialled, SILENT } from '../../support/connector';
import { answer, ok, type Reply } from '../../support/raw-receiver';
import vectors from '../../vectors/ssrf.json';
import { answered, cleanups, clientFor, closed, receive, refused, setUp, timedOut } from './receivers';

export function registerAddressTests(): void {
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
}
