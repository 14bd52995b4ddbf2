import { afterAll, describe, expect, it } from 'vitest';
import { expectError } from '../../support/answers';
import { Connection } from '../../support/connection';
import { KIB, keyed, MIB, padded, post, send, server, tenant, VALID } from './shared-server';

export function registerBodyTests(): void {
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
}
