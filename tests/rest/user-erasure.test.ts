import { setTimeout as sleep } from 'node:timers/promises';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Query } from '../../db/client';
import * as schema from '../../db/schema';
import { unpackBatch, unpackTrace } from '../../server/collector/packing';
import type { DomainContext } from '../../server/domain/context';
import { pruneSessions } from '../../server/domain/retention';
import { foldSessionDeltas, LOCK_FOLD } from '../../server/domain/rollups';
import { writeUserExport } from '../../server/domain/user-export';
import { COLUMN_FATES, type Fate } from '../../server/erasure/columns';
import { openPageSite, Tab } from '../support/beacon';
import { foldCounts } from '../support/count-rows';
import { Customer, pathOf } from '../support/customer';
import { dumpDatabase, findInDump } from '../support/dump';
import { eventually } from '../support/eventually';
import * as facts from '../support/facts';
import { expectExactOutcomes } from '../support/outcome-counts';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';
import { hashTenantRows } from '../support/tenant-rows';
import { keepSending } from '../support/traffic';

// A person's data: erasing and exporting it.

const ID = 'lms/ada lovelace-4711';
const NAME = 'Augusta Ada Lovelace';
const EMAIL = 'ada.lovelace@analytical.example';
const URL = 'https://lms.example.edu/people/augusta-4711?tab=profile';
const TEXTS = [ID, NAME, EMAIL, URL, 'augusta-4711'];
const ADA = { id: ID, name: NAME, email: EMAIL, url: URL };
const BEN = { id: 'ben-1815', name: 'Ben Babbage', email: 'ben@example.edu' };

let server: TestServer;
let receiver: Receiver;
let admin: StaffClient;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startStaffServer({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1',
    SESSION_IDLE: '1h',
    // The first attempt fails, so that deliveries wait.
    WEBHOOK_RETRY_DELAYS: '0s,1h,1h,1h,1h,1h',
  });
  admin = await createStaffClient(server, 'admin');
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const userPath = (id: string, ...more: string[]) => pathOf('v1', 'users', id, ...more);
const erase = (customer: Customer, id = ID) => server.call('DELETE', userPath(id), { key: customer.key });

/** Erases a user and waits for the end. Answers the receipt. */
async function eraseFully(customer: Customer, id = ID) {
  const { status, body } = await erase(customer, id);
  expect([status, body.data.status]).toEqual([200, 'Running']);
  await waitForReceipt(customer, body.data.id);
  return customer.read(`/v1/user-erasures/${body.data.id}`);
}

const waitForReceipt = (customer: Customer, id: string) =>
  eventually(async () => expect((await customer.read(`/v1/user-erasures/${id}`)).status).toBe('Completed'));

/** Everything that counts sessions, users and courses, with who is in it left out. */
async function readTotals(customer: Customer) {
  const hide = (text: string) => text.replaceAll(/erased-[0-9a-f]{32}/g, ID);
  const paths = ['/v1/stats', '/v1/analytics?range=7d', '/v1/courses', '/v1/sessions?pageSize=100', '/v1/users'];
  const answers = await Promise.all(paths.map(async (path) => (await customer.get(path)).body));
  const [stats, analytics, courses, sessions, users] = answers;
  const countsOf = ({ name, email, url, code, ...rest }: Record<string, unknown>) => {
    void [name, email, url, code];
    return JSON.parse(hide(JSON.stringify(rest)));
  };
  const counts = users.data.map(countsOf);
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
  for (const { data } of [stats, analytics]) for (const name of ['generatedAt', 'endDate']) delete data[name];
  return {
    stats,
    analytics,
    courses: courses.data.map(countsOf),
    sessions: sessions.data.length,
    users: counts.sort(byId),
  };
}

const PLACE = { latitude: 51.5, longitude: -0.1, accuracyKm: 20 };
const RULE_OF_ADA = {
  ...{ name: `Watch ${NAME}`, metric: 'botSessions', scope: { kind: 'user', value: ID }, windowMinutes: 10 },
  ...{ comparison: 'gte', value: 9, severity: 'high', message: `{{value}} bot sessions of ${EMAIL}` },
};
const SCHEDULE_OF_ADA = {
  ...{ template: 'user-evidence', format: 'csv', userId: ID, days: 7, name: `All of ${NAME}` },
  ...{ cadence: 'daily', hour: 3, timeZone: 'UTC' },
};

