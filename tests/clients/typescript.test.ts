import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type * as entry from '../../clients/typescript/src/index';
import { correlated, scoredSession } from '../support/facts';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { type FaultyRelay, startFaultyRelay } from './faulty-relay';
import { copyPrograms, type InstalledPackage, installClient, linkPackages } from './installed-package';
import { expectOutput, prepareSamples, writeSamples } from './samples';
import { describeDeliveries } from './typescript-deliveries';
import { describeDocuments } from './typescript-documents';

// The TypeScript client as customers have it: packed, installed into an empty folder, and run there by plain Node against the
// server.

const SESSIONS = 1_000;

let client: InstalledPackage;
let server: TestServer;
let relay: FaultyRelay;
let receiver: Receiver;
let elsewhere: Receiver;

beforeAll(async () => {
  client = await installClient();
  await linkPackages(client, ['express', 'fastify', '@types/express', '@types/node']);
  await copyPrograms(client, ['walk.mjs', 'faults.mjs']);
  receiver = await startReceiver();
  elsewhere = await startReceiver();
  server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
  relay = await startFaultyRelay(server.url);
});
afterAll(async () => {
  await relay.stop();
  await server.stop();
  await receiver.stop();
  await elsewhere.stop();
  await client.remove();
});

/** Creates an integration with scored sessions. Every fifth is a bot. Answers its key and the ids, newest first. */
async function createTenant(sessions: number) {
  const tenant = await server.createTenant();
  const all = Array.from({ length: sessions }, (_, index) => scoredSession(index % 5 === 0 ? 0.95 : 0.1, `s-${index}`));
  for (let at = 0; at < all.length; at += 100) {
    const facts = all.slice(at, at + 100).flatMap((session) => session.facts);
    const { body } = await server.ingest(tenant.id, facts);
    expect(body.result.data.accepted).toBe(facts.length);
  }
  return tenant;
}

describe('the package', () => {
  it('has what was built, its README and no dependency', () => {
    const others = client.files.filter((path) => !/^dist\/[a-z]+\.(js|d\.ts)$/.test(path));
    expect(others).toEqual(['README.md', 'package.json']);
    expect(client.files).toContain('dist/webhooks.d.ts');
    expect(client.packedBytes).toBeLessThan(60_000);
  });
});

describe('a program of a customer', () => {
  it('lists, labels, manages a webhook and exports', async () => {
    const { key } = await createTenant(SESSIONS);
    const env = { BASE: server.url, KEY: key, RECEIVER: receiver.url };
    const { sessions, bots, ...seen } = JSON.parse((await client.runNode('walk.mjs', env)).stdout);
    expect(new Set(sessions).size).toBe(SESSIONS);
    expect(bots).toEqual(Array(SESSIONS / 5).fill('bot'));
    expect(seen).toEqual({
      isContinued: true,
      firstPage: { hasMore: true, limit: 3 },
      label: { sessionId: sessions[0], verdict: 'human', confidence: null, notes: 'n' },
      session: 'human',
      confirmed: 'user/1',
      thresholds: { mediumAt: 30, botAt: 80 },
      webhook: {
        secrets: [true, true],
        areDifferent: true,
        updated: ['Bots', false],
        test: ['Delivered', 200],
        deliveries: ['Delivered'],
        listed: 1,
        deleted: true,
        left: 0,
      },
      // The first one is labelled as human now.
      rows: SESSIONS / 5 - (Number(sessions[0].slice(2)) % 5 === 0 ? 1 : 0),
      csvLines: SESSIONS + 1,
      health: 'ok',
    });
  });
});

describe('the samples of the document', () => {
  it('compile, and work', async () => {
    const { key, samples } = await prepareSamples(server, receiver, 'TypeScript');
    const names = await writeSamples(client.home, samples, 'ts');
    expect(await client.compile(names)).toEqual([]);
    const imports = samples.map(async ({ operationId, source }) => {
      await writeFile(join(client.home, `${operationId}.mjs`), (await transform(source, { loader: 'ts' })).code);
      return `console.log('== ${operationId}');\nawait import('./${operationId}.mjs');`;
    });
    await writeFile(join(client.home, 'samples.mjs'), (await Promise.all(imports)).join('\n'));
    const { stdout } = await client.runNode('samples.mjs', { BASE: server.url, KEY: key });
    expectOutput(stdout, samples);
  });
});

