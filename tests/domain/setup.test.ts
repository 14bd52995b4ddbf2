import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Plan } from '../../contract/tiers';
import { type AuditedContext, asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import { setAllowedOrigins } from '../../server/domain/collecting';
import { createIntegration } from '../../server/domain/integrations';
import { getSetup } from '../../server/domain/setup';
import { createSite, markReceiving, revokeSite } from '../../server/domain/sites';
import { createTestDatabase, type TestDatabase } from '../support/database';

// How far an integration is set up, by its plan and by what it has.

const NOTHING = { origins: false, pixel: false, apiKey: false, webhook: false };
let database: TestDatabase;
let operator: AuditedContext;
beforeAll(async () => {
  database = await createTestDatabase();
  operator = asOperator(database.db);
});
afterAll(() => database.drop());

/** Creates an integration. Answers how to read its set-up and how to go on with it. */
async function openIntegration(plan: Plan) {
  const { id } = await createIntegration(operator, { name: plan, plan, allowedOrigins: [] });
  const { db } = database;
  return {
    id,
    read: () => getSetup({ db, integration: { id, plan, tier: 'free', mediumAt: 40, botAt: 70 } }),
    /** Does all steps but that of the webhook. Answers the id of the site. */
    async prepare() {
      await setAllowedOrigins(operator, { integrationId: id, allowedOrigins: ['https://lms.example.edu'] });
      const site = await createSite(operator, { integrationId: id, name: 'Campus' });
      await markReceiving(db, site.id);
      await mintKey(operator, { integrationId: id, name: 'first' });
      return site.id;
    },
    /** Adds a subscription with one finished delivery. */
    async deliver(status: 'Delivered' | 'PermanentFailure') {
      const subscription = `whk_${randomUUID()}`;
      await db.sql`
        insert into webhook_subscriptions (integration_id, id, url, event_type, name, enabled, secret_sealed)
        values (${id}, ${subscription}, 'https://example.com', 'BotDetected', 'hook', true, '')`;
      await db.sql`
        insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, finished_at)
        values (${id}, ${`dlv_${randomUUID()}`}, ${subscription}, 'evt_1', ${status}, now())`;
      return subscription;
    },
  };
}

describe('the set-up of an integration', () => {
  it('is empty at first, and complete when a receiver has taken a delivery', async () => {
    const { read, prepare, deliver } = await openIntegration('enterprise');
    expect(await read()).toMatchObject({ done: NOTHING, isComplete: false, firstEvent: null, webhooks: { max: 10 } });
    await prepare();
    const done = { origins: true, pixel: true, apiKey: true };
    expect(await read()).toMatchObject({ done: { ...done, webhook: false }, isComplete: false, keys: { active: 1 } });
    await deliver('PermanentFailure');
    expect(await read()).toMatchObject({ done: { webhook: false }, webhooks: { active: 1, deliveredAt: null } });
    const latestId = await deliver('Delivered');
    expect(await read()).toMatchObject({
      ...{ done: { ...done, webhook: true }, isComplete: true },
      webhooks: { active: 2, latestId, deliveredAt: expect.any(String) },
    });
  });

  it.each(['free', 'starter'] as const)('has no step for webhooks in the plan %s', async (plan) => {
    const { read, prepare } = await openIntegration(plan);
    expect(await read()).toMatchObject({ done: { ...NOTHING, webhook: null }, isComplete: false });
    await prepare();
    expect(await read()).toMatchObject({ done: { webhook: null }, isComplete: true, webhooks: { max: 0 } });
  });

  it('names the origin of the first batch, not that of an older session, such as those of the demo', async () => {
    const { read, prepare, id } = await openIntegration('pro');
    const site = await prepare();
    const began = async (sessionId: string, origin: string, ago: string) => {
      await database.db.sql`
        insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser)
        values (${id}, ${sessionId}, now() - ${ago}::interval, 'Active', ${origin}, ${origin}, '', '', 'desktop', '')`;
      await database.db.sql`
        insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent)
        values (${id}, ${sessionId}, ${site}, now() - ${ago}::interval, (now() - ${ago}::interval)::date, '')`;
    };
    await began('loaded', 'https://demo.example.edu', '30 days');
    expect((await read()).firstEvent).toEqual({ at: expect.any(String), origin: null });
    await began('first', 'https://lms.example.edu', '1 second');
    expect((await read()).firstEvent).toMatchObject({ origin: 'https://lms.example.edu' });
  });

  it('counts no site that was revoked', async () => {
    const { read, prepare, id } = await openIntegration('pro');
    await revokeSite(operator, { id: await prepare(), integrationId: id });
    expect(await read()).toMatchObject({ done: { pixel: false }, firstEvent: null });
  });
});