/** A customer of whom everything that may name a user does name Ada. */
async function createAda() {
  const customer = await Customer.create(server);
  await customer.switchOffFindings();
  for (const eventType of ['BotDetected', 'SessionAnomaly', 'SessionCorrelated', 'AlertTriggered'])
    await customer.post('/v1/webhooks', { url: `${receiver.url}/${customer.id}`, eventType });
  const pageUrl = `${URL}&of=${encodeURIComponent(ID)}`;
  await customer.accept([
    facts.started('s1', { pageUrl, deviceFingerprint: 'laptop', country: 'DE', location: PLACE }),
    facts.correlated('s1', ID, { user: ADA, contextId: 'course-42' }),
    facts.happened('s1', [{ sequence: 0, url: URL, metadata: { who: NAME } }]),
    facts.scored('s1', 0.95, { evidence: [facts.finding('typing', { measured: ID })] }),
    facts.closed('s1'),
    facts.started('s2', { deviceFingerprint: 'phone' }),
    facts.correlated('s2', ID, { user: ADA, correlatedAt: facts.secondsAgo(19) }),
    facts.failed('s2', { reason: `no trace of ${EMAIL}` }),
    facts.started('s3', {
      pageUrl: `https://lms.example.edu/people/augusta-4711?tab=profile`,
      deviceFingerprint: 'desk',
    }),
    facts.correlated('s3', BEN.id, { user: BEN }),
    facts.happened('s3', [{ sequence: 0, url: pageUrl, metadata: { seen: `profile of ${NAME.toLowerCase()}` } }]),
    facts.scored('s3', 0.2, { evidence: [facts.finding('typing', { expected: `as ${NAME}` })] }),
    facts.closed('s3'),
    facts.started('s4', { pageUrl: `https://lms.example.edu/courses/course-v1:${encodeURIComponent(ID)}/course` }),
    facts.anomaly('a1', { sessionId: 's1', metadata: { email: EMAIL, distanceKm: 900 } }),
    facts.anomaly('a2', { sessionId: 's3', metadata: { previousUserId: ID, minutesBetween: 3 } }),
    facts.writing('w1', 0.4, { userId: ID, documentId: `essay of ${ID}`, evidence: facts.writingEvidence() }),
    facts.report('r1', { reportName: `All of ${NAME}` }),
    facts.alert('al1', {
      message: `User ${ID} has 3 bot sessions`,
      alertUrl: `https://x.example/?user=${encodeURIComponent(ID)}`,
    }),
  ]);
  await customer.post('/v1/sessions/s1/label', { verdict: 'bot', notes: `ask ${NAME}` });
  await customer.post('/v1/sessions/s3/label', { verdict: 'human', notes: `sat next to ${EMAIL}` });
  await customer.post(userPath(ID, 'devices', 'laptop', 'confirm'), { notes: `her own, says ${EMAIL}` });
  const at = { 'x-integration-id': customer.id };
  const made = [
    await admin.mutate(
      'savedViews.create',
      { page: 'sessions', name: 'Ada', query: `userId=${encodeURIComponent(ID)}` },
      at,
    ),
    await admin.mutate('alertRules.create', RULE_OF_ADA, at),
    await admin.mutate('reports.createSchedule', SCHEDULE_OF_ADA, at),
  ];
  expect(made.map(({ status, text }) => [status, text])).toEqual(made.map(({ text }) => [200, text]));
  // As if retention had removed a session.
  await server.database.db.sql`
    insert into pruned_ends (integration_id, kind, value, first_seen_at, last_seen_at)
    values (${customer.id}, 'user', ${ID}, now() - interval '1 hour', now() - interval '1 hour')`;
  return customer;
}

