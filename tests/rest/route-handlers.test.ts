import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, startRouteHandlers } from '../support/api-servers';
import { openPageSite, Tab } from '../support/beacon';
import { withdrawDatabase } from '../support/database';
import { createFixture, type Fixture, makeUnknownIds, viewTenant } from '../support/fixture';
import { FAULTS } from '../support/operation-errors';
import { SUCCESSES } from '../support/operation-successes';
import {
  expectDocumentedError,
  expectSuccess,
  listOperations,
  listRefusals,
  sendOperation,
} from '../support/operations';
import { findPgBouncer } from '../support/pooler';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import type { Answer } from '../support/server';

// Every operation through Next's route handlers, behind a transaction pooler: its success, and one refusal of each
// code. contract.test.ts tests the whole contract, next-adapter.test.ts what the handlers' adapter does with a request.

let api: ApiServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  api = await startRouteHandlers({ WEBHOOK_ALLOW_HOSTS: receiver.host, QUOTA_FREE: '1' });
});
afterAll(async () => {
  await api?.stop();
  await receiver.stop();
});

const make = (plan?: 'pro') => createFixture({ base: api.base, api, receiver }, plan);

const PGBOUNCER = findPgBouncer(process.env);
const found = PGBOUNCER ?? 'none: no pgbouncer on the PATH';
it.skipIf(!PGBOUNCER)(`the server stands behind a real transaction pooler (${found})`, async () => {
  const database = new URL(api.base.database.url).pathname.slice(1);
  const { key } = await api.base.createTenant();
  const before = await api.pooler!.countTransactions(database);
  await api.call('GET', '/v1/stats', { key });
  expect(await api.pooler!.countTransactions(database)).toBeGreaterThan(before);
});

it('the document lists the operations that are called here', () => {
  expect(
    listOperations(api.document)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(Object.keys(SUCCESSES).sort());
});

it.each(Object.keys(SUCCESSES))('%s answers as documented and does what it says', async (id) => {
  await expectSuccess(api, id, await make());
});

it('a batch of a page is kept, and judged after the answer', async () => {
  const { base, url } = api;
  const tenant = await base.createTenant();
  const tab = new Tab(await openPageSite({ db: base.service.db, url }, tenant));
  const reply = await tab.send();
  expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  const readScore = async () => (await base.call('GET', '/v1/sessions', { key: tenant.key })).body.data[0]?.botScore;
  await expect.poll(readScore).toEqual(expect.any(Number));
});

describe('a refusal', () => {
  let known: Fixture;
  let onPro: Fixture;
  let before: unknown;
  const viewAll = () => Promise.all([known, onPro].map((fixture) => viewTenant(api.base, fixture)));
  beforeAll(async () => {
    [known, onPro] = await Promise.all([make(), make('pro')]);
    before = await viewAll();
  });

  /** One refusal of each code. */
  const REFUSALS = [...new Map(listRefusals().map((refusal) => [refusal.code, refusal])).values()];
  it.each(REFUSALS.map(({ code, id, refusal }) => [code, id, refusal.with, refusal] as const))(
    'has the code %s: %s with %s',
    async (code, id, _with, { field, ids, query, call, plan }) => {
      const fixture = plan === 'pro' ? onPro : known;
      const changedIds = typeof ids === 'function' ? ids(fixture) : ids;
      const changes = { ...(changedIds ? { ids: changedIds } : {}), ...(query === undefined ? {} : { query }) };
      const answer = await sendOperation(api, id, fixture, { ...changes, ...call });
      expectDocumentedError(api, id, answer, code, field);
      expect(answer.headers.get('x-service-tier')).toBe(plan ?? 'enterprise');
    },
  );

  it.each([
    ['MISSING_API_KEY', {}],
    ['INVALID_API_KEY', { 'x-api-key': 'aik_v1_' }],
  ] as const)('has the code %s', async (code, headers) => {
    const answer = await api.call('GET', '/v1/sessions', { headers });
    expectDocumentedError(api, 'listSessions', answer, code);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('has the code RATE_LIMITED, with Retry-After', async () => {
    const { key } = await api.base.createTenant('free');
    let answer: Answer;
    // The quota is 1. A new minute may begin in between.
    let calls = 0;
    do answer = await sendOperation(api, 'getSession', known, { key, ids: makeUnknownIds() });
    while (answer.status !== 429 && ++calls < 4);
    expectDocumentedError(api, 'getSession', answer, 'RATE_LIMITED');
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
  });

  it.each(['listSessions', 'updateWebhook'])('has the code INTERNAL_ERROR if a table is missing: %s', async (id) => {
    const { damage, repair } = FAULTS[id]!;
    const { sql } = api.base.database.db;
    await sql.unsafe(damage);
    const answer = await sendOperation(api, id, known).finally(() => sql.unsafe(repair));
    expectDocumentedError(api, id, answer, 'INTERNAL_ERROR');
    await waitUntil(() => api.output().includes('a request failed'));
  });

  it('changes nothing', async () => {
    expect(await viewAll()).toEqual(before);
  });
});

/** Each one begins an outage and answers a function that ends it. */
const OUTAGES: [what: string, begin: () => Promise<() => Promise<void>>][] = [
  ['cannot be reached', () => api.databaseRelay.cut().then(() => api.databaseRelay.restore)],
  ['is behind a balancer that hangs up', () => api.databaseRelay.hangUp().then(() => api.databaseRelay.restore)],
  // The pooler answers for the missing database.
  ['is not there', () => withdrawDatabase(api.base.database.url)],
];

describe.each(OUTAGES)('while the database %s', (_what, begin) => {
  const IDS = ['listSessions', 'getAnalytics', 'updateRiskThresholds', 'createWebhook', 'getHealth'];

  it('calls that need it answer SERVICE_UNAVAILABLE, /health answers, and all calls work when it is back', async () => {
    const fixture = await make();
    const end = await begin();
    const answers = await Promise.all(IDS.map((id) => sendOperation(api, id, fixture))).finally(end);
    for (const [n, id] of IDS.entries())
      if (id === 'getHealth') expect(answers[n]!.status).toBe(200);
      else expectDocumentedError(api, id, answers[n]!, 'SERVICE_UNAVAILABLE');
    // Connections that were lost open again one by one, so a call may fail after another one has worked.
    await waitUntil(async () => (await fixture.get('/v1/stats')).status === 200);
    await waitUntil(async () => (await fixture.get('/v1/sessions')).body.data?.length === 3);
  });
});
