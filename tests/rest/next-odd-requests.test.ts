import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RawAnswer } from '../support/connection';
import { makeNextPrint, readRecords } from '../support/next-prints';
import { type NextServer, startNextServer } from '../support/next-server';
import { describeAnswer, type OddRequest, sendOdd } from '../support/odd-requests';
import { startTestServer, type TestServer } from '../support/server';

// Requests that no well-behaved client sends, byte for byte. The self-hosted server judges each one as it was sent. If
// Next's router repairs, redirects or refuses a request before a route handler sees it, the case says what Next
// answers. All others get the same answer from both.

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

/** Shows an answer as `<status> <code> <field>`, or `<status> <location>`. */
function show({ status, body, header }: RawAnswer): string {
  const parts = [status, body?.error?.code, body?.error?.details?.field, header('location')];
  return parts.filter((part) => part !== undefined && part !== null).join(' ');
}

/** Sends a request to the self-hosted server and shows its answer. */
async function ask(line: string, { hasKey = true, ...odd }: Odd = {}): Promise<string> {
  const answer = await sendOdd(server.url, line, hasKey ? { ...odd, key: tenant.key } : odd);
  expect(answer.header('x-request-id')).toMatch(/^req_/);
  return show(answer);
}

/** Sends a request to plain `next start` and shows its answer, or `closed` if there is none. */
const askNext = (line: string, { hasKey = true, ...odd }: Odd = {}): Promise<string> =>
  sendOdd(next.url, line, hasKey ? { ...odd, key: tenant.key } : odd).then(show, ({ message }: Error) => {
    expect(message).toBe('closed after ""');
    return 'closed';
  });

/** Sends a request to both, expects the same answer, and shows it. */
async function askBoth(line: string, { hasKey = true, ...rest }: Odd = {}): Promise<string> {
  const odd = hasKey ? { ...rest, key: tenant.key } : rest;
  const [own, other] = await Promise.all([server, next].map(({ url }) => sendOdd(url, line, odd)));
  const name = `${line} ${odd.headers?.join(', ') ?? ''}`.slice(0, 200);
  expect({ name, ...describeAnswer(other!) }).toEqual({ name, ...describeAnswer(own!) });
  expect(own!.header('x-request-id')).toMatch(/^req_/);
  return show(own!);
}

/** Expects an answer of the self-hosted server. Next must give `byNext` if it is set, else the same answer. */
async function expectAnswer(line: string, answer: string, byNext?: string, odd: Odd = {}) {
  if (byNext === undefined) return expect(await askBoth(line, odd)).toBe(answer);
  expect([await ask(line, odd), await askNext(line, odd)]).toEqual([answer, byNext]);
}

/** Puts a short name in front of each case. */
const named = <T extends unknown[]>(cases: [string, ...T][]) =>
  cases.map(([text, ...rest]): [string, string, ...T] => [text.slice(0, 40), text, ...rest]);

const json = 'Content-Type: application/json';
const long = (length: number) => `Content-Length: ${length}`;

