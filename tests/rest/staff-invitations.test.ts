import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { setStaffPassword } from '../../server/auth/accounts';
import { beginWindow } from '../support/clock-window';
import { waitForLocks } from '../support/database';
import type { TestServer } from '../support/server';
import {
  createStaffClient,
  openStaffClient,
  PASSWORD,
  readCookie,
  type StaffClient,
  startStaffServer,
  trySignIn,
} from '../support/staff-client';

// Invitations, links to a new password, and the own password. Two servers on one database, like two processes.

const CHOSEN = 'a password of my own';

let server: TestServer;
let second: TestServer;
let admin: StaffClient;
beforeAll(async () => {
  server = await startStaffServer();
  second = await startStaffServer({}, server);
  admin = await createStaffClient(server, 'admin');
});
afterAll(async () => {
  await second.stop();
  await server.stop();
});
beforeEach(async () => {
  await beginWindow(server.database.db, 15 * 60_000, 30_000);
  await server.database.db.sql`delete from sign_in_windows`;
});

let made = 0;
const nextEmail = () => `invited-${++made}@example.com`;
const post = (path: string, body: object, { at = server, headers = {} }: { at?: TestServer; headers?: object } = {}) =>
  at.call('POST', path, { body, headers: { origin: at.url, ...headers } });
const show = (token: string) => post('/api/auth/invitation', { token });
const accept = (token: string, more: object = {}, at = server) =>
  post('/api/auth/invitation/accept', { token, password: CHOSEN, ...more }, { at });
const isIn = async (cookie: string) => (await openStaffClient(second, cookie).query('staff.me')).status === 200;

async function ask(name: string, input: object): Promise<{ token: string; expiresAt: string }> {
  const answer = await admin.mutate(`invitations.${name}`, input);
  expect([name, answer.status]).toEqual([name, 200]);
  return answer.body.result.data;
}
const invite = (email: string, role = 'analyst') => ask('create', { email, name: 'Grace Hopper', role });
const listOpen = async () => (await admin.query('invitations.list')).body.result.data as { email: string }[];

const REFUSAL = {
  error: {
    message: 'This link does not work: it was used, replaced or revoked, or it is older than three days',
    data: { code: 'UNAUTHORIZED', httpStatus: 401 },
  },
};
async function expectDead(token: string) {
  for (const answer of [await show(token), await accept(token)])
    expect([answer.status, answer.body]).toEqual([401, REFUSAL]);
}

