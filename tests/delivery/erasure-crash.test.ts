import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { createRandom } from '../../server/demo/session-facts';
import { mintKey } from '../../server/domain/api-keys';
import { foldCounts } from '../support/count-rows';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { dumpDatabase, findInDump } from '../support/dump';
import { correlated, scoredSession } from '../support/facts';
import { endProducts } from '../support/product';
import { waitUntil } from '../support/receiver';
import { openSite, type Server, type Site, type Tenant } from '../support/site';

// kill -9 of the server while it erases a user, and while it answers a POST that has an idempotency key. Postgres keeps running.

const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
const SESSIONS = 3_000;
const KILLS = 2;
const USER = { id: 'lms/ada-4711', name: 'Augusta Ada Lovelace', email: 'ada.lovelace@analytical.example' };
const TEXTS = Object.values(USER);

let database: TestDatabase;
let site: Site;
let server: Server;
beforeAll(async () => {
  database = await createTestDatabase();
  site = await openSite({ db: database.db, url: database.url }, { LOG_LEVEL: 'debug' });
  server = await site.start();
});
afterAll(async () => {
  await endProducts();
  await database.drop();
});

async function kill(): Promise<string> {
  server.signal('SIGKILL');
  const { stdout, stderr } = await server.endWithin();
  await site.waitForQuiet();
  return stdout + stderr;
}

/**
 * Copies the session of the user that the pipeline sent, with its event and score. None leaves the last 24 hours meanwhile, which
 * are counted: for an hour around them there is none.
 */
async function copySessions({ id }: Tenant, sessionId: string): Promise<void> {
  const { sql } = database.db;
  await sql`
    insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser,
                          fingerprint, bot_score, score_bin, scored_at, user_id, correlation_confidence, correlated_at)
    select integration_id, id || '-' || n, created_at - (n + case when n > 1410 then 60 else 0 end) * interval '1 minute', status, 'https://lms.example.edu/' || user_id, origin,
           user_agent, user_agent_summary, device_type, browser, 'device-' || n % 7, bot_score, score_bin, scored_at, user_id,
           correlation_confidence, correlated_at
      from sessions, generate_series(1, ${SESSIONS}::int) n where integration_id = ${id} and id = ${sessionId}`;
  await sql`
    insert into domain_events (integration_id, id, type, natural_key, payload)
    select integration_id, 'evt_' || id, 'BotDetected', id, json_build_object('sessionId', id, 'userName', ${USER.name}::text)::text
      from sessions where integration_id = ${id} and id <> ${sessionId}`;
}

describe('kill -9', () => {
  it(`of an erasure at random moments: it ends all the same, and nothing of the user is left, in the log either (KILL_SEED=${seed})`, async () => {
    const random = createRandom(seed);
    const tenant = await site.createTenant();
    const { key } = await mintKey(asOperator(database.db), {
      ...{ integrationId: tenant.id, name: 'erases', scopes: ['read', 'users:erase'] },
    });
    const read = async (path: string) => (await server.call('GET', path, { key })).body.data;
    const { sessionId, facts } = scoredSession(0.95);
    expect((await server.ingest(tenant.id, [...facts, correlated(sessionId, USER.id, { user: USER })])).status).toBe(
      200,
    );
    await copySessions(tenant, sessionId);
    await foldCounts(database.db);
    const readTotals = async () => {
      const { generatedAt: _, ...totals } = await read('/v1/stats');
      return totals;
    };
    const before = await readTotals();

    const erase = () => server.call('DELETE', `/v1/users/${encodeURIComponent(USER.id)}`, { key });
    const { body } = await erase();
    const readStatus = async () => (await read(`/v1/user-erasures/${body.data.id}`)).status;
    const readProgress = async () => {
      const [row] = await database.db
        .sql`select position, completed_at as "completedAt" from user_erasures where id = ${body.data.id}`;
      return row as { position: { step: number }; completedAt: string | null };
    };
    let log = '';
    const killedAt: number[] = [];
    for (let n = 0; n < KILLS; n++) {
      const { position } = await readProgress();
      await waitUntil(async () => !isDeepStrictEqual((await readProgress()).position, position), 90_000);
      await sleep(random() * 200);
      log += await kill();
      const left = await readProgress();
      if (left.completedAt === null) killedAt.push(left.position.step);
      // An erasure of which nothing was heard for two minutes is found.
      await database.db
        .sql`update user_erasures set woken_at = now() - interval '3 minutes' where completed_at is null`;
      server = await site.start();
    }
    expect(killedAt.length, 'it was faster than the kills').toBeGreaterThan(0);
    await waitUntil(async () => (await readStatus()) === 'Completed', 90_000);
    await foldCounts(database.db);
    expect(await readTotals()).toEqual(before);
    expect(await read(`/v1/user-erasures/${body.data.id}`)).toMatchObject({ sessionCount: SESSIONS + 1 });
    expect(findInDump(await dumpDatabase(database.db), TEXTS)).toEqual([]);
    // A process that is killed loses the lines of its last 100 ms, so the line of the first request may be lost.
    await erase();
    await waitUntil(() => server.stderr().includes('"method":"DELETE","route":"/v1/users/{userId}"'));
    log += server.stdout() + server.stderr();
    expect(findInDump(new Map([['log', log.split('\n')]]), TEXTS)).toEqual([]);
  });

  it('of a POST with an idempotency key: what was not committed is done by a repeat, what was is not done twice', async () => {
    const { id, key } = await site.createTenant();
    const { sql } = database.db;
    const body = { url: 'https://example.com/once', eventType: 'BotDetected', enabled: false };
    const create = (idempotencyKey: string) =>
      server.call('POST', '/v1/webhooks', { key, body, headers: { 'idempotency-key': idempotencyKey } });
    const countHooks = async () => (await sql`select 1 from webhook_subscriptions where integration_id = ${id}`).length;
    const [uncommitted, committed] = [randomUUID(), randomUUID()];

    await sql.begin(async (tx) => {
      await tx`lock table webhook_subscriptions in share row exclusive mode`;
      create(uncommitted).catch(() => {});
      await waitUntil(
        async () => (await sql`select 1 from idempotency_keys where integration_id = ${id}`).length === 1,
      );
      server.signal('SIGKILL');
      await server.endWithin();
    });
    await site.waitForQuiet();
    server = await site.start();
    expect(await countHooks()).toBe(0);
    expect((await create(uncommitted)).status).toBe(429);
    // The claim of the process that died ends after a minute.
    await sql`update idempotency_keys set claimed_until = now() - interval '1 ms' where integration_id = ${id}`;
    expect((await create(uncommitted)).headers.get('idempotent-replayed')).toBe(null);
    expect(await countHooks()).toBe(1);

    create(committed).catch(() => {});
    await waitUntil(async () => (await countHooks()) === 2);
    await kill();
    server = await site.start();
    const repeat = await create(committed);
    expect([repeat.status, repeat.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(await countHooks()).toBe(2);
  });
});
