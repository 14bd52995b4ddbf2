import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readEnv, SettingError } from '../../server/platform/env';
import { createLogger } from '../../server/platform/log';
import { prepareRuntime } from '../../server/runtime';
import { findFreePort } from '../support/ports';
import {
  type Ended,
  endProducts,
  findPostgres,
  makeDataDir,
  NPM_START,
  type Product,
  readScreen,
  type Screen,
  spawnProduct,
  startProduct,
  waitForNoPostgres,
} from '../support/product';
import { type Received, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { RECOVERY_LIMIT_MS, TAKE_OVER_LIMIT_MS } from '../support/site';

const STOP_LIMIT_MS = 15_000;
const TIMEOUT_MS = 2_000;

afterAll(endProducts);

const readSessions = async (product: Product, key: string) => {
  const { status, body } = await product.call('GET', '/v1/sessions?pageSize=100', { key });
  expect(status).toBe(200);
  expect(body.data.length).toBeGreaterThan(0);
  return body.data;
};

/** Reads what people see on stderr: every line that is not a log record. */
const readLines = ({ stderr }: Ended) =>
  stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{"level"'));

async function detectBot(product: Product, integrationId: string): Promise<void> {
  const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1_000).toISOString();
  const sessionId = `crash-${product.pid}`;
  const pageUrl = 'https://lms.example.edu/courses/7';
  const { status } = await product.ingest(integrationId, [
    { kind: 'sessionStarted', sessionId, startedAt: at(60), pageUrl, userAgent: 'curl/8' },
    { kind: 'sessionClosed', sessionId, closedAt: at(2) },
    { kind: 'sessionScored', sessionId, botScore: 0.97, detectionFlags: ['webdriver'], scoredAt: at(1) },
  ]);
  expect(status).toBe(200);
}

let product: Product;
let screen: Screen;

beforeAll(async () => {
  product = await startProduct(await makeDataDir(), {}, NPM_START);
  screen = readScreen(product);
}, 90_000);

/** Stops the first server, if it still runs, and copies its data. The copy costs far less than another first start. */
async function copyData(): Promise<string> {
  if ((await findPostgres(product.dataDir)) !== null) product.signalGroup('SIGTERM');
  await product.endWithin(STOP_LIMIT_MS);
  const copy = await makeDataDir();
  // `-p` keeps owners and modes.
  execFileSync('cp', ['-Rp', product.dataDir, copy]);
  return copy;
}

describe('one data directory, from its first start to its last', () => {
  it('makes generated files readable only by their owner', async () => {
    const names = await readdir(product.dataDir);
    expect(names).toEqual(expect.arrayContaining(['app-secret', 'pipeline-token', 'postgres-password']));
    for (const name of names) {
      const info = await stat(join(product.dataDir, name));
      expect(`${name} ${(info.mode & 0o777).toString(8)}`).toBe(`${name} ${info.isDirectory() ? '700' : '600'}`);
    }
  });

  it('refuses a second start on a taken port in one line, and the first one keeps its Postgres', async () => {
    const postgres = await findPostgres(product.dataDir);
    const second = spawnProduct(product.dataDir, { PORT: String(product.port) }, NPM_START);
    const ended = await second.endWithin(30_000);
    expect(ended.code).toBe(1);
    expect(readLines(ended)).toEqual([expect.stringMatching(new RegExp(`^PORT\\b.*\\b${product.port}\\b`))]);
    expect(ended.stdout).not.toContain('/swagger');
    expect(await findPostgres(product.dataDir)).toBe(postgres);
    await readSessions(product, screen.demoKey);
  }, 60_000);

  it('ends on Ctrl-C with all its processes and code 0, and the next start has all data', async () => {
    const sessions = await readSessions(product, screen.demoKey);
    product.signalGroup('SIGINT');
    const ended = await product.endWithin(STOP_LIMIT_MS);
    expect(ended).toMatchObject({ code: 0, signal: null });
    await waitForNoPostgres(product.dataDir, 0);

    product = await startProduct(product.dataDir);
    expect(product.stdout()).not.toMatch(/aik_v1_|demo (sign-in|api key|session)|shown this once/i);
    expect(await readSessions(product, screen.demoKey)).toEqual(sessions);
  }, 90_000);

  it('refuses to start on the data of another region, in one line', async () => {
    product.signalGroup('SIGTERM');
    await product.endWithin(STOP_LIMIT_MS);
    const ended = await spawnProduct(product.dataDir, { REGION: 'eu', PORT: '0' }).endWithin(30_000);
    expect(ended.code).toBe(1);
    expect(readLines(ended)).toEqual([expect.stringMatching(/^REGION\b.*\beu\b.*\bus\b/)]);
    expect(ended.stdout).not.toContain('/swagger');
    await waitForNoPostgres(product.dataDir, 0);
  }, 90_000);
});

describe('a first start', () => {
  it('that finds its port taken stops its Postgres, and the next start still shows the demo key', async () => {
    const dataDir = await makeDataDir();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const ended = await spawnProduct(dataDir, { PORT: String(port) })
      .endWithin(60_000)
      .finally(() => other.close());
    expect(ended.code).toBe(1);
    expect(readLines(ended)).toEqual([expect.stringMatching(/^PORT\b/)]);
    await waitForNoPostgres(dataDir, 0);

    const product = await startProduct(dataDir);
    const { demoKey } = readScreen(product);
    await readSessions(product, demoKey);
  }, 120_000);

  it('that is interrupted leaves nothing running, and the next start works', async () => {
    const dataDir = await makeDataDir();
    const interrupted = spawnProduct(dataDir, { PORT: String(await findFreePort()) });
    await waitUntil(async () => (await findPostgres(dataDir)) !== null, 30_000);
    interrupted.signalGroup('SIGINT');
    expect(await interrupted.endWithin(30_000)).toMatchObject({ code: 0, signal: null });
    await waitForNoPostgres(dataDir, 0);

    const product = await startProduct(dataDir);
    const shown = [interrupted.stdout(), product.stdout()].map((text) => /aik_v1_[\w-]{40}/.exec(text)?.[0]);
    expect(shown.filter(Boolean)).toHaveLength(1);
    await readSessions(product, shown.find(Boolean) ?? '');
  }, 120_000);
});

describe('an invalid setting', () => {
  const database = 'postgres://user:password@127.0.0.1:1/app';
  const secret = Buffer.alloc(32, 1).toString('base64');

  // The process prints the message of a SettingError and exits with 1.
  it.each([
    ['PORT', { PORT: 'x' }],
    ['REGION', { REGION: 'mars' }],
    ['WEBHOOK_TIMEOUT', { WEBHOOK_TIMEOUT: '5' }],
    ['WEBHOOK_RETRY_DELAYS', { WEBHOOK_RETRY_DELAYS: '0s,1m' }],
    ['APP_SECRET', { DATABASE_URL: database }],
    ['APP_SECRET', { DATABASE_URL: database, APP_SECRET: 'short' }],
    ['DATABASE_URL', { DATABASE_URL: database, APP_SECRET: secret }],
    ['DATA_DIR', { DATA_DIR: '/proc/nowhere' }],
    ['WEBHOOK_ALLOW_HOSTS', { WEBHOOK_ALLOW_HOSTS: '127.0.0.1:8080', PUBLIC_URL_US: 'https://api.example.com' }],
  ])('%s, of %o, is named in one line and makes no data directory', async (name, settings) => {
    const dataDir = await makeDataDir();
    const prepare = async () => {
      const env = readEnv({ DATA_DIR: dataDir, ...settings });
      await prepareRuntime(env, createLogger(env));
    };
    const error = await prepare().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(SettingError);
    expect((error as Error).message).toMatch(new RegExp(`^.*\\b${name}\\b.*$`));
    expect(existsSync(dataDir)).toBe(false);
  });

  it.each([
    ['PORT', { PORT: 'x' }],
    ['DATABASE_URL', { DATABASE_URL: database, APP_SECRET: secret }],
  ])(
    '%s, of %o, ends the start with one line on stderr and exit code 1',
    async (name, settings) => {
      const dataDir = await makeDataDir();
      const ended = await spawnProduct(dataDir, { PORT: '0', ...settings }).endWithin(20_000);
      expect(ended.code).toBe(1);
      expect(ended.stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(new RegExp(`\\b${name}\\b`))]);
      expect(ended.stdout).toBe('');
      expect(existsSync(dataDir)).toBe(false);
    },
    30_000,
  );
});

