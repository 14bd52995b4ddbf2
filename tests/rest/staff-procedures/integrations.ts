import { describe, expect, it } from 'vitest';
import { DEFAULT_KEY_SCOPES } from '../../../contract/integrations';
import { createStaffClient, startStaffServer } from '../../support/staff-client';
import { admin, ask, at, ids, ours, receiver, server, theirs } from './two-tenants';

export function registerIntegrationTests(): void {
  describe('integrations', () => {
    it('are listed for everyone, created and moved to a plan by admins', async () => {
      const created = await admin.mutate('integrations.create', {
        ...{ name: 'A new one', plan: 'pro', allowedOrigins: ['https://lms.example.edu/path'] },
      });
      const { id } = created.body.result.data;
      const viewer = await createStaffClient(server, 'viewer');
      const list = (await viewer.query('integrations.list')).body.result.data;
      expect(list.find((one: { id: string }) => one.id === id)).toEqual({
        ...{
          id,
          name: 'A new one',
          plan: 'pro',
          status: 'Active',
          region: 'us',
          createdAt: expect.stringMatching(/Z$/),
        },
      });
      expect(ids(list)).toEqual(expect.arrayContaining([ours.id, theirs.id]));
      expect(await ask('integration.get', {}, { id } as never)).toMatchObject({
        allowedOrigins: ['https://lms.example.edu'],
        apiKeyMasked: '',
      });
      const moved = await admin.mutate('integrations.setPlan', { id, plan: 'free' });
      expect(moved.body.result.data).toEqual({ id, plan: 'free' });
      expect((await ask('integration.get', {}, { id } as never)).plan).toBe('free');
      for (const [name, input, field] of [
        ['create', { name: '', plan: 'pro' }, 'name'],
        ['create', { name: 'X', plan: 'gold' }, 'plan'],
        ['create', { name: 'X', plan: 'pro', allowedOrigins: ['lms'] }, 'allowedOrigins.0'],
        ['setPlan', { id, plan: 'gold' }, 'plan'],
      ] as const)
        expect((await admin.mutate(`integrations.${name}`, input)).body.error.data).toMatchObject({
          httpStatus: 400,
          field,
        });
      expect((await admin.mutate('integrations.setPlan', { id: 'int_nobody', plan: 'pro' })).status).toBe(404);
    });

    it('show what a plan would change before it is set: exactly what it then changes', async () => {
      const tenant = await server.createTenant('enterprise');
      const subscribe = async (name: string) =>
        (
          await server.call('POST', '/v1/webhooks', {
            ...{ key: tenant.key, body: { url: receiver.url, eventType: 'BotDetected', name } },
          })
        ).body.data.id;
      const created = [await subscribe('first'), await subscribe('second'), await subscribe('third')];
      await server.call('PATCH', `/v1/webhooks/${created[1]}`, { key: tenant.key, body: { enabled: false } });
      const preview = async (plan: string) =>
        (await admin.query('integrations.previewPlan', { id: tenant.id, plan })).body;
      expect((await preview('enterprise')).result.data).toEqual({
        ...{ tier: 'enterprise', requestsPerMinute: 6000, maxActiveWebhooks: 10, retentionDays: 730, disables: [] },
      });
      const { disables } = (await preview('pro')).result.data;
      expect(disables).toEqual([{ id: created[2], name: 'third', eventType: 'BotDetected' }]);
      expect(ids((await preview('starter')).result.data.disables)).toEqual([created[0], created[2]]);
      const listActive = async () =>
        (await ask('webhooks.list', {}, tenant as never)).data.filter((one: { enabled: boolean }) => one.enabled);
      expect(await listActive()).toHaveLength(2);
      await admin.mutate('integrations.setPlan', { id: tenant.id, plan: 'pro' });
      expect(ids(await listActive())).toEqual([created[0]]);
      expect((await preview('gold')).error.data).toMatchObject({ httpStatus: 400, field: 'plan' });
      expect((await admin.query('integrations.previewPlan', { id: 'int_nobody', plan: 'pro' })).status).toBe(404);
    });
  });

  describe('API keys', () => {
    it('are created, work at once, are shown once and masked after that, and are revoked', async () => {
      const minted = (await admin.mutate('apiKeys.mint', { name: 'Nightly' }, at(ours))).body.result.data;
      const [listed, first] = await ask('apiKeys.list');
      expect(listed).toEqual({
        ...{ id: minted.id, name: 'Nightly', masked: `aik_v1_${minted.key.slice(7, 11)}…${minted.key.slice(-4)}` },
        ...{ createdAt: expect.stringMatching(/Z$/), lastUsedAt: null, revokedAt: null },
        ...{ scopes: DEFAULT_KEY_SCOPES, expiresAt: null },
      });
      expect(first.id).toBe(ours.keyId);
      // Only now: a use is written within two seconds, so the list above could have one in it.
      expect((await server.call('GET', '/v1/integration', { key: minted.key })).body.data.id).toBe(ours.id);
      expect(JSON.stringify(await ask('apiKeys.list'))).not.toContain(minted.key);
      // Another integration's key is unknown.
      expect((await admin.mutate('apiKeys.revoke', { id: minted.id }, at(theirs))).status).toBe(404);
      expect((await server.call('GET', '/v1/integration', { key: minted.key })).status).toBe(200);
      const revoked = (await admin.mutate('apiKeys.revoke', { id: minted.id }, at(ours))).body.result.data;
      expect(revoked).toEqual({ id: minted.id, revokedAt: expect.stringMatching(/Z$/) });
      expect((await admin.mutate('apiKeys.revoke', { id: minted.id }, at(ours))).body.result.data).toEqual(revoked);
      expect((await server.call('GET', '/v1/integration', { key: minted.key })).status).toBe(401);
      expect((await ask('apiKeys.list'))[0].revokedAt).toBe(revoked.revokedAt);
    });

    it('may have fewer scopes and an end', async () => {
      const mint = (more: object) => admin.mutate('apiKeys.mint', { name: 'Narrow', ...more }, at(ours));
      const { id } = (await mint({ scopes: ['webhooks:write', 'read', 'read'], expiresInDays: 90 })).body.result.data;
      const [listed] = await ask('apiKeys.list');
      expect(listed).toMatchObject({ id, scopes: ['read', 'webhooks:write'] });
      const days = (Date.parse(listed.expiresAt) - Date.parse(listed.createdAt)) / 86_400_000;
      expect(days).toBe(90);
      for (const refused of [{ scopes: [] }, { scopes: ['root'] }, { expiresInDays: 0 }, { expiresInDays: 3_651 }])
        expect([refused, (await mint(refused)).status]).toEqual([refused, 400]);
      expect((await ask('apiKeys.list'))[0].id).toBe(id);
      await admin.mutate('apiKeys.revoke', { id }, at(ours));
    });

    it('say when they were last used, which is written with the usage and at most once a minute', async () => {
      const { id, key } = (await admin.mutate('apiKeys.mint', {}, at(ours))).body.result.data;
      const lastUse = async () =>
        (await ask('apiKeys.list')).find((one: { id: string }) => one.id === id).lastUsedAt as string | null;
      await server.service.usage.flush();
      expect(await lastUse()).toBeNull();
      await server.call('GET', '/v1/integration', { key });
      await server.service.usage.flush();
      const first = await lastUse();
      expect(Math.abs(Date.now() - Date.parse(first!))).toBeLessThan(10_000);
      await server.call('GET', '/v1/integration', { key });
      await server.service.usage.flush();
      expect(await lastUse()).toBe(first);
      // A second process does not know that the time was written just now.
      const second = await startStaffServer({}, server);
      await second.call('GET', '/v1/integration', { key });
      await second.service.usage.flush();
      expect(await lastUse()).toBe(first);
      await server.database.db.sql`update api_keys set last_used_at = now() - interval '61 seconds' where id = ${id}`;
      await second.stop();
      const third = await startStaffServer({}, server);
      await third.call('GET', '/v1/integration', { key });
      await third.stop();
      expect(Date.parse((await lastUse())!)).toBeGreaterThanOrEqual(Date.parse(first!));
    });
  });
}
