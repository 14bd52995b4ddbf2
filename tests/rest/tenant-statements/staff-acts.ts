import { expect } from 'vitest';
import { COURSE_SORTS, SESSION_SORTS, USER_SORTS } from '../../../contract/sort-orders';
import { pruneAuditEntries } from '../../../server/domain/audit-entries';
import { foldIncidents, recountMinutes } from '../../../server/domain/minute-counts';
import { pruneFindings, pruneReviewDraws, pruneSessions } from '../../../server/domain/retention';
import { drawReviewSamples } from '../../../server/domain/review-draws';
import { foldSessionDeltas } from '../../../server/domain/rollups';
import { checkSite } from '../../../server/domain/site-checks';
import { foldOutcomes } from '../../../server/domain/usage';
import { appRouter } from '../../../server/procedures/router';
import {
  pruneAnswers,
  pruneDeliveries,
  pruneEvents,
  prunePreviousSecrets,
  pruneSubscriptions,
} from '../../../server/webhooks/retention';
import { waitUntil } from '../../support/receiver';
import { createCaller } from '../../support/staff';
import { SHARED, SHARED_COURSE } from '../../support/tenant-facts';
import { call, server, tenant } from './recorded-tenant';

const member = { id: 'stf_1', email: 'admin@example.com', name: 'Admin', role: 'admin' as const };
const createAdmin = () =>
  appRouter.createCaller({
    service: server.service,
    caller: { kind: 'staff', staff: member, integrationId: tenant.id, clientAddress: null },
  });

/** Reports of every template, from the request to the end of the file. */
export async function makeReports() {
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
  const admin = createAdmin();
  const schedule = await admin.reports.createSchedule({ template: 'sessions', format, days, ...timing });
  await admin.reports.listSchedules();
  await jobs.makeDueReports();
  await admin.reports.deleteSchedule(schedule);
  await jobs.wakeReports();
  await server.database.db.sql`update report_jobs set expires_at = now() - interval '1 ms' where id = ${asked[1]!.id}`;
  await jobs.pruneReports();
}

/** What staff do with deliveries. */
export async function lookAfterDeliveries(id: string) {
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
  await server.database.db.sql`update integrations set minutes_recounted_to = now() - interval '38 days'`;
  await prunePreviousSecrets(server.service.db);
  await recountMinutes(server.service.db);
  await pruneSessions(server.service.db);
  await pruneFindings(server.service.db);
  await drawReviewSamples(server.service.db);
  await pruneReviewDraws(server.service.db);
  await pruneSubscriptions(server.service.db);
  await pruneAuditEntries(server.service.db);
}

/** What else staff see and do. */
async function lookAtEverything(webhookId: string, deliveryId: string) {
  const { service } = server;
  const staff = createAdmin();
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
  await staff.alerts.reopen({ id: data[0]!.id, seenStatus: 'Resolved' });
  await staff.alertRules.delete({ id: created.id });
  for (const list of [staff.anomalies.list, staff.alerts.list, staff.reports.list, staff.writing.list]) {
    const { pagination } = await list({ pageSize: 1 });
    if (pagination.nextCursor) await list({ pageSize: 1, cursor: pagination.nextCursor });
  }
}

/** Searches, sorts, counts and names lists. */
async function findThings(staff: ReturnType<typeof createAdmin>, webhookId: string) {
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
