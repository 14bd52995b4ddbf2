import { Agent, createServer, type Server as HttpServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Connection, type RawAnswer } from '../support/connection';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { findFreePort } from '../support/ports';
import { endProducts } from '../support/product';
import { waitUntil } from '../support/receiver';
import { openSite, type Server, type Site, type Tenant } from '../support/site';

// Processes that must stop while clients keep sending requests. Needs the build.

let database: TestDatabase;
let site: Site;
let tenant: Tenant;
let servers: Server[];

beforeAll(async () => {
  database = await createTestDatabase();
  site = await openSite({ db: database.db, url: database.url }, { QUOTA_ENTERPRISE: '1000000' });
  tenant = await site.createTenant();
  servers = await Promise.all([start(), start()]);
}, 60_000);
afterAll(async () => {
  await endProducts();
  await database.drop();
});

const start = async () => site.start({ PORT: String(await findFreePort()) });

/** Starts a load balancer that keeps connections to each server and tries the other if one refuses connections. */
async function startBalancer(servers: Server[]): Promise<{ url: string; stop(): void }> {
  const agents = servers.map(() => new Agent({ keepAlive: true, maxSockets: 8 }));
  let turn = 0;
  const ask = (at: number, asked: IncomingMessage) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const { port } = servers[at]!;
      const { method, url, headers } = asked;
      const passed = { ...headers };
      delete passed.connection;
      request({ port, method, path: url, headers: passed, agent: agents[at]! }, resolve).on('error', reject).end();
    });
  const balancer: HttpServer = createServer(async (asked, response) => {
    const first = turn++ % servers.length;
    try {
      const answer = await ask(first, asked).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ECONNREFUSED') throw error;
        return ask((first + 1) % servers.length, asked);
      });
      response.writeHead(answer.statusCode!);
      answer.pipe(response);
    } catch (error) {
      response.writeHead(502).end(String(error));
    }
  });
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    stop: () => {
      balancer.closeAllConnections();
      balancer.close();
      for (const agent of agents) agent.destroy();
    },
  };
}

it('behind a balancer, a process that stops fails no request', async () => {
  const balancer = await startBalancer(servers);
  const failures: string[] = [];
  let answered = 0;
  let isOver = false;
  const clients = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const response = await fetch(`${balancer.url}/v1/stats`, { headers: { authorization: `Bearer ${tenant.key}` } });
      const text = await response.text();
      if (response.status === 200) answered++;
      else failures.push(`${response.status} ${text}`);
    }
  });
  await waitUntil(() => answered >= 100, 20_000);
  const before = answered;
  servers[0]!.signal('SIGTERM');
  await sleep(100);
  // A second signal changes nothing.
  servers[0]!.signal('SIGTERM');
  const { code } = await servers[0]!.endWithin(12_000);
  await sleep(500);
  isOver = true;
  await Promise.all(clients);
  balancer.stop();
  expect(failures).toEqual([]);
  expect(code).toBe(0);
  expect(answered).toBeGreaterThan(before + 10);
}, 60_000);

it('a process that stops says so on open connections, and then closes them', async () => {
  const server = servers[1]!;
  const open = await Connection.open(server.url);
  open.writeHead('GET', '/ready');
  expect((await open.read()).body).toMatchObject({ status: 'ready' });
  server.signal('SIGTERM');
  // The signal may take a moment to arrive.
  let answer: RawAnswer;
  do {
    open.writeHead('GET', '/ready');
    answer = await open.read();
  } while (answer.status === 200);
  expect(answer.status).toBe(503);
  expect(answer.body).toMatchObject({ status: 'draining' });
  expect(answer.header('connection')).toBe('close');
  await open.closed;
  await expect(Connection.open(server.url)).rejects.toThrow('ECONNREFUSED');
  expect((await server.endWithin(12_000)).code).toBe(0);
}, 40_000);