describe('a path', () => {
  const ROUTED = '404 NOT_FOUND';
  const JUDGED = '400 INVALID_REQUEST sessionId';
  const MISSING = '401 MISSING_API_KEY';

  const targets = named<[answer: string, byNext?: string]>([
    ['%E0%A4', JUDGED, '500'],
    ['%', JUDGED, '500'],
    ['%zz', JUDGED, '500'],
    ['%00', JUDGED],
    ['%ed%a0%80', JUDGED, '500'],
    ['x'.repeat(257), JUDGED],
    ['x'.repeat(30 * KIB), JUDGED, '431'],
    ['a%2Fb', ROUTED],
    ['a%5Cb', ROUTED],
    ['foo.rsc', ROUTED],
    ['foo.json', ROUTED],
    ['foo.segments/_tree.segment.rsc', ROUTED],
    ['index', ROUTED],
    ['"<>`{}|^', ROUTED],
    ['[x];v=1', ROUTED],
    ['__proto__', ROUTED],
    ['', ROUTED],
    ['/', ROUTED, '308 /v1/sessions/'],
    ['x//', ROUTED, '308 /v1/sessions/x/'],
    ['x\\y', ROUTED, '308 /v1/sessions/x/y'],
    ['x#fragment', ROUTED],
  ]);
  it.each(targets)('reaches the API as it was sent: /v1/sessions/%s', async (_name, rest, answer, byNext) => {
    await expectAnswer(`GET /v1/sessions/${rest}`, answer, byNext);
    await expectAnswer(`GET /v1/sessions/${rest}`, MISSING, byNext, { hasKey: false });
    expect(await ask(`GET http://elsewhere.example/v1/sessions/${rest}`)).toBe(answer);
  });

  it.each(['', 'x', '%zz', '..'])('in the absolute form is redirected by Next: /v1/sessions/%s', async (rest) => {
    expect(await askNext(`GET http://elsewhere.example/v1/sessions/${rest}`)).toMatch(
      /^308 http:\/\/elsewhere\.example\//,
    );
  });

  it.each<[path: string, byNext?: string, byNextWithoutKey?: string]>([
    ['/v1//sessions', '308 /v1/sessions'],
    ['//v1/sessions', '308 /v1/sessions'],
    ['/\\v1/sessions', '308 /v1/sessions'],
    ['/v1\\sessions', '308 /v1/sessions'],
    ['/.//v1', '308 /v1'],
    ['http://elsewhere.example//v1/sessions', '308 http://elsewhere.example/v1/sessions'],
    // Next resolves the dots.
    ['/v1/./sessions', '200', MISSING],
    ['/v1/../health', '200'],
    ['/x/../v1/sessions', '200', MISSING],
    ['/x/%2e%2e/v1/sessions', '200', MISSING],
    ['/v1/sessions/..', ROUTED, MISSING],
    ['/v1/sessions/%2e%2e', ROUTED, MISSING],
    ['/v1/sessions/x/../../../health', '200'],
    ['/v1#fragment'],
    ['/v1/sessions.rsc'],
    ['/v1/index'],
    ['/v1/_next/data/build/v1.json'],
    ['/v1/_next/static/chunks/x.js'],
    ['/v1/[[...path]]'],
  ])(
    'that is none of the API’s is 404 in its envelope, after the key, and no redirect: %s',
    async (path, byNext, ...more) => {
      await expectAnswer(`GET ${path}`, ROUTED, byNext);
      await expectAnswer(`GET ${path}`, MISSING, more[0] ?? byNext, { hasKey: false });
    },
  );

  it.each<[path: string, byNext?: string]>([
    ['/health/%E0%A4', '404'],
    ['//health', '308 /health'],
    ['/x/../health', '200'],
    ['/swagger/%E0%A4', '500'],
    ['/swagger/..%2fstart.js'],
    ['/openapi//v3.json', '308 /openapi/v3.json'],
    ['*', '500'],
    ['/swagger\\', '308 /swagger/'],
    ['/api/trpc/%E0%A4', '500'],
    ['/%', '404'],
  ])('without a key is a plain 404 if it is outside the API: %s', async (path, byNext) => {
    await expectAnswer(`GET ${path}`, '404', byNext, { hasKey: false });
  });
});

describe('meaningless bytes', () => {
  const ALPHABET = [...'%%%/\\\\..??&&==#v1sessionsE0A4z+;:@*[]{}"<>^`|~\t\u0001\u007f\u0080\u00e9\u00ff'];
  const target = fc.array(fc.constantFrom(...ALPHABET), { maxLength: 30 }).map((parts) => parts.join(''));

  it('under /v1 are never answered as a fault on our side', async () => {
    const paths = fc.constantFrom('/v1/', '/v1/sessions/', '/v1/sessions?', '/v1/sessions?userId=', '/v1/webhooks/x');
    const property = fc.asyncProperty(paths, target, fc.boolean(), async (path, rest, hasKey) => {
      expect(await ask(`GET ${path}${rest}`, { hasKey })).toMatch(hasKey ? /^(200|400|404)/ : /^40[01] /);
    });
    await fc.assert(property, { numRuns: 300, seed: 7 });
  });
});

