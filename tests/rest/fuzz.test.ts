import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PIPELINE_PATH } from '../../server/rest/pipeline-endpoint';
import { ROUTES, type Route } from '../../server/rest/routes';
import { expectAgreement, expectNothingInternal } from '../support/answer-judge';
import { expectError, fingerprintOf } from '../support/answers';
import { Connection, type RawAnswer } from '../support/connection';
import { OpenApiDocument } from '../support/document';
import { INGEST_SCHEMA, judgeBatch } from '../support/fact-judge';
import { started } from '../support/facts';
import { sendGenerated } from '../support/generated-request';
import { digestTables, type PreparedTenant, prepareTenant } from '../support/prepared-tenant';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { type GeneratedRequest, postsOf, requestsOf } from '../support/request-generator';
import { judgeRequest } from '../support/request-judge';
import { PIPELINE_TOKEN, startTestServer, type TestServer } from '../support/server';
import { character } from '../support/texts';

// FUZZ_RUNS multiplies the runs. A failure prints its seed; FUZZ_SEED repeats it.
const FACTOR = Number(process.env.FUZZ_RUNS ?? 1);
const SEED = process.env.FUZZ_SEED === undefined ? {} : { seed: Number(process.env.FUZZ_SEED) };
const runs = (count: number) => ({ numRuns: Math.ceil(count * FACTOR), ...SEED });
vi.setConfig({ testTimeout: 5 * 60_000 * Math.max(1, FACTOR) });

let server: TestServer;
let receiver: Receiver;
let tenant: PreparedTenant;
let document: OpenApiDocument;
let secrets: string[];
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    QUOTA_ENTERPRISE: '100000000',
    QUOTA_SHARED_ENTERPRISE: '100000000',
  });
  tenant = await prepareTenant(server, receiver.url);
  document = new OpenApiDocument((await server.call('GET', '/openapi/v3.json')).body);
  const appSecret = server.service.env.APP_SECRET!;
  secrets = [tenant.key, PIPELINE_TOKEN, server.database.url, appSecret.toString('base64'), appSecret.toString('hex')];
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

type Headers = Record<string, string>;
const withHeaders = (request: GeneratedRequest, headers: Headers): GeneratedRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});
const send = (request: GeneratedRequest) => sendGenerated(server.url, request);
const findOperation = (method: string, template: string) =>
  document.listOperations().find((one) => one.path === template && one.method === method.toLowerCase())!;
const expectDiscreet = (answer: RawAnswer) =>
  expectNothingInternal(answer.body?.error?.message ?? '', answer.text, secrets);

/** All routes, with erasures last: texts that other requests need may mention the user of a generated id. */
const isErasure = ({ meta }: Route) => meta.openapi?.operationId === 'eraseUser';
const ORDERED_ROUTES = ROUTES.toSorted((one, other) => Number(isErasure(one)) - Number(isErasure(other)));

/** The values that a request to an operation may use. Only the subscriptions on the loopback are ever called. */
function knownTo(operationId: string) {
  const isCalled = operationId === 'testWebhook' || operationId === 'rotateWebhookSecret';
  // The other users are needed by other requests.
  if (operationId === 'eraseUser') return { ...tenant.known, userId: ['gone'] };
  if (/WebhookDeliver(y|ies)$/.test(operationId)) return { ...tenant.known, id: [tenant.resendable] };
  return isCalled ? { ...tenant.known, id: [tenant.testable] } : tenant.known;
}

const countPending = async () => {
  const [row] = await server.database.db.sql<{ n: number }[]>`
    select (select count(*) from webhook_deliveries where integration_id = ${tenant.id} and status = 'Pending')::int
         + (select count(*) from user_erasures where integration_id = ${tenant.id} and completed_at is null)::int as n`;
  return row!.n;
};

const countLeased = async () => {
  const [row] = await server.database.db.sql<{ n: number }[]>`
    select count(*)::int as n from webhook_deliveries where status = 'Pending' and lease is not null`;
  return row!.n;
};

/** Digests the tables when nothing is written in the background any more. */
async function digestSettled(): Promise<string> {
  await server.service.findings.flush();
  await waitUntil(async () => (await countPending()) === 0);
  return digestTables(server.database);
}

