import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import {
  createStaff,
  disableStaff,
  enableStaff,
  listStaff,
  revokeStaffSessions,
  setStaffPassword,
} from '../../server/auth/accounts';
import { pruneTries } from '../../server/auth/tries';
import { beginWindow } from '../support/clock-window';
import { waitForLocks } from '../support/database';
import type { TestServer } from '../support/server';
import {
  createStaffClient,
  insertStaff,
  openStaffClient,
  PASSWORD,
  readCookie,
  startStaffServer,
  trySignIn,
} from '../support/staff-client';

// Two servers on one database, like two processes of a deployment.
let server: TestServer;
let second: TestServer;
let deployed: TestServer;
beforeAll(async () => {
  server = await startStaffServer();
  second = await startStaffServer({}, server);
  deployed = await startStaffServer({ PUBLIC_URL_US: 'https://us.example.com' }, server);
  // Their crons remove the windows of tries that these tests count.
  for (const { service } of [server, second, deployed]) await service.engine!.stop(0);
});
afterAll(async () => {
  await deployed.stop();
  await second.stop();
  await server.stop();
});

let made = 0;
const createAccount = (role: 'admin' | 'analyst' | 'viewer' = 'viewer') =>
  insertStaff(server.service, { email: `person-${++made}@example.com`, role, name: 'Käthe' });
const forget = () => server.database.db.sql`delete from sign_in_windows`;
const refusal = (code: string) => ({
  error: { message: expect.any(String), data: { code, httpStatus: expect.any(Number) } },
});

