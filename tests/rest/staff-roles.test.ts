import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appRouter } from '../../server/procedures/router';
import { listProcedures } from '../../server/rest/trpc-internals';
import { waitForLocks } from '../support/database';
import { scoredSession } from '../support/facts';
import type { TestServer } from '../support/server';
import { createStaffClient, PASSWORD, type StaffClient, startStaffServer } from '../support/staff-client';
import { hashTenantRows } from '../support/tenant-rows';

let server: TestServer;
let tenant: { id: string; key: string };
let admin: StaffClient;
let analyst: StaffClient;
let viewer: StaffClient;
beforeAll(async () => {
  server = await startStaffServer();
  tenant = await server.createTenant();
  await server.ingest(tenant.id, scoredSession(0.9, 'session-1').facts);
  admin = await createStaffClient(server, 'admin');
  analyst = await createStaffClient(server, 'analyst');
  viewer = await createStaffClient(server, 'viewer');
});
afterAll(() => server.stop());

const of = (id: string) => ({ 'x-integration-id': id });
/** Lists the procedures of the product by type. */
const listByType = (type: 'query' | 'mutation') =>
  Object.entries(listProcedures(appRouter))
    .filter(([, procedure]) => procedure._def.type === type)
    .map(([name]) => name);
/** Has its own endpoint and its own token. */
const PIPELINE = 'pipeline.ingest';
const PUBLIC = ['health.get'];
const MUTATIONS = listByType('mutation').filter((name) => name !== PIPELINE);
const QUERIES = listByType('query').filter((name) => !PUBLIC.includes(name));
const ADMIN_ONLY =
  /^(staff\.(?!me)|invitations\.|integrations\.(create|previewPlan|setPlan)|apiKeys\.(mint|revoke)|sites\.(?!list|getCollecting)|findingRules\.set|errorRates\.setSampleSize|reports\.(create|delete)Schedule|audit\.|auditLog\.)/;

