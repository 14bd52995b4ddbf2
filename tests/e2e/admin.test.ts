import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  endProducts,
  findPostgres,
  makeDataDir,
  type Product,
  runAdmin,
  runNpmAdmin,
  startProduct,
} from '../support/product';
import { expectSigned, type Receiver, startReceiver } from '../support/receiver';

const KEY = /^aik_v1_[A-Za-z0-9_-]{40}$/;
const MASKED = /^aik_v1_[A-Za-z0-9_-]{4}…[A-Za-z0-9_-]{4}$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const LIMIT_MS = 60_000;

let receiver: Receiver;
let dataDir: string;

beforeAll(async () => {
  receiver = await startReceiver();
  dataDir = await makeDataDir();
});
afterAll(async () => {
  await endProducts();
  await receiver.stop();
});

const settings = () => ({ DEMO: '0', WEBHOOK_ALLOW_HOSTS: receiver.host });

/** Runs a command with `--json`, which must print one JSON object on stdout and nothing else. */
async function admin(...args: string[]) {
  const ended = await runAdmin(dataDir, [...args, '--json'], settings());
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/^\{.*\}\n$/);
  return JSON.parse(ended.stdout);
}

/** Runs a command that must fail: nothing on stdout, a readable message on stderr, exit code 1. */
async function refuse(...args: string[]): Promise<string> {
  const ended = await runAdmin(dataDir, args, settings());
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/\S.*\n$/);
  expect(ended.stderr).not.toMatch(/^\s+at /m);
  return ended.stderr;
}

describe('without a running server, a command starts the embedded database and stops it', () => {
  it(
    'db migrate names the migrations it applied, and none the second time',
    async () => {
      const first = await admin('db', 'migrate');
      expect(first).toEqual({ applied: expect.arrayContaining([expect.stringMatching(/^\d{4}_/)]) });
      expect(await findPostgres(dataDir)).toBeNull();
      expect(await admin('db', 'migrate')).toEqual({ applied: [] });
      expect(await findPostgres(dataDir)).toBeNull();
    },
    LIMIT_MS,
  );

  it(
    'what one command writes, the next one reads',
    async () => {
      const { id } = await admin('integration', 'create', '--name', 'Offline College', '--plan', 'pro');
      expect(await findPostgres(dataDir)).toBeNull();
      const { integrations } = await admin('integration', 'list');
      expect(integrations).toContainEqual({ id, name: 'Offline College', plan: 'pro', apiKeyMasked: null });
      expect(await findPostgres(dataDir)).toBeNull();
    },
    LIMIT_MS,
  );

  it(
    'a failed command stops it too',
    async () => {
      await refuse('key', 'mint', '--integration', 'int_unknown', '--json');
      expect(await findPostgres(dataDir)).toBeNull();
    },
    LIMIT_MS,
  );
});

