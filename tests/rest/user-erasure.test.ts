import { describe, expect, it } from 'vitest';
import { foldSessionDeltas, LOCK_FOLD } from '../../server/domain/rollups';
import { COLUMN_FATES, type Fate } from '../../server/erasure/columns';
import { makeAnomalyId } from '../../server/findings/judge';
import { Campus } from '../support/campus';
import { foldCounts } from '../support/count-rows';
import { Customer } from '../support/customer';
import { dumpDatabase, findInDump } from '../support/dump';
import {
  ADA,
  admin,
  BEN,
  createAda,
  eraseUser,
  eraseUserFully,
  makeUserPath,
  RULE_OF_ADA,
  readTotals,
  SCHEDULE_OF_ADA,
  server,
  shareErasureServer,
  TEXTS_OF_ADA,
  waitForReceipt,
  webhookReceiver,
} from '../support/erasures';
import * as facts from '../support/facts';
import { waitUntil } from '../support/receiver';
import { hashTenantRows } from '../support/tenant-rows';

// What the erasure of a person takes out of the database, and what it leaves.

shareErasureServer();

/** What becomes of columns that name nobody, or not for long. */
const NAMES_NOBODY: Fate[] = ['measured', 'ours', 'settings', 'expiring', 'working'];
/**
 * What `createAda` does not fill: the engine and the pixel write it ("a report" and "what the pixel sent" in
 * erased-reports-and-pages.test.ts), or it is under way.
 */
const FILLED_ELSEWHERE =
  /^(report_jobs|report_chunks|collected_sessions|session_batches|session_traces|alert_rules\.unsent)\b/;
const COLUMNS_OF_PEOPLE = [...COLUMN_FATES]
  .flatMap(([table, fates]) => Object.entries(fates).map(([name, fate]) => ({ column: `${table}.${name}`, fate })))
  .filter(({ column, fate }) => !NAMES_NOBODY.includes(fate) && !FILLED_ELSEWHERE.test(column));

/** Lists the columns that hold something, in rows of an integration or only in those of some of its sessions. */
async function listHeld({ id }: Customer, columns: typeof COLUMNS_OF_PEOPLE, sessionIds: string[] | null = null) {
  const { sql } = server.database.db;
  const tables = [...new Set(columns.map(({ column }) => column.split('.')[0]!))];
  const found = await Promise.all(
    tables.map(
      (table) => sql<{ column: string }[]>`
        select distinct ${`${table}.`} || field.key as column
          from ${sql(table)} t cross join lateral (select to_jsonb(t) as cells) r cross join lateral jsonb_each_text(r.cells) field
         where r.cells ->> 'integration_id' = ${id} and field.value is not null
           and (${sessionIds === null} or ${JSON.stringify(sessionIds)}::text::jsonb ? coalesce(r.cells ->> 'session_id', r.cells ->> 'id'))`,
    ),
  );
  const held = new Set(found.flat().map(({ column }) => column));
  return columns.map(({ column }) => column).filter((column) => held.has(column));
}

