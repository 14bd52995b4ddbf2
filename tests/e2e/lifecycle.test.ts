import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readEnv, SettingError } from '../../server/platform/env';
import { createLogger } from '../../server/platform/log';
import { prepareRuntime } from '../../server/runtime';
import {
  BARE_SERVER,
  type Ended,
  endProducts,
  findPostgres,
  makeDataDir,
  NPM_START,
  type Product,
  readScreen,
  runAdmin,
  type Screen,
  spawnAdmin,
  spawnProduct,
  startProduct,
  waitForNoPostgres,
} from '../support/product';
import { type Received, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { RECOVERY_LIMIT_MS, TAKE_OVER_LIMIT_MS } from '../support/site';

// The product on one data directory, from its first start to its last. Each start costs seconds of CPU time, so a test uses
// the product that the test before it left running. Each test also runs alone.

let receiver: Receiver;
let dataDir: string;
/** Null while the product does not run. */
let running: Product | null = null;
/** What the start showed that loaded the demo. */
let screen: Screen | undefined;

beforeAll(async () => {
  [receiver, dataDir] = await Promise.all([startReceiver(), makeDataDir()]);
});
afterEach(() => {
  receiver.answer = () => 200;
});
afterAll(async () => {
  await endProducts();
  await receiver.stop();
});

/** Starts the product, unless it runs. */
async function start(command?: string[]): Promise<Product & { demo: Screen }> {
  const settings = { WEBHOOK_ALLOW_HOSTS: receiver.host, WEBHOOK_RETRY_DELAYS: '0s,2s,2s,2s,2s,2s' };
  running ??= await startProduct(dataDir, settings, command);
  screen ??= readScreen(running);
  return { ...running, demo: screen };
}

/** Waits until the product and everything it started have ended. */
async function expectEnd(): Promise<void> {
  const ended = await running!.endWithin();
  running = null;
  expect(ended).toMatchObject({ code: 0, signal: null });
  await waitForNoPostgres(dataDir, 0);
}

async function stop(): Promise<void> {
  if (!running) return;
  running.signalGroup('SIGTERM');
  await expectEnd();
}

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

const arrived = (path: string) => receiver.received.filter((received) => received.path === path);

async function subscribe(product: Product, key: string, path: string): Promise<string> {
  const body = { url: `${receiver.url}${path}`, eventType: 'BotDetected' };
  const { status, body: created } = await product.call('POST', '/v1/webhooks', { key, body });
  expect(status).toBe(200);
  return created.data.id;
}

/** Removes the subscriptions of a test, so that the events of the next one go nowhere else. */
async function unsubscribe(product: Product, key: string, ids: string[]): Promise<void> {
  for (const id of ids) expect((await product.call('DELETE', `/v1/webhooks/${id}`, { key })).status).toBe(204);
}

describe('a first start', () => {
  it('that finds its port taken says so in one line and stops its Postgres', async () => {
    await stop();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const ended = await spawnProduct(dataDir, { PORT: String(port) })
      .endWithin()
      .finally(() => other.close());
    expect(ended.code).toBe(1);
    expect(readLines(ended)).toEqual([expect.stringMatching(/^PORT\b/)]);
    expect(ended.stderr).not.toContain('"level":"warn"');
    expect(ended.stdout).toBe('');
    await waitForNoPostgres(dataDir, 0);
  });

  it('that finds a file of a setting missing says so in one line and stops its Postgres', async () => {
    const dataDir = await makeDataDir();
    const ended = await spawnProduct(dataDir, { PORT: '0', GEOIP_DATABASE: '/nowhere' }).endWithin();
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(readLines(ended)).toEqual([expect.stringMatching(/^GEOIP_DATABASE: cannot be read/)]);
    await waitForNoPostgres(dataDir, 0);
  });

  it('that is interrupted loads no demo and leaves nothing running, and the next start shows the demo key', async () => {
    const interrupted = spawnProduct(dataDir, { PORT: '0' });
    await waitUntil(async () => (await findPostgres(dataDir)) !== null);
    interrupted.signalGroup('SIGINT');
    expect(await interrupted.endWithin()).toMatchObject({ code: 0, signal: null, stdout: '' });
    await waitForNoPostgres(dataDir, 0);

    const { demo, ...product } = await start(NPM_START);
    await readSessions(product, demo.demoKey);
  });
});

it('a start or a command that waits for the recovery of Postgres is given up on a signal, and leaves nothing running', async () => {
  const dataDir = await makeDataDir();
  expect(await runAdmin(dataDir, ['db', 'migrate'])).toMatchObject({ code: 0 });
  // A standby that nobody promotes recovers without an end, and without hot_standby takes no connections meanwhile.
  const cluster = join(dataDir, 'postgres');
  const { uid, gid } = await stat(cluster);
  await writeFile(join(cluster, 'standby.signal'), '');
  await chown(join(cluster, 'standby.signal'), uid, gid);
  await appendFile(join(cluster, 'postgresql.auto.conf'), 'hot_standby = off\n');
  const waiting = spawnProduct(dataDir, { PORT: '0' });
  await waitUntil(async () => (await findPostgres(dataDir)) !== null);
  waiting.signalGroup('SIGTERM');
  expect(await waiting.endWithin()).toMatchObject({ code: 0, signal: null, stderr: '' });
  await waitForNoPostgres(dataDir, 10_000);
  const command = spawnAdmin(dataDir, ['integration', 'list']);
  await waitUntil(async () => (await findPostgres(dataDir)) !== null);
  command.signalGroup('SIGINT');
  expect(await command.endWithin()).toMatchObject({ code: 1, signal: null, stderr: 'interrupted\n' });
  await waitForNoPostgres(dataDir, 10_000);
});

describe('the product', () => {
  it('makes generated files readable only by their owner, also those of a volume whose group the platform sets', async () => {
    await start(NPM_START);
    await stop();
    const names = await readdir(dataDir);
    for (const name of names) await chmod(join(dataDir, name), name === 'postgres' ? 0o2770 : 0o660);
    await start(NPM_START);
    expect(names).toEqual(expect.arrayContaining(['app-secret', 'pipeline-token', 'postgres-password']));
    for (const name of names) {
      const info = await stat(join(dataDir, name));
      expect(`${name} ${(info.mode & 0o777).toString(8)}`).toBe(`${name} ${info.isDirectory() ? '700' : '600'}`);
    }
  });

  it('refuses a second start on a taken port in one line, and the first one keeps its Postgres', async () => {
    const { demo, ...product } = await start(NPM_START);
    const postgres = await findPostgres(dataDir);
    const second = spawnProduct(dataDir, { PORT: String(product.port) }, NPM_START);
    const ended = await second.endWithin();
    expect(ended.code).toBe(1);
    expect(readLines(ended)).toEqual([expect.stringMatching(new RegExp(`^PORT\\b.*\\b${product.port}\\b`))]);
    expect(ended.stdout).not.toContain('/swagger');
    expect(await findPostgres(dataDir)).toBe(postgres);
    await readSessions(product, demo.demoKey);
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

  it('after SIGTERM, sent twice and only to npm, lets requests in flight finish, accepts nothing more and ends everything with code 0', async () => {
    receiver.answer = () => sleep(2_000, 200);
    const { demo, ...product } = await start(NPM_START);
    const { demoKey: key, integrationId } = demo;
    const id = await subscribe(product, key, '/slow');
    await detectBot(product, integrationId);
    await waitUntil(() => arrived('/slow').length === 1);
    const underWay = await openRequest(product, '/v1/webhooks', key);
    await sleep(200);

    product.signal('SIGTERM');
    await sleep(100);
    product.signal('SIGTERM');
    await sleep(300);
    await expect(fetch(`${product.url}/health`)).rejects.toThrow();
    underWay.finish({ url: `${receiver.url}/slow`, eventType: 'BotDetected', name: 'The last one' });
    expect(await underWay.answer).toBe(200);
    await expectEnd();

    const next = await start(NPM_START);
    const { body } = await next.call('GET', '/v1/webhooks', { key });
    expect(body.data).toMatchObject([
      { id, lastDeliveryStatus: 'Delivered' },
      { name: 'The last one', lastDeliveryStatus: null },
    ]);
    expect(arrived('/slow')).toHaveLength(1);
    await unsubscribe(
      next,
      key,
      body.data.map((one: { id: string }) => one.id),
    );
  });

  it('lets an attempt finish although a request takes all of the time', async () => {
    receiver.answer = () => sleep(11_000, 200);
    const { demo, ...product } = await start();
    const { demoKey: key, integrationId } = demo;
    const id = await subscribe(product, key, '/last');
    await openRequest(product, '/v1/webhooks', key);
    await detectBot(product, integrationId);
    await waitUntil(() => arrived('/last').length === 1);
    product.signalGroup('SIGTERM');
    await expectEnd();
    const next = await start();
    const { body } = await next.call('GET', `/v1/webhooks/${id}`, { key });
    expect(body.data).toMatchObject({ lastDeliveryStatus: 'Delivered' });
    expect(arrived('/last')).toHaveLength(1);
    await unsubscribe(next, key, [id]);
  });

  it('ends on Ctrl-C with all its processes and code 0; another region is refused in one line; the next start has all data, sends what a command caused in between, and ends when its terminal is closed', async () => {
    const { demo, ...product } = await start(NPM_START);
    const { demoKey: key, integrationId } = demo;
    const sessions = await readSessions(product, key);
    const id = await subscribe(product, key, '/later');
    product.signalGroup('SIGINT');
    await expectEnd();

    const ended = await spawnProduct(dataDir, { REGION: 'eu', PORT: '0' }).endWithin();
    expect(ended.code).toBe(1);
    expect(readLines(ended)).toEqual(['REGION: is eu, but this database belongs to region us']);
    expect(ended.stdout).not.toContain('/swagger');
    await waitForNoPostgres(dataDir, 0);

    const command = await runAdmin(dataDir, ['demo', 'session', '--integration', integrationId, '--json']);
    const { sessionId } = JSON.parse(command.stdout);
    expect(await findPostgres(dataDir)).toBeNull();

    const next = await start();
    expect(next.stdout()).not.toMatch(/aik_v1_|demo (sign-in|api key|session)|shown this once/i);
    const found = await readSessions(next, key);
    expect(found.filter((one: { id: string }) => one.id !== sessionId)).toEqual(sessions.slice(0, found.length - 1));
    await waitUntil(() => arrived('/later').length > 0);
    expect(arrived('/later').map(({ body }) => JSON.parse(body).sessionId)).toEqual([sessionId]);
    await unsubscribe(next, key, [id]);
    next.signalGroup('SIGHUP');
    await expectEnd();
  });
});

it('settings are those of the environment alone: a file `.env`, as the containers have one, changes nothing', async () => {
  const dataDir = await makeDataDir();
  const checkout = join(dataDir, '..', 'checkout');
  await mkdir(checkout);
  for (const name of await readdir('.'))
    if (!/^\.(?:env|git|data)/.test(name)) await symlink(resolve(name), join(checkout, name));
  await writeFile(join(checkout, '.env'), 'PUBLIC_URL_US=https://api.example.com\n');
  const command = ['sh', '-c', `cd '${checkout}' && ${BARE_SERVER.at(-1)}`];
  const product = await startProduct(dataDir, { DEMO: '0', WEBHOOK_ALLOW_HOSTS: receiver.host }, command);
  const page = await fetch(`${product.url}/dashboard`, { redirect: 'manual', headers: { connection: 'close' } });
  expect([page.status, page.headers.get('strict-transport-security')]).toEqual([307, null]);
  expect(await product.call('GET', '/ready')).toMatchObject({ status: 200 });
  product.signalGroup('SIGTERM');
  expect(await product.endWithin()).toMatchObject({ code: 0 });
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

  it('DATA_DIR that is a file or leads nowhere, or has a damaged or unreadable secret, is named in one line', async () => {
    const dataDir = await makeDataDir();
    await mkdir(dataDir);
    const damaged = join(dataDir, 'app-secret');
    await writeFile(damaged, 'c2hvcnQ=\n');
    const prepare = async (DATA_DIR: string) => {
      const env = readEnv({ DATA_DIR, LOG_LEVEL: 'silent' });
      return prepareRuntime(env, createLogger(env));
    };
    const dangling = join(dataDir, 'dangling');
    await symlink(join(dataDir, 'nowhere'), dangling);
    for (const none of [damaged, dangling])
      await expect(prepare(none)).rejects.toThrow(new SettingError(`DATA_DIR: ${none} is not a directory`));
    await expect(prepare(dataDir)).rejects.toThrow(
      new SettingError(`DATA_DIR: ${damaged} must have 32 bytes in base64; restore it`),
    );
    // A directory cannot be read by anybody, root included.
    await rm(damaged);
    await mkdir(damaged);
    await expect(prepare(dataDir)).rejects.toThrow(new SettingError(`DATA_DIR: ${damaged} cannot be read (EISDIR)`));
    // One that the setting may not have: easily guessed, or one that no request can have.
    await rm(damaged, { recursive: true });
    const short = join(dataDir, 'pipeline-token');
    for (const token of ['x', 'in two or more words']) {
      await writeFile(short, token);
      await expect(prepare(dataDir)).rejects.toThrow(
        new SettingError(
          `DATA_DIR: ${short} must have at least 16 characters, all of them visible ASCII; restore it, or delete it to make a new one`,
        ),
      );
    }
    await waitForNoPostgres(dataDir, 0);
  });

  it('DATA_DIR that has lost the secret which webhooks need is named in one line, nothing replaces the secret, and a start with another warns', async () => {
    const dataDir = await makeDataDir();
    const args = ['integration', 'create', '--name', 'Sealed', '--plan', 'pro', '--json'];
    const { id } = JSON.parse((await runAdmin(dataDir, args)).stdout);
    await runAdmin(dataDir, ['integration', 'rotate-identity-secret', '--integration', id]);
    const lost = join(dataDir, 'app-secret');
    const before = await readFile(lost, 'utf8');
    await rm(lost);
    const list = ['integration', 'list', '--json'];
    expect(await runAdmin(dataDir, list)).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: `DATA_DIR: ${lost} is missing, and webhook or identity secrets or erased users need it; restore it, or put 32 new bytes in base64 there, rotate these secrets and erase these users again\n`,
    });
    expect(existsSync(lost)).toBe(false);
    await writeFile(lost, randomBytes(32).toString('base64'));
    const started = spawnProduct(dataDir, { PORT: '0', DEMO: '0' });
    await waitUntil(() => started.stderr().includes('APP_SECRET cannot read secrets'));
    started.signalGroup('SIGTERM');
    expect(await started.endWithin()).toMatchObject({ code: 0 });
    await writeFile(lost, before);
    expect(await runAdmin(dataDir, list)).toMatchObject({ code: 0 });
  });

  it('DATA_DIR whose Postgres cannot start gives the line that says why', async () => {
    const dataDir = await makeDataDir();
    await mkdir(join(dataDir, 'postgres', 'of-somebody-else'), { recursive: true });
    const ended = await runAdmin(dataDir, ['integration', 'list']);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^Embedded Postgres in .*\bpostgres\b.*\n$/);
    expect(ended.stderr).not.toContain('"stack"');
  });

  it.each([
    ['PORT', { PORT: 'x' }],
    ['DATABASE_URL', { DATABASE_URL: database, APP_SECRET: secret }],
  ])('%s, of %o, ends the start with one line on stderr and exit code 1', async (name, settings) => {
    const dataDir = await makeDataDir();
    const ended = await spawnProduct(dataDir, { PORT: '0', ...settings }).endWithin();
    expect(ended.code).toBe(1);
    expect(ended.stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(new RegExp(`\\b${name}\\b`))]);
    expect(ended.stdout).toBe('');
    expect(existsSync(dataDir)).toBe(false);
  });
});

