import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAlertRuleInput } from '../../contract/alert-rules';
import { openDatabase } from '../../db/client';
import { migrateDatabase } from '../../db/migrate';
import { asOperator } from '../../server/audit/acts';
import { createAlertRule } from '../../server/domain/alert-rules';
import { mintKey } from '../../server/domain/api-keys';
import { findIntegration } from '../../server/domain/integrations';
import { requestReport } from '../../server/reports/requests';
import { createEmptyDatabase } from '../support/database';
import { correlated, scoredSession, started } from '../support/facts';
import { findInngest, type InngestServer } from '../support/inngest-server';
import { type NextServer, startNextServer } from '../support/next-server';
import { findPgBouncer, type Pooler, startPooler } from '../support/pooler';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { type Client, createClient } from '../support/server';
import { openSite, type Site, type Tenant } from '../support/site';

// Next's route handlers as in production, under plain `next start` and as Vercel runs them. A real Inngest calls
// /api/inngest, and the database is behind a transaction pooler if a PgBouncer is installed. Each has a different
// region, so that both can run at once on one Inngest server.

const MINUTE_MS = 60_000;
const inngest = findInngest(process.env);
const found = inngest?.description ?? 'none: INNGEST_BASE_URL is unset and no inngest-cli is installed';

interface Stack {
  site: Site;
  next: NextServer;
  server: Client;
  stop(): Promise<void>;
}

