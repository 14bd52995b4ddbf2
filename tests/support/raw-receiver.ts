import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export interface Received {
  head: string;
  body: string;
}
export interface RawReceiver {
  port: number;
  requests: Received[];
  sockets: Socket[];
  /** Called with each connection, before anything is read from it. */
  greet: (socket: Socket) => void;
  stop(): void;
}
/** Answers one complete request on one socket. `count` is how many came before on all sockets. */
export type Reply = (socket: Socket, request: Received, count: number) => void;

/** Makes the text of an answer. Each line in `headers` ends in a line break. */
export const answer = (status: number, body = '', headers = '') =>
  `HTTP/1.1 ${status} X\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
export const ok: Reply = (socket) => socket.write(answer(200, 'ok'));

/** A customer's receiver that writes the exact bytes of its answers, so that it can write anything. */
export async function startRawReceiver(
  reply: Reply,
  { host = '127.0.0.1', tls = null }: { host?: string; tls?: TlsOptions | null } = {},
): Promise<RawReceiver> {
  const { requests, sockets }: Pick<RawReceiver, 'requests' | 'sockets'> = { requests: [], sockets: [] };
  const onSocket = (socket: Socket) => {
    sockets.push(socket);
    let chunks: Buffer[] = [];
    let received = 0;
    let awaited = 1;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      received += chunk.length;
      if (received < awaited) return;
      const bytes = Buffer.concat(chunks);
      const end = bytes.indexOf('\r\n\r\n') + 4;
      if (end < 4) return;
      const head = bytes.toString('latin1', 0, end);
      awaited = end + Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (received < awaited) return;
      const request = { head, body: bytes.toString('utf8', end) };
      chunks = [];
      received = 0;
      awaited = 1;
      requests.push(request);
      reply(socket, request, requests.length - 1);
    });
    receiver.greet(socket);
  };
  const server = tls ? createTlsServer(tls, onSocket) : createServer(onSocket);
  server.on('tlsClientError', () => {});
  await new Promise<void>((listening) => server.listen(0, host, listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const receiver: RawReceiver = {
    port: address.port,
    requests,
    sockets,
    greet: () => {},
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  return receiver;
}
