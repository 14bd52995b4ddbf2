import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/answers';
import { Connection, type RawRequest, sendRaw } from '../support/connection';
import { started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';

const KIB = 1024;
const MIB = 1024 * KIB;
const VALID = JSON.stringify({ url: 'https://example.com/', eventType: 'BotDetected', enabled: false });

let server: TestServer;
let tenant: { id: string; key: string };
beforeAll(async () => {
  server = await startTestServer();
  tenant = await server.createTenant('enterprise');
});
afterAll(() => server.stop());

const keyed = (headers: Record<string, string> = {}) => ({ Authorization: `Bearer ${tenant.key}`, ...headers });
const send = (method: string, target: string, { headers, ...request }: RawRequest = {}) =>
  sendRaw(server.url, method, target, { ...request, headers: keyed(headers) });
const post = (body: string | Uint8Array, headers: Record<string, string> = { 'Content-Type': 'application/json' }) =>
  send('POST', '/v1/webhooks', { headers, body });

/** Makes a JSON body of exactly so many bytes. */
const padded = (bytes: number) => VALID + ' '.repeat(bytes - VALID.length);

describe('a body', () => {
  afterAll(async () => {
    await server.database.db.sql`delete from webhook_subscriptions`;
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json ; charset=utf-8',
  ])('is taken as %s', async (type) => {
    expect((await post(VALID, { 'Content-Type': type })).status).toBe(200);
  });

  it.each([
    '',
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'application/octet-stream',
    'json',
  ])('is refused as %j', async (type) => {
    expectError(await post(VALID, { 'Content-Type': type }), 'INVALID_BODY', 'body');
  });

  it('is refused without a media type', async () => {
    expectError(await post(VALID, {}), 'INVALID_BODY', 'body');
  });

  it.each(['gzip', 'br', 'deflate'])('is refused if it is compressed: %s', async (encoding) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': encoding };
    expectError(await post(VALID, headers), 'INVALID_BODY', 'body');
  });

  it.each([
    '',
    ' ',
    'x',
    '{',
    '{"url":"x"',
    '{"a":1}}',
    "{'a':1}",
    '{a:1}',
    '{"a":1,}',
    '[1',
    'NaN',
    'undefined',
    '{"a":"\n"}',
  ])('that is not JSON is refused: %j', async (body) => {
    expectError(await post(body), 'INVALID_BODY', 'body');
  });

  it.each(['[]', '[{}]', 'null', 'true', '1', '"text"', `[${VALID}]`])(
    'that is no object is refused: %s',
    async (body) => {
      expectError(await post(body), 'INVALID_BODY', 'body');
    },
  );

  it.each<[string, number[]]>([
    ['a lone continuation byte', [0x80]],
    ['a cut sequence', [0xc3]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['a byte beyond Unicode', [0xf5, 0x80, 0x80, 0x80]],
    ['Latin-1', [0xe4]],
  ])('that is not UTF-8 is refused: %s', async (_what, bytes) => {
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from(`",${VALID.slice(1)}`)]);
    expectError(await post(body), 'INVALID_BODY', 'body');
  });

  it('may begin with a byte order mark', async () => {
    expect((await post(`\ufeff${VALID}`)).status).toBe(200);
  });

  it.each<[string, string | Uint8Array]>([
    ['two of them', `\ufeff\ufeff${VALID}`],
    ['one after a space', ` \ufeff${VALID}`],
    ['one at the end', `${VALID}\ufeff`],
    ['nothing else', '\ufeff'],
    ['that of UTF-16', Buffer.from(`\ufeff${VALID}`, 'utf16le')],
  ])('with another byte order mark is refused: %s', async (_what, body) => {
    expectError(await post(body), 'INVALID_BODY', 'body');
  });

  it('that is missing is refused', async () => {
    const headers = { 'Content-Type': 'application/json' };
    expectError(await send('POST', '/v1/webhooks', { headers }), 'INVALID_BODY', 'body');
    expectError(await post('', { 'Content-Type': '' }), 'INVALID_BODY', 'body');
  });

  it('of 64 KiB is taken, one byte more is refused', async () => {
    expect((await post(padded(64 * KIB))).status).toBe(200);
    expectError(await post(padded(64 * KIB + 1)), 'INVALID_BODY', 'body');
  });

  it('is measured in bytes, not in characters', async () => {
    const name = 'ä'.repeat(40 * KIB);
    expectError(await post(JSON.stringify({ ...JSON.parse(VALID), unknown: name })), 'INVALID_BODY', 'body');
  });

  it('may come in chunks', async () => {
    const chunked = async (size: number, count: number) => {
      const connection = await Connection.open(server.url);
      connection.writeHead(
        'POST',
        '/v1/webhooks',
        keyed({ 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }),
      );
      const text = padded(size * count);
      for (let n = 0; n < count; n++)
        connection.write(`${size.toString(16)}\r\n${text.slice(n * size, (n + 1) * size)}\r\n`);
      connection.write('0\r\n\r\n');
      const answer = await connection.read();
      connection.close();
      return answer;
    };
    expect((await chunked(1_000, 3)).status).toBe(200);
    expectError(await chunked(10_000, 7), 'INVALID_BODY', 'body');
  });

  it.each([
    ['arrays', '['.repeat(30_000)],
    ['closed arrays', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['objects in a field', `{"threshold":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)},${VALID.slice(1)}`],
    [
      'arrays as a value',
      `{"threshold":{"field":"a","operator":"in","value":${'['.repeat(20_000)}${']'.repeat(20_000)}},${VALID.slice(1)}`,
    ],
    ['arrays as a name', `{"name":${'['.repeat(20_000)}${']'.repeat(20_000)},${VALID.slice(1)}`],
  ])('that is nested very deeply is refused, not a fault on our side: %s', async (_what, body) => {
    const answer = await post(body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_BODY']);
  });

  it('may be nested deeply in a field that is ignored', async () => {
    const deep = `{"unknown":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)},${VALID.slice(1)}`;
    expect((await post(deep)).status).toBe(200);
  });

  it.each<[string, string]>([
    ['{"name":"a\\u0000b"}', 'name'],
    ['{"name":"\\ud800"}', 'name'],
    ['{"name":"\\udc00x"}', 'name'],
    ['{"name":"\\ud83d\\ud83d"}', 'name'],
    ['{"threshold":{"field":"\\ud800","operator":"eq","value":1}}', 'threshold.field'],
    ['{"threshold":{"field":"a","operator":"eq","value":"\\ud800"}}', 'threshold.value'],
    ['{"eventType":"\\u0000"}', 'eventType'],
    ['{"eventType":"BotDetected\\ud800"}', 'eventType'],
    ['{"url":"https://example.com/\\u0000"}', 'url'],
    ['{"url":"https://example.com/\\ud800"}', 'url'],
  ])('with U+0000 or a lone surrogate names the field: %s', async (fields, field) => {
    const answer = await post(`${VALID.slice(0, -1)},${fields.slice(1)}`);
    expect([answer.status, answer.body.error.details]).toEqual([400, { field }]);
    expect(JSON.stringify(answer.body)).not.toMatch(/INTERNAL/);
  });

  it('with U+0000 in an ignored field is taken', async () => {
    expect((await post(`{"unknown":"\\u0000","\\u0000":"\\ud800",${VALID.slice(1)}`)).status).toBe(200);
  });

  it('is not read if the route takes none', async () => {
    for (const [method, target, status] of [
      ['GET', '/v1/webhooks', 200],
      ['GET', '/v1/sessions', 200],
      ['DELETE', '/v1/webhooks/unknown', 404],
    ] as const)
      expect((await send(method, target, { body: '{', headers: { 'Content-Type': 'text/plain' } })).status).toBe(
        status,
      );
  });
});

describe('a body that is too long', () => {
  const head = (length: number) => keyed({ 'Content-Type': 'application/json', 'Content-Length': String(length) });

  it('is drained up to 1 MiB, and the connection stays open', async () => {
    const connection = await Connection.open(server.url);
    for (const length of [65 * KIB, 500 * KIB, MIB]) {
      connection.writeHead('POST', '/v1/webhooks', head(length));
      connection.write(' '.repeat(length));
      const answer = await connection.read();
      expectError(answer, 'INVALID_BODY', 'body');
      expect(answer.header('connection')).not.toBe('close');
    }
    connection.writeHead('GET', '/v1/webhooks', keyed());
    expect((await connection.read()).status).toBe(200);
    connection.close();
  });

  it('is answered only after it was drained', async () => {
    const connection = await Connection.open(server.url);
    connection.writeHead('POST', '/v1/webhooks', head(200 * KIB));
    connection.write(' '.repeat(100 * KIB));
    await expect(connection.read(true, 300)).rejects.toThrow('no answer');
    connection.write(' '.repeat(100 * KIB));
    expectError(await connection.read(), 'INVALID_BODY', 'body');
    connection.close();
  });

  it('of more than 1 MiB is answered, and then the connection closes', async () => {
    for (const length of [MIB + 1, 3 * MIB, 100 * MIB]) {
      const connection = await Connection.open(server.url);
      connection.writeHead('POST', '/v1/webhooks', head(length));
      connection.write(' '.repeat(MIB + 1));
      const answer = await connection.read();
      expectError(answer, 'INVALID_BODY', 'body');
      if (length > MIB + 1) {
        expect(answer.header('connection')).toBe('close');
        await connection.closed;
      }
      connection.close();
    }
  });

  it('in endless chunks is answered, and then the connection closes', async () => {
    const connection = await Connection.open(server.url);
    connection.writeHead(
      'POST',
      '/v1/webhooks',
      keyed({ 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }),
    );
    for (let n = 0; n < 12; n++) connection.write(`${(100 * KIB).toString(16)}\r\n${' '.repeat(100 * KIB)}\r\n`);
    const answer = await connection.read();
    expectError(answer, 'INVALID_BODY', 'body');
    expect(answer.header('connection')).toBe('close');
    await connection.closed;
  });

  it.each<[string, string, string, Record<string, string>, number]>([
    ['without a key', 'POST', '/v1/webhooks', {}, 401],
    ['with a wrong key', 'POST', '/v1/webhooks', { Authorization: 'Bearer x' }, 401],
    ['to an unknown path', 'POST', '/v1/unknown', { key: 'valid' }, 404],
    ['to a route without a body', 'DELETE', '/v1/webhooks/unknown', { key: 'valid' }, 404],
    ['with a bad path parameter', 'PATCH', '/v1/webhooks/%zz', { key: 'valid' }, 400],
  ])('%s still gets its answer', async (_what, method, target, { key, ...headers }, status) => {
    const body = 'x'.repeat(900 * KIB);
    for (let n = 0; n < 10; n++) {
      const answer = await fetch(`${server.url}${target}`, {
        method,
        headers: {
          'content-type': 'application/json',
          ...headers,
          ...(key ? { authorization: `Bearer ${tenant.key}` } : {}),
        },
        body,
      });
      expect(answer.status).toBe(status);
      await answer.text();
    }
  });
});

describe('a path', () => {
  it.each(['%', '%z', '%zz', '%2', '%ff', '%c3', '%c0%af', '%ED%A0%80', 'a%zzb'])(
    'parameter that is not percent-encoded UTF-8 is 400: %s',
    async (segment) => {
      expectError(await send('GET', `/v1/sessions/${segment}`), 'INVALID_REQUEST', 'sessionId');
    },
  );

  it('parameter is judged before the body', async () => {
    const request = { headers: { 'Content-Type': 'text/plain' }, body: '{' };
    expectError(await send('PATCH', '/v1/webhooks/%zz', request), 'INVALID_REQUEST', 'id');
    expectError(await send('PATCH', `/v1/webhooks/${'x'.repeat(257)}`, request), 'INVALID_REQUEST', 'id');
    expectError(await send('PATCH', '/v1/webhooks/%00', request), 'INVALID_REQUEST', 'id');
  });

  it('parameter may have 256 characters, counted as code points', async () => {
    for (const character of ['x', encodeURIComponent('ä'), encodeURIComponent('😀')]) {
      expectError(await send('GET', `/v1/sessions/${character.repeat(256)}`), 'NOT_FOUND');
      expectError(await send('GET', `/v1/sessions/${character.repeat(257)}`), 'INVALID_REQUEST', 'sessionId');
    }
    expectError(await send('GET', `/v1/sessions/${'x'.repeat(10_000)}`), 'INVALID_REQUEST', 'sessionId');
  });

  it('parameter with U+0000 is 400', async () => {
    for (const segment of ['%00', 'a%00', '%00%00'])
      expectError(await send('GET', `/v1/sessions/${segment}`), 'INVALID_REQUEST', 'sessionId');
  });

  it('parameter is decoded exactly once', async () => {
    const ids = ['a/b', 'a%2Fb', 'a%252Fb', 'a+b', '%00', '%zz'];
    expect(
      (
        await server.ingest(
          tenant.id,
          ids.map((id) => started(id)),
        )
      ).status,
    ).toBe(200);
    for (const id of ids) {
      const { status, body } = await send('GET', `/v1/sessions/${encodeURIComponent(id)}`);
      expect([status, body.data?.id]).toEqual([200, id]);
    }
    expect((await send('GET', '/v1/sessions/a+b')).body.data.id).toBe('a+b');
    expect((await send('GET', '/v1/sessions/%61%2fb')).body.data.id).toBe('a/b');
  });

  it.each([
    '/v1',
    '/v1/',
    '/v1/sessions/',
    '/v1/webhooks/',
    '/v1/integration/',
    '/v1//sessions',
    '/v1/sessions//',
    '/v1//',
    '/v1/sessions/x/',
    '/v1/sessions//x',
    '/v1/Sessions',
    '/v1/sessionss',
    '/v1/session',
    '/v1/%73essions',
    '/v1/sessions%2Fx',
    '/v1/%zz',
    '/v1/%00',
    '/v1/sessions/../integration',
    '/v1/./sessions',
    '/v1/unknown',
    '/v1/__proto__',
    '/v1/constructor/x',
    '/v1/sessions;x=1',
    '/v1/health',
    '/v1/openapi/v3.json',
  ])('that is no route is 404, without a redirect: %s', async (target) => {
    const answer = await send('GET', target);
    expectError(answer, 'NOT_FOUND');
    expect(answer.header('location')).toBeNull();
    expect(answer.header('x-service-tier')).toBe('enterprise');
    expect(answer.header('ratelimit')).not.toBeNull();
  });

  it('may carry a query that has no meaning', async () => {
    expect((await send('GET', '/v1/integration?')).status).toBe(200);
    expect((await send('GET', '/v1/integration?a=b?c=%zz&pageSize=0')).status).toBe(200);
  });
});

describe('what Node would answer without the API', () => {
  it('a target of 20,000 characters gets the route’s answer', async () => {
    expectError(await send('GET', `/v1/sessions/${'x'.repeat(20_000)}`), 'INVALID_REQUEST', 'sessionId');
  });

  it.each<[string, string]>([
    ['a target that no header buffer holds', `GET /v1/sessions/${'x'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['headers that no buffer holds', `GET /v1/sessions HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['what is no HTTP', 'HELLO\r\n\r\n'],
    ['bytes that a target may not have', 'GET /v1/sessions/é HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a broken header', 'GET /v1/sessions HTTP/1.1\r\nHost: x\r\nNo colon\r\n\r\n'],
    ['two hosts', 'GET /v1/integration HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
    ['the same host twice', 'GET /health HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n'],
    ['two hosts for a page', 'GET /sign-in HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
    ['two lengths', 'POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}'],
    [
      'a length and chunks',
      'POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    ],
  ])('%s gets 400 in the envelope with a request id, and the connection closes', async (_what, bytes) => {
    const connection = await Connection.open(server.url);
    connection.write(bytes);
    const answer = await connection.read();
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: { code: 'INVALID_REQUEST', message: expect.any(String), details: { field: expect.any(String) } } },
    ]);
    expect(answer.header('connection')).toBe('close');
    expect(answer.header('x-request-id')).toMatch(/^\S{8,}$/);
    await connection.closed;
    expect(connection.unread).toBe(0);
  });

  it('a request without Host gets the route’s answer to a missing key', async () => {
    const connection = await Connection.open(server.url);
    connection.write('GET /v1/integration HTTP/1.1\r\nConnection: close\r\n\r\n');
    expectError(await connection.read(), 'MISSING_API_KEY');
  });

  it('OPTIONS * gets 404 with a request id', async () => {
    const connection = await Connection.open(server.url);
    connection.write('OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const answer = await connection.read();
    expect(answer.status).toBe(404);
    expect(answer.header('x-request-id')).toMatch(/^\S{8,}$/);
  });

  it('a body that breaks off in a bad chunk gets one answer, and the connection closes', async () => {
    const connection = await Connection.open(server.url);
    const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
    connection.writeHead('POST', '/v1/webhooks', keyed(headers));
    connection.write('5\r\n{"url\r\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    connection.write('zz\r\n');
    expect((await connection.read()).status).toBe(400);
    await connection.closed;
    expect(connection.unread).toBe(0);
  });

  it('a client that hangs up in the middle of its body gets nothing, and the server keeps running', async () => {
    for (let n = 0; n < 5; n++) {
      const connection = await Connection.open(server.url);
      connection.writeHead(
        'POST',
        '/v1/webhooks',
        keyed({ 'Content-Type': 'application/json', 'Content-Length': '100' }),
      );
      connection.write('{"url":');
      await new Promise((resolve) => setTimeout(resolve, 20));
      connection.close();
    }
    expect((await send('GET', '/v1/integration')).status).toBe(200);
  });

  it('an unknown expectation gets the route’s answer', async () => {
    expect((await send('GET', '/v1/integration', { headers: { Expect: 'a miracle' } })).status).toBe(200);
    expectError(await sendRaw(server.url, 'GET', '/v1/x', { headers: { Expect: 'a miracle' } }), 'MISSING_API_KEY');
  });

  it('Expect: 100-continue gets 100 first, then the route’s answer', async () => {
    const connection = await Connection.open(server.url);
    const length = String(Buffer.byteLength(VALID));
    const headers = { 'Content-Type': 'application/json', 'Content-Length': length, Expect: '100-continue' };
    connection.writeHead('POST', '/v1/webhooks', keyed(headers));
    expect((await connection.read()).status).toBe(100);
    connection.write(VALID);
    expect((await connection.read()).status).toBe(200);
    connection.close();
  });
});

describe('a method', () => {
  it.each(['OPTIONS', 'TRACE', 'PUT', 'PATCH', 'DELETE', 'POST', 'PROPFIND', 'PURGE', 'QUERY'])(
    '%s that a path does not take is 404 in the envelope',
    async (method) => {
      const answer = await send(method, '/v1/sessions');
      expectError(answer, 'NOT_FOUND');
      for (const name of ['allow', 'access-control-allow-origin', 'access-control-allow-methods'])
        expect([name, answer.header(name)]).toEqual([name, null]);
    },
  );

  it('that one path takes is 404 on another path', async () => {
    expectError(await send('POST', '/v1/integration', { body: '{}' }), 'NOT_FOUND');
    expectError(await send('DELETE', '/v1/webhooks'), 'NOT_FOUND');
    expectError(await send('POST', '/v1/webhooks/x', { body: '{}' }), 'NOT_FOUND');
    expectError(await send('PUT', '/v1/webhooks/x', { body: '{}' }), 'NOT_FOUND');
  });

  it('is not overridden by a header or a query', async () => {
    const headers = { 'X-HTTP-Method-Override': 'DELETE', 'X-HTTP-Method': 'DELETE' };
    expect((await send('GET', '/v1/webhooks?_method=DELETE', { headers })).status).toBe(200);
  });
});

describe('a request for a page', () => {
  let pages: TestServer;
  beforeAll(async () => {
    pages = await startTestServer({}, server, () => async ({ method, url }, response) => {
      response.end(`a page for ${method} ${url}`);
    });
  });
  afterAll(() => pages.stop());

  it.each([
    ['http://api.example/sign-in', '/sign-in'],
    ['HTTPS://api.example:8443/dashboard/x?next=%2Fa&b=//c', '/dashboard/x?next=%2Fa&b=//c'],
    ['http://api.example/', '/'],
  ])('in the absolute form, as a proxy sends it, reaches the page: %s', async (target, seen) => {
    const answer = await sendRaw(pages.url, 'GET', target);
    expect([answer.status, answer.text]).toEqual([200, `a page for GET ${seen}`]);
  });

  it('with TRACE is 404, and no page is asked', async () => {
    for (const path of ['/', '/sign-in', '/api/auth/sign-in', '/api/trpc/staff.me']) {
      const answer = await sendRaw(pages.url, 'TRACE', path);
      expect([path, answer.status, answer.text]).toEqual([path, 404, 'Not found\n']);
    }
  });
});

describe('HEAD', () => {
  it.each([
    ['/v1/sessions', 200],
    ['/v1/sessions/unknown', 404],
    ['/v1/sessions?pageSize=0', 400],
    ['/v1/integration', 200],
    ['/v1/webhooks', 200],
    ['/v1/webhooks/unknown', 404],
    ['/v1/unknown', 404],
    ['/openapi/v3.json', 200],
    ['/swagger', 200],
    ['/swagger/swagger-ui.css', 200],
    ['/pixel.js', 200],
  ])('%s answers like GET, with its content-length and no body', async (target, status) => {
    const asGet = await send('GET', target);
    const connection = await Connection.open(server.url);
    connection.writeHead('HEAD', target, keyed());
    const answer = await connection.read(false);
    expect([answer.status, asGet.status]).toEqual([status, status]);
    expect(answer.header('content-length')).toBe(asGet.header('content-length'));
    expect(Number(answer.header('content-length'))).toBeGreaterThan(0);
    expect(answer.header('content-type')).toBe(asGet.header('content-type'));
    // The connection can carry the next request: the next bytes are its answer, not a body.
    connection.writeHead('GET', '/v1/integration', keyed());
    expect((await connection.read()).body.data.id).toBe(tenant.id);
    expect(connection.unread).toBe(0);
    connection.close();
  });

  it('/health has the length of its JSON', async () => {
    const answer = await send('HEAD', '/health');
    expect([answer.status, answer.header('content-length')]).toEqual([
      200,
      String((await send('GET', '/health')).text.length),
    ]);
  });
});

describe('every answer', () => {
  it.each([
    ['GET', '/v1/integration'],
    ['GET', '/v1/unknown'],
    ['GET', '/health'],
    ['GET', '/openapi/v3.json'],
    ['GET', '/swagger'],
    ['POST', '/health'],
    ['DELETE', '/openapi/v3.json'],
    ['GET', '/swagger/unknown'],
    ['GET', '/pixel.js'],
  ])('%s %s has a new id in x-request-id each time', async (method, target) => {
    const ids = [await send(method, target), await send(method, target)].map((answer) => answer.header('x-request-id'));
    expect(ids[0]).toMatch(/^\S{8,}$/);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('under /v1 forbids storing it', async () => {
    for (const target of ['/v1/integration', '/v1/unknown', '/v1/sessions?pageSize=0'])
      expect((await send('GET', target)).header('cache-control')).toBe('no-store');
  });

  it('has the server’s request id: a client’s does not replace it', async () => {
    const answer = await send('GET', '/v1/integration', { headers: { 'X-Request-Id': 'mine' } });
    expect(answer.header('x-request-id')).not.toBe('mine');
  });

  it('outside /v1 is never the error envelope', async () => {
    for (const [method, target] of [
      ['POST', '/health'],
      ['GET', '/health/'],
      ['DELETE', '/openapi/v3.json'],
      ['GET', '/openapi/v4.json'],
      ['GET', '/openapi'],
      ['OPTIONS', '/openapi/v3.json'],
    ] as const) {
      const answer = await send(method, target);
      expect([target, answer.status]).toEqual([target, 404]);
      expect(answer.text).not.toContain('"error"');
    }
  });
});

describe('the pixel', () => {
  const { file, integrity } = JSON.parse(readFileSync('pixel/released/current.json', 'utf8'));
  const load = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });
  const DAY_S = 86_400;

  it.each([
    ['/pixel.js', 'public, max-age=3600'],
    [`/pixel/${file}`, `public, max-age=${365 * DAY_S}, immutable`],
  ])('%s is the current release, and pages of any origin may load it', async (path, caching) => {
    const response = await load(path, { origin: 'https://lms.example.edu' });
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, caching]);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    const body = Buffer.from(await response.arrayBuffer());
    expect(`sha384-${createHash('sha384').update(body).digest('base64')}`).toBe(integrity);
    expect(file).toBe(`${createHash('sha256').update(body).digest('hex').slice(0, 16)}.js`);
  });

  it.each(['/pixel.js', `/pixel/${file}`])('%s is not sent again to a browser that has it', async (path) => {
    const etag = (await load(path)).headers.get('etag')!;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await load(path, { 'if-none-match': known });
      expect([known, response.status, await response.text()]).toEqual([known, 304, '']);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
    }
    expect((await load(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('serves every release that the repository keeps', async () => {
    const released = readdirSync('pixel/released').filter((name) => name.endsWith('.js'));
    for (const name of released) expect([name, (await load(`/pixel/${name}`)).status]).toEqual([name, 200]);
  });

  it.each([
    ...[
      '/pixel',
      '/pixel/',
      '/pixel/current.json',
      '/pixel/0123456789abcdef.js',
      '/pixel.js/',
      '/pixel/../package.json',
    ],
    ...['/pixel/%2e%2e%2fpackage.json', `/pixel/${file}/`, `/pixel/${file.toUpperCase()}`],
  ])('%s is unknown', async (path) => {
    expect((await send('GET', path)).status).toBe(404);
  });

  it('is no part of the API document', async () => {
    const { paths } = await (await load('/openapi/v3.json')).json();
    expect(Object.keys(paths).filter((path) => path.includes('pixel'))).toEqual([]);
  });
});
