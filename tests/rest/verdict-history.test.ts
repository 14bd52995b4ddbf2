import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../contract/audit';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { Customer, pathOf } from '../support/customer';
import { waitForLocks } from '../support/database';
import { anomaly, closed, correlated, scored, secondsAgo, started } from '../support/facts';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';

// A verdict is a case: who decided what, when, why, and what the session looked like to them.

let server: TestServer;
let customer: Customer;
let ada: StaffClient;
let ben: StaffClient;
beforeAll(async () => {
  server = await startStaffServer();
  customer = await Customer.create(server);
  await customer.switchOffFindings();
  ada = await createStaffClient(server, 'admin');
  ben = await createStaffClient(server, 'analyst');
});
afterAll(() => server.stop());

const at = (of = customer) => ({ 'x-integration-id': of.id });
/** Calls a procedure that must succeed. */
async function change(client: StaffClient, name: string, input: object) {
  const answer = await client.mutate(name, input, at());
  expect([name, answer.status, answer.body.error?.message]).toEqual([name, 200, undefined]);
  return answer.body.result.data;
}
const refusal = async (client: StaffClient, name: string, input: object) => {
  const { status, body } = await client.mutate(name, input, at());
  return [status, body.error?.data.field ?? body.error?.data.code];
};
const ask = async (name: string, input: object) => (await ada.query(name, input, at())).body.result.data;
const begin = (id: string, botScore: number) =>
  customer.accept([started(id), closed(id), scored(id, botScore, { ruleSetVersion: '2026.2' })]);
/** Reads the rows of the history in order. */
const readRows = (sessionId: string) => server.database.db.sql`
  select entry, decided_at, label, confidence, reasons, notes, is_undo, actor_kind, actor_id, actor_name, bot_score,
         rule_set_version, medium_at, bot_at
    from session_verdicts where integration_id = ${customer.id} and session_id = ${sessionId} order by entry`;
/** Lists the audit entries about a subject, oldest first. */
const readActs = async (subjectId: string): Promise<AuditEntry[]> =>
  (await ask('audit.list', { pageSize: 100 })).data
    .filter((entry: AuditEntry) => entry.subjectId === subjectId)
    .reverse();

