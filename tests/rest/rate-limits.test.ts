import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import { expectError } from '../support/answers';
import { beginWindow } from '../support/clock-window';
import { type Answer, startTestServer, type TestServer } from '../support/server';

const QUOTAS = {
  QUOTA_FREE: '5',
  QUOTA_SHARED_FREE: '6',
  QUOTA_PRO: '25',
  QUOTA_SHARED_PRO: '24',
  QUOTA_ENTERPRISE: '8',
  QUOTA_SHARED_ENTERPRISE: '9',
};
const MINUTE_MS = 60_000;
const REQUEST_TIME_MS = 15_000;

let server: TestServer;
/** A second process on the same database. */
let second: TestServer;
beforeAll(async () => {
  server = await startTestServer(QUOTAS);
  second = await startTestServer(QUOTAS, server);
});
afterAll(async () => {
  await second.stop();
  await server.stop();
});

/** Windows are clock minutes of the database. Each test begins with empty buckets. */
beforeEach(async () => {
  await beginWindow(server.database.db, MINUTE_MS, REQUEST_TIME_MS);
  await server.database.db.sql`delete from rate_windows`;
});

const withKey = (key: string, path = '/v1/integration', on = server) => on.call('GET', path, { key });
const shared = (key: string, path = '/v1/integration', on = server) =>
  on.call('GET', path, { headers: { 'x-api-key': key } });

async function repeat(count: number, send: (n: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let n = 0; n < count; n++) answers.push(await send(n));
  return answers;
}
const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status);
const countOf = (answers: Answer[], status: number) => statusesOf(answers).filter((other) => other === status).length;

/** Reads the fields of RateLimit and RateLimit-Policy. */
function readLimit({ headers }: Answer) {
  const limit = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '');
  const policy = /^"(\w+)";q=(\d+);w=(\d+)$/.exec(headers.get('ratelimit-policy') ?? '');
  expect([limit, policy], JSON.stringify([...headers])).not.toContain(null);
  expect(policy![1]).toBe(limit![1]);
  return {
    bucket: limit![1],
    remaining: Number(limit![2]),
    resetSeconds: Number(limit![3]),
    quota: Number(policy![2]),
    windowSeconds: Number(policy![3]),
  };
}

describe('a Bearer key', () => {
  it('may make its quota of requests a minute, then gets 429', async () => {
    const { key } = await server.createTenant('free');
    const answers = await repeat(7, () => withKey(key));
    expect(statusesOf(answers)).toEqual([200, 200, 200, 200, 200, 429, 429]);
    for (const answer of answers.slice(5)) expectError(answer, 'RATE_LIMITED');
  });

  it('sees in every answer how many requests remain in its window', async () => {
    const { key } = await server.createTenant('free');
    const answers = await repeat(7, () => withKey(key));
    const limits = answers.map(readLimit);
    expect(limits.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0, 0]);
    for (const { bucket, quota, windowSeconds, resetSeconds } of limits) {
      expect([bucket, quota, windowSeconds]).toEqual(['key', 5, 60]);
      expect(resetSeconds).toBeGreaterThanOrEqual(1);
      expect(resetSeconds).toBeLessThanOrEqual(60);
    }
  });

  it('gets Retry-After with a 429, in whole seconds to the start of the next clock minute, never less', async () => {
    const { key } = await server.createTenant('free');
    const answers = await repeat(6, () => withKey(key));
    for (const { headers } of answers.slice(0, 5)) expect(headers.get('retry-after')).toBeNull();
    const last = answers[5]!;
    expect(last.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    const [row] = await server.database.db.sql<{ seconds: number }[]>`
      select 60 - extract(second from now()) as seconds`;
    const retryAfter = Number(last.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThanOrEqual(Math.floor(Number(row!.seconds)));
    expect(retryAfter).toBeLessThanOrEqual(Math.ceil(Number(row!.seconds)) + 1);
    expect(readLimit(last).resetSeconds).toBe(retryAfter);
  });

  it('keeps its tier, its request id and no-store in the 429', async () => {
    const { key } = await server.createTenant('starter');
    const { headers } = (await repeat(6, () => withKey(key)))[5]!;
    expect(headers.get('x-service-tier')).toBe('free');
    expect(headers.get('x-request-id')).toMatch(/\S/);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('has its own bucket, separate from another key of the same integration', async () => {
    const { id, key } = await server.createTenant('free');
    const other = await mintKey(asOperator(server.service.db), { integrationId: id, name: 'second' });
    expect(statusesOf(await repeat(6, () => withKey(key))).at(-1)).toBe(429);
    expect(readLimit(await withKey(other.key)).remaining).toBe(4);
  });

  it('has another bucket when it is sent in x-api-key', async () => {
    const { key } = await server.createTenant('free');
    await repeat(6, () => withKey(key));
    const answer = await shared(key);
    expect(answer.status).toBe(200);
    expect(readLimit(answer)).toMatchObject({ bucket: 'shared', remaining: 5 });
  });

  it('has the quota of its current plan', async () => {
    const { id, key } = await server.createTenant('free');
    await repeat(6, () => withKey(key));
    await server.database.db.sql`update integrations set plan = 'enterprise' where id = ${id}`;
    const answer = await withKey(key);
    expect([answer.status, readLimit(answer).quota, readLimit(answer).remaining]).toEqual([200, 8, 1]);
  });

  it('has its full quota again in the next minute', async () => {
    const { key } = await server.createTenant('free');
    await repeat(6, () => withKey(key));
    await server.database.db.sql`update rate_windows set window_start = window_start - interval '1 minute'`;
    const answer = await withKey(key);
    expect([answer.status, readLimit(answer).remaining]).toEqual([200, 4]);
  });
});

describe('x-api-key', () => {
  it('shares one bucket with all traffic of the tier', async () => {
    const [one, other, starter] = await Promise.all(
      (['free', 'free', 'starter'] as const).map((plan) => server.createTenant(plan)),
    );
    const answers = await repeat(9, (n) => shared([one!, other!, starter!][n % 3]!.key));
    expect(statusesOf(answers)).toEqual([200, 200, 200, 200, 200, 200, 429, 429, 429]);
    expect(answers.map((answer) => readLimit(answer).remaining)).toEqual([5, 4, 3, 2, 1, 0, 0, 0, 0]);
    for (const answer of answers) expect(readLimit(answer)).toMatchObject({ bucket: 'shared', quota: 6 });
  });

  it('has a bucket for each tier', async () => {
    const free = await server.createTenant('free');
    const enterprise = await server.createTenant('enterprise');
    expect((await repeat(7, () => shared(free.key))).at(-1)?.status).toBe(429);
    expect(readLimit(await shared(enterprise.key))).toMatchObject({ quota: 9, remaining: 8 });
  });

  it('says in its 429 that the bucket is shared and that a Bearer key has its own', async () => {
    const { key } = await server.createTenant('free');
    const last = (await repeat(7, () => shared(key)))[6]!;
    expectError(last, 'RATE_LIMITED');
    expect(last.body.error.message).toMatch(/shared?/i);
    expect(last.body.error.message).toMatch(/Bearer/);
    expect(last.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    const bearer = (await repeat(6, () => withKey(key)))[5]!;
    expect(bearer.status).toBe(429);
    expect(bearer.body.error.message).not.toMatch(/shared?/i);
  });
});

describe('the count is exact', () => {
  const both = (n: number) => (n % 2 === 0 ? server : second);

  it('for one key under 40 concurrent requests to two servers', async () => {
    const { key } = await server.createTenant('pro');
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => withKey(key, '/v1/integration', both(n))));
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([25, 15]);
    const remaining = answers.filter(({ status }) => status === 200).map((answer) => readLimit(answer).remaining);
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, n) => n));
  });

  it('for a shared bucket under 40 concurrent requests of two tenants to two servers', async () => {
    const tenants = [await server.createTenant('pro'), await server.createTenant('pro')];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => shared(tenants[(n >> 1) % 2]!.key, '/v1/integration', both(n))),
    );
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([24, 16]);
  });
});