describe('the document and the product agree about every request', () => {
  /** Outcomes by operation: statuses of successes, codes of errors. */
  const met = new Map<string, Set<string>>();

  it.each(ORDERED_ROUTES.map(({ method, template }) => [method, template]))('to %s %s', async (method, template) => {
    const operation = findOperation(method, template);
    const { operationId } = operation.operation;
    const isWrite = method !== 'GET';
    const schemes = fc.constantFrom<Headers>({ Authorization: `Bearer ${tenant.key}` }, { 'x-api-key': tenant.key });
    const outcomes = new Set<string>();
    met.set(operationId, outcomes);
    let digest = isWrite ? await digestSettled() : '';
    const requests = requestsOf(operation, knownTo(operationId));
    const property = fc.asyncProperty(requests, schemes, async (generated, key) => {
      const request = withHeaders(generated, key);
      const judgement = judgeRequest(document, request, tenant.cursors);
      const answer = await send(request);
      if (answer.status < 300 && /^(create|delete)Webhook$/.test(operationId)) await tenant.restoreWebhooks();
      const before = digest;
      digest = isWrite ? await digestSettled() : '';
      if (judgement.operation?.operation === operation.operation)
        outcomes.add(answer.body?.error?.code ?? String(answer.status));
      expectAgreement(document, judgement, request, answer);
      expectDiscreet(answer);
      if (answer.status >= 400) expect(digest, 'a refused write changes nothing').toBe(before);
    });
    const isRich = operation.operation.requestBody || template === '/v1/sessions';
    await fc.assert(property, runs(isRich ? 100 : 40));
  });

  it('and the requests met the success of each operation and refusals of each kind', () => {
    for (const [operationId, outcomes] of met) {
      const isReached = outcomes.has('200') || outcomes.has('204');
      expect([operationId, [...outcomes], isReached]).toEqual([operationId, [...outcomes], true]);
    }
    if (met.size < ROUTES.length) return;
    const all = [...met.values()].flatMap((outcomes) => [...outcomes]);
    expect(all).toEqual(expect.arrayContaining(['INVALID_REQUEST', 'INVALID_BODY', 'NOT_FOUND']));
  });
});

