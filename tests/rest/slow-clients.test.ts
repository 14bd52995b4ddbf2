import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CONNECTION_LIMITS, limitConnections } from '../../server/http-limits';
import { Connection, sendRaw } from '../support/connection';
import { startTestServer, type TestServer } from '../support/server';
import { answerDashboard } from '../support/staff-client';

// Slow, silent and endless clients. The times of the limits are shortened here; their meaning is the same.

const LIMITS = {
  ...CONNECTION_LIMITS,
  headersTimeout: 2_000,
  requestTimeout: 4_000,
  keepAliveTimeout: 1_000,
  answerTimeout: 1_000,
  connectionsCheckingInterval: 50,
};
/** Far above the limits, because the machine may be busy, and far below Node's default. */
const SHORT_MS = 20_000;

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startTestServer({}, undefined, answerDashboard, LIMITS);
  ({ key } = await server.createTenant());
});
afterAll(() => server.stop());

// Each request has a new connection. The times are so short here that a kept connection may end during a request.
const expectServed = async () => {
  const headers = { connection: 'close' };
  expect((await server.call('GET', '/v1/integration', { key, headers })).status).toBe(200);
};
const UNREADABLE = {
  code: 'INVALID_REQUEST',
  message: 'The request is not readable HTTP',
  details: { field: 'request' },
};

/** Sends a byte every so often until the connection is closed. Answers how long that took. */
async function trickle(connection: Connection, byte: string): Promise<number> {
  const start = performance.now();
  let isOpen = true;
  void connection.closed.then(() => {
    isOpen = false;
  });
  while (isOpen && performance.now() - start < 2 * SHORT_MS) {
    connection.write(byte);
    await sleep(40);
  }
  return performance.now() - start;
}

