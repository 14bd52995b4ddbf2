import { Connection } from './connection';

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
