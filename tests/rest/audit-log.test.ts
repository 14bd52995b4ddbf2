import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../contract/audit';
import { DEFAULT_KEY_SCOPES } from '../../contract/integrations';
import type { Database } from '../../db/client';
import { runUnitOfWork } from '../../db/unit-of-work';
import { type AuditedContext, asOperator } from '../../server/audit/acts';
import { createStaff, setStaffPassword } from '../../server/auth/accounts';
import { mintKey, revokeKey } from '../../server/domain/api-keys';
import { listLatestAuditEntries } from '../../server/domain/audit-entries';
import type { DomainContext } from '../../server/domain/context';
import { createIntegration } from '../../server/domain/integrations';
import { updateRiskThresholds } from '../../server/domain/risk-thresholds';
import { setIntegrationPlan } from '../../server/webhooks/plans';
import type { TestServer } from '../support/server';
import { createStaffClient, PASSWORD, type StaffClient, startStaffServer, trySignIn } from '../support/staff-client';

// Who changed keys, plans, thresholds and accounts: one entry for each change, written in its transaction.

let server: TestServer;
let tenant: { id: string; key: string; keyId: string };
let other: typeof tenant;
let admin: StaffClient;
let analyst: StaffClient;
let operator: AuditedContext;
let seen = 0;
beforeAll(async () => {
  server = await startStaffServer();
  operator = asOperator(server.service.db);
  tenant = await server.createTenant();
  other = await server.createTenant();
  admin = await createStaffClient(server, 'admin');
  analyst = await createStaffClient(server, 'analyst');
});
afterAll(() => server.stop());

const listAll = () => listLatestAuditEntries(server.service.db, { limit: 1000 });
const forget = async () => {
  seen = (await listAll()).length;
};
/** Lists the entries since the last call of `forget`. */
const listNew = async () => {
  const all = await listAll();
  return all.slice(0, all.length - seen);
};
const at = (id: string) => ({ 'x-integration-id': id });
const asStaff = () => ({ kind: 'Staff', id: admin.id, name: admin.email, clientAddress: '127.0.0.1' });
const OPERATOR = { kind: 'Operator', id: null, name: null, clientAddress: null };
const entry = (fields: Partial<AuditEntry>) => ({
  id: expect.stringMatching(/^aud_/),
  at: expect.any(String),
  ...fields,
});

/** Calls a procedure that must succeed. Answers its result and the entries that it wrote. */
async function act(name: string, input: object, headers = at(tenant.id)) {
  await forget();
  const answer = await admin.mutate(name, input, headers);
  expect([name, answer.status]).toEqual([name, 200]);
  return { result: answer.body.result.data, left: await listNew() };
}

it('changes at the same time are listed in the order in which they came into effect', async () => {
  const { id } = await server.createTenant();
  const setThresholds = (db: Database, mediumAt: number) =>
    updateRiskThresholds({ ...operator, db, integration: { id } } as DomainContext & AuditedContext, {
      mediumAt,
      botAt: 80,
    });
  const { db } = server.service;
  await runUnitOfWork(db, async (earlier) => {
    await earlier.query('select 1', []);
    await sleep(5);
    await setThresholds(db, 10);
    await setThresholds(earlier, 20);
  });
  const [last, first] = await listLatestAuditEntries(db, { integrationId: id, limit: 2 });
  expect(last!.details).toEqual({ before: { mediumAt: 10, botAt: 80 }, after: { mediumAt: 20, botAt: 80 } });
  expect(first!.details).toMatchObject({ after: { mediumAt: 10 } });
});