/** What becomes of columns that name nobody, or not for long. */
const NAMES_NOBODY: Fate[] = ['measured', 'ours', 'settings', 'expiring', 'working'];
/** What `createAda` does not fill: the engine and the pixel write it ("a report" and "what the pixel sent"), or it is under way. */
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
    receiver.answer = ({ body }) => {
      const isOfAda = JSON.parse(body).userId === ID;
      receiver.answerHeaders = isOfAda ? { 'retry-after': `when ${NAME} is back` } : {};
      receiver.answerBody = isOfAda ? `no place for ${NAME}` : '';
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
      expect(findInDump(await dumpDatabase(db), TEXTS).length).toBeGreaterThan(20);
      return readTotals(customer);
    });
    expect(before.users.map(({ id }: { id: string }) => id)).toContain(ID);

    const receipt = await eraseFully(customer);
    Object.assign(receiver, { answer: () => 200, answerHeaders: {}, answerBody: '' });
    expect(findInDump(await dumpDatabase(db), TEXTS)).toEqual([]);
    const emptied = COLUMNS_OF_PEOPLE.filter(({ fate }) => fate === 'emptied');
    // Of the address of a page its origin stays.
    expect(await listHeld(customer, emptied, ['s1', 's2'])).toEqual(['sessions.page_url']);
    expect(await readTotals(customer)).toEqual(before);
    await foldCounts(db);
    expect(await readTotals(customer)).toEqual(before);
    expect(findInDump(await dumpDatabase(db), TEXTS)).toEqual([]);

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

  it('lets no event about the user be sent again or recovered', async () => {
    const customer = await createAda();
    await eraseFully(customer);
    const readErased = () => server.database.db.sql<{ id: string; subscriptionId: string }[]>`
      select d.*, d.subscription_id as "subscriptionId" from webhook_deliveries d join domain_events e using (integration_id)
       where d.integration_id = ${customer.id} and e.id = d.event_id and e.payload = '{"erased":true}' order by d.id`;
    const erased = await readErased();
    expect(erased.length).toBeGreaterThan(3);
    const path = `/v1/webhooks/${erased[0]!.subscriptionId}`;
    const { status, body } = await customer.post(`${path}/deliveries/${erased[0]!.id}/resend`, {});
    expect([status, body.error.code]).toEqual([400, 'UNSUPPORTED_OPERATION']);
    expect(body.error.message).toBe('The event names a user who was erased: it is not sent again');
    const recovered = await customer.post(`${path}/recover`, { startDate: facts.secondsAgo(3_600) });
    expect(recovered.body.data).toMatchObject({ recovered: 0 });
    expect(await readErased()).toEqual(erased);
  });

  it('keeps sessions as they were counted, without what says who it was', async () => {
    const customer = await createAda();
    await eraseFully(customer);
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
    expect((await customer.get(userPath(ID))).status).toBe(404);
  });

  it('leaves what is about a user whose id contains theirs', async () => {
    const customer = await Customer.create(server);
    await customer.switchOffFindings();
    const [john, other] = ['john.smith', 'john.smith.2'].map((id) => ({ id, name: `Name of ${id.length}` }));
    for (const eventType of ['BotDetected', 'SessionAnomaly'])
      await customer.post('/v1/webhooks', { url: `${receiver.url}/${customer.id}`, eventType });
    await customer.accept([
      ...[facts.started('s1'), facts.correlated('s1', john!.id, { user: john })],
      ...[facts.started('s2'), facts.correlated('s2', other!.id, { user: other })],
      ...[facts.scored('s2', 0.95), facts.closed('s2')],
      facts.anomaly('a2', { userId: other!.id, metadata: { previousUserId: other!.id } }),
    ]);
    await customer.post(userPath(other!.id, 'devices', 'laptop', 'confirm'));
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
      const found = findInDump(await dumpDatabase(db), [other!.id]);
      return found.filter((row) => row.includes(customer.id) && !/^(webhook_|session_deltas)/.test(row)).length;
    };
    const exported = await customer.get(userPath(john!.id, 'export'));
    expect(exported.text).not.toContain(other!.id);
    const before = await readRest();
    expect(before).toBeGreaterThan(10);
    const receipt = await eraseFully(customer, john!.id);
    expect(receipt).toMatchObject({ sessionCount: 1, eventCount: 1, deliveryCount: 0 });
    expect(await readRest()).toBe(before);
    expect(
      await db.sql`select 1 from webhook_deliveries where integration_id = ${customer.id} and status = 'PoisonAborted'`,
    ).toEqual([]);
  });

  it('finds a Turkish name in capitals', async () => {
    const ayse = { id: 'ayse-77', name: 'Ayşe Işık İlhan' };
    const customer = await Customer.create(server, [
      ...[facts.started('s1'), facts.correlated('s1', ayse.id, { user: ayse })],
      facts.alert('al1', { message: 'İstanbul: AYŞE IŞIK İLHAN' }),
    ]);
    await eraseFully(customer, ayse.id);
    const [alert] = await server.database.db.sql`select message from alerts where integration_id = ${customer.id}`;
    expect(alert).toEqual({ message: 'İstanbul: [erased]' });
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
    await eraseFully(customer);
    expect(await hashTenantRows(db, other.id)).toEqual(before);
    const { body } = await erase(other);
    expect((await customer.get(`/v1/user-erasures/${body.data.id}`)).status).toBe(404);
    await waitForReceipt(other, body.data.id);
  });

  it('is in the list of users with all their figures while their sessions still have the old id', async () => {
    const customer = await createAda();
    const readUser = async () => {
      const users: Record<string, unknown>[] = await customer.read('/v1/users');
      const { id, name, email, url, ...figures } = users.find((user) => user.id !== BEN.id)!;
      return { id, figures };
    };
    const before = await readUser();
    expect(before.figures).toMatchObject({ maxBotScore: 0.95, firstSeenAt: expect.any(String) });
    await eraseWithPause(customer, async () => {
      const { id, figures } = await readUser();
      expect(id).toMatch(/^erased-/);
      expect(figures).toEqual(before.figures);
    });
  });

  it('leaves the user where they were in the orders, whatever is folded meanwhile', async () => {
    const customer = await createAda();
    const { db } = server.database;
    await db.sql`
      update sessions set created_at = created_at - interval '1 day', bot_score = 0.1, score_bin = 10
       where integration_id = ${customer.id} and id = 's2'`;
    await foldCounts(db);
    const readEnds = () => db.sql`
      select last_seen_at, max_bot_score from entity_totals
       where integration_id = ${customer.id} and kind = 'user' and value <> ${BEN.id}`;
    const before = await readEnds();
    expect(before).toMatchObject([{ max_bot_score: 0.95 }]);
    await eraseWithPause(customer, async () => {
      // As after a fold when only one session has the pseudonym. Then an older one changes.
      await db.sql`
        update entity_totals set last_seen_at = last_seen_at - interval '1 hour', max_bot_score = 0.5
         where integration_id = ${customer.id} and value like 'erased-%'`;
      await db.sql`update sessions set event_count = 9 where integration_id = ${customer.id} and id = 's2'`;
    });
    expect(await readEnds()).toEqual(before);
  });

  it('goes on where a process died, and may repeat any step', async () => {
    const customer = await createAda();
    const before = await readTotals(customer);
    const { db } = server.database;
    const { continueErasure } = server.service.erasures.jobs;
    const key = await begin(customer);
    for (let step = 0; step < 9; step++) {
      // As after a crash before the record of the step: it begins again.
      await db.sql`update user_erasures set position = ${JSON.stringify({ step })}::text::jsonb where id = ${key.erasureId}`;
      const paused = await continueErasure(key);
      if (paused === null) break;
      await sleep(paused);
    }
    await waitForReceipt(customer, key.erasureId);
    expect(await readTotals(customer)).toEqual(before);
    expect(findInDump(await dumpDatabase(db), TEXTS)).toEqual([]);
  });

  it('counts exactly what it did, though each piece of work is followed by a fault', async () => {
    const { db } = server.database;
    receiver.answer = () => 500;
    const countAll = async (customer: Customer) => {
      const key = await begin(customer);
      // As if batches of the pixel had settled.
      await db.sql`update user_erasures set requested_at = requested_at - interval '1 minute' where id = ${key.erasureId}`;
      for (let pauseMs: number | null = 0; pauseMs !== null; ) {
        await sleep(pauseMs);
        pauseMs = await server.service.erasures.jobs.continueErasure(key).catch(() => 0);
      }
      const receipt: Record<string, unknown> = await customer.read(`/v1/user-erasures/${key.erasureId}`);
      return Object.fromEntries(Object.entries(receipt).filter(([name]) => name.endsWith('Count')));
    };
    const make = async () => {
      const customer = await createAda();
      const site = await openPageSite({ db, url: server.url }, customer);
      const tab = new Tab(site);
      await tab.send({ u: { id: ID, name: NAME }, p: [`${URL}`] });
      await tab.send({ u: { id: ID }, x: 1 });
      await requestReport(customer, { template: 'sessions', format: 'csv', days: 7 });
      await eventually(async () => expect((await customer.read('/v1/stats')).matchedSessions).toBe(4));
      return customer;
    };
    const undisturbed = await countAll(await make());
    expect(Object.entries(undisturbed).filter(([, count]) => count === 0)).toEqual([]);

    const customer = await make();
    await db.sql.unsafe(`
      create sequence test_faults;
      create function test_fail() returns trigger language plpgsql as $$
        begin if nextval('test_faults') % 2 = 1 then raise 'a fault'; end if; return new; end $$;
      create trigger test_fail before update of position on user_erasures for each row execute function test_fail()`);
    try {
      expect(await countAll(customer)).toEqual(undisturbed);
    } finally {
      await db.sql.unsafe('drop function test_fail cascade; drop sequence test_faults');
      receiver.answer = () => 200;
    }
  });

  it('is the same one if it is asked for again while it runs', async () => {
    const customer = await createAda();
    const [one, other] = await Promise.all([erase(customer), erase(customer)]);
    expect(one.body.data.id).toBe(other.body.data.id);
    await waitForReceipt(customer, one.body.data.id);
    const again = await eraseFully(customer);
    expect([again.id === one.body.data.id, again.sessionCount]).toEqual([false, 0]);
  });

  it('moves what is counted of the user while their sessions are being erased', async () => {
    const customer = await createAda();
    const { sql } = server.database.db;
    await sql.unsafe(`
      create function test_count() returns trigger language plpgsql as $$
        begin
          insert into incident_counts (integration_id, kind, scope, value, minute, type, severity, incidents)
          select new.integration_id, 'Anomaly', 'user', new.user_id, date_trunc('minute', now()), 'Late', 'low', 1
           where not exists (select from incident_counts where integration_id = new.integration_id and type = 'Late');
          return new;
        end $$;
      create trigger test_count before update of position on user_erasures for each row
        when (new.are_counts_moved and new.user_id is not null) execute function test_count()`);
    try {
      await eraseFully(customer);
    } finally {
      await sql.unsafe('drop function test_count cascade');
    }
    const late = await sql`
      select value, incidents from incident_counts where integration_id = ${customer.id} and type = 'Late'`;
    expect(late).toEqual([{ value: expect.stringMatching(/^erased/), incidents: '1' }]);
  });

  it('keeps facts that come meanwhile from staying', async () => {
    const customer = await createAda();
    let n = 0;
    const traffic = keepSending(3, async () => {
      n++;
      await customer.ingest([facts.started(`m${n}`), facts.correlated(`m${n}`, ID, { user: ADA })]);
      await customer.ingest([facts.scored('s1', 0.5 + n / 1e6, { scoredAt: facts.secondsAgo(1) })]);
    });
    await eraseFully(customer);
    await traffic.stop();
    expect(findInDump(await dumpDatabase(server.database.db), TEXTS)).toEqual([]);
    await expectCountsToFit(customer);
  });
});

