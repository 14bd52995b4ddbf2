import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  /** Names as they were sent, in their order. */
  rawHeaders: [name: string, value: string][];
  /** Reads one header by its lower-case name. */
  header(name: string): string | null;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any;
}

/** One TCP connection that sends bytes exactly as given: nothing normalises targets, headers or lengths. */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #isClosed = false;
  #wake = () => {};
  readonly closed: Promise<void>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    // A reset counts as a close. Bytes that arrived before it count.
    socket.on('error', () => {});
    this.closed = new Promise((resolve) =>
      socket.on('close', () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      }),
    );
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new Connection(socket);
  }

  write(bytes: string | Uint8Array) {
    if (!this.#isClosed) this.#socket.write(bytes);
  }

  /** Sends a request's head and adds `Host`. */
  writeHead(method: string, target: string, headers: Record<string, string> = {}) {
    const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.write(Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'));
  }

  /** Reads the next answer. `hasBody` is false for an answer to HEAD. */
  async read(hasBody = true, limitMs = 30_000): Promise<RawAnswer> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const answer = this.#take(hasBody);
      if (answer) return answer;
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.#received.toString('latin1'))}`);
      if (Date.now() > deadline) throw new Error(`no answer within ${limitMs} ms`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** How many bytes followed the answers that were read. */
  get unread() {
    return this.#received.length;
  }

  close() {
    this.#socket.destroy();
  }

  #take(hasBody: boolean): RawAnswer | null {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const [statusLine = '', ...lines] = this.#received.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(statusLine.split(' ')[1]);
    const rawHeaders = lines.map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trim()];
    });
    const header = (name: string) => rawHeaders.find(([other]) => other.toLowerCase() === name)?.[1] ?? null;
    const rest = this.#received.subarray(end + 4);
    const isChunked = header('transfer-encoding') === 'chunked';
    const length = hasBody && status !== 204 && status >= 200 ? Number(header('content-length') ?? 0) : 0;
    const taken = hasBody && isChunked ? takeChunks(rest) : takeBytes(rest, length);
    if (!taken) return null;
    this.#received = taken.rest;
    const text = taken.bytes.toString('utf8');
    const body = text !== '' && header('content-type')?.includes('/json') ? JSON.parse(text) : null;
    return { status, rawHeaders, header, text, body };
  }
}

type Taken = { bytes: Buffer<ArrayBufferLike>; rest: Buffer<ArrayBufferLike> } | null;

function takeBytes(from: Buffer<ArrayBufferLike>, length: number): Taken {
  return from.length < length ? null : { bytes: from.subarray(0, length), rest: from.subarray(length) };
}

function takeChunks(from: Buffer<ArrayBufferLike>): Taken {
  const chunks: Buffer<ArrayBufferLike>[] = [];
  for (let rest = from; ; ) {
    const end = rest.indexOf('\r\n');
    if (end < 0) return null;
    const size = Number.parseInt(rest.subarray(0, end).toString('latin1'), 16);
    const taken = takeBytes(rest.subarray(end + 2), size + 2);
    if (!taken) return null;
    if (size === 0) return { bytes: Buffer.concat(chunks), rest: taken.rest };
    chunks.push(taken.bytes.subarray(0, size));
    rest = taken.rest;
  }
}

export interface RawRequest {
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** Sends one request on a new connection, with its target exactly as given. */
export async function sendRaw(
  url: string,
  method: string,
  target: string,
  { headers = {}, body }: RawRequest = {},
): Promise<RawAnswer> {
  const connection = await Connection.open(url);
  try {
    if (body === undefined) {
      connection.writeHead(method, target, headers);
    } else {
      connection.writeHead(method, target, { 'Content-Length': String(Buffer.byteLength(body)), ...headers });
      connection.write(body);
    }
    return await connection.read(method !== 'HEAD');
  } finally {
    connection.close();
  }
}
