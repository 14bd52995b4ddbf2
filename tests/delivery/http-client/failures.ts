import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Resolve } from '../../../server/webhooks/checked-connection';
import { createWebhookClient } from '../../../server/webhooks/http-client';
import { dialled, SILENT } from '../../support/connector';
import { answer, ok, type Reply } from '../../support/raw-receiver';
import { answered, cleanups, clientFor, closed, failed, receive, setUp, timedOut } from './receivers';

/** If a reset arrives together with the headers, undici takes it for a close. */
function whenHeadersAreRead(act: () => void) {
  const name = 'undici:request:headers';
  const react = () => {
    unsubscribe(name, react);
    act();
  };
  subscribe(name, react);
}

export function registerFailureTests(): void {
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
    it('is none if the answer came in time, while this process was busy', async () => {
      const timeoutMs = 200;
      const { post, url } = await setUp((socket) => {
        socket.write(answer(200, 'ok'));
        for (const endAt = performance.now() + 2 * timeoutMs; performance.now() < endAt; );
      });
      expect(await post(url, { timeoutMs })).toEqual(answered(200));
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
        (socket) => {
          whenHeadersAreRead(() => socket.resetAndDestroy());
          socket.write('HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nok');
        },
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
}