/** Waits until the report is ready. Answers its id. */
async function requestReport(customer: Customer, input: object): Promise<string> {
  const { body } = await admin.mutate('reports.request', input, { 'x-integration-id': customer.id });
  const id = body.result.data.id as string;
  await waitUntil(async () => (await server.database.db.sql`select 1 from reports where id = ${id}`).length === 1);
  return id;
}

/** Begins an erasure. The engine may work on it too. */
async function begin(customer: Customer) {
  const { body } = await erase(customer);
  return { integrationId: customer.id, erasureId: body.data.id as string };
}

/** Erases a user, and does something when the counts have the pseudonym and no session has it yet. Waits for the end. */
async function eraseWithPause(customer: Customer, act: () => Promise<void>) {
  const { sql } = server.database.db;
  const key = await begin(customer);
  await sql.unsafe(`
    create function test_fail() returns trigger language plpgsql as $$ begin raise 'a fault'; end $$;
    create trigger test_fail before update of user_id on sessions for each row execute function test_fail()`);
  try {
    await expect(
      (async () => {
        for (;;) await sleep((await server.service.erasures.jobs.continueErasure(key)) ?? 0);
      })(),
    ).rejects.toThrow('a fault');
    await act();
  } finally {
    await sql.unsafe('drop function test_fail cascade');
  }
  await waitForReceipt(customer, key.erasureId);
}

/** The counts by user equal those of the sessions. */
async function expectCountsToFit(customer: Customer) {
  const { db } = server.database;
  await foldCounts(db);
  const counted = await db.sql`
    select value, sum(sessions)::int as n from entity_rollups where integration_id = ${customer.id} and kind = 'user'
     group by value having sum(sessions) <> 0 order by 1`;
  const stored = await db.sql`
    select user_id as value, count(*)::int as n from sessions where integration_id = ${customer.id} and user_id is not null
     group by user_id order by 1`;
  expect([...counted]).toEqual([...stored]);
  const sorted = await db.sql`
    select value, sessions::int as n from entity_totals where integration_id = ${customer.id} and kind = 'user' and sessions <> 0
     order by 1`;
  expect([...sorted]).toEqual([...stored]);
  await expectExactOutcomes(db);
}