describe('an invitation', () => {
  it('makes the account that the admin named, with name and password of its owner, who is signed in', async () => {
    const email = nextEmail();
    const { token, expiresAt } = await ask('create', { email: email.toUpperCase(), name: 'Grace', role: 'analyst' });
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(2.99 * 86_400_000);
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThan(3.01 * 86_400_000);
    expect(await listOpen()).toContainEqual({
      ...{ email, name: 'Grace', role: 'analyst', kind: 'NewAccount', expiresAt },
      ...{ createdBy: admin.email, createdAt: expect.any(String) },
    });
    const shown = await show(token);
    expect(shown.body).toEqual({
      invitation: { email, name: 'Grace', role: 'analyst', kind: 'NewAccount', expiresAt },
    });
    expect(shown.headers.get('cache-control')).toBe('no-store');
    const answer = await accept(token, { name: 'Grace Hopper' });
    expect(answer.status).toBe(200);
    expect(answer.body.staff).toEqual({ id: expect.any(String), email, name: 'Grace Hopper', role: 'analyst' });
    expect(answer.headers.get('set-cookie')).toMatch(/^staff_session=[\w-]{43}; Path=\/; .*HttpOnly; SameSite=Lax$/);
    expect(await isIn(readCookie(answer))).toBe(true);
    expect((await trySignIn(server, { email, password: CHOSEN })).status).toBe(200);
    expect(await listOpen()).not.toContainEqual(expect.objectContaining({ email }));
    await expectDead(token);
  });

  it('is used by one of two who use it at the same moment', async () => {
    const email = nextEmail();
    const { token } = await invite(email);
    const { sql } = server.database.db;
    // Both have hashed their password and wait for the link, then go on at the same moment.
    const { asked } = await sql.begin(async (tx) => {
      await tx`select 1 from staff_invitations for update`;
      const both = Promise.all([accept(token), accept(token, { password: 'of somebody else' }, second)]);
      await waitForLocks(server.database.db.sql, 2);
      return { asked: both };
    });
    const answers = await asked;
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(await sql`select 1 from staff where email = ${email}`).toHaveLength(1);
    const isFirst = answers[0]!.status === 200;
    expect((await trySignIn(server, { email, password: isFirst ? CHOSEN : 'of somebody else' })).status).toBe(200);
    expect((await trySignIn(server, { email, password: isFirst ? 'of somebody else' : CHOSEN })).status).toBe(401);
  });

  it('gives way to the next one for the same address, also if two are made at the same moment', async () => {
    const email = nextEmail();
    const first = await invite(email);
    const next = await invite(email, 'viewer');
    await expectDead(first.token);
    expect((await show(next.token)).body.invitation.role).toBe('viewer');
    const both = await Promise.all([invite(email), invite(email)]);
    const statuses = await Promise.all(both.map(async ({ token }) => (await show(token)).status));
    expect(statuses.sort()).toEqual([200, 401]);
    expect((await listOpen()).filter((one) => one.email === email)).toHaveLength(1);
  });

  it('does nothing after three days, once it is revoked, and once the address has an account', async () => {
    const [expired, revoked, taken] = [nextEmail(), nextEmail(), nextEmail()];
    const old = await invite(expired);
    await server.database.db.sql`
      update staff_invitations set expires_at = now() - interval '1 second' where email = ${expired}`;
    await expectDead(old.token);
    expect(await listOpen()).not.toContainEqual(expect.objectContaining({ email: expired }));
    const given = await invite(revoked);
    expect((await admin.mutate('invitations.revoke', { email: revoked })).status).toBe(200);
    await expectDead(given.token);
    expect((await admin.mutate('invitations.revoke', { email: revoked })).status).toBe(404);
    const late = await invite(taken);
    await admin.mutate('staff.create', { email: taken, password: PASSWORD });
    await expectDead(late.token);
    const refused = await admin.mutate('invitations.create', { email: taken, name: 'Again' });
    expect([refused.status, refused.body.error.data.field]).toEqual([400, 'email']);
    // The next invitation removed the row of the one that had expired.
    expect(await server.database.db.sql`select 1 from staff_invitations where email = ${expired}`).toHaveLength(0);
  });

  it('dies with the rights of the admin who made it', async () => {
    const other = await createStaffClient(server, 'admin');
    const make = async () => {
      const input = { email: nextEmail(), name: 'x', role: 'admin' };
      return (await other.mutate('invitations.create', input)).body.result.data.token;
    };
    const demoted = await make();
    await admin.mutate('staff.setRole', { id: other.id, role: 'analyst' });
    await expectDead(demoted);
    await admin.mutate('staff.setRole', { id: other.id, role: 'admin' });
    const disabled = await make();
    await admin.mutate('staff.disable', { id: other.id });
    await expectDead(disabled);
  });

  describe.each([
    ['an invitation', 'create'],
    ['a link to a new password', 'createPasswordLink'],
  ])('and the demotion of the admin who makes it at the same moment: %s', (_what, name) => {
    let other: StaffClient;
    let make: () => ReturnType<StaffClient['mutate']>;
    const demote = () => admin.mutate('staff.setRole', { id: other.id, role: 'analyst' });
    beforeEach(async () => {
      other = await createStaffClient(server, 'admin');
      const { id } = await createStaffClient(server, 'viewer');
      const input = name === 'create' ? { email: nextEmail(), name: 'x', role: 'admin' } : { id };
      make = () => other.mutate(`invitations.${name}`, input);
    });

    it('dies if it was first', async () => {
      const { made, demoted } = await server.database.db.sql.begin(async (tx) => {
        await tx`select pg_advisory_xact_lock(hashtext('staff invitations'))`;
        const made = make();
        await waitForLocks(server.database.db.sql, 1);
        const demoted = demote();
        await Promise.race([demoted, waitForLocks(server.database.db.sql, 2)]);
        return { made: made.then(({ body }) => body.result.data.token), demoted };
      });
      expect((await demoted).status).toBe(200);
      await expectDead(await made);
    });

    it('is refused if the demotion was first', async () => {
      await other.mutate('invitations.create', { email: nextEmail(), name: 'x', role: 'viewer' });
      const { made, demoted } = await server.database.db.sql.begin(async (tx) => {
        await tx`select from staff_invitations where created_by = ${other.email} for update`;
        const demoted = demote();
        await waitForLocks(server.database.db.sql, 1);
        const made = make();
        await Promise.race([made, waitForLocks(server.database.db.sql, 2)]);
        return { made, demoted };
      });
      expect((await demoted).status).toBe(200);
      const { status, body } = await made;
      expect([status, body.error?.message]).toEqual([403, 'Your account is no admin any more']);
    });
  });

  it.each([
    ['a short password', { password: 'eleven char' }, 'password'],
    ['a long password', { password: 'x'.repeat(257) }, 'password'],
    ['no password', { password: undefined }, 'password'],
    ['an empty name', { name: '' }, 'name'],
  ])('stays usable after %s', async (_case, more, field) => {
    const { token } = await invite(nextEmail());
    const answer = await accept(token, more);
    expect([answer.status, answer.body.error.data.field]).toEqual([400, field]);
    expect((await show(token)).status).toBe(200);
  });

  it('is not read or used by a page of another host, or by a form', async () => {
    const { token } = await invite(nextEmail());
    for (const path of ['/api/auth/invitation', '/api/auth/invitation/accept'])
      for (const headers of [{ origin: 'https://evil.example.com' }, { 'content-type': 'text/plain' }])
        expect((await post(path, { token, password: CHOSEN }, { headers })).status).toBe(403);
    expect((await show(token)).status).toBe(200);
  });

  it('is stored as a keyed hash', async () => {
    const { token } = await invite(nextEmail());
    const [row] = await server.database.db.sql`select string_agg(i::text, ' ') as text from staff_invitations i`;
    expect(row!.text).not.toContain(token);
    expect(row!.text).not.toContain(createHash('sha256').update(token).digest('hex'));
  });

  it.each(['', 'x', 'x'.repeat(43), 'x'.repeat(256)])('is not found by the token %j', async (token) => {
    const answer = await show(token);
    expect(answer.status).toBe(token === '' ? 400 : 401);
  });
});

