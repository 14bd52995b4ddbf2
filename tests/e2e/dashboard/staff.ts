import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginWindow } from '../../support/clock-window';
import { type Product, readScreen, runPrinted, startProduct } from '../../support/product';
import { type Client, createClient } from '../../support/server';
import { openStaffClient, readCookie, trySignIn } from '../../support/staff-client';
import { dashboard, settings } from './shared-dashboard';

// Staff use the product as an operator runs it. Next answers their requests.

const SIGN_IN = /Demo sign-in\s+(\S+@\S+)\s+(\S{20})\s/;

let sql: postgres.Sql;
let product: Product;
let client: Client & { url: string };

/** Sign-ins and the start of the product, which ends with another process of it. */
export function registerStaffTests(): void {
  beforeAll(() => {
    sql = postgres(settings.DATABASE_URL!, { max: 1 });
    product = dashboard.product;
    client = { url: product.url, ...createClient(product.url) };
  });
  afterAll(() => sql?.end());

  describe('the first start', () => {
    it('shows the dashboard and a working sign-in; a later start shows only the dashboard', async () => {
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

      // The page would ask a server that is away.
      await dashboard.leave();
      product.signalGroup('SIGTERM');
      await product.endWithin();
      product = await startProduct(product.dataDir, { ...settings, PORT: String(product.port) });
      expect(product.stdout()).toContain(`Dashboard           ${product.url}/dashboard`);
      expect(product.stdout()).not.toMatch(SIGN_IN);
      expect((await staff.query('staff.me')).body.result.data.email).toBe(email);
      expect(
        (await client.call('POST', '/api/auth/sign-out', { headers: { cookie: staff.cookie, origin: product.url } }))
          .status,
      ).toBe(204);
      expect((await staff.query('staff.me')).status).toBe(401);
    });
  });

  it('staff create takes the password from its input, so that it is not in the list of processes', async () => {
    const email = 'piped@example.com';
    const command = `npm run -s admin -- staff create --email ${email} --json`;
    const ended = await runPrinted(
      `printf 'from a pipe \\303\\244\\nnext line\\n' | ${command}`,
      product.dataDir,
      settings,
    );
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect((await trySignIn(client, { email, password: 'from a pipe ä' })).status).toBe(200);
  });

  describe('guesses from one address', () => {
    it('are throttled, whatever address the client claims', async () => {
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
      await sql`delete from sign_in_windows`;
      await beginWindow({ sql }, 15 * 60_000, 10_000);
      expect((await guess(0)).status).toBe(401);
      // Further tries are counted in the table, because each real one costs the work of a password hash.
      await sql`update sign_in_windows set tries = tries + 44`;
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => guess(1 + n)));
      const statuses = answers.map(({ status }) => status);
      expect([
        statuses.filter((status) => status === 401).length,
        statuses.filter((status) => status === 429).length,
      ]).toEqual([5, 5]);
    });
  });
}
