import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { signPayload } from '../../server/webhooks/signature';
import { POLL_LIMIT_MS } from './limits.mjs';

export interface Received {
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  /** `host:port` for WEBHOOK_ALLOW_HOSTS. */
  host: string;
  received: Received[];
  /** Decides the answer, now or later: a status, or null to leave the request hanging. */
  answer: (request: Received) => number | null | Promise<number | null>;
  /** Sent with every answer. */
  answerHeaders: Record<string, string>;
  /** The body of every answer. */
  answerBody: string;
  /** Resolves when `count` requests have arrived. */
  waitFor(count: number, limitMs?: number): Promise<Received[]>;
  stop(): Promise<void>;
}

/** A customer's receiver: a real HTTP server on the loopback that keeps what arrives. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', async () => {
      const entry = { at: Date.now(), path: request.url ?? '', headers: request.headers, body };
      received.push(entry);
      const status = await receiver.answer(entry);
      if (status !== null)
        response
          .writeHead(status, {
            ...receiver.answerHeaders,
            ...(status >= 300 && status < 400 ? { location: '/elsewhere' } : {}),
          })
          .end(receiver.answerBody);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiver: Receiver = {
    url: `http://${host}`,
    host,
    received,
    answer: () => 200,
    answerHeaders: {},
    answerBody: '',
    async waitFor(count, limitMs = POLL_LIMIT_MS) {
      await waitUntil(
        () => received.length >= count,
        limitMs,
        () => `${received.length} of ${count} requests arrived`,
      );
      return received;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Polls until a condition holds. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  limitMs = POLL_LIMIT_MS,
  explain: () => string = () => 'the condition did not come true',
): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${explain()} within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Checks a delivery as the specification tells receivers to. */
export function expectSigned({ headers, body }: Received, secret: string): void {
  const timestamp = String(headers['x-webhook-timestamp']);
  expect(timestamp).toMatch(/^\d{10}$/);
  expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(300);
  expect(headers['x-webhook-signature']).toBe(signPayload(secret, timestamp, body));
}
