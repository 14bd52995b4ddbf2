import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createInngestClient, createMessages } from '../../inngest/client';
import { type Relay, startRelay } from '../support/relay';

// An Inngest server, and a network in front of it that forgets connections.

let inngest: Server;
let relay: Relay;
const names: string[] = [];

beforeAll(async () => {
  inngest = createServer(async (request, response) => {
    const chunks = await request.toArray();
    for (const { name } of JSON.parse(Buffer.concat(chunks).toString())) names.push(name);
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ ids: ['1'], status: 200 }));
  });
  await once(inngest.listen(0, '127.0.0.1'), 'listening');
  relay = await startRelay((inngest.address() as AddressInfo).port);
});
afterEach(() => {
  vi.unstubAllEnvs();
  names.length = 0;
});
afterAll(async () => {
  await relay.cut();
  inngest.closeAllConnections();
  inngest.close();
});

it.each(['/', '/behind/a-proxy/'])(
  'a message to the engine at %s goes over another connection if the network has forgotten the last one',
  async (path) => {
    // Inngest's SDK reads its own environment.
    vi.stubEnv('INNGEST_DEV', '1');
    vi.stubEnv('INNGEST_BASE_URL', `http://127.0.0.1:${relay.port}${path}`);
    const logger = { info() {}, warn() {}, error() {}, debug() {} };
    const messages = createMessages(createInngestClient({ region: 'us', logger, onRun: () => {}, onCall: () => {} }));
    await messages.sendSweep();
    // `fetch` keeps the connection a moment after the answer.
    await sleep(200);
    relay.forget();
    await messages.sendSweep();
    expect(names).toEqual(['webhook/sweep.requested', 'webhook/sweep.requested']);
  },
);
