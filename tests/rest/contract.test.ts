import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../contract/errors';
import { asOperator } from '../../server/audit/acts';
import { revokeKey } from '../../server/domain/api-keys';
import { ANSWER_HEADERS } from '../../server/rest/security-headers.mjs';
import { expectError, fingerprintOf } from '../support/answers';
import { Connection } from '../support/connection';
import { withdrawDatabase } from '../support/database';
import { createFixture, type Fixture, type Ids, makeUnknownIds, viewTenant } from '../support/fixture';
import { MOUNT_NAMES, type Mount, type MountName, type Mounts, startMounts } from '../support/mounts';
import { FAULTS } from '../support/operation-errors';
import { SUCCESSES } from '../support/operation-successes';
import { listCases, listOperations, listRefusals, type Operation } from '../support/operations';
import { findPgBouncer } from '../support/pooler';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import type { Answer, CallOptions } from '../support/server';

// Every operation × every answer that its document lists × every mount, from one table of cases.

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

let mounts: Mounts;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  mounts = await startMounts({ WEBHOOK_ALLOW_HOSTS: receiver.host, QUOTA_FREE: '1' });
});
afterAll(async () => {
  await mounts?.stop();
  await receiver.stop();
});

function operationOf(mount: Mount, id: string): Operation {
  const operation = listOperations(mount.document).find((one) => one.id === id);
  if (!operation) throw new Error(`${id} is not in the document`);
  return operation;
}

const fillPath = (path: string, ids: Ids) =>
  path.replace(/\{(\w+)\}/g, (_, name: keyof Ids) => encodeURIComponent(ids[name]));

interface Change extends CallOptions {
  ids?: Partial<Ids>;
  query?: string;
}

/** Sends the request that succeeds for a fixture, but for what is changed. */
function send(mount: Mount, id: string, fixture: Fixture, { ids, query, ...options }: Change = {}): Promise<Answer> {
  const { method, path } = operationOf(mount, id);
  const success = SUCCESSES[id]!;
  const body = success.body?.(fixture);
  const search = query ?? success.query;
  const target = fillPath(path, { ...fixture.ids, ...ids }) + (search === undefined ? '' : `?${search}`);
  return mount.call(method, target, { key: fixture.key, ...(body === undefined ? {} : { body }), ...options });
}

/** Without a key: the request of an operation, or of a route that there is not. */
const sendAnonymous = (mount: Mount, route: string, fixture: Fixture, headers: Record<string, string>) =>
  route.includes(' ')
    ? mount.call(route.split(' ')[0]!, route.split(' ')[1]!, { headers })
    : mount.call(operationOf(mount, route).method, fillPath(operationOf(mount, route).path, fixture.ids), { headers });

/** Checks an error against the envelope and against the document, which must list it. */
function expectDocumentedError(mount: Mount, id: string, answer: Answer, code: ErrorCode, field?: string) {
  const { method, path, outcomes } = operationOf(mount, id);
  expectError(answer, code, field ?? null);
  mount.document.expectDocumented(answer, method, path);
  expect(outcomes).toContain(code);
}

it.each(MOUNT_NAMES)('there is a case for every operation and every answer that the document of %s lists', (name) => {
  const toPairs = (operations: { id: string; outcomes: string[] }[]) =>
    operations.flatMap(({ id, outcomes }) => outcomes.map((outcome) => `${id} ${outcome}`)).sort();
  expect(toPairs(listCases())).toEqual(toPairs(listOperations(mounts.get(name).document)));
});

const PGBOUNCER = findPgBouncer(process.env);
const found = PGBOUNCER ?? 'none: no pgbouncer on the PATH';
it.skipIf(!PGBOUNCER)(`Next’s mounts stand behind a real transaction pooler (${found})`, async () => {
  const database = new URL(mounts.base.database.url).pathname.slice(1);
  const { key } = await mounts.base.createTenant();
  for (const name of ['Next’s route handlers', 'plain next start'] as const) {
    const before = await mounts.pooler!.countTransactions(database);
    await mounts.get(name).call('GET', '/v1/stats', { key });
    expect([name, (await mounts.pooler!.countTransactions(database)) > before]).toEqual([name, true]);
  }
});