describe('a change by staff writes one entry', () => {
  const ofTenant = (action: AuditEntry['action'], subjectId: string, details: object) =>
    entry({ action, actor: asStaff(), integrationId: tenant.id, subjectId, details: details as never } as never);

  it('on an integration and its keys', async () => {
    const created = await act('integrations.create', { name: 'New', plan: 'pro' });
    expect(created.left).toEqual([
      entry({
        ...{ action: 'IntegrationCreated', actor: asStaff() as never },
        ...{ integrationId: created.result.id, subjectId: created.result.id },
        details: { name: 'New', plan: 'pro', allowedOrigins: [] },
      }),
    ]);
    const minted = await act('apiKeys.mint', { name: 'Nightly' });
    const masked = `${minted.result.key.slice(0, 11)}…${minted.result.key.slice(-4)}`;
    const may = { scopes: DEFAULT_KEY_SCOPES, expiresAt: null };
    expect(minted.left).toEqual([ofTenant('KeyMinted', minted.result.id, { name: 'Nightly', masked, ...may })]);
    expect(JSON.stringify(minted.left)).not.toContain(minted.result.key);
    const revoked = await act('apiKeys.revoke', { id: minted.result.id });
    expect(revoked.left).toEqual([ofTenant('KeyRevoked', minted.result.id, { name: 'Nightly', masked })]);
    expect((await act('apiKeys.revoke', { id: minted.result.id })).left).toEqual([]);
  });

  it('on a site, and on what holds for all sites', async () => {
    const created = await act('sites.create', { name: 'Campus' });
    const { id, siteKey } = created.result;
    expect(created.left).toEqual([ofTenant('SiteCreated', id, { name: 'Campus', siteKey })]);
    expect((await act('sites.revoke', { id })).left).toEqual([
      ofTenant('SiteRevoked', id, { name: 'Campus', siteKey }),
    ]);
    expect((await act('sites.revoke', { id })).left).toEqual([]);
    const origins = { allowedOrigins: ['https://lms.example.edu'] };
    const changed = { before: [], after: origins.allowedOrigins };
    expect((await act('sites.setOrigins', origins)).left).toEqual([ofTenant('OriginsChanged', tenant.id, changed)]);
    const rotated = await act('sites.rotateIdentitySecret', {});
    expect(rotated.left).toEqual([ofTenant('IdentitySecretRotated', tenant.id, { isFirst: true })]);
    expect((await act('sites.setUnsignedUsers', { acceptsUnsignedUsers: true })).left).toEqual([
      ofTenant('UnsignedUsersChanged', tenant.id, { before: false, after: true }),
    ]);
    expect((await act('sites.setPrivacyControl', { mayIgnorePrivacyControl: true })).left).toEqual([
      ofTenant('PrivacyControlChanged', tenant.id, { before: false, after: true }),
    ]);
  });

  it('on a plan, with the webhooks that it disabled', async () => {
    const subscribe = async (path: string) => {
      const body = { url: `https://example.com/${path}`, eventType: 'BotDetected' };
      return (await server.call('POST', '/v1/webhooks', { key: tenant.key, body })).body.data.id;
    };
    await subscribe('old');
    const newer = await subscribe('new');
    const lowered = await act('integrations.setPlan', { id: tenant.id, plan: 'pro' });
    const details = { before: 'enterprise', after: 'pro', disabledWebhooks: [newer] };
    expect(lowered.left).toEqual([ofTenant('PlanChanged', tenant.id, details)]);
    expect((await act('integrations.setPlan', { id: tenant.id, plan: 'pro' })).left).toEqual([]);
    await act('integrations.setPlan', { id: tenant.id, plan: 'enterprise' });
  });

  it('on the thresholds, with the values before', async () => {
    const after = { mediumAt: 35, botAt: 65 };
    const changed = await act('riskThresholds.update', after);
    expect(changed.left).toEqual([
      ofTenant('ThresholdsChanged', tenant.id, { before: { mediumAt: 40, botAt: 70 }, after }),
    ]);
    expect((await act('riskThresholds.update', after)).left).toEqual([]);
  });

  it('on accounts', async () => {
    const email = 'colleague@example.com';
    const { result, left } = await act('staff.create', { email, password: PASSWORD, role: 'viewer' });
    const { id } = result;
    const onAccount = (action: AuditEntry['action'], details: object) => [
      entry({
        ...{ action, actor: asStaff() as never, integrationId: null, subjectId: id },
        details: { email, ...details },
      }),
    ];
    expect(left).toEqual(onAccount('StaffCreated', { role: 'viewer' }));
    const leaves = async (name: string, input: object) => (await act(`staff.${name}`, { id, ...input })).left;
    const promoted = { before: 'viewer', after: 'analyst' };
    expect(await leaves('setRole', { role: 'analyst' })).toEqual(onAccount('StaffRoleChanged', promoted));
    expect(await leaves('setRole', { role: 'analyst' })).toEqual([]);
    expect(await leaves('revokeSessions', {})).toEqual([]);
    await trySignIn(server, { email, password: PASSWORD });
    expect(await leaves('revokeSessions', {})).toEqual(onAccount('StaffSessionsEnded', { sessions: 1 }));
    await trySignIn(server, { email, password: PASSWORD });
    await server.database.db.sql`update staff_sessions set expires_at = now() - interval '1 ms' where staff_id = ${id}`;
    expect(await act('staff.revokeSessions', { id })).toEqual({ result: { revoked: 0 }, left: [] });
    expect(await leaves('disable', {})).toEqual(onAccount('StaffDisabled', {}));
    expect(await leaves('disable', {})).toEqual([]);
    expect(await leaves('enable', {})).toEqual(onAccount('StaffEnabled', {}));
    expect(await leaves('enable', {})).toEqual([]);
  });
});

