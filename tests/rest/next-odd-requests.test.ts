import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type NextServer, startNextServer } from '../support/next-server';
import { describeAnswer, type OddRequest, sendOdd } from '../support/odd-requests';
import { startTestServer, type TestServer } from '../support/server';

// What no well-behaved client sends, byte for byte, to both servers: Next's router must not get to repair, redirect or
// refuse any of it before the API sees it.

const KIB = 1024;

let server: TestServer;
let next: NextServer;
let tenant: { id: string; key: string };
beforeAll(async () => {
  server = await startTestServer();
  next = await startNextServer(server);
  tenant = await server.createTenant('enterprise');
});
afterAll(async () => {
  await next?.stop();
  await server.stop();
});

type Odd = Omit<OddRequest, 'key'> & { hasKey?: boolean };

/** Sends a request to both, expects one answer, and shows it as `<status> <code> <field>`. */
async function askBoth(line: string, { hasKey = true, ...rest }: Odd = {}): Promise<string> {
  const odd = hasKey ? { ...rest, key: tenant.key } : rest;
  const [own, other] = await Promise.all([server, next].map(({ url }) => sendOdd(url, line, odd)));
  const name = `${line} ${odd.headers?.join(', ') ?? ''}`.slice(0, 200);
  expect({ name, ...describeAnswer(other!) }).toEqual({ name, ...describeAnswer(own!) });
  expect(own!.header('x-request-id')).toMatch(/^req_/);
  const { error } = own!.body ?? {};
  return [own!.status, error?.code, error?.details?.field].filter((part) => part !== undefined).join(' ');
}

/** Cases with a short name in front. */
const named = <T extends unknown[]>(cases: [string, ...T][]) =>
  cases.map(([text, ...rest]): [string, string, ...T] => [text.slice(0, 40), text, ...rest]);

const json = 'Content-Type: application/json';
const long = (length: number) => `Content-Length: ${length}`;

describe('a path', () => {
  const ROUTED = '404 NOT_FOUND';
  const JUDGED = '400 INVALID_REQUEST sessionId';

  const targets = named<[string]>([
    ['%E0%A4', JUDGED],
    ['%', JUDGED],
    ['%zz', JUDGED],
    ['%00', JUDGED],
    ['%ed%a0%80', JUDGED],
    ['x'.repeat(257), JUDGED],
    ['x'.repeat(30 * KIB), JUDGED],
    ['a%2Fb', ROUTED],
    ['a%5Cb', ROUTED],
    ['%2e%2e', ROUTED],
    ['foo.rsc', ROUTED],
    ['foo.json', ROUTED],
    ['foo.segments/_tree.segment.rsc', ROUTED],
    ['index', ROUTED],
    ['"<>`{}|^', ROUTED],
    ['[x];v=1', ROUTED],
    ['__proto__', ROUTED],
    ['', ROUTED],
    ['..', ROUTED],
    ['x/../../../health', ROUTED],
    ['/', ROUTED],
    ['x//', ROUTED],
    ['x\\y', ROUTED],
    ['x#fragment', ROUTED],
  ]);
  it.each(targets)('reaches the API as it was sent: /v1/sessions/%s', async (_name, rest, answer) => {
    expect(await askBoth(`GET /v1/sessions/${rest}`)).toBe(answer);
    expect(await askBoth(`GET /v1/sessions/${rest}`, { hasKey: false })).toBe('401 MISSING_API_KEY');
    expect(await askBoth(`GET http://elsewhere.example/v1/sessions/${rest}`)).toBe(answer);
  });

  it.each([
    '/v1//sessions',
    '//v1/sessions',
    '/\\v1/sessions',
    '/v1\\sessions',
    '/v1/./sessions',
    '/v1/../health',
    '/x/../v1/sessions',
    '/x/%2e%2e/v1/sessions',
    '/.//v1',
    '/v1#fragment',
    '/v1/sessions.rsc',
    '/v1/index',
    '/v1/_next/data/build/v1.json',
    '/v1/_next/static/chunks/x.js',
    '/v1/[[...path]]',
    'http://elsewhere.example//v1/sessions',
  ])('that is none of the API’s is 404 in its envelope, after the key, and no redirect: %s', async (path) => {
    expect(await askBoth(`GET ${path}`)).toBe(ROUTED);
    expect(await askBoth(`GET ${path}`, { hasKey: false })).toBe('401 MISSING_API_KEY');
  });

  it.each([
    '/health/%E0%A4',
    '//health',
    '/x/../health',
    '/swagger/%E0%A4',
    '/swagger/..%2fstart.js',
    '/openapi//v3.json',
    '*',
    '/swagger\\',
    '/api/trpc/%E0%A4',
    '/%',
  ])('without a key is a plain 404 where the API or nobody answers: %s', async (path) => {
    expect(await askBoth(`GET ${path}`, { hasKey: false })).toBe('404');
  });
});

