import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_KEY_SCOPES } from '../../contract/integrations';
import { COURSE_SORTS, SESSION_SORTS, USER_SORTS } from '../../contract/sorting';
import { MAX_COUNTED } from '../../contract/totals';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { MAX_SORTED } from '../../server/domain/session-walks';
import { markReceiving } from '../../server/domain/sites';
import { foldCounts } from '../support/count-rows';
import * as facts from '../support/facts';
import { countRead, explainStatement } from '../support/plans';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';
import { recordStatements } from '../support/statements';
import { loadVolumes } from '../support/volume';

// What the dashboard shows in addition to the public API, of one tenant among others.

let server: TestServer;
let receiver: Receiver;
let admin: StaffClient;
let ours: { id: string; key: string; keyId: string };
let theirs: { id: string; key: string; keyId: string };
let webhookId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startStaffServer({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1',
    WEBHOOK_RETRY_DELAYS: '0s,10ms,10ms,10ms,10ms,10ms',
    PUBLIC_URL_US: 'https://us.example.com/',
  });
  admin = await createStaffClient(server, 'admin');
  [ours, theirs] = [await server.createTenant(), await server.createTenant()];
  for (const tenant of [ours, theirs]) {
    const subscribe = async (eventType: string) =>
      (
        await server.call('POST', '/v1/webhooks', {
          ...{ key: tenant.key, body: { url: `${receiver.url}/${eventType}`, eventType } },
        })
      ).body.data.id;
    const id = await subscribe('BotDetected');
    for (const eventType of ['SessionAnomaly', 'SessionCorrelated']) await subscribe(eventType);
    if (tenant === ours) webhookId = id;
    const sent = await server.ingest(tenant.id, [
      facts.started('s 1/é', { deviceFingerprint: 'device-1' }),
      facts.correlated('s 1/é', 'user-1'),
      facts.closed('s 1/é'),
      facts.scored('s 1/é', 0.95),
      facts.started('s2', { deviceFingerprint: 'device-1' }),
      facts.correlated('s2', 'user-1'),
      facts.closed('s2'),
      facts.scored('s2', tenant === ours ? 0.12 : 0.55),
      facts.started('s3'),
      facts.anomaly('a1', { sessionId: 's 1/é', detectedAt: facts.secondsAgo(9) }),
      facts.anomaly('a2', {
        severity: 'low',
        anomalyType: 'DeviceSwitch',
        userId: 'user-2',
        detectedAt: facts.secondsAgo(8),
      }),
      { kind: 'alertFired', alertId: 'alert-1', severity: 'High', message: 'One', triggeredAt: facts.secondsAgo(30) },
      { kind: 'alertFired', alertId: 'alert-2', severity: 'low', message: 'Two', triggeredAt: facts.secondsAgo(20) },
      ...[null, facts.secondsAgo(1)].map((expiresAt, n) => ({
        ...{ kind: 'reportReady', reportId: `report-${n}`, reportName: 'Weekly', templateId: 't', format: 'csv' },
        ...{ completedAt: facts.secondsAgo(40 - n), downloadUrl: '/x', ...(expiresAt ? { expiresAt } : {}) },
      })),
      facts.writing('writing-1', 0.45, {
        ...{ userId: 'user-1', documentId: 'essay', wordCount: 150, scoredAt: facts.secondsAgo(50) },
        ...{ browsingSessionId: 's 1/é', evidence: facts.writingEvidence() },
      }),
      // Of a customer's own tool.
      facts.writing('writing-2', 0.2, { userId: 'user-2', scoredAt: facts.secondsAgo(45) }),
    ]);
    expect([sent.status, sent.text]).toEqual([200, expect.stringContaining('"duplicates":0')]);
  }
  await receiver.waitFor(10);
  await waitUntil(async () => {
    const [open] = await server.database.db
      .sql`select count(*)::int as n from webhook_deliveries where status = 'Pending'`;
    return open!.n === 0;
  });
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const at = (tenant: { id: string }) => ({ 'x-integration-id': tenant.id });
async function ask(name: string, input?: unknown, tenant = ours) {
  const { status, body, text } = await admin.query(name, input, at(tenant));
  expect([name, status, text]).toEqual([name, 200, text]);
  return body.result.data;
}
const ids = (list: { id: string }[]) => list.map(({ id }) => id);
/** Reads the whole list, page by page. */
async function walk(name: string, filters: object = {}) {
  const found: { id: string }[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await ask(name, { ...filters, pageSize: 1, ...(cursor ? { cursor } : {}) });
    found.push(...data);
    if (!pagination.hasMore) return ids(found);
    cursor = pagination.nextCursor;
  }
}
const refuse = async (name: string, input: unknown, tenant = ours) =>
  (await admin.query(name, input, at(tenant))).status;