describe.each(MOUNT_NAMES)('%s', (name) => {
  // Next compresses and frames answers itself.
  const isFramedByUs = name !== 'Next’s route handlers';
  const isFraming = (header: string) =>
    !isFramedByUs && /^(content-length|transfer-encoding|content-encoding|vary)$/i.test(header);

  let mount: Mount;
  /** Tenants that no test changes. */
  let known: Fixture;
  let onPro: Fixture;
  let before: unknown;
  const make = (plan?: 'pro') => createFixture({ base: mounts.base, mount, receiver }, plan);
  const viewAll = () => Promise.all([known, onPro].map((fixture) => viewTenant(mounts.base, fixture)));
  beforeAll(async () => {
    mount = mounts.get(name);
    [known, onPro] = await Promise.all([make(), make('pro')]);
    before = await viewAll();
  });

  it.each(ALL)('%s answers what there is, and does what it says', async (id) => {
    const fixture = await make();
    const answer = await send(mount, id, fixture);
    expect([answer.status, answer.status < 300 ? '' : answer.text]).toEqual([SUCCESSES[id]!.status, '']);
    const { method, path, needsKey } = operationOf(mount, id);
    mount.document.expectDocumented(answer, method, path);
    expect(answer.headers.get('x-service-tier')).toBe(needsKey ? 'enterprise' : null);
    await SUCCESSES[id]!.check(answer, fixture);
  });

  it.each(listRefusals().map(({ id, code, refusal }) => [id, code, refusal.with, refusal] as const))(
    '%s answers %s to %s',
    async (id, code, _with, { field, ids, query, call, plan }) => {
      const fixture = plan === 'pro' ? onPro : known;
      const changedIds = typeof ids === 'function' ? ids(fixture) : ids;
      const answer = await send(mount, id, fixture, {
        ...(changedIds ? { ids: changedIds } : {}),
        ...(query === undefined ? {} : { query }),
        ...call,
      });
      expectDocumentedError(mount, id, answer, code, field);
      expect(answer.headers.get('x-service-tier')).toBe(plan ?? 'enterprise');
    },
  );

  it('has changed nothing where it refused', async () => {
    expect(await viewAll()).toEqual(before);
  });

  it.each([
    ['no key', 'MISSING_API_KEY', {}],
    ['an unknown key', 'INVALID_API_KEY', { authorization: `Bearer aik_v1_${randomBytes(30).toString('base64url')}` }],
    ['another scheme', 'INVALID_API_KEY', { authorization: 'Basic YTpi' }],
    ['a malformed key', 'INVALID_API_KEY', { 'x-api-key': 'aik_v1_' }],
  ] as const)('answers %s with %s, in the same bytes on every route', async (_key, code, headers) => {
    const seen = new Set<string>();
    for (const route of [...KEYED, ...UNKNOWN_ROUTES]) {
      const answer = await sendAnonymous(mount, route, known, headers);
      if (KEYED.includes(route)) expectDocumentedError(mount, route, answer, code);
      else expectError(answer, code);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      for (const absent of ['x-service-tier', 'ratelimit', 'ratelimit-policy'])
        expect([route, absent, answer.headers.get(absent)]).toEqual([route, absent, null]);
      seen.add(JSON.stringify(fingerprintOf(answer)));
    }
    expect([...seen]).toHaveLength(1);
  });

  it('answers a revoked key as one that there never was, on every route', async () => {
    const { key, keyId } = await mounts.base.createTenant();
    await revokeKey(asOperator(mounts.base.service.db), { id: keyId });
    const fingerprints = await Promise.all(
      [key, 'nonsense'].flatMap((one) =>
        [...KEYED, ...UNKNOWN_ROUTES].map(async (route) =>
          JSON.stringify(fingerprintOf(await sendAnonymous(mount, route, known, { authorization: `Bearer ${one}` }))),
        ),
      ),
    );
    expect(new Set(fingerprints).size).toBe(1);
  });

  it.each(KEYED)('%s answers RATE_LIMITED with Retry-After when the quota is used up', async (id) => {
    const { key } = await mounts.base.createTenant('free');
    let answer: Answer;
    // The quota is 1; a new minute may begin in between.
    let calls = 0;
    do answer = await send(mount, id, known, { key, ids: makeUnknownIds() });
    while (answer.status !== 429 && ++calls < 4);
    expectDocumentedError(mount, id, answer, 'RATE_LIMITED');
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    expect(answer.headers.get('x-service-tier')).toBe('free');
  });

  const withId = (mount: Mount) => listOperations(mount.document).filter(({ path }) => path.includes('{'));

  it('answers another tenant’s id as one that exists nowhere, and changes nothing of that tenant’s', async () => {
    const other = await make();
    const otherBefore = await viewTenant(mounts.base, other);
    const asked: string[] = [];
    for (const { id } of withId(mount).filter(({ outcomes }) => outcomes.includes('NOT_FOUND'))) {
      // The body is the caller's own: for `update` it holds nothing of the other tenant's.
      const foreign = await send(mount, id, known, { ids: other.ids });
      const unknown = await send(mount, id, known, { ids: makeUnknownIds() });
      expectDocumentedError(mount, id, foreign, 'NOT_FOUND');
      expect([id, fingerprintOf(foreign)]).toEqual([id, fingerprintOf(unknown)]);
      asked.push(id);
    }
    expect(asked.sort()).toEqual(
      withId(mount)
        .map(({ id }) => id)
        .filter((id) => id !== 'confirmDevice')
        .sort(),
    );
    expect(await viewTenant(mounts.base, other)).toEqual(otherBefore);
  });

  it('registers another tenant’s device for the caller alone', async () => {
    const [caller, other] = [await make(), await make()];
    const otherBefore = await viewTenant(mounts.base, other);
    const foreign = await send(mount, 'confirmDevice', caller, { ids: other.ids });
    const unknown = await send(mount, 'confirmDevice', caller, { ids: makeUnknownIds() });
    expect([foreign.status, unknown.status]).toEqual([200, 200]);
    expect(Object.keys(foreign.body.data)).toEqual(Object.keys(unknown.body.data));
    expect((await caller.get('/v1/stats')).body.data).toMatchObject({ confirmedDevices: 2, totalUsers: 1 });
    expect((await caller.get('/v1/users')).body.data).toHaveLength(1);
    expect(await viewTenant(mounts.base, other)).toEqual(otherBefore);
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

  it('answers HEAD on every GET route as GET, without the body', async () => {
    const connection = await Connection.open(mount.url);
    const headers = { Authorization: `Bearer ${known.key}` };
    // Days on which nothing is counted any more.
    const queries: Record<string, string> = { getUsage: '?startDate=2020-01-01&endDate=2020-01-31' };
    const read = async (method: string, target: string) => {
      connection.writeHead(method, target, headers);
      const { status, rawHeaders, text } = await connection.read(method !== 'HEAD');
      const isVolatile = ([header]: [string, string]) => /^(date|x-request-id|ratelimit)$/i.test(header);
      const kept = rawHeaders.filter(([header]) => !isFraming(header));
      return { status, headers: kept.filter((header) => !isVolatile(header)), text, rawHeaders };
    };
    const gets = listOperations(mount.document).filter(({ method }) => method === 'GET');
    expect(gets.length).toBeGreaterThan(10);
    for (const { id, path } of gets) {
      for (const ids of path.includes('{') ? [known.ids, makeUnknownIds()] : [known.ids]) {
        const target = fillPath(path, ids) + (queries[id] ?? '');
        const [head, get] = [await read('HEAD', target), await read('GET', target)];
        expect([id, get.status]).toEqual([id, ids === known.ids ? 200 : 404]);
        expect([id, head.status, head.headers, head.text]).toEqual([id, get.status, get.headers, '']);
        for (const { rawHeaders } of isFramedByUs ? [head, get] : []) {
          const length = rawHeaders.find(([header]) => header.toLowerCase() === 'content-length')?.[1];
          expect([id, length]).toEqual([id, String(Buffer.byteLength(get.text))]);
        }
      }
    }
    expect(connection.unread).toBe(0);
    connection.close();
  });

  it('answers NOT_FOUND to every wrong method and unknown path, and counts them as (unmatched)', async () => {
    const { key, ids } = await make();
    const methodsOf = new Map<string, string[]>();
    for (const { method, path, needsKey } of listOperations(mount.document))
      if (needsKey) methodsOf.set(path, [...(methodsOf.get(path) ?? []), method]);
    const wrong = [...methodsOf].flatMap(([path, methods]) =>
      ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
        .filter((method) => !methods.includes(method === 'HEAD' ? 'GET' : method))
        .map((method): [string, string] => [method, fillPath(path, ids)]),
    );
    const unknown = UNKNOWN_ROUTES.map((route) => route.split(' ') as [string, string]);
    const counts: Record<string, number> = {};
    for (const [method, target] of [...wrong, ...unknown]) {
      const answer = await mount.call(method, target, { key });
      if (method === 'HEAD') expect([target, answer.status, answer.text]).toEqual([target, 404, '']);
      else expectError(answer, 'NOT_FOUND');
      expect(answer.headers.get('allow')).toBeNull();
      const counted = method === 'HEAD' ? 'GET' : method;
      counts[counted] = (counts[counted] ?? 0) + 1;
    }
    const { data } = (await mount.call('GET', '/v1/usage', { key })).body;
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
      const { sql } = mounts.base.database.db;
      await sql.unsafe(damage);
      const answer = await send(mount, id, known).finally(() => sql.unsafe(repair));
      expectDocumentedError(mount, id, answer, 'INTERNAL_ERROR');
      expect(answer.headers.get('x-service-tier')).toBe(isInLookUp ? null : 'enterprise');
      seen.add(answer.text);
      const names = [...answer.headers.keys()].filter((header) => !/^ratelimit/.test(header) && !isFraming(header));
      expect(names.sort()).toEqual(
        [
          ...['cache-control', 'connection', 'content-type', 'date', 'keep-alive', 'x-request-id'],
          ...Object.keys(ANSWER_HEADERS),
          ...(isFramedByUs ? ['content-length'] : []),
          ...(isInLookUp ? [] : ['x-service-tier']),
        ].sort(),
      );
    });

    it('says nothing of what it was', () => {
      expect([...seen]).toEqual([
        '{"error":{"code":"INTERNAL_ERROR","message":"Something went wrong on our side","details":null}}',
      ]);
    });

    it('answers as before when it is repaired, and has changed nothing', async () => {
      expect(await viewAll()).toEqual(before);
    });
  });
});

