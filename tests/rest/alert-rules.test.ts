import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_ALERT_RULES } from '../../contract/alert-rules';
import { loadDemoIntegration } from '../../server/demo/integration';
import { alert, anomaly, closed, correlated, scored, secondsAgo, started } from '../support/facts';
import { expectSigned, type Receiver, startReceiver } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';

// Alert rules and alerts as staff use them, and the webhook of an alert.

let server: TestServer;
let receiver: Receiver;
let admin: StaffClient;
let analyst: StaffClient;
let viewer: StaffClient;
let tenant: { id: string; key: string };

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startStaffServer({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1',
    PUBLIC_URL_US: 'https://us.example.com/',
  });
  [admin, analyst, viewer] = [
    await createStaffClient(server, 'admin'),
    await createStaffClient(server, 'analyst'),
    await createStaffClient(server, 'viewer'),
  ];
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});
beforeEach(async () => {
  tenant = await server.createTenant();
});

const at = () => ({ 'x-integration-id': tenant.id });
const RULE = {
  ...{ name: 'Bots in a quiz', metric: 'botSessions', scope: { kind: 'integration' }, windowMinutes: 10 },
  ...{ comparison: 'gte', value: 2, severity: 'high', message: '{{value}} bot sessions within {{window}}' },
};

async function ask(name: string, input?: unknown, client = viewer) {
  const { status, body, text } = await client.query(name, input, at());
  expect([name, status, text]).toEqual([name, 200, text]);
  return body.result.data;
}
async function change(name: string, input: unknown, client = admin) {
  const { status, body, text } = await client.mutate(name, input, at());
  expect([name, status, text]).toEqual([name, 200, text]);
  return body.result.data;
}
async function refuse(name: string, input: unknown, client = admin) {
  const { body } = await client.mutate(name, input, at());
  const { message, data } = body.error;
  return [data.httpStatus, data.field ?? null, message];
}
const bot = (id: string) => [started(id), closed(id), scored(id, 0.95)];