describe('sign-in', () => {
  it('answers the account and a cookie that works, whatever the case of the address', async () => {
    const { id, email } = await createAccount('analyst');
    const answer = await trySignIn(server, { email: email.toUpperCase(), password: PASSWORD });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ staff: { id, email, name: 'Käthe', role: 'analyst' } });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const me = await openStaffClient(second, readCookie(answer)).query('staff.me');
    expect(me.body.result.data).toEqual(answer.body.staff);
    // No browser or cache keeps what a procedure answers.
    expect(me.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['the password changes', { password_hash: 'another' }],
    ['the account is disabled', { disabled: true }],
  ])('that is under way when %s opens no session', async (_, change) => {
    const { id, email } = await createAccount();
    let signingIn: ReturnType<typeof trySignIn> | undefined;
    const { sql } = server.database.db;
    await sql.begin(async (tx) => {
      await tx`update staff set ${tx(change)} where id = ${id}`;
      signingIn = trySignIn(server, { email, password: PASSWORD });
      // It has verified the password and waits, or has opened its session.
      await Promise.race([signingIn, waitForLocks(sql, 1)]);
    });
    expect((await signingIn!).status).toBe(401);
    expect(await sql`select from staff_sessions where staff_id = ${id}`).toHaveLength(0);
  });

  it('sets a cookie that no script reads and no other site sends, Secure if the product is deployed', async () => {
    const { email } = await createAccount();
    const local = (await trySignIn(server, { email, password: PASSWORD })).headers.get('set-cookie')!;
    expect(local).toMatch(/^staff_session=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/);
    const answer = await trySignIn(deployed, { email, password: PASSWORD });
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-staff_session=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect((await openStaffClient(deployed, readCookie(answer)).query('staff.me')).status).toBe(200);
    // The plain name has no meaning on a deployed server.
    const plain = readCookie(answer).replace('__Host-', '');
    expect((await openStaffClient(deployed, plain).query('staff.me')).status).toBe(401);
  });

  it('sets a cookie that browsers keep if the public address has no TLS', async () => {
    const { email } = await createAccount();
    const inner = await startStaffServer({ PUBLIC_URL_US: 'http://bots.campus.example' }, server);
    try {
      const answer = await trySignIn(inner, { email, password: PASSWORD });
      expect(answer.headers.get('set-cookie')).toMatch(
        /^staff_session=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/,
      );
      expect((await openStaffClient(inner, readCookie(answer)).query('staff.me')).status).toBe(200);
    } finally {
      await inner.stop();
    }
  });

  it('stores neither the password nor the token, nor a hash of the token made without a key', async () => {
    const email = 'stored@example.com';
    const { id } = await createStaff(asOperator(server.service.db), { email, password: PASSWORD, role: 'viewer' });
    const token = readCookie(await trySignIn(server, { email, password: PASSWORD })).split('=')[1]!;
    const { sql } = server.database.db;
    const [row] =
      await sql`select row_to_json(a)::text || (select string_agg(row_to_json(s)::text, ' ') from staff_sessions s
                             where s.staff_id = a.id) as text from staff a where a.id = ${id}`;
    expect(row!.text).toContain('scrypt$');
    const plainHash = createHash('sha256').update(token).digest('hex');
    for (const secret of [PASSWORD, token, plainHash]) expect(row!.text).not.toContain(secret);
  });

  it('answers a wrong password, an unknown address and a disabled account the same, and in about the same time', async () => {
    const { id, email } = await createAccount();
    const disabled = await createAccount();
    await disableStaff(asOperator(server.service.db), await keepAdmin(disabled));
    const tries = [
      { email, password: 'a wrong password' },
      { email: 'nobody@example.com', password: PASSWORD },
      { email: disabled.email, password: PASSWORD },
    ];
    const seen = tries.map(() => ({ status: 0, text: '', ms: Number.POSITIVE_INFINITY }));
    const isAboutTheSame = () => {
      const ms = seen.map((one) => one.ms);
      return Math.max(...ms) < 3 * Math.min(...ms);
    };
    // By turns, and the best time of each, because a busy machine slows all of them down.
    for (let round = 0; round < 8 && (round < 2 || !isAboutTheSame()); round++) {
      for (const [index, body] of tries.entries()) {
        const from = performance.now();
        const answer = await trySignIn(server, body);
        const ms = Math.min(seen[index]!.ms, performance.now() - from);
        const headers = [...answer.headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
        seen[index] = { status: answer.status, text: answer.text + JSON.stringify(headers), ms };
      }
    }
    expect(seen.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(new Set(seen.map(({ text }) => text)).size).toBe(1);
    expect(isAboutTheSame(), JSON.stringify(seen)).toBe(true);
    expect(id).toBeDefined();
    await forget();
  });

  it.each([
    ['no JSON', 'email=a&password=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a body that is not JSON', '{', {}],
    ['a missing password', { email: 'a@example.com' }, {}],
    ['a password that is no text', { email: 'a@example.com', password: 1 }, {}],
    ['U+0000', { email: 'a\0@example.com', password: PASSWORD }, {}],
    ['a body of a megabyte', { email: 'a@example.com', password: 'x'.repeat(1_000_000) }, {}],
  ])('with %s is 400', async (_case, body, headers) => {
    const answer = await trySignIn(server, body, headers as Record<string, string>);
    expect([answer.status, answer.body]).toEqual([400, refusal('BAD_REQUEST')]);
  });

  it('with a body of 8 KiB is read, one byte more is 400', async () => {
    const body = JSON.stringify({ email: 'nobody@example.com', password: PASSWORD });
    expect((await trySignIn(server, body.padEnd(8 * 1024))).status).toBe(401);
    const answer = await trySignIn(server, body.padEnd(8 * 1024 + 1));
    expect([answer.status, answer.body]).toEqual([400, refusal('BAD_REQUEST')]);
    await forget();
  });

  it.each([
    ['another host', 'https://evil.example.com'],
    ['a host that begins like ours', 'http://127.0.0.1:1.evil.example.com'],
    ['no readable origin', 'null'],
    ['another port', 'http://127.0.0.1:1'],
    ['another scheme', () => server.url.replace('http:', 'https:')],
  ])('from %s is 403', async (_case, origin) => {
    const { email } = await createAccount();
    const headers = { origin: typeof origin === 'string' ? origin : origin() };
    const answer = await trySignIn(server, { email, password: PASSWORD }, headers);
    expect([answer.status, answer.body]).toEqual([403, refusal('FORBIDDEN')]);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  it('without an Origin is 403; behind a proxy the Origin may be the public address', async () => {
    const { email } = await createAccount();
    const body = { email, password: PASSWORD };
    expect((await server.call('POST', '/api/auth/sign-in', { body })).status).toBe(403);
    expect((await trySignIn(deployed, body, { origin: 'https://us.example.com' })).status).toBe(200);
    expect((await trySignIn(server, body, { origin: 'https://us.example.com' })).status).toBe(403);
  });

  it('from a page without TLS is 403 where the proxy has TLS', async () => {
    const { email } = await createAccount();
    const body = { email, password: PASSWORD };
    const { host } = new URL(server.url);
    const proxied = { 'x-forwarded-proto': 'https' };
    expect((await trySignIn(server, body, { ...proxied, origin: `https://${host}` })).status).toBe(200);
    expect((await trySignIn(server, body, { ...proxied, origin: `http://${host}` })).status).toBe(403);
    expect((await trySignIn(server, body, { 'x-forwarded-proto': 'file', origin: 'file:///' })).status).toBe(403);
    expect((await trySignIn(deployed, body, { origin: 'http://us.example.com' })).status).toBe(403);
  });
});

describe('guessing', () => {
  /** Adds tries to every bucket that has some, because each real try costs the work of a password hash. */
  const addTries = (count: number) => server.database.db.sql`update sign_in_windows set tries = tries + ${count}`;
  beforeEach(() => beginWindow(server.database.db, 15 * 60_000, 30_000));

  it('is throttled by account across all processes; then the right password is refused too', async () => {
    await forget();
    const { email } = await createAccount();
    expect((await trySignIn(server, { email, password: 'a wrong password' })).status).toBe(401);
    await addTries(5);
    const statuses = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        trySignIn(n % 2 ? server : second, { email, password: `a wrong password ${n}` }).then(({ status }) => status),
      ),
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(4);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    const answer = await trySignIn(server, { email: email.toUpperCase(), password: PASSWORD });
    expect([answer.status, answer.body]).toEqual([429, refusal('TOO_MANY_REQUESTS')]);
    expect(answer.body.error.message).toMatch(/Too many tries\. Try again in \d+ minutes?$/);
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(900);
    // Other accounts are not throttled.
    const other = await createAccount();
    expect((await trySignIn(server, { email: other.email, password: PASSWORD })).status).toBe(200);
    // The window ends.
    await server.database.db.sql`update sign_in_windows set window_start = window_start - interval '15 minutes'`;
    expect((await trySignIn(server, { email, password: PASSWORD })).status).toBe(200);
  });

  it('at an account that does not exist is throttled the same way', async () => {
    await forget();
    const body = { email: 'nobody-at-all@example.com', password: 'a wrong password' };
    expect((await trySignIn(server, body)).status).toBe(401);
    await addTries(7);
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await trySignIn(server, body)).status);
    expect(statuses).toEqual([401, 401, 429, 429]);
  });

  it('is throttled by client address, as reported by the nearest proxy', async () => {
    await forget();
    const guess = (n: number, forwarded: string) =>
      trySignIn(
        server,
        { email: `guess-${n}@example.com`, password: 'a wrong password' },
        { 'x-forwarded-for': forwarded },
      );
    // The proxy appends to the addresses that the client claims. The claimed ones have no effect.
    const guessBehindProxy = (n: number) => guess(n, `10.0.0.${n}, 2001:db8:1:2::${n}`).then(({ status }) => status);
    expect(await guessBehindProxy(0)).toBe(401);
    await addTries(45);
    const statuses = await Promise.all(Array.from({ length: 8 }, (_, n) => guessBehindProxy(1 + n)));
    expect(statuses.filter((status) => status === 401)).toHaveLength(4);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    expect((await guess(99, '2001:db8:1:3::1')).status).toBe(401);
    const spoofed = { 'x-client-address': '198.51.100.7', 'x-forwarded-for': '2001:db8:1:2::ffff' };
    expect((await trySignIn(server, { email: 'x@example.com', password: PASSWORD }, spoofed)).status).toBe(429);
    await forget();
  });

  it('beyond the limit of an address writes no row, whatever accounts it names', async () => {
    await forget();
    const headers = { 'x-forwarded-for': '198.51.100.9' };
    const guess = (n: number) =>
      trySignIn(n % 2 ? server : second, { email: `${n}@example.com`, password: 'no' }, headers);
    const listWindows = () => server.database.db.sql`select bucket, tries from sign_in_windows order by bucket`;
    expect((await guess(0)).status).toBe(401);
    await addTries(49);
    const before = await listWindows();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => guess(1 + n)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    expect(await listWindows()).toEqual(before);
    await forget();
  });

  it('leaves no windows that ended an hour ago', async () => {
    await forget();
    await trySignIn(server, { email: 'past@example.com', password: 'no' });
    await server.database.db.sql`update sign_in_windows set window_start = window_start - interval '2 hours'`;
    await trySignIn(server, { email: 'now@example.com', password: 'no' });
    expect(await pruneTries(server.database.db)).toBe(2);
    expect(await server.database.db.sql`select 1 from sign_in_windows`).toHaveLength(2);
  });

  it('a success resets the account’s tries, but takes only its own try off those of the address', async () => {
    await forget();
    const { email } = await createAccount();
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 2; n++) await trySignIn(server, { email, password: 'a wrong password' });
      await addTries(7);
      expect((await trySignIn(server, { email, password: PASSWORD })).status).toBe(200);
    }
    const [address] = await server.database.db.sql`select tries from sign_in_windows where bucket like 'address:%'`;
    expect(address!.tries).toBe(18);
    await forget();
  });
});

