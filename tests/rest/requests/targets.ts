import { describe, expect, it } from 'vitest';
import { expectError } from '../../support/answers';
import { Connection, sendRaw } from '../../support/connection';
import { started } from '../../support/facts';
import { keyed, send, server, tenant, VALID } from './shared-server';

export function registerTargetTests(): void {
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
}
