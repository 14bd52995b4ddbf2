import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readEnv } from '../../server/platform/env';
import { createLogger } from '../../server/platform/log';
import { closeService, createService, type Service, settleService } from '../../server/service';
import { scoredSession } from '../support/facts';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

// A serverless process may be frozen as soon as an engine call is answered and settled.

const ANSWER_MS = 400;

let base: TestServer;
let receiver: Receiver;
let inngest: Server;
/** Events that the engine's endpoint has accepted. */
const taken: { name: string; data: { subscriptionId: string; dueAt?: string } }[] = [];
let service: Service;
beforeAll(async () => {
  receiver = await startReceiver();
  // An endpoint that answers slowly.
  inngest = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      setTimeout(() => {
        taken.push(...JSON.parse(text));
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"ids":["1"],"status":200}');
      }, ANSWER_MS);
    });
  });
  await new Promise<void>((resolve) => inngest.listen(0, '127.0.0.1', resolve));
  const settings = {
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    INNGEST_BASE_URL: `http://127.0.0.1:${(inngest.address() as AddressInfo).port}`,
    INNGEST_EVENT_KEY: randomBytes(8).toString('hex'),
  };
  // Inngest's SDK reads its own environment.
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  base = await startTestServer(settings);
  const env = readEnv({
    ...settings,
    DATABASE_URL: base.database.url,
    APP_SECRET: base.service.env.APP_SECRET!.toString('base64'),
    LOG_LEVEL: 'silent',
  });
  service = createService({
    env,
    log: createLogger(env),
    databaseUrl: base.database.url,
    appSecret: env.APP_SECRET!,
    isSelfHosted: false,
  });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await closeService(service, 1_000);
  await base.stop();
  await receiver.stop();
  inngest.close();
});

it('a settled run has told the engine when its retries are due', async () => {
  // The receiver answers only after the run has stopped waiting for more deliveries.
  receiver.answer = () => sleep(3_500).then(() => 500);
  const { id, key } = await base.createTenant();
  const body = { url: receiver.url, eventType: 'BotDetected' };
  const { data } = (await base.call('POST', '/v1/webhooks', { key, body })).body;
  await base.ingest(id, scoredSession(0.95).facts);
  await service.dispatcher.drainSubscription({ integrationId: id, subscriptionId: data.id });
  await settleService(service);
  expect(receiver.received).toHaveLength(1);
  const wakeUps = taken.filter(({ name }) => name === 'webhook/retry.scheduled');
  expect(wakeUps.map(({ data }) => data.subscriptionId)).toEqual([data.id]);
});