describe('SIGTERM', () => {
  let slow: Server;
  afterEach(() => {
    slow.closeAllConnections();
    slow.close();
  });

  /** Opens a request whose body is sent later. */
  async function openRequest({ port }: Product, path: string, key: string) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' };
    const open = request({ host: '127.0.0.1', port, method: 'POST', path, headers });
    const answer = once(open, 'response').then(([response]) => response.statusCode as number);
    answer.catch(() => {}); // awaited later by the test
    open.write(' ');
    await once(open, 'socket').then(([socket]) => socket.connecting && once(socket, 'connect'));
    return { answer, finish: (body: unknown) => open.end(JSON.stringify(body)) };
  }

  it('sent twice, and only to npm, lets requests in flight finish, accepts nothing more and ends everything with code 0', async () => {
    let deliveries = 0;
    slow = createServer((_request, response) => {
      deliveries++;
      setTimeout(() => response.end(), 2_000);
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const product = await startProduct(await copyData(), { WEBHOOK_ALLOW_HOSTS: host }, NPM_START);
    const { demoKey: key, integrationId } = screen;
    const subscription = { url: `http://${host}/slow`, eventType: 'BotDetected' };
    const { status, body: created } = await product.call('POST', '/v1/webhooks', { key, body: subscription });
    expect(status).toBe(200);
    await detectBot(product, integrationId);
    await waitUntil(() => deliveries === 1);
    const underWay = await openRequest(product, '/v1/webhooks', key);
    await sleep(200);

    product.signal('SIGTERM');
    await sleep(100);
    product.signal('SIGTERM');
    await sleep(300);
    await expect(fetch(`${product.url}/health`)).rejects.toThrow();
    underWay.finish({ ...subscription, name: 'The last one' });
    expect(await underWay.answer).toBe(200);
    expect(await product.endWithin(STOP_LIMIT_MS)).toMatchObject({ code: 0, signal: null });
    await waitForNoPostgres(product.dataDir, 0);

    const next = await startProduct(product.dataDir, { WEBHOOK_ALLOW_HOSTS: host });
    const { body } = await next.call('GET', '/v1/webhooks', { key });
    expect(body.data).toMatchObject([
      { id: created.data.id, lastDeliveryStatus: 'Delivered' },
      { name: 'The last one', lastDeliveryStatus: null },
    ]);
    expect(deliveries).toBe(1);
  }, 90_000);
});

describe('kill -9', () => {
  let receiver: Receiver;
  afterEach(() => receiver.stop());

  const settings = () => ({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
    WEBHOOK_RETRY_DELAYS: '0s,2s,2s,2s,2s,2s',
  });
  const arrived = (path: string) => receiver.received.filter((received) => received.path === path);
  const deliveryId = ({ headers }: Received) => headers['x-webhook-delivery-id'];

  async function subscribe(product: Product, key: string, path: string): Promise<string> {
    const body = { url: `${receiver.url}${path}`, eventType: 'BotDetected' };
    const { status, body: created } = await product.call('POST', '/v1/webhooks', { key, body });
    expect(status).toBe(200);
    return created.data.id;
  }

  /** Expects the same delivery once more after the restart, and its outcome. */
  async function expectRedelivery(product: Product, key: string, id: string, path: string, limitMs: number) {
    await waitUntil(
      () => arrived(path).length >= 2,
      limitMs,
      () => `${path}: ${arrived(path).length} of 2 attempts arrived`,
    );
    expect(new Set(arrived(path).map(deliveryId)).size).toBe(1);
    await waitUntil(async () => {
      const { body } = await product.call('GET', `/v1/webhooks/${id}`, { key });
      return body.data.lastDeliveryStatus === 'Delivered';
    }, 5_000);
    expect(arrived(path)).toHaveLength(2);
  }

  it('of the server: the next start uses the same data and sends what was pending or in flight', async () => {
    receiver = await startReceiver();
    receiver.answer = ({ path }) => (path === '/unanswered' ? null : 503);
    const killed = await startProduct(await copyData(), settings());
    const { demoKey: key, integrationId } = screen;
    const pending = await subscribe(killed, key, '/refused');
    const underWay = await subscribe(killed, key, '/unanswered');
    await detectBot(killed, integrationId);
    await waitUntil(() => arrived('/refused').length > 0 && arrived('/unanswered').length > 0);
    await sleep(300);
    killed.signal('SIGKILL');
    expect(await killed.endWithin(5_000)).toMatchObject({ signal: 'SIGKILL' });

    receiver.answer = () => 200;
    const product = await startProduct(killed.dataDir, settings());
    expect(product.stdout()).not.toContain('aik_v1_');
    await expectRedelivery(product, key, underWay, '/unanswered', TAKE_OVER_LIMIT_MS);
    await expectRedelivery(product, key, pending, '/refused', RECOVERY_LIMIT_MS);
  }, 120_000);

  it('of server and Postgres: the next start uses the same data and sends what was pending', async () => {
    receiver = await startReceiver();
    receiver.answer = () => 503;
    const killed = await startProduct(await copyData(), settings());
    const { demoKey: key, integrationId } = screen;
    const id = await subscribe(killed, key, '/refused');
    await detectBot(killed, integrationId);
    await receiver.waitFor(1);
    await sleep(300);
    const sessions = await readSessions(killed, key);
    const postgres = await findPostgres(killed.dataDir);
    if (postgres === null) throw new Error('no Postgres runs');
    killed.signal('SIGKILL');
    process.kill(postgres, 'SIGKILL');
    await killed.endWithin(5_000);
    await waitForNoPostgres(killed.dataDir, 5_000);

    receiver.answer = () => 200;
    const product = await startProduct(killed.dataDir, settings());
    expect(await readSessions(product, key)).toEqual(sessions);
    await expectRedelivery(product, key, id, '/refused', RECOVERY_LIMIT_MS);
  }, 120_000);
});
