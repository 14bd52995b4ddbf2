import { expect } from 'vitest';
import { asOperator } from '../../../server/audit/acts';
import { createCollector } from '../../../server/collector/collector';
import { createPartitions, pruneTraces } from '../../../server/collector/retention';
import { revokeKey } from '../../../server/domain/api-keys';
import { listLatestAuditEntries } from '../../../server/domain/audit-entries';
import { listIntegrations } from '../../../server/domain/integrations';
import { pruneRateWindows } from '../../../server/domain/rate-windows';
import { findSite, listAllSites, markReceiving, revokeSite } from '../../../server/domain/sites';
import type { Fact } from '../../../server/pipeline/facts';
import { setIntegrationPlan } from '../../../server/webhooks/plans';
import { openPageSite, Tab } from '../../support/beacon';
import { scored } from '../../support/facts';
import { waitUntil } from '../../support/receiver';
import { makeTenantFacts } from '../../support/tenant-facts';
import { IPHONE, makeVisit } from '../../support/visits';
import { call, ingest, receiver, server, subscribe, tenant } from './recorded-tenant';

const SEGMENT = { startedAt: '2026-01-31T09:30:00.000Z', logOdds: -3.5 };
const PLACE = { latitude: 51.5, longitude: -0.12, accuracyKm: 50 };
/** The key of the tenant, which is revoked at the end. */
let spare: string;

/** Has a user come on two devices, and the sessions judged once more, as if a process had died. */
export async function judgeFindings() {
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

export async function operate() {
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
/** What pages send, from the first batch to the last trace. */
export async function collectPages() {
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
export async function cutShort() {
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