describe('the history of verdicts', () => {
  it('has a row for each change, by REST, by staff, by undo and by removal, and no row ever changes', async () => {
    await begin('s', 0.65);
    const { apiKeyMasked } = await ask('integration.get', {});
    const seen = { bot_score: 0.65, rule_set_version: '2026.2', medium_at: 40, bot_at: 70 };
    const asAda = { actor_kind: 'Staff', actor_id: ada.id, actor_name: ada.email, is_undo: false };
    const plain = { confidence: null, reasons: [], notes: null };
    const kept: object[] = [];
    const expectNext = async (row: object) => {
      const rows = await readRows('s');
      expect(rows.slice(0, -1)).toEqual(kept);
      expect(rows.at(-1)).toMatchObject(row);
      kept.push(rows.at(-1)!);
    };
    const first = await customer.label('s', { verdict: 'human', confidence: 'low', notes: 'asked them' });
    const said = { confidence: 'low', notes: 'asked them' };
    await expectNext({
      ...{ decided_at: first.labeledAt, label: -1, ...said, reasons: [], ...seen },
      ...{ actor_kind: 'ApiKey', actor_name: apiKeyMasked, is_undo: false },
    });
    const pressed = await change(ada, 'sessions.setVerdict', { sessionId: 's', verdict: 'bot' });
    expect(pressed).toMatchObject({ ...said, reasons: [], previous: { verdict: 'human', labeledAt: first.labeledAt } });
    await expectNext({ decided_at: pressed.labeledAt, label: 1, ...said, reasons: [], ...asAda, ...seen });
    const reasons = ['TooFast', 'AutomatedInput', 'TooFast'];
    const why = { sessionId: 's', verdict: 'bot', reasons, confidence: 'high', notes: null };
    const explained = await change(ada, 'sessions.setVerdict', why);
    expect(explained.reasons).toEqual(['AutomatedInput', 'TooFast']);
    const whole = { confidence: 'high', reasons: ['AutomatedInput', 'TooFast'], notes: null };
    await expectNext({ decided_at: explained.labeledAt, label: 1, ...whole, ...asAda });
    // The same verdict again keeps the reasons; another one begins without them.
    await change(ada, 'sessions.setVerdict', { sessionId: 's', verdict: 'bot' });
    await expectNext({ label: 1, ...whole });
    await customer.setThresholds(20, 50);
    const turned = await change(ben, 'sessions.setVerdict', { sessionId: 's', verdict: 'human' });
    await expectNext({ label: -1, confidence: 'high', reasons: [], actor_name: ben.email, medium_at: 20, bot_at: 50 });
    const undo = { sessionId: 's', labeledAt: turned.labeledAt, previousLabeledAt: explained.labeledAt };
    const { label: restored } = await change(ben, 'sessions.undoVerdict', undo);
    expect(restored).toMatchObject({ verdict: 'bot', confidence: 'high', notes: null });
    await expectNext({ decided_at: restored.labeledAt, label: 1, ...whole, is_undo: true, actor_name: ben.email });
    await change(ada, 'sessions.removeLabel', { sessionId: 's', labeledAt: restored.labeledAt });
    await expectNext({ label: null, ...plain, ...asAda });
    expect((await customer.session('s')).label).toBeNull();
    const times = (await readRows('s')).map(({ decided_at }) => decided_at);
    expect(times).toEqual([...new Set(times)].sort());
    await customer.setThresholds(40, 70);
  });

  it('has the rule set of a score that was written while the verdict waited', async () => {
    await begin('rescored', 0.65);
    const { sql } = server.database.db;
    const { told, labelled } = await sql.begin(async (other) => {
      await other`select from sessions where integration_id = ${customer.id} and id = 'rescored' for update`;
      const later = { scoredAt: secondsAgo(1), ruleSetVersion: '2026.3' };
      const told = customer.accept([scored('rescored', 0.95, later)]);
      await waitForLocks(sql, 1);
      const labelled = customer.label('rescored', { verdict: 'bot' });
      await waitForLocks(sql, 2);
      return { told: { done: told }, labelled: { done: labelled } };
    });
    await Promise.all([told.done, labelled.done]);
    expect(await readRows('rescored')).toMatchObject([{ bot_score: 0.95, rule_set_version: '2026.3', medium_at: 40 }]);
  });

  it('of a refused change has no row, nor has the audit log', async () => {
    await begin('refused', 0.9);
    const { labeledAt } = await customer.label('refused', { verdict: 'bot' });
    const [rows, acts] = [await readRows('refused'), await readActs('refused')];
    const set = { sessionId: 'refused', verdict: 'human' };
    expect([
      await refusal(ada, 'sessions.setVerdict', { ...set, seenLabeledAt: null }),
      await refusal(ada, 'sessions.setVerdict', { ...set, seenLabeledAt: '2026-01-01T00:00:00.000Z' }),
      await refusal(ada, 'sessions.setVerdict', { ...set, reasons: ['Cheated'] }),
      await refusal(ada, 'sessions.setVerdict', { ...set, notes: 'x'.repeat(1001) }),
      await refusal(ada, 'sessions.removeLabel', { sessionId: 'refused', labeledAt: '2026-01-01T00:00:00.000Z' }),
      await refusal(ada, 'sessions.undoVerdict', {
        ...{ sessionId: 'refused', labeledAt, previousLabeledAt: '2026-01-01T00:00:00.000Z' },
      }),
      await refusal(ada, 'sessions.removeLabel', { sessionId: 'unknown', labeledAt }),
    ]).toEqual([
      ...[400, 400].map((status) => [status, 'seenLabeledAt']),
      ...[
        [400, 'reasons.0'],
        [400, 'notes'],
        [400, 'labeledAt'],
        [400, 'previousLabeledAt'],
        [404, 'NOT_FOUND'],
      ],
    ]);
    expect([await readRows('refused'), await readActs('refused')]).toEqual([rows, acts]);
    expect(await customer.session('refused')).toMatchObject({ label: { verdict: 'bot', labeledAt } });
    // The label that the reviewer saw may be replaced.
    await change(ada, 'sessions.setVerdict', { ...set, seenLabeledAt: labeledAt });
  });

  it('has every label of two people at the same time, in the order in which each replaced the one before', async () => {
    await begin('both', 0.9);
    const pressed = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        change(n % 2 ? ada : ben, 'sessions.setVerdict', { sessionId: 'both', verdict: n % 3 ? 'bot' : 'human' }),
      ),
    );
    const rows = await readRows('both');
    const times = rows.map(({ decided_at }) => decided_at);
    expect(times).toEqual([...new Set(times)].sort());
    expect(pressed.map(({ labeledAt }) => labeledAt).sort()).toEqual(times);
    for (const { labeledAt, previous } of pressed)
      expect(previous?.labeledAt ?? null).toBe(times[times.indexOf(labeledAt) - 1] ?? null);
    expect((await customer.session('both')).label.labeledAt).toBe(times.at(-1));
    expect(rows.filter(({ actor_name }) => actor_name === ada.email)).toHaveLength(10);
    expect(await readActs('both')).toHaveLength(20);
  });
});

