import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../../support/answers';
import { Connection, sendRaw } from '../../support/connection';
import { startTestServer, type TestServer } from '../../support/server';
import { keyed, send, server, tenant } from './shared-server';

export function registerMethodTests(): void {
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
      const ids = [await send(method, target), await send(method, target)].map((answer) =>
        answer.header('x-request-id'),
      );
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
        ['GET', '*/health'],
        ['GET', '*/v1/integration'],
        ['POST', '*/v1/webhooks'],
      ] as const) {
        const answer = await send(method, target);
        expect([target, answer.status]).toEqual([target, 404]);
        expect(answer.text).not.toContain('"error"');
      }
    });
  });
}
