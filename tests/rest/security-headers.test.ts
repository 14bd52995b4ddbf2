import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Connection, sendRaw } from '../support/connection';
import { type NextServer, startNextServer } from '../support/next-server';
import { expectFileHeaders, expectPageHeaders, OPEN_PAGES } from '../support/page-headers';
import { PIPELINE_TOKEN, startTestServer, type TestServer } from '../support/server';
import { answerDashboard } from '../support/staff-client';

// The headers that protect browsers, on every answer of both adapters. tests/e2e/dashboard/policy.ts tests the pages
// of the self-hosted server and a browser.

const PUBLIC_URL = { PUBLIC_URL_US: 'https://us.example.com' };
const HSTS = 'max-age=63072000';

let server: TestServer;
let adapters: Record<string, { url: string }>;
let next: NextServer;
let key: string;
beforeAll(async () => {
  server = await startTestServer(PUBLIC_URL, undefined, answerDashboard);
  ({ key } = await server.createTenant());
  next = await startNextServer(server, PUBLIC_URL);
  adapters = { 'the self-hosted server': server, 'Next’s route handlers': next };
});
afterAll(async () => {
  await next?.stop();
  await server.stop();
});

const get = (url: string, init?: RequestInit) => fetch(url, { redirect: 'manual', ...init });
const ask = async (url: string, method: string, headers: Record<string, string> = {}, body?: string) =>
  get(url, { method, headers, ...(body === undefined ? {} : { body }) });
const json = { 'content-type': 'application/json' };

const CALLS: [name: string, (url: string) => Promise<Response>, status: number][] = [
  ['a success', (url) => ask(`${url}/v1/integration`, 'GET', { authorization: `Bearer ${key}` }), 200],
  ['no key', (url) => ask(`${url}/v1/integration`, 'GET'), 401],
  ['a wrong key', (url) => ask(`${url}/v1/x`, 'GET', { 'x-api-key': 'nonsense' }), 401],
  ['an unknown route', (url) => ask(`${url}/v1/x`, 'GET', { 'x-api-key': key }), 404],
  ['a refused body', (url) => ask(`${url}/v1/webhooks`, 'POST', { 'x-api-key': key, ...json }, '{'), 400],
  ['health', (url) => ask(`${url}/health`, 'GET'), 200],
  ['the document', (url) => ask(`${url}/openapi/v3.json`, 'GET'), 200],
  ['an unknown file', (url) => ask(`${url}/swagger/none.js`, 'GET'), 404],
  ['a refused batch', (url) => ask(`${url}/api/trpc/pipeline.ingest`, 'POST', json, '{}'), 401],
  [
    'a taken batch',
    (url) =>
      ask(`${url}/api/trpc/pipeline.ingest`, 'POST', { ...json, authorization: `Bearer ${PIPELINE_TOKEN}` }, '{}'),
    400,
  ],
  ['a call without a session', (url) => ask(`${url}/api/trpc/staff.me`, 'GET'), 401],
  ['a sign-in from elsewhere', (url) => ask(`${url}/api/auth/sign-in`, 'POST', json, '{}'), 403],
];

describe.each(['the self-hosted server', 'Next’s route handlers'])('%s', (name) => {
  const isOfNext = name === 'Next’s route handlers';

  it.each(CALLS)('answers %s with the headers of every answer', async (_name, call, status) => {
    const answer = await call(adapters[name]!.url);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('referrer-policy')).toBe('same-origin');
    // A browser needs it of one answer of the host, and gets it of every page. Next's files and calls of a page lack it.
    const isOurs = !isOfNext || /\/(v1|health|openapi|swagger)|pipeline/.test(answer.url);
    if (isOurs) expect(answer.headers.get('strict-transport-security')).toBe(HSTS);
    expect(answer.headers.get('x-powered-by')).toBeNull();
  });

  it('forbids framing the interactive documentation, and its policy allows no inline script', async () => {
    const { headers } = await get(`${adapters[name]!.url}/swagger`);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
  });
});

describe('a page of Next', () => {
  // Without our own server there is no demo.
  it.each([...OPEN_PAGES, ['/demo', 404] as const])(
    '%s (%i) has the headers of pages and a new nonce',
    async (path, status) => {
      const seen = await expectPageHeaders(next.url, path, status);
      expect(seen.map((headers) => headers.get('strict-transport-security'))).toEqual(Array(3).fill(HSTS));
    },
  );

  it('loads files with the right content type', () => expectFileHeaders(next.url));
});

it('the answer to an unreadable request has the headers too', async () => {
  const connection = await Connection.open(server.url);
  connection.write('nonsense\r\n\r\n');
  const answer = await connection.read();
  expect([answer.status, answer.header('x-content-type-options')]).toEqual([400, 'nosniff']);
  expect(answer.header('strict-transport-security')).toBe(HSTS);
  const encoded = await sendRaw(server.url, 'GET', '/%ff');
  expect([encoded.status, encoded.header('x-content-type-options')]).toEqual([404, 'nosniff']);
});

it('https is required only if the public address of the region uses it', async () => {
  const elsewhere = await startTestServer(
    { PUBLIC_URL_EU: 'https://eu.example.com', PUBLIC_URL_US: 'http://us.example.com' },
    server,
  );
  try {
    const { headers } = await get(`${elsewhere.url}/health`);
    expect([headers.get('strict-transport-security'), headers.get('x-content-type-options')]).toEqual([
      null,
      'nosniff',
    ]);
  } finally {
    await elsewhere.stop();
  }
});