describe('a link for staff writes one entry each time', () => {
  const email = 'invited.colleague@example.com';
  const accept = (token: string) =>
    server.call('POST', '/api/auth/invitation/accept', {
      body: { token, password: 'of their own choice' },
      headers: { origin: server.url },
    });
  const ofAccount = (action: AuditEntry['action'], subjectId: string, details: object, actor: object = asStaff()) => [
    entry({ action, actor: actor as never, integrationId: null, subjectId, details: details as never }),
  ];

  it('when it is made, revoked and used, and when its maker may no longer make any', async () => {
    const invite = { email, name: 'Invited', role: 'analyst' };
    const invited = await act('invitations.create', invite);
    expect(invited.left).toEqual(ofAccount('StaffInvited', email, { email, role: 'analyst' }));
    expect((await act('invitations.revoke', { email })).left).toEqual(
      ofAccount('StaffInvitationRevoked', email, { email }),
    );
    const again = await act('invitations.create', invite);
    await forget();
    const { id } = (await accept(again.result.token)).body.staff;
    const themselves = { kind: 'Staff', id, name: email, clientAddress: '127.0.0.1' };
    const joined = { email, role: 'analyst', invitedBy: admin.email };
    expect(await listNew()).toEqual(ofAccount('StaffInvitationAccepted', id, joined, themselves));
    const link = await act('invitations.createPasswordLink', { id });
    expect(link.left).toEqual(ofAccount('StaffPasswordLinkCreated', id, { email }));
    await forget();
    await accept(link.result.token);
    expect(await listNew()).toEqual(ofAccount('StaffPasswordSet', id, { email, byLinkOf: admin.email }, themselves));
    await act('invitations.createPasswordLink', { id });
    const disabled = await act('staff.disable', { id });
    // One transaction has one time, so the order of its entries says nothing.
    expect(disabled.left).toHaveLength(2);
    expect(disabled.left).toEqual(
      expect.arrayContaining([
        ...ofAccount('StaffDisabled', id, { email }),
        ...ofAccount('StaffInvitationRevoked', id, { email }),
      ]),
    );
    for (const { token } of [invited.result, again.result, link.result])
      expect(JSON.stringify(await listAll())).not.toContain(token);
  });
});

describe('a change by others writes one entry', () => {
  it('with the API key that made the request', async () => {
    await forget();
    const body = { mediumAt: 10, botAt: 20 };
    const answer = await server.call('PUT', '/v1/settings/risk-thresholds', { key: other.key, body });
    expect(answer.status).toBe(200);
    const name = `${other.key.slice(0, 11)}…${other.key.slice(-4)}`;
    expect(await listNew()).toEqual([
      entry({
        ...{ action: 'ThresholdsChanged', actor: { kind: 'ApiKey', id: other.keyId, name, clientAddress: null } },
        ...{ integrationId: other.id, subjectId: other.id },
        details: { before: { mediumAt: 40, botAt: 70 }, after: body },
      }),
    ]);
  });

  it('with the operator at the command line, whose functions these are', async () => {
    await forget();
    const { id } = await createIntegration(operator, { name: 'Own', plan: 'free', allowedOrigins: [] });
    const key = await mintKey(operator, { integrationId: id, name: 'k' });
    await setIntegrationPlan(operator, { id, plan: 'pro' });
    await revokeKey(operator, { id: key.id });
    const account = await createStaff(operator, { email: 'own@example.com', password: PASSWORD, role: 'viewer' });
    await setStaffPassword(operator, { email: 'own@example.com', password: 'another password' });
    const left = (await listNew()).reverse();
    expect(left.map(({ action, subjectId, integrationId }) => [action, subjectId, integrationId])).toEqual([
      ['IntegrationCreated', id, id],
      ['KeyMinted', key.id, id],
      ['PlanChanged', id, id],
      ['KeyRevoked', key.id, id],
      ['StaffCreated', account.id, null],
      ['StaffPasswordSet', account.id, null],
    ]);
    expect(left.map(({ actor }) => actor)).toEqual(left.map(() => OPERATOR));
    expect(JSON.stringify(left)).not.toMatch(/another password|correct horse/);
    expect(JSON.stringify(left)).not.toContain(key.key);
  });
});

