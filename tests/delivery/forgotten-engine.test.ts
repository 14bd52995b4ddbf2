import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
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
  // Inngest's SDK reads its own environment.
  for (const [name, value] of Object.entries({ INNGEST_DEV: '1', INNGEST_BASE_URL: `http://127.0.0.1:${relay.port}` }))
    vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await relay.cut();
  inngest.closeAllConnections();
  inngest.close();
});

it('a message to the engine goes over another connection if the network has forgotten the last one', async () => {
  const logger = { info() {}, warn() {}, error() {}, debug() {} };
  const messages = createMessages(createInngestClient({ region: 'us', logger, onRun: () => {}, onCall: () => {} }));
  await messages.sendSweep();
  // `fetch` keeps the connection a moment after the answer.
  await sleep(200);
  relay.forget();
  await messages.sendSweep();
  expect(names).toEqual(['webhook/sweep.requested', 'webhook/sweep.requested']);
});