describe('kill -9', () => {
  const deliveryId = ({ headers }: Received) => headers['x-webhook-delivery-id'];

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
    receiver.answer = ({ path }) => (path === '/unanswered' ? null : 503);
    const { demo, ...killed } = await start();
    const { demoKey: key, integrationId } = demo;
    const pending = await subscribe(killed, key, '/refused');
    const underWay = await subscribe(killed, key, '/unanswered');
    await detectBot(killed, integrationId);
    await waitUntil(() => arrived('/refused').length > 0 && arrived('/unanswered').length > 0);
    await sleep(300);
    killed.signal('SIGKILL');
    running = null;
    expect(await killed.endWithin()).toMatchObject({ signal: 'SIGKILL' });

    receiver.answer = () => 200;
    const product = await start();
    expect(product.stdout()).not.toContain('aik_v1_');
    await expectRedelivery(product, key, underWay, '/unanswered', TAKE_OVER_LIMIT_MS);
    await expectRedelivery(product, key, pending, '/refused', RECOVERY_LIMIT_MS);
    await unsubscribe(product, key, [pending, underWay]);
  });

  it('of server and Postgres: the next start uses the same data and sends what was pending', async () => {
    receiver.answer = () => 503;
    const { demo, ...killed } = await start();
    const { demoKey: key, integrationId } = demo;
    const id = await subscribe(killed, key, '/refused-again');
    await detectBot(killed, integrationId);
    await waitUntil(() => arrived('/refused-again').length > 0);
    await sleep(300);
    const sessions = await readSessions(killed, key);
    const postgres = await findPostgres(dataDir);
    if (postgres === null) throw new Error('no Postgres runs');
    killed.signal('SIGKILL');
    process.kill(postgres, 'SIGKILL');
    running = null;
    await killed.endWithin();
    await waitForNoPostgres(dataDir, 5_000);

    receiver.answer = () => 200;
    const product = await start();
    expect(await readSessions(product, key)).toEqual(sessions);
    await expectRedelivery(product, key, id, '/refused-again', RECOVERY_LIMIT_MS);
  });
});