describe('bytes without sense', () => {
  const ALPHABET = [...'%%%/\\\\..??&&==#v1sessionsE0A4z+;:@*[]{}"<>^`|~\t\u0001\u007f\u0080\u00e9\u00ff'];
  const target = fc.array(fc.constantFrom(...ALPHABET), { maxLength: 30 }).map((parts) => parts.join(''));

  it('under /v1 are answered alike, and never as a fault of ours', async () => {
    const paths = fc.constantFrom('/v1/', '/v1/sessions/', '/v1/sessions?', '/v1/sessions?userId=', '/v1/webhooks/x');
    const property = fc.asyncProperty(paths, target, fc.boolean(), async (path, rest, hasKey) => {
      expect(await askBoth(`GET ${path}${rest}`, { hasKey })).toMatch(hasKey ? /^(200|400|404)/ : /^40[01] /);
    });
    await fc.assert(property, { numRuns: 300, seed: 7 });
  });
});

describe('a query', () => {
  const queries = named<[string]>([
    ['origin=%zz', '400 INVALID_REQUEST origin'],
    ['origin=%', '400 INVALID_REQUEST origin'],
    ['origin=%E0%A4', '400 INVALID_REQUEST origin'],
    ['userId=%00', '400 INVALID_REQUEST userId'],
    ['userId=%ED%A0%80', '400 INVALID_REQUEST userId'],
    ['pageSize=5&pageSize=5', '400 INVALID_REQUEST pageSize'],
    ['pageSize=+5', '400 INVALID_REQUEST pageSize'],
    ['pageSize=5#9', '400 INVALID_REQUEST pageSize'],
    ['pageSize=', '400 INVALID_REQUEST pageSize'],
    ['pageSize[]=0', '200'],
    ['__proto__=1&constructor=2', '200'],
    ['%', '200'],
    ['?pageSize=0', '200'],
    ['&&=&=x', '200'],
    ['_rsc=x&nxtPpath=health&__nextLocale=x&__flight__=1', '200'],
    [`x=${'y'.repeat(20 * KIB)}`, '200'],
  ]);
  it.each(queries)('reaches the API as it was sent: %s', async (_name, query, answer) => {
    expect(await askBoth(`GET /v1/sessions?${query}`)).toBe(answer);
    expect(await askBoth(`GET /v1/sessions?${query}`, { hasKey: false })).toBe('401 MISSING_API_KEY');
  });
});

