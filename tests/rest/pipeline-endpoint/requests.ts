import { describe, expect, it } from 'vitest';
import { Connection, sendRaw } from '../../support/connection';
import { started } from '../../support/facts';
import { PIPELINE_TOKEN, startTestServer } from '../../support/server';
import { authorized, countSessions, ENDPOINT, expectCounts, MIB, post, server } from './two-servers';

export function registerRequestTests(): void {
  describe('the authentication of the pipeline’s endpoint', () => {
    const noToken = { 'Content-Type': 'application/json' };
    const facts = async () =>
      JSON.stringify({ integrationId: (await server.createTenant()).id, facts: [started('s')] });

    it.each<[string, Record<string, string>]>([
      ['no token', {}],
      ['a wrong token', { Authorization: 'Bearer wrong' }],
      ['a token cut short', { Authorization: `Bearer ${PIPELINE_TOKEN.slice(0, -1)}` }],
      ['a token with more at its end', { Authorization: `Bearer ${PIPELINE_TOKEN}x` }],
      ['a token without a scheme', { Authorization: PIPELINE_TOKEN }],
      ['another scheme', { Authorization: `Basic ${PIPELINE_TOKEN}` }],
      ['an empty one', { Authorization: 'Bearer ' }],
      ['the token as x-api-key', { 'x-api-key': PIPELINE_TOKEN }],
    ])('answers 401 to %s', async (_what, headers) => {
      const answer = await post(await facts(), { ...noToken, ...headers });
      expect([answer.status, answer.body.error.data]).toMatchObject([401, { code: 'UNAUTHORIZED', httpStatus: 401 }]);
    });

    it('refuses a customer’s key', async () => {
      const { key } = await server.createTenant();
      expect((await post(await facts(), { ...noToken, Authorization: `Bearer ${key}` })).status).toBe(401);
    });

    it('accepts the token, with its scheme in any case', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER'])
        expect((await post(await facts(), { ...noToken, Authorization: `${scheme} ${PIPELINE_TOKEN}` })).status).toBe(
          200,
        );
    });

    it('does not make the token a key of the public API', async () => {
      expect((await server.call('GET', '/v1/sessions', { key: PIPELINE_TOKEN })).status).toBe(401);
    });

    it('answers 503 to everyone if no token is configured', async () => {
      const closedServer = await startTestServer({ PIPELINE_TOKEN: '' }, server);
      for (const authorization of ['', `Bearer ${PIPELINE_TOKEN}`, 'Bearer undefined', 'Bearer ']) {
        const answer = await post('{', { ...noToken, Authorization: authorization }, closedServer.url);
        expect([answer.status, answer.body.error.data]).toMatchObject([
          503,
          { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 },
        ]);
      }
      await closedServer.stop();
    });

    it('comes before the body is checked', async () => {
      expect((await post('{', noToken)).status).toBe(401);
      expect((await post(' '.repeat(MIB + 1), noToken)).status).toBe(401);
      expect((await post(JSON.stringify({ integrationId: 'unknown', facts: [] }), noToken)).status).toBe(401);
    });
  });

  describe('the input', () => {
    it.each(['', '{', 'null', '[]', '1', '"x"', '{}', '{"facts":[]}', '{"integrationId":"x"}'])(
      'that is %j is 400 without a factIndex',
      async (body) => {
        const answer = await post(body);
        expect([answer.status, answer.body.error.data.httpStatus]).toEqual([400, 400]);
        expect(answer.body.error.data).not.toHaveProperty('factIndex');
      },
    );

    it('that is not UTF-8 is 400', async () => {
      expect((await post(Buffer.from([0x22, 0xff, 0x22]))).status).toBe(400);
    });

    it('may begin with a byte order mark', async () => {
      const { id } = await server.createTenant();
      const text = `\ufeff${JSON.stringify({ integrationId: id, facts: [started('s')] })}`;
      expect([(await post(text)).status, (await post(`\ufeff${text}`)).status]).toEqual([200, 400]);
    });

    it('never shows a stack', async () => {
      for (const body of ['{', '{}', JSON.stringify({ integrationId: 'unknown', facts: [started('s')] })])
        expect((await post(body)).text).not.toMatch(/stack|node_modules|\.ts/);
    });

    it('for an unknown integration is 404', async () => {
      const answer = await server.ingest('int_unknown', [started('s')]);
      expect([answer.status, answer.body.error.data]).toMatchObject([404, { code: 'NOT_FOUND', httpStatus: 404 }]);
      expect(answer.body.error.data).not.toHaveProperty('factIndex');
    });

    it('of 1 MiB is taken, one byte more is 413', async () => {
      const { id } = await server.createTenant();
      const text = JSON.stringify({ integrationId: id, facts: [started('s')] });
      expect((await post(text + ' '.repeat(MIB - text.length))).status).toBe(200);
      const answer = await post(text + ' '.repeat(MIB - text.length + 1));
      expect([answer.status, answer.body.error.data]).toMatchObject([
        413,
        { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 },
      ]);
    });

    it('is treated the same, whatever query follows the path', async () => {
      const { id } = await server.createTenant();
      const text = JSON.stringify({ integrationId: id, facts: [started('s')] });
      for (const query of ['?', '?x=1', '?batch=1', '?origin=%zz']) {
        const ask = (body: string, headers = authorized) =>
          sendRaw(server.url, 'POST', `${ENDPOINT}${query}`, { headers, body });
        expect((await ask(text, { ...authorized, Authorization: 'Bearer wrong' })).status).toBe(401);
        expect((await ask(text + ' '.repeat(MIB))).status).toBe(413);
        expect((await ask(text)).body.result.data).toMatchObject({ suppressed: 0 });
      }
    });

    it('of much more than 1 MiB is 413, and then the connection closes', async () => {
      const connection = await Connection.open(server.url);
      connection.writeHead('POST', ENDPOINT, { ...authorized, 'Content-Length': String(50 * MIB) });
      connection.write(' '.repeat(2 * MIB));
      expect((await connection.read()).status).toBe(413);
      await connection.closed;
    });

    it('holds 1 to 500 facts', async () => {
      const tenant = await server.createTenant();
      const facts = Array.from({ length: 501 }, (_, n) => started(`s-${n}`));
      for (const wrong of [[], facts]) {
        const answer = await server.ingest(tenant.id, wrong);
        expect(answer.status).toBe(400);
        expect(answer.body.error.data).not.toHaveProperty('factIndex');
      }
      expect(await countSessions(tenant)).toBe(0);
      expectCounts(await server.ingest(tenant.id, facts.slice(0, 1)), 1, 0);
      expectCounts(await server.ingest(tenant.id, facts.slice(0, 500)), 499, 1);
      expect(await countSessions(tenant)).toBe(500);
    });

    it('may have unknown fields', async () => {
      const { id } = await server.createTenant();
      const facts = [started('s', { unknown: { a: [1] }, nothing: null })];
      expect((await post(JSON.stringify({ integrationId: id, facts, unknown: 1 }))).status).toBe(200);
    });
  });
}