describe('every procedure', () => {
  it('is listed', () => {
    expect(MUTATIONS.length).toBeGreaterThan(12);
    expect(QUERIES.length).toBeGreaterThan(15);
  });

  it.each([...MUTATIONS, ...QUERIES])('%s is closed to anyone who is not signed in', async (name) => {
    const headers = { ...of(tenant.id), origin: server.url };
    const answer = MUTATIONS.includes(name)
      ? await server.call('POST', `/api/trpc/${name}`, { body: {}, headers })
      : await server.call('GET', `/api/trpc/${name}?input=%7B%7D`, { headers });
    expect([name, answer.status, answer.body.error.data.code]).toEqual([name, 401, 'UNAUTHORIZED']);
  });

  it('is refused if a page was made for another account than the one that is signed in by now', async () => {
    const from = (id: string) => ({ ...of(tenant.id), 'x-staff-id': id });
    const input = { sessionId: 'session-1', verdict: 'bot' };
    // Without the number, tRPC's client would take it for no answer at all.
    for (const answer of [
      await analyst.mutate('sessions.setVerdict', input, from(admin.id)),
      await analyst.query('staff.me', undefined, from(admin.id)),
    ])
      expect([answer.status, answer.body.error]).toEqual([
        401,
        {
          ...{ code: -32_001, message: 'Another account is signed in' },
          data: { code: 'UNAUTHORIZED', httpStatus: 401, field: 'x-staff-id' },
        },
      ]);
    const { body } = await server.call('GET', '/v1/sessions/session-1', { key: tenant.key });
    expect(body.data.label).toBe(null);
    expect((await analyst.query('staff.me', undefined, from(analyst.id))).body.result.data.id).toBe(analyst.id);
  });

  it.each(MUTATIONS)('%s is closed to viewers, over HTTP and directly', async (name) => {
    const answer = await viewer.mutate(name, {}, of(tenant.id));
    expect([name, answer.status, answer.body.error.data.code]).toEqual([name, 403, 'FORBIDDEN']);
    const staff = { id: viewer.id, email: viewer.email, name: 'viewer', role: 'viewer' as const };
    const caller = appRouter.createCaller({
      service: server.service,
      caller: { kind: 'staff', staff, integrationId: tenant.id, clientAddress: null },
    });
    const [group = '', procedure = ''] = name.split('.');
    // biome-ignore lint/suspicious/noExplicitAny: by name
    await expect((caller as any)[group][procedure]({})).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it.each([...MUTATIONS, ...QUERIES].filter((name) => ADMIN_ONLY.test(name)))(
    '%s is closed to analysts',
    async (name) => {
      const answer = await (MUTATIONS.includes(name) ? analyst.mutate : analyst.query)(name, {}, of(tenant.id));
      expect([name, answer.status]).toEqual([name, 403]);
    },
  );

  it.each(MUTATIONS)('%s is refused if another site’s page asks for it with the cookie', async (name) => {
    const refused = async (headers: Record<string, string>) =>
      (await admin.mutate(name, {}, { ...of(tenant.id), ...headers })).status;
    expect(await refused({ origin: 'https://evil.example.com' })).toBe(403);
    expect(await refused({ 'content-type': 'text/plain' })).toBe(403);
    const { cookie } = admin;
    const bare = await server.call('POST', `/api/trpc/${name}`, { body: {}, headers: { cookie, ...of(tenant.id) } });
    expect(bare.status).toBe(403);
    // A link cannot ask for it either.
    expect((await admin.query(name, {}, of(tenant.id))).status).toBe(405);
  });

  it.each([
    'sessions.setVerdict',
    'sessions.undoVerdict',
    'sessions.removeLabel',
    'sessions.getHistory',
    'users.revokeDevice',
  ])('%s is for staff, next to routes of the public API', (name) => {
    const procedures = listProcedures(appRouter) as Record<string, { meta?: { openapi?: unknown } }>;
    expect(procedures[name]?.meta?.openapi).toBeUndefined();
  });

  it('is part of the public API only if it says so', () => {
    const procedures = Object.entries(listProcedures(appRouter)) as [string, { meta?: { openapi?: unknown } }][];
    const staffOnly = procedures.filter(([name]) =>
      /^(staff|integrations|apiKeys|sites|anomalies|findingRules|alerts|alertRules|reports|writing|recordings|webhookStates|audit|errorRates|review|invitations|setup|search|savedViews)\.|^sessions\.(getContext|getEvidenceReport|listPages)$|^deliveries\.(get|resend|count|listSkipped|countSkipped|sendSkipped)$/.test(
        name,
      ),
    );
    expect(staffOnly.length).toBeGreaterThan(10);
    expect(staffOnly.filter(([, { meta }]) => meta?.openapi)).toEqual([]);
    expect(procedures.filter(([, { meta }]) => meta?.openapi).length).toBeGreaterThan(10);
  });
});

describe('the own account', () => {
  it('is not signed out, nor gets a password, by a page that was made for another one', async () => {
    const { id, cookie, query } = await createStaffClient(server, 'analyst');
    const post = (path: string, madeFor: string, body: object = {}) =>
      server.call('POST', path, { body, headers: { cookie, origin: server.url, 'x-staff-id': madeFor } });
    const otherAccount = {
      message: 'Another account is signed in',
      data: { code: 'UNAUTHORIZED', httpStatus: 401, field: 'x-staff-id' },
    };
    const password = { currentPassword: PASSWORD, newPassword: 'another battery staple' };
    // More often than the account may guess.
    for (let n = 0; n < 11; n++) {
      const answer = await post('/api/auth/password', admin.id, password);
      expect([answer.status, answer.body.error]).toEqual([401, otherAccount]);
    }
    const signOut = await post('/api/auth/sign-out', admin.id);
    expect([signOut.status, signOut.body.error]).toEqual([401, otherAccount]);
    expect((await query('staff.me')).status).toBe(200);
    expect((await post('/api/auth/password', id, { ...password, currentPassword: 'wrong' })).status).toBe(400);
    expect((await post('/api/auth/sign-out', id)).status).toBe(204);
    // Nobody is signed in any more.
    expect((await post('/api/auth/sign-out', id)).status).toBe(204);
  });
});

describe('staff', () => {
  it('read and change what belongs to the named integration, and see the domain’s refusals', async () => {
    const list = await viewer.query('sessions.list', {}, of(tenant.id));
    expect(list.body.result.data.data.map(({ id }: { id: string }) => id)).toEqual(['session-1']);
    const labelled = await analyst.mutate(
      'sessions.label',
      { sessionId: 'session-1', verdict: 'human' },
      of(tenant.id),
    );
    expect(labelled.body.result.data).toMatchObject({ sessionId: 'session-1', verdict: 'human' });
    const unknown = await viewer.query('sessions.get', { sessionId: 'nobody' }, of(tenant.id));
    expect([unknown.status, unknown.body.error.message]).toEqual([404, 'Session not found']);
    const body = { url: 'http://10.0.0.1/', eventType: 'BotDetected' };
    const refused = await analyst.mutate('webhooks.create', body, of(tenant.id));
    expect([refused.status, refused.body.error.data]).toEqual([
      400,
      expect.objectContaining({ code: 'BAD_REQUEST', field: 'url' }),
    ]);
    const wrong = await analyst.mutate('webhooks.create', { url: 1 }, of(tenant.id));
    expect([wrong.status, wrong.body.error.data.field]).toEqual([400, 'url']);
    const free = await server.createTenant('free');
    const capped = await analyst.mutate('webhooks.create', { ...body, url: 'https://example.com/' }, of(free.id));
    expect([capped.status, capped.body.error.data.code]).toEqual([402, 'PAYMENT_REQUIRED']);
    expect((await viewer.query('integration.get', {}, of(tenant.id))).body.result.data).toMatchObject({
      id: tenant.id,
      apiKeyMasked: `aik_v1_${tenant.key.slice(7, 11)}…${tenant.key.slice(-4)}`,
    });
  });

  it.each(QUERIES.concat(MUTATIONS).filter((name) => !/^(staff|integrations|invitations)\./.test(name)))(
    '%s needs an integration, and does not find an unknown one',
    async (name) => {
      const ask = MUTATIONS.includes(name) ? admin.mutate : admin.query;
      const without = await ask(name, {});
      expect([without.status, without.body.error.message]).toEqual([400, 'x-integration-id is required']);
      const unknown = await ask(name, {}, of('int_nobody'));
      expect([unknown.status, unknown.body.error.message]).toEqual([404, 'Integration not found']);
    },
  );

  it('find nothing of one integration while they look at another', async () => {
    const other = await server.createTenant();
    const label = await admin.mutate('sessions.label', { sessionId: 'session-1', verdict: 'human' }, of(tenant.id));
    const { labeledAt } = label.body.result.data;
    await admin.mutate('users.confirmDevice', { userId: 'user-1', fingerprint: 'device-1' }, of(tenant.id));
    // Of the calls of earlier tests.
    await server.service.usage.flush();
    const before = await hashTenantRows(server.database.db, tenant.id);
    const calls: [string, object][] = [
      ['sessions.get', { sessionId: 'session-1' }],
      ['sessions.getDetails', { sessionId: 'session-1' }],
      ['sessions.listEvents', { sessionId: 'session-1' }],
      ['sessions.getContext', { sessionId: 'session-1' }],
      ['sessions.listPages', { sessionId: 'session-1' }],
      ['sessions.getEvidenceReport', { sessionId: 'session-1' }],
      ['recordings.find', { sessionId: 'session-1' }],
      ['recordings.get', { sessionId: 'session-1' }],
      ['sessions.label', { sessionId: 'session-1', verdict: 'bot' }],
      ['sessions.setVerdict', { sessionId: 'session-1', verdict: 'bot' }],
      ['sessions.undoVerdict', { sessionId: 'session-1', labeledAt, previousLabeledAt: null }],
      ['sessions.removeLabel', { sessionId: 'session-1', labeledAt }],
      ['sessions.getHistory', { sessionId: 'session-1' }],
      ['users.revokeDevice', { userId: 'user-1', fingerprint: 'device-1' }],
    ];
    for (const [name, input] of calls) {
      const ask = MUTATIONS.includes(name) ? admin.mutate : admin.query;
      expect([name, (await ask(name, input, of(other.id))).status]).toEqual([name, 404]);
    }
    expect((await admin.query('sessions.list', {}, of(other.id))).body.result.data.data).toEqual([]);
    expect(await hashTenantRows(server.database.db, tenant.id)).toEqual(before);
  });

  it('are not recognised by an API key of an integration: the dashboard’s calls take only the cookie', async () => {
    const answer = await server.call('GET', '/api/trpc/sessions.list', { key: tenant.key, headers: of(tenant.id) });
    expect(answer.status).toBe(401);
    expect((await server.call('GET', '/v1/sessions', { headers: { cookie: admin.cookie } })).status).toBe(401);
  });

  it('cannot send facts', async () => {
    const answer = await admin.mutate(PIPELINE, { integrationId: tenant.id, facts: [] });
    expect(answer.status).toBe(401);
  });
});

describe('admins', () => {
  const result = async (answer: Promise<{ body: { result?: { data: unknown } } }>) =>
    (await answer).body.result?.data as never;

  it('create accounts, give roles, disable, enable and end sessions, with immediate effect', async () => {
    const email = 'new.colleague@example.com';
    const { id } = (await result(
      admin.mutate('staff.create', { email: 'New.Colleague@example.com', password: 'twelve chars', role: 'viewer' }),
    )) as { id: string };
    const again = await admin.mutate('staff.create', { email, password: 'twelve chars' });
    expect([again.status, again.body.error]).toEqual([
      400,
      expect.objectContaining({
        message: `email ${email} already has an account`,
        data: expect.objectContaining({ field: 'email' }),
      }),
    ]);
    for (const [wrong, field] of [
      [{ email: 'nonsense', password: 'twelve chars' }, 'email'],
      [{ email: 'x@example.com', password: 'eleven char' }, 'password'],
      [{ email: 'x@example.com', password: 'x'.repeat(257) }, 'password'],
      [{ email: 'x@example.com', password: 'twelve chars', role: 'owner' }, 'role'],
    ] as const)
      expect((await admin.mutate('staff.create', wrong)).body.error.data).toMatchObject({ httpStatus: 400, field });
    const list = async () =>
      ((await result(admin.query('staff.list'))) as { id: string }[]).find((account) => account.id === id);
    expect(await list()).toEqual({
      ...{ id, email, name: 'new.colleague', role: 'viewer', disabled: false, sessions: 0 },
      createdAt: expect.any(String),
    });
    // A hundred characters that two code units each stand for.
    const long = { email: 'long.name@example.com', name: '𠮷'.repeat(100), password: 'twelve chars' };
    expect((await admin.mutate('staff.create', long)).status).toBe(200);
    const accounts = (await result(admin.query('staff.list'))) as { email: string; name: string }[];
    expect(accounts.find((account) => account.email === long.email)?.name).toBe(long.name);
    expect((await admin.mutate('staff.setRole', { id: viewer.id, role: 'analyst' })).status).toBe(200);
    expect(((await result(viewer.query('staff.me'))) as { role: string }).role).toBe('analyst');
    const outdated = await admin.mutate('staff.setRole', { id: viewer.id, role: 'admin', replaced: 'viewer' });
    expect([outdated.status, outdated.body.error.data.field]).toEqual([400, 'replaced']);
    expect(((await result(viewer.query('staff.me'))) as { role: string }).role).toBe('analyst');
    const back = await admin.mutate('staff.setRole', { id: viewer.id, role: 'viewer', replaced: 'analyst' });
    expect(back.status).toBe(200);
    await admin.mutate('staff.disable', { id });
    expect(await list()).toMatchObject({ disabled: true });
    await admin.mutate('staff.enable', { id });
    expect(await list()).toMatchObject({ disabled: false });
    const other = await createStaffClient(server, 'viewer');
    expect(await result(admin.mutate('staff.revokeSessions', { id: other.id }))).toEqual({ revoked: 1 });
    expect((await other.query('staff.me')).status).toBe(401);
    for (const procedure of ['setRole', 'disable', 'enable', 'revokeSessions'])
      expect((await admin.mutate(`staff.${procedure}`, { id: 'stf_nobody', role: 'viewer' })).status).toBe(404);
  });

  it.each([
    ['enable themselves', 'enable', (id: string) => ({ id })],
    ['make themselves admin', 'setRole', (id: string) => ({ id, role: 'admin' })],
    ['end the sessions of somebody else', 'revokeSessions', () => ({ id: viewer.id })],
    ['make another admin', 'create', () => ({ email: 'heir@example.com', password: 'twelve chars', role: 'admin' })],
  ])('that an admin disables cannot %s by a call of the same moment', async (_what, name, makeInput) => {
    const other = await createStaffClient(server, 'admin');
    await other.mutate('invitations.create', { email: 'guest@example.com', name: 'x', role: 'viewer' });
    const { sql } = server.database.db;
    const { disabled, tried } = await sql.begin(async (tx) => {
      await tx`select from staff_invitations where created_by = ${other.email} for update`;
      const disabled = admin.mutate('staff.disable', { id: other.id });
      await waitForLocks(sql, 1);
      const tried = other.mutate(`staff.${name}`, makeInput(other.id));
      await Promise.race([tried, waitForLocks(sql, 2)]);
      return { disabled, tried };
    });
    expect((await disabled).status).toBe(200);
    const { status, body } = await tried;
    expect([status, body.error?.message]).toEqual([403, 'Your account is no admin any more']);
    const [account] = await sql`select role, disabled from staff where id = ${other.id}`;
    expect(account).toEqual({ role: 'admin', disabled: true });
    expect(await sql`select 1 from staff where email = 'heir@example.com'`).toHaveLength(0);
  });

  it('cannot disable or demote the last admin, not even two admins at once', async () => {
    const second = await createStaffClient(server, 'admin');
    // Both wait for the accounts, then continue at the same moment.
    const { sql } = server.database.db;
    const { asked: answers } = await sql.begin(async (tx) => {
      await tx`select 1 from staff for update`;
      const asked = Promise.all([
        admin.mutate('staff.setRole', { id: second.id, role: 'viewer' }),
        second.mutate('staff.disable', { id: admin.id }),
      ]);
      await waitForLocks(sql, 2);
      return { asked };
    });
    expect((await answers).filter(({ status }) => status === 200)).toHaveLength(1);
    const [left] = (await server.database.db
      .sql`select id from staff where role = 'admin' and not disabled`) as unknown as { id: string }[];
    const last = left!.id === admin.id ? admin : second;
    for (const [procedure, input] of [
      ['disable', {}],
      ['setRole', { role: 'analyst' }],
    ] as const) {
      const answer = await last.mutate(`staff.${procedure}`, { id: last.id, ...input });
      expect([answer.status, answer.body.error.message]).toEqual([400, 'id is the last admin; make another one first']);
    }
    expect((await last.query('staff.me')).status).toBe(200);
  });
});