describe('sessions.getHistory', () => {
  it('answers why a session had its class on a day', async () => {
    const own = await Customer.create(server);
    const ago = (hours: number) => secondsAgo(hours * 3600);
    await own.accept([
      ...[started('day', { startedAt: ago(10) }), closed('day', { closedAt: ago(9.9) })],
      ...[scored('day', 0.65, { scoredAt: ago(9.8), ruleSetVersion: '2026.1' })],
    ]);
    await own.setThresholds(30, 60);
    await own.label('day', { verdict: 'human', notes: 'known' });
    const { steps, isComplete } = (await ada.query('sessions.getHistory', { sessionId: 'day' }, at(own))).body.result
      .data;
    expect(isComplete).toBe(true);
    expect(steps.map(({ cause, riskLevel }: { cause: string; riskLevel: string }) => [cause, riskLevel])).toEqual([
      ...[
        ['Began', null],
        ['Scored', 'medium'],
        ['ThresholdsChanged', 'bot'],
        ['Labeled', 'human'],
      ],
    ]);
    expect(steps[1]).toMatchObject({ botScore: 0.65, mediumAt: 40, botAt: 70, ruleSetVersion: '2026.1' });
    expect(steps[3]).toMatchObject({
      ...{ verdict: 'human', notes: 'known', labeledBy: { kind: 'ApiKey' }, botScore: 0.65, mediumAt: 30, botAt: 60 },
    });
    // Who changed the thresholds is for admins.
    expect(steps[2].labeledBy).toBeNull();
    expect((await ada.query('sessions.getHistory', { sessionId: 'nobody' }, at(own))).status).toBe(404);
  });

  it('is bounded, however often a customer labels', async () => {
    await begin('often', 0.9);
    await server.database.db.sql`
      insert into session_verdicts (integration_id, session_id, decided_at, label, actor_kind)
      select ${customer.id}, 'often', now() + n * interval '1 ms', 1, 'ApiKey' from generate_series(1, 1000) n`;
    const { steps, isComplete } = await ask('sessions.getHistory', { sessionId: 'often' });
    expect([steps.length, isComplete]).toEqual([200, false]);
  });
});

