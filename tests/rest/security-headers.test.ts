import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Connection, sendRaw } from '../support/connection';
import { type NextServer, startNextServer } from '../support/next-server';
import { PIPELINE_TOKEN, startTestServer, type TestServer } from '../support/server';
import { answerDashboard } from '../support/staff-client';

// What every answer carries for the sake of browsers, by all mounts. Pages in a browser: tests/e2e/dashboard-policy.test.ts.

const PUBLIC_URL = { PUBLIC_URL_US: 'https://us.example.com' };
const HSTS = 'max-age=63072000';

let server: TestServer;
let mounts: Record<string, { url: string }>;
let others: NextServer[];
let key: string;
beforeAll(async () => {
  server = await startTestServer(PUBLIC_URL, undefined, answerDashboard);
  ({ key } = await server.createTenant());
  const [plain, bare] = await Promise.all([
    startNextServer(server, PUBLIC_URL),
    startNextServer(server, { ...PUBLIC_URL, VERCEL: '1' }),
  ]);
  others = [plain, bare];
  mounts = { 'the self-hosted server': server, 'plain next start': plain, 'Next’s route handlers': bare };
}, 60_000);
afterAll(async () => {
  await Promise.all((others ?? []).map((other) => other.stop()));
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
  ['a call of nobody', (url) => ask(`${url}/api/trpc/staff.me`, 'GET'), 401],
  ['a sign-in from elsewhere', (url) => ask(`${url}/api/auth/sign-in`, 'POST', json, '{}'), 403],
];

describe.each(['the self-hosted server', 'plain next start', 'Next’s route handlers'])('%s', (name) => {
  const isPlatform = name === 'Next’s route handlers';

  it.each(CALLS)('answers %s with the headers of every answer', async (_name, call, status) => {
    const answer = await call(mounts[name]!.url);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('referrer-policy')).toBe('same-origin');
    // A platform sets it by itself on what does not come through the dispatcher or the pipeline's door.
    const isOurs = !isPlatform || /\/(v1|health|openapi|swagger)|pipeline/.test(answer.url);
    if (isOurs) expect(answer.headers.get('strict-transport-security')).toBe(HSTS);
    expect(answer.headers.get('x-powered-by')).toBeNull();
  });

  it('lets nobody frame the interactive documentation, whose policy knows no inline script', async () => {
    const { headers } = await get(`${mounts[name]!.url}/swagger`);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
  });
});

describe.each(['plain next start', 'Next’s route handlers'])('a page of %s', (name) => {
  const isOurs = name === 'plain next start';
  const PAGES: [path: string, status: number][] = [
    ['/', 200],
    ['/sign-in', 200],
    ['/dashboard', 307],
    ['/dashboard/int_1/sessions', 307],
    ['/nothing', 404],
    ['/api/nothing', 404],
    ['/api/trpc/no/such', 404],
  ];

  it.each(PAGES)('%s (%i) has the headers of pages and a nonce of its own', async (path, status) => {
    const nonces = new Set<string>();
    for (let n = 0; n < 3; n++) {
      const answer = await get(mounts[name]!.url + path);
      expect(answer.status).toBe(status);
      const { headers } = answer;
      if (isOurs && !path.startsWith('/api/')) expect(headers.get('x-request-id')).toMatch(/^req_\w+$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('permissions-policy')).toContain('camera=()');
      const policy = headers.get('content-security-policy') ?? '';
      const [, nonce = ''] = /'nonce-([A-Za-z0-9+/=]{24})'/.exec(policy) ?? [];
      nonces.add(nonce);
      const directives = Object.fromEntries(policy.split('; ').map((directive) => directive.split(/ (.*)/)));
      expect(directives).toEqual({
        'default-src': "'none'",
        'base-uri': "'none'",
        'frame-ancestors': "'none'",
        'object-src': "'none'",
        'script-src': `'self' 'nonce-${nonce}' 'strict-dynamic'`,
        'style-src': `'self' 'nonce-${nonce}'`,
        'style-src-attr': "'unsafe-inline'",
        'img-src': "'self' data:",
        'font-src': "'self'",
        'connect-src': "'self'",
        'manifest-src': "'self'",
        'form-action': "'self'",
      });
      const html = await answer.text();
      const scripts = [...html.matchAll(/<script\b([^>]*)>/g)].map(([, attributes]) => attributes!);
      expect(scripts.filter((attributes) => !attributes.includes(`nonce="${nonce}"`))).toEqual([]);
      if (status === 200) expect(scripts.length).toBeGreaterThan(3);
      expect(html).not.toMatch(/<style\b/);
    }
    expect(nonces.size).toBe(3);
  });

  it('loads files that say what they are', async () => {
    const html = await (await get(mounts[name]!.url)).text();
    const [, file = ''] = /src="(\/_next\/static\/[^"]+\.js)"/.exec(html) ?? [];
    for (const [path, status] of [
      [file, 200],
      ['/_next/static/none.js', 404],
    ] as const) {
      const answer = await get(mounts[name]!.url + path);
      expect([path, answer.status, answer.headers.get('x-content-type-options')]).toEqual([path, status, 'nosniff']);
    }
  });
});

it('what is unreadable is answered with them too', async () => {
  const connection = await Connection.open(server.url);
  connection.write('nonsense\r\n\r\n');
  const answer = await connection.read();
  expect([answer.status, answer.header('x-content-type-options')]).toEqual([400, 'nosniff']);
  expect(answer.header('strict-transport-security')).toBe(HSTS);
  const encoded = await sendRaw(server.url, 'GET', '/%ff');
  expect([encoded.status, encoded.header('x-content-type-options')]).toEqual([404, 'nosniff']);
});

it('https is demanded only where the public address of the region says so', async () => {
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
