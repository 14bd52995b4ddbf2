import { expect } from 'vitest';
import { waitUntil } from '../../support/receiver';
import type { RouteCall, Subject } from '../../support/route-calls';
import { makeTenantFacts } from '../../support/tenant-facts';
import { call, ingest, receiver, server, subscribe, tenant } from './recorded-tenant';

const MARKER = 'marker';
const BATCHES_UNTIL_STATISTICS = 100;

/** Sends all facts twice, so that known ones are read and compared, and enough batches that statistics are renewed. */
export async function sendFacts() {
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
export async function endDeliveries(atLeast: number) {
  const { sql } = server.database.db;
  await waitUntil(async () => {
    const [counted] = await sql<{ ended: number; due: number }[]>`
      select (count(*) filter (where status <> 'Pending'))::int as ended, (count(*) filter (where status = 'Pending'))::int as due
        from webhook_deliveries`;
    return counted!.ended >= atLeast && counted!.due === 0;
  });
}

/** Adds the delivery that the calls name. */
export async function failNamedDelivery(webhookId: string) {
  await server.database.db.sql`
    insert into domain_events (integration_id, id, type, natural_key, payload)
    values (${tenant.id}, 'evt_named', 'SessionAnomaly', 'named', '{}')`;
  await server.database.db.sql`
    insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, finished_at)
    values (${tenant.id}, 'dlv_named', ${webhookId}, 'evt_named', 'Failed', now())`;
}

/** Makes every call, deletions last. Each must succeed. */
export async function callEverything(calls: Map<string, RouteCall[]>) {
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
export async function walkEverything({ sessionId, userId }: Subject) {
  for (const path of ['sessions', `sessions/${sessionId}/events`, `users/${userId}/sessions`, 'users', 'courses']) {
    const first = await call({ method: 'GET', path: `/v1/${path}?pageSize=1` });
    const { nextCursor } = first.body.pagination;
    expect([path, nextCursor]).toEqual([path, expect.any(String)]);
    expect((await call({ method: 'GET', path: `/v1/${path}?pageSize=1&cursor=${nextCursor}` })).status).toBe(200);
  }
}

/** Makes deliveries fail, be retried, held, released and end with their subscription. */
export async function failDeliveries(deletedId: string) {
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