describe('a query', () => {
  const queries = named<[answer: string, byNext?: string, byNextWithoutKey?: string]>([
    // Repaired by Next, or cut at the hash.
    ['origin=%zz', '400 INVALID_REQUEST origin', '200'],
    ['origin=%', '400 INVALID_REQUEST origin', '200'],
    ['origin=%E0%A4', '400 INVALID_REQUEST origin', '200'],
    ['userId=%ED%A0%80', '400 INVALID_REQUEST userId', '200'],
    ['pageSize=5#9', '400 INVALID_REQUEST pageSize', '200'],
    ['userId=%00', '400 INVALID_REQUEST userId'],
    ['pageSize=5&pageSize=5', '400 INVALID_REQUEST pageSize'],
    ['pageSize=+5', '400 INVALID_REQUEST pageSize'],
    ['pageSize=', '400 INVALID_REQUEST pageSize'],
    ['pageSize[]=0', '200'],
    ['__proto__=1&constructor=2', '200'],
    ['%', '200'],
    ['?pageSize=0', '200'],
    ['&&=&=x', '200'],
    ['_rsc=x&nxtPpath=health&__nextLocale=x&__flight__=1', '200'],
    [`x=${'y'.repeat(20 * KIB)}`, '200', '431', '431'],
  ]);
  it.each(queries)('reaches the API as it was sent: %s', async (_name, query, answer, byNext, byNextWithoutKey) => {
    await expectAnswer(`GET /v1/sessions?${query}`, answer, byNext);
    await expectAnswer(`GET /v1/sessions?${query}`, '401 MISSING_API_KEY', byNextWithoutKey, { hasKey: false });
  });
});

describe('a method', () => {
  it.each<[method: string, byNext?: string]>([
    ['OPTIONS'],
    ['PUT'],
    ['DELETE'],
    ['TRACE', '500'],
    ['PROPFIND', '400'],
    ['PURGE', '400'],
  ])('%s is judged by the API', async (method, byNext) => {
    for (const path of ['/v1/sessions', '/v1/nothing', '/v1'])
      await expectAnswer(`${method} ${path}`, '404 NOT_FOUND', byNext);
    await expectAnswer(`${method} /v1/sessions/%E0%A4`, '404 NOT_FOUND', '500');
    await expectAnswer(`${method} /v1/sessions`, '401 MISSING_API_KEY', byNext, { hasKey: false });
    await expectAnswer(`${method} /health`, '404', byNext, { hasKey: false });
    await expectAnswer(`${method} *`, '404', '500', { hasKey: false });
  });

  it('CONNECT is refused: this server is no proxy', async () => {
    for (const target of ['localhost:1', '/v1/sessions'])
      await expectAnswer(`CONNECT ${target}`, '400 INVALID_REQUEST request', 'closed');
  });

  it('HEAD is answered like GET, without the body', async () => {
    expect(await askBoth('HEAD /v1/sessions')).toBe('200');
    await expectAnswer('HEAD /v1/sessions/%E0%A4', '400', '500');
    expect(await askBoth('HEAD /v1/nothing')).toBe('404');
    for (const [path, status] of Object.entries({ '/v1/sessions': '401', '/health': '200', '/swagger': '200' }))
      expect(await askBoth(`HEAD ${path}`, { hasKey: false })).toBe(status);
  });

  it.each(['get', 'FOO', 'G\u00c9T'])('that HTTP does not know is unreadable: %s', async (method) => {
    await expectAnswer(`${method} /v1/sessions`, '400 INVALID_REQUEST request', '400');
  });
});

