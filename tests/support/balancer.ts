import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A load balancer as simple as they come: one request to each server in turn, on connections of their own. */
export interface Balancer {
  url: string;
  /** How many requests each server has answered. */
  answered: number[];
  /** How many it took and did not answer: their clients saw a connection that broke. */
  broken: number[];
  stop(): Promise<void>;
}

/** Starts one on the loopback to ports of the loopback. Who refuses the connection is passed over. */
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