describe('what counts', () => {
  it('is every answer to a valid key, including 404 and 400', async () => {
    const { key } = await server.createTenant('free');
    const paths = ['/v1/unknown', '/v1', '/v1/sessions/unknown', '/v1/sessions?pageSize=0', '/v1/sessions/'];
    expect(statusesOf(await repeat(5, (n) => withKey(key, paths[n])))).toEqual([404, 404, 404, 400, 404]);
    expectError(await withKey(key), 'RATE_LIMITED');
  });

  it('is never a request that fails authentication, which is 401 even when the key’s quota is used up', async () => {
    const { key } = await server.createTenant('free');
    const wrong = `${key.slice(0, -4)}AAAA`;
    await repeat(6, () => withKey(wrong));
    await repeat(6, () => shared(wrong));
    await repeat(6, () => server.call('GET', '/v1/integration'));
    await repeat(3, () => server.call('GET', '/v1/x', { headers: { authorization: 'Basic x', 'x-api-key': key } }));
    const [row] = await server.database.db.sql<{ buckets: number }[]>`
      select count(*)::int as buckets from rate_windows`;
    expect(row!.buckets).toBe(0);
    expect(readLimit(await withKey(key)).remaining).toBe(4);
    await repeat(5, () => withKey(key));
    expect((await withKey(wrong)).status).toBe(401);
  });

  it('is neither /health nor the document, with a key or without', async () => {
    const { key } = await server.createTenant('free');
    const answers = await repeat(12, (n) => withKey(key, ['/health', '/openapi/v3.json', '/swagger'][n % 3]));
    expect(countOf(answers, 200)).toBe(12);
    expect(readLimit(await withKey(key)).remaining).toBe(4);
  });
});

describe('a used-up quota', () => {
  it('is refused before route, query and body are checked', async () => {
    const { key } = await server.createTenant('free');
    await repeat(5, () => withKey(key));
    expectError(await withKey(key, '/v1/unknown'), 'RATE_LIMITED');
    expectError(await withKey(key, '/v1/sessions?pageSize=0'), 'RATE_LIMITED');
    expectError(await withKey(key, '/v1/sessions/%zz'), 'RATE_LIMITED');
    expectError(await server.call('POST', '/v1/webhooks', { key, body: '{' }), 'RATE_LIMITED');
    expectError(await server.call('DELETE', '/v1/webhooks/unknown', { key }), 'RATE_LIMITED');
  });

  it('does nothing that the request asked for', async () => {
    const { id, key } = await server.createTenant('enterprise');
    await repeat(8, () => withKey(key));
    const body = { url: 'https://example.com/', eventType: 'BotDetected' };
    expectError(await server.call('POST', '/v1/webhooks', { key, body }), 'RATE_LIMITED');
    const rows = await server.database.db.sql`select 1 from webhook_subscriptions where integration_id = ${id}`;
    expect(rows).toHaveLength(0);
  });
});