describe('alert rules', () => {
  it('name the course or the user that they are about, if it is known', async () => {
    const { id } = tenant;
    const user = { id: 'ada', name: 'Ada Lovelace' };
    await server.ingest(id, [started('of-ada'), correlated('of-ada', 'ada', { user }), closed('of-ada')]);
    const nameOf = async (scope: object) => {
      const rule = await change('alertRules.create', { ...RULE, scope });
      await change('alertRules.delete', { id: rule.id });
      return rule.scopeName;
    };
    expect(await nameOf({ kind: 'user', value: 'ada' })).toBe('Ada Lovelace');
    expect(await nameOf({ kind: 'user', value: 'nobody' })).toBe(null);
    expect(await nameOf({ kind: 'course', value: 'ada' })).toBe(null);
  });

  it('are created, listed, changed, switched off and deleted by admins, and every change is in the audit log', async () => {
    const created = await change('alertRules.create', RULE);
    expect(created).toEqual({
      ...{ ...RULE, id: expect.stringMatching(/^rul_/), version: 1, scope: { kind: 'integration', value: null } },
      ...{ anomalyType: null, minSeverity: null, minSessions: 20, coolDownMinutes: 10, enabled: true, scopeName: null },
      ...{ createdAt: expect.stringMatching(/Z$/), createdBy: admin.email, lastTriggeredAt: null },
      ...{ updatedAt: expect.stringMatching(/Z$/), updatedBy: admin.email },
    });
    const { id } = created;
    expect(await ask('alertRules.list')).toEqual([created]);
    expect(await ask('alertRules.get', { id })).toEqual(created);
    const changed = await change('alertRules.update', { ...RULE, id, version: 1, value: 3, name: 'Many bots' });
    expect(changed).toMatchObject({ version: 2, value: 3, name: 'Many bots', enabled: true });
    expect(await refuse('alertRules.update', { ...RULE, id, version: 1 })).toEqual([
      ...[400, 'version', 'version: somebody has changed the rule since'],
    ]);
    expect(await change('alertRules.setEnabled', { id, enabled: false })).toMatchObject({ version: 3, enabled: false });
    expect(await change('alertRules.setEnabled', { id, enabled: false })).toMatchObject({ version: 3 });
    expect(await change('alertRules.delete', { id })).toEqual({ id });
    expect(await ask('alertRules.list')).toEqual([]);
    expect((await viewer.query('alertRules.get', { id }, at())).status).toBe(404);
    for (const [name, input] of [
      ['update', { ...RULE, id, version: 3 }],
      ['setEnabled', { id, enabled: true }],
      ['delete', { id }],
    ] as const)
      expect(await refuse(`alertRules.${name}`, input)).toEqual([404, null, 'Alert rule not found']);
    const { data } = await ask('audit.list', {}, admin);
    const entries = data.filter(({ subjectId }: { subjectId: string }) => subjectId === id);
    expect(entries.map(({ action, details }: { action: string; details: object }) => [action, details])).toEqual([
      ['AlertRuleDeleted', { name: 'Many bots' }],
      ['AlertRuleChanged', { name: 'Many bots', before: { enabled: true }, after: { enabled: false } }],
      [
        'AlertRuleChanged',
        {
          ...{ name: 'Bots in a quiz', before: { name: 'Bots in a quiz', value: 2 } },
          after: { name: 'Many bots', value: 3 },
        },
      ],
      ['AlertRuleCreated', expect.objectContaining({ name: 'Bots in a quiz', metric: 'botSessions', enabled: true })],
    ]);
  });

  it('say in the audit log of what kind a scope is, also if only its value has changed', async () => {
    const { id } = await change('alertRules.create', { ...RULE, scope: { kind: 'course', value: '4711' } });
    await change('alertRules.update', { ...RULE, id, version: 1, scope: { kind: 'course', value: '4712' } });
    const { data } = await ask('audit.list', {}, admin);
    expect(data[0]).toMatchObject({ action: 'AlertRuleChanged', subjectId: id });
    const { before, after } = data[0].details;
    expect([before, after]).toEqual([
      { scope: 'course', scopeValue: '4711' },
      { scope: 'course', scopeValue: '4712' },
    ]);
  });

  it('are of one integration', async () => {
    const { id } = await change('alertRules.create', RULE);
    tenant = await server.createTenant();
    expect(await ask('alertRules.list')).toEqual([]);
    expect(await refuse('alertRules.delete', { id })).toEqual([404, null, 'Alert rule not found']);
    expect(await refuse('alertRules.setEnabled', { id, enabled: false })).toEqual([404, null, 'Alert rule not found']);
  });

  it('are not changed by analysts, who may preview them as viewers may', async () => {
    const { id } = await change('alertRules.create', RULE);
    for (const [name, input] of [
      ['create', RULE],
      ['update', { ...RULE, id, version: 1 }],
      ['setEnabled', { id, enabled: false }],
      ['delete', { id }],
    ] as const)
      expect((await analyst.mutate(`alertRules.${name}`, input, at())).status).toBe(403);
    expect(await ask('alertRules.preview', RULE)).toMatchObject({ count: 0, firings: [] });
  });

  it('are refused with the field that is wrong, and nothing changes', async () => {
    for (const [fields, field, message] of [
      [{ scope: { kind: 'course' } }, 'scope.value', 'scope.value: is required'],
      [{ value: 0 }, 'value', 'value: must be above 0 for gte'],
      [{ message: '{{who}}' }, 'message', /^message: has the unknown placeholder \{\{who\}\}/],
      [{ windowMinutes: 1 }, 'windowMinutes', 'windowMinutes: must be at least 5 minutes'],
    ] as const) {
      const [status, named, said] = await refuse('alertRules.create', { ...RULE, ...fields });
      expect([status, named]).toEqual([400, field]);
      expect(said).toMatch(message);
      expect((await viewer.query('alertRules.preview', { ...RULE, ...fields }, at())).status).toBe(400);
    }
    expect(await ask('alertRules.list')).toEqual([]);
  });

  it(`are at most ${MAX_ALERT_RULES} for an integration, deleted ones not counted`, async () => {
    const { id } = await change('alertRules.create', RULE);
    await server.database.db.sql`
      insert into alert_rules (integration_id, id, name, metric, scope, scope_value, window_minutes, comparison, value, min_sessions,
                               severity, message, cool_down_minutes, enabled)
      select integration_id, 'rul_' || n, name, metric, scope, scope_value, window_minutes, comparison, value, min_sessions, severity,
             message, cool_down_minutes, false
        from alert_rules, generate_series(1, ${MAX_ALERT_RULES - 2}) n where integration_id = ${tenant.id}`;
    const both = await Promise.all([1, 2].map(() => admin.mutate('alertRules.create', RULE, at())));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 402]);
    expect(await refuse('alertRules.create', RULE)).toEqual([
      ...[402, null, `An integration holds at most ${MAX_ALERT_RULES} alert rules`],
    ]);
    await change('alertRules.delete', { id });
    await change('alertRules.create', RULE);
  });
});