describe('next to a running server', () => {
  let product: Product;

  beforeAll(async () => {
    product = await startProduct(dataDir, settings());
  }, 90_000);

  async function createTenant(plan = 'enterprise') {
    const { id } = await admin('integration', 'create', '--name', `Tenant on ${plan}`, '--plan', plan);
    const { id: keyId, key } = await admin('key', 'mint', '--integration', id);
    return { id, keyId, key };
  }

  async function subscribe(key: string, path: string) {
    const body = { url: `${receiver.url}${path}`, eventType: 'BotDetected' };
    const created = await product.call('POST', '/v1/webhooks', { key, body });
    expect(created.status).toBe(200);
    return created.body.data;
  }
  const arrived = (path: string) => receiver.received.filter((received) => received.path === path);

  it(
    'integration create keeps name, plan and origin',
    async () => {
      const args = ['--name', 'Käthe’s "College"', '--plan', 'starter', '--origin', 'https://lms.example.edu'];
      const created = await admin('integration', 'create', ...args);
      expect(created).toEqual({ id: expect.any(String) });
      const { key } = await admin('key', 'mint', '--integration', created.id);
      const { body } = await product.call('GET', '/v1/integration', { key });
      expect(body.data).toMatchObject({
        id: created.id,
        name: 'Käthe’s "College"',
        plan: 'starter',
        allowedOrigins: ['https://lms.example.edu'],
      });
    },
    LIMIT_MS,
  );

  it(
    'site create shows a public key; list and revoke know it; the secret of identities is shown once',
    async () => {
      const origins = ['--origin', 'https://lms.example.edu/', '--origin', 'http://127.0.0.1:8080'];
      const { id } = await admin('integration', 'create', '--name', 'Sites', '--plan', 'free', ...origins);
      const site = await admin('site', 'create', '--integration', id, '--name', 'Campus');
      expect(site).toEqual({ id: expect.any(String), siteKey: expect.stringMatching(/^site_[\w-]{24}$/) });
      const { sites } = await admin('site', 'list', '--integration', id);
      const entry = { ...site, name: 'Campus', createdAt: expect.stringMatching(ISO), firstReceivedAt: null };
      expect(sites).toEqual([{ ...entry, revokedAt: null }]);
      const revoked = await admin('site', 'revoke', '--site', site.id);
      expect(revoked).toEqual({ id: site.id, revokedAt: expect.stringMatching(ISO) });
      expect((await admin('site', 'list')).sites).toContainEqual({ ...entry, ...revoked, integrationId: id });
      const set = await admin('integration', 'set-origins', '--integration', id, '--origin', 'https://b.example.edu');
      expect(set).toEqual({ allowedOrigins: ['https://b.example.edu'] });
      const rotated = await admin('integration', 'rotate-identity-secret', '--integration', id);
      expect(rotated).toEqual({ identitySecret: expect.stringMatching(/^idsec_[\w-]{43}$/) });
      const { entries } = await admin('audit', 'list', '--integration', id);
      expect(entries.map(({ action }: { action: string }) => action)).toEqual([
        ...['IdentitySecretRotated', 'OriginsChanged', 'SiteRevoked', 'SiteCreated', 'IntegrationCreated'],
      ]);
      expect(entries.at(-1).details.allowedOrigins).toEqual(['https://lms.example.edu', 'http://127.0.0.1:8080']);
      expect(JSON.stringify(entries)).not.toContain(rotated.identitySecret);
      const plain = await runAdmin(dataDir, ['site', 'create', '--integration', id], settings());
      expect(plain.stdout).toMatch(/^id: ste_\w+\nsiteKey: site_[\w-]{24}\n$/);
    },
    LIMIT_MS,
  );

  it(
    'audit list shows who did what, for all integrations or one, latest first',
    async () => {
      const { id, keyId } = await createTenant('pro');
      await admin('key', 'revoke', '--id', keyId);
      const { entries } = await admin('audit', 'list', '--integration', id);
      expect(entries.map(({ action }: { action: string }) => action)).toEqual([
        ...['KeyRevoked', 'KeyMinted', 'IntegrationCreated'],
      ]);
      expect(entries[0]).toMatchObject({ actor: { kind: 'Operator' }, integrationId: id, subjectId: keyId });
      expect((await admin('audit', 'list', '--limit', '1')).entries).toEqual(entries.slice(0, 1));
      expect(await refuse('audit', 'list', '--limit', '0')).toBe('--limit: must be a whole number from 1 to 1000\n');
      await refuse('audit', 'list', '--integration', 'int_unknown');
      const plain = await runAdmin(dataDir, ['audit', 'list', '--integration', id, '--limit', '1'], settings());
      expect(plain.stdout.split('\t')).toContain('KeyRevoked');
      // A name cannot steer the terminal or end its row.
      await admin('integration', 'create', '--name', 'a\u001b[2J\u009b\nb\tc', '--plan', 'free');
      const table = await runAdmin(dataDir, ['integration', 'list'], settings());
      expect(table.stdout).toContain('\ta\\u001b[2J\\u009b\\nb\\u0009c\t');
      expect((await refuse('key', 'revoke', '--id', '\u001b[2J')).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    },
    LIMIT_MS,
  );

  it(
    'key mint shows a key that works at once; the list shows only its masked form',
    async () => {
      const { id } = await admin('integration', 'create', '--name', 'Key holder', '--plan', 'free');
      const minted = await admin('key', 'mint', '--integration', id, '--name', 'Nightly export');
      expect(minted).toEqual({ id: expect.any(String), key: expect.stringMatching(KEY) });
      const { status, body } = await product.call('GET', '/v1/integration', { key: minted.key });
      expect(status).toBe(200);
      const { integrations } = await admin('integration', 'list');
      const listed = integrations.find((integration: { id: string }) => integration.id === id);
      expect(listed).toEqual({ id, name: 'Key holder', plan: 'free', apiKeyMasked: expect.stringMatching(MASKED) });
      expect(listed.apiKeyMasked).toBe(body.data.apiKeyMasked);
      expect(JSON.stringify(integrations)).not.toContain(minted.key);
    },
    LIMIT_MS,
  );

  it(
    'key revoke takes effect with the next request; repeating it keeps the first time',
    async () => {
      const { id, keyId, key } = await createTenant('pro');
      const { key: other } = await admin('key', 'mint', '--integration', id);
      expect((await product.call('GET', '/v1/integration', { key })).status).toBe(200);
      const revoked = await admin('key', 'revoke', '--id', keyId);
      expect(revoked).toEqual({ id: keyId, revokedAt: expect.stringMatching(ISO) });
      const refused = await product.call('GET', '/v1/integration', { key });
      expect(refused.status).toBe(401);
      expect(refused.body.error.code).toBe('INVALID_API_KEY');
      expect(await admin('key', 'revoke', '--id', keyId)).toEqual(revoked);
      expect((await product.call('GET', '/v1/integration', { key: other })).status).toBe(200);
    },
    LIMIT_MS,
  );

  it(
    'integration set-plan that lowers the cap disables the newest webhooks',
    async () => {
      const { id, key } = await createTenant('enterprise');
      const ids: string[] = [];
      for (const path of ['/oldest', '/middle', '/newest']) ids.push((await subscribe(key, path)).id);
      expect(await admin('integration', 'set-plan', '--id', id, '--plan', 'pro')).toEqual({ id, plan: 'pro' });
      const { body, headers } = await product.call('GET', '/v1/webhooks', { key });
      expect(headers.get('x-service-tier')).toBe('pro');
      const byId = new Map(body.data.map((webhook: { id: string }) => [webhook.id, webhook]));
      expect(ids.map((webhookId) => byId.get(webhookId))).toMatchObject([
        { enabled: true, disabledReason: null },
        { enabled: false, disabledReason: 'auto:plan-limit' },
        { enabled: false, disabledReason: 'auto:plan-limit' },
      ]);
      // A higher plan does not enable them again.
      await admin('integration', 'set-plan', '--id', id, '--plan', 'enterprise');
      const raised = await product.call('GET', '/v1/webhooks', { key });
      expect(raised.body.data.filter(({ enabled }: { enabled: boolean }) => enabled)).toHaveLength(1);
    },
    LIMIT_MS,
  );

  it(
    'demo session of a bot fires a webhook on the running server within seconds; of a human, it fires none',
    async () => {
      const { id, key } = await createTenant();
      const { secret } = await subscribe(key, '/demo');
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
    },
    LIMIT_MS,
  );

  it(
    'without --json it prints readable lines',
    async () => {
      const args = ['integration', 'create', '--name', 'Reader', '--plan', 'free'];
      const ended = await runNpmAdmin(dataDir, args, settings());
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect(ended.stdout).toMatch(/^id: \S+\n$/);
    },
    LIMIT_MS,
  );

  it.each([
    ['an unknown command', ['integration', 'destroy'], /usage/],
    ['no command', [], /usage/],
    ['a missing flag', ['integration', 'create', '--plan', 'pro', '--json'], /--name/],
    ['a flag without its value', ['integration', 'create', '--name', 'X', '--plan', '--json'], /plan/],
    ['an unknown flag', ['integration', 'list', '--all', '--json'], /--all/],
    ['a wrong plan', ['integration', 'create', '--name', 'X', '--plan', 'gold', '--json'], /--plan.*enterprise/],
    ['a wrong origin', ['integration', 'create', '--name', 'X', '--plan', 'pro', '--origin', 'lms'], /--origin/],
    ['a wrong kind', ['demo', 'session', '--integration', 'int_x', '--kind', 'robot', '--json'], /--kind/],
    [
      'an origin with a pattern',
      ['integration', 'set-origins', '--integration', 'x', '--origin', 'https://*.edu'],
      /--origin.*\*/,
    ],
    ['no origin to set', ['integration', 'set-origins', '--integration', 'x'], /--origin: is required/],
    ['two integrations', ['site', 'create', '--integration', 'x', '--name', 'y', 'z'], /z/],
    ['an unknown integration for a site', ['site', 'create', '--integration', 'nope', '--json'], /not found/i],
    ['an unknown site', ['site', 'revoke', '--site', 'nope', '--json'], /not found/i],
    [
      'an unknown integration’s secret',
      ['integration', 'rotate-identity-secret', '--integration', 'nope'],
      /not found/i,
    ],
    ['an unknown integration to plan', ['integration', 'set-plan', '--id', 'nope', '--plan', 'pro'], /not found/i],
    ['an unknown integration to mint for', ['key', 'mint', '--integration', 'nope', '--json'], /not found/i],
    ['an unknown key', ['key', 'revoke', '--id', 'nope', '--json'], /not found/i],
    ['an unknown integration to show', ['demo', 'session', '--integration', 'nope', '--json'], /not found/i],
  ])(
    '%s is an error on stderr with exit code 1',
    async (_case, args, message) => {
      expect(await refuse(...args)).toMatch(message);
    },
    LIMIT_MS,
  );

  it('leaves the server and its Postgres running', async () => {
    expect(await findPostgres(dataDir)).not.toBeNull();
    expect((await product.call('GET', '/health')).status).toBe(200);
  });
});

describe('a demo session without a running server', () => {
  it('has its webhook sent when the server starts', async () => {
    let product = await startProduct(await makeDataDir(), settings());
    const own = product.dataDir;
    const { id } = JSON.parse(
      (await runAdmin(own, ['integration', 'create', '--name', 'Later', '--plan', 'pro', '--json'])).stdout,
    );
    const { key } = JSON.parse((await runAdmin(own, ['key', 'mint', '--integration', id, '--json'])).stdout);
    const body = { url: `${receiver.url}/later`, eventType: 'BotDetected' };
    expect((await product.call('POST', '/v1/webhooks', { key, body })).status).toBe(200);
    product.signalGroup('SIGTERM');
    await product.endWithin(15_000);

    const { sessionId } = JSON.parse((await runAdmin(own, ['demo', 'session', '--integration', id, '--json'])).stdout);
    expect(await findPostgres(own)).toBeNull();
    product = await startProduct(own, settings());
    const from = Date.now();
    const find = () => receiver.received.filter(({ path }) => path === '/later');
    while (find().length === 0 && Date.now() < from + 15_000) await sleep(20);
    expect(find().map((received) => JSON.parse(received.body).sessionId)).toEqual([sessionId]);
  }, 120_000);
});