describe('the audit log', () => {
  it('has labels, undos and removals, without the notes, also of API keys', async () => {
    await begin('logged', 0.9);
    const first = await customer.label('logged', { verdict: 'bot', notes: 'private matter' });
    const why = { sessionId: 'logged', verdict: 'human', reasons: ['KnownPerson'] };
    const { labeledAt, previous } = await change(ada, 'sessions.setVerdict', why);
    expect(previous.labeledAt).toBe(first.labeledAt);
    const undo = { sessionId: 'logged', labeledAt, previousLabeledAt: previous.labeledAt };
    const { label } = await change(ben, 'sessions.undoVerdict', undo);
    await change(ben, 'sessions.removeLabel', { sessionId: 'logged', labeledAt: label.labeledAt });
    const acts = await readActs('logged');
    expect(acts.map(({ action, actor, details }) => [action, actor.kind, actor.name, details])).toEqual([
      ['SessionLabeled', 'ApiKey', expect.any(String), { before: null, after: 'bot', confidence: null, reasons: [] }],
      [
        'SessionLabeled',
        'Staff',
        ada.email,
        { before: 'bot', after: 'human', confidence: null, reasons: ['KnownPerson'] },
      ],
      ['LabelUndone', 'Staff', ben.email, { before: 'human', after: 'bot', confidence: null, reasons: [] }],
      ['LabelRemoved', 'Staff', ben.email, { before: 'bot', after: null, confidence: null, reasons: [] }],
    ]);
    expect(JSON.stringify(acts)).not.toContain('private matter');
  });

  it('has each change of a webhook, with the origin of its address alone and never a secret', async () => {
    const url = 'https://hooks.example.com/services/T000/s3cret?token=s3cret';
    const created = (await customer.post('/v1/webhooks', { url, eventType: 'BotDetected', name: 'Chat' })).body.data;
    const { id } = created;
    await change(ada, 'webhooks.update', { id, name: 'Team chat', url: 'https://other.example.com/s3cret' });
    await change(ada, 'webhooks.update', { id, name: 'Team chat' });
    await change(ada, 'webhooks.update', { id, enabled: false });
    await change(ada, 'webhooks.update', { id, enabled: true, eventType: 'SessionAnomaly' });
    const { secret } = await change(ben, 'webhooks.rotateSecret', { id });
    await change(ben, 'webhooks.delete', { id });
    expect(await refusal(ben, 'webhooks.delete', { id })).toEqual([404, 'NOT_FOUND']);
    // Entries of one transaction have no order.
    const acts = (await readActs(id)).toSorted((a, b) => a.at.localeCompare(b.at) || a.action.localeCompare(b.action));
    const eventTypes = { before: { eventType: 'BotDetected' }, after: { eventType: 'SessionAnomaly' } };
    expect(acts.map(({ action, actor, details }) => [action, actor.kind, details])).toEqual([
      ...[
        [
          ...['WebhookCreated', 'ApiKey'],
          { name: 'Chat', url: 'https://hooks.example.com/…', eventType: 'BotDetected', enabled: true },
        ],
      ],
      [
        ...['WebhookChanged', 'Staff'],
        {
          name: 'Chat',
          before: { name: 'Chat', url: 'https://hooks.example.com/…' },
          after: { name: 'Team chat', url: 'https://other.example.com/…' },
        },
      ],
      ['WebhookDisabled', 'Staff', { name: 'Team chat' }],
      ['WebhookChanged', 'Staff', { name: 'Team chat', ...eventTypes }],
      ['WebhookEnabled', 'Staff', { name: 'Team chat' }],
      ['WebhookSecretRotated', 'Staff', { name: 'Team chat', gracePeriodSeconds: 0 }],
      ['WebhookDeleted', 'Staff', { name: 'Team chat' }],
    ]);
    for (const hidden of ['s3cret', created.secret, secret]) expect(JSON.stringify(acts)).not.toContain(hidden);
  });

  it('and nothing is changed if an entry cannot be written', async () => {
    await begin('atomic', 0.9);
    await customer.confirm('atomic', 'fp');
    const { labeledAt } = await customer.label('atomic', { verdict: 'bot' });
    const { id } = (await customer.post('/v1/webhooks', { url: 'https://a.example.com', eventType: 'BotDetected' }))
      .body.data;
    const { sql } = server.database.db;
    const count = async () => {
      const [row] = await sql`
        select (select count(*) from session_verdicts) || ' ' || (select count(*) from device_confirmations) || ' ' ||
               (select string_agg(label::text || labeled_at, ',' order by id) from sessions) || ' ' ||
               (select string_agg(w::text, ',' order by id) from webhook_subscriptions w) as state`;
      return row!.state;
    };
    const before = await count();
    await sql`alter table audit_entries add constraint full_disk check (action = '') not valid`;
    try {
      const failed = [
        await customer.post(`${pathOf('v1', 'sessions', 'atomic')}/label`, { verdict: 'human' }),
        await ada.mutate('sessions.setVerdict', { sessionId: 'atomic', verdict: 'human' }, at()),
        await ada.mutate('sessions.undoVerdict', { sessionId: 'atomic', labeledAt, previousLabeledAt: null }, at()),
        await ada.mutate('sessions.removeLabel', { sessionId: 'atomic', labeledAt }, at()),
        await customer.post(pathOf('v1', 'users', 'atomic', 'devices', 'fp-2', 'confirm')),
        await ada.mutate('users.revokeDevice', { userId: 'atomic', fingerprint: 'fp' }, at()),
        await customer.post('/v1/webhooks', { url: 'https://b.example.com', eventType: 'BotDetected' }),
        await ada.mutate('webhooks.update', { id, name: 'x' }, at()),
        await ada.mutate('webhooks.rotateSecret', { id }, at()),
        await ada.mutate('webhooks.delete', { id }, at()),
      ];
      expect(failed.map(({ status }) => status)).toEqual(failed.map(() => 500));
    } finally {
      await sql`alter table audit_entries drop constraint full_disk`;
    }
    expect(await count()).toBe(before);
  });
});