describe('an alert of a rule', () => {
  it('reaches webhooks and the list within seconds of the facts, and is acknowledged and resolved', async () => {
    const subscribed = await server.call('POST', '/v1/webhooks', {
      ...{ key: tenant.key, body: { url: `${receiver.url}/alerts`, eventType: 'AlertTriggered' } },
    });
    const { id: ruleId } = await change('alertRules.create', RULE);
    await server.ingest(tenant.id, [...bot('a'), ...bot('b')]);
    const [received] = await receiver.waitFor(1);
    expectSigned(received!, subscribed.body.data.secret);
    const payload = JSON.parse(received!.body);
    expect(payload).toEqual({
      ...{ alertId: expect.stringMatching(/^alr_/), severity: 'high', message: '2 bot sessions within 10 minutes' },
      triggeredAt: expect.stringMatching(/Z$/),
      alertUrl: `https://us.example.com/dashboard/${tenant.id}/alerts?selected=${payload.alertId}`,
    });
    const id = payload.alertId;
    const open = {
      ...{ id, severity: 'high', message: payload.message, triggeredAt: payload.triggeredAt, url: payload.alertUrl },
      ...{ rule: { id: ruleId, name: RULE.name }, windowStart: expect.any(String), windowEnd: expect.any(String) },
      ...{ status: 'Open', acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null },
    };
    expect(await ask('alerts.get', { id })).toEqual(open);
    expect((await ask('alertRules.list'))[0].lastTriggeredAt).toBe(payload.triggeredAt);
    expect((await viewer.mutate('alerts.acknowledge', { id }, at())).status).toBe(403);
    const acknowledged = await change('alerts.acknowledge', { id }, analyst);
    expect(acknowledged).toEqual({
      ...{ ...open, status: 'Acknowledged', acknowledgedBy: analyst.email },
      acknowledgedAt: expect.stringMatching(/Z$/),
    });
    expect(await change('alerts.acknowledge', { id })).toEqual(acknowledged);
    const resolved = await change('alerts.resolve', { id });
    expect(resolved).toMatchObject({ status: 'Resolved', acknowledgedBy: analyst.email, resolvedBy: admin.email });
    expect(await change('alerts.resolve', { id }, analyst)).toEqual(resolved);
    expect(await change('alerts.acknowledge', { id })).toEqual(resolved);
    expect(await change('alerts.reopen', { id }, analyst)).toEqual(open);
    // The rule is deleted, its alerts and its name stay.
    await change('alertRules.delete', { id: ruleId });
    expect(await ask('alerts.get', { id })).toMatchObject({ rule: { name: RULE.name } });
  });

  it('comes after a label and after new thresholds, too', async () => {
    await server.ingest(tenant.id, [started('a'), closed('a'), scored('a', 0.6), ...bot('b')]);
    await change('alertRules.create', RULE);
    await change('alertRules.create', { ...RULE, value: 3 });
    const count = async () => (await ask('alerts.list', {})).data.length;
    // Judged at once, not by the cron.
    const note = vi.spyOn(server.service.alertRules, 'noteChanges');
    await server.call('POST', '/v1/sessions/a/label', { key: tenant.key, body: { verdict: 'bot' } });
    expect(note).toHaveBeenCalledWith([tenant.id]);
    note.mockClear();
    await change('sessions.setVerdict', { sessionId: 'a', verdict: 'bot' }, analyst);
    expect(note).toHaveBeenCalledWith([tenant.id]);
    note.mockRestore();
    await expect.poll(count).toBe(1);
    await server.ingest(tenant.id, [started('c'), closed('c'), scored('c', 0.55)]);
    const thresholds = { mediumAt: 40, botAt: 50 };
    await server.call('PUT', '/v1/settings/risk-thresholds', { key: tenant.key, body: thresholds });
    await expect.poll(count).toBe(2);
  });

  it('comes when a delivery has failed, and not for a test delivery', async () => {
    receiver.answer = ({ path }) => (path === '/gone' ? 404 : 200);
    const hook = { url: `${receiver.url}/gone`, eventType: 'SessionAnomaly' };
    const created = await server.call('POST', '/v1/webhooks', { key: tenant.key, body: hook });
    await server.call('POST', `/v1/webhooks/${created.body.data.id}/test`, { key: tenant.key });
    await change('alertRules.create', { ...RULE, metric: 'failedDeliveries', value: 1, message: '{{value}} failed' });
    await server.ingest(tenant.id, [anomaly('1')]);
    const list = async () => (await ask('alerts.list', {})).data.map(({ message }: { message: string }) => message);
    await expect.poll(list).toEqual(['1 failed']);
  });

  it('is counted by minute of what the pipeline sends: anomalies too', async () => {
    await change('alertRules.create', { ...RULE, metric: 'anomalies', minSeverity: 'high', value: 2 });
    await server.ingest(tenant.id, [anomaly('1'), anomaly('2', { severity: 'low' })]);
    await server.ingest(tenant.id, [anomaly('3')]);
    await expect.poll(async () => (await ask('alerts.list', {})).data.length).toBe(1);
  });
});

