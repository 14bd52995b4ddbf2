import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { afterEach, vi } from 'vitest';
import type { AttemptPart, Resolve } from '../../../server/webhooks/checked-connection';
import { createWebhookClient, type PostRequest, type PostResult } from '../../../server/webhooks/http-client';
import { resetConnector } from '../../support/connector';
import { type RawReceiver, type Reply, startRawReceiver } from '../../support/raw-receiver';

// Receivers and clients that end with their test, and what a client says of an attempt.

export const cleanups: (() => unknown)[] = [];

export function endAfterEach(): void {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    resetConnector();
    vi.restoreAllMocks();
  });
}

const readPem = (file: string) => readFileSync(`tests/support/certificates/${file}`, 'utf8');
const KEY = readPem('self-signed.key');
export const CERTIFICATE = readPem('self-signed.pem');

export async function receive(reply: Reply, { host = '127.0.0.1', secure = false } = {}): Promise<RawReceiver> {
  const tls = secure ? { key: KEY, cert: CERTIFICATE, ALPNProtocols: ['h2', 'http/1.1'] } : null;
  const receiver = await startRawReceiver(reply, { host, tls });
  cleanups.push(() => receiver.stop());
  return receiver;
}

export function clientFor(allowedHosts: string[], resolve: Resolve = async () => ['127.0.0.1']) {
  const client = createWebhookClient({ allowedHosts: new Set(allowedHosts), resolve });
  cleanups.push(() => client.close());
  return (url: string, request: Partial<PostRequest> = {}): Promise<PostResult> =>
    client.post({ url, headers: {}, body: '{}', timeoutMs: 5_000, ...request });
}

/** Starts one receiver, which is named receiver.test and allowed. */
export async function setUp(reply: Reply) {
  const receiver = await receive(reply);
  const url = `http://receiver.test:${receiver.port}/hook`;
  return { receiver, url, post: clientFor([`receiver.test:${receiver.port}`]) };
}

export const answered = (status: number, address = '127.0.0.1', retryAfter: string | null = null): PostResult => ({
  kind: 'response',
  status,
  address,
  retryAfter,
});
export const refused = (address: string | null): PostResult => ({ kind: 'refused-address', address });
export const failed = (reason: string, address: string | null = '127.0.0.1'): PostResult => ({
  kind: 'network',
  address,
  reason,
});
export const timedOut = (awaited: AttemptPart, address: string | null = '127.0.0.1'): PostResult => ({
  kind: 'timeout',
  address,
  awaited,
});
/** Resolves when a socket is closed: the client closes its side now, not when the idle time ends. */
export async function closed(socket: Socket | undefined): Promise<void> {
  if (!socket || socket.destroyed) return;
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('still open')), 1_000);
    socket.once('close', () => resolve(clearTimeout(late)));
  });
}
