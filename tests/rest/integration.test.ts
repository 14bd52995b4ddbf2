import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import { findIntegration } from '../../server/domain/integrations';
import { startTestServer, type TestServer } from '../support/server';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const read = async (key: string) => (await server.call('GET', '/v1/integration', { key })).body.data;
const mask = (key: string) => `aik_v1_${key.slice(7, 11)}…${key.slice(-4)}`;

describe('GET /v1/integration', () => {
  it('has every field of the key’s integration', async () => {
    const { id, key } = await server.createTenant('enterprise');
    await server.database.db
      .sql`update integrations set allowed_origins = ${'{"https://a.example.edu"}'}::text[] where id = ${id}`;
    expect(await read(key)).toEqual({
      id,
      name: 'Tenant on enterprise',
      plan: 'enterprise',
      serviceTier: 'enterprise',
      region: 'us',
      status: 'Active',
      allowedOrigins: ['https://a.example.edu'],
      apiKeyMasked: mask(key),
      apiKeyScopes: ['read', 'sessions:write', 'webhooks:write', 'settings:write', 'users:erase'],
      webhooks: { active: 0, max: 10 },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  it('says the scopes of the calling key, and to staff those of the newest', async () => {
    const { id } = await server.createTenant('pro');
    const actor = asOperator(server.service.db);
    const scopes = ['read', 'users:erase'] as const;
    const { key } = await mintKey(actor, { integrationId: id, name: 'second', scopes: [...scopes] });
    expect((await read(key)).apiKeyScopes).toEqual(scopes);
    expect((await findIntegration(server.service.db, id))!.apiKeyScopes).toEqual(scopes);
  });

  it('masks the calling key, not another key of the integration', async () => {
    const { id, key } = await server.createTenant('pro');
    const other = (await mintKey(asOperator(server.service.db), { integrationId: id, name: 'second' })).key;
    expect((await read(key)).apiKeyMasked).toBe(mask(key));
    expect((await read(other)).apiKeyMasked).toBe(mask(other));
    const answer = await server.call('GET', '/v1/integration', { headers: { 'x-api-key': other } });
    expect(answer.body.data.apiKeyMasked).toBe(mask(other));
    expect(answer.text).not.toContain(other.slice(11, -4));
  });

  it.each([
    ['free', 'free', 0],
    ['starter', 'free', 0],
    ['pro', 'pro', 1],
    ['enterprise', 'enterprise', 10],
  ] as const)('on the plan %s shows the tier %s and %i webhooks', async (plan, serviceTier, max) => {
    const { key } = await server.createTenant(plan);
    expect(await read(key)).toMatchObject({ plan, serviceTier, webhooks: { active: 0, max } });
  });

  it('counts the active webhooks, without disabled or deleted ones and without another tenant’s', async () => {
    const { key } = await server.createTenant('enterprise');
    const other = await server.createTenant('enterprise');
    const create = async (owner: string, enabled: boolean) => {
      const body = { url: 'https://example.com/', eventType: 'BotDetected', enabled };
      return (await server.call('POST', '/v1/webhooks', { key: owner, body })).body.data.id;
    };
    await create(other.key, true);
    await create(key, false);
    const ids = [await create(key, true), await create(key, true), await create(key, true)];
    expect((await read(key)).webhooks).toEqual({ active: 3, max: 10 });
    await server.call('DELETE', `/v1/webhooks/${ids[0]}`, { key });
    await server.call('PATCH', `/v1/webhooks/${ids[1]}`, { key, body: { enabled: false } });
    expect((await read(key)).webhooks).toEqual({ active: 1, max: 10 });
  });
});
