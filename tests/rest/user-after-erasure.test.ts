import { describe, expect, it } from 'vitest';
import { Customer } from '../support/customer';
import { dumpDatabase, findInDump } from '../support/dump';
import {
  ADA,
  admin,
  BEN,
  createAda,
  eraseUser,
  eraseUserFully,
  makeReport,
  makeUserPath,
  RULE_OF_ADA,
  server,
  shareErasureServer,
  TEXTS_OF_ADA,
  waitForReceipt,
} from '../support/erasures';
import * as facts from '../support/facts';

// A person after their erasure: what names them is refused for a time, and the audit log has a hash.

shareErasureServer();

describe('a user who was erased', () => {
  it('is refused in later facts, which say so', async () => {
    const customer = await createAda();
    await eraseUser(customer);
    const refused = [
      facts.correlated('s3', ADA.id, { user: ADA }),
      facts.anomaly('x1', { userId: ADA.id }),
      facts.anomaly('x2', { metadata: { others: [{ id: ADA.id }] } }),
      facts.writing('x3', 0.5, { userId: ADA.id }),
    ];
    for (const fact of refused) {
      const { status, body } = await customer.ingest([facts.started('x'), fact]);
      expect([status, body.error.data.factIndex]).toEqual([400, 1]);
      expect(body.error.message).toBe('names a user who was erased; facts about them are refused');
    }
    expect((await customer.get('/v1/sessions/x')).status).toBe(404);
    const confirmed = await customer.post(makeUserPath(ADA.id, 'devices', 'laptop', 'confirm'));
    expect([confirmed.status, confirmed.body.error.code]).toEqual([400, 'UNSUPPORTED_OPERATION']);
    // In another integration they are somebody else.
    const other = await Customer.create(server, [facts.started('s'), facts.correlated('s', ADA.id)]);
    expect((await other.get(makeUserPath(ADA.id))).status).toBe(404);
  });

  it('is named by no rule and no saved list that comes from a page that was open before', async () => {
    const customer = await createAda();
    const at = { 'x-integration-id': customer.id };
    const read = async () => (await admin.query('alertRules.list', {}, at)).body.result.data[0];
    const { id, version } = await read();
    await eraseUserFully(customer);
    const erased = 'The user was erased: nothing is stored about them';
    const view = { page: 'sessions', name: 'Hers', query: String(new URLSearchParams({ userId: ADA.id })) };
    const unscoped = { ...RULE_OF_ADA, scope: { kind: 'integration' } };
    for (const [name, input, message] of [
      ['alertRules.create', RULE_OF_ADA, erased],
      ['alertRules.update', { ...RULE_OF_ADA, id, version }, erased],
      ['alertRules.update', { ...unscoped, id, version }, 'version: somebody has changed the rule since'],
      ['savedViews.create', view, erased],
    ] as const) {
      const { status, body } = await admin.mutate(name, input, at);
      expect([name, status, body.error.message]).toEqual([name, 400, message]);
    }
    const rule = await read();
    expect([rule.name, rule.version, rule.scope.value]).toEqual([
      ...['Watch [erased]', version + 1, expect.stringMatching(/^erased-/)],
    ]);
    const { scope, name, message, metric, windowMinutes, comparison, severity } = rule;
    const changed = { scope, name, message, metric, windowMinutes, comparison, severity, value: 8, id };
    expect((await admin.mutate('alertRules.update', { ...changed, version: rule.version }, at)).status).toBe(200);
    const rows = findInDump(await dumpDatabase(server.database.db), TEXTS_OF_ADA);
    expect(rows.filter((row) => row.includes(customer.id))).toEqual([]);
  });

  it('is named by no report and no schedule of one that is asked for while the erasure runs', async () => {
    const customer = await createAda();
    const at = { 'x-integration-id': customer.id };
    const { sql } = server.database.db;
    const about = { template: 'user-evidence', format: 'csv', days: 1, userId: ADA.id };
    // The erasure waits for a transaction from before, so the user is still known.
    const id = await sql.begin(async (older) => {
      await older`select 1`;
      const { body } = await eraseUser(customer);
      for (const [name, input] of [
        ['reports.request', about],
        ['reports.createSchedule', { ...about, cadence: 'daily', hour: 6, timeZone: 'UTC' }],
      ] as const) {
        const refused = await admin.mutate(name, input, at);
        expect([name, refused.status, refused.body.error?.message]).toEqual([
          ...[name, 400, 'The user was erased: nothing is stored about them'],
        ]);
      }
      return body.data.id as string;
    });
    await waitForReceipt(customer, id);
    const rows = findInDump(await dumpDatabase(server.database.db), TEXTS_OF_ADA);
    expect(rows.filter((row) => row.includes(customer.id))).toEqual([]);
  });

  it('cannot be erased under the id that they have now, so that reports about all who were erased stay', async () => {
    const customer = await createAda();
    await eraseUserFully(customer);
    await eraseUserFully(customer, BEN.id);
    const report = await makeReport(customer, { template: 'sessions', format: 'csv', days: 7 });
    const users: { id: string }[] = await customer.read('/v1/users');
    const erased = users.map(({ id }) => id).filter((id) => id.startsWith('erased-'));
    expect(erased).toHaveLength(2);
    for (const id of erased) {
      const { status, body } = await eraseUser(customer, id);
      expect([status, body.error?.code, body.error?.message]).toEqual([
        ...[400, 'UNSUPPORTED_OPERATION', 'The user was erased already'],
      ]);
    }
    expect((await customer.get(`/reports/${report}/download`)).status).toBe(200);
  });

  it('has no device confirmed under the id that they have now', async () => {
    const customer = await createAda();
    await eraseUserFully(customer);
    const users: { id: string }[] = await customer.read('/v1/users');
    const { id } = users.find((user) => user.id.startsWith('erased-'))!;
    const { confirmedDevices } = await customer.read('/v1/stats');
    const confirmed = await customer.post(makeUserPath(id, 'devices', 'other', 'confirm'));
    expect([confirmed.status, confirmed.body.error?.code]).toEqual([400, 'UNSUPPORTED_OPERATION']);
    expect((await customer.read('/v1/stats')).confirmedDevices).toBe(confirmedDevices);
  });

  it('may come back when the refusal is over', async () => {
    const customer = await createAda();
    const { id } = await eraseUserFully(customer);
    const { db } = server.database;
    await db.sql`update user_erasures set refused_until = now() - interval '1 ms' where id = ${id}`;
    await customer.accept([facts.started('y'), facts.correlated('y', ADA.id, { user: ADA })]);
    await server.service.erasures.jobs.wakeErasures();
    const [row] = await db.sql`select user_hash from user_erasures where id = ${id}`;
    expect(row!.user_hash).toBeNull();
  });

  it('is refused until then, and has a receipt for 400 days', async () => {
    const customer = await createAda();
    const { id } = await eraseUserFully(customer);
    const { db } = server.database;
    const completeDaysAgo = async (days: number) => {
      await db.sql`update user_erasures set completed_at = now() - ${days} * interval '1 day' where id = ${id}`;
      await server.service.erasures.jobs.wakeErasures();
    };
    const readReceipt = async () => (await customer.get(`/v1/user-erasures/${id}`)).status;
    await completeDaysAgo(401);
    const { status } = await customer.ingest([facts.started('y'), facts.correlated('y', ADA.id, { user: ADA })]);
    expect([status, await readReceipt()]).toEqual([400, 200]);
    await db.sql`update user_erasures set refused_until = now() - interval '1 ms' where id = ${id}`;
    await completeDaysAgo(399);
    expect(await readReceipt()).toBe(200);
    await completeDaysAgo(401);
    expect(await readReceipt()).toBe(404);
  });

  it('stays in the audit log as a keyed hash', async () => {
    const customer = await createAda();
    await eraseUserFully(customer);
    const { body } = await admin.query('audit.list', {}, { 'x-integration-id': customer.id });
    const entries = body.result.data.data as { action: string; subjectId: string }[];
    const subjects = entries
      .filter(({ action }) => /^Device|^UserErasure/.test(action))
      .map(({ subjectId }) => subjectId);
    expect(subjects).toHaveLength(2);
    expect(new Set(subjects).size).toBe(1);
    expect(subjects[0]).toMatch(/^erased:[0-9a-f]{32}$/);
  });
});