describe('a key', () => {
  const LONG = 'x'.repeat(8_000);
  const good = (key: string): Headers[] => [
    { Authorization: `bearer ${key}` },
    { Authorization: `BEARER \t ${key} ` },
    { Authorization: `Bearer ${key}`, 'x-api-key': 'aik_v1_x' },
    { AUTHORIZATION: `Bearer ${key}`, authorization: 'Bearer second' },
    { 'X-API-KEY': key },
  ];
  const bad = (key: string): Headers[] => [
    { Authorization: '' },
    { Authorization: 'Bearer' },
    { Authorization: key },
    { Authorization: `Bearer${key}` },
    { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
    { Authorization: `Token ${key}` },
    { Authorization: `Bearer ${key} x` },
    { Authorization: `Bearer ${key},Bearer ${key}` },
    { Authorization: `Bearer "${key}"` },
    { Authorization: `Bearer ${key.toUpperCase()}` },
    { Authorization: `Bearer ${key.slice(0, -1)}` },
    { Authorization: `Bearer ${key}x` },
    { Authorization: `Bearer ${key.replace('v1', 'v2')}` },
    { Authorization: `Bearer aik_v1_${'é'.repeat(40)}` },
    { Authorization: `Bearer aik_v1_${"'".repeat(40)}` },
    { Authorization: `Bearer ${LONG}` },
    { Authorization: `Bearer ${PIPELINE_TOKEN}` },
    { Authorization: 'Bearer x', 'x-api-key': key },
    { Authorization: '', 'x-api-key': key },
    { 'x-api-key': '' },
    { 'x-api-key': `Bearer ${key}` },
    { 'x-api-key': `${key}, ${key}` },
    { 'x-api-key': LONG },
  ];
  const targets = () =>
    fc
      .constantFrom(...document.listOperations().filter(({ path }) => path.startsWith('/v1/')))
      .chain((operation) => requestsOf(operation, { ...knownTo(operation.operation.operationId), id: ['unknown'] }));

  it('that is invalid is 401 before any other check, with the same answer to every request', async () => {
    const digest = await digestSettled();
    const kinds = fc.oneof(
      fc.constant<[string, Headers]>(['MISSING_API_KEY', {}]),
      fc.constantFrom(...bad(tenant.key)).map((headers): [string, Headers] => ['INVALID_API_KEY', headers]),
    );
    const seen = new Map<string, unknown>();
    const property = fc.asyncProperty(targets(), kinds, async (generated, [code, headers]) => {
      const answer = await send(withHeaders(generated, headers));
      expect(answer.status).toBe(/^\/v1\//.test(generated.target) ? 401 : answer.status);
      expectDiscreet(answer);
      if (answer.status !== 401 || generated.method === 'HEAD') return;
      expectError(answer, code as 'MISSING_API_KEY');
      const same = fingerprintOf({ ...answer, headers: new Headers(answer.rawHeaders) });
      if (!seen.has(code)) seen.set(code, same);
      expect(same).toEqual(seen.get(code));
    });
    await fc.assert(property, runs(100));
    expect(await digestSettled()).toBe(digest);
  });

  it('in any allowed spelling gets the same answers', async () => {
    const keys = fc.constantFrom(...good(tenant.key));
    const property = fc.asyncProperty(targets(), keys, async (generated, headers) => {
      const request = withHeaders(generated, headers);
      expectAgreement(document, judgeRequest(document, request, tenant.cursors), request, await send(request));
    });
    await fc.assert(property, runs(60));
    await tenant.restoreWebhooks();
  });
});

describe('a target', () => {
  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'LINK', 'M-SEARCH'];
  const SEGMENTS = ['v1', 'V1', 'v2', '', '.', '..', '%2e%2e', '%', '%00', '*', 'sessions', 'Sessions', 'sessions;a=1'];
  const MORE = [
    'webhooks',
    'users',
    'unknown',
    'events',
    'devices',
    'settings',
    'risk-thresholds',
    '__proto__',
    'a%2Fb',
  ];
  // The characters of RFC 3986.
  const plain = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@");
  const unit = fc.oneof({ weight: 10, arbitrary: plain }, { weight: 1, arbitrary: character.map(encodeURIComponent) });
  const segments = fc.oneof(fc.constantFrom(...SEGMENTS, ...MORE), fc.string({ unit }));
  const tails = fc.array(segments, { maxLength: 4 }).map((all) => all.map((segment) => `/${segment}`).join(''));
  const requests = (heads: string[]) =>
    fc.record({
      method: fc.constantFrom(...METHODS),
      target: fc
        .tuple(fc.constantFrom(...heads), tails, fc.constantFrom('', '?', '?a=%zz'))
        .map((parts) => parts.join('')),
      headers: fc.constant<Headers>({}),
      body: fc.constantFrom(null, Buffer.from('{'), Buffer.alloc(70_000, ' ')),
      isChunked: fc.constant(false),
    });

  it('under /v1 that is not in the document is 404 in the envelope, whatever the method', async () => {
    const property = fc.asyncProperty(requests(['/v1', '/v1/sessions', '/v1/webhooks']), async (generated) => {
      const request = withHeaders(generated, { Authorization: `Bearer ${tenant.key}` });
      expectAgreement(document, judgeRequest(document, request, tenant.cursors), request, await send(request));
    });
    await fc.assert(property, runs(150));
  });

  it('outside /v1 is 200, 404 or 413, never the envelope and never a fault; if it resolves into /v1, the API refuses it', async () => {
    const heads = ['/health', '/openapi', '/openapi/v3.json', '/swagger', '/swagger/start.js', '/v1%2Fsessions'];
    const property = fc.asyncProperty(requests(heads), async (request) => {
      const answer = await send(request);
      const { pathname } = new URL(`http://localhost${request.target}`);
      const isRefused = answer.status === 401 && /^\/+v1(\/|$)/.test(pathname);
      const isLong = (request.body?.length ?? 0) > 64 * 1024;
      expect(isRefused ? [401] : isLong ? [200, 404, 413] : [200, 404]).toContain(answer.status);
      expect(answer.text.startsWith('{"error"')).toBe(isRefused && request.method !== 'HEAD');
      if (answer.status === 404) expectNothingInternal(answer.text, answer.text, secrets);
    });
    await fc.assert(property, runs(60));
  });

  it('in a head that is hardly HTTP is refused in the envelope or its connection ends, and the server keeps running', async () => {
    const junk = fc.oneof(
      fc.constantFrom('\0', '\r', '\n', '\r\n', '\r\n\r\n', ' ', '\t', ':', ';', '\xff', '\x7f', ' HTTP/9.9', 'GET '),
      fc.constantFrom(
        'Transfer-Encoding: gzip\r\n',
        'Transfer-Encoding: chunked, chunked\r\n',
        'Content-Length: -1\r\n',
      ),
      fc.constantFrom('Content-Length: 1e3\r\n', 'Host: a\r\nHost: b\r\n', ' folded\r\n', 'Upgrade: websocket\r\n'),
      fc.string({ unit: 'binary-ascii', maxLength: 5 }),
    );
    const splices = fc.array(fc.tuple(fc.nat(), junk), { minLength: 1, maxLength: 3 });
    const property = fc.asyncProperty(splices, async (all) => {
      const lines = [
        'GET /v1/integration HTTP/1.1',
        'Host: localhost',
        `x-api-key: ${tenant.key}`,
        'Accept: */*',
        '',
        '',
      ];
      const head = all.reduce((text, [at, piece]) => {
        const place = at % text.length;
        return text.slice(0, place) + piece + text.slice(place);
      }, lines.join('\r\n'));
      const connection = await Connection.open(server.url);
      connection.write(Buffer.from(head, 'latin1'));
      const answer = await connection.read(!head.startsWith('HEAD'), 200).catch(() => null);
      connection.close();
      if (answer === null) return;
      expect([200, 400, 401, 404]).toContain(answer.status);
      expectDiscreet(answer);
    });
    await fc.assert(property, runs(60));
    expect((await server.call('GET', '/v1/integration', { key: tenant.key })).status).toBe(200);
  });
});

describe('the pipeline’s endpoint', () => {
  it('refuses what its schema refuses, names the invalid fact, and then writes nothing', async () => {
    const { id } = await server.createTenant();
    const known = {
      integrationId: [id],
      sessionId: ['a', 'b', 'ä/ö', '😀'],
      id: ['user'],
      userId: ['user'],
      deviceFingerprint: ['device'],
      pageUrl: ['https://lms.example.edu/courses/42', 'http://[::1]/', 'https://lms.example.edu/d2l/home/7?a=\u2028'],
      anomalyType: ['SharedDevice', 'ImpossibleTravel'],
      anomalyId: ['one', 'two'],
      severity: ['high', 'LOW'],
      reportId: ['one', 'two'],
      downloadUrl: ['/reports/one', '/ä?x=1#y'],
      alertId: ['one', 'two'],
    };
    const sessions = known.sessionId.map((sessionId) => started(sessionId));
    expect((await server.ingest(id, sessions)).status).toBe(200);
    const statuses = new Set<number>();
    // Its hourly crons remove facts that are generated centuries old. What it has not done by then stays undone.
    await digestSettled();
    await server.service.engine!.stop(0);
    await waitUntil(async () => (await countLeased()) === 0);
    const digestAll = async () => {
      await server.service.findings.flush();
      return digestTables(server.database);
    };
    let digest = await digestAll();
    const property = fc.asyncProperty(postsOf(PIPELINE_PATH, INGEST_SCHEMA, known), async (request) => {
      const bytes = request.body ?? new Uint8Array();
      const judgement = judgeBatch(bytes);
      const answer = await send(withHeaders(request, { Authorization: `Bearer ${PIPELINE_TOKEN}` }));
      statuses.add(answer.status);
      expect([200, 400, 404, 413]).toContain(answer.status);
      expectNothingInternal(answer.body.error?.message ?? '', answer.text, secrets);
      const before = digest;
      digest = await digestAll();
      if (answer.status === 200) {
        expect(judgement.verdict).toBe('fine');
        return;
      }
      expect(digest, 'a refused batch writes nothing').toBe(before);
      const { factIndex, stack } = answer.body.error.data;
      expect(stack).toBeUndefined();
      if (judgement.verdict !== 'fine') expect(answer.status).toBe(bytes.length > 1024 * 1024 ? 413 : 400);
      if (factIndex !== undefined) expect(factIndex).toBeLessThan(judgement.factCount);
      if (judgement.verdict === 'refused' || judgement.integrationId !== id) return;
      // A rule may refuse an earlier fact than the schema does.
      expect(factIndex).toBeGreaterThanOrEqual(0);
      if (judgement.verdict === 'refused for a fact') expect(factIndex).toBeLessThanOrEqual(judgement.factIndex);
    });
    await fc.assert(property, runs(150));
    expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 400]));
  });
});