describe('alerts', () => {
  it('are listed by status and by rule', async () => {
    const named = (n: number) =>
      alert(`a-${n}`, { triggeredAt: secondsAgo(60 - n), ...(n % 2 ? { ruleId: 'r' } : {}) });
    await server.ingest(tenant.id, [1, 2, 3, 4, 5].map(named));
    await change('alerts.acknowledge', { id: 'a-1' });
    await change('alerts.acknowledge', { id: 'a-2' });
    await change('alerts.resolve', { id: 'a-2' });
    await change('alerts.resolve', { id: 'a-3' });
    const list = async (filters: object) => {
      const found: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const { data, pagination } = await ask('alerts.list', {
          ...filters,
          pageSize: 1,
          ...(cursor ? { cursor } : {}),
        });
        found.push(...data.map(({ id }: { id: string }) => id));
        if (!pagination.hasMore) return found.join(' ');
        cursor = pagination.nextCursor;
      }
    };
    expect(await list({})).toBe('a-5 a-4 a-3 a-2 a-1');
    expect(await list({ status: 'Open' })).toBe('a-5 a-4');
    expect(await list({ status: 'acknowledged' })).toBe('a-1');
    expect(await list({ status: 'Resolved' })).toBe('a-3 a-2');
    expect(await list({ ruleId: 'r' })).toBe('a-5 a-3 a-1');
    expect(await list({ ruleId: 'r', status: 'Resolved' })).toBe('a-3');
    // A rule that we do not know is the customer's.
    expect(await ask('alerts.get', { id: 'a-5' })).toMatchObject({ rule: null });
    expect((await viewer.query('alerts.list', { status: 'Closed' }, at())).status).toBe(400);
    for (const name of ['acknowledge', 'resolve', 'reopen'])
      expect(await refuse(`alerts.${name}`, { id: 'a-9' })).toEqual([404, null, 'Alert not found']);
  });

  it('of the pipeline that are sent again stay acknowledged', async () => {
    const fact = alert('again');
    await server.ingest(tenant.id, [fact]);
    const before = await change('alerts.acknowledge', { id: 'again' });
    const warn = vi.spyOn(server.service.log, 'warn');
    const { body } = await server.ingest(tenant.id, [fact]);
    expect(body.result.data).toEqual({ accepted: 0, duplicates: 1, suppressed: 0 });
    expect(await ask('alerts.get', { id: 'again' })).toEqual(before);
    // Its content is the same.
    expect(warn.mock.calls.filter(([, text]) => String(text).startsWith('a fact came again'))).toEqual([]);
    warn.mockRestore();
  });
});

describe('the demo', () => {
  it('has rules, with the alerts that they find in its sessions', async () => {
    const demo = await startTestServer();
    const { id } = (await loadDemoIntegration(demo.service))!;
    const { sql } = demo.database.db;
    const rows = await sql<{ name: string; alerts: number }[]>`
      select r.name, count(a.id)::int as alerts from alert_rules r
        left join alerts a on a.integration_id = r.integration_id and a.rule_id = r.id
       where r.integration_id = ${id} group by r.name order by r.name`;
    expect(rows.map(({ name }) => name)).toEqual([
      ...['Bots in a course', 'Bots within a day', 'Many of the visitors are bots', 'Webhooks fail'],
    ]);
    const counts = Object.fromEntries(rows.map(({ name, alerts }) => [name, alerts]));
    expect(counts).toMatchObject({ 'Webhooks fail': 0 });
    for (const name of ['Bots in a course', 'Bots within a day', 'Many of the visitors are bots'])
      expect([name, counts[name]! > 0, counts[name]! <= 31]).toEqual([name, true, true]);
    const [states] = await sql`
      select count(*) filter (where acknowledged_at is null and triggered_at < now() - interval '73 hours')::int as forgotten,
             count(resolved_at)::int > 0 as "isAnyResolved"
        from alerts where integration_id = ${id}`;
    expect(states).toEqual({ forgotten: 0, isAnyResolved: true });
    await demo.stop();
  });
});