describe('integrations', () => {
  it('are listed for everyone, created and moved to a plan by admins', async () => {
    const created = await admin.mutate('integrations.create', {
      ...{ name: 'A new one', plan: 'pro', allowedOrigins: ['https://lms.example.edu/path'] },
    });
    const { id } = created.body.result.data;
    const viewer = await createStaffClient(server, 'viewer');
    const list = (await viewer.query('integrations.list')).body.result.data;
    expect(list.find((one: { id: string }) => one.id === id)).toEqual({
      ...{ id, name: 'A new one', plan: 'pro', status: 'Active', region: 'us', createdAt: expect.stringMatching(/Z$/) },
    });
    expect(ids(list)).toEqual(expect.arrayContaining([ours.id, theirs.id]));
    expect(await ask('integration.get', {}, { id } as never)).toMatchObject({
      allowedOrigins: ['https://lms.example.edu'],
      apiKeyMasked: '',
    });
    const moved = await admin.mutate('integrations.setPlan', { id, plan: 'free' });
    expect(moved.body.result.data).toEqual({ id, plan: 'free' });
    expect((await ask('integration.get', {}, { id } as never)).plan).toBe('free');
    for (const [name, input, field] of [
      ['create', { name: '', plan: 'pro' }, 'name'],
      ['create', { name: 'X', plan: 'gold' }, 'plan'],
      ['create', { name: 'X', plan: 'pro', allowedOrigins: ['lms'] }, 'allowedOrigins.0'],
      ['setPlan', { id, plan: 'gold' }, 'plan'],
    ] as const)
      expect((await admin.mutate(`integrations.${name}`, input)).body.error.data).toMatchObject({
        httpStatus: 400,
        field,
      });
    expect((await admin.mutate('integrations.setPlan', { id: 'int_nobody', plan: 'pro' })).status).toBe(404);
  });

  it('show what a plan would change before it is set: exactly what it then changes', async () => {
    const tenant = await server.createTenant('enterprise');
    const subscribe = async (name: string) =>
      (
        await server.call('POST', '/v1/webhooks', {
          ...{ key: tenant.key, body: { url: receiver.url, eventType: 'BotDetected', name } },
        })
      ).body.data.id;
    const created = [await subscribe('first'), await subscribe('second'), await subscribe('third')];
    await server.call('PATCH', `/v1/webhooks/${created[1]}`, { key: tenant.key, body: { enabled: false } });
    const preview = async (plan: string) =>
      (await admin.query('integrations.previewPlan', { id: tenant.id, plan })).body;
    expect((await preview('enterprise')).result.data).toEqual({
      ...{ tier: 'enterprise', requestsPerMinute: 6000, maxActiveWebhooks: 10, retentionDays: 730, disables: [] },
    });
    const { disables } = (await preview('pro')).result.data;
    expect(disables).toEqual([{ id: created[2], name: 'third', eventType: 'BotDetected' }]);
    expect(ids((await preview('starter')).result.data.disables)).toEqual([created[0], created[2]]);
    const listActive = async () =>
      (await ask('webhooks.list', {}, tenant as never)).data.filter((one: { enabled: boolean }) => one.enabled);
    expect(await listActive()).toHaveLength(2);
    await admin.mutate('integrations.setPlan', { id: tenant.id, plan: 'pro' });
    expect(ids(await listActive())).toEqual([created[0]]);
    expect((await preview('gold')).error.data).toMatchObject({ httpStatus: 400, field: 'plan' });
    expect((await admin.query('integrations.previewPlan', { id: 'int_nobody', plan: 'pro' })).status).toBe(404);
  });
});

