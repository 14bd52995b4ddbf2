import { connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { findFreePort } from './ports';

/** A TCP relay. While it is cut, the server behind it fails for its clients. */
export interface Relay {
  port: number;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Passes nothing on any more, on old and new connections, and tells no client. */
  stall(): void;
  /** Stalls old connections, while new ones are served: the server moved without telling its clients. */
  forget(): void;
  /** Ends every connection, then accepts new ones only to close them, as a balancer does if its backend is down. */
  hangUp(): Promise<void>;
  restore(): Promise<void>;
  /** On new connections, each answer of the server arrives so much later. */
  delay(delayMs: number): void;
  /** Leads new connections to another port. */
  lead(targetPort: number): void;
}

/** Starts a relay on the loopback to a port of the loopback. */
export async function startRelay(firstTargetPort: number): Promise<Relay> {
  const port = await findFreePort();
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  let targetPort = firstTargetPort;
  let isHangingUp = false;
  let isStalled = false;
  let delayMs = 0;

  function join(client: Socket) {
    if (isStalled) return void sockets.add(client.on('error', () => {}).on('close', () => sockets.delete(client)));
    if (isHangingUp)
      return void client
        .on('error', () => {})
        .resume()
        .end();
    const target = connect({ host: '127.0.0.1', port: targetPort });
    const transform: Transform['_transform'] = (chunk, _encoding, done) => setTimeout(done, delayMs, null, chunk);
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(from);
      // Bytes that were sent before an end still arrive.
      const path = from.setNoDelay(true);
      (from === target && delayMs > 0 ? path.pipe(new Transform({ transform })) : path).pipe(to);
      from.on('error', () => to.destroy()).on('close', () => sockets.delete(from));
    }
  }

  async function listen() {
    if (server) return;
    const created = createServer(join);
    server = created;
    await new Promise<void>((resolve) => created.listen(port, '127.0.0.1', resolve));
  }

  async function cut() {
    isStalled = false;
    const closing = server;
    server = null;
    const closed = closing && new Promise((resolve) => closing.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  function forget() {
    for (const socket of sockets) socket.unpipe().pause();
  }

  await listen();
  return {
    port,
    cut,
    stall() {
      isStalled = true;
      forget();
    },
    forget,
    delay(ms) {
      delayMs = ms;
    },
    lead(port) {
      targetPort = port;
    },
    async hangUp() {
      isHangingUp = true;
      await cut();
      await listen();
    },
    async restore() {
      // Stalled connections stay silent.
      isHangingUp = false;
      isStalled = false;
      await listen();
    },
  };
}
