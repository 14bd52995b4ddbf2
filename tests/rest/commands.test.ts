import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { answerCommand, InterruptedError } from '../../server/commands';
import type { Logger } from '../../server/platform/log';
import { createSecrets } from '../../server/platform/secrets';
import { warnOfUnreadableSecrets } from '../../server/runtime';
import { createEmptyDatabase } from '../support/database';
import type { TestServer } from '../support/server';
import { insertStaff, openStaffClient, readCookie, startStaffServer, trySignIn } from '../support/staff-client';

// The operator's commands on the database of a running server, in this process. tests/e2e/admin.test.ts runs some of them
// as an operator does.

const KEY = /^aik_v1_[A-Za-z0-9_-]{40}$/;
const MASKED = /^aik_v1_[A-Za-z0-9_-]{4}…[A-Za-z0-9_-]{4}$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let server: TestServer;
let settings: Record<string, string>;
beforeAll(async () => {
  server = await startStaffServer();
  const secret = server.service.env.APP_SECRET!.toString('base64');
  settings = { DATABASE_URL: server.database.url, APP_SECRET: secret };
});
afterAll(() => server.stop());

const run = (...args: string[]) => answerCommand(args, { settings, readPassword: async () => null });

/** Runs a command with `--json`, which must print one JSON object on stdout and nothing else. */
async function admin(...args: string[]) {
  const answer = await run(...args, '--json');
  expect(answer).toMatchObject({ code: 0, stderr: '' });
  expect(answer.stdout).toMatch(/^\{.*\}\n$/);
  return JSON.parse(answer.stdout);
}

/** Runs a command that must fail: nothing on stdout, a readable message on stderr, exit code 1. */
async function refuse(...args: string[]): Promise<string> {
  const answer = await run(...args);
  expect(answer).toMatchObject({ code: 1, stdout: '' });
  expect(answer.stderr).toMatch(/\S.*\n$/);
  expect(answer.stderr).not.toMatch(/^\s+at /m);
  return answer.stderr;
}

async function createTenant(plan = 'enterprise') {
  const { id } = await admin('integration', 'create', '--name', `Tenant on ${plan}`, '--plan', plan);
  const { id: keyId, key } = await admin('key', 'mint', '--integration', id);
  return { id, keyId, key };
}

async function subscribe(key: string, path: string) {
  const body = { url: `https://hooks.example.com${path}`, eventType: 'BotDetected' };
  const created = await server.call('POST', '/v1/webhooks', { key, body });
  expect(created.status).toBe(200);
  return created.body.data;
}

