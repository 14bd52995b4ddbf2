import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  endProducts,
  findPostgres,
  makeDataDir,
  type Product,
  runAdmin,
  runNpmAdmin,
  runPrinted,
  spawnAdmin,
  startProduct,
} from '../support/product';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';

// The operator's commands as processes: what they print and their exit codes, the embedded Postgres, and what a running
// server notices. tests/rest/commands.test.ts holds what each command does, and tests/e2e/lifecycle.test.ts what a server does
// that starts after a command.

let receiver: Receiver;
let dataDir: string;
/** Of the integration that a command creates. */
let id: string;

beforeAll(async () => {
  receiver = await startReceiver();
  dataDir = await makeDataDir();
});
afterAll(async () => {
  await endProducts();
  await receiver.stop();
});

const settings = () => ({ DEMO: '0', WEBHOOK_ALLOW_HOSTS: receiver.host });
const arrived = (path: string) => receiver.received.filter((received) => received.path === path);

/** Runs a command with `--json`, which must print one JSON object on stdout and nothing else. */
async function admin(...args: string[]) {
  const ended = await runAdmin(dataDir, [...args, '--json'], settings());
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/^\{.*\}\n$/);
  return JSON.parse(ended.stdout);
}

/** Runs a command that must fail: nothing on stdout, one line on stderr, exit code 1. */
async function refuse(...args: string[]): Promise<string> {
  const ended = await runAdmin(dataDir, args, settings());
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/^\S.*\n$/);
  return ended.stderr;
}

async function subscribe(product: Product, key: string, path: string) {
  const body = { url: `${receiver.url}${path}`, eventType: 'BotDetected' };
  const created = await product.call('POST', '/v1/webhooks', { key, body });
  expect(created.status).toBe(200);
  return created.body.data;
}

describe('without a running server, a command starts the embedded database and stops it', () => {
  it('db migrate names the migrations it applied, and none the second time; the first says that it made a database', async () => {
    dataDir = await makeDataDir();
    const first = await runAdmin(dataDir, ['db', 'migrate', '--json'], settings());
    expect(JSON.parse(first.stdout)).toEqual({ applied: expect.arrayContaining([expect.stringMatching(/^\d{4}_/)]) });
    const notice = { level: 'warn', dataDir, msg: 'made a new database; is DATA_DIR that of the server?' };
    expect(JSON.parse(first.stderr)).toMatchObject(notice);
    expect(first.code).toBe(0);
    expect(await findPostgres(dataDir)).toBeNull();
    expect(await admin('db', 'migrate')).toEqual({ applied: [] });
    expect(await findPostgres(dataDir)).toBeNull();
  });

  it('integration create writes what the next commands read', async () => {
    ({ id } = await admin('integration', 'create', '--name', 'Offline College', '--plan', 'enterprise'));
    expect(await findPostgres(dataDir)).toBeNull();
  });

  // lifecycle.test.ts has SIGINT.
  it.each(['SIGTERM', 'SIGHUP'] as const)('a command that is interrupted by %s stops it too', async (signal) => {
    const fresh = await makeDataDir();
    const command = spawnAdmin(fresh, ['db', 'migrate'], settings());
    await waitUntil(async () => (await findPostgres(fresh)) !== null);
    command.signalGroup(signal);
    expect(await command.endWithin()).toMatchObject({ code: 1, stdout: '', stderr: 'interrupted\n' });
    expect(await findPostgres(fresh)).toBeNull();
  });

  it.runIf(existsSync('/dev/full'))(
    'a command whose answer cannot be written fails: it may be a key that nobody sees again',
    async () => {
      const ended = await runPrinted('npm run -s admin -- integration list > /dev/full', dataDir, settings());
      expect(ended).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^the answer could not be written: .*ENOSPC.*\n$/),
      });
    },
  );

  it('a failed command stops it too', async () => {
    expect(await refuse('key', 'mint', '--integration', 'int_unknown', '--json')).toMatch(/not found/i);
    expect(await findPostgres(dataDir)).toBeNull();
  });
});

describe('next to a running server', () => {
  let product: Product;
  let key: string;

  beforeAll(async () => {
    product = await startProduct(dataDir, settings());
    ({ key } = await admin('key', 'mint', '--integration', id));
  });

  it('a key that a command mints for an integration of an earlier command works at once', async () => {
    const { status, body } = await product.call('GET', '/v1/integration', { key });
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({ id, name: 'Offline College', plan: 'enterprise' }),
    ]);
  });

  it('demo session of a bot fires a webhook on the running server within seconds; of a human, it fires none', async () => {
    const { secret } = await subscribe(product, key, '/demo');
    const human = await admin('demo', 'session', '--integration', id, '--kind', 'human');
    const from = Date.now();
    const bot = await admin('demo', 'session', '--integration', id);
    expect(bot).toEqual({ sessionId: expect.any(String) });
    expect(human.sessionId).not.toBe(bot.sessionId);
    while (arrived('/demo').length === 0 && Date.now() < from + 10_000) await sleep(20);
    await sleep(1_000);
    expect(arrived('/demo').map(({ body }) => JSON.parse(body).sessionId)).toEqual([bot.sessionId]);
    expectSigned(arrived('/demo')[0]!, secret);
    for (const [{ sessionId }, riskLevel] of [
      [bot, 'bot'],
      [human, expect.stringMatching(/human|medium/)],
    ]) {
      const { body } = await product.call('GET', `/v1/sessions/${sessionId}`, { key });
      expect(body.data).toMatchObject({ id: sessionId, status: 'Scored', riskLevel });
    }
  });

  it('without --json, a command prints readable lines, also through npm', async () => {
    const args = ['integration', 'create', '--name', 'Reader', '--plan', 'free'];
    const ended = await runNpmAdmin(dataDir, args, settings());
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^id: \S+\n$/);
  });

  it('a wrong flag is an error on stderr with exit code 1', async () => {
    expect(await refuse('integration', 'list', '--all', '--json')).toMatch(/--all/);
  });

  it('leaves the server and its Postgres running', async () => {
    expect(await findPostgres(dataDir)).not.toBeNull();
    expect((await product.call('GET', '/health')).status).toBe(200);
  });
});