describe.skipIf(!inngest)(`with a real Inngest server (${found})`, () => {
  let receiver: Receiver;
  let engine: InngestServer;
  const stacks = new Map<string, Stack>();
  beforeAll(async () => {
    [receiver, engine] = await Promise.all([startReceiver(), inngest!.start()]);
    // A receiver's path `/fails-2/…` fails twice.
    receiver.answer = ({ path }) => {
      const failures = Number(/^\/fails-(\d)/.exec(path)?.[1]);
      return receiver.received.filter((one) => one.path === path).length <= failures ? 500 : 200;
    };
    const [us, eu] = await Promise.all([
      startStack('us', { receiver, engine }, {}),
      startStack('eu', { receiver, engine }, { VERCEL: '1', WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1' }),
    ]);
    stacks.set('plain next start', us).set('next start with VERCEL=1', eu);
  });
  afterAll(async () => {
    await Promise.all([...stacks.values()].map((stack) => stack.stop()));
    await engine?.stop();
    await receiver?.stop();
  });

  describe.concurrent.each(['plain next start', 'next start with VERCEL=1'])('%s', (name) => {
    /** Makes a tenant with a subscription to a new path, and sends facts of so many bot sessions. */
    async function sendBots(events: number, failures: number) {
      const { site, server } = stacks.get(name)!;
      const path = `/fails-${failures}/${randomBytes(4).toString('hex')}`;
      const tenant = await site.createTenant();
      const subscription = await site.subscribe(server, tenant, `${receiver.url}${path}`);
      for (let n = 0; n < events; n++) {
        expect((await server.ingest(tenant.id, scoredSession(0.95).facts)).status).toBe(200);
      }
      return { tenant, subscription, arrived: () => receiver.received.filter((one) => one.path === path) };
    }
    const waitForEnd = (tenant: Tenant) =>
      waitUntil(async () => {
        const rows = await stacks.get(name)!.site.listDeliveries(tenant);
        return rows.length > 0 && rows.every(({ status }) => status !== 'Pending');
      }, engine.patienceMs);

    it('sends failed deliveries again by the schedule, each newly signed, under one delivery id', async () => {
      const { tenant, subscription, arrived } = await sendBots(1, 2);
      await waitForEnd(tenant);
      expect(arrived().map(({ headers }) => headers['x-webhook-delivery-id'])).toEqual(
        Array(3).fill(arrived()[0]!.headers['x-webhook-delivery-id']),
      );
      for (const request of arrived()) expectSigned(request, subscription.secret);
      const [first, second, third] = arrived().map(({ at }) => at);
      expect(second! - first!).toBeGreaterThanOrEqual(1_500);
      expect(third! - second!).toBeGreaterThanOrEqual(1_500);
      const rows = await stacks.get(name)!.site.listDeliveries(tenant);
      expect(rows).toMatchObject([{ status: 'Delivered', attempts: 3, logged: 3 }]);
    });

    it('sends many at once, each of them once', async () => {
      const { tenant, arrived } = await sendBots(60, 0);
      await waitForEnd(tenant);
      await sleep(500);
      expect([arrived().length, new Set(arrived().map(({ body }) => body)).size]).toEqual([60, 60]);
    });

    it('finds deliveries without a wake-up by its crons, and folds the counts', async () => {
      const { site, server } = stacks.get(name)!;
      const { tenant, arrived } = await sendBots(1, 1);
      await waitUntil(async () => (await site.listDeliveries(tenant))[0]?.logged === 1, engine.patienceMs);
      // As if the process that began the second attempt had died: its lease is over and no wake-up will come.
      await site.db.query(
        `update webhook_deliveries set attempts = 2, lease = gen_random_uuid(), next_attempt_at = now() - interval '1 s'
          where integration_id = $1 and lease is null`,
        [tenant.id],
      );
      await waitForEnd(tenant);
      expect(arrived()).toHaveLength(2);
      const countDeltas = async () =>
        (await site.db.query<{ n: number }>('select count(*)::int as n from session_deltas', []))[0]!.n;
      await waitUntil(async () => (await countDeltas()) === 0, MINUTE_MS + engine.patienceMs);
      const { body } = await server.call('GET', '/v1/stats', { key: tenant.key });
      expect(body.data).toMatchObject({ totalSessions: 1, botSessions: 1 });
    });

    it('fires alerts, and renders a report of which nobody told it', async () => {
      const { site, server } = stacks.get(name)!;
      const { db } = site;
      const tenant = await site.createTenant();
      const { integration } = (await findIntegration(db, tenant.id))!;
      const secrets = { erasureKey: randomBytes(32) };
      const context = { ...asOperator(db), integration, secrets, cursorKey: randomBytes(32) };
      const rule = { name: 'Bots', metric: 'botSessions', scope: { kind: 'integration' }, windowMinutes: 5, value: 1 };
      const shown = { comparison: 'gte', severity: 'high', message: '{{value}} bots' };
      await createAlertRule(context, createAlertRuleInput.parse({ ...rule, ...shown }));
      expect((await server.ingest(tenant.id, scoredSession(0.95).facts)).status).toBe(200);
      const { reportId } = await requestReport(context, { template: 'sessions', format: 'pdf', days: 1 });
      await db.query(`update report_jobs set woken_at = now() - interval '1 hour' where id = $1`, [reportId]);
      const read = async (table: string, column: string) =>
        (
          await db.query<{ value: string }>(`select ${column} as value from ${table} where integration_id = $1`, [
            tenant.id,
          ])
        ).map(({ value }) => value);
      await waitUntil(
        async () => (await read('alerts', 'message')).length > 0 && (await read('reports', 'id')).length > 0,
        2 * MINUTE_MS + engine.patienceMs,
      );
      expect(await read('alerts', 'message')).toEqual(['1 bots']);
      const file = await server.call('GET', `/reports/${reportId}/download`, { key: tenant.key });
      expect([file.status, file.text.slice(0, 5)]).toEqual([200, '%PDF-']);
    });

    it('erases a user', async () => {
      const { site, server } = stacks.get(name)!;
      const tenant = await site.createTenant();
      const { key } = await mintKey(asOperator(site.db), {
        ...{ integrationId: tenant.id, name: 'erases', scopes: ['read', 'users:erase'] },
      });
      const facts = [started('of-ada'), correlated('of-ada', 'ada-4711', { user: { id: 'ada-4711', name: 'Ada' } })];
      expect((await server.ingest(tenant.id, facts)).status).toBe(200);
      const { body } = await server.call('DELETE', '/v1/users/ada-4711', { key });
      const read = async () => (await server.call('GET', `/v1/user-erasures/${body.data.id}`, { key })).body.data;
      await waitUntil(async () => (await read()).status === 'Completed', engine.patienceMs);
      expect((await read()).sessionCount).toBe(1);
      expect((await server.call('GET', '/v1/sessions/of-ada', { key })).body.data.userName).toBe('Erased user');
    });

    it('tells the operator of a webhook that fails', async () => {
      const { subscription } = await sendBots(1, 9);
      const listNotices = () =>
        receiver.received
          .filter(({ path }) => path.startsWith('/operator/'))
          .map(({ body }) => JSON.parse(body) as { state: string; subscriptionId: string })
          .filter(({ subscriptionId }) => subscriptionId === subscription.id);
      await waitUntil(() => listNotices().length > 0, MINUTE_MS + engine.patienceMs);
      expect(listNotices().map(({ state }) => state)).toEqual(['failing']);
    });
  });
});

async function startStack(
  region: 'us' | 'eu',
  { receiver, engine }: { receiver: Receiver; engine: InngestServer },
  settings: Record<string, string>,
): Promise<Stack> {
  const { url, drop } = await createEmptyDatabase();
  await migrateDatabase({ url, directory: 'db/migrations', region });
  const db = openDatabase({ url, maxConnections: 4 });
  const program = findPgBouncer(process.env);
  const pooler: Pooler | null = program === null ? null : await startPooler(program, url);
  const pooled = new URL(url);
  if (pooler) pooled.port = String(pooler.port);
  const common = {
    REGION: region,
    DATABASE_POOLER: 'transaction',
    DATABASE_POOL_MAX: '5',
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_RETRY_DELAYS: '0s,2s,2s,2s,2s,2s',
    INNGEST_BASE_URL: engine.baseUrl,
    OPERATOR_WEBHOOK_URL: `${receiver.url}/operator/${region}`,
    OPERATOR_WEBHOOK_SECRET: 'the-secret-of-the-operator',
    ...(engine.isDev ? { INNGEST_DEV: '1' } : {}),
    ...(engine.eventKey ? { INNGEST_EVENT_KEY: engine.eventKey } : {}),
    ...(engine.signingKey ? { INNGEST_SIGNING_KEY: engine.signingKey } : {}),
  };
  const next = await startNextServer(
    { database: { url: pooled.href }, service: { env: { APP_SECRET: randomBytes(32) } } },
    { ...common, ...settings },
  );
  // A deployment ends with this request.
  const sync = await fetch(`${next.url}/api/inngest`, { method: 'PUT', headers: { connection: 'close' } });
  if (!sync.ok) throw new Error(`Inngest does not take the functions: ${sync.status} ${await sync.text()}`);
  return {
    site: await openSite({ db, url }, {}),
    next,
    server: createClient(next.url),
    async stop() {
      await next.stop();
      await pooler?.stop();
      await db.close();
      await drop();
    },
  };
}