describe('a method', () => {
  it.each(['OPTIONS', 'TRACE', 'PROPFIND', 'PUT', 'DELETE', 'PURGE'])('%s is judged by the API', async (method) => {
    for (const path of ['/v1/sessions', '/v1/nothing', '/v1', '/v1/sessions/%E0%A4'])
      expect(await askBoth(`${method} ${path}`)).toBe('404 NOT_FOUND');
    expect(await askBoth(`${method} /v1/sessions`, { hasKey: false })).toBe('401 MISSING_API_KEY');
    for (const path of ['/health', '*']) expect(await askBoth(`${method} ${path}`, { hasKey: false })).toBe('404');
  });

  it('CONNECT is refused: this is no proxy', async () => {
    for (const target of ['localhost:1', '/v1/sessions'])
      expect(await askBoth(`CONNECT ${target}`)).toBe('400 INVALID_REQUEST request');
  });

  it('HEAD is answered as GET, without the body', async () => {
    expect(await askBoth('HEAD /v1/sessions')).toBe('200');
    expect(await askBoth('HEAD /v1/sessions/%E0%A4')).toBe('400');
    expect(await askBoth('HEAD /v1/nothing')).toBe('404');
    for (const [path, status] of Object.entries({ '/v1/sessions': '401', '/health': '200', '/swagger': '200' }))
      expect(await askBoth(`HEAD ${path}`, { hasKey: false })).toBe(status);
  });

  it.each(['get', 'FOO', 'G\u00c9T'])('that HTTP does not know is unreadable: %s', async (method) => {
    expect(await askBoth(`${method} /v1/sessions`)).toBe('400 INVALID_REQUEST request');
  });
});

describe('a head', () => {
  const heads: string[][] = [
    ['Host: evil.example:99999'],
    ['Host: [::1', 'Host: other'],
    ['Host:'],
    ['X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: ftp', 'X-Forwarded-Port: x', 'X-Forwarded-For: ,,'],
    ['X-Matched-Path: /health', 'X-Invoke-Path: /health', 'X-Invoke-Status: 500', 'X-Invoke-Output: /health'],
    ['X-Middleware-Rewrite: /health', 'X-Middleware-Next: 1', 'X-Middleware-Override-Headers: authorization'],
    ['X-Middleware-Subrequest: proxy:proxy:proxy:proxy:proxy', 'X-Now-Route-Matches: 1=health'],
    ['RSC: 1', 'Next-Router-Prefetch: 1', 'Next-Router-State-Tree: %5B', 'Next-Url: /health'],
    ['X-NextJS-Data: 1', 'Purpose: prefetch', 'X-Prerender-Revalidate: x', 'Next-Resume: 1'],
    ['Next-Action: 0000000000000000000000000000000000000000', 'Origin: null'],
    ['X-HTTP-Method-Override: DELETE', 'X-HTTP-Method: DELETE'],
    ['Accept-Encoding: gzip, br', 'Sec-Fetch-Dest: image', 'Range: bytes=0-1', 'If-None-Match: *'],
    ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
    [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ],
    ['Cookie: __prerender_bypass=x; __next_preview_data=y'],
    ['X-Odd: \u00e9\u00ff'],
    ['Expect: 100-continue'],
    ['Expect: something'],
    [`X-Long: ${'x'.repeat(20 * KIB)}`],
    ['Connection: close'],
  ];
  const namedHeads = heads.map((headers): [string, string[]] => [headers.join(', ').slice(0, 40), headers]);
  it.each(namedHeads)('means nothing to Next: %s', async (_name, headers) => {
    expect(await askBoth('GET /v1/sessions?pageSize=5', { headers })).toBe('200');
    expect(await askBoth('GET /v1/sessions', { headers, hasKey: false })).toBe('401 MISSING_API_KEY');
    expect(await askBoth('GET /v1/sessions/%E0%A4', { headers })).toBe('400 INVALID_REQUEST sessionId');
    const action = [json, 'Next-Action: x', ...headers];
    expect(await askBoth('POST /v1/webhooks', { headers: [...action, long(1)], body: '{' })).toBe(
      '400 INVALID_BODY body',
    );
  });

  it('without Host is judged as with one', async () => {
    expect(await askBoth('GET /v1/sessions', { hasHost: false })).toBe('200');
    expect(await askBoth('GET /v1/sessions', { hasHost: false, hasKey: false })).toBe('401 MISSING_API_KEY');
    expect(await askBoth('GET /v1/sessions/%E0%A4', { hasHost: false })).toBe('400 INVALID_REQUEST sessionId');
  });

  it.each([
    ['Authorization: Basic eDp5'],
    ['Authorization: Bearer'],
    ['Authorization: Bearer \u00e9'],
    ['X-Api-Key:'],
    ['X-Api-Key: a', 'X-Api-Key: b'],
    ['Authorization: Bearer a', 'Authorization: Bearer b'],
  ])('with no valid key is refused alike: %s', async (...headers) => {
    expect(await askBoth('GET /v1/sessions', { headers, hasKey: false })).toBe('401 INVALID_API_KEY');
  });

  it.each<[string, string[]]>([
    ['over 32 KiB', [`X-Long: ${'x'.repeat(33 * KIB)}`]],
    ['a line without a colon', ['nonsense']],
    ['a space in a name', ['X Odd: 1']],
    ['a NUL', ['X-Odd: \u0000']],
    ['two lengths', [long(1), long(2)]],
    ['a length that is no number', ['Content-Length: x']],
    ['a length and chunks', [long(1), 'Transfer-Encoding: chunked']],
    ['an unknown transfer', ['Transfer-Encoding: x']],
  ])('that is not readable is refused in the envelope: %s', async (_what, headers) => {
    expect(await askBoth('GET /v1/sessions', { headers })).toBe('400 INVALID_REQUEST request');
  });

  it.each(['GET /v1/sessions/\u00e9', `GET /v1/${'x'.repeat(33 * KIB)}`, 'GET v1/sessions', 'GET  ', 'GET /v1 x'])(
    'whose first line is not readable is refused in the envelope: case %#',
    async (line) => {
      expect(await askBoth(line)).toBe('400 INVALID_REQUEST request');
    },
  );
});

