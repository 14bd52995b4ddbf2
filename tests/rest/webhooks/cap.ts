import { describe, expect, it } from 'vitest';
import { expectError } from '../../support/answers';
import { startTestServer } from '../../support/server';
import { countOf, create, created, DISABLED, get, list, patch, remove, server, VALID } from './shared-server';

export function registerCapTests(): void {
  describe('the cap of the plan', () => {
    it.each(['free', 'starter'] as const)('is 0 on %s: any create is 402, even of a disabled one', async (plan) => {
      const owner = await server.createTenant(plan);
      expectError(await create(owner, VALID), 'PLAN_LIMIT_REACHED');
      expectError(await create(owner, DISABLED), 'PLAN_LIMIT_REACHED');
      expect((await list(owner)).body.data).toEqual([]);
    });

    it.each([
      ['pro', 1, '1 active webhook subscription'],
      ['enterprise', 10, '10 active webhook subscriptions'],
    ] as const)('on %s is %i active subscriptions, and the refusal says so', async (plan, cap, words) => {
      const owner = await server.createTenant(plan);
      for (let n = 0; n < cap; n++) expect((await create(owner, VALID)).status).toBe(200);
      const refusal = await create(owner, VALID);
      expectError(refusal, 'PLAN_LIMIT_REACHED');
      expect(refusal.body.error.message).toBe(`The plan allows ${words}`);
      expectError(await create(owner, DISABLED), 'PLAN_LIMIT_REACHED');
      expect((await list(owner)).body.data).toHaveLength(cap);
    });

    it('is exact under 20 concurrent creates', async () => {
      const owner = await server.createTenant('enterprise');
      const answers = await Promise.all(Array.from({ length: 20 }, () => create(owner, VALID)));
      expect([countOf(answers, 200), countOf(answers, 402)]).toEqual([10, 10]);
      expect((await list(owner)).body.data).toHaveLength(10);
    });

    it('is exact when creates and enabling run at the same time on two servers', async () => {
      const second = await startTestServer({}, server);
      const owner = await server.createTenant('enterprise');
      const ids: string[] = [];
      for (let n = 0; n < 12; n++) ids.push((await created(owner)).id);
      const answers = await Promise.all([
        ...ids.map((id, n) =>
          (n % 2 ? server : second).call('PATCH', `/v1/webhooks/${id}`, { key: owner.key, body: { enabled: true } }),
        ),
        ...ids.map((_, n) => (n % 2 ? server : second).call('POST', '/v1/webhooks', { key: owner.key, body: VALID })),
      ]);
      expect([countOf(answers, 200), countOf(answers, 402)]).toEqual([10, 14]);
      const { data } = (await list(owner)).body;
      expect(data.filter(({ enabled }: { enabled: boolean }) => enabled)).toHaveLength(10);
      await second.stop();
    });

    it('does not count disabled ones', async () => {
      const owner = await server.createTenant('pro');
      for (let n = 0; n < 3; n++) await created(owner);
      expect((await create(owner, VALID)).status).toBe(200);
    });

    it('is freed by a delete and by disabling', async () => {
      const owner = await server.createTenant('pro');
      const first = (await create(owner, VALID)).body.data;
      expectError(await create(owner, VALID), 'PLAN_LIMIT_REACHED');
      expect((await remove(owner, first.id)).status).toBe(204);
      const second = (await create(owner, VALID)).body.data;
      expectError(await create(owner, VALID), 'PLAN_LIMIT_REACHED');
      expect((await patch(owner, second.id, { enabled: false })).status).toBe(200);
      expect((await create(owner, VALID)).status).toBe(200);
    });

    it('refuses enabled: true above it with 402, and applies nothing of that PATCH', async () => {
      const owner = await server.createTenant('pro');
      const { secret: _, ...waiting } = await created(owner);
      const active = (await create(owner, VALID)).body.data;
      expectError(await patch(owner, waiting.id, { enabled: true }), 'PLAN_LIMIT_REACHED');
      expectError(await patch(owner, waiting.id, { enabled: true, name: 'New' }), 'PLAN_LIMIT_REACHED');
      expect((await get(owner, waiting.id)).body.data).toEqual(waiting);
      expect((await patch(owner, waiting.id, { enabled: false, name: 'New' })).status).toBe(200);
      await remove(owner, active.id);
      expect((await patch(owner, waiting.id, { enabled: true })).body.data.enabled).toBe(true);
    });

    it('never refuses enabled: true on an enabled one', async () => {
      const owner = await server.createTenant('pro');
      const { id } = (await create(owner, VALID)).body.data;
      expect((await patch(owner, id, { enabled: true, name: 'New' })).body.data).toMatchObject({
        enabled: true,
        name: 'New',
      });
      await server.database.db.sql`update integrations set plan = 'free' where id = ${owner.id}`;
      expect((await patch(owner, id, { enabled: true })).status).toBe(200);
    });

    it('is checked last: at the cap an invalid body or URL is 400, an unknown id 404', async () => {
      const owner = await server.createTenant('free');
      expectError(await create(owner, { ...VALID, enabled: 'x' }), 'INVALID_BODY', 'enabled');
      expectError(await create(owner, { ...VALID, url: 'ftp://x/' }), 'INVALID_URL', 'url');
      expectError(await create(owner, { ...VALID, eventType: 'x' }), 'INVALID_EVENT_TYPE', 'eventType');
      expectError(await patch(owner, 'whk_unknown', { enabled: true }), 'NOT_FOUND');
    });

    it('is that of the current plan', async () => {
      const owner = await server.createTenant('free');
      await server.database.db.sql`update integrations set plan = 'pro' where id = ${owner.id}`;
      expect((await create(owner, VALID)).status).toBe(200);
    });
  });

  describe('100 subscriptions', () => {
    it('are the most that an integration holds, disabled ones included', async () => {
      const owner = await server.createTenant('enterprise');
      for (let n = 0; n < 10; n++) {
        const batch = await Promise.all(Array.from({ length: 10 }, () => create(owner, DISABLED)));
        expect(countOf(batch, 200)).toBe(10);
      }
      expectError(await create(owner, DISABLED), 'PLAN_LIMIT_REACHED');
      expectError(await create(owner, VALID), 'PLAN_LIMIT_REACHED');
      const { body } = await list(owner);
      expect(body.data).toHaveLength(100);
      expect((await patch(owner, body.data[0].id, { enabled: true })).status).toBe(200);
      await remove(owner, body.data[1].id);
      expect((await create(owner, DISABLED)).status).toBe(200);
      expectError(await create(owner, DISABLED), 'PLAN_LIMIT_REACHED');
    });
  });
}