describe('integration and key', () => {
  it('integration create keeps name, plan and origin', async () => {
    const args = ['--name', 'Käthe’s "College"', '--plan', 'starter', '--origin', 'https://lms.example.edu'];
    const created = await admin('integration', 'create', ...args);
    expect(created).toEqual({ id: expect.any(String) });
    const { key } = await admin('key', 'mint', '--integration', created.id);
    const { body } = await server.call('GET', '/v1/integration', { key });
    expect(body.data).toMatchObject({
      id: created.id,
      name: 'Käthe’s "College"',
      plan: 'starter',
      allowedOrigins: ['https://lms.example.edu'],
    });
  });

  it('site create shows a public key; list and revoke know it; the secret of identities is shown once', async () => {
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
    const accepted = await admin('integration', 'set-unsigned-users', '--integration', id, '--accept', 'yes');
    expect(accepted).toEqual({ acceptsUnsignedUsers: true });
    const { entries } = await admin('audit', 'list', '--integration', id);
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      ...[
        'UnsignedUsersChanged',
        'IdentitySecretRotated',
        'OriginsChanged',
        'SiteRevoked',
        'SiteCreated',
        'IntegrationCreated',
      ],
    ]);
    expect(entries.at(-1).details.allowedOrigins).toEqual(['https://lms.example.edu', 'http://127.0.0.1:8080']);
    expect(JSON.stringify(entries)).not.toContain(rotated.identitySecret);
    const plain = await run('site', 'create', '--integration', id);
    expect(plain.stdout).toMatch(/^id: ste_\w+\nsiteKey: site_[\w-]{24}\n$/);
  });

  it('audit list shows who did what, for all integrations or one, latest first', async () => {
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
    const plain = await run('audit', 'list', '--integration', id, '--limit', '1');
    expect(plain.stdout.split('\t')).toContain('KeyRevoked');
    // A name cannot steer the terminal or end its row.
    await admin('integration', 'create', '--name', 'a\u001b[2J\u009b\nb\tc', '--plan', 'free');
    const table = await run('integration', 'list');
    expect(table.stdout).toContain('\ta\\u001b[2J\\u009b\\nb\\u0009c\t');
    expect((await refuse('key', 'revoke', '--id', '\u001b[2J')).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('key mint shows a key that works at once; the list shows only its masked form', async () => {
    const { id } = await admin('integration', 'create', '--name', 'Key holder', '--plan', 'free');
    const minted = await admin('key', 'mint', '--integration', id, '--name', 'Nightly export');
    expect(minted).toEqual({ id: expect.any(String), key: expect.stringMatching(KEY) });
    const { status, body } = await server.call('GET', '/v1/integration', { key: minted.key });
    expect(status).toBe(200);
    const { integrations } = await admin('integration', 'list');
    const listed = integrations.find((integration: { id: string }) => integration.id === id);
    expect(listed).toEqual({ id, name: 'Key holder', plan: 'free', apiKeyMasked: expect.stringMatching(MASKED) });
    expect(listed.apiKeyMasked).toBe(body.data.apiKeyMasked);
    expect(JSON.stringify(integrations)).not.toContain(minted.key);
  });

  it('key mint names the scopes and the days that a key lives', async () => {
    const { id } = await admin('integration', 'create', '--name', 'Narrow', '--plan', 'free');
    const mint = ['key', 'mint', '--integration', id];
    const { id: keyId } = await admin(
      ...mint,
      '--scope',
      'read',
      '--scope',
      'webhooks:write',
      '--expires-in-days',
      '7',
    );
    const { entries } = await admin('audit', 'list', '--integration', id, '--limit', '1');
    const [{ subjectId, at, details }] = entries;
    expect([subjectId, details.scopes]).toEqual([keyId, ['read', 'webhooks:write']]);
    expect((Date.parse(details.expiresAt) - Date.parse(at)) / 86_400_000).toBeCloseTo(7, 3);
    expect(await refuse(...mint, '--scope', 'root')).toMatch(/^--scope: must be one of read, sessions:write, /);
    for (const days of ['0', '', '1.5', '0x10', '1e2', 'a week'])
      expect(await refuse(...mint, '--expires-in-days', days)).toBe(
        '--expires-in-days: must be a whole number from 1 to 3650\n',
      );
  });

  it('key revoke takes effect with the next request; repeating it keeps the first time', async () => {
    const { id, keyId, key } = await createTenant('pro');
    const { key: other } = await admin('key', 'mint', '--integration', id);
    expect((await server.call('GET', '/v1/integration', { key })).status).toBe(200);
    const revoked = await admin('key', 'revoke', '--id', keyId);
    expect(revoked).toEqual({ id: keyId, revokedAt: expect.stringMatching(ISO) });
    const refused = await server.call('GET', '/v1/integration', { key });
    expect(refused.status).toBe(401);
    expect(refused.body.error.code).toBe('INVALID_API_KEY');
    expect(await admin('key', 'revoke', '--id', keyId)).toEqual(revoked);
    expect((await server.call('GET', '/v1/integration', { key: other })).status).toBe(200);
  });

  it('integration set-plan that lowers the cap disables the newest webhooks', async () => {
    const { id, key } = await createTenant('enterprise');
    const ids: string[] = [];
    for (const path of ['/oldest', '/middle', '/newest']) ids.push((await subscribe(key, path)).id);
    expect(await admin('integration', 'set-plan', '--id', id, '--plan', 'pro')).toEqual({ id, plan: 'pro' });
    const { body, headers } = await server.call('GET', '/v1/webhooks', { key });
    expect(headers.get('x-service-tier')).toBe('pro');
    const byId = new Map(body.data.map((webhook: { id: string }) => [webhook.id, webhook]));
    expect(ids.map((webhookId) => byId.get(webhookId))).toMatchObject([
      { enabled: true, disabledReason: null },
      { enabled: false, disabledReason: 'auto:plan-limit' },
      { enabled: false, disabledReason: 'auto:plan-limit' },
    ]);
    // A higher plan does not enable them again.
    await admin('integration', 'set-plan', '--id', id, '--plan', 'enterprise');
    const raised = await server.call('GET', '/v1/webhooks', { key });
    expect(raised.body.data.filter(({ enabled }: { enabled: boolean }) => enabled)).toHaveLength(1);
  });

  it('without --json a command prints readable lines', async () => {
    const answer = await run('integration', 'create', '--name', 'Reader', '--plan', 'free');
    expect(answer).toEqual({ code: 0, stdout: expect.stringMatching(/^id: \S+\n$/), stderr: '' });
  });

  it.each([
    ['an unknown command', ['integration', 'destroy'], /usage/],
    ['no command', [], /usage/],
    ['a missing flag', ['integration', 'create', '--plan', 'pro', '--json'], /--name/],
    ['a flag without its value', ['integration', 'create', '--name', 'X', '--plan', '--json'], /plan/],
    ['an unknown flag', ['integration', 'list', '--all', '--json'], /--all/],
    ['a wrong plan', ['integration', 'create', '--name', 'X', '--plan', 'gold', '--json'], /--plan.*enterprise/],
    ['a blank name', ['integration', 'create', '--name', ' \t\n', '--plan', 'pro'], /^--name: must have 1 to 100/],
    ['an invisible name', ['integration', 'create', '--name', '\u200b\u2060', '--plan', 'pro'], /^--name: has nothing/],
    ['a blank name of a site', ['site', 'create', '--integration', 'x', '--name', ' '], /^--name: must have 1 to 100/],
    ['a blank name of a key', ['key', 'mint', '--integration', 'x', '--name', ' '], /^--name: must have 1 to 100/],
    ['a blank name of a person', ['staff', 'invite', '--email', 'a@b.example', '--name', ' '], /^--name: must have/],
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
    [
      'neither yes nor no',
      ['integration', 'set-unsigned-users', '--integration', 'nope', '--accept', 'true'],
      /--accept.*yes or no/,
    ],
    ['an unknown integration to plan', ['integration', 'set-plan', '--id', 'nope', '--plan', 'pro'], /not found/i],
    ['an unknown integration to mint for', ['key', 'mint', '--integration', 'nope', '--json'], /not found/i],
    ['an unknown key', ['key', 'revoke', '--id', 'nope', '--json'], /not found/i],
    ['an unknown integration to show', ['demo', 'session', '--integration', 'nope', '--json'], /not found/i],
  ])('%s is an error on stderr with exit code 1', async (_case, args, message) => {
    expect(await refuse(...args)).toMatch(message);
  });
});

describe('a start with another APP_SECRET', () => {
  it('warns of the webhook and identity secrets that it cannot read, and of no others', async () => {
    const { id, key } = await createTenant();
    await subscribe(key, '/kept');
    const { id: deleted } = await subscribe(key, '/deleted');
    expect((await server.call('DELETE', `/v1/webhooks/${deleted}`, { key })).status).toBe(204);
    await admin('integration', 'rotate-identity-secret', '--integration', id);
    const warn = vi.fn();
    const log = { warn } as unknown as Logger;
    await warnOfUnreadableSecrets({ ...server.service, log });
    expect(warn).not.toHaveBeenCalled();

    const { sql } = server.database.db;
    const [{ sealed } = {}] = await sql`
      select (select count(*) from webhook_subscriptions where deleted_at is null)
           + (select count(*) from integrations where identity_secret is not null) as sealed`;
    expect(Number(sealed)).toBeGreaterThanOrEqual(2);
    await warnOfUnreadableSecrets({ ...server.service, log, secrets: createSecrets(randomBytes(32)) });
    const count = { unreadable: Number(sealed), secrets: Number(sealed) };
    expect(warn.mock.calls).toEqual([[count, expect.stringContaining('APP_SECRET')]]);
  });
});

describe('staff create', () => {
  it('creates an account with the given role, viewer by default, on the running server', async () => {
    for (const [args, role] of [
      [[], 'viewer'],
      [['--role', 'analyst'], 'analyst'],
    ] as const) {
      const email = `${role}@example.com`;
      const created = await admin('staff', 'create', '--email', email, '--password', 'twelve chars', ...args);
      expect(created).toEqual({ id: expect.stringMatching(/^stf_/) });
      const { status, body } = await trySignIn(server, { email, password: 'twelve chars' });
      expect([status, body.staff]).toMatchObject([200, { email, role }]);
    }
  });

  it.each([
    [
      'an address that has an account',
      ['create', '--email', 'Admin@example.com', '--password', 'twelve chars'],
      'email admin@example.com already has an account',
    ],
    ['no address', ['create', '--email', 'nobody', '--password', 'twelve chars'], '--email: must be an email address'],
    [
      'a short password',
      ['create', '--email', 'a@example.com', '--password', 'short'],
      '--password: must have 12 to 256 characters',
    ],
    [
      'an unknown role',
      ['create', '--email', 'a@example.com', '--password', 'twelve chars', '--role', 'owner'],
      '--role: must be one of admin, analyst, viewer',
    ],
    ['no password', ['create', '--email', 'a@example.com'], '--password: is required'],
    [
      'an unknown account',
      ['set-password', '--email', 'a@example.com', '--password', 'twelve chars'],
      'Staff account not found',
    ],
  ])('with %s is one clear line and exit code 1', async (_case, args, line) => {
    if (line.includes('already')) await insertStaff(server.service, { email: 'admin@example.com', role: 'admin' });
    expect(await run('staff', ...args)).toEqual({ code: 1, stdout: '', stderr: `${line}\n` });
  });

  it('invite prints a link, with which the running server makes the account', async () => {
    const email = 'linked@example.com';
    const { link, expiresAt } = await admin('staff', 'invite', '--email', email, '--name', 'Linked', '--role', 'admin');
    expect(expiresAt).toMatch(ISO);
    const [, token] = /^http:\/\/127\.0\.0\.1:\d+\/invitation#([\w-]{43})$/.exec(link)!;
    const body = { token, password: 'twelve chars' };
    const headers = { origin: server.url };
    expect((await server.call('POST', '/api/auth/invitation/accept', { body, headers })).body.staff).toMatchObject({
      ...{ email, name: 'Linked', role: 'admin' },
    });
  });

  it.each([
    [{ HOST: '192.168.1.10', PORT: '8080' }, 'http://192.168.1.10:8080'],
    [{ HOST: '::1' }, 'http://[::1]:3000'],
    [{ HOST: '0.0.0.0' }, 'http://localhost:3000'],
    [{ HOST: '0.0.0.0', PUBLIC_URL_US: 'https://api.example.com' }, 'https://api.example.com'],
  ])('invite prints a link to where the server listens: %j', async (own, address) => {
    const args = ['staff', 'invite', '--email', 'far@example.com', '--name', 'Far', '--json'];
    const answer = await answerCommand(args, { settings: { ...settings, ...own }, readPassword: async () => null });
    expect(JSON.parse(answer.stdout).link.split('/invitation#')[0]).toBe(address);
  });

  it('set-password replaces the password and ends the sessions', async () => {
    const email = 'forgetful@example.com';
    await admin('staff', 'create', '--email', email, '--password', 'twelve chars');
    const cookie = readCookie(await trySignIn(server, { email, password: 'twelve chars' }));
    await admin('staff', 'set-password', '--email', email, '--password', 'another password');
    expect((await openStaffClient(server, cookie).query('staff.me')).status).toBe(401);
    expect((await trySignIn(server, { email, password: 'twelve chars' })).status).toBe(401);
    expect((await trySignIn(server, { email, password: 'another password' })).status).toBe(200);
  });
});

describe('a data directory without a database', () => {
  it.each(['audit list', 'key revoke --id key_x', 'site list', 'demo session --integration int_x'])(
    'gets none by `%s`, which could find nothing there',
    async (command) => {
      const directory = mkdtempSync(join(tmpdir(), 'commands-'));
      const DATA_DIR = join(directory, 'data');
      try {
        expect(
          await answerCommand(command.split(' '), { settings: { DATA_DIR }, readPassword: async () => null }),
        ).toEqual({
          ...{ code: 1, stdout: '' },
          stderr: `DATA_DIR: ${DATA_DIR} has no database; run the command with the settings of the server\n`,
        });
        expect(readdirSync(directory)).toEqual([]);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );
});

describe('a database that cannot be used', () => {
  const list = (changed: Record<string, string>) =>
    answerCommand(['integration', 'list'], {
      settings: { ...settings, ...changed },
      readPassword: async () => null,
    });
  const refusal = (line: string) => ({ code: 1, stdout: '', stderr: `${line}\n` });

  it('because Postgres ends the session at once is one clear line', async () => {
    const DATABASE_URL = `${server.database.url}?pgbouncer=true`;
    expect(await list({ DATABASE_URL })).toEqual(
      refusal('DATABASE_URL: cannot connect (unrecognized configuration parameter "pgbouncer")'),
    );
  });

  it('because it has no certificate, which the address demands, is one clear line', async () => {
    const DATABASE_URL = `${server.database.url}?channel_binding=require`;
    const { code, stdout, stderr } = await list({ DATABASE_URL });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL: cannot connect \([^\n]+\)\n$/);
    expect(stderr).not.toContain('channel_binding');
  });

  it('is not one whose address says what only its client must know', async () => {
    const DATABASE_URL = `${server.database.url}?channel_binding=prefer&gssencmode=disable&keepalives=1&target_session_attrs=any`;
    expect(await list({ DATABASE_URL })).toMatchObject({ code: 0, stderr: '' });
  });

  it('because its user may not make tables is one clear line', async () => {
    const { sql } = server.database.db;
    const url = new URL(server.database.url);
    url.username = `reader_${randomBytes(6).toString('hex')}`;
    const other = await createEmptyDatabase();
    url.pathname = new URL(other.url).pathname;
    await sql.unsafe(`create role ${url.username} login password '${url.password}'`);
    expect(await list({ DATABASE_URL: url.href })).toEqual(
      refusal(`DATABASE_URL: cannot migrate (permission denied for database ${url.pathname.slice(1)})`),
    );
    await sql.unsafe(`drop role ${url.username}`);
    await other.drop();
  });

  it('because it is a replica that takes no writes is one clear line', async () => {
    const other = await createEmptyDatabase();
    const name = new URL(other.url).pathname.slice(1);
    await server.database.db.sql.unsafe(`alter database ${name} set default_transaction_read_only = on`);
    expect(await list({ DATABASE_URL: other.url })).toEqual(
      refusal('DATABASE_URL: cannot migrate (cannot execute CREATE SCHEMA in a read-only transaction)'),
    );
    await other.drop();
  });

  it('at the moment, because it is too slow, is one clear line', async () => {
    await server.database.db.sql.begin(async (tx) => {
      await tx`lock table integrations in access exclusive mode`;
      const fault = 'canceling statement due to statement timeout';
      expect(await list({})).toEqual(refusal(`the database cannot be used now (${fault})`));
    });
  });

  it('because another process migrates it does not keep a command that is interrupted', async () => {
    const interrupted = Promise.reject(new InterruptedError('interrupted'));
    interrupted.catch(() => {});
    const surroundings = { settings, readPassword: async () => null, interrupted };
    await server.database.db.sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(7201001)`;
      expect(await answerCommand(['integration', 'list'], surroundings)).toEqual(refusal('interrupted'));
    });
  });

  it('under its direct address names that setting', async () => {
    const DATABASE_DIRECT_URL = 'postgres://app@127.0.0.1:1/app';
    expect(await list({ DATABASE_DIRECT_URL })).toEqual(
      refusal('DATABASE_DIRECT_URL: cannot connect (connect ECONNREFUSED 127.0.0.1:1)'),
    );
  });
});