describe('a body', () => {
  const post = (body: string | Uint8Array, ...headers: string[]) =>
    askBoth('POST /v1/webhooks', { headers: [json, long(Buffer.byteLength(body)), ...headers], body });
  const chunked = (body: string, ...headers: string[]) =>
    askBoth('POST /v1/webhooks', { headers: [json, 'Transfer-Encoding: chunked', ...headers], body });
  const REFUSED = '400 INVALID_BODY body';

  it.each<[string, string | Uint8Array, string[]]>([
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), []],
    ['a form', 'a=b', ['Content-Type: application/x-www-form-urlencoded']],
    ['compressed', '{}', ['Content-Encoding: gzip']],
    ['64 KiB and a byte', ' '.repeat(64 * KIB + 1), []],
    ['1 MiB', ' '.repeat(1024 * KIB), []],
    ['awaited', '{', ['Expect: 100-continue']],
    ['of another expectation', '{', ['Expect: something']],
  ])('is refused alike: %s', async (_what, body, headers) => {
    expect(await post(body, ...headers)).toBe(REFUSED);
  });

  it('over 1 MiB is refused, and the connection closes', async () => {
    const body = ' '.repeat(1024 * KIB + 1);
    expect(await askBoth('POST /v1/webhooks', { headers: [json, long(5_000_000)], body })).toBe(REFUSED);
  });

  it('in chunks is read alike', async () => {
    expect(await chunked('2\r\n{}\r\n0\r\n\r\n')).toBe('400 INVALID_BODY url');
    expect(await chunked('1;x=y\r\n{\r\n0\r\nX-Trailer: 1\r\n\r\n')).toBe(REFUSED);
    expect(await chunked('0\r\n\r\n')).toBe(REFUSED);
    expect(await chunked('zz\r\n')).toBe('400 INVALID_REQUEST request');
  });

  it('is not read without a key, nor where the route takes none', async () => {
    expect(await askBoth('POST /v1/webhooks', { hasKey: false, headers: [long(9_999)], body: '{' })).toBe(
      '401 MISSING_API_KEY',
    );
    expect(await askBoth('GET /v1/sessions', { headers: [long(9_999)], body: '{' })).toBe('200');
    expect(await askBoth('GET /v1/sessions', { headers: [long(2)], body: '{}' })).toBe('200');
  });
});