describe('a confirmed device', () => {
  it('says who confirmed it, can be revoked, and is counted exactly; anomalies fire again', async () => {
    const userId = 'owner';
    await customer.accept([started('owned', { deviceFingerprint: 'fp' }), correlated('owned', userId)]);
    const report = (id: string) =>
      customer.tell([
        anomaly(id, { anomalyType: 'SharedDevice', userId, sessionId: 'owned', deviceFingerprint: 'fp' }),
      ]);
    const readConfirmed = async () => (await customer.read('/v1/stats')).confirmedDevices;
    const readDevice = async () => (await ask('users.listDevices', { userId }))[0];
    const confirmedBefore = await readConfirmed();
    await customer.confirm(userId, 'fp');
    const again = await change(ben, 'users.confirmDevice', { userId, fingerprint: 'fp' });
    expect(await readDevice()).toMatchObject({ confirmedAt: again.confirmedAt, confirmedBy: ben.email });
    expect(await readConfirmed()).toBe(confirmedBefore + 1);
    expect(await report('quiet')).toMatchObject({ suppressed: 1 });

    await change(ada, 'users.revokeDevice', { userId, fingerprint: 'fp' });
    expect(await readDevice()).toMatchObject({ confirmedAt: null, firstConfirmedAt: null, confirmedBy: null });
    expect(await readConfirmed()).toBe(confirmedBefore);
    await foldSessionDeltas(server.service.db);
    expect(await readConfirmed()).toBe(confirmedBefore);
    expect(
      (await customer.read('/v1/users')).find(({ id }: { id: string }) => id === userId).confirmedDeviceCount,
    ).toBe(0);
    expect(await refusal(ada, 'users.revokeDevice', { userId, fingerprint: 'fp' })).toEqual([404, 'NOT_FOUND']);
    expect(await report('loud')).toMatchObject({ accepted: 1, suppressed: 0 });

    // Ten at once revoke it once.
    await customer.confirm(userId, 'fp');
    const revoked = await Promise.all(
      Array.from({ length: 10 }, () => ada.mutate('users.revokeDevice', { userId, fingerprint: 'fp' }, at())),
    );
    expect(revoked.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
    expect(await readConfirmed()).toBe(confirmedBefore);
    const acts = (await readActs(userId)).map(({ action, actor, details }) => [action, actor.kind, details]);
    const device = { fingerprint: 'fp' };
    expect(acts).toEqual([
      ['DeviceConfirmed', 'ApiKey', { ...device, isFirst: true }],
      ['DeviceConfirmed', 'Staff', { ...device, isFirst: false }],
      ['DeviceConfirmationRevoked', 'Staff', { ...device, confirmedAt: again.confirmedAt, confirmedBy: ben.email }],
      ['DeviceConfirmed', 'ApiKey', { ...device, isFirst: true }],
      [
        'DeviceConfirmationRevoked',
        'Staff',
        { ...device, confirmedAt: expect.any(String), confirmedBy: expect.any(String) },
      ],
    ]);
  });
});
