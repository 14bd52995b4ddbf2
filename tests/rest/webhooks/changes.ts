import { describe, expect, it } from 'vitest';
import { expectError, fingerprintOf } from '../../support/answers';
import { countOf, created, get, list, patch, remove, server, type Tenant, tenant } from './shared-server';

export function registerChangeTests(): void {
  describe('PATCH', () => {
    it('applies only the fields that are present', async () => {
      const one = await created(tenant, { name: 'One', threshold: { field: 'botScore', operator: 'gte', value: 1 } });
      const { secret: _, ...before } = one;
      expect((await patch(tenant, one.id, { name: 'Two' })).body.data).toEqual({ ...before, name: 'Two' });
      const url = 'https://example.org/';
      expect((await patch(tenant, one.id, { url })).body.data).toEqual({ ...before, name: 'Two', url });
      const { data } = (await patch(tenant, one.id, { eventType: 'reportready' })).body;
      expect(data).toEqual({ ...before, name: 'Two', url, eventType: 'ReportReady' });
      expect((await get(tenant, one.id)).body.data).toEqual(data);
    });

    it('of the event type keeps the name, also one that is the old event type', async () => {
      const { id } = await created(tenant, { eventType: 'BotDetected' });
      expect((await patch(tenant, id, { eventType: 'ReportReady' })).body.data.name).toBe('BotDetected');
    });

    it('without fields changes nothing', async () => {
      const { secret: _, ...before } = await created(tenant);
      for (const body of [{}, { unknown: 1 }, { id: 'whk_other', createdAt: 'x', secret: 'x' }])
        expect((await patch(tenant, before.id, body)).body).toEqual({ data: before });
    });

    it('sent again gives the same result', async () => {
      const { id } = await created(tenant);
      const body = { name: 'Same', enabled: false, threshold: { field: 'n', operator: 'EQ', value: 1 } };
      const first = await patch(tenant, id, body);
      expect(first.status).toBe(200);
      expect((await patch(tenant, id, body)).body).toEqual(first.body);
    });

    it('replaces a threshold as a whole and removes it with null', async () => {
      const { id } = await created(tenant, { threshold: { field: 'a', operator: 'gte', value: 1 } });
      const next = { field: 'b', operator: 'in', value: ['x'] };
      expect((await patch(tenant, id, { threshold: next })).body.data.threshold).toEqual(next);
      expectError(await patch(tenant, id, { threshold: { operator: 'eq' } }), 'INVALID_BODY', 'threshold.field');
      expect((await patch(tenant, id, { threshold: null })).body.data.threshold).toBeNull();
      expect((await get(tenant, id)).body.data.threshold).toBeNull();
    });

    it.each(['url', 'eventType', 'name', 'enabled'])('takes no null for %s', async (field) => {
      const { secret: _, ...before } = await created(tenant);
      expectError(await patch(tenant, before.id, { [field]: null }), 'INVALID_BODY', field);
      expect((await get(tenant, before.id)).body.data).toEqual(before);
    });

    it('with one invalid field applies none', async () => {
      const { secret: _, ...before } = await created(tenant);
      expectError(await patch(tenant, before.id, { name: 'New', enabled: 'yes' }), 'INVALID_BODY', 'enabled');
      expectError(await patch(tenant, before.id, { name: 'New', url: 'ftp://x/' }), 'INVALID_URL', 'url');
      expectError(await patch(tenant, before.id, { name: 'New', eventType: 'x' }), 'INVALID_EVENT_TYPE', 'eventType');
      expect((await get(tenant, before.id)).body.data).toEqual(before);
    });

    it('checks the body before it looks for the subscription', async () => {
      expectError(await patch(tenant, 'whk_unknown', { enabled: 'x' }), 'INVALID_BODY', 'enabled');
      expectError(await patch(tenant, 'whk_unknown', { url: 'ftp://x/' }), 'INVALID_URL', 'url');
      expectError(await patch(tenant, 'whk_unknown', { eventType: 'x' }), 'INVALID_EVENT_TYPE', 'eventType');
      expectError(await patch(tenant, 'whk_unknown', {}), 'NOT_FOUND');
    });

    it('with enabled: true clears the reason why it was disabled', async () => {
      const { id } = await created(tenant);
      await server.database.db.sql`update webhook_subscriptions set consecutive_failures = 3,
      disabled_reason = 'auto:consecutive-failures', disabled_failure_class = '5xx' where id = ${id}`;
      expect((await get(tenant, id)).body.data).toMatchObject({
        enabled: false,
        disabledReason: 'auto:consecutive-failures',
        disabledFailureClass: '5xx',
      });
      const { data } = (await patch(tenant, id, { enabled: true })).body;
      expect(data).toMatchObject({ enabled: true, disabledReason: null, disabledFailureClass: null });
      const [row] = await server.database.db
        .sql`select consecutive_failures as n from webhook_subscriptions where id = ${id}`;
      expect(row!.n).toBe(0);
      await remove(tenant, id);
    });

    it('with enabled: true on an enabled one keeps its count of failures', async () => {
      const owner = await server.createTenant('pro');
      const { id } = await created(owner, { enabled: true });
      await server.database.db.sql`update webhook_subscriptions set consecutive_failures = 2 where id = ${id}`;
      expect((await patch(owner, id, { enabled: true })).status).toBe(200);
      const [row] = await server.database.db
        .sql`select consecutive_failures as n from webhook_subscriptions where id = ${id}`;
      expect(row!.n).toBe(2);
    });
  });

  describe('DELETE', () => {
    it('answers 204 without a body, and 404 when repeated', async () => {
      const { id } = await created(tenant);
      const answer = await remove(tenant, id);
      expect([answer.status, answer.text]).toEqual([204, '']);
      expect(answer.headers.get('content-type')).toBeNull();
      expect(answer.headers.get('x-service-tier')).toBe('enterprise');
      expectError(await remove(tenant, id), 'NOT_FOUND');
    });

    it('removes it at once for every route', async () => {
      const { id } = await created(tenant);
      await remove(tenant, id);
      expectError(await get(tenant, id), 'NOT_FOUND');
      expectError(await patch(tenant, id, { name: 'x' }), 'NOT_FOUND');
      expect((await list(tenant)).text).not.toContain(id);
    });

    it('answers 204 to exactly one of several at once', async () => {
      const { id } = await created(tenant);
      const answers = await Promise.all(Array.from({ length: 8 }, () => remove(tenant, id)));
      expect([countOf(answers, 204), countOf(answers, 404)]).toEqual([1, 7]);
    });
  });

  describe('another tenant’s subscription', () => {
    it('answers as an unknown one and does not change', async () => {
      const stranger = await server.createTenant('enterprise');
      const { secret: _, ...before } = await created(tenant);
      for (const request of [get, remove, (who: Tenant, id: string) => patch(who, id, { name: 'x' })]) {
        const foreign = await request(stranger, before.id);
        expectError(foreign, 'NOT_FOUND');
        expect(fingerprintOf(foreign)).toEqual(fingerprintOf(await request(stranger, 'whk_unknown')));
      }
      expect((await get(tenant, before.id)).body.data).toEqual(before);
    });
  });
}
