import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COURSE_SORTS, SESSION_SORTS, USER_SORTS } from '../../contract/sorting';
import { asOperator } from '../../server/audit/acts';
import { createCollector } from '../../server/collector/collector';
import { createPartitions, pruneTraces } from '../../server/collector/retention';
import { revokeKey } from '../../server/domain/api-keys';
import { listLatestAuditEntries, pruneAuditEntries } from '../../server/domain/audit-entries';
import { listIntegrations } from '../../server/domain/integrations';
import { foldIncidents, recountMinutes } from '../../server/domain/minute-counts';
import { pruneRateWindows } from '../../server/domain/rate-windows';
import { pruneFindings, pruneReviewDraws, pruneSessions } from '../../server/domain/retention';
import { drawReviewSamples } from '../../server/domain/review-draws';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { checkSite } from '../../server/domain/site-checks';
import { findSite, listAllSites, markReceiving, revokeSite } from '../../server/domain/sites';
import { foldOutcomes } from '../../server/domain/usage';
import { type Fact, factSchema } from '../../server/pipeline/facts';
import { appRouter } from '../../server/procedures/router';
import { setIntegrationPlan } from '../../server/webhooks/plans';
import {
  pruneAnswers,
  pruneDeliveries,
  pruneEvents,
  prunePreviousSecrets,
  pruneSubscriptions,
} from '../../server/webhooks/retention';
import { openPageSite, Tab } from '../support/beacon';
import { scored } from '../support/facts';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { findUncalled, listRouteCalls, type RouteCall, type Subject } from '../support/route-calls';
import { startTestServer, type TestServer } from '../support/server';
import { createCaller } from '../support/staff';
import { type Anchor, type Judgement, judgeStatement, parseStatement } from '../support/statement-judge';
import { recordStatements, type Statement } from '../support/statements';
import { makeTenantFacts, SHARED, SHARED_COURSE } from '../support/tenant-facts';
import { TENANT_TABLES } from '../support/tenant-tables';
import { IPHONE, makeVisit } from '../support/visits';

// Every statement that the product sends is bound to the integrations that it is given. The statements are recorded
// while one tenant exercises all routes, all kinds of facts, the whole life of deliveries and the operator's commands.

/**
 * Statements that read across all tenants: `spans` names the one reference that may. The others must follow from it.
 */
