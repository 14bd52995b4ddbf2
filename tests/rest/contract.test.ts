import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { revokeKey } from '../../server/domain/api-keys';
import { ANSWER_HEADERS } from '../../server/rest/security-headers.mjs';
import { expectError, fingerprintOf } from '../support/answers';
import { type ApiServer, startSelfHosted } from '../support/api-servers';
import { Connection } from '../support/connection';
import { withdrawDatabase } from '../support/database';
import { createFixture, type Fixture, makeUnknownIds, viewTenant } from '../support/fixture';
import { FAULTS } from '../support/operation-errors';
import { SUCCESSES } from '../support/operation-successes';
import {
  expectDocumentedError,
  expectSuccess,
  fillPath,
  findOperation,
  listCases,
  listOperations,
  listRefusals,
  sendOperation,
} from '../support/operations';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import type { Answer } from '../support/server';

// Every operation with every answer that its document lists, from one table of cases, on the self-hosted server.
// next-adapter.test.ts tests what Next's route handlers do themselves.

const ALL = Object.keys(SUCCESSES);
const KEYED = Object.keys(FAULTS);
const UNKNOWN_ROUTES = [
  'GET /v1',
  'GET /v1/',
  'GET /v1/nothing',
  'DELETE /v1/sessions',
  'POST /v1/sessions/x',
  'OPTIONS /v1/users',
];

let api: ApiServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  api = await startSelfHosted({ WEBHOOK_ALLOW_HOSTS: receiver.host, QUOTA_FREE: '1' });
});
afterAll(async () => {
  await api?.stop();
  await receiver.stop();
});

/** Sends the request of an operation, or of a route that does not exist, without a key. */
function sendAnonymous(route: string, fixture: Fixture, headers: Record<string, string>) {
  const [method = '', target = ''] = route.split(' ');
  if (target) return api.call(method, target, { headers });
  const operation = findOperation(api, route);
  return api.call(operation.method, fillPath(operation.path, fixture.ids), { headers });
}

it('every operation and every answer that the document lists has a case', () => {
  const toPairs = (operations: { id: string; outcomes: string[] }[]) =>
    operations.flatMap(({ id, outcomes }) => outcomes.map((outcome) => `${id} ${outcome}`)).sort();
  expect(toPairs(listCases())).toEqual(toPairs(listOperations(api.document)));
});