describe('no entry is written', () => {
  it('by a refused call', async () => {
    await forget();
    const refused = [
      await admin.mutate('apiKeys.mint', { name: '' }, at(tenant.id)),
      await admin.mutate('apiKeys.revoke', { id: other.keyId }, at(tenant.id)),
      await admin.mutate('integrations.setPlan', { id: 'int_nobody', plan: 'pro' }),
      await admin.mutate('staff.create', { email: admin.email, password: PASSWORD }),
      await admin.mutate('staff.setRole', { id: 'stf_nobody', role: 'viewer' }),
      await admin.mutate('riskThresholds.update', { mediumAt: 50, botAt: 51 }, at(tenant.id)),
      await analyst.mutate('apiKeys.mint', { name: 'x' }, at(tenant.id)),
      await admin.mutate('sites.setOrigins', { allowedOrigins: ['https://*.example.edu'] }, at(tenant.id)),
      await analyst.mutate('sites.rotateIdentitySecret', {}, at(tenant.id)),
      await server.call('PUT', '/v1/settings/risk-thresholds', { key: tenant.key, body: { mediumAt: 1 } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 404, 404, 400, 404, 400, 403, 400, 403, 400]);
    expect(await listNew()).toEqual([]);
  });

  it('by a change that was rolled back', async () => {
    await forget();
    // The role is changed and its entry is written before the check finds that no admin would be left.
    const last = await admin.mutate('staff.setRole', { id: admin.id, role: 'viewer' });
    expect([last.status, last.body.error.message]).toEqual([400, 'id is the last admin; make another one first']);
    expect(await listNew()).toEqual([]);
  });
});

it('nothing is changed if its entry cannot be written', async () => {
  const { sql } = server.database.db;
  const count = async () =>
    (
      await sql`select (select count(*) from api_keys) || ' ' || (select count(*) from staff) || ' ' ||
      (select string_agg(plan || medium_at || allowed_origins::text || (identity_secret is null)::text ||
                         may_ignore_privacy_control::text || accepts_unsigned_users::text, ',' order by id) from integrations) || ' ' ||
      (select count(*) from sites) || ' ' || (select count(*) from staff_invitations) || ' ' ||
      (select md5(string_agg(password_hash, ' ' order by id)) from staff) as state`
    )[0]!.state;
  const before = await count();
  await sql`alter table audit_entries add constraint full_disk check (action = '') not valid`;
  try {
    const failed = [
      await admin.mutate('apiKeys.mint', { name: 'x' }, at(tenant.id)),
      await admin.mutate('apiKeys.revoke', { id: tenant.keyId }, at(tenant.id)),
      await admin.mutate('integrations.create', { name: 'New', plan: 'pro' }),
      await admin.mutate('integrations.setPlan', { id: tenant.id, plan: 'free' }),
      await admin.mutate('sites.create', {}, at(tenant.id)),
      await admin.mutate('sites.setOrigins', { allowedOrigins: [] }, at(tenant.id)),
      await admin.mutate('sites.rotateIdentitySecret', {}, at(tenant.id)),
      await admin.mutate('sites.setUnsignedUsers', { acceptsUnsignedUsers: false }, at(tenant.id)),
      await admin.mutate('sites.setPrivacyControl', { mayIgnorePrivacyControl: false }, at(tenant.id)),
      await admin.mutate('staff.create', { email: 'x@example.com', password: PASSWORD }),
      await admin.mutate('invitations.create', { email: 'x@example.com', name: 'X', role: 'admin' }),
      await admin.mutate('invitations.createPasswordLink', { id: analyst.id }),
      await server.call('POST', '/api/auth/password', {
        body: { currentPassword: PASSWORD, newPassword: 'another password' },
        headers: { cookie: analyst.cookie, origin: server.url },
      }),
      await server.call('PUT', '/v1/settings/risk-thresholds', { key: tenant.key, body: { mediumAt: 1, botAt: 9 } }),
    ];
    expect(failed.map(({ status }) => status)).toEqual(failed.map(() => 500));
  } finally {
    await sql`alter table audit_entries drop constraint full_disk`;
  }
  expect(await count()).toBe(before);
  expect((await server.call('GET', '/v1/stats', { key: tenant.key })).status).toBe(200);
});

describe('audit.list', () => {
  const list = async (input: object, id = tenant.id) =>
    (await admin.query('audit.list', input, at(id))).body.result.data;

  it('shows the entries of one integration, and those of accounts separately, newest first', async () => {
    const all = await listAll();
    const ofTenant = all.filter(({ integrationId }) => integrationId === tenant.id);
    const ofStaff = all.filter(({ integrationId }) => integrationId === null);
    expect(Math.min(ofTenant.length, ofStaff.length)).toBeGreaterThan(5);
    expect((await list({})).data).toEqual(ofTenant);
    expect((await list({ scope: 'Staff' })).data).toEqual(ofStaff);
    expect((await list({}, other.id)).data.map((one: AuditEntry) => one.integrationId)).toEqual(
      all.flatMap(({ integrationId }) => (integrationId === other.id ? [other.id] : [])),
    );
  });

  it('is read page by page with cursors, which work only where they were issued', async () => {
    const walked: AuditEntry[] = [];
    let cursor: string | undefined;
    do {
      const page = await list({ pageSize: 2, cursor });
      expect(page.data.length).toBeLessThanOrEqual(2);
      walked.push(...page.data);
      cursor = page.pagination.nextCursor;
    } while (cursor);
    expect(walked).toEqual((await list({})).data);
    const { nextCursor } = (await list({ pageSize: 1 })).pagination;
    for (const [input, id] of [
      [{ cursor: nextCursor }, other.id],
      [{ cursor: nextCursor, scope: 'Staff' }, tenant.id],
    ] as const)
      expect((await admin.query('audit.list', input, at(id))).status).toBe(400);
  });

  it('is only for admins', async () => {
    const viewer = await createStaffClient(server, 'viewer');
    const answers = [
      await analyst.query('audit.list', {}, at(tenant.id)),
      await viewer.query('audit.list', {}, at(tenant.id)),
      await server.call('GET', '/api/trpc/audit.list', { key: tenant.key, headers: at(tenant.id) }),
      await server.call('GET', '/v1/audit', { key: tenant.key }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 401, 404]);
  });
});

describe('a key', () => {
  const readLog = async (key: string) => (await server.call('GET', '/v1/audit-log?pageSize=100', { key })).body.data;

  it('sees what was done to its integration, and of our staff only that it was staff', async () => {
    await act('riskThresholds.update', { mediumAt: 31, botAt: 61 });
    await act('reports.createSchedule', {
      ...{ template: 'weekly-overview', format: 'csv', cadence: 'daily', hour: 3, timeZone: 'UTC' },
    });
    const device = { userId: 'lms-1', fingerprint: 'fp-1' };
    for (const name of ['users.confirmDevice', 'users.revokeDevice'])
      expect((await analyst.mutate(name, device, at(tenant.id))).status).toBe(200);
    const [revoked, confirmed, scheduled, changed, ...others] = await readLog(tenant.key);
    expect(revoked).toMatchObject({ action: 'DeviceConfirmationRevoked', details: { fingerprint: 'fp-1' } });
    expect(scheduled).toMatchObject({ action: 'ReportScheduled', actor: { kind: 'Staff', id: null, name: null } });
    expect(changed).toEqual({
      ...{ id: expect.stringMatching(/^aud_/), at: expect.any(String), action: 'ThresholdsChanged' },
      ...{ actor: { kind: 'Staff', id: null, name: null }, subjectId: tenant.id },
      details: { before: expect.any(Object), after: { mediumAt: 31, botAt: 61 } },
    });
    const all = (await listAll()).filter(({ integrationId }) => integrationId === tenant.id);
    expect([revoked, confirmed, scheduled, changed, ...others].map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect(new Set(all.filter(({ actor }) => actor.kind === 'Staff').map(({ action }) => action)).size).toBeGreaterThan(
      10,
    );
    const text = JSON.stringify(await readLog(tenant.key));
    for (const trace of [admin.id, admin.email, analyst.id, analyst.email, '127.0.0.1', 'clientAddress'])
      expect([trace, text.includes(trace)]).toEqual([trace, false]);
    expect((await readLog(other.key)).map(({ subjectId }: AuditEntry) => subjectId)).not.toContain(tenant.id);
  });

  it('reads in the document what each subject may be', async () => {
    const own = await server.createTenant();
    await act('findingRules.set', { rule: 'Correlation', isEnabled: false }, at(own.id));
    await act(
      'reports.createSchedule',
      { template: 'weekly-overview', format: 'csv', cadence: 'daily', hour: 3, timeZone: 'UTC' },
      at(own.id),
    );
    expect((await server.call('DELETE', '/v1/users/ada', { key: own.key })).status).toBe(200);
    const { body } = await server.call('GET', '/openapi/v3.json');
    const { description } = body.components.schemas.AuditEntry.properties.subjectId;
    const words: Record<string, string> = {
      ...{ int: 'integration', key: 'key', sch: 'schedule', Correlation: 'name of a rule', 'erased:': 'hash' },
    };
    for (const { subjectId } of await readLog(own.key)) {
      const [, word] = Object.entries(words).find(([begin]) => subjectId.startsWith(begin)) ?? [];
      expect([subjectId, description]).toEqual([subjectId, expect.stringContaining(word!)]);
    }
  });
});