/** Each begins an outage and answers what ends it. */
const OUTAGES: [what: string, begin: () => Promise<() => Promise<void>>][] = [
  ['cannot be reached', () => mounts.databaseRelay.cut().then(() => mounts.databaseRelay.restore)],
  ['is behind a balancer that hangs up', () => mounts.databaseRelay.hangUp().then(() => mounts.databaseRelay.restore)],
  ['is not there', () => withdrawDatabase(mounts.base.database.url)],
];

describe.each(OUTAGES)('while the database %s', (_what, begin) => {
  const answers = new Map<string, Answer>();
  const fixtures = new Map<MountName, Fixture>();
  const CASES = MOUNT_NAMES.flatMap((name) => ALL.map((id) => [name, id] as const));

  beforeAll(async () => {
    for (const name of MOUNT_NAMES)
      fixtures.set(name, await createFixture({ base: mounts.base, mount: mounts.get(name), receiver }));
    const end = await begin();
    await Promise.all(
      CASES.map(async ([name, id]) => {
        answers.set(`${name} ${id}`, await send(mounts.get(name), id, fixtures.get(name)!));
      }),
    ).finally(end);
  });

  it.each(CASES.filter(([, id]) => KEYED.includes(id)))('on %s, %s answers SERVICE_UNAVAILABLE', (name, id) => {
    const answer = answers.get(`${name} ${id}`)!;
    expectDocumentedError(mounts.get(name), id, answer, 'SERVICE_UNAVAILABLE');
    expect(answer.text).toBe(
      '{"error":{"code":"SERVICE_UNAVAILABLE","message":"The service is temporarily unavailable","details":null}}',
    );
    expect(answer.headers.get('x-service-tier')).toBeNull();
  });

  it.each(MOUNT_NAMES)('on %s, /health answers', (name) => {
    expect(answers.get(`${name} getHealth`)!.status).toBe(200);
  });

  it.each(MOUNT_NAMES)('%s answers again when the database is back', async (name) => {
    const { get } = fixtures.get(name)!;
    // A connection of postgres.js that broke in the middle of a query and was refused since gives that refusal to its
    // first query after the outage too: each of the pool's may answer 503 once more.
    let sessions = await get('/v1/sessions');
    await waitUntil(async () => {
      sessions = await get('/v1/sessions');
      return sessions.status === 200;
    });
    expect(sessions.body.data).toHaveLength(3);
    await waitUntil(async () => (await get('/v1/stats')).status === 200);
  });
});
