import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection';

export interface Poster {
  /** Posts a body, at once if a connection is free. Resolves with the time of the answer. Rejects unless it is 200. */
  post(body: string): Promise<number>;
  /**
   * Posts all bodies; each connection sends the next one as soon as it has its answer. Resolves with the time of the
   * last answer.
   */
  postAll(bodies: string[]): Promise<number>;
  close(): void;
}

/**
 * Opens a poster with at most `connections` keep-alive connections. Times are those of `performance.now()`. With `retryMs`, a
 * body that is answered with 503 is sent again after that time.
 */
export function createPoster(options: {
  url: string;
  headers: string[];
  connections: number;
  retryMs?: number;
}): Poster {
  const { retryMs } = options;
  const url = new URL(options.url);
  const head = [`POST ${url.pathname} HTTP/1.1`, `host: ${url.host}`, ...options.headers, 'content-length: '].join(
    '\r\n',
  );
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  let free = options.connections;
  const queue: (() => void)[] = [];

  async function post(body: string): Promise<number> {
    if (free === 0) await new Promise<void>((resolve) => queue.push(resolve));
    else free--;
    // Use the most recently used connection first; the server may have closed older idle ones.
    let connection = idle.pop();
    while (connection?.isClosed) connection = idle.pop();
    if (connection === undefined) {
      connection = new Connection(url, (closed) => all.delete(closed));
      all.add(connection);
    }
    try {
      const request = `${head}${Buffer.byteLength(body)}\r\n\r\n${body}`;
      if (retryMs === undefined) await connection.send(request);
      else while (!(await isTaken(connection, request))) await sleep(retryMs);
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

async function isTaken(connection: Connection, request: string): Promise<boolean> {
  const status = await connection.ask(request);
  if (status !== 200 && status !== 503) throw new Error(`the server answered ${status}`);
  return status === 200;
}
