import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONNECTION_LIMITS } from '../../server/http-limits';

/**
 * What happens to a request: `pass`; `cut-before` closes the connection before the server sees it; `cut-after` lets the server
 * answer, passes on the head and half of the body, and closes the connection; `stall-after` does the same and leaves it open;
 * `drip` passes on a byte every 100 ms, `slowly` a tenth of the answer every 600 ms; `hang` never answers; an answer is sent in
 * place of the server's.
 */
export type Fault =
  | 'pass'
  | 'cut-before'
  | 'cut-after'
  | 'stall-after'
  | 'drip'
  | 'slowly'
  | 'hang'
  | { status: number; headers?: Record<string, string>; body?: string };

const DRIP_MS = 100;
const PART_MS = 600;

export interface RelayedRequest {
  at: number;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Whether the answer or the connection has ended. */
  isEnded: boolean;
}

export interface FaultyRelay {
  url: string;
  /** What arrived since the last `plan`. */
  requests: RelayedRequest[];
  /** Sets what happens to the next requests, in their order. Later ones pass. */
  plan(...faults: Fault[]): void;
  stop(): Promise<void>;
}

/**
 * Starts an HTTP relay on the loopback in front of a server, which breaks the requests that it is told to. A program in another
 * process tells it by a POST of the plan to `/relay`, which answers with the requests since the last one.
 */
export async function startFaultyRelay(targetUrl: string): Promise<FaultyRelay> {
  let faults: Fault[] = [];

  async function take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await incoming.toArray());
    const { method = '', url: path = '', headers } = incoming;
    if (path === '/relay') {
      response.end(JSON.stringify(relay.requests));
      return relay.plan(...JSON.parse(body.toString()));
    }
    const request = { at: Date.now(), method, path, headers, body: body.toString(), isEnded: false };
    relay.requests.push(request);
    response.once('close', () => {
      request.isEnded = true;
    });
    const fault = faults.shift() ?? 'pass';
    if (fault === 'hang') return;
    if (fault === 'cut-before') return void incoming.socket.destroy();
    if (typeof fault === 'object') return void response.writeHead(fault.status, fault.headers).end(fault.body);
    const { host: _, connection: __, 'transfer-encoding': ___, ...passed } = headers as Record<string, string>;
    const answer = await fetch(targetUrl + path, {
      method,
      headers: passed,
      redirect: 'manual',
      ...(body.length > 0 ? { body } : {}),
    });
    await passOn(answer, response, fault);
  }

  // Where there is no answer of the server to pass on, the connection is closed.
  const server = createServer((incoming, response) => void take(incoming, response).catch(() => response.destroy()));
  // As the product does. Node closes a connection after 5 s, which a client that is busy just then takes for one that was cut.
  server.keepAliveTimeout = CONNECTION_LIMITS.keepAliveTimeout;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const relay: FaultyRelay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    plan(...planned) {
      faults = planned;
      relay.requests = [];
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return relay;
}

async function passOn(answer: Response, response: ServerResponse, fault: Fault): Promise<void> {
  const bytes = Buffer.from(await answer.arrayBuffer());
  const { connection: _, 'keep-alive': __, ...headers } = Object.fromEntries(answer.headers);
  response.writeHead(answer.status, headers);
  if (fault === 'pass') return void response.end(bytes);
  if (fault === 'drip' || fault === 'slowly') {
    const [size, pauseMs] = fault === 'drip' ? [1, DRIP_MS] : [Math.ceil(bytes.length / 10), PART_MS];
    for (let sent = 0; sent < bytes.length && !response.destroyed; sent += size) {
      response.write(bytes.subarray(sent, sent + size));
      await sleep(pauseMs);
    }
    return void response.end();
  }
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => {
    if (fault === 'cut-after') response.destroy();
  });
}