describe('an erasure', () => {
  it('leaves nothing of the user in the whole database, and every total as it was', async () => {
    webhookReceiver.answer = ({ body }) => {
      const isOfAda = JSON.parse(body).userId === ADA.id;
      webhookReceiver.answerHeaders = isOfAda ? { 'retry-after': `when ${ADA.name} is back` } : {};
      webhookReceiver.answerBody = isOfAda ? `no place for ${ADA.name}` : '';
      return 500;
    };
    const customer = await createAda();
    const { db } = server.database;
    await waitUntil(async () => {
      const [row] = await db.sql`select count(*)::int as n from webhook_attempts where integration_id = ${customer.id}`;
      return row!.n >= 7;
    });
    // Half of the changes are folded, the others not.
    await foldSessionDeltas(db);
    const before = await db.sql.begin(async (sql) => {
      // The fold of the minute would empty a column.
      await sql.unsafe(LOCK_FOLD);
      await customer.accept([facts.scored('s2', 0.8, { scoredAt: facts.secondsAgo(2) })]);
      // Fill a new column, too: only then does the dump show whether the erasure knows it.
      expect(await listHeld(customer, COLUMNS_OF_PEOPLE)).toEqual(COLUMNS_OF_PEOPLE.map(({ column }) => column));
      expect(findInDump(await dumpDatabase(db), TEXTS_OF_ADA).length).toBeGreaterThan(20);
      return readTotals(customer);
    });
    expect(before.users.map(({ id }: { id: string }) => id)).toContain(ADA.id);

    const receipt = await eraseUserFully(customer);
    Object.assign(webhookReceiver, { answer: () => 200, answerHeaders: {}, answerBody: '' });
    expect(findInDump(await dumpDatabase(db), TEXTS_OF_ADA)).toEqual([]);
    const emptied = COLUMNS_OF_PEOPLE.filter(({ fate }) => fate === 'emptied');
    // Of the address of a page its origin stays.
    expect(await listHeld(customer, emptied, ['s1', 's2'])).toEqual(['sessions.page_url']);
    expect(await readTotals(customer)).toEqual(before);
    await foldCounts(db);
    expect(await readTotals(customer)).toEqual(before);
    expect(findInDump(await dumpDatabase(db), TEXTS_OF_ADA)).toEqual([]);

    expect(receipt).toMatchObject({ status: 'Completed', sessionCount: 2, reportCount: 0 });
    expect(receipt.deliveryCount).toBe(receipt.eventCount - 2);
    const deliveries = await db.sql`
      select e.payload, d.status from domain_events e left join webhook_deliveries d using (integration_id)
       where integration_id = ${customer.id} and d.event_id = e.id`;
    const erased = deliveries.filter(({ payload }) => payload === '{"erased":true}');
    expect(erased.length).toBe(receipt.deliveryCount);
    expect(new Set(erased.map(({ status }) => status))).toEqual(new Set(['PoisonAborted']));
    expect(deliveries.filter(({ status }) => status === 'Pending').length).toBe(deliveries.length - erased.length);
  });

  it('leaves deliveries that have ended as they ended', async () => {
    const customer = await createAda();
    const readDeliveries = () => server.database.db.sql<{ status: string }[]>`
      select id, status, finished_at from webhook_deliveries where integration_id = ${customer.id} order by id`;
    const countPending = async () => (await readDeliveries()).filter(({ status }) => status === 'Pending').length;
    await waitUntil(async () => (await countPending()) === 0);
    const before = await readDeliveries();
    expect(before.map(({ status }) => status)).toContain('Delivered');
    const receipt = await eraseUserFully(customer);
    expect(receipt.eventCount).toBeGreaterThan(3);
    expect([receipt.deliveryCount, await readDeliveries()]).toEqual([0, before]);
  });

  it('lets no event about the user be sent again or recovered', async () => {
    const customer = await createAda();
    await eraseUserFully(customer);
    const readErased = () => server.database.db.sql<{ id: string; subscriptionId: string }[]>`
      select d.*, d.subscription_id as "subscriptionId" from webhook_deliveries d join domain_events e using (integration_id)
       where d.integration_id = ${customer.id} and e.id = d.event_id and e.payload = '{"erased":true}' order by d.id`;
    const erased = await readErased();
    expect(erased.length).toBeGreaterThan(3);
    const path = `/v1/webhooks/${erased[0]!.subscriptionId}`;
    const { status, body } = await customer.post(`${path}/deliveries/${erased[0]!.id}/resend`, {});
    expect([status, body.error.code]).toEqual([400, 'UNSUPPORTED_OPERATION']);
    expect(body.error.message).toBe('The event names a user who was erased: it is not sent again');
    // As if they had failed: what was delivered is not recovered anyway.
    const { sql } = server.database.db;
    await sql`
      update webhook_deliveries set status = 'PermanentFailure'
       where integration_id = ${customer.id} and id in ${sql(erased.map(({ id }) => id))}`;
    const failed = await readErased();
    const recovered = await customer.post(`${path}/recover`, { startDate: facts.secondsAgo(3_600) });
    expect(recovered.body.data).toMatchObject({ recovered: 0 });
    expect(await readErased()).toEqual(failed);
  });

  it('keeps sessions as they were counted, without what says who it was', async () => {
    const customer = await createAda();
    await eraseUserFully(customer);
    const [user] = (await customer.read('/v1/users')).filter(({ name }: { name: string }) => name === 'Erased user');
    expect(user).toMatchObject({ id: expect.stringMatching(/^erased-/), email: null, url: null, sessionCount: 2 });
    const session = await customer.read('/v1/sessions/s1');
    expect(session).toMatchObject({
      userId: user.id,
      userName: 'Erased user',
      botScore: 0.95,
      label: { verdict: 'bot' },
    });
    expect(session.pageUrl).toBe('https://lms.example.edu/');
    const other = await customer.read('/v1/sessions/s3');
    expect([other.userId, other.pageUrl]).toEqual([BEN.id, '[erased]']);
    expect((await customer.get(makeUserPath(ADA.id))).status).toBe(404);
  });

  it('leaves what is about a user whose id contains theirs', async () => {
    const customer = await Customer.create(server);
    await customer.switchOffFindings();
    const [john, other] = ['john.smith', 'john.smith.2'].map((id) => ({ id, name: `Name of ${id.length}` }));
    for (const eventType of ['BotDetected', 'SessionAnomaly'])
      await customer.post('/v1/webhooks', { url: `${webhookReceiver.url}/${customer.id}`, eventType });
    await customer.accept([
      ...[facts.started('s1'), facts.correlated('s1', john!.id, { user: john })],
      ...[facts.started('s2'), facts.correlated('s2', other!.id, { user: other })],
      ...[facts.scored('s2', 0.95), facts.closed('s2')],
      facts.anomaly('a2', { userId: other!.id, metadata: { previousUserId: other!.id } }),
    ]);
    await customer.post(makeUserPath(other!.id, 'devices', 'laptop', 'confirm'));
    const at = { 'x-integration-id': customer.id };
    const plain = { name: 'Watched' };
    await admin.mutate('savedViews.create', { page: 'sessions', ...plain, query: `userId=${other!.id}` }, at);
    await admin.mutate(
      'alertRules.create',
      { ...RULE_OF_ADA, ...plain, message: 'of them', scope: { kind: 'user', value: other!.id } },
      at,
    );
    await admin.mutate('reports.createSchedule', { ...SCHEDULE_OF_ADA, ...plain, userId: other!.id }, at);
    const { db } = server.database;
    const readRest = async () => {
      await foldCounts(db);
      const found = findInDump(await dumpDatabase(db), [other!.id]);
      return found.filter((row) => row.includes(customer.id) && !row.startsWith('webhook_')).length;
    };
    const exported = await customer.get(makeUserPath(john!.id, 'export'));
    expect(exported.text).not.toContain(other!.id);
    const before = await readRest();
    expect(before).toBeGreaterThan(10);
    const receipt = await eraseUserFully(customer, john!.id);
    expect(receipt).toMatchObject({ sessionCount: 1, eventCount: 1, deliveryCount: 0 });
    expect(await readRest()).toBe(before);
    expect(
      await db.sql`select 1 from webhook_deliveries where integration_id = ${customer.id} and status = 'PoisonAborted'`,
    ).toEqual([]);
  });

  it('leaves no id that can be computed from theirs', async () => {
    const campus = await Campus.create(server);
    const { customer } = campus;
    const told = { anomalyType: 'SharedDevice', userId: 'ada' };
    await campus.visit({ user: 'ben', ago: 90 }, { user: 'ada', ago: 60 });
    await customer.accept([facts.anomaly('of-the-pipeline', told)]);
    const computed = makeAnomalyId(customer.id, 'SharedDevice', ['laptop', 'ada']);
    const { db } = server.database;
    const readIds = () => db.sql<{ id: string; key: string }[]>`
      select a.id, e.natural_key as key from anomalies a left join domain_events e
          on e.integration_id = a.integration_id and e.type = 'SessionAnomaly' and e.natural_key = a.id
       where a.integration_id = ${customer.id} order by a.detected_at`;
    expect([...(await readIds())]).toEqual([computed, 'of-the-pipeline'].map((id) => ({ id, key: id })));
    await eraseUserFully(customer, 'ada');
    expect(findInDump(await dumpDatabase(db), [computed])).toEqual([]);
    const random = expect.stringMatching(/^ano_[0-9a-f]{32}$/);
    const [own, posted] = await readIds();
    expect([own!.id, own!.key, posted]).toEqual([random, own!.id, { id: 'of-the-pipeline', key: 'of-the-pipeline' }]);
  });

  it('finds a Turkish name in capitals', async () => {
    const ayse = { id: 'ayse-77', name: 'Ayşe Işık İlhan' };
    const customer = await Customer.create(server, [
      ...[facts.started('s1'), facts.correlated('s1', ayse.id, { user: ayse })],
      facts.alert('al1', { message: 'İstanbul: AYŞE IŞIK İLHAN' }),
    ]);
    await eraseUserFully(customer, ayse.id);
    const [alert] = await server.database.db.sql`select message from alerts where integration_id = ${customer.id}`;
    expect(alert).toEqual({ message: 'İstanbul: [erased]' });
  });

  it('finds a name in the JSON of a text, also in an event whose payload holds that text', async () => {
    const ann = { id: 'ann-77', name: 'Ann "Annie" Örn' };
    const customer = await Customer.create(server, [
      ...[facts.started('s1'), facts.correlated('s1', ann.id, { user: ann })],
      facts.alert('al1', { message: String.raw`seen: {"name": "Ann \"Annie\" \u00d6rn"}` }),
    ]);
    await eraseUserFully(customer, ann.id);
    const { sql } = server.database.db;
    const [alert] = await sql`select message from alerts where integration_id = ${customer.id}`;
    expect(alert).toEqual({ message: 'seen: {"name": "[erased]"}' });
    const { body } = await customer.get('/v1/webhook-events?eventType=AlertTriggered');
    expect(body.data).toMatchObject([{ payload: '{"erased":true}' }]);
  });

  it('finds a name with the last name first, in HTML and in addresses without Unicode', async () => {
    const zoe = { id: 'zoe-77', name: "Zoë O'Neil" };
    const written = ["O'Neil, Zoë", 'ZO&EUML; O&#039;NEIL', '?of=O%27Neil%2C+Zo%EB'];
    const customer = await Customer.create(server, [
      ...[facts.started('s1'), facts.correlated('s1', zoe.id, { user: zoe })],
      ...written.map((message, index) => facts.alert(`al${index}`, { message })),
    ]);
    await eraseUserFully(customer, zoe.id);
    const { sql } = server.database.db;
    const alerts = await sql`select message from alerts where integration_id = ${customer.id} order by id`;
    expect(alerts.map(({ message }) => message)).toEqual(['[erased]', '[erased]', '?of=[erased]']);
  });

  it('touches no row of another integration', async () => {
    const [customer, other] = [await createAda(), await createAda()];
    const { db } = server.database;
    await waitUntil(async () => {
      const [row] =
        await db.sql`select count(*)::int as n from webhook_deliveries where integration_id = ${other.id} and status = 'Pending'`;
      return row!.n === 0;
    });
    // Requests are counted every two seconds.
    await server.service.usage.flush();
    const before = await hashTenantRows(db, other.id);
    await eraseUserFully(customer);
    expect(await hashTenantRows(db, other.id)).toEqual(before);
    const { body } = await eraseUser(other);
    expect((await customer.get(`/v1/user-erasures/${body.data.id}`)).status).toBe(404);
    await waitForReceipt(other, body.data.id);
  });
});
