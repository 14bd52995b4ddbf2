import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  endProducts,
  makeDataDir,
  type Product,
  readScreen,
  runAdmin,
  runPrinted,
  startProduct,
} from '../support/product';
import { type Client, createClient } from '../support/server';
import { openStaffClient, readCookie, trySignIn } from '../support/staff-client';

// Staff use the product as an operator runs it. Next answers their requests.

const LIMIT_MS = 90_000;
const SIGN_IN = /Demo sign-in\s+(\S+@\S+)\s+(\S{20})\s/;

let product: Product;
let client: Client & { url: string };
beforeAll(async () => {
  product = await startProduct(await makeDataDir());
  client = { url: product.url, ...createClient(product.url) };
}, LIMIT_MS);
afterAll(endProducts);

const runStaff = (...args: string[]) => runAdmin(product.dataDir, ['staff', ...args]);

describe('the first start', () => {
  it(
    'shows the dashboard and a working sign-in; a later start shows only the dashboard',
    async () => {
      const [, email = '', password = ''] = SIGN_IN.exec(product.stdout()) ?? [];
      expect(product.stdout()).toContain(`Dashboard           ${product.url}/dashboard`);
      const signedIn = await trySignIn(client, { email, password });
      expect([signedIn.status, signedIn.body]).toEqual([
        200,
        { staff: expect.objectContaining({ email, role: 'admin' }) },
      ]);
      expect(signedIn.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Lax$/);
      const { integrationId } = readScreen(product);
      const staff = openStaffClient(client, readCookie(signedIn));
      const headers = { 'x-integration-id': integrationId };
      const { body } = await staff.query('sessions.list', { pageSize: 1 }, headers);
      const [{ id: sessionId }] = body.result.data.data;
      const labelled = await staff.mutate('sessions.label', { sessionId, verdict: 'human' }, headers);
      expect([labelled.status, labelled.body.result.data.verdict]).toEqual([200, 'human']);
      const foreign = { ...headers, origin: 'https://evil.example.com' };
      expect((await staff.mutate('sessions.label', { sessionId, verdict: 'bot' }, foreign)).status).toBe(403);
      // Batched calls are not accepted.
      expect((await staff.query('staff.me,staff.me', {})).status).toBe(404);

      product.signalGroup('SIGTERM');
      await product.endWithin(15_000);
      product = await startProduct(product.dataDir, { PORT: String(product.port) });
      expect(product.stdout()).toContain(`Dashboard           ${product.url}/dashboard`);
      expect(product.stdout()).not.toMatch(SIGN_IN);
      expect((await staff.query('staff.me')).body.result.data.email).toBe(email);
      expect(
        (await client.call('POST', '/api/auth/sign-out', { headers: { cookie: staff.cookie, origin: product.url } }))
          .status,
      ).toBe(204);
      expect((await staff.query('staff.me')).status).toBe(401);
    },
    LIMIT_MS,
  );
});

describe('staff create', () => {
  it(
    'creates an account with the given role, viewer by default, on the running server',
    async () => {
      for (const [args, role] of [
        [[], 'viewer'],
        [['--role', 'analyst'], 'analyst'],
      ] as const) {
        const email = `${role}@example.com`;
        const ended = await runStaff('create', '--email', email, '--password', 'twelve chars', ...args, '--json');
        expect(ended).toMatchObject({ code: 0, stderr: '' });
        expect(JSON.parse(ended.stdout)).toEqual({ id: expect.stringMatching(/^stf_/) });
        const { status, body } = await trySignIn(client, { email, password: 'twelve chars' });
        expect([status, body.staff]).toMatchObject([200, { email, role }]);
      }
    },
    LIMIT_MS,
  );

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
  ])(
    'with %s is one clear line and exit code 1',
    async (_case, args, line) => {
      expect(await runStaff(...args)).toMatchObject({ code: 1, stdout: '', stderr: `${line}\n` });
    },
    LIMIT_MS,
  );

  it(
    'takes the password from its input, so that it is not in the list of processes',
    async () => {
      const email = 'piped@example.com';
      const command = `npm run -s admin -- staff create --email ${email} --json`;
      const ended = await runPrinted(`printf 'from a pipe \\303\\244\\nnext line\\n' | ${command}`, product.dataDir);
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect((await trySignIn(client, { email, password: 'from a pipe ä' })).status).toBe(200);
    },
    LIMIT_MS,
  );

  it(
    'set-password replaces the password and ends the sessions',
    async () => {
      const email = 'forgetful@example.com';
      await runStaff('create', '--email', email, '--password', 'twelve chars');
      const cookie = readCookie(await trySignIn(client, { email, password: 'twelve chars' }));
      expect(await runStaff('set-password', '--email', email, '--password', 'another password')).toMatchObject({
        code: 0,
      });
      expect((await openStaffClient(client, cookie).query('staff.me')).status).toBe(401);
      expect((await trySignIn(client, { email, password: 'twelve chars' })).status).toBe(401);
      expect((await trySignIn(client, { email, password: 'another password' })).status).toBe(200);
    },
    LIMIT_MS,
  );
});

describe('guesses from one address', () => {
  it(
    'are throttled, whatever address the client claims',
    async () => {
      // As if through a proxy on this machine: the proxy appends the last entry, the client wrote the rest.
      const guess = (n: number) =>
        trySignIn(
          client,
          { email: `guess-${n}@example.com`, password: 'a wrong password' },
          {
            'x-forwarded-for': `192.0.2.${n}, 198.51.100.1`,
            'x-client-address': `192.0.2.${n}`,
          },
        );
      const answers = await Promise.all(Array.from({ length: 55 }, (_, n) => guess(n)));
      const statuses = answers.map(({ status }) => status);
      expect([
        statuses.filter((status) => status === 401).length,
        statuses.filter((status) => status === 429).length,
      ]).toEqual([50, 5]);
    },
    LIMIT_MS,
  );
});