describe('a head', () => {
  /** Each with Next's answer, if it does not reach the API. */
  const heads: [headers: string[], byNext?: string | RegExp][] = [
    [['Host: evil.example:99999']],
    [['Host: [::1']],
    [['Host:']],
    [['X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: ftp', 'X-Forwarded-Port: x', 'X-Forwarded-For: ,,']],
    [['X-Matched-Path: /health', 'X-Invoke-Path: /health', 'X-Invoke-Status: 500', 'X-Invoke-Output: /health']],
    [['X-Middleware-Rewrite: /health', 'X-Middleware-Next: 1', 'X-Middleware-Override-Headers: authorization']],
    [['X-Middleware-Subrequest: proxy:proxy:proxy:proxy:proxy', 'X-Now-Route-Matches: 1=health']],
    [['RSC: 1', 'Next-Router-Prefetch: 1', 'Next-Router-State-Tree: %5B', 'Next-Url: /health'], /^307 .*_rsc=/],
    [['X-NextJS-Data: 1', 'Purpose: prefetch', 'X-Prerender-Revalidate: x', 'Next-Resume: 1']],
    [['Next-Action: 0000000000000000000000000000000000000000', 'Origin: null']],
    [['X-Middleware-Prefetch: 1'], '200'],
    [['X-HTTP-Method-Override: DELETE', 'X-HTTP-Method: DELETE']],
    [['Sec-Fetch-Dest: image', 'Range: bytes=0-1', 'If-None-Match: *']],
    [['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'], 'closed'],
    [
      [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      ],
      'closed',
    ],
    [['X-Odd: \u00e9\u00ff']],
    [['Expect: 100-continue']],
    [['Expect: something'], '417'],
    [[`X-Long: ${'x'.repeat(20 * KIB)}`], '431'],
    [['Connection: close']],
  ];
  const namedHeads = heads.map(([headers, byNext]) => [headers.join(', ').slice(0, 40), headers, byNext] as const);
  it.each(namedHeads)('does not affect the API: %s', async (_name, headers, byNext) => {
    const action = [json, 'Next-Action: x', ...headers, long(1)];
    const hasHost = !headers.some((header) => header.startsWith('Host:'));
    const cases: [line: string, answer: string, odd: Odd][] = [
      ['GET /v1/sessions?pageSize=5', '200', { headers, hasHost }],
      ['GET /v1/sessions', '401 MISSING_API_KEY', { headers, hasHost, hasKey: false }],
      ['POST /v1/webhooks', '400 INVALID_BODY body', { headers: action, hasHost, body: '{' }],
    ];
    for (const [line, answer, odd] of cases) {
      // Next never releases a socket that offers an upgrade and sends a body, so the server would not end.
      if (byNext === 'closed' && odd.body) expect(await ask(line, odd)).toBe(answer);
      else if (byNext === undefined) expect(await askBoth(line, odd)).toBe(answer);
      else expect([await ask(line, odd), await askNext(line, odd)]).toEqual([answer, expect.stringMatching(byNext)]);
    }
    expect(await ask('GET /v1/sessions/%E0%A4', { headers, hasHost })).toBe('400 INVALID_REQUEST sessionId');
  });

  it('with two hosts is 400; Next sees only the first', async () => {
    await expectAnswer('GET /v1/sessions', '400 INVALID_REQUEST request', '200', { headers: ['Host: other'] });
  });

  it('that accepts compressed answers gets uncompressed ones from the API; Next compresses them on the way', async () => {
    const headers = ['Accept-Encoding: gzip, br'];
    const own = await sendOdd(server.url, 'GET /v1/sessions', { key: tenant.key, headers });
    expect([own.status, own.header('content-encoding')]).toEqual([200, null]);
    const asked = { authorization: `Bearer ${tenant.key}`, 'accept-encoding': 'gzip' };
    const other = await fetch(`${next.url}/v1/sessions`, { headers: asked });
    expect([other.headers.get('content-encoding'), await other.json()]).toEqual(['gzip', own.body]);
  });

  it('with the cookies of a preview is judged as without, and Next withdraws one of them', async () => {
    const headers = ['Cookie: __prerender_bypass=x; __next_preview_data=y'];
    for (const hasKey of [true, false]) {
      const answer = hasKey ? '200' : '401 MISSING_API_KEY';
      await expectAnswer('GET /v1/sessions', answer, answer, { headers, hasKey });
    }
    expect(await ask('GET /v1/sessions/%E0%A4', { headers })).toBe('400 INVALID_REQUEST sessionId');
    const odd = { headers: [json, ...headers, long(1)], body: '{' };
    await expectAnswer('POST /v1/webhooks', '400 INVALID_BODY body', '400 INVALID_BODY body', odd);
    const { rawHeaders } = await sendOdd(server.url, 'GET /v1/sessions', { key: tenant.key, headers });
    expect(rawHeaders.filter(([name]) => /^set-cookie$/i.test(name))).toEqual([]);
  });

  it('without Host is judged as with one', async () => {
    await expectAnswer('GET /v1/sessions', '200', '400', { hasHost: false });
    await expectAnswer('GET /v1/sessions', '401 MISSING_API_KEY', '400', { hasHost: false, hasKey: false });
    await expectAnswer('GET /v1/sessions/%E0%A4', '400 INVALID_REQUEST sessionId', '400', { hasHost: false });
  });

  it.each([
    ['Authorization: Basic eDp5'],
    ['Authorization: Bearer'],
    ['Authorization: Bearer \u00e9'],
    ['X-Api-Key:'],
    ['X-Api-Key: a', 'X-Api-Key: b'],
    ['Authorization: Bearer a', 'Authorization: Bearer b'],
  ])('without a valid key is refused the same way by both: %s', async (...headers) => {
    expect(await askBoth('GET /v1/sessions', { headers, hasKey: false })).toBe('401 INVALID_API_KEY');
  });

  it.each<[what: string, headers: string[], byNext?: string]>([
    ['over 32 KiB', [`X-Long: ${'x'.repeat(33 * KIB)}`], '431'],
    ['a line without a colon', ['nonsense']],
    ['a space in a name', ['X Odd: 1']],
    ['a NUL', ['X-Odd: \u0000']],
    ['two lengths', [long(1), long(2)]],
    ['a length that is no number', ['Content-Length: x']],
    ['a length and chunks', [long(1), 'Transfer-Encoding: chunked']],
    ['an unknown transfer', ['Transfer-Encoding: x']],
  ])('that is unreadable is refused in the envelope: %s', async (_what, headers, byNext = '400') => {
    await expectAnswer('GET /v1/sessions', '400 INVALID_REQUEST request', byNext, { headers });
  });

  it.each<[line: string, byNext?: string]>([
    ['GET /v1/sessions/\u00e9'],
    [`GET /v1/${'x'.repeat(33 * KIB)}`, '431'],
    ['GET v1/sessions'],
    ['GET  '],
    ['GET /v1 x'],
  ])('whose first line is unreadable is refused in the envelope: case %#', async (line, byNext = '400') => {
    await expectAnswer(line, '400 INVALID_REQUEST request', byNext);
  });
});

