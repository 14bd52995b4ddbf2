import { connect, type Socket } from 'node:net';

// HTTP by hand on bare sockets: the poster shares the machine with what it measures, so it must cost next to nothing.

export interface Poster {
  /** Posts a body, at once while a connection is free; resolves with the moment of the answer. Rejects unless it is 200. */
  post(body: string): Promise<number>;
  /** Posts all bodies, each connection the next one as soon as it has its answer; resolves with the moment of the last. */
  postAll(bodies: string[]): Promise<number>;
  close(): void;
}

/** Opens a poster of at most `connections` keep-alive connections. Moments are of `performance.now()`. */
export function createPoster(options: { url: string; token: string; connections: number }): Poster {
  const url = new URL(options.url);
  const head = [
    `POST ${url.pathname} HTTP/1.1`,
    `host: ${url.host}`,
    `authorization: Bearer ${options.token}`,
    'content-type: application/json',
    'content-length: ',
  ].join('\r\n');
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  let free = options.connections;
  const queue: (() => void)[] = [];

  async function post(body: string): Promise<number> {
    if (free === 0) await new Promise<void>((resolve) => queue.push(resolve));
    else free--;
    // The latest used first; the others may have been closed for idleness meanwhile.
    let connection = idle.pop();
    while (connection?.isClosed) connection = idle.pop();
    if (connection === undefined) {
      connection = new Connection(url, (closed) => all.delete(closed));
      all.add(connection);
    }
    try {
      await connection.send(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`);
      return performance.now();
    } finally {
      idle.push(connection);
      const next = queue.shift();
      if (next) next();
      else free++;
    }
  }

  return {
    post,
    async postAll(bodies) {
      let next = 0;
      const work = async () => {
        while (next < bodies.length) await post(bodies[next++]!);
      };
      await Promise.all(Array.from({ length: options.connections }, work));
      return performance.now();
    },
    close() {
      for (const connection of all) connection.close();
    },
  };
}

/** One request at a time. */
class Connection {
  readonly #socket: Socket;
  #received = '';
  #settle: { resolve(): void; reject(error: Error): void } | null = null;

  constructor(url: URL, onClosed: (connection: Connection) => void) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text) => this.#read(String(text)));
    this.#socket.on('error', (error) => this.#end(error));
    this.#socket.on('close', () => {
      this.#end(new Error('the server closed the connection'));
      onClosed(this);
    });
  }

  get isClosed() {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  send(request: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close() {
    this.#socket.destroy();
  }

  #read(text: string) {
    this.#received = this.#received === '' ? text : this.#received + text;
    if (!isWholeAnswer(this.#received)) return;
    const answer = this.#received;
    this.#received = '';
    this.#end(answer.startsWith('HTTP/1.1 200 ') ? null : new Error(`the server answered ${answer}`));
  }

  #end(error: Error | null) {
    const settle = this.#settle;
    this.#settle = null;
    if (error === null) settle?.resolve();
    else settle?.reject(error);
  }
}

const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** By its length, or, where it comes in chunks, by the empty one at the end. */
function isWholeAnswer(received: string): boolean {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return false;
  const length = LENGTH.exec(received.slice(0, headEnd))?.[1];
  if (length === undefined) return received.endsWith('\r\n0\r\n\r\n');
  return received.length >= headEnd + 4 + Number(length);
}