describe('sites', () => {
  const change = async (name: string, input: unknown, tenant = ours) => {
    const { status, body, text } = await admin.mutate(`sites.${name}`, input, at(tenant));
    expect([name, status, text]).toEqual([name, 200, text]);
    return body.result.data;
  };
  const check = async (body: unknown, headers: Record<string, string> = {}) => {
    const own = { cookie: admin.cookie, origin: server.url };
    return server.call('POST', '/collect/check', { body, headers: { ...own, ...headers } });
  };
  const ORIGIN = 'https://lms.example.edu';

  it('are created, listed and revoked, each for its integration', async () => {
    const { id, siteKey } = await change('create', { name: 'Campus' });
    expect(await ask('sites.list')).toEqual([
      { id, siteKey, name: 'Campus', createdAt: expect.stringMatching(/Z$/), revokedAt: null, firstReceivedAt: null },
    ]);
    expect(await ask('sites.list', undefined, theirs)).toEqual([]);
    expect((await admin.mutate('sites.revoke', { id }, at(theirs))).status).toBe(404);
    const revoked = await change('revoke', { id });
    expect(await change('revoke', { id })).toEqual(revoked);
    expect((await ask('sites.list'))[0].revokedAt).toBe(revoked.revokedAt);
  });

  it('have origins, an identity secret that is shown once, and a permission', async () => {
    expect(await ask('sites.getCollecting', undefined, theirs)).toEqual({
      ...{ allowedOrigins: [], hasIdentitySecret: false, acceptsUnsignedUsers: false, mayIgnorePrivacyControl: false },
    });
    const origins = await change('setOrigins', { allowedOrigins: [`${ORIGIN}/path`, ORIGIN] }, theirs);
    expect(origins).toEqual({ allowedOrigins: [ORIGIN] });
    const { identitySecret } = await change('rotateIdentitySecret', {}, theirs);
    await change('setUnsignedUsers', { acceptsUnsignedUsers: true }, theirs);
    await change('setPrivacyControl', { mayIgnorePrivacyControl: true }, theirs);
    const collecting = await ask('sites.getCollecting', undefined, theirs);
    expect(collecting).toEqual({
      ...{
        allowedOrigins: [ORIGIN],
        hasIdentitySecret: true,
        acceptsUnsignedUsers: true,
        mayIgnorePrivacyControl: true,
      },
    });
    expect(JSON.stringify(collecting)).not.toContain(identitySecret);
    const refused = await admin.mutate('sites.setOrigins', { allowedOrigins: [ORIGIN, 'lms'] }, at(theirs));
    expect([refused.status, refused.body.error.data.field]).toEqual([400, 'allowedOrigins.1']);
    const replaced = (origins: string[]) =>
      admin.mutate('sites.setOrigins', { allowedOrigins: [], replaced: origins }, at(theirs));
    const outdated = await replaced([]);
    expect([outdated.status, outdated.body.error.data.field]).toEqual([400, 'replaced']);
    expect((await ask('integration.get', {}, theirs)).allowedOrigins).toEqual([ORIGIN]);
    expect((await replaced([ORIGIN])).body.result.data).toEqual({ allowedOrigins: [] });
  });

  it('are checked step by step: why a page of an origin sends nothing', async () => {
    const tenant = { ...ours, ...(await server.createTenant()) };
    const { id, siteKey } = await change('create', {}, tenant);
    const state = async (origin = ORIGIN) => {
      const { status, body } = await check({ siteKey, origin });
      expect(status).toBe(200);
      return body;
    };
    expect((await check({ siteKey: `${siteKey}x`, origin: ORIGIN })).body).toMatchObject({ state: 'UnknownKey' });
    expect(await state()).toMatchObject({ state: 'NoOrigins', siteId: id, integrationId: tenant.id });
    await change('setOrigins', { allowedOrigins: [ORIGIN] }, tenant);
    expect((await state('https://lms.example.edu:8443')).state).toBe('OriginNotAllowed');
    expect((await state('http://lms.example.edu')).state).toBe('OriginNotAllowed');
    const nothing = await state(`${ORIGIN}/courses/1`);
    expect(nothing).toMatchObject({ state: 'NothingReceived', firstReceivedAt: null, lastReceivedAt: null });
    expect(nothing.notes).toEqual(['Nothing of visitors with Global Privacy Control is kept.']);
    await markReceiving(server.service.db, id);
    const [received] = await ask('sites.list', undefined, tenant);
    const { firstReceivedAt } = received;
    expect(await state()).toMatchObject({ state: 'Receiving', firstReceivedAt, lastReceivedAt: firstReceivedAt });
    const { sql } = server.database.db;
    const collected = await sql`
      insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent)
      select ${tenant.id}, 'ses-' || n, ${id}, now() + n * interval '1 s', now()::date, '' from generate_series(1, 2) n
      returning key, created_at, day`;
    expect((await state()).lastReceivedAt).toBe(collected[1]!.created_at);
    const [batch] = await sql`
      insert into session_batches (day, session_key, document, sequence, received_at, body)
      values (${collected[1]!.day}, ${collected[1]!.key}, 1, 0, now() + interval '9 s', '') returning received_at`;
    expect((await state()).lastReceivedAt).toBe(batch!.received_at);
    await change('setPrivacyControl', { mayIgnorePrivacyControl: true }, tenant);
    await change('rotateIdentitySecret', {}, tenant);
    const { notes } = await state();
    expect(notes).toEqual([
      expect.stringContaining('data-gpc="ignore"'),
      expect.stringContaining('without a valid data-user-hash'),
    ]);
    await change('setUnsignedUsers', { acceptsUnsignedUsers: true }, tenant);
    expect((await state()).notes).toEqual([expect.stringContaining('data-gpc="ignore"')]);
    await change('revoke', { id }, tenant);
    expect((await state()).state).toBe('Revoked');
  });

  it('are checked for signed-in staff on a page of this host alone', async () => {
    const body = { siteKey: 'site_x', origin: ORIGIN };
    const viewer = await createStaffClient(server, 'viewer');
    expect((await check(body, { cookie: viewer.cookie })).status).toBe(200);
    const refused = await Promise.all([
      check(body, { cookie: '' }),
      check(body, { cookie: 'staff_session=nonsense' }),
      check(body, { origin: 'https://evil.example.com' }),
      check(body, { 'content-type': 'text/plain' }),
      server.call('POST', '/collect/check', { body, headers: { cookie: admin.cookie } }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 403, 403, 403]);
    for (const [wrong, message] of [
      [{ siteKey: 'site_x' }, 'origin: '],
      [{ ...body, origin: 'lms.example.edu' }, 'origin: must be an http or https origin'],
      [{ ...body, siteKey: '' }, 'siteKey: '],
      [{ ...body, siteKey: 'a\0' }, 'siteKey: '],
      ['{', 'body: '],
    ] as const) {
      const answer = await check(wrong);
      expect([wrong, answer.status, answer.body.error.message]).toEqual([wrong, 400, expect.stringContaining(message)]);
    }
  });
});

describe('API keys', () => {
  it('are created, work at once, are shown once and masked after that, and are revoked', async () => {
    const minted = (await admin.mutate('apiKeys.mint', { name: 'Nightly' }, at(ours))).body.result.data;
    const [listed, first] = await ask('apiKeys.list');
    expect(listed).toEqual({
      ...{ id: minted.id, name: 'Nightly', masked: `aik_v1_${minted.key.slice(7, 11)}…${minted.key.slice(-4)}` },
      ...{ createdAt: expect.stringMatching(/Z$/), lastUsedAt: null, revokedAt: null },
      ...{ scopes: DEFAULT_KEY_SCOPES, expiresAt: null },
    });
    expect(first.id).toBe(ours.keyId);
    // Only now: a use is written within two seconds, so the list above could have one in it.
    expect((await server.call('GET', '/v1/integration', { key: minted.key })).body.data.id).toBe(ours.id);
    expect(JSON.stringify(await ask('apiKeys.list'))).not.toContain(minted.key);
    // Another integration's key is unknown.
    expect((await admin.mutate('apiKeys.revoke', { id: minted.id }, at(theirs))).status).toBe(404);
    expect((await server.call('GET', '/v1/integration', { key: minted.key })).status).toBe(200);
    const revoked = (await admin.mutate('apiKeys.revoke', { id: minted.id }, at(ours))).body.result.data;
    expect(revoked).toEqual({ id: minted.id, revokedAt: expect.stringMatching(/Z$/) });
    expect((await admin.mutate('apiKeys.revoke', { id: minted.id }, at(ours))).body.result.data).toEqual(revoked);
    expect((await server.call('GET', '/v1/integration', { key: minted.key })).status).toBe(401);
    expect((await ask('apiKeys.list'))[0].revokedAt).toBe(revoked.revokedAt);
  });

  it('may have fewer scopes and an end', async () => {
    const mint = (more: object) => admin.mutate('apiKeys.mint', { name: 'Narrow', ...more }, at(ours));
    const { id } = (await mint({ scopes: ['webhooks:write', 'read', 'read'], expiresInDays: 90 })).body.result.data;
    const [listed] = await ask('apiKeys.list');
    expect(listed).toMatchObject({ id, scopes: ['read', 'webhooks:write'] });
    const days = (Date.parse(listed.expiresAt) - Date.parse(listed.createdAt)) / 86_400_000;
    expect(days).toBe(90);
    for (const refused of [{ scopes: [] }, { scopes: ['root'] }, { expiresInDays: 0 }, { expiresInDays: 3_651 }])
      expect([refused, (await mint(refused)).status]).toEqual([refused, 400]);
    expect((await ask('apiKeys.list'))[0].id).toBe(id);
    await admin.mutate('apiKeys.revoke', { id }, at(ours));
  });

  it('say when they were last used, which is written with the usage and at most once a minute', async () => {
    const { id, key } = (await admin.mutate('apiKeys.mint', {}, at(ours))).body.result.data;
    const lastUse = async () =>
      (await ask('apiKeys.list')).find((one: { id: string }) => one.id === id).lastUsedAt as string | null;
    await server.service.usage.flush();
    expect(await lastUse()).toBeNull();
    await server.call('GET', '/v1/integration', { key });
    await server.service.usage.flush();
    const first = await lastUse();
    expect(Math.abs(Date.now() - Date.parse(first!))).toBeLessThan(10_000);
    await server.call('GET', '/v1/integration', { key });
    await server.service.usage.flush();
    expect(await lastUse()).toBe(first);
    // A second process does not know that the time was written just now.
    const second = await startStaffServer({}, server);
    await second.call('GET', '/v1/integration', { key });
    await second.service.usage.flush();
    expect(await lastUse()).toBe(first);
    await server.database.db.sql`update api_keys set last_used_at = now() - interval '61 seconds' where id = ${id}`;
    await second.stop();
    const third = await startStaffServer({}, server);
    await third.call('GET', '/v1/integration', { key });
    await third.stop();
    expect(Date.parse((await lastUse())!)).toBeGreaterThanOrEqual(Date.parse(first!));
  });
});

const UNTOUCHED = {
  ...{ status: 'Open', acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null },
};

describe('findings', () => {
  it('are listed newest first, page by page, only the tenant’s own', async () => {
    expect((await ask('anomalies.list', {})).data).toEqual([
      {
        ...{ id: 'a2', anomalyType: 'DeviceSwitch', severity: 'low', sessionId: null, userId: 'user-2' },
        ...{ detectedAt: expect.stringMatching(/Z$/), deviceFingerprint: null, metadata: null },
        ...{ userName: null, previousUserName: null, session: null, otherSession: null, ...UNTOUCHED },
      },
      {
        ...{ id: 'a1', anomalyType: 'ImpossibleTravel', severity: 'high', sessionId: 's 1/é', userId: 'user-1' },
        ...{ detectedAt: expect.stringMatching(/Z$/), deviceFingerprint: 'device-1', metadata: null },
        ...{ userName: 'Ada Lovelace', previousUserName: null, otherSession: null, ...UNTOUCHED },
        session: { startedAt: expect.stringMatching(/Z$/), country: null, device: expect.stringContaining('Chrome') },
      },
    ]);
    expect(await walk('anomalies.list')).toEqual(['a2', 'a1']);
    expect(await walk('alerts.list')).toEqual(['alert-2', 'alert-1']);
    expect(await walk('reports.list')).toEqual(['report-1', 'report-0']);
    expect(await walk('writing.list')).toEqual(['writing-2', 'writing-1']);
    expect((await ask('writing.list', {})).data).toEqual([
      {
        ...{ id: 'writing-2', aiScore: 0.2, scoredAt: expect.stringMatching(/Z$/), userId: 'user-2' },
        ...{ documentId: null, wordCount: null, browsingSessionId: null, evidence: null },
      },
      {
        ...{ id: 'writing-1', aiScore: 0.45, scoredAt: expect.stringMatching(/Z$/), userId: 'user-1' },
        ...{ documentId: 'essay', wordCount: 150, browsingSessionId: 's 1/é', evidence: facts.writingEvidence() },
      },
    ]);
    expect((await ask('alerts.list', {})).data[1]).toEqual({
      ...{ id: 'alert-1', severity: 'high', message: 'One', triggeredAt: expect.stringMatching(/Z$/), url: null },
      ...{ rule: null, windowStart: null, windowEnd: null, ...UNTOUCHED },
    });
    expect((await ask('reports.list', {})).data.map(({ status }: { status: string }) => status)).toEqual([
      'Expired',
      'Ready',
    ]);
    expect((await ask('reports.list', {})).data[1]).toEqual({
      ...{ id: 'report-0', name: 'Weekly', templateId: 't', format: 'csv', recordCount: null, fileSize: null },
      ...{ status: 'Ready', completedAt: expect.any(String), expiresAt: null, downloadUrl: '/x', content: null },
    });
  });

  it.each([
    [{ sessionId: 's 1/é' }, ['a1']],
    [{ userId: 'user-2' }, ['a2']],
    [{ anomalyType: 'DeviceSwitch' }, ['a2']],
    [{ severity: 'HIGH' }, ['a1']],
    [{ severity: 'low', userId: 'user-1' }, []],
  ])('of anomalies %j are %j', async (filters, expected) => {
    expect(await walk('anomalies.list', filters)).toEqual(expected);
  });

  it.each([
    [{ browsingSessionId: 's 1/é' }, ['writing-1']],
    [{ userId: 'user-2' }, ['writing-2']],
    [{ userId: 'user-2', browsingSessionId: 's 1/é' }, []],
  ])('of writing sessions %j are %j', async (filters, expected) => {
    expect(await walk('writing.list', filters)).toEqual(expected);
  });

  it('are acknowledged, resolved and opened again, with who and when, and a repeated fact changes nothing of it', async () => {
    const analyst = await createStaffClient(server, 'analyst');
    const fact = facts.anomaly('a3', { sessionId: 's2', detectedAt: facts.secondsAgo(7) });
    await server.ingest(theirs.id, [fact]);
    const change = async (act: string, client = admin, tenant = theirs) =>
      (await client.mutate(`anomalies.${act}`, { id: 'a3' }, at(tenant))).body.result?.data;
    const list = (status: string) => walk('anomalies.list', { status });
    const inTheirs = async (status: string) =>
      ids((await ask('anomalies.list', { status }, theirs)).data).filter((id) => id === 'a3').length;
    const open = await ask('anomalies.get', { id: 'a3' }, theirs);
    expect(open).toMatchObject({ id: 'a3', ...UNTOUCHED });
    const acknowledged = await change('acknowledge', analyst);
    expect(acknowledged).toEqual({
      ...{ ...open, status: 'Acknowledged', acknowledgedBy: analyst.email },
      acknowledgedAt: expect.stringMatching(/Z$/),
    });
    expect(await change('acknowledge')).toEqual(acknowledged);
    expect([await inTheirs('Open'), await inTheirs('acknowledged')]).toEqual([0, 1]);
    const resolved = await change('resolve');
    expect(resolved).toMatchObject({ status: 'Resolved', acknowledgedBy: analyst.email, resolvedBy: admin.email });
    expect(await change('resolve', analyst)).toEqual(resolved);
    expect(await change('acknowledge', analyst)).toEqual(resolved);
    await server.ingest(theirs.id, [fact]);
    expect(await ask('anomalies.get', { id: 'a3' }, theirs)).toEqual(resolved);
    expect([await inTheirs('Acknowledged'), await inTheirs('Resolved')]).toEqual([0, 1]);
    expect(await change('reopen', analyst)).toEqual(open);
    expect([await list('Open'), await list('Acknowledged'), await list('Resolved')]).toEqual([['a2', 'a1'], [], []]);
    // Not of another tenant.
    expect(await refuse('anomalies.get', { id: 'a3' })).toBe(404);
    for (const act of ['acknowledge', 'resolve', 'reopen']) {
      const { status, body } = await admin.mutate(`anomalies.${act}`, { id: 'a3' }, at(ours));
      expect([act, status, body.error.message]).toEqual([act, 404, 'Anomaly not found']);
    }
    expect(await ask('anomalies.get', { id: 'a3' }, theirs)).toEqual(open);
    expect(await refuse('anomalies.list', { status: 'Closed' })).toBe(400);
  });

  it('of anomalies name the users and sessions that the metadata name', async () => {
    const metadata = { otherSessionId: 's 1/é', previousUserId: 'user-1', distanceKm: 5 };
    await server.ingest(theirs.id, [facts.anomaly('a4', { sessionId: 's2', metadata, userId: 'nobody' })]);
    expect(await ask('anomalies.get', { id: 'a4' }, theirs)).toMatchObject({
      ...{ userId: 'nobody', userName: null, previousUserName: 'Ada Lovelace' },
      session: { device: expect.any(String) },
      otherSession: { startedAt: expect.stringMatching(/Z$/), country: null, device: expect.any(String) },
    });
  });

  it('accept cursors of their own tenant, list and filters only', async () => {
    const { nextCursor: cursor } = (await ask('anomalies.list', { pageSize: 1 })).pagination;
    expect(await refuse('anomalies.list', { cursor })).toBe(200);
    expect(await refuse('anomalies.list', { cursor }, theirs)).toBe(400);
    expect(await refuse('anomalies.list', { cursor, severity: 'low' })).toBe(400);
    for (const list of ['alerts.list', 'writing.list']) expect(await refuse(list, { cursor })).toBe(400);
    expect(await refuse('anomalies.list', { severity: 'severe' })).toBe(400);
  });
});

describe('one record', () => {
  it('of a user or a course is the same as in the list', async () => {
    const [user] = (await ask('users.list', {})).data;
    expect(await ask('users.get', { userId: 'user-1' })).toEqual(user);
    const [course] = (await ask('courses.list', {})).data;
    expect(await ask('courses.get', { courseId: course.id })).toEqual(course);
    expect(await refuse('users.get', { userId: 'user-2' })).toBe(404);
    expect(await refuse('courses.get', { courseId: 'nowhere' })).toBe(404);
    const empty = await server.createTenant();
    expect(await refuse('users.get', { userId: 'user-1' }, empty)).toBe(404);
    expect(await refuse('courses.get', { courseId: course.id }, empty)).toBe(404);
  });
});

describe('a user’s devices', () => {
  it('are those of sessions and the confirmed ones, folded or not', async () => {
    const lastSeenAt = (await ask('sessions.get', { sessionId: 's2' })).startTime;
    const expected = [
      {
        fingerprint: 'device-1',
        sessionCount: 2,
        lastSeenAt: expect.stringMatching(/Z$/),
        confirmedAt: null,
        firstConfirmedAt: null,
        confirmedBy: null,
      },
    ];
    expect(await ask('users.listDevices', { userId: 'user-1' })).toEqual(expected);
    await foldSessionDeltas(server.service.db);
    expect(await ask('users.listDevices', { userId: 'user-1' })).toEqual(expected);
    for (const fingerprint of ['device-1', 'device-9'])
      await admin.mutate('users.confirmDevice', { userId: 'user-1', fingerprint }, at(ours));
    const confirmed = {
      confirmedAt: expect.stringMatching(/Z$/),
      firstConfirmedAt: expect.stringMatching(/Z$/),
      confirmedBy: admin.email,
    };
    expect(await ask('users.listDevices', { userId: 'user-1' })).toEqual([
      { ...expected[0], ...confirmed },
      { fingerprint: 'device-9', sessionCount: 0, lastSeenAt: null, ...confirmed },
    ]);
    expect(await ask('users.listDevices', { userId: 'user-1' }, theirs)).toEqual(expected);
    expect(await ask('users.listDevices', { userId: 'nobody' })).toEqual([]);
    expect(lastSeenAt).not.toBeNull();
  });
});

describe('the distribution of scores', () => {
  it('counts sessions by effective bin, exactly, folded or not', async () => {
    const { id } = await server.createTenant();
    const of = { id } as typeof ours;
    const send = (n: number, score: number) =>
      server.ingest(id, [facts.started(`d${n}`), facts.closed(`d${n}`), facts.scored(`d${n}`, score)]);
    for (const [n, score] of [0, 0.29, 0.29, 1].entries()) await send(n, score);
    await server.ingest(id, [facts.started('unscored')]);
    const expected = [
      { bin: 0, sessions: 1 },
      { bin: 29, sessions: 2 },
      { bin: 100, sessions: 1 },
    ];
    expect(await ask('analytics.getScoreDistribution', undefined, of)).toEqual(expected);
    await foldSessionDeltas(server.service.db);
    expect(await ask('analytics.getScoreDistribution', undefined, of)).toEqual(expected);
    for (const [sessionId, verdict] of [
      ['d1', 'bot'],
      ['d3', 'human'],
    ])
      await admin.mutate('sessions.label', { sessionId, verdict }, at(of));
    const labelled = [
      { bin: -1, sessions: 1 },
      { bin: 0, sessions: 1 },
      { bin: 29, sessions: 1 },
      { bin: 101, sessions: 1 },
    ];
    expect(await ask('analytics.getScoreDistribution', undefined, of)).toEqual(labelled);
    await foldSessionDeltas(server.service.db);
    expect(await ask('analytics.getScoreDistribution', undefined, of)).toEqual(labelled);
  });
});

describe('a verdict that staff set', () => {
  const NOTES = { confidence: 'low', notes: 'typed too evenly' };
  let tenant: typeof ours;
  const mutate = (name: string, input: object) => admin.mutate(`sessions.${name}`, input, at(tenant));
  const set = async (sessionId: string, verdict: string) =>
    (await mutate('setVerdict', { sessionId, verdict })).body.result.data;
  const read = async (sessionId: string) => (await ask('sessions.get', { sessionId }, tenant)).label;
  const labelByKey = async (sessionId: string, body: object) => {
    const path = `/v1/sessions/${sessionId}/label`;
    return (await server.call('POST', path, { key: tenant.key, body })).body.data;
  };
  const readLabeler = async (sessionId: string) => {
    const { labeledAt, labeledBy } = await ask('sessions.getTimeline', { sessionId }, tenant);
    return { labeledAt, labeledBy };
  };
  beforeAll(async () => {
    tenant = await server.createTenant();
    await server.ingest(
      tenant.id,
      ['x', 'y', 'z'].flatMap((id) => [facts.started(id), facts.closed(id), facts.scored(id, 0.95)]),
    );
  });

  it('keeps the confidence and the notes of the label, and names the one before; REST replaces them', async () => {
    const first = await labelByKey('x', { verdict: 'bot', ...NOTES });
    const { previous, ...label } = await set('x', 'human');
    expect(label).toEqual({ sessionId: 'x', verdict: 'human', ...NOTES, reasons: [], labeledAt: expect.any(String) });
    expect(previous).toEqual({ verdict: 'bot', labeledAt: first.labeledAt });
    expect({ sessionId: 'x', reasons: [], ...(await read('x')) }).toEqual(label);
    expect(await labelByKey('x', { verdict: 'bot' })).toMatchObject({ confidence: null, notes: null });
    expect((await mutate('setVerdict', { sessionId: 'nobody', verdict: 'bot' })).status).toBe(404);
  });

  it('is undone to the verdict before, with its notes, or to no label, which lets the score decide again', async () => {
    const before = await ask('sessions.get', { sessionId: 'y' }, tenant);
    const counted = await ask('analytics.getScoreDistribution', undefined, tenant);
    const first = await set('y', 'human');
    expect(first.previous).toBeNull();
    expect(await ask('analytics.getScoreDistribution', undefined, tenant)).not.toEqual(counted);
    expect(await ask('sessions.get', { sessionId: 'y' }, tenant)).toMatchObject({ riskLevel: 'human' });
    const taken = await mutate('undoVerdict', { sessionId: 'y', labeledAt: first.labeledAt, previousLabeledAt: null });
    expect(taken.body.result.data).toEqual({ label: null });
    const after = await ask('sessions.get', { sessionId: 'y' }, tenant);
    expect(after).toEqual({ ...before, updatedAt: expect.any(String) });
    expect(after).toMatchObject({ riskLevel: 'bot', label: null });
    expect(await ask('analytics.getScoreDistribution', undefined, tenant)).toEqual(counted);
    expect(await readLabeler('y')).toEqual({ labeledAt: null, labeledBy: null });

    await labelByKey('y', { verdict: 'bot', ...NOTES });
    const { labeledAt, previous } = await set('y', 'human');
    const undone = await mutate('undoVerdict', { sessionId: 'y', labeledAt, previousLabeledAt: previous.labeledAt });
    expect(undone.body.result.data.label).toMatchObject({ verdict: 'bot', ...NOTES });
    expect(await read('y')).toEqual(undone.body.result.data.label);
  });

  it('is not undone once somebody else has labelled the session', async () => {
    const { labeledAt } = await set('z', 'human');
    await delay(2);
    const theirs = await labelByKey('z', { verdict: 'bot', ...NOTES });
    for (const previousLabeledAt of [null, labeledAt]) {
      const refused = await mutate('undoVerdict', { sessionId: 'z', labeledAt, previousLabeledAt });
      expect([refused.status, refused.body.error.data.field]).toEqual([400, 'labeledAt']);
    }
    expect({ sessionId: 'z', ...(await read('z')) }).toEqual(theirs);
    const unknown = { sessionId: 'nobody', labeledAt, previousLabeledAt: null };
    expect((await mutate('undoVerdict', unknown)).status).toBe(404);
  });

  it('says who set it, as every label does, to staff alone', async () => {
    const { labeledAt } = await labelByKey('z', { verdict: 'bot' });
    const { apiKeyMasked } = await ask('integration.get', {}, tenant);
    expect(await readLabeler('z')).toEqual({ labeledAt, labeledBy: apiKeyMasked });
    const own = await set('z', 'human');
    expect(await readLabeler('z')).toEqual({ labeledAt: own.labeledAt, labeledBy: admin.email });
    for (const path of ['/v1/sessions/z', '/v1/sessions/z/details', '/v1/sessions/z/evidence', '/v1/sessions'])
      expect((await server.call('GET', path, { key: tenant.key })).text).not.toContain('labeledBy');
  });

  it('keeps the notes when several people press keys at the same time', async () => {
    await labelByKey('x', { verdict: 'bot', ...NOTES });
    const pressed = await Promise.all(Array.from({ length: 20 }, (_, n) => set('x', n % 2 ? 'bot' : 'human')));
    // Each press came after another one, so none is lost.
    const times = new Set(pressed.map(({ previous }) => previous.labeledAt));
    expect(times.size).toBeGreaterThan(1);
    expect(await read('x')).toMatchObject(NOTES);
  });
});

describe('the timeline of a session', () => {
  it('is that of its details, with the types of each stretch separately, which customers are not shown', async () => {
    const tenant = await server.createTenant();
    const events = ['mouse', 'mouse', 'keyboard'].map((type, sequence) => ({ sequence, type, eventCount: 2 }));
    await server.ingest(tenant.id, [facts.started('s'), facts.happened('s', events), facts.closed('s')]);
    const timeline = await ask('sessions.getTimeline', { sessionId: 's' }, tenant);
    const details = await server.call('GET', '/v1/sessions/s/details', { key: tenant.key });
    const counts = timeline.timeline.map(({ countsByType }: { countsByType: object }) => countsByType);
    expect(counts.filter((types: object) => Object.keys(types).length > 0)).toEqual([{ mouse: 4, keyboard: 2 }]);
    for (const stretch of timeline.timeline) delete stretch.countsByType;
    // Only staff see who has labelled the session.
    const { labeledAt: _, labeledBy: __, ...shown } = timeline;
    expect(details.body.data).toEqual(shown);
    expect(await refuse('sessions.getTimeline', { sessionId: 's 1/é' }, tenant)).toBe(404);
  });
});

describe('the deliveries about a session', () => {
  it('are every delivery whose event is about it, and no others', async () => {
    const types = async (sessionId: string) =>
      (await ask('sessions.listDeliveries', { sessionId }))
        .map(({ eventType }: { eventType: string }) => eventType)
        .sort();
    expect(await types('s 1/é')).toEqual(['BotDetected', 'SessionAnomaly', 'SessionCorrelated']);
    expect(await types('s2')).toEqual(['SessionCorrelated']);
    expect(await types('s3')).toEqual([]);
    expect(await refuse('sessions.listDeliveries', { sessionId: 'nobody' })).toBe(404);
    const [sent] = await ask('sessions.listDeliveries', { sessionId: 's2' });
    const [other] = await ask('sessions.listDeliveries', { sessionId: 's2' }, theirs);
    expect(sent.id).not.toBe(other.id);
    expect(JSON.parse((await ask('deliveries.get', { id: sent.id })).payload).sessionId).toBe('s2');
    expect(await refuse('deliveries.get', { id: other.id })).toBe(404);
  });

  it('of a bot have a link to its page if the region has an address', async () => {
    const sent = receiver.received.find(({ path, body }) => path === '/BotDetected' && body.includes(ours.id));
    expect(JSON.parse(sent!.body).sessionUrl).toBe(
      `https://us.example.com/dashboard/${ours.id}/sessions/s%201%2F%C3%A9`,
    );
  });
});

describe('a threshold', () => {
  const preview = (threshold?: object | null, tenant = ours, eventType = 'botdetected') =>
    ask('webhooks.previewThreshold', { eventType, ...(threshold === undefined ? {} : { threshold }) }, tenant);

  it('is tried on the sample and on the newest events of its type', async () => {
    const all = await preview();
    expect(all).toMatchObject({ samplePasses: true, sample: { botScore: 0.93 } });
    expect(all.events).toEqual([
      {
        createdAt: expect.stringMatching(/Z$/),
        payload: expect.objectContaining({ sessionId: 's 1/é' }),
        passes: true,
      },
    ]);
    expect(await preview(null)).toEqual(all);
    const strict = await preview({ field: 'botScore', operator: 'gte', value: 0.94 });
    expect([strict.samplePasses, strict.events[0].passes]).toEqual([false, true]);
    const stricter = await preview({ field: 'botScore', operator: 'gt', value: '0.95' });
    expect(stricter.events[0]).toMatchObject({ passes: false, actual: 0.95 });
    expect((await preview({ field: 'metadata.none', operator: 'neq', value: 1 })).events[0]).not.toHaveProperty(
      'actual',
    );
    expect((await preview(null, ours, 'ThresholdExceeded')).events).toEqual([]);
    const many = await server.createTenant();
    await server.database.db.sql`
      insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
      select ${many.id}, 'evt-' || n, 'BotDetected', n, '{"n":' || n || '}', now() - n * interval '1 s' from generate_series(1, 30) n`;
    const { events } = await preview({ field: 'n', operator: 'lte', value: 5 }, many);
    expect(events.map(({ payload }: { payload: { n: number } }) => payload.n)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
    expect(events.filter(({ passes }: { passes: boolean }) => passes)).toHaveLength(5);
  });

  it.each([
    [{ eventType: 'Nothing' }, 'eventType'],
    [{ eventType: 'BotDetected', threshold: { field: 'botScore', operator: 'gte', value: 'much' } }, 'threshold.value'],
  ])('as %j is refused', async (input, field) => {
    const answer = await admin.query('webhooks.previewThreshold', input, at(ours));
    expect(answer.body.error.data).toMatchObject({ httpStatus: 400, field });
  });
});

describe('the health of a webhook', () => {
  it('shows its failures in a row and its latest attempts, newest first', async () => {
    const delivered = { outcome: 'Delivered', failureClass: null, responseStatus: 200, test: false };
    const common = {
      deliveryId: expect.stringMatching(/^dlv_/),
      at: expect.stringMatching(/Z$/),
      durationMs: expect.any(Number),
    };
    expect(await ask('webhooks.getHealth', { id: webhookId })).toEqual({
      ...{ consecutiveFailures: 0, disabledAfter: 3, attempts: [{ ...common, ...delivered }] },
    });
    receiver.answer = () => 404;
    await server.ingest(ours.id, facts.scoredSession(0.99, 'failing').facts);
    await admin.mutate('webhooks.test', { id: webhookId }, at(ours));
    await waitUntil(async () => (await ask('webhooks.getHealth', { id: webhookId })).attempts.length === 3);
    receiver.answer = () => 200;
    const { consecutiveFailures, attempts } = await ask('webhooks.getHealth', { id: webhookId });
    expect(consecutiveFailures).toBe(1);
    expect(attempts[2]).toMatchObject(delivered);
    expect(
      attempts
        .slice(0, 2)
        .map(({ test }: { test: boolean }) => test)
        .sort(),
    ).toEqual([false, true]);
    for (const failed of attempts.slice(0, 2))
      expect(failed).toMatchObject({ outcome: 'Failed', failureClass: '4xx', responseStatus: 404 });
    const times = attempts.map(({ at }: { at: string }) => at);
    expect(times).toEqual([...times].sort().reverse());
    expect(await refuse('webhooks.getHealth', { id: webhookId }, theirs)).toBe(404);
  });
});

const LARGE =
  /^(sessions|session_verdicts|session_flags|users|courses|search_words|audit_entries|anomalies|alerts|reports|writing_scores|(minute|incident)_counts|domain_events|webhook_(attempts|deliveries)|entity_\w+)$/;

/** Rates follow from all labels of 90 days, at most 10,000 of a kind. Here a tenth of the sessions has one. */
/** Lists that no count knows are counted up to 1,000 rows. */
const MOST_READ: Record<string, number> = {
  ...{
    'errorRates.get': 1_100,
    'deliveries.count': 1_100,
    'sessions.count': 1_100,
    'anomalies.count': 1_100,
    'alerts.count': 1_100,
    'audit.count': 1_100,
  },
};

const RULE = {
  ...{ name: 'n', windowMinutes: 10_080, comparison: 'gte', value: 1_000, severity: 'low', message: 'm' },
};

describe('each query of the dashboard reads a part of an index', () => {
  it('that begins with the integration, however many rows others have', async () => {
    const tenants = [await server.createTenant(), await server.createTenant(), await server.createTenant()];
    const { sql } = server.database.db;
    await loadVolumes(
      server.database.db,
      tenants.map(({ id }) => ({ integrationId: id, sessions: 10_000 })),
    );
    for (const { id } of tenants) {
      await sql`insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
                select integration_id, event_id, 'BotDetected', substr(event_id, 5), '{}', created_at from webhook_deliveries
                 where integration_id = ${id} and event_id is not null`;
      // So many that reading all of them never costs less than the part that is counted.
      await sql`insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, attempts, created_at, finished_at)
                select integration_id, 'dlv-more-' || id, 'whk-1', 'evt-more-' || id, 'Delivered', 1, created_at, created_at
                  from sessions where integration_id = ${id}`;
      await sql`insert into webhook_attempts (integration_id, delivery_id, subscription_id, attempt, started_at, duration_ms)
                select integration_id, id, subscription_id, 1, created_at, 5 from webhook_deliveries where integration_id = ${id}`;
      await sql`insert into alerts (integration_id, id, severity, message, triggered_at, rule_id)
                select integration_id, id, 'high', 'm', created_at, case when id like '%77' then 'rul-1' end
                  from sessions where integration_id = ${id}`;
      await sql`insert into alert_rules (integration_id, id, name, metric, scope, scope_value, window_minutes, comparison, value, min_sessions,
                                         severity, message, cool_down_minutes, enabled)
                values (${id}, 'rul-1', 'n', 'botSessions', 'user', 'user-00007', 60, 'gte', 1000, 20, 'low', 'm', 60, true)`;
      await sql`insert into reports (integration_id, id, name, template_id, format, completed_at, download_url)
                select integration_id, id, 'n', 't', 'csv', created_at, '/' from sessions where integration_id = ${id}`;
      await sql`insert into writing_scores (integration_id, session_id, scored_at, ai_score, user_id, browsing_session_id)
                select integration_id, id, created_at, 0.5, user_id, id from sessions where integration_id = ${id}`;
      // Very many labels in the audit log, and few changes of thresholds.
      await sql`insert into audit_entries (id, occurred_at, action, actor_kind, integration_id, subject_id, details)
                select ${id} || id, created_at, case when id like '%777' then 'ThresholdsChanged' else 'SessionLabeled' end, 'Staff',
                       integration_id, id, '{"before": {"mediumAt": 40, "botAt": 70}, "after": {"mediumAt": 40, "botAt": 70}}'
                  from sessions where integration_id = ${id}`;
      await sql`insert into session_verdicts (integration_id, session_id, decided_at, label, actor_kind)
                select integration_id, id, created_at, 1, 'Staff' from sessions where integration_id = ${id}`;
      await sql`update anomalies set type = 'Rare' where integration_id = ${id} and id = 'anomaly-ses-31'`;
    }
    await sql`analyze`;
    const of = tenants[1] as typeof ours;
    const recorder = recordStatements(server.service.db);
    /** How many rows of a table a statement may read; a thousand if nothing is said. */
    const calls: [name: string, input: object | undefined, most?: number][] = [
      ['search.find', { query: 'somebody' }],
      ['search.find', { query: 'ses-1' }],
      ...SESSION_SORTS.map((sort): [string, object, number] => ['sessions.listSorted', { sort }, MAX_SORTED + 1]),
      ...USER_SORTS.slice(1).map((sort): [string, object] => ['users.listSorted', { sort, pageSize: 5 }]),
      ...COURSE_SORTS.slice(1).map((sort): [string, object] => ['courses.listSorted', { sort, pageSize: 5 }]),
      ...[{}, { riskLevel: 'bot' }, { label: 'bot' }, { userId: 'user-00007' }, { courseId: 'course-00007' }].map(
        (filters): [string, object] => ['sessions.count', filters],
      ),
      ...[{ origin: 'https://lms1.example.edu' }, { detectionFlag: 'webdriver' }, { fingerprint: 'device-00000' }].map(
        (filters): [string, object, number] => ['sessions.count', filters, MAX_COUNTED + 2],
      ),
      ['users.count', undefined],
      ['courses.count', undefined],
      ['anomalies.count', { userId: 'user-00007' }],
      ['anomalies.list', { sort: 'oldest' }],
      ['deliveries.count', { id: 'whk-1' }, MAX_COUNTED + 2],
      ['deliveries.list', { id: 'whk-1', sort: 'oldest' }],
      ['savedViews.list', undefined],
      ['anomalies.list', {}],
      ['anomalies.list', { sessionId: 'ses-62' }],
      ['anomalies.list', { userId: 'user-00007' }],
      ['anomalies.list', { anomalyType: 'Rare' }],
      ['anomalies.list', { severity: 'low' }],
      ['anomalies.list', { status: 'Open' }],
      ['anomalies.list', { status: 'Acknowledged' }],
      ['anomalies.list', { status: 'Resolved' }],
      ['alerts.list', {}],
      ['alerts.list', { status: 'Open' }],
      ['alerts.list', { status: 'Acknowledged' }],
      ['alerts.list', { status: 'Resolved' }],
      ['alerts.count', {}],
      ['alerts.count', { ruleId: 'rul-1' }],
      ['alerts.list', { ruleId: 'rul-1' }],
      ['alertRules.list', undefined],
      ['alertRules.preview', { ...RULE, metric: 'botSessions', scope: { kind: 'user', value: 'user-00007' } }],
      ['alertRules.preview', { ...RULE, metric: 'anomalies', scope: { kind: 'user', value: 'user-00007' } }],
      ['reports.list', {}],
      ['writing.list', {}],
      ['writing.list', { browsingSessionId: 'ses-62' }],
      ['writing.list', { userId: 'user-00007' }],
      ['webhooks.previewThreshold', { eventType: 'BotDetected' }],
      ['webhooks.previewThreshold', { eventType: 'ReportReady' }],
      ['webhooks.getHealth', { id: 'whk-1' }],
      ['webhooks.getHealth', { id: 'whk-2' }],
      ['webhookStates.list', undefined],
      ['webhookStates.count', undefined],
      ['sessions.listDeliveries', { sessionId: 'ses-61' }],
      ['sessions.getContext', { sessionId: 'ses-61' }],
      ['sessions.listPages', { sessionId: 'ses-61' }],
      ['sessions.getEvidenceReport', { sessionId: 'ses-61' }],
      ['review.listQueue', {}],
      ['review.listQueue', { queue: 'sample' }],
      ['review.listCases', { sessionIds: ['ses-61', 'ses-62'] }],
      ['review.listVerdicts', { since: facts.secondsAgo(3_600) }],
      ['users.get', { userId: 'user-00007' }],
      ['courses.get', { courseId: 'course-00007' }],
      ['users.listDevices', { userId: 'user-00007' }],
      ['sessions.getHistory', { sessionId: 'ses-62' }],
      ['errorRates.get', undefined],
    ];
    // All counts read every row in `session_deltas`.
    await foldCounts(server.service.db);
    await sql`analyze`;
    for (const [name, input, most] of calls) {
      recorder.take();
      await ask(name, input, of);
      // Crons read across tenants meanwhile.
      const statements = recorder.take().filter(({ parameters }) => parameters.includes(of.id));
      expect([name, statements.length > 0]).toEqual([name, true]);
      for (const statement of statements) {
        for (const plan of statement.isPrepared ? (['custom', 'generic'] as const) : (['custom'] as const)) {
          const nodes = await explainStatement(sql, statement, plan);
          const read = nodes.filter((node) => LARGE.test(node['Relation Name'] ?? ''));
          for (const node of read)
            expect([
              name,
              input,
              plan,
              node['Relation Name'],
              countRead(node) < (most ?? MOST_READ[name] ?? 1_000) || countRead(node),
            ]).toEqual([name, input, plan, node['Relation Name'], true]);
        }
      }
    }
    recorder.stop();
  });
});
