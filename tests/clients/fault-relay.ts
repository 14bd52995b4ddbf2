import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What happens to a request: an answer without the server, or its connection is cut before the server gets it, after the
 * half of its answer, or in the middle of a file; no answer, a slow one, one of something else, or an empty first page.
 */
type Fault =
  | { status: number; retryAfter?: string; location?: string }
  | 'cut-before'
  | 'cut-after'
  | 'cut-file'
  | 'cut-line'
  | 'stall'
  | 'drip'
  | 'page'
  | 'empty';

interface Entry {
  at: number;
  method: string;
  path: string;
  key: string | null;
  /** Whether the client ended the connection before it had an answer. */
  isClosed: boolean;
}

export interface FaultRelay {
  url: string;
  stop(): Promise<void>;
}

const DRIP_MS = 100;

/** Starts a server in front of the API. Programs PUT the faults of the next requests to `/faults`, and GET `/log`. */
export async function startFaultRelay(target: string): Promise<FaultRelay> {
  let faults: Fault[] = [];
  let log: Entry[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const body = Buffer.concat(await request.toArray());
    if (request.url === '/faults') {
      faults = JSON.parse(body.toString());
      log = [];
      return response.end();
    }
    if (request.url === '/log') return response.end(JSON.stringify(log));
    const entry: Entry = {
      ...{ at: Date.now(), method: request.method!, path: request.url! },
      ...{ key: (request.headers['idempotency-key'] as string | undefined) ?? null, isClosed: false },
    };
    log.push(entry);
    response.on('close', () => {
      entry.isClosed = !response.writableEnded;
    });
    await apply(faults.shift(), request, body, response);
  }

  async function pass(request: IncomingMessage, body: Buffer) {
    const { host: _, connection: __, 'content-length': ___, 'accept-encoding': ____, ...headers } = request.headers;
    const init = { method: request.method!, headers: headers as Record<string, string>, redirect: 'manual' as const };
    const passed = await fetch(target + request.url, body.length > 0 ? { ...init, body: new Uint8Array(body) } : init);
    const kept = ['content-type', 'x-request-id', 'retry-after'].flatMap((name) => {
      const value = passed.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return { status: passed.status, headers: Object.fromEntries(kept), text: await passed.text() };
  }

  async function apply(fault: Fault | undefined, request: IncomingMessage, body: Buffer, response: ServerResponse) {
    if (typeof fault === 'object') {
      const { status, retryAfter, location } = fault;
      const headers = { ...(retryAfter && { 'retry-after': retryAfter }), ...(location && { location }) };
      return response.writeHead(status, headers).end('{"error":{"code":"INJECTED","message":"m","details":null}}');
    }
    if (fault === 'cut-before') return response.destroy();
    if (fault === 'stall') return;
    if (fault === 'page') return response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>');
    const { status, headers, text } = await pass(request, body);
    if (fault === 'empty') {
      const page = JSON.parse(text);
      return response.writeHead(status, headers).end(JSON.stringify({ ...page, data: [] }));
    }
    if (fault === 'cut-after') {
      if (text === '') return response.destroy();
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) });
      return response.write(text.slice(0, text.length / 2), () => response.destroy());
    }
    if (fault === 'cut-file') {
      response.writeHead(status, headers).write(text.slice(0, text.length / 2));
      return setTimeout(() => response.destroy(), DRIP_MS);
    }
    if (fault === 'cut-line') return response.writeHead(status, headers).end(text.slice(0, text.length - 5));
    if (fault === 'drip') {
      response.writeHead(status, headers);
      const timer = setInterval(() => response.write(' '), DRIP_MS);
      return response.on('close', () => clearInterval(timer));
    }
    return response.writeHead(status, headers).end(text);
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