describe('the self-hosted server', () => {
  /** Tenants that no test changes. */
  let known: Fixture;
  let onPro: Fixture;
  let before: unknown;
  const make = (plan?: 'pro') => createFixture({ base: api.base, api, receiver }, plan);
  const viewAll = () => Promise.all([known, onPro].map((fixture) => viewTenant(api.base, fixture)));
  beforeAll(async () => {
    [known, onPro] = await Promise.all([make(), make('pro')]);
    before = await viewAll();
  });

  it.each(ALL)('%s answers as documented and does what it says', async (id) => {
    await expectSuccess(api, id, await make());
  });

  it.each(listRefusals().map(({ id, code, refusal }) => [id, code, refusal.with, refusal] as const))(
    '%s answers %s to %s',
    async (id, code, _with, { field, ids, query, call, plan }) => {
      const fixture = plan === 'pro' ? onPro : known;
      const changedIds = typeof ids === 'function' ? ids(fixture) : ids;
      const answer = await sendOperation(api, id, fixture, {
        ...(changedIds ? { ids: changedIds } : {}),
        ...(query === undefined ? {} : { query }),
        ...call,
      });
      expectDocumentedError(api, id, answer, code, field);
      expect(answer.headers.get('x-service-tier')).toBe(plan ?? 'enterprise');
    },
  );

  it('changes nothing when it refuses', async () => {
    expect(await viewAll()).toEqual(before);
  });

  it.each([
    ['no key', 'MISSING_API_KEY', {}],
    ['an unknown key', 'INVALID_API_KEY', { authorization: `Bearer aik_v1_${randomBytes(30).toString('base64url')}` }],
    ['another scheme', 'INVALID_API_KEY', { authorization: 'Basic YTpi' }],
    ['a malformed key', 'INVALID_API_KEY', { 'x-api-key': 'aik_v1_' }],
  ] as const)('answers %s with %s, with the same bytes on every route', async (_key, code, headers) => {
    const seen = new Set<string>();
    for (const route of [...KEYED, ...UNKNOWN_ROUTES]) {
      const answer = await sendAnonymous(route, known, headers);
      if (KEYED.includes(route)) expectDocumentedError(api, route, answer, code);
      else expectError(answer, code);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      for (const absent of ['x-service-tier', 'ratelimit', 'ratelimit-policy'])
        expect([route, absent, answer.headers.get(absent)]).toEqual([route, absent, null]);
      seen.add(JSON.stringify(fingerprintOf(answer)));
    }
    expect([...seen]).toHaveLength(1);
  });

  it('answers a revoked and an expired key as a key that never existed, on every route', async () => {
    const [revoked, expired] = [await api.base.createTenant(), await api.base.createTenant()];
    await revokeKey(asOperator(api.base.service.db), { id: revoked.keyId });
    await api.base.database.db
      .sql`update api_keys set expires_at = now() - interval '1 ms' where id = ${expired.keyId}`;
    const fingerprints = await Promise.all(
      [revoked.key, expired.key, 'nonsense'].flatMap((one) =>
        [...KEYED, ...UNKNOWN_ROUTES].map(async (route) =>
          JSON.stringify(fingerprintOf(await sendAnonymous(route, known, { authorization: `Bearer ${one}` }))),
        ),
      ),
    );
    expect(new Set(fingerprints).size).toBe(1);
  });

  it.each(KEYED)('%s answers RATE_LIMITED with Retry-After when the quota is used up', async (id) => {
    const { key } = await api.base.createTenant('free');
    let answer: Answer;
    // The quota is 1. A new minute may begin in between.
    let calls = 0;
    do answer = await sendOperation(api, id, known, { key, ids: makeUnknownIds() });
    while (answer.status !== 429 && ++calls < 4);
    expectDocumentedError(api, id, answer, 'RATE_LIMITED');
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    expect(answer.headers.get('x-service-tier')).toBe('free');
  });

  const withId = (api: ApiServer) => listOperations(api.document).filter(({ path }) => path.includes('{'));

  it('answers another tenant’s id as an id that exists nowhere, and changes nothing of that tenant', async () => {
    const other = await make();
    const otherBefore = await viewTenant(api.base, other);
    const asked: string[] = [];
    for (const { id } of withId(api).filter(({ outcomes }) => outcomes.includes('NOT_FOUND'))) {
      // The body is the caller's: for `update` it contains nothing of the other tenant.
      const foreign = await sendOperation(api, id, known, { ids: other.ids });
      const unknown = await sendOperation(api, id, known, { ids: makeUnknownIds() });
      expectDocumentedError(api, id, foreign, 'NOT_FOUND');
      expect([id, fingerprintOf(foreign)]).toEqual([id, fingerprintOf(unknown)]);
      asked.push(id);
    }
    expect(asked.sort()).toEqual(
      withId(api)
        .map(({ id }) => id)
        // Anybody may be confirmed or erased by the caller, for the caller only.
        .filter((id) => id !== 'confirmDevice' && id !== 'eraseUser')
        .sort(),
    );
    expect(await viewTenant(api.base, other)).toEqual(otherBefore);
  });

  it('registers another tenant’s device for the caller only', async () => {
    const [caller, other] = [await make(), await make()];
    const otherBefore = await viewTenant(api.base, other);
    const foreign = await sendOperation(api, 'confirmDevice', caller, { ids: other.ids });
    const unknown = await sendOperation(api, 'confirmDevice', caller, { ids: makeUnknownIds() });
    expect([foreign.status, unknown.status]).toEqual([200, 200]);
    expect(Object.keys(foreign.body.data)).toEqual(Object.keys(unknown.body.data));
    expect((await caller.get('/v1/stats')).body.data).toMatchObject({ confirmedDevices: 2, totalUsers: 1 });
    expect((await caller.get('/v1/users')).body.data).toHaveLength(1);
    expect(await viewTenant(api.base, other)).toEqual(otherBefore);
    const anomaly = {
      kind: 'anomalyDetected',
      anomalyId: 'shared',
      anomalyType: 'SharedDevice',
      severity: 'low',
      detectedAt: caller.time(1),
      userId: other.ids.userId,
      deviceFingerprint: other.ids.fingerprint,
    };
    expect((await other.ingest([anomaly])).body.result.data).toMatchObject({ accepted: 1, suppressed: 0 });
    expect((await caller.ingest([anomaly])).body.result.data).toMatchObject({ accepted: 0, suppressed: 1 });
    expect((await other.get('/v1/stats')).body.data).toMatchObject({ anomalies: 2, confirmedDevices: 0 });
  });

  it('answers HEAD like GET on every GET route, without the body', async () => {
    const connection = await Connection.open(api.url);
    const headers = { Authorization: `Bearer ${known.key}` };
    // Days whose counts no longer change.
    const queries: Record<string, string> = { getUsage: '?startDate=2020-01-01&endDate=2020-01-31' };
    const read = async (method: string, target: string) => {
      connection.writeHead(method, target, headers);
      const { status, rawHeaders, text } = await connection.read(method !== 'HEAD');
      const isVolatile = ([header]: [string, string]) =>
        /^(date|x-request-id|ratelimit|transfer-encoding)$/i.test(header);
      return { status, headers: rawHeaders.filter((header) => !isVolatile(header)), text, rawHeaders };
    };
    // A file that is written as it is read has no length.
    const gets = listOperations(api.document).filter(({ method, id }) => method === 'GET' && id !== 'exportUser');
    expect(gets.length).toBeGreaterThan(10);
    for (const { id, path } of gets) {
      for (const ids of path.includes('{') ? [known.ids, makeUnknownIds()] : [known.ids]) {
        const target = fillPath(path, ids) + (queries[id] ?? '');
        const [head, get] = [await read('HEAD', target), await read('GET', target)];
        expect([id, get.status]).toEqual([id, ids === known.ids ? 200 : 404]);
        expect([id, head.status, head.headers, head.text]).toEqual([id, get.status, get.headers, '']);
        for (const { rawHeaders } of [head, get]) {
          const length = rawHeaders.find(([header]) => header.toLowerCase() === 'content-length')?.[1];
          // An export begins before its length is known.
          expect([id, length]).toEqual([id, id.startsWith('export') ? undefined : String(Buffer.byteLength(get.text))]);
        }
      }
    }
    expect(connection.unread).toBe(0);
    connection.close();
  });

  it('answers NOT_FOUND to every wrong method and unknown path, and counts them as (unmatched)', async () => {
    const { key, ids } = await make();
    const methodsOf = new Map<string, string[]>();
    for (const { method, path, needsKey } of listOperations(api.document))
      if (needsKey) methodsOf.set(path, [...(methodsOf.get(path) ?? []), method]);
    const wrong = [...methodsOf].flatMap(([path, methods]) =>
      ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
        .filter((method) => !methods.includes(method === 'HEAD' ? 'GET' : method))
        .map((method): [string, string] => [method, fillPath(path, ids)]),
    );
    const unknown = UNKNOWN_ROUTES.map((route) => route.split(' ') as [string, string]);
    const counts: Record<string, number> = {};
    for (const [method, target] of [...wrong, ...unknown]) {
      const answer = await api.call(method, target, { key });
      if (method === 'HEAD') expect([target, answer.status, answer.text]).toEqual([target, 404, '']);
      else expectError(answer, 'NOT_FOUND');
      expect(answer.headers.get('allow')).toBeNull();
      const counted = method === 'HEAD' ? 'GET' : method;
      counts[counted] = (counts[counted] ?? 0) + 1;
    }
    const { data } = (await api.call('GET', '/v1/usage', { key })).body;
    const unmatched = data.byEndpoint.filter(({ path }: { path: string }) => path === '(unmatched)');
    expect(
      unmatched.toSorted((a: { method: string }, b: { method: string }) => (a.method < b.method ? -1 : 1)),
    ).toEqual(
      Object.entries(counts)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([method, count]) => ({ method, path: '(unmatched)', requests: count, errors: count })),
    );
    expect(data.clientErrors).toBe(wrong.length + unknown.length);
  });

  describe('when something is broken on our side', () => {
    const seen = new Set<string>();

    it.each(KEYED)('%s answers INTERNAL_ERROR', async (id) => {
      const { damage, repair, isInLookUp = false } = FAULTS[id]!;
      const { sql } = api.base.database.db;
      await sql.unsafe(damage);
      const answer = await sendOperation(api, id, known).finally(() => sql.unsafe(repair));
      expectDocumentedError(api, id, answer, 'INTERNAL_ERROR');
      expect(answer.headers.get('x-service-tier')).toBe(isInLookUp ? null : 'enterprise');
      seen.add(answer.text);
      const names = [...answer.headers.keys()].filter((header) => !/^ratelimit/.test(header));
      expect(names.sort()).toEqual(
        [
          ...['cache-control', 'connection', 'content-length', 'content-type', 'date', 'keep-alive', 'x-request-id'],
          ...Object.keys(ANSWER_HEADERS),
          ...(isInLookUp ? [] : ['x-service-tier']),
        ].sort(),
      );
    });

    it('does not say what is broken', () => {
      expect([...seen]).toEqual([
        '{"error":{"code":"INTERNAL_ERROR","message":"Something went wrong on our side","details":null}}',
      ]);
    });

    it('answers as before after the repair, and has changed nothing', async () => {
      expect(await viewAll()).toEqual(before);
    });
  });
});

