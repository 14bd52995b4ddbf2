import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { expect } from 'vitest';
import {
  answerHalfClosed,
  readHeldBytes,
  readTakenBytes,
  screenBody,
  stopListening,
} from '../../../server/node-http-internals';
import { refuseToWait } from '../../../server/platform/stderr-internals';
import { readCertificateDates } from '../../../server/webhooks/tls-internals';
import { describeReaches } from './reaches';

async function withServer(
  answer: Parameters<typeof createServer>[1],
  drive: (server: Server, port: number) => Promise<void>,
) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await drive(server, (server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close(() => {});
  }
}

export function registerNodeReaches(): void {
  describeReaches(
    'node:tls',
    { version: process.version, writtenFor: /^v2\d\./, file: 'server/webhooks/tls-internals.ts' },
    {
      'a client emits `secure` before it judges the certificate': async () => {
        const read = (file: string) => readFileSync(`tests/support/certificates/${file}`, 'utf8');
        const server = createTlsServer({ key: read('receiver.key'), cert: read('expired.pem') }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const socket = connectTls({ port: (server.address() as AddressInfo).port, ca: read('authority.pem') });
        let until = '';
        readCertificateDates(socket, (dates) => {
          until = dates.until;
        });
        const [error] = await once(socket, 'error').catch((error) => [error]);
        expect(error).toMatchObject({ code: 'CERT_HAS_EXPIRED' });
        expect(Date.parse(until)).toBeLessThan(Date.now());
        server.close();
      },
    },
  );

  describeReaches(
    'the stream of stderr',
    { version: process.version, writtenFor: /^v2\d\./, file: 'server/platform/stderr-internals.ts' },
    {
      'the `_handle` of a pipe makes writes fail while it is full, after a child has undone that': async () => {
        const program = `
          const { spawnSync } = require('node:child_process');
          const { writeSync } = require('node:fs');
          spawnSync(process.execPath, ['--version'], { stdio: ['ignore', 'ignore', 2] });
          (${refuseToWait.toString()})(process.stderr);
          for (;;) try { writeSync(2, 'x'.repeat(1000)); } catch ({ code }) { process.stdout.write(code); break; }
        `;
        // The shell gives a pipe that is read more slowly than it is written.
        const { stdout } = spawnSync('sh', ['-c', '"$0" -e "$1" 2>&3 | cat', process.execPath, program], {
          stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
          encoding: 'utf8',
          timeout: 20_000,
        });
        expect(stdout).toBe('EAGAIN');
      },
    },
  );

  describeReaches(
    'node:http',
    { version: process.version, writtenFor: /^v2\d\./, file: 'server/node-http-internals.ts' },
    {
      'the `close` of node:net leaves idle connections open': () =>
        withServer(
          (_request, response) => response.end('here'),
          async (server, port) => {
            const agent = new Agent({ keepAlive: true, maxSockets: 1 });
            const ask = async () => {
              const asked = request({ port, agent }).end();
              const [response] = await once(asked, 'response');
              return [asked.reusedSocket, await text(response)];
            };
            expect(await ask()).toEqual([false, 'here']);
            let isStopped = false;
            const stopped = stopListening(server).then(() => {
              isStopped = true;
            });
            await delay(100);
            expect(await ask()).toEqual([true, 'here']);
            expect([isStopped, server.listening]).toEqual([false, false]);
            agent.destroy();
            await stopped;
          },
        ),

      '`httpAllowHalfOpen` keeps a connection whose client has closed its side until the answer is sent': () =>
        withServer(
          (_request, response) => void delay(50).then(() => response.end('here')),
          async (server, port) => {
            const ask = () => text(connect({ port, allowHalfOpen: true }).end('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
            expect(await ask()).toBe('');
            answerHalfClosed(server);
            expect(await ask()).toMatch(/here$/);
          },
        ),

      'the parser hands a body over by the `push` of its request': () => {
        let seen = 0;
        return withServer(
          (received, response) => {
            screenBody(received, (piece) => {
              seen += piece.length;
              return seen <= 1_000;
            });
            text(received).then(
              (body) => response.end(String(body.length)),
              () => {},
            );
          },
          async (_server, port) => {
            const post = async (length: number) => {
              const asked = request({ port, method: 'POST', headers: { 'transfer-encoding': 'chunked' } });
              const answered = once(asked, 'response');
              asked.end('x'.repeat(length));
              const [response] = await answered;
              return text(response);
            };
            expect([await post(900), seen]).toEqual(['900', 900]);
            await expect(post(200)).rejects.toMatchObject({ code: 'ECONNRESET' });
          },
        );
      },

      'the `_handle` of a socket counts what it was given and what of it is still queued, also in the middle of a write':
        () => {
          const pieceBytes = 32 * 1024 * 1024;
          let answered: Socket;
          return withServer(
            ({ socket }, response) => {
              answered = socket;
              response.end(Buffer.alloc(pieceBytes));
            },
            async (_server, port) => {
              const asked = request({ port }).end();
              const [response] = await once(asked, 'response');
              const seen = new Set<number>();
              for await (const _part of response) if (answered.writableLength > 0) seen.add(readTakenBytes(answered));
              const taken = [...seen];
              expect(taken.length).toBeGreaterThan(2);
              expect(taken).toEqual(taken.toSorted((one, other) => one - other));
              expect(taken.at(-1)).toBeLessThanOrEqual(answered!.bytesWritten);
              expect(readTakenBytes(answered!)).toBe(answered!.bytesWritten);
            },
          );
        },

      ...(process.platform === 'linux' && {
        'the `_handle` of a socket has the descriptor by which Linux tells what it holds': () => {
          let answered: Socket;
          return withServer(
            ({ socket }, response) => {
              answered = socket;
              response.end(Buffer.alloc(32 * 1024 * 1024));
            },
            async (_server, port) => {
              const asked = request({ port }).end();
              const [response] = await once(asked, 'response');
              expect((await readHeldBytes([answered])).get(answered)).toBeGreaterThan(0);
              for await (const _part of response);
              expect(await readHeldBytes([new Socket()])).toEqual(new Map());
            },
          );
        },
      }),
    },
  );
}
