import { type AddressInfo, createServer, type Socket } from 'node:net';

// A customer's receiver that costs almost nothing: HTTP written by hand on bare sockets. It does not verify signatures,
// since the tests do. It counts deliveries and notes their times, on the same clock as the poster.

export interface Receiver {
  url: string;
  /** `host:port` for WEBHOOK_ALLOW_HOSTS. */
  host: string;
  /** When the delivery about a session first arrived, by session id. */
  readonly arrivals: ReadonlyMap<string, number>;
  /** The number of deliveries that arrived again. */
  readonly repeats: number;
  /** The number of requests that are not answered yet. */
  readonly openRequests: number;
  /** Resolves with the time at which `count` distinct deliveries had arrived. */
  waitFor(count: number, limitMs: number): Promise<number>;
  /** Forgets all arrivals so far. */
  reset(): void;
  /** Closes all connections, with their unanswered requests. */
  disconnect(): void;
  stop(): Promise<void>;
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const DELIVERY_ID = /\r\nx-webhook-delivery-id: *([^\r]+)/i;
const SESSION_ID = '"sessionId":"';

/** Starts a receiver that answers 200 after `answerAfterMs`. With null, it accepts requests and never answers. */
export async function startReceiver(answerAfterMs: number | null = 0): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let arrivals = new Map<string, number>();
  let deliveryIds = new Set<string>();
  let repeats = 0;
  let openRequests = 0;
  let onArrival = () => {};

  function take(head: string, body: string) {
    const id = DELIVERY_ID.exec(head)?.[1] ?? `${deliveryIds.size}`;
    if (deliveryIds.has(id)) {
      repeats++;
      return;
    }
    deliveryIds.add(id);
    const from = body.indexOf(SESSION_ID) + SESSION_ID.length;
    arrivals.set(body.slice(from, body.indexOf('"', from)), performance.now());
    onArrival();
  }

  function answer(socket: Socket) {
    if (answerAfterMs === 0) return void socket.write(OK);
    openRequests++;
    if (answerAfterMs === null) return void socket.once('close', () => openRequests--);
    setTimeout(() => {
      openRequests--;
      if (!socket.destroyed) socket.write(OK);
    }, answerAfterMs);
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      received = received === '' ? String(text) : received + text;
      for (;;) {
        const headEnd = received.indexOf('\r\n\r\n');
        if (headEnd === -1) return;
        const head = received.slice(0, headEnd);
        const end = headEnd + 4 + Number(LENGTH.exec(head)?.[1] ?? 0);
        if (received.length < end) return;
        take(head, received.slice(headEnd + 4, end));
        received = received.slice(end);
        answer(socket);
      }
    });
    socket.on('error', () => {}); // the other side may close connections whose answer it no longer awaits
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const disconnect = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://${host}/`,
    host,
    get arrivals() {
      return arrivals;
    },
    get repeats() {
      return repeats;
    },
    get openRequests() {
      return openRequests;
    },
    waitFor: (count, limitMs) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`${deliveryIds.size} of ${count} deliveries arrived within ${limitMs} ms`)),
          limitMs,
        );
        onArrival = () => {
          if (deliveryIds.size < count) return;
          onArrival = () => {};
          clearTimeout(timer);
          resolve(performance.now());
        };
        onArrival();
      }),
    reset() {
      arrivals = new Map();
      deliveryIds = new Set();
      repeats = 0;
    },
    disconnect,
    async stop() {
      disconnect();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