/** Each one begins an outage and answers a function that ends it. */
const OUTAGES: [what: string, begin: () => Promise<() => Promise<void>>][] = [
  ['cannot be reached', () => api.databaseRelay.cut().then(() => api.databaseRelay.restore)],
  ['is behind a balancer that hangs up', () => api.databaseRelay.hangUp().then(() => api.databaseRelay.restore)],
  ['is not there', () => withdrawDatabase(api.base.database.url)],
];

describe.each(OUTAGES)('while the database %s', (_what, begin) => {
  const answers = new Map<string, Answer>();
  let fixture: Fixture;

  beforeAll(async () => {
    fixture = await createFixture({ base: api.base, api, receiver });
    const end = await begin();
    await Promise.all(ALL.map(async (id) => answers.set(id, await sendOperation(api, id, fixture)))).finally(end);
  });

  it.each(KEYED)('%s answers SERVICE_UNAVAILABLE', (id) => {
    const answer = answers.get(id)!;
    expectDocumentedError(api, id, answer, 'SERVICE_UNAVAILABLE');
    expect(answer.text).toBe(
      '{"error":{"code":"SERVICE_UNAVAILABLE","message":"The service is temporarily unavailable","details":null}}',
    );
    expect(answer.headers.get('x-service-tier')).toBeNull();
  });

  it('/health answers', () => {
    expect(answers.get('getHealth')!.status).toBe(200);
  });

  it('the server answers again when the database is back', async () => {
    const { get } = fixture;
    await waitUntil(async () => (await get('/v1/stats')).status === 200);
    // No connection of the pool still answers with what it was refused before.
    const answers = await Promise.all(Array.from({ length: 40 }, () => get('/v1/sessions')));
    expect(answers.map(({ status, body }) => [status, body.data?.length])).toEqual(answers.map(() => [200, 3]));
  });
});