interface Observed {
  value?: unknown;
  error?: Record<string, unknown>;
  requests: number;
  keys: string[];
  pausesMs: number[];
  areEnded: boolean;
  tookMs: number;
}

describe('a call that fails', () => {
  let observed: Record<string, Observed>;
  beforeAll(async () => {
    const { id, key } = await createTenant(30);
    await server.ingest(id, [correlated('s-0', 'ada')]);
    const env = { RELAY: relay.url, KEY: key, RECEIVER: receiver.url, ELSEWHERE: elsewhere.url };
    observed = JSON.parse((await client.runNode('faults.mjs', env)).stdout);
  });

  it.each<[name: string, value: unknown, requests: number]>([
    ['get after 500, 503 and a cut', 'object', 4],
    ['get after three cuts', 'object', 4],
    ['get after many 503', 'object', 7],
    ['get after 429', 'object', 2],
    ['get after 429 without a time', 'object', 2],
    ['get after 429 with a date', 'object', 2],
    ['put after a cut', { mediumAt: 40, botAt: 70 }, 2],
    ['patch after 503 and 429', 'n', 3],
    ['label after a cut', 'bot', 3],
    ['label with a key', 'bot', 2],
    ['create after 503', 'string', 2],
    ['test after a cut', 'Delivered', 2],
    // The second answer is 404, because the first attempt deleted it.
    ['delete after a cut', 'undefined', 2],
    ['delete after 500', 'undefined', 2],
    ['no timeout', 'object', 1],
    ['timeout, then an answer', 'object', 2],
    ['answer that stalls', 'object', 2],
    ['export of a user that takes long', 1, 1],
    ['export after 503', 30, 2],
    ['csv that is cancelled', true, 1],
  ])('is repeated and succeeds: %s', (name, value, requests) => {
    expect(observed[name]).toMatchObject({ value, requests });
  });

  it.each<[name: string, error: Record<string, unknown>, requests: number]>([
    ['get after four 503', { name: 'ServerError', status: 503 }, 4],
    ['get after four cuts', { name: 'ConnectionError' }, 4],
    ['get after 429 for long', { name: 'RateLimitError', status: 429, retryAfterSeconds: 61 }, 1],
    ['get after 400', { name: 'InvalidRequestError', status: 400 }, 1],
    ['get after 401', { name: 'AuthenticationError', status: 401 }, 1],
    ['get after 402', { name: 'PlanLimitError', status: 402 }, 1],
    ['get after 403', { name: 'PermissionError', status: 403 }, 1],
    ['get after 404', { name: 'NotFoundError', status: 404 }, 1],
    ['redirect', { name: 'ApiError', status: 307, code: 'UNEXPECTED_ANSWER' }, 1],
    ['no answer of the API', { name: 'ApiError', status: 200, code: 'UNEXPECTED_ANSWER' }, 1],
    // To end there would look like the end of the list.
    ['page without a cursor', { name: 'BotDetectionError' }, 1],
    ['page that leads to itself', { name: 'BotDetectionError' }, 2],
    ['another JSON', { name: 'ApiError', status: 200, code: 'UNEXPECTED_ANSWER' }, 1],
    ['another JSON for a list', { name: 'ApiError', status: 200, code: 'UNEXPECTED_ANSWER' }, 1],
    ['another JSON for a page', { name: 'ApiError', status: 200, code: 'UNEXPECTED_ANSWER' }, 1],
    ['a page without items', { name: 'ApiError', status: 200, code: 'UNEXPECTED_ANSWER' }, 1],
    ['another JSON with a status', { name: 'ApiError', status: 200, code: 'UNEXPECTED_ANSWER' }, 1],
    ['another JSON without a status', { name: 'ApiError', status: 200, code: 'UNEXPECTED_ANSWER' }, 1],
    ['nothing', { name: 'ApiError', status: 204, code: 'UNEXPECTED_ANSWER' }, 1],
    ['a page where nothing is answered', { name: 'ApiError', status: 200, code: 'UNEXPECTED_ANSWER' }, 1],
    ['bad idempotency key', { name: 'BotDetectionError' }, 0],
    ['long idempotency key', { name: 'BotDetectionError' }, 0],
    ['one page from a cursor', { name: 'InvalidRequestError', field: 'cursor' }, 1],
    ['field', { name: 'InvalidRequestError', code: 'INVALID_REQUEST', field: 'pageSize', hasRequestId: true }, 1],
    ['unknown', { name: 'NotFoundError', code: 'NOT_FOUND', field: null, hasRequestId: true }, 1],
    ['error that breaks off', { name: 'NotFoundError', status: 404, code: 'UNEXPECTED_ANSWER' }, 1],
    ['impossible id', { name: 'BotDetectionError' }, 0],
    // It would be the path of the list.
    ['empty id', { name: 'BotDetectionError' }, 0],
    ['half a character', { name: 'BotDetectionError' }, 0],
    ['wrong key', { name: 'AuthenticationError', code: 'INVALID_API_KEY', hasRequestId: true }, 1],
    ['patch after 500', { name: 'ServerError', status: 500 }, 1],
    ['patch after a cut', { name: 'ConnectionError' }, 1],
    ['get after a cut and 429 for long', { name: 'RateLimitError' }, 2],
    // The refusal says that nothing was done, which nobody knows of the first attempt.
    ['patch after 503 and 429 for long', { name: 'ServerError', status: 503 }, 2],
    ['label after a cut and 429 for long', { name: 'ConnectionError' }, 2],
    ['create after a cut', { name: 'SecretLostError', webhookId: expect.stringMatching(/^whk_/) }, 2],
    ['rotate after a cut', { name: 'SecretLostError', webhookId: expect.stringMatching(/^whk_/) }, 2],
    ['delete of nothing', { name: 'NotFoundError' }, 1],
    ['delete of nothing after 429', { name: 'NotFoundError' }, 2],
    ['erasure of nobody after a cut', { name: 'NotFoundError' }, 2],
    ['timeout', { name: 'TimeoutError', timeoutMs: 300 }, 2],
    ['timeout of the call', { name: 'TimeoutError', timeoutMs: 100 }, 1],
    ['timeout of an export', { name: 'TimeoutError', timeoutMs: 100 }, 1],
    // The reason of AbortSignal.timeout.
    ['cancelled', { name: 'TimeoutError', code: DOMException.TIMEOUT_ERR }, 1],
    ['cancelled in a pause', { name: 'Enough' }, 1],
    ['cancelled in an error', { name: 'TimeoutError', code: DOMException.TIMEOUT_ERR }, 1],
    ['cancelled before', { name: 'Enough' }, 0],
    ['csv that is cancelled by its signal', { name: 'Enough' }, 1],
    ['csv that is cancelled before', { name: 'Enough' }, 0],
    ['export that breaks off', { name: 'ConnectionError' }, 1],
    ['csv that breaks off', { name: 'ConnectionError' }, 1],
    ['csv without an end', { name: 'ConnectionError' }, 1],
    ['export with a foreign line', { name: 'ConnectionError' }, 1],
    ['export of something else', { name: 'ApiError', status: 200, code: 'UNEXPECTED_ANSWER' }, 1],
    ['export that hangs', { name: 'TimeoutError' }, 2],
    ['export that stalls', { name: 'TimeoutError' }, 1],
    ['export of a user that stalls', { name: 'TimeoutError' }, 1],
    ['list that takes long', { name: 'TimeoutError' }, 1],
    ...['"\\n"', '" "', '"é"'].map((end): [string, Record<string, unknown>, number] => [
      `bad key: ${end}`,
      { name: 'BotDetectionError' },
      0,
    ]),
    ...['password', 'user', 'query', 'fragment', 'scheme', 'text'].map(
      (what): [string, Record<string, unknown>, number] => [`bad address: ${what}`, { name: 'BotDetectionError' }, 0],
    ),
    ...['key', 'time', 'no time', 'time of a call', 'retries', 'no retries'].map(
      (what): [string, Record<string, unknown>, number] => [`bad option: ${what}`, { name: 'BotDetectionError' }, 0],
    ),
    ['bad region', { name: 'BotDetectionError' }, 0],
  ])('throws a typed error after as many attempts as it may make: %s', (name, error, requests) => {
    expect(observed[name]).toMatchObject({ error, requests });
  });

  it('is no empty page: a list goes on while hasMore is true', () => {
    expect(observed['empty page']).toMatchObject({ value: 1, requests: 3 });
  });

  it('limits the wait for each part of a file, not what is done with it', () => {
    expect(observed.readLater).toBe(29);
  });

  it('leaves nothing behind: no connection, no timer, nothing at the signal; and sends nothing that nobody reads', () => {
    expect(observed['export that is left']).toMatchObject({ requests: 1, areEnded: true });
    expect(observed['export of a long page']).toMatchObject({ value: 'UNEXPECTED_ANSWER', areEnded: true });
    expect(observed['all with one signal']).toMatchObject({ value: 0, requests: 5 });
    // Node warns of a leak if a signal has more than ten listeners.
    expect(observed['twelve with one signal']).toMatchObject({ value: [1, 'Enough'] });
    expect(observed.timers).toBe(0);
    expect(observed['csv that nobody reads']).toMatchObject({ requests: 0 });
  });

  it('waits as long as Retry-After says', () => {
    expect(observed['get after 429']!.pausesMs[0]).toBeGreaterThanOrEqual(990);
    expect(observed['patch after 503 and 429']!.pausesMs[1]).toBeGreaterThanOrEqual(990);
  });

  it('waits at most 0.5 s and then twice as long each time, up to 8 s, and less by chance', () => {
    const [first, second, third] = observed['get after 503 by the worst chance']!.pausesMs;
    expect([first! >= 490, second! >= 990, third! >= 1_990]).toEqual([true, true, true]);
    // With a tenth of the time the last pause is 0.8 s; it would be 1.6 s without the limit. All are 0 with no time.
    const pausesMs = observed['get after many 503']!.pausesMs;
    expect(pausesMs).toHaveLength(6);
    expect(pausesMs[5]).toBeLessThan(1_500);
    expect(observed['get after four 503']!.tookMs).toBeLessThan(3_000);
  });

  it('is cancelled at once, also in a pause of a minute, the longest', () => {
    expect(observed.cancelled!.tookMs).toBeLessThan(2_000);
    expect(observed['cancelled in a pause']!.tookMs).toBeLessThan(2_000);
    expect(observed['csv that is cancelled']).toMatchObject({ areEnded: true });
    expect(observed['csv that is cancelled']!.tookMs).toBeLessThan(2_000);
  });

  it('has one effect, because each POST is repeated with its idempotency key', () => {
    for (const name of ['label after a cut', 'create after 503', 'test after a cut', 'create after a cut'])
      expect(observed[name]!.keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(observed['label with a key']!.keys).toEqual(['mine']);
    expect(observed['put after a cut']!.keys).toEqual([null]);
    // Two labels, one test, and two webhooks, of which one lost its secret.
    const { labels, deliveries, webhooks } = observed;
    expect({ labels, deliveries, webhooks }).toEqual({ labels: 2, deliveries: 1, webhooks: 2 });
  });

  it('sends the key nowhere else: not after a redirect, not in an error, not where a client is printed', () => {
    expect(elsewhere.received).toEqual([]);
    expect(observed.showsKey).toBe(false);
  });
});

describe('an answer that arrives byte by byte', () => {
  const user = { id: 'ä€😀', sessions: ['–'] };
  const answerWith = async (type: string, text: string) => {
    const body = new ReadableStream({
      start(stream) {
        for (const byte of new TextEncoder().encode(text)) stream.enqueue(Uint8Array.of(byte));
        stream.close();
      },
    });
    vi.stubGlobal('fetch', async () => new Response(body, { headers: { 'content-type': type } }));
    const { createClient } = await client.load<typeof entry>('index');
    return createClient({ apiKey: 'k', baseUrl: 'http://api.invalid' });
  };
  afterEach(() => void vi.unstubAllGlobals());

  it('is read as it is: rows, a file and a user', async () => {
    const line = JSON.stringify(user);
    const rows = (await answerWith('application/x-ndjson', `${line}\n${line}\n`)).exports.users();
    const read: unknown[] = [];
    for await (const row of rows) read.push(row);
    expect(read).toEqual([user, user]);
    const csv = (await answerWith('text/csv', 'id\r\nä€😀\r\n')).exports.users({ format: 'csv' });
    expect(await new Response(csv).text()).toBe('id\r\nä€😀\r\n');
    const exported = (await answerWith('application/json', JSON.stringify({ data: user }))).users.export('ada');
    expect(await exported).toEqual(user);
  });
});

describe('webhooks', () => describeDeliveries(() => client));

describe('documents and types', () =>
  describeDocuments(async () => {
    const { id, key } = await createTenant(30);
    await server.ingest(id, [correlated('s-0', 'user-1')]);
    await server.call('POST', '/v1/webhooks', { key, body: { url: receiver.url, eventType: 'BotDetected' } });
    return { client, relay, env: { BASE: server.url, KEY: key } };
  }));