describe('a slow client is cut off, and others are served meanwhile', () => {
  it('with 400 if its head does not end', async () => {
    const connection = await Connection.open(server.url);
    connection.write('GET /v1/integration HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const trickling = trickle(connection, 'a');
    await expectServed();
    const answer = await connection.read();
    expect([answer.status, answer.header('connection'), answer.body.error]).toEqual([400, 'close', UNREADABLE]);
    expect(await trickling).toBeLessThan(SHORT_MS);
  });

  it('with 400 if its body does not end', async () => {
    const connection = await Connection.open(server.url);
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Content-Length': '50000' };
    connection.writeHead('POST', '/v1/webhooks', headers);
    const trickling = trickle(connection, ' ');
    await expectServed();
    const answer = await connection.read();
    expect([answer.status, answer.header('connection'), answer.body.error]).toEqual([400, 'close', UNREADABLE]);
    expect(await trickling).toBeLessThan(SHORT_MS);
    expect(connection.unread).toBe(0);
  });

  it('without an answer if it sends nothing at all, or nothing after its first answer', async () => {
    const silent = await Connection.open(server.url);
    const idle = await Connection.open(server.url);
    idle.writeHead('GET', '/health');
    expect((await idle.read()).status).toBe(200);
    const start = performance.now();
    await Promise.all([silent.closed, idle.closed]);
    expect(performance.now() - start).toBeLessThan(SHORT_MS);
    expect([silent.unread, idle.unread]).toEqual([0, 0]);
  });

  it('if it never reads its answers', async () => {
    const { hostname, port } = new URL(server.url);
    const socket: Socket = connect({ host: hostname, port: Number(port) }).pause();
    const broken = new Promise<void>((resolve) => socket.once('error', () => resolve()).once('close', () => resolve()));
    socket.write('GET /openapi/v3.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
    await expectServed();
    const start = performance.now();
    // A client that reads nothing learns of the end only when it writes. What it writes does not extend its time.
    const writing = setInterval(() => socket.write('\r\n'), 50);
    await Promise.race([broken, sleep(2 * SHORT_MS)]);
    clearInterval(writing);
    expect(performance.now() - start).toBeLessThan(SHORT_MS);
    socket.destroy();
    await expectServed();
  });
});

it('a client that closes its side after the request gets the answer, and the connection ends', async () => {
  const { hostname, port } = new URL(server.url);
  const head = `GET /v1/integration HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const answer = await text(connect({ host: hostname, port: Number(port), allowHalfOpen: true }).end(head));
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

it('three hundred silent connections leave the others served, and are closed', async () => {
  const silent = await Promise.all(Array.from({ length: 300 }, () => Connection.open(server.url)));
  await expectServed();
  const start = performance.now();
  await Promise.all(silent.map((connection) => connection.closed));
  expect(performance.now() - start).toBeLessThan(SHORT_MS);
  await expectServed();
});

it('connections over the limit are closed as they arrive, and others are accepted afterwards', async () => {
  // A low limit, so that the last connection is opened before the first one is closed for its silence.
  const small = await startTestServer({}, server, answerDashboard, { ...LIMITS, maxConnections: 50 });
  try {
    const opened = await Promise.allSettled(Array.from({ length: 100 }, () => Connection.open(small.url)));
    const connections = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await Promise.all(connections.map(({ closed }) => closed));
    const unanswered = connections.filter(({ unread }) => unread === 0);
    expect(100 - connections.length + unanswered.length).toBeGreaterThanOrEqual(50);
    expect((await small.call('GET', '/v1/integration', { key })).status).toBe(200);
  } finally {
    await small.stop();
  }
});

it('an answer that takes longer than a silent reader may wait is still given', async () => {
  const slow = await startTestServer(
    {},
    server,
    () => async (_request, response) => {
      await sleep(4 * LIMITS.answerTimeout);
      response.end('late');
    },
    LIMITS,
  );
  try {
    expect(await (await fetch(`${slow.url}/slow`)).text()).toBe('late');
  } finally {
    await slow.stop();
  }
});

describe('a client that reads an answer in one piece gets all of it', () => {
  /** More than the buffers of the system take, so that the piece is being written while the client reads. */
  const PIECE_BYTES = 32 * 1024 * 1024;

  /** Reads the piece from a process of some age. The clock goes on by so much with each part that the client reads. */
  async function readPiece({ ageMs, partMs }: { ageMs: number; partMs: number }): Promise<number> {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const answering = limitConnections(
      createServer((_request, response) => response.end(Buffer.alloc(PIECE_BYTES))),
      CONNECTION_LIMITS,
    ).listen(0, '127.0.0.1');
    try {
      await once(answering, 'listening');
      vi.advanceTimersByTime(ageMs);
      const socket = connect((answering.address() as AddressInfo).port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      let length = 0;
      for await (const part of socket) {
        length += part.length;
        vi.advanceTimersByTime(partMs);
        // Time to look at what the system holds.
        if (partMs > 1_000) await sleep(5);
      }
      return length;
    } finally {
      vi.useRealTimers();
      answering.closeAllConnections();
      answering.close();
    }
  }

  it('if the process is older than a silent reader may wait', async () => {
    expect(await readPiece({ ageMs: 3_600_000, partMs: 1_000 / 64 })).toBeGreaterThan(PIECE_BYTES);
  });

  it('if the client is slow', async () => {
    expect(await readPiece({ ageMs: 0, partMs: 250 })).toBeGreaterThan(PIECE_BYTES);
  });

  // Other systems do not tell what they hold.
  it.runIf(process.platform === 'linux')(
    'if the system takes nothing for a minute, because it holds so much',
    async () => {
      expect(await readPiece({ ageMs: 0, partMs: 5_000 })).toBeGreaterThan(PIECE_BYTES);
    },
  );
});

describe('a request that is too large is refused', () => {
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, '1']));
  const authorized = () => ({ Authorization: `Bearer ${key}` });

  it('for the number of its header fields, which are never dropped silently', async () => {
    const { maxHeaderFields } = LIMITS;
    // Host and the key count.
    const most = await sendRaw(server.url, 'GET', '/v1/integration', {
      headers: { ...fields(maxHeaderFields - 2), ...authorized() },
    });
    expect(most.status).toBe(200);
    for (const count of [maxHeaderFields - 1, maxHeaderFields, 2 * maxHeaderFields]) {
      const headers = { ...fields(count), ...authorized() };
      const answer = await sendRaw(server.url, 'GET', '/v1/integration', { headers });
      expect([count, answer.status, answer.body.error]).toEqual([count, 400, UNREADABLE]);
    }
  });

  it('for the length of its head', async () => {
    const padded = (length: number) =>
      sendRaw(server.url, 'GET', '/health', { headers: { 'X-Pad': 'x'.repeat(length) } });
    expect((await padded(31 * 1024)).status).toBe(200);
    const answer = await padded(33 * 1024);
    expect([answer.status, answer.body.error]).toEqual([400, UNREADABLE]);
    const { text } = await server.service.metrics.scrape();
    expect(text).toMatch(/http_requests_total\{method="other",route="\(unmatched\)",status="400"\} [1-9]/);
  });

  it('for the length of its body, at every endpoint', async () => {
    const send = (target: string, length: number) =>
      sendRaw(server.url, 'POST', target, {
        headers: { ...authorized(), 'Content-Type': 'application/json', Origin: 'http://localhost' },
        body: ' '.repeat(length),
      });
    expect((await send('/v1/webhooks', 64 * 1024 + 1)).status).toBe(400);
    expect((await send('/api/auth/sign-in', 8 * 1024 + 1)).status).toBe(400);
    const call = await send('/api/trpc/staff.create', 64 * 1024 + 1);
    expect([call.status, call.body.error.data.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    for (const [target, length] of [
      ['/dashboard', 64 * 1024 + 1],
      ['/api/inngest', 4 * 1024 * 1024 + 1],
    ] as const) {
      const { status, text } = await send(target, length);
      expect([target, status, text]).toEqual([target, 413, 'The body is too long\n']);
    }
    await expectServed();
  });

  it('for the length of a body that does not announce it', async () => {
    const connection = await Connection.open(server.url);
    connection.writeHead('POST', '/dashboard', { 'Transfer-Encoding': 'chunked', Origin: server.url });
    const chunk = `${(16 * 1024).toString(16)}\r\n${' '.repeat(16 * 1024)}\r\n`;
    for (let n = 0; n < 8; n++) connection.write(chunk);
    await connection.closed;
    await expectServed();
  });
});
