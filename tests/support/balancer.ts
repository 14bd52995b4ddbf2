import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A minimal load balancer: one request to each server in turn, each on a new connection. */
export interface Balancer {
  url: string;
  /** How many requests each server has answered. */
  answered: number[];
  /** How many requests each server took and did not answer: their clients saw a broken connection. */
  broken: number[];
  stop(): Promise<void>;
}

/** Starts a balancer on the loopback to ports of the loopback. It skips a server that refuses the connection. */
export async function startBalancer(ports: number[]): Promise<Balancer> {
  const answered = ports.map(() => 0);
  const broken = ports.map(() => 0);
  let turn = 0;

  function pass(incoming: IncomingMessage, body: Buffer, response: ServerResponse, triesLeft = ports.length) {
    const index = turn++ % ports.length;
    const { method, url, headers } = incoming;
    const target = {
      host: '127.0.0.1',
      port: ports[index]!,
      method: method!,
      path: url!,
      headers,
      agent: false as const,
    };
    const outgoing = request(target, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', fail);
      answer.on('end', () => {
        if (!answer.complete) return;
        answered[index]!++;
        response.writeHead(answer.statusCode!, answer.rawHeaders).end(Buffer.concat(chunks));
      });
    });
    let hasFailed = false;
    function fail(error: NodeJS.ErrnoException) {
      if (hasFailed) return;
      hasFailed = true;
      if (error.code === 'ECONNREFUSED' && triesLeft > 1) return pass(incoming, body, response, triesLeft - 1);
      broken[index]!++;
      response.destroy();
    }
    outgoing.on('error', fail).end(body);
  }

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => pass(incoming, Buffer.concat(chunks), response));
  });
  // Only clients close idle connections, so no request is lost on one that the balancer is closing.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    broken,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Starts a balancer that keeps connections to each server, and asks the next server if one refuses connections. */
export async function startKeepingBalancer(ports: number[]): Promise<Pick<Balancer, 'url' | 'stop'>> {
  const agents = ports.map(() => new Agent({ keepAlive: true, maxSockets: 8 }));
  let turn = 0;
  const ask = (at: number, asked: IncomingMessage) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const { method, url: path, headers } = asked;
      const passed = { ...headers };
      delete passed.connection;
      const options = { port: ports[at]!, method, path, headers: passed, agent: agents[at]! };
      request(options, resolve).on('error', reject).end();
    });
  const server = createServer(async (asked, response) => {
    const first = turn++ % ports.length;
    try {
      const answer = await ask(first, asked).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ECONNREFUSED') throw error;
        return ask((first + 1) % ports.length, asked);
      });
      response.writeHead(answer.statusCode!);
      answer.pipe(response);
    } catch (error) {
      response.writeHead(502).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      for (const agent of agents) agent.destroy();
    },
  };
}