const SPANNING: { reason: string; text: RegExp; spans: string[] }[] = [
  {
    reason: 'hashes of erased users and receipts end by their age, and erasures that wait are woken',
    text: /^(update user_erasures set (user_hash = null where user_hash is not null|woken_at = now\(\) where completed_at is null)|delete from user_erasures where completed_at <)/,
    spans: ['user_erasures'],
  },
  {
    reason: 'the operator is told of the subscriptions of every integration',
    text: /^select s\.integration_id as "integrationId", i\.name as "integrationName", .* where s\.deleted_at is null and \(s\.told_state in/,
    spans: ['s'],
  },
  {
    reason: 'a process sends the notices that are due, whomever they concern',
    text: /^with due as \( select integration_id, id from operator_notices where next_attempt_at <= now\(\)/,
    spans: ['due/operator_notices'],
  },
  {
    reason: 'the look-up of a key finds its integration',
    text: /^with found as \( select .* from api_keys k join integrations i on i\.id = k\.integration_id where k\.hash = \$1 and k\.revoked_at is null and coalesce\(k\.expires_at > now\(\), true\)\)/,
    spans: ['found/k'],
  },
  {
    reason: 'the operator names a key only by its id',
    text: /^(update "api_keys" set "revoked_at" = now\(\)|select "revoked_at" from "api_keys") where \(?"api_keys"\."id" = \$1(?! and "api_keys"\."integration_id")/,
    spans: ['api_keys'],
  },
  {
    reason: 'the operator sees the youngest key of every integration',
    text: /^select k\.integration_id as "integrationId", k\.first4, k\.last4 from api_keys k where k\.revoked_at is null and coalesce/,
    spans: ['k'],
  },
  {
    reason: 'the key of a site finds its integration',
    text: /^select s\.id as "siteId", s\.integration_id as "integrationId", .* from sites s join integrations i on i\.id = s\.integration_id .*where s\.site_key = \$1$/,
    spans: ['s'],
  },
  {
    reason: 'a site that was found is known by its id',
    text: /^update sites set first_batch_at = now\(\) where id = \$1/,
    spans: ['sites'],
  },
  {
    reason: 'the operator names a site only by its id',
    text: /^(update "sites" set "revoked_at" = now\(\)|select "revoked_at" from "sites") where \(?"sites"\."id" = \$1(?! and "sites"\."integration_id")/,
    spans: ['sites'],
  },
  {
    reason: 'the operator sees the sites of every integration',
    text: /^select "id", "integration_id", "site_key", .* from "sites" order by/,
    spans: ['sites'],
  },
  {
    reason: 'the operator and staff see all integrations',
    text: /^select "id", "name", "plan"(, "status", "created_at")? from "integrations" order by/,
    spans: ['integrations'],
  },
  {
    reason: 'a job looks for the integrations that have something older than it is kept',
    text: /^select i\.id, i\.plan from integrations i where .* < now\(\) - /,
    spans: ['i'],
  },
  {
    reason: 'a job looks for the integrations that have deleted webhooks',
    text: /^select distinct integration_id as id from webhook_subscriptions where deleted_at </,
    spans: ['webhook_subscriptions'],
  },
  {
    reason: 'a job looks for the integrations that have deleted alert rules',
    text: /^select distinct integration_id as id from alert_rules where deleted_at </,
    spans: ['alert_rules'],
  },
  {
    reason: 'a job looks for the integrations that have many entries of keys',
    text: /^select integration_id as id from audit_entries where actor_kind = 'ApiKey' group by/,
    spans: ['audit_entries'],
  },
  {
    reason: 'a job looks for the integrations that have old traces',
    text: /^select distinct c\.integration_id as id from collected_sessions c join integrations i/,
    spans: ['c'],
  },
  {
    reason:
      'the operator sees what was done to every integration, and admins what was done to accounts, which belong to none',
    text: /^select "id", "occurred_at", .* from "audit_entries" (order by|where "audit_entries"\."integration_id" is null|where \("audit_entries"\."integration_id" is null and)/,
    spans: ['audit_entries'],
  },
  {
    reason: 'admins see how much was done to accounts, which belong to none',
    text: /^select count\(\*\)::int as count from \(select from audit_entries where \$1::text is not null and integration_id is null limit/,
    spans: ['r/audit_entries'],
  },
  {
    reason: 'a sweep ends what can never be sent, for all tenants',
    text: /^with tests as \( select integration_id, id from webhook_deliveries where is_test .* update webhook_deliveries d set status = 'PoisonAborted'/,
    spans: ['tests/webhook_deliveries', 'held/s'],
  },
  {
    reason: 'a sweep gives back what dead processes held, for all tenants',
    text: /^with expired as \( select integration_id, id, crashes \+ 1 >= 5 as is_poison from webhook_deliveries where status = 'Pending' and lease is not null/,
    spans: ['expired/webhook_deliveries'],
  },
  {
    reason: 'a sweep looks for what is overdue, for all tenants',
    text: /^select s\.integration_id as "integrationId", s\.id as "subscriptionId" from webhook_subscriptions s where s\.enabled and s\.deleted_at is null and exists/,
    spans: ['s'],
  },
  {
    reason: 'old answers of receivers are removed, for all tenants',
    text: /^with old as \( select integration_id, delivery_id, resend, attempt from webhook_answers where received_at/,
    spans: ['old/webhook_answers'],
  },
  {
    reason: 'old signing secrets are removed, for all tenants',
    text: /select integration_id, id from webhook_subscriptions where previous_secret_until <= now\(\) order by .* set previous_secret_sealed = null/,
    spans: ['old/webhook_subscriptions'],
  },
  {
    reason: 'the changes of all sessions are folded at once',
    text: /^insert into [a-z_]+ \(integration_id, .* from session_deltas cross join lateral/,
    spans: ['session_deltas'],
  },
  {
    reason: 'the changes of all sessions are added up at once',
    text: /^with cells as \( select integration_id, hour, .* from session_deltas .*\) insert into/,
    spans: ['cells/session_deltas'],
  },
  {
    reason: 'users and devices that the changes name are counted again',
    text: /^with changed as materialized \( select .*integration_id, kind, value, .* from session_deltas/,
    spans: ['changed/session_deltas'],
  },
  {
    reason: 'counts of rows are added up for all tenants',
    text: /^with folded as \(delete from row_counts/,
    spans: ['folded/row_counts'],
  },
  {
    reason: 'counts of anomalies and failed deliveries are added up for all tenants',
    text: /^with folded as \(delete from incident_counts/,
    spans: ['folded/incident_counts'],
  },
  {
    reason: 'counts of ended deliveries are added up for all tenants',
    text: /^with folded as \(delete from outcome_counts/,
    spans: ['folded/outcome_counts'],
  },
  {
    reason: 'a job looks for the integrations whose sessions are not counted by minute yet',
    text: /^select id from integrations where minutes_counted_to is not null/,
    spans: ['integrations'],
  },
  {
    reason: 'a job looks for the integrations that have alert rules',
    text: /^select distinct r\.integration_id as "integrationId" from alert_rules r where \(r\.enabled/,
    spans: ['r'],
  },
  {
    reason: 'what is folded is removed',
    text: /^delete from session_deltas returning 1$/,
    spans: ['session_deltas'],
  },
  {
    reason: 'a sweep takes the sessions of pages that are over, for all tenants',
    text: /^update collected_sessions set due_at = now\(\) \+ \$2::int/,
    spans: ['collected_sessions'],
  },
  {
    reason: 'a sweep looks for sessions whose process died, for all tenants',
    text: /^select k\.key from \( select distinct session_key as key from session_batches/,
    spans: ['c/c'],
  },
  {
    reason: 'a process that starts looks for sessions that were left behind, for all tenants',
    text: /^select key from collected_sessions c where due_at is not null/,
    spans: ['c'],
  },
  {
    reason: 'a sweep looks for cuts whose process died before it sent their facts, for all tenants',
    text: /^select c\.key, c\.version from collected_sessions c left join lateral/,
    spans: ['c'],
  },
  {
    reason: 'an open session is known by its number, which no caller gives',
    text: /^select c\.key, c\.day::text, c\.integration_id/,
    spans: ['c'],
  },
  {
    reason: 'cuts of many sessions are written by their numbers',
    text: /^with r as materialized \( select \* from json_to_recordset\(\$1::text::json\) as r\( key bigint, version int/,
    spans: ['f/c/c', 'c'],
  },
  {
    reason: 'staff, who belong to no tenant, follow a link that names no integration',
    text: /^select integration_id as "integrationId", name, format, state, .* from report_jobs where id = \$1$/,
    spans: ['report_jobs'],
  },
  {
    reason: 'a look makes the reports of schedules that are due, for all tenants',
    text: /^with due as materialized \( select s\.\*, .* from report_schedules where next_due_at <= now\(\)/,
    spans: ['due/s/report_schedules'],
  },
  {
    reason: 'a look finds the reports that nobody renders, for all tenants',
    text: /^with lost as \( select integration_id, id from report_jobs where state in/,
    spans: ['lost/report_jobs'],
  },
  {
    reason: 'a look finds the reports whose files must go, for all tenants',
    text: /^select integration_id as "integrationId", id as "reportId", store, .* from report_jobs where \(expires_at, id\) >/,
    spans: ['report_jobs'],
  },
  {
    reason: 'a sweep takes sessions whose findings were left behind, for all tenants',
    text: /^update fact_outbox o set due_at/,
    spans: ['o', 'fact_outbox'],
  },
  {
    reason: 'a job looks for the days of which sessions are to be drawn, for all tenants',
    text: /^select i\.id, to_char\(day, 'YYYY-MM-DD'\) as day, i\.review_sample_size/,
    spans: ['i'],
  },
  {
    reason: 'a closed session is known by its number',
    text: /^with ended as \( update collected_sessions/,
    spans: ['ended/collected_sessions'],
  },
];
/** Not a query: it reads no row for anyone. */
const NO_QUERY = /^(analyze [a-z_]+(, [a-z_]+)*|lock table sessions in share mode)$/;

const MARKER = 'marker';
const BATCHES_UNTIL_STATISTICS = 100;

let server: TestServer;
let receiver: Receiver;
let tenant: { id: string; key: string };
let calls: Map<string, RouteCall[]>;
let statements: Statement[];
const sentKinds = new Set<string>();

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_RETRY_DELAYS: '0s,50ms,50ms,50ms,50ms,50ms',
    OPERATOR_WEBHOOK_URL: `${receiver.url}/operator`,
    OPERATOR_WEBHOOK_SECRET: 'a-secret-of-the-operator',
  });
  const recorder = recordStatements(server.service.db);
  tenant = await server.createTenant();
  const webhookId = await subscribe('/own', 'SessionAnomaly');
  const deletedId = await subscribe('/deleted', 'BotDetected');
  await server.database.db.sql`
    insert into user_erasures (integration_id, id, refused_until, completed_at, position, counts)
    values (${tenant.id}, 'era_shared', now(), now(), '{"step": 0}', '{"sessions": 0, "traces": 0, "events": 0, "deliveries": 0, "reports": 0, "texts": 0}')`;
  const subject: Subject = {
    receiptId: 'era_shared',
    sessionId: SHARED.sessions[0]!,
    userId: SHARED.users[0]!,
    fingerprint: SHARED.fingerprints[0]!,
    courseId: SHARED_COURSE,
    origin: SHARED.origin,
    detectionFlag: 'shared',
    ...{ webhookId, deliveryId: 'dlv_named', eventId: 'evt_named' },
    webhookUrl: `${receiver.url}/own`,
  };
  calls = listRouteCalls(subject);
  await sendFacts();
  await judgeFindings();
  await endDeliveries(1);
  await lookAfterDeliveries(webhookId);
  await failNamedDelivery(webhookId);
  await callEverything();
  await walkEverything(subject);
  await makeReports();
  await failDeliveries(deletedId);
  await operate();
  await collectPages();
  await cutShort();
  statements = recorder.take();
  recorder.stop();
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const call = ({ method, path, body }: RouteCall) =>
  server.call(method, path, { key: tenant.key, ...(body === undefined ? {} : { body }) });

async function subscribe(path: string, eventType: string): Promise<string> {
  const body = { url: receiver.url + path, eventType };
  const headers = { 'idempotency-key': `${path}${eventType}` };
  return (await server.call('POST', '/v1/webhooks', { key: tenant.key, body, headers })).body.data.id;
}

async function ingest(groups: ReturnType<typeof makeTenantFacts>) {
  for (const facts of groups) {
    for (const { kind } of facts) sentKinds.add(kind);
    expect((await server.ingest(tenant.id, facts)).status).toBe(200);
  }
}

/** Sends all facts twice, so that known ones are read and compared, and enough batches that statistics are renewed. */
async function sendFacts() {
  const groups = makeTenantFacts(MARKER, 0);
  await ingest([...groups, ...groups]);
  const [first] = groups[0]!;
  for (let n = 0; n < BATCHES_UNTIL_STATISTICS; n += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        server.ingest(tenant.id, [{ ...first, sessionId: `batch-${n + index}` }]),
      ),
    );
}

/** Waits until some deliveries have ended and none is due. */
async function endDeliveries(atLeast: number) {
  const { sql } = server.database.db;
  await waitUntil(async () => {
    const [counted] = await sql<{ ended: number; due: number }[]>`
      select (count(*) filter (where status <> 'Pending'))::int as ended, (count(*) filter (where status = 'Pending'))::int as due
        from webhook_deliveries`;
    return counted!.ended >= atLeast && counted!.due === 0;
  });
}

/** Adds the delivery that the calls name. */
async function failNamedDelivery(webhookId: string) {
  await server.database.db.sql`
    insert into domain_events (integration_id, id, type, natural_key, payload)
    values (${tenant.id}, 'evt_named', 'SessionAnomaly', 'named', '{}')`;
  await server.database.db.sql`
    insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, finished_at)
    values (${tenant.id}, 'dlv_named', ${webhookId}, 'evt_named', 'Failed', now())`;
}

/** Makes every call, deletions last. Each must succeed. */
async function callEverything() {
  const inOrder = [...calls.values()]
    .flat()
    .sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'));
  for (const one of inOrder) {
    const { status, text } = await call(one);
    expect([`${one.method} ${one.path}`, status, text]).toEqual([
      `${one.method} ${one.path}`,
      expect.any(Number),
      text,
    ]);
    expect([200, 204], `${one.method} ${one.path} ${text}`).toContain(status);
  }
  await call({ method: 'GET', path: '/v1/sessions/unknown/events' });
  await call({ method: 'GET', path: '/v1/unknown' });
}

/** Reads the second page of every list. */
async function walkEverything({ sessionId, userId }: Subject) {
  for (const path of ['sessions', `sessions/${sessionId}/events`, `users/${userId}/sessions`, 'users', 'courses']) {
    const first = await call({ method: 'GET', path: `/v1/${path}?pageSize=1` });
    const { nextCursor } = first.body.pagination;
    expect([path, nextCursor]).toEqual([path, expect.any(String)]);
    expect((await call({ method: 'GET', path: `/v1/${path}?pageSize=1&cursor=${nextCursor}` })).status).toBe(200);
  }
}

/** Reports of every template, from the request to the end of the file. */
async function makeReports() {
  const staff = await createCaller(server, tenant.key);
  const { jobs, openFile } = server.service.reports;
  const [format, days] = ['json', 30] as const;
  const asked = await Promise.all([
    staff.reports.request({ template: 'sessions', format, days }),
    staff.reports.request({ template: 'user-evidence', format, days, userId: SHARED.users[0]! }),
    staff.reports.request({ template: 'course-integrity', format, days, courseId: SHARED_COURSE }),
    staff.reports.request({ template: 'weekly-overview', format }),
  ]);
  await waitUntil(async () => {
    const ready = new Set((await staff.reports.list({})).data.map(({ id }) => id));
    return asked.every(({ id }) => ready.has(id));
  });
  expect(await staff.reports.jobs()).toEqual([]);
  for (const { id } of asked) expect((await call({ method: 'GET', path: `/reports/${id}/download` })).status).toBe(200);
  await (await openFile({ integrationId: null, reportId: asked[0]!.id })).open();
  await staff.reports.delete(asked[0]!);
  await jobs.failReport({ integrationId: tenant.id, reportId: asked[1]!.id, runId: 'other' }, 'It failed');
  const timing = { cadence: 'daily', hour: 0, timeZone: 'UTC' } as const;
  const admin = appRouter.createCaller({
    service: server.service,
    caller: { kind: 'staff', staff: member, integrationId: tenant.id, clientAddress: null },
  });
  const schedule = await admin.reports.createSchedule({ template: 'sessions', format, days, ...timing });
  await admin.reports.listSchedules();
  await jobs.makeDueReports();
  await admin.reports.deleteSchedule(schedule);
  await jobs.wakeReports();
  await server.database.db.sql`update report_jobs set expires_at = now() - interval '1 ms' where id = ${asked[1]!.id}`;
  await jobs.pruneReports();
}

/** What staff do with deliveries. */
async function lookAfterDeliveries(id: string) {
  const staff = await createCaller(server, tenant.key);
  const window = { startDate: '2020-01-01', endDate: '2100-01-01' };
  for (const status of [undefined, 'Delivered', 'Failed'])
    await staff.deliveries.list({ id, status, ...window, pageSize: 1 });
  const { data, pagination } = await staff.deliveries.list({ id, pageSize: 1 });
  await staff.deliveries.list({ id, pageSize: 1, cursor: pagination.nextCursor });
  await staff.deliveries.listSkipped({ id });
  await server.database.db
    .sql`update domain_events set skips = jsonb_build_object(${id}::text, 'disabled') where type = 'SessionAnomaly'`;
  await staff.deliveries.countSkipped({ id });
  await staff.deliveries.sendSkipped({ id });
  await staff.webhookStates.count();
  await server.database.db.sql`update webhook_subscriptions set consecutive_failures = 1 where id = ${id}`;
  await staff.webhookStates.list();
  await server.service.operatorNotices!.tell();
  await staff.deliveries.get({ id: data[0]!.id });
  await staff.deliveries.resend({ id: data[0]!.id });
  await staff.deliveries.recover({ id, ...window });
  await lookAtEverything(id, data[0]!.id);
  await pruneDeliveries(server.service.db);
  await pruneAnswers(server.service.db, true);
  await pruneEvents(server.service.db);
  await foldSessionDeltas(server.service.db);
  await foldIncidents(server.service.db);
  await foldOutcomes(server.service.db);
  await server.database.db.sql`update integrations set minutes_counted_to = now() - interval '38 days'`;
  await prunePreviousSecrets(server.service.db);
  await recountMinutes(server.service.db);
  await pruneSessions(server.service.db);
  await pruneFindings(server.service.db);
  await drawReviewSamples(server.service.db);
  await pruneReviewDraws(server.service.db);
  await pruneSubscriptions(server.service.db);
  await pruneAuditEntries(server.service.db);
}

const member = { id: 'stf_1', email: 'admin@example.com', name: 'Admin', role: 'admin' as const };

/** What else staff see and do. */
async function lookAtEverything(webhookId: string, deliveryId: string) {
  const { service } = server;
  const staff = appRouter.createCaller({
    service,
    caller: { kind: 'staff', staff: member, integrationId: tenant.id, clientAddress: null },
  });
  const [sessionId, userId] = [SHARED.sessions[0]!, SHARED.users[0]!];
  await staff.integrations.list();
  await staff.integrations.previewPlan({ id: tenant.id, plan: 'pro' });
  const { id } = await staff.apiKeys.mint({});
  await staff.apiKeys.list();
  await staff.apiKeys.revoke({ id });
  await staff.sites.setOrigins({ allowedOrigins: [SHARED.origin] });
  await staff.sites.rotateIdentitySecret();
  await staff.sites.setUnsignedUsers({ acceptsUnsignedUsers: true });
  await staff.sites.setPrivacyControl({ mayIgnorePrivacyControl: true });
  await staff.sites.getCollecting();
  await staff.findingRules.list();
  await staff.findingRules.set({ rule: 'SharedDevice', isEnabled: false });
  await staff.findingRules.set({ rule: 'SharedDevice', isEnabled: true });
  await staff.errorRates.setSampleSize({ sampleSize: 20 });
  await server.database.db.sql`update review_draws set day = day - 3 where integration_id = ${tenant.id}`;
  await staff.errorRates.get();
  const site = await staff.sites.create({});
  await checkSite(service.db, { siteKey: site.siteKey, origin: SHARED.origin });
  await staff.sites.list();
  await staff.setup.get();
  await staff.sites.revoke({ id: site.id });
  await staff.users.get({ userId });
  await staff.users.listDevices({ userId });
  await staff.courses.get({ courseId: SHARED_COURSE });
  await staff.analytics.getScoreDistribution();
  await staff.sessions.listDeliveries({ sessionId });
  await staff.sessions.getTimeline({ sessionId });
  await staff.sessions.getContext({ sessionId });
  await staff.sessions.listPages({ sessionId });
  await staff.sessions.getEvidenceReport({ sessionId });
  await staff.recordings.get({ sessionId });
  const { labeledAt } = await staff.sessions.setVerdict({ sessionId, verdict: 'bot' });
  await staff.sessions.undoVerdict({ sessionId, labeledAt, previousLabeledAt: null });
  const again = await staff.sessions.setVerdict({ sessionId, verdict: 'bot', seenLabeledAt: null });
  const other = await staff.sessions.setVerdict({ sessionId, verdict: 'human', reasons: ['KnownPerson'] });
  const undo = { sessionId, labeledAt: other.labeledAt, previousLabeledAt: again.labeledAt };
  const { label } = await staff.sessions.undoVerdict(undo);
  await expect(staff.sessions.undoVerdict(undo)).rejects.toThrow('since');
  await staff.sessions.removeLabel({ sessionId, labeledAt: label!.labeledAt });
  await staff.sessions.getHistory({ sessionId });
  await staff.users.confirmDevice({ userId, fingerprint: 'revoked' });
  await staff.users.revokeDevice({ userId, fingerprint: 'revoked' });
  for (const queue of ['score', 'sample'] as const) await staff.review.listQueue({ queue });
  await staff.review.listCases({ sessionIds: [sessionId] });
  await staff.review.listVerdicts({ since: new Date(0).toISOString() });
  const { labeled } = await staff.review.setVerdicts({ verdict: 'bot', sessions: [{ sessionId }] });
  await staff.review.undoVerdicts({
    verdicts: labeled.map(({ labeledAt, previous }) => ({
      ...{ sessionId, labeledAt, previousLabeledAt: previous?.labeledAt ?? null },
    })),
  });
  await staff.webhooks.previewThreshold({ eventType: 'BotDetected' });
  await staff.webhooks.getHealth({ id: webhookId });
  await staff.deliveries.get({ id: deliveryId });
  const filters = { sessionId, userId, anomalyType: 'SharedDevice', severity: 'high' as const };
  await staff.anomalies.list({ ...filters, status: 'Open' });
  const { data: found } = await staff.anomalies.list({ pageSize: 1 });
  for (const act of ['acknowledge', 'resolve', 'reopen'] as const) await staff.anomalies[act]({ id: found[0]!.id });
  await findThings(staff, webhookId);
  await staff.writing.list({ browsingSessionId: sessionId, userId });
  for (const scope of ['Integration', 'Staff'] as const) {
    const { pagination } = await staff.audit.list({ scope, pageSize: 1 });
    if (pagination.nextCursor) await staff.audit.list({ scope, pageSize: 1, cursor: pagination.nextCursor });
  }
  const rule = {
    ...{ name: 'Shared', metric: 'botSessions', scope: { kind: 'course', value: SHARED_COURSE }, windowMinutes: 60 },
    ...{ comparison: 'gte', value: 1, severity: 'high', message: '{{value}} in {{scope}}' },
  };
  await staff.alertRules.preview(rule);
  const created = await staff.alertRules.create(rule);
  await staff.alertRules.update({ ...rule, id: created.id, version: created.version, value: 2 });
  await staff.alertRules.setEnabled({ id: created.id, enabled: false });
  await staff.alertRules.setEnabled({ id: created.id, enabled: true });
  await staff.alertRules.list();
  await server.database.db.sql`update alert_rules set judged_from = now() - interval '2 days', value = 1`;
  await service.alertRules.evaluate(tenant.id);
  await service.alertRules.evaluateAll();
  const { data } = await staff.alerts.list({ ruleId: created.id, status: 'Open' });
  expect(data.length).toBeGreaterThan(0);
  await staff.alerts.acknowledge({ id: data[0]!.id });
  await staff.alerts.resolve({ id: data[0]!.id });
  await staff.alerts.reopen({ id: data[0]!.id });
  await staff.alertRules.delete({ id: created.id });
  for (const list of [staff.anomalies.list, staff.alerts.list, staff.reports.list, staff.writing.list]) {
    const { pagination } = await list({ pageSize: 1 });
    if (pagination.nextCursor) await list({ pageSize: 1, cursor: pagination.nextCursor });
  }
}

/** Searches, sorts, counts and names lists. */
async function findThings(staff: ReturnType<typeof appRouter.createCaller>, webhookId: string) {
  await staff.search.find({ query: 'a' });
  for (const sort of SESSION_SORTS) {
    for (const filters of [
      {},
      { userId: SHARED.users[0] },
      { detectionFlag: 'webdriver' },
      { origin: SHARED.origin },
    ]) {
      const { pagination } = await staff.sessions.listSorted({ sort, ...filters, pageSize: 1 });
      const { nextCursor: cursor } = pagination;
      if (cursor) await staff.sessions.listSorted({ sort, ...filters, pageSize: 1, cursor });
    }
  }
  for (const sort of USER_SORTS) await staff.users.listSorted({ sort });
  for (const sort of COURSE_SORTS) await staff.courses.listSorted({ sort });
  for (const filters of [
    {},
    { label: 'bot' },
    { status: 'Active' },
    { origin: SHARED.origin },
    { detectionFlag: 'webdriver' },
  ])
    await staff.sessions.count(filters);
  await staff.sessions.count({ userId: SHARED.users[0] });
  await staff.sessions.count({ courseId: SHARED_COURSE });
  await staff.sessions.count({ startDate: new Date().toISOString().slice(0, 10) });
  await staff.users.count();
  await staff.courses.count();
  for (const filters of [{}, { userId: SHARED.users[0] }]) await staff.anomalies.count(filters);
  await staff.anomalies.list({ sort: 'oldest' });
  for (const filters of [{}, { ruleId: 'rul-1' }]) await staff.alerts.count(filters);
  await staff.deliveries.count({ id: webhookId });
  await staff.deliveries.list({ id: webhookId, sort: 'oldest' });
  for (const scope of ['Integration', 'Staff'] as const) await staff.audit.count({ scope });
  const view = await staff.savedViews.create({ page: 'sessions', name: 'Bots', query: 'riskLevel=bot' });
  await expect(staff.savedViews.create({ page: 'sessions', name: 'Bots', query: '' })).rejects.toThrow('name');
  await staff.savedViews.list();
  await staff.savedViews.delete({ id: view.id });
}

/** Makes deliveries fail, be retried, held, released and end with their subscription. */
async function failDeliveries(deletedId: string) {
  receiver.answer = () => 500;
  const id = await subscribe('/failing', 'SessionCorrelated');
  await ingest(makeTenantFacts('failing', 1).slice(0, 2));
  await receiver.waitFor(receiver.received.length + 2);
  const path = `/v1/webhooks/${id}`;
  await call({ method: 'PATCH', path, body: { enabled: false } });
  await call({ method: 'PATCH', path, body: { enabled: true } });
  await server.service.dispatcher.sweep();
  await endDeliveries(2);
  await call({ method: 'DELETE', path: `/v1/webhooks/${deletedId}` });
}

/** Has a user come on two devices, and the sessions judged once more, as if a process had died. */
async function judgeFindings() {
  for (const facts of [
    makeVisit({ user: 'ada', ago: 50, input: [1], location: PLACE }),
    makeVisit({ user: 'ada', device: 'phone', userAgent: IPHONE, ago: 49, input: [0], location: PLACE }),
    [...makeVisit({ id: 'unnamed', user: null, ago: 40 }), { ...scored('unnamed', 0.5), segments: [SEGMENT] } as Fact],
  ])
    await server.ingest(tenant.id, facts);
  await server.service.findings.flush();
  await server.database.db.sql`
    insert into fact_outbox (integration_id, id, session_id, causes, due_at)
    values (${tenant.id}, 'obx_1', 'unnamed', '{scored}', now() - interval '1 ms')`;
  expect(await server.service.findings.sweep()).toBe(1);
}
const SEGMENT = { startedAt: '2026-01-31T09:30:00.000Z', logOdds: -3.5 };
const PLACE = { latitude: 51.5, longitude: -0.12, accuracyKm: 50 };

async function operate() {
  const { db } = server.service;
  await subscribe('/first', 'ReportReady');
  await subscribe('/second', 'ReportReady');
  await setIntegrationPlan(asOperator(db), { id: tenant.id, plan: 'pro' });
  await setIntegrationPlan(asOperator(db), { id: tenant.id, plan: 'enterprise' });
  await listIntegrations(db);
  await listLatestAuditEntries(db, { limit: 1 });
  await listLatestAuditEntries(db, { integrationId: tenant.id, limit: 1 });
  await pruneRateWindows(db);
  const [site] = await listAllSites(db);
  await findSite(db, server.service.secrets, site!.siteKey);
  await markReceiving(db, site!.id);
  await revokeSite(asOperator(db), { id: site!.id });
  const [{ id }] = (await server.database.db.sql`select id from api_keys`) as unknown as [{ id: string }];
  await server.service.usage.flush();
  spare = id;
}
let spare: string;

/** What pages send, from the first batch to the last trace. */
async function collectPages() {
  const { db, collector } = server.service;
  const site = await openPageSite({ db, url: server.url }, tenant);
  const tab = new Tab(site);
  await tab.send();
  await tab.send({ ev: [], x: 1 });
  const isClosed = async () => {
    const [row] = await server.database.db.sql<{ left: number }[]>`
      select count(*)::int as left from collected_sessions where due_at is not null`;
    return row!.left === 0;
  };
  await waitUntil(isClosed);
  await tab.send();
  collector.start();
  await collector.sweep();
  // Another process knows nothing of the session, and reads it.
  const other = createCollector({ ...server.service, hasTimers: false });
  await new Tab(site).send();
  await server.database.db
    .sql`update collected_sessions set due_at = now() - interval '1 ms', version = version + 1 where due_at is not null`;
  await other.sweep();
  await createPartitions(db);
  await pruneTraces(db, 1);
  await server.service.erasures.jobs.wakeErasures();
}

/** Starts attempts that our own shutdown cuts short, so that they are given back. */
async function cutShort() {
  receiver.answer = () => null;
  const id = await subscribe('/hanging', 'SessionCorrelated');
  const before = receiver.received.length;
  const test = call({ method: 'POST', path: `/v1/webhooks/${id}/test` });
  await ingest(makeTenantFacts('hanging', 2).slice(0, 2));
  await receiver.waitFor(before + 2);
  await server.service.dispatcher.stop(0);
  expect((await test).status).toBe(503);
  await server.service.usage.flush();
  await revokeKey(asOperator(server.service.db), { id: spare });
}

const flatten = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
const findSpanning = (text: string) => SPANNING.find((one) => one.text.test(flatten(text)));

/** Each statement, judged once, with the exception that applies to it. */
const judged = new Map<string, Judgement>();
function judge({ text }: Statement): Judgement {
  const judgement = judged.get(text) ?? judgeStatement(text, findSpanning(text)?.spans);
  judged.set(text, judgement);
  return judgement;
}
const listDistinct = () => [...new Map(statements.map((statement) => [statement.text, statement])).values()];

/** Reads the integrations that a statement is given in a parameter. */
function readIntegrations({ parameters }: Statement, { parameter, list }: Anchor): unknown[] {
  const value = parameters[parameter - 1];
  if (!list) return [value];
  const items = typeof value === 'string' ? JSON.parse(value) : value;
  return list.field === null ? items : items.map((item: Record<string, unknown>) => item[list.field!]);
}

describe('the statements of the product', () => {
  it('are recorded from every route, with every query parameter and field', () => {
    expect(findUncalled(calls)).toEqual([]);
    expect(calls.size).toBeGreaterThan(15);
  });

  it('are recorded from every kind of fact', () => {
    expect([...sentKinds].sort()).toEqual(factSchema.options.map(({ shape }) => shape.kind.value).sort());
  });

  it('name every table of tenants', () => {
    const named = new Set(listDistinct().flatMap((statement) => judge(statement).tables));
    expect([...named].sort()).toEqual(TENANT_TABLES.map(({ name }) => name).sort());
  });

  it('bind every reference to a tenant’s table to an integration', () => {
    const faulty = listDistinct().flatMap((statement) => {
      const { faults } = judge(statement);
      return faults.length > 0 && !NO_QUERY.test(statement.text) ? [{ text: flatten(statement.text), faults }] : [];
    });
    expect(faulty).toEqual([]);
  });

  it('use no integration except the one that acts', () => {
    const given = statements.flatMap((statement) =>
      judge(statement).anchors.map((anchor) => ({
        text: flatten(statement.text),
        integrations: [...new Set(readIntegrations(statement, anchor))],
      })),
    );
    expect(given.length).toBeGreaterThan(200);
    expect(given.filter(({ integrations }) => integrations.some((id) => id !== tenant.id))).toEqual([]);
  });

  it('span tenants only for a reason, and each reason is used and needed', () => {
    const excused = listDistinct().filter(({ text }) => findSpanning(text));
    expect(SPANNING.filter((one) => !excused.some(({ text }) => findSpanning(text) === one))).toEqual([]);
    expect(excused.filter(({ text }) => judgeStatement(text).faults.length === 0)).toEqual([]);
  });

  it('cannot lose a single comparison of integrations unnoticed', () => {
    const unnoticed = listDistinct().flatMap(({ text }) => {
      const spans = findSpanning(text)?.spans;
      const places = findComparedKeys(parseStatement(text)).length;
      return Array.from({ length: places }, (_, place) => {
        const tree = parseStatement(text);
        findComparedKeys(tree)[place]!.sval = 'elsewhere';
        return judgeStatement(tree, spans).faults.length > 0 ? [] : [{ text: flatten(text), place }];
      }).flat();
    });
    expect(unnoticed).toEqual([]);
    expect(listDistinct().flatMap(({ text }) => findComparedKeys(parseStatement(text))).length).toBeGreaterThan(100);
  });
});

interface ColumnName {
  sval: string;
}

/** Finds the names of integration columns that the conditions in a statement's tree compare. */
function findComparedKeys(tree: unknown, isCompared = false): ColumnName[] {
  if (typeof tree !== 'object' || tree === null) return [];
  const node = tree as Record<string, never>;
  if (node.ColumnRef) {
    const name: ColumnName | undefined = (node.ColumnRef as { fields: { String?: ColumnName }[] }).fields.at(
      -1,
    )?.String;
    return isCompared && name && /^(integration_id|integrationId)$/.test(name.sval) ? [name] : [];
  }
  if (node.SubLink) {
    const { testexpr, subselect } = node.SubLink;
    return [...findComparedKeys(testexpr, true), ...findComparedKeys(subselect)];
  }
  if (node.A_Expr) return Object.values(node.A_Expr).flatMap((child) => findComparedKeys(child, true));
  return Object.values(node).flatMap((child) => findComparedKeys(child, isCompared));
}
