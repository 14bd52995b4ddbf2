import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { foldCounts } from './count-rows';
import { Customer, pathOf } from './customer';
import { eventually } from './eventually';
import * as facts from './facts';
import { expectExactOutcomes } from './outcome-counts';
import { type Receiver, startReceiver, waitUntil } from './receiver';
import type { TestServer } from './server';
import { createStaffClient, type StaffClient, startStaffServer } from './staff-client';

// Ada, a person whose data tests erase and export, and the server that they do it with.

/** The user who is erased. */
export const ADA = {
  id: 'lms/ada lovelace-4711',
  name: 'Augusta Ada Lovelace',
  email: 'ada.lovelace@analytical.example',
  url: 'https://lms.example.edu/people/augusta-4711?tab=profile',
};
/** What names her. */
export const TEXTS_OF_ADA = [ADA.id, ADA.name, ADA.email, ADA.url, 'augusta-4711'];
/** Somebody else, who stays. */
export const BEN = { id: 'ben-1815', name: 'Ben Babbage', email: 'ben@example.edu' };

/** Exist while tests run. */
export let server: TestServer;
export let webhookReceiver: Receiver;
export let admin: StaffClient;

/** Starts them before the first test of a file, and stops them after its last one. */
export function shareErasureServer(): void {
  beforeAll(async () => {
    webhookReceiver = await startReceiver();
    server = await startStaffServer({
      WEBHOOK_ALLOW_HOSTS: webhookReceiver.host,
      WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1',
      SESSION_IDLE: '1h',
      // The first attempt fails, so that deliveries wait.
      WEBHOOK_RETRY_DELAYS: '0s,1h,1h,1h,1h,1h',
    });
    admin = await createStaffClient(server, 'admin');
  });
  afterAll(async () => {
    await server?.stop();
    await webhookReceiver?.stop();
  });
}

/** Makes the path of a user, or of something below it. */
export const makeUserPath = (id: string, ...more: string[]) => pathOf('v1', 'users', id, ...more);

/** Asks for the erasure of a user. Does not wait for its end. */
export const eraseUser = (customer: Customer, id = ADA.id) =>
  server.call('DELETE', makeUserPath(id), { key: customer.key });

/** Erases a user and waits for the end. Returns the receipt. */
export async function eraseUserFully(customer: Customer, id = ADA.id) {
  const { status, body } = await eraseUser(customer, id);
  expect([status, body.data.status]).toEqual([200, 'Running']);
  await waitForReceipt(customer, body.data.id);
  return customer.read(`/v1/user-erasures/${body.data.id}`);
}

/** Waits until the receipt says that the erasure is done. */
export const waitForReceipt = (customer: Customer, id: string) =>
  eventually(async () => expect((await customer.read(`/v1/user-erasures/${id}`)).status).toBe('Completed'));

/** Begins an erasure. The engine may work on it too. */
export async function beginErasure(customer: Customer) {
  const { body } = await eraseUser(customer);
  return { integrationId: customer.id, erasureId: body.data.id as string };
}