describe('a link to a new password', () => {
  it('sets it, ends all sessions of the account, and signs in', async () => {
    const client = await createStaffClient(server, 'viewer');
    const { token } = await ask('createPasswordLink', { id: client.id });
    expect((await show(token)).body.invitation).toMatchObject({ email: client.email, kind: 'NewPassword' });
    expect(await isIn(client.cookie)).toBe(true);
    const answer = await accept(token, { name: 'not changed' });
    expect(answer.body.staff).toEqual({ id: client.id, email: client.email, name: 'viewer', role: 'viewer' });
    expect(await isIn(client.cookie)).toBe(false);
    expect(await isIn(readCookie(answer))).toBe(true);
    expect((await trySignIn(server, { email: client.email, password: PASSWORD })).status).toBe(401);
    expect((await trySignIn(server, { email: client.email, password: CHOSEN })).status).toBe(200);
    await expectDead(token);
  });

  it('does nothing once the account is disabled or its password is set otherwise', async () => {
    const client = await createStaffClient(server, 'viewer');
    const make = async () => (await ask('createPasswordLink', { id: client.id })).token;
    const byCommand = await make();
    await setStaffPassword(asOperator(server.service.db), { email: client.email, password: PASSWORD });
    await expectDead(byCommand);
    const disabled = await make();
    await server.database.db.sql`update staff set disabled = true where id = ${client.id}`;
    await expectDead(disabled);
    const refused = await admin.mutate('invitations.createPasswordLink', { id: client.id });
    expect([refused.status, refused.body.error.message]).toEqual([400, 'id is a disabled account; enable it first']);
    expect((await admin.mutate('invitations.createPasswordLink', { id: 'stf_nobody' })).status).toBe(404);
  });

  it('waits for no demotion that waits for it, whichever of the two admins has the lower id', async () => {
    const both = [await createStaffClient(server, 'admin'), await createStaffClient(server, 'admin')];
    const [lower, higher] = both.sort((one, other) => (one.id < other.id ? -1 : 1)) as [StaffClient, StaffClient];
    const asked = await server.database.db.sql.begin(async (tx) => {
      // Holds up the demotion, which locks all admins in the order of their ids, and no link.
      await tx`select from staff where id = ${higher.id} for key share`;
      const demoted = admin.mutate('staff.setRole', { id: lower.id, role: 'analyst' });
      await waitForLocks(server.database.db.sql, 1);
      const made = higher.mutate('invitations.createPasswordLink', { id: lower.id });
      await waitForLocks(server.database.db.sql, 2);
      return { both: Promise.all([demoted, made]) };
    });
    expect((await asked.both).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('and the disabling of its account at the same moment leave no session', async () => {
    const client = await createStaffClient(server, 'analyst');
    const { token } = await ask('createPasswordLink', { id: client.id });
    const [used] = await Promise.all([accept(token), admin.mutate('staff.disable', { id: client.id })]);
    expect([200, 401]).toContain(used.status);
    expect(await isIn(readCookie(used))).toBe(false);
  });
});

describe('the own password', () => {
  const change = (client: Pick<StaffClient, 'cookie'>, body: object, at = server) =>
    post('/api/auth/password', body, { at, headers: { cookie: client.cookie } });
  const RIGHT = { currentPassword: PASSWORD, newPassword: CHOSEN };

  it('of a viewer is changed with the current one; their other sessions and links end', async () => {
    const client = await createStaffClient(server, 'viewer');
    const other = readCookie(await trySignIn(server, { email: client.email, password: PASSWORD }));
    const link = await ask('createPasswordLink', { id: client.id });
    const answer = await change(client, RIGHT);
    expect([answer.status, answer.body]).toEqual([200, {}]);
    expect(await isIn(readCookie(answer))).toBe(true);
    for (const cookie of [client.cookie, other]) expect(await isIn(cookie)).toBe(false);
    await expectDead(link.token);
    expect((await trySignIn(server, { email: client.email, password: PASSWORD })).status).toBe(401);
    expect((await trySignIn(server, { email: client.email, password: CHOSEN })).status).toBe(200);
    const [entry] = await server.database.db.sql`
      select action, actor_id, details from audit_entries where subject_id = ${client.id} order by occurred_at desc limit 1`;
    expect(entry).toMatchObject({ action: 'StaffPasswordChanged', actor_id: client.id });
  });

  it('stays with a wrong current one, an unfit new one, from another host and without a session', async () => {
    const client = await createStaffClient(server, 'viewer');
    const wrong = await change(client, { ...RIGHT, currentPassword: 'not this one' });
    expect([wrong.status, wrong.body.error.data.field]).toEqual([400, 'currentPassword']);
    const short = await change(client, { ...RIGHT, newPassword: 'eleven char' });
    expect([short.status, short.body.error.data.field]).toEqual([400, 'newPassword']);
    const headers = { cookie: client.cookie, origin: 'https://evil.example.com' };
    expect((await post('/api/auth/password', RIGHT, { headers })).status).toBe(403);
    expect((await post('/api/auth/password', RIGHT)).status).toBe(401);
    expect(await isIn(client.cookie)).toBe(true);
    expect((await trySignIn(server, { email: client.email, password: PASSWORD })).status).toBe(200);
  });

  it('is changed once if it is changed twice at the same moment', async () => {
    const client = await createStaffClient(server, 'viewer');
    const answers = await Promise.all([
      change(client, RIGHT),
      change(client, { ...RIGHT, newPassword: 'of somebody else' }, second),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.every(({ status }) => [200, 400, 401].includes(status))).toBe(true);
  });

  it('cannot be guessed with a stolen session: tries count like those of a sign-in', async () => {
    const client = await createStaffClient(server, 'viewer');
    const guess = () => change(client, { ...RIGHT, currentPassword: 'a guess, no more' });
    expect((await guess()).status).toBe(400);
    await server.database.db.sql`update sign_in_windows set tries = tries + 7`;
    const answers = await Promise.all(Array.from({ length: 4 }, guess));
    expect(answers.map(({ status }) => status).sort()).toEqual([400, 400, 429, 429]);
    const throttled = await change(client, RIGHT);
    expect(throttled.status).toBe(429);
    expect(Number(throttled.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await trySignIn(server, { email: client.email, password: PASSWORD })).status).toBe(429);
  });
});

it('tokens are not guessed without end: tries count by client address', async () => {
  const guess = (n: number) => show(`${'x'.repeat(40)}${100 + n}`);
  expect((await guess(0)).status).toBe(401);
  await server.database.db.sql`update sign_in_windows set tries = tries + 48 where bucket like 'address:%'`;
  const statuses = [];
  for (let n = 1; n < 4; n++) statuses.push((await guess(n)).status);
  expect(statuses).toEqual([401, 429, 429]);
});