describe('a body', () => {
  const post = (body: string | Uint8Array, headers: string[], byNext?: string) =>
    expectAnswer('POST /v1/webhooks', REFUSED, byNext, {
      headers: [json, long(Buffer.byteLength(body)), ...headers],
      body,
    });
  const chunked = (body: string, ...headers: string[]) =>
    askBoth('POST /v1/webhooks', { headers: [json, 'Transfer-Encoding: chunked', ...headers], body });
  const REFUSED = '400 INVALID_BODY body';

  it.each<[what: string, body: string | Uint8Array, headers: string[], byNext?: string]>([
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), []],
    ['a form', 'a=b', ['Content-Type: application/x-www-form-urlencoded']],
    ['compressed', '{}', ['Content-Encoding: gzip']],
    ['64 KiB and a byte', ' '.repeat(64 * KIB + 1), []],
    ['1 MiB', ' '.repeat(1024 * KIB), []],
    ['awaited', '{', ['Expect: 100-continue']],
    ['of another expectation', '{', ['Expect: something'], '417'],
  ])('is refused: %s', async (_what, body, headers, byNext) => {
    await post(body, headers, byNext);
  });

  it('over 1 MiB is refused, and the connection closes', async () => {
    const body = ' '.repeat(1024 * KIB + 1);
    expect(await askBoth('POST /v1/webhooks', { headers: [json, long(5_000_000)], body })).toBe(REFUSED);
  });

  it('in chunks is read the same way', async () => {
    expect(await chunked('2\r\n{}\r\n0\r\n\r\n')).toBe('400 INVALID_BODY url');
    expect(await chunked('1;x=y\r\n{\r\n0\r\nX-Trailer: 1\r\n\r\n')).toBe(REFUSED);
    expect(await chunked('0\r\n\r\n')).toBe(REFUSED);
    const headers = [json, 'Transfer-Encoding: chunked'];
    await expectAnswer('POST /v1/webhooks', '400 INVALID_REQUEST request', '400', { headers, body: 'zz\r\n' });
  });

  it('is not read without a key, or if the route takes none', async () => {
    expect(await askBoth('POST /v1/webhooks', { hasKey: false, headers: [long(9_999)], body: '{' })).toBe(
      '401 MISSING_API_KEY',
    );
    expect(await askBoth('GET /v1/sessions', { headers: [long(9_999)], body: '{' })).toBe('200');
    expect(await askBoth('GET /v1/sessions', { headers: [long(2)], body: '{}' })).toBe('200');
  });
});

describe('plain next start', () => {
  it('logs what Next prints, one JSON object per line, and has no image optimizer', async () => {
    expect((await fetch(`${next.url}/_next/image?url=%2Ficon.svg&w=640&q=75`)).status).toBe(404);
    const before = next.output().length;
    expect(await makeNextPrint(next.url)).toEqual([409, 500]);
    const listPrinted = () => {
      const text = next.output().slice(before);
      return readRecords(text.slice(0, text.lastIndexOf('\n')));
    };
    await expect.poll(() => listPrinted().map(({ level }) => level)).toEqual(expect.arrayContaining(['warn', 'error']));
  });
});
