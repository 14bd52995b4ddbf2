import { afterAll, beforeAll, expect } from 'vitest';
import { waitForDeliveries } from '../../support/database';
import * as facts from '../../support/facts';
import { type Receiver, startReceiver } from '../../support/receiver';
import type { TestServer } from '../../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../../support/staff-client';

// One server for all tests of what staff may ask, with two tenants that have the same records.

export let server: TestServer;
export let receiver: Receiver;
export let admin: StaffClient;
export let ours: { id: string; key: string; keyId: string };
export let theirs: { id: string; key: string; keyId: string };
export let webhookId: string;

export function shareTenants(): void {
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
    await waitForDeliveries(server.database.db.sql);
  });
  afterAll(async () => {
    await server.stop();
    await receiver.stop();
  });
}

export const at = (tenant: { id: string }) => ({ 'x-integration-id': tenant.id });
export async function ask(name: string, input?: unknown, tenant = ours) {
  const { status, body, text } = await admin.query(name, input, at(tenant));
  expect([name, status, text]).toEqual([name, 200, text]);
  return body.result.data;
}
export const ids = (list: { id: string }[]) => list.map(({ id }) => id);
/** Reads the whole list, page by page. */
export async function walk(name: string, filters: object = {}) {
  const found: { id: string }[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await ask(name, { ...filters, pageSize: 1, ...(cursor ? { cursor } : {}) });
    found.push(...data);
    if (!pagination.hasMore) return ids(found);
    cursor = pagination.nextCursor;
  }
}
export const refuse = async (name: string, input: unknown, tenant = ours) =>
  (await admin.query(name, input, at(tenant))).status;