/** Erases a user, and does something when the counts have the pseudonym and no session has it yet. Waits for the end. */
export async function eraseUserWithPause(customer: Customer, act: () => Promise<void>) {
  const { sql } = server.database.db;
  const key = await beginErasure(customer);
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

/** Requests a report and waits until it is ready. Returns its id. */
export async function makeReport(customer: Customer, input: object): Promise<string> {
  const { body } = await admin.mutate('reports.request', input, { 'x-integration-id': customer.id });
  const id = body.result.data.id as string;
  await waitUntil(async () => (await server.database.db.sql`select 1 from reports where id = ${id}`).length === 1);
  return id;
}

/** Reads everything that counts sessions, users and courses, with who is in it left out. */
export async function readTotals(customer: Customer) {
  const hide = (text: string) => text.replaceAll(/erased-[0-9a-f]{32}/g, ADA.id);
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

/** Checks that the counts by user equal those of the sessions. */
export async function expectCountsToFit(customer: Customer) {
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

const PLACE = { latitude: 51.5, longitude: -0.1, accuracyKm: 20 };

/** An alert rule and the schedule of a report, as the dashboard sends them. They name her. */
export const RULE_OF_ADA = {
  ...{ name: `Watch ${ADA.name}`, metric: 'botSessions', scope: { kind: 'user', value: ADA.id }, windowMinutes: 10 },
  ...{ comparison: 'gte', value: 9, severity: 'high', message: `{{value}} bot sessions of ${ADA.email}` },
};
export const SCHEDULE_OF_ADA = {
  ...{ template: 'user-evidence', format: 'csv', userId: ADA.id, days: 7, name: `All of ${ADA.name}` },
  ...{ cadence: 'daily', hour: 3, timeZone: 'UTC' },
};

/** Creates a customer of whom everything that may name a user does name Ada. */
export async function createAda() {
  const customer = await Customer.create(server);
  await customer.switchOffFindings();
  for (const eventType of ['BotDetected', 'SessionAnomaly', 'SessionCorrelated', 'AlertTriggered'])
    await customer.post('/v1/webhooks', { url: `${webhookReceiver.url}/${customer.id}`, eventType });
  const pageUrl = `${ADA.url}&of=${encodeURIComponent(ADA.id)}`;
  await customer.accept([
    facts.started('s1', { pageUrl, deviceFingerprint: 'laptop', country: 'DE', location: PLACE }),
    facts.correlated('s1', ADA.id, { user: ADA, contextId: 'course-42' }),
    facts.happened('s1', [{ sequence: 0, url: ADA.url, metadata: { who: ADA.name } }]),
    facts.scored('s1', 0.95, { evidence: [facts.finding('typing', { measured: ADA.id })] }),
    facts.closed('s1'),
    facts.started('s2', { deviceFingerprint: 'phone' }),
    facts.correlated('s2', ADA.id, { user: ADA, correlatedAt: facts.secondsAgo(19) }),
    facts.failed('s2', { reason: `no trace of ${ADA.email}` }),
    facts.started('s3', {
      pageUrl: `https://lms.example.edu/people/augusta-4711?tab=profile`,
      deviceFingerprint: 'desk',
    }),
    facts.correlated('s3', BEN.id, { user: BEN }),
    facts.happened('s3', [{ sequence: 0, url: pageUrl, metadata: { seen: `profile of ${ADA.name.toLowerCase()}` } }]),
    facts.scored('s3', 0.2, { evidence: [facts.finding('typing', { expected: `as ${ADA.name}` })] }),
    facts.closed('s3'),
    facts.started('s4', { pageUrl: `https://lms.example.edu/courses/course-v1:${encodeURIComponent(ADA.id)}/course` }),
    facts.anomaly('a1', { sessionId: 's1', metadata: { email: ADA.email, distanceKm: 900 } }),
    facts.anomaly('a2', { sessionId: 's3', metadata: { previousUserId: ADA.id, minutesBetween: 3 } }),
    facts.writing('w1', 0.4, { userId: ADA.id, documentId: `essay of ${ADA.id}`, evidence: facts.writingEvidence() }),
    facts.report('r1', { reportName: `All of ${ADA.name}` }),
    facts.alert('al1', {
      message: `User ${ADA.id} has 3 bot sessions`,
      alertUrl: `https://x.example/?user=${encodeURIComponent(ADA.id)}`,
    }),
  ]);
  await customer.post('/v1/sessions/s1/label', { verdict: 'bot', notes: `ask ${ADA.name}` });
  await customer.post('/v1/sessions/s3/label', { verdict: 'human', notes: `sat next to ${ADA.email}` });
  await customer.post(makeUserPath(ADA.id, 'devices', 'laptop', 'confirm'), { notes: `her own, says ${ADA.email}` });
  const at = { 'x-integration-id': customer.id };
  const made = [
    await admin.mutate(
      'savedViews.create',
      { page: 'sessions', name: 'Ada', query: `userId=${encodeURIComponent(ADA.id)}` },
      at,
    ),
    await admin.mutate('alertRules.create', RULE_OF_ADA, at),
    await admin.mutate('reports.createSchedule', SCHEDULE_OF_ADA, at),
  ];
  expect(made.map(({ status, text }) => [status, text])).toEqual(made.map(({ text }) => [200, text]));
  // As if retention had removed a session.
  await server.database.db.sql`
    insert into pruned_ends (integration_id, kind, value, first_seen_at, last_seen_at)
    values (${customer.id}, 'user', ${ADA.id}, now() - interval '1 hour', now() - interval '1 hour')`;
  return customer;
}