describe('a session', () => {
  const isIn = async (cookie: string) => (await openStaffClient(second, cookie).query('staff.me')).status === 200;

  it('is over after sign-out, and the cookie is taken away', async () => {
    const { cookie } = await createStaffClient(server, 'viewer');
    const foreign = { cookie, origin: 'https://evil.example.com' };
    expect((await server.call('POST', '/api/auth/sign-out', { headers: foreign })).status).toBe(403);
    expect(await isIn(cookie)).toBe(true);
    const answer = await server.call('POST', '/api/auth/sign-out', { headers: { cookie, origin: server.url } });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('set-cookie')).toMatch(/^staff_session=; Path=\/; Max-Age=0;/);
    expect(await isIn(cookie)).toBe(false);
  });

  it('that cannot be read because of a fault on our side is 500, and the fault is logged', async () => {
    const { cookie } = await createStaffClient(server, 'viewer');
    const { sql } = server.database.db;
    const error = vi.spyOn(server.service.log, 'error');
    await sql`alter table staff_sessions rename to staff_sessions_gone`;
    try {
      const answer = await openStaffClient(server, cookie).query('staff.me');
      const { error: refused } = refusal('INTERNAL_SERVER_ERROR');
      expect([answer.status, answer.body]).toEqual([500, { error: { ...refused, code: -32_603 } }]);
      const requestId = answer.headers.get('x-request-id');
      expect(error.mock.calls).toEqual([
        [{ err: expect.anything(), requestId }, 'a staff session could not be read or changed'],
      ]);
    } finally {
      await sql`alter table staff_sessions_gone rename to staff_sessions`;
      error.mockRestore();
    }
    expect(await isIn(cookie)).toBe(true);
  });

  it('ends when the same browser signs in again', async () => {
    const { email, cookie } = await createStaffClient(server, 'viewer');
    const again = readCookie(await trySignIn(server, { email, password: PASSWORD }, { cookie }));
    expect([await isIn(cookie), await isIn(again)]).toEqual([false, true]);
  });

  it('ends with the next request after it is revoked, the account disabled or its password replaced', async () => {
    const { db } = server.service;
    const revoked = await createStaffClient(server, 'viewer');
    expect(await revokeStaffSessions(asOperator(db), revoked)).toEqual({ revoked: 1 });
    expect(await isIn(revoked.cookie)).toBe(false);
    const disabled = await createStaffClient(server, 'viewer');
    await disableStaff(asOperator(db), await keepAdmin(disabled));
    expect(await isIn(disabled.cookie)).toBe(false);
    expect((await trySignIn(server, { email: disabled.email, password: PASSWORD })).status).toBe(401);
    await enableStaff(asOperator(db), disabled);
    expect((await trySignIn(server, { email: disabled.email, password: PASSWORD })).status).toBe(200);
    expect(await isIn(disabled.cookie)).toBe(false);
    const changed = await createStaffClient(server, 'viewer');
    await setStaffPassword(asOperator(db), { email: changed.email, password: 'another password' });
    expect(await isIn(changed.cookie)).toBe(false);
    expect((await trySignIn(server, { email: changed.email, password: 'another password' })).status).toBe(200);
  });

  it('of a disabled account has ended even if its row still exists', async () => {
    const { id, cookie } = await createStaffClient(server, 'viewer');
    await server.database.db.sql`update staff set disabled = true where id = ${id}`;
    expect(await isIn(cookie)).toBe(false);
  });

  it('is not prolonged by calls of a page that nobody touches', async () => {
    const { sql } = server.database.db;
    const { id, query } = await createStaffClient(server, 'viewer');
    await sql`update staff_sessions set expires_at = now() + interval '1 hour' where staff_id = ${id}`;
    const isNearItsEnd = async () => {
      const [row] =
        await sql`select expires_at <= now() + interval '1 hour' as "isNear" from staff_sessions where staff_id = ${id}`;
      return row!.isNear as boolean;
    };
    expect((await query('staff.me', undefined, { 'x-unattended': '1' })).status).toBe(200);
    expect(await isNearItsEnd()).toBe(true);
    expect((await query('staff.me')).status).toBe(200);
    expect(await isNearItsEnd()).toBe(false);
  });

  it('lasts 12 hours from its last use, and 14 days at most', async () => {
    const { sql } = server.database.db;
    const { id, cookie } = await createStaffClient(server, 'viewer');
    const hoursLeft = async () => {
      const [row] =
        await sql`select extract(epoch from expires_at - now())::float8 / 3600 as hours from staff_sessions where staff_id = ${id}`;
      return row!.hours as number;
    };
    expect(await hoursLeft()).toBeCloseTo(12, 1);
    const age = (column: string, by: string) =>
      sql.unsafe(`update staff_sessions set ${column} = ${column} - interval '${by}' where staff_id = $1`, [id]);
    await age('expires_at', '10 minutes');
    expect(await isIn(cookie)).toBe(true);
    expect(await hoursLeft()).toBeLessThan(11.9);
    await age('expires_at', '11 hours');
    expect(await isIn(cookie)).toBe(true);
    expect(await hoursLeft()).toBeCloseTo(12, 1);
    await age('created_at', '13 days 20 hours');
    await age('expires_at', '11 hours');
    expect(await isIn(cookie)).toBe(true);
    expect(await hoursLeft()).toBeCloseTo(4, 1);
    const countShown = async () => (await listStaff(server.database.db)).find((account) => account.id === id)!.sessions;
    expect(await countShown()).toBe(1);
    await age('expires_at', '4 hours 1 minute');
    expect([await isIn(cookie), await countShown()]).toEqual([false, 0]);
    // The next sign-in removes its row.
    await createStaffClient(server, 'viewer');
    expect(await sql`select 1 from staff_sessions where staff_id = ${id}`).toHaveLength(0);
  });

  it.each(['', 'x', 'x'.repeat(43), 'a'.repeat(5_000)])('is not found by the token %j', async (token) => {
    expect(await isIn(`staff_session=${token}`)).toBe(false);
  });
});

/** Disabling an admin requires that another admin is left. */
let admin: Promise<unknown> | null = null;
async function keepAdmin<Account>(account: Account): Promise<Account> {
  admin ??= createAccount('admin');
  await admin;
  return account;
}