describe('a user who was erased', () => {
  it('is refused in later facts, which say so', async () => {
    const customer = await createAda();
    await erase(customer);
    const refused = [
      facts.correlated('s3', ID, { user: ADA }),
      facts.anomaly('x1', { userId: ID }),
      facts.anomaly('x2', { metadata: { others: [{ id: ID }] } }),
      facts.writing('x3', 0.5, { userId: ID }),
    ];
    for (const fact of refused) {
      const { status, body } = await customer.ingest([facts.started('x'), fact]);
      expect([status, body.error.data.factIndex]).toEqual([400, 1]);
      expect(body.error.message).toBe('names a user who was erased; facts about them are refused');
    }
    expect((await customer.get('/v1/sessions/x')).status).toBe(404);
    const confirmed = await customer.post(userPath(ID, 'devices', 'laptop', 'confirm'));
    expect([confirmed.status, confirmed.body.error.code]).toEqual([400, 'UNSUPPORTED_OPERATION']);
    // In another integration they are somebody else.
    const other = await Customer.create(server, [facts.started('s'), facts.correlated('s', ID)]);
    expect((await other.get(userPath(ID))).status).toBe(404);
  });

  it('is named by no rule and no saved list that comes from a page that was open before', async () => {
    const customer = await createAda();
    const at = { 'x-integration-id': customer.id };
    const read = async () => (await admin.query('alertRules.list', {}, at)).body.result.data[0];
    const { id, version } = await read();
    await eraseFully(customer);
    const erased = 'The user was erased: nothing is stored about them';
    const view = { page: 'sessions', name: 'Hers', query: String(new URLSearchParams({ userId: ID })) };
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
    const rows = findInDump(await dumpDatabase(server.database.db), TEXTS);
    expect(rows.filter((row) => row.includes(customer.id))).toEqual([]);
  });

  it('may come back when the refusal is over', async () => {
    const customer = await createAda();
    const { id } = await eraseFully(customer);
    const { db } = server.database;
    await db.sql`update user_erasures set refused_until = now() - interval '1 ms' where id = ${id}`;
    await customer.accept([facts.started('y'), facts.correlated('y', ID, { user: ADA })]);
    await server.service.erasures.jobs.wakeErasures();
    const [row] = await db.sql`select user_hash from user_erasures where id = ${id}`;
    expect(row!.user_hash).toBeNull();
  });

  it('stays in the audit log as a keyed hash', async () => {
    const customer = await createAda();
    await eraseFully(customer);
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

describe('a report', () => {
  it('goes with its file if it names the user, and stays if it does not', async () => {
    const customer = await createAda();
    const { db } = server.database;
    const make = (input: object) => requestReport(customer, input);
    const named = await make({ template: 'sessions', format: 'csv', days: 7 });
    const pdf = await make({ template: 'sessions', format: 'pdf', days: 7 });
    await customer.accept([
      facts.started('s9'),
      facts.correlated('s9', 'carl', { user: { id: 'carl', name: 'Carl' } }),
    ]);
    const ofCarl = await make({ template: 'user-evidence', format: 'json', userId: 'carl', days: 7 });
    const receipt = await eraseFully(customer);
    expect(receipt.reportCount).toBe(2);
    const left = await db.sql`select id from report_jobs where integration_id = ${customer.id}`;
    expect(left.map(({ id }) => id)).toEqual([ofCarl]);
    const chunks =
      await db.sql`select distinct report_id as id from report_chunks where integration_id = ${customer.id}`;
    expect(chunks.map(({ id }) => id)).toEqual([ofCarl]);
    expect([named, pdf]).not.toContain(ofCarl);
  });

  it('goes if it may name a user with a short id who has no session in its window now', async () => {
    const customer = await Customer.create(server);
    const { db } = server.database;
    const [id, name] = ['4711', 'Ada Lovelace'];
    const daysAgo = (days: number) => facts.secondsAgo(days * 86_400);
    const inCourse = (n: number) => ({ pageUrl: `https://lms.example.edu/courses/${n}` });
    const ofAda = (at: string) => ({ user: { id, name }, correlatedAt: at });
    const carl = { user: { id: 'carl', name: 'Carl' } };
    await customer.accept([
      facts.started('old', { ...inCourse(1), startedAt: daysAgo(40) }),
      facts.correlated('old', id, ofAda(daysAgo(40))),
      facts.started('lent', inCourse(1)),
      facts.correlated('lent', id, ofAda(facts.secondsAgo(30))),
      facts.started('other', inCourse(2)),
      facts.correlated('other', 'carl', carl),
    ]);
    await foldCounts(db);
    const courses: { id: string; url: string }[] = await customer.read('/v1/courses');
    const [hers, his] = [1, 2].map((n) => courses.find(({ url }) => url.endsWith(`/${n}`))!.id);
    const whileHers = await requestReport(customer, { template: 'sessions', format: 'csv', days: 1 });
    // Since then the session is somebody else's.
    await customer.accept([facts.correlated('lent', 'carl', { ...carl, correlatedAt: facts.secondsAgo(1) })]);
    const made = new Map([[whileHers, 'a session that was theirs']]);
    const course = { template: 'course-integrity', days: 7 };
    const inputs = [
      ['her course', { ...course, courseId: hers, format: 'csv' }],
      ['her course', { ...course, courseId: hers, format: 'pdf' }],
      ['his course', { ...course, courseId: his, format: 'pdf' }],
      ['removed sessions', { template: 'sessions', format: 'pdf', days: 60 }],
    ] as const;
    const request = async ([title, input]: (typeof inputs)[number]) =>
      made.set(await requestReport(customer, input), `${input.format} of ${title}`);
    await Promise.all(inputs.map(request));
    const [ofCourse] = [...made].find(([, title]) => title === 'csv of her course')!;
    const download = () => customer.get(`/reports/${ofCourse}/download`);
    expect((await download()).text).toContain(`\r\n${id},${name},0,`);
    await db.sql`update integrations set plan = 'free' where id = ${customer.id}`;
    await pruneSessions(db);
    expect((await customer.get('/v1/sessions/old')).status).toBe(404);

    const { reportCount } = await eraseFully(customer, id);
    const left = await db.sql`select id from report_jobs where integration_id = ${customer.id}`;
    expect(left.map((row) => made.get(row.id)).sort()).toEqual(['pdf of his course']);
    expect([reportCount, (await download()).status]).toEqual([4, 404]);
  });
});

describe('what the pixel sent', () => {
  const u = { id: ID, name: NAME, email: EMAIL, url: URL };
  const p = [`https://lms.example.edu/people/augusta-4711?tab=profile&id=1`];

  /** Reads all that is kept of what pages sent, unpacked. */
  async function readSent(customer: Customer): Promise<string[]> {
    const { db } = server.database;
    const batches = await db.sql<{ body: Buffer }[]>`
      select b.body from session_batches b join collected_sessions c on c.key = b.session_key where c.integration_id = ${customer.id}`;
    const traces = await db.sql<{ body: Buffer }[]>`
      select t.body from session_traces t join collected_sessions c on c.key = t.session_key where c.integration_id = ${customer.id}`;
    return [
      ...batches.map(({ body }) => JSON.stringify(unpackBatch(body, { d: '', n: 0, receivedAtMs: 0 }))),
      ...traces.map(({ body }) => JSON.stringify(unpackTrace(body))),
    ];
  }
  const matchedSessions = async (customer: Customer) => (await customer.read('/v1/stats')).matchedSessions;

  it('goes; open sessions go on as nobody’s, and later ones begin so', async () => {
    const customer = await Customer.create(server);
    const site = await openPageSite({ db: server.service.db, url: server.url }, customer);
    const [ended, open] = [new Tab(site), new Tab(site)];
    await ended.send({ u, p });
    await ended.send({ u, x: 1 });
    await open.send({ u, p });
    await eventually(async () => expect(await matchedSessions(customer)).toBe(2));
    await server.service.collector.sweep();
    await eventually(async () => expect((await readSent(customer)).some((one) => one.startsWith('['))).toBe(true));

    const { body } = await erase(customer);
    // Processes know of it after a second at most.
    const late = new Tab(site);
    await late.send({ u, p });
    await open.send({ u });
    await waitForReceipt(customer, body.data.id);
    await open.send({ u });
    const later = new Tab(site);
    await later.send({ u });
    await eventually(async () => expect((await customer.read('/v1/sessions')).length).toBe(4));
    const sent = await readSent(customer);
    expect(sent.length).toBeGreaterThan(3);
    expect(sent.filter((one) => TEXTS.slice(0, 3).some((text) => one.includes(text)))).toEqual([]);
    const rows = findInDump(await dumpDatabase(server.database.db), TEXTS.slice(0, 3));
    expect(rows.filter((row) => row.includes(customer.id))).toEqual([]);
    expect(await matchedSessions(customer)).toBe(2);
    const kept = await server.database.db
      .sql`select 1 from session_traces t join collected_sessions c on c.key = t.session_key where c.integration_id = ${customer.id}`;
    expect(kept.length).toBe(0);
    await expectCountsToFit(customer);
  });

  it('goes from an open session of somebody who is known more surely', async () => {
    const customer = await Customer.create(server);
    const site = await openPageSite({ db: server.service.db, url: server.url }, customer);
    const tab = new Tab(site);
    await tab.send({ u: { id: 'somebody-else', lms: 1 } });
    await tab.send({ u });
    await eventually(async () => expect(await matchedSessions(customer)).toBe(1));
    const { body } = await erase(customer);
    await waitForReceipt(customer, body.data.id);
    const sent = await readSent(customer);
    expect(sent).toHaveLength(2);
    expect(sent.filter((one) => TEXTS.slice(0, 3).some((text) => one.includes(text)))).toEqual([]);
    expect(sent.filter((one) => one.includes('somebody-else'))).toHaveLength(1);
    await tab.send({ u: { id: 'somebody-else', lms: 1 } });
    expect((await customer.read('/v1/sessions'))[0]).toMatchObject({ userId: 'somebody-else' });
  });
});

describe('a page that two users shared', () => {
  it('goes on as that of the other one, if the first is erased', async () => {
    const customer = await Customer.create(server);
    const site = await openPageSite({ db: server.service.db, url: server.url }, customer);
    const tab = new Tab(site);
    const readUser = async () => (await customer.read('/v1/sessions'))[0]?.userId;
    for (const id of [ID, 'somebody-else']) {
      await tab.send({ u: { id, lms: 1 } });
      await eventually(async () => expect(await readUser()).toBe(id));
    }
    const { body } = await erase(customer);
    await waitForReceipt(customer, body.data.id);
    const [row] = await server.database.db.sql`
      select progress #>> '{user,id}' as "userId" from collected_sessions where integration_id = ${customer.id}`;
    expect([row!.userId, await readUser()]).toEqual(['somebody-else', 'somebody-else']);
  });

  it('has events about each of them, of which the erasure and the export of one leave out those about the other', async () => {
    const customer = await Customer.create(server);
    await customer.switchOffFindings();
    for (const eventType of ['SessionCorrelated', 'SessionAnomaly'])
      await customer.post('/v1/webhooks', { url: `${receiver.url}/${customer.id}`, eventType });
    await customer.accept([
      facts.started('shared'),
      facts.correlated('shared', BEN.id, { user: BEN, correlatedAt: facts.secondsAgo(19) }),
      facts.anomaly('of-ben', { sessionId: 'shared', userId: BEN.id, metadata: { distanceKm: 900 } }),
      facts.correlated('shared', ID, { user: ADA, correlatedAt: facts.secondsAgo(9) }),
      facts.anomaly('of-nobody', { sessionId: 'shared', userId: null }),
    ]);
    const exported = await customer.get(userPath(ID, 'export'));
    expect(exported.text).not.toContain(BEN.id);
    expect(exported.body.data.webhookEvents.map(({ type }: { type: string }) => type)).toEqual([
      ...['SessionCorrelated', 'SessionAnomaly'],
    ]);
    const { eventCount } = await eraseFully(customer);
    const anomalies = await server.database.db.sql`
      select user_id as "userId", metadata from anomalies where integration_id = ${customer.id} order by id`;
    expect([...anomalies]).toEqual([
      { userId: BEN.id, metadata: { distanceKm: 900 } },
      { userId: expect.stringMatching(/^erased-/), metadata: null },
    ]);
    const events: { payload: string }[] = await customer.read('/v1/webhook-events');
    const left = events.map(({ payload }) => JSON.parse(payload)).filter(({ erased }) => !erased);
    expect(left.map(({ userId }) => userId)).toEqual([BEN.id, BEN.id]);
    expect(eventCount).toBe(2);
  });
});

/** Lists the objects in a JSON value, and itself if it is one. */
function listObjects(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(listObjects);
  return Array.isArray(value) ? inside : [value as Record<string, unknown>, ...inside];
}

describe('an export', () => {
  it('has all that is held about the user, as one file', async () => {
    const customer = await createAda();
    for (const name of ['users.confirmDevice', 'users.revokeDevice']) {
      const device = { userId: ID, fingerprint: 'phone' };
      expect((await admin.mutate(name, device, { 'x-integration-id': customer.id })).status).toBe(200);
    }
    const answer = await customer.get(userPath(ID, 'export'));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="user lms_ada lovelace-4711.json"/,
    );
    const { data } = answer.body;
    expect(data.user).toEqual(ADA);
    expect(data.sessions.map(({ id }: { id: string }) => id)).toEqual(['s1', 's2']);
    expect(data.sessions[0]).toMatchObject({
      labelNotes: `ask ${NAME}`,
      events: [{ url: URL }],
      scores: [{ botScore: 0.95 }],
    });
    expect(data.devices).toMatchObject([{ fingerprint: 'laptop' }]);
    expect(data.anomalies).toMatchObject([{ id: 'a1', metadata: { email: EMAIL } }]);
    expect(data.writing).toMatchObject([{ sessionId: 'w1' }]);
    expect(data.alerts).toMatchObject([{ id: 'al1' }]);
    expect(data.webhookEvents.map(({ type }: { type: string }) => type).sort()).toEqual([
      ...[
        'AlertTriggered',
        'BotDetected',
        'ReportReady',
        'SessionAnomaly',
        'SessionAnomaly',
        'SessionCorrelated',
        'SessionCorrelated',
      ],
      'WritingSessionScored',
    ]);
    expect(data.auditEntries.map(({ action }: { action: string }) => action)).toEqual([
      ...['DeviceConfirmed', 'AlertRuleCreated', 'ReportScheduled'],
      ...['DeviceConfirmed', 'DeviceConfirmationRevoked'],
    ]);
    expect(data.auditEntries.at(-1).details).toEqual({ fingerprint: 'phone', confirmedAt: expect.any(String) });
    for (const name of [admin.email, admin.id]) expect(answer.text).not.toContain(name);
    expect(answer.text).not.toContain(customer.key.slice(-4));
  });

  it('has the matches with sessions that others had afterwards, in one tab, and not those of the others', async () => {
    const customer = await createAda();
    await customer.accept([
      facts.started('shared'),
      facts.correlated('shared', ID, { user: ADA, correlatedAt: facts.secondsAgo(19) }),
      facts.correlated('shared', BEN.id, { user: BEN, correlatedAt: facts.secondsAgo(9) }),
    ]);
    const { data } = (await customer.get(userPath(ID, 'export'))).body;
    expect(data.matches).toEqual([
      {
        sessionId: 'shared',
        userId: ID,
        confidence: expect.any(Number),
        correlatedAt: expect.any(String),
        contextId: null,
      },
    ]);
    expect(data.sessions.map(({ id }: { id: string }) => id)).toEqual(['s1', 's2']);
    const ben = (await customer.get(userPath(BEN.id, 'export'))).body.data;
    expect(ben.sessions.map(({ id }: { id: string }) => id).sort()).toEqual(['s3', 'shared']);
    expect(ben.sessions.at(-1).matches).toMatchObject([{ userId: BEN.id }]);
    expect(ben.matches).toEqual([]);
  });

  it('has rows of each table that names users by their ids', async () => {
    const { data } = (await (await createAda()).get(userPath(ID, 'export'))).body;
    const rows = listObjects(data).filter(({ userId }) => userId === ID);
    // Sessions have their parts besides, the deltas repeat them, and the row of an erasure is a receipt.
    const others = ['sessions', 'session_deltas', 'user_erasures'];
    const missing = Object.values(schema as Record<string, unknown>)
      .filter((table) => is(table, PgTable))
      .filter((table) => 'userId' in getTableColumns(table) && !others.includes(getTableName(table)))
      .filter((table) => !rows.some((row) => Object.keys(row).every((name) => name in getTableColumns(table))))
      .map((table) => getTableName(table));
    expect(missing).toEqual([]);
  });

  it('has rows as they are stored, and nothing of how they were read', async () => {
    const { data } = (await (await createAda()).get(userPath(ID, 'export'))).body;
    const fieldsOf = ([first]: object[]) => Object.keys(first!).sort().join(' ');
    const [session] = data.sessions;
    expect(session).not.toHaveProperty('key');
    expect(fieldsOf(session.events)).toBe('durationMs eventCount metadata sequence sessionId timestamp type url');
    expect(fieldsOf(session.scores)).toBe(
      'botScore detectionFlags evidence ruleSetVersion scoredAt segments sessionId',
    );
    expect(fieldsOf(session.matches)).toBe('confidence contextId correlatedAt sessionId userId');
    expect(fieldsOf(session.verdicts)).toBe(
      'actorKind botAt botScore confidence decidedAt isUndo label mediumAt notes reasons ruleSetVersion sessionId',
    );
    expect(fieldsOf(data.devices)).toBe('confirmedAt fingerprint firstConfirmedAt notes userId');
    expect(fieldsOf(data.anomalies)).toBe(
      'acknowledgedAt detectedAt fingerprint id metadata resolvedAt sessionId severity type userId',
    );
    expect(fieldsOf(data.writing)).toBe(
      'aiScore browsingSessionId documentId evidence scoredAt sessionId userId wordCount',
    );
    expect(fieldsOf(data.alerts)).toBe(
      'acknowledgedAt id message resolvedAt ruleId severity triggeredAt url windowEnd windowStart',
    );
    expect(fieldsOf(data.webhookEvents)).toBe('createdAt ended id payload position type');
    expect(fieldsOf(data.auditEntries)).toBe('action actorKind details id occurredAt subjectId');
  });

  it('has each entry of a long audit log that mentions the user once', async () => {
    const customer = await createAda();
    await server.database.db.sql`
      insert into audit_entries (id, occurred_at, action, actor_kind, integration_id, subject_id, details)
      select 'aud_many_' || n, now() - (n % 3) * interval '1 hour', 'SessionLabeled', 'ApiKey', ${customer.id}, 'other',
             jsonb_build_object('n', n, 'notes', case when n % 500 = 0 then ${NAME} else 'nobody' end)
        from generate_series(1, 5000) n`;
    const { data } = (await customer.get(userPath(ID, 'export'))).body;
    const many = data.auditEntries.filter(({ subjectId }: { subjectId: string }) => subjectId === 'other');
    const found = many.map(({ details }: { details: { n: number } }) => details.n);
    expect(found.sort((a: number, b: number) => a - b)).toEqual(Array.from({ length: 10 }, (_, i) => 500 * (i + 1)));
  });

  it('reads what a session has in pieces, however much that is', async () => {
    const customer = await createAda();
    const { sql } = server.database.db;
    // A page of somebody who wants the export to fail, and a program that labels again and again.
    await sql`
      insert into session_events (integration_id, session_id, sequence, type, timestamp, url, event_count)
      select ${customer.id}, 's1', n, 'navigation', now(), 'https://lms.example.edu/' || repeat('x', 2000), 1
        from generate_series(1, 1999) n`;
    await sql`
      insert into session_verdicts (integration_id, session_id, decided_at, label, notes, actor_kind)
      select ${customer.id}, 's1', now(), 1, repeat('x', 1000), 'ApiKey' from generate_series(1, 1000) n`;
    const context = { db: server.service.db, integration: { id: customer.id } } as DomainContext;
    const pieces: string[] = [];
    for await (const piece of writeUserExport(context, ID)) pieces.push(piece);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(600_000);
    const [session, other] = JSON.parse(pieces.join('')).sessions;
    expect(session.events.map(({ sequence }: { sequence: number }) => sequence)).toEqual([...Array(2000).keys()]);
    expect(session.verdicts).toHaveLength(1001);
    expect(other).toMatchObject({ id: 's2', events: [], scores: [] });
  });

  it('looks through long events a few at a time', async () => {
    const customer = await createAda();
    await server.database.db.sql`
      insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
      select ${customer.id}, 'evt_long_' || n, 'SessionAnomaly', 'long ' || n,
             json_build_object('userId', ${ID}::text, 'metadata', repeat('x', 16000))::text, now()
        from generate_series(1, 600) n`;
    const sizes: number[] = [];
    const query: Query = async <Found extends object>(...asked: Parameters<Query>) => {
      const rows = await server.service.db.query<Found>(...asked);
      sizes.push(JSON.stringify(rows).length);
      return rows;
    };
    const context = { db: { ...server.service.db, query }, integration: { id: customer.id } } as DomainContext;
    let text = '';
    for await (const piece of writeUserExport(context, ID)) text += piece;
    const long = JSON.parse(text).webhookEvents.filter(({ id }: { id: string }) => id.startsWith('evt_long_'));
    expect(new Set(long.map(({ id }: { id: string }) => id)).size).toBe(600);
    expect(long).toHaveLength(600);
    expect(Math.max(...sizes)).toBeLessThan(10_000_000);
  });

  it('is 404 for a user of another integration', async () => {
    await createAda();
    const other = await Customer.create(server);
    expect((await other.get(userPath(ID, 'export'))).status).toBe(404);
  });
});
