import { beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../../support/answers';
import { closed, scored, scoredSession, started } from '../../support/facts';
import { type CallOptions, startTestServer } from '../../support/server';
import { document, server, WEBHOOK } from './shared-document';

export function registerAnswerTests(): void {
  describe('every real answer matches the document', () => {
    let key: string;
    let id: string;
    beforeAll(async () => {
      const tenant = await server.createTenant('enterprise');
      key = tenant.key;
      await server.ingest(tenant.id, [
        started('active'),
        started('all', { deviceFingerprint: 'fp', country: 'DE' }),
        closed('all'),
        scored('all', 0.5, { detectionFlags: ['a'] }),
        ...scoredSession(1, 'bot').facts,
      ]);
      id = (await server.call('POST', '/v1/webhooks', { key, body: { ...WEBHOOK, enabled: false } })).body.data.id;
    });

    async function check(
      method: string,
      path: string,
      template: string,
      status: number,
      options: CallOptions = { key },
    ) {
      const answer = await server.call(method, path, options);
      expect([method, path, answer.status, answer.status === status ? '' : answer.text]).toEqual([
        method,
        path,
        status,
        '',
      ]);
      document.expectDocumented(answer, method, template);
      return answer;
    }

    it('of health', async () => {
      const { body } = await check('GET', '/health', '/health', 200, {});
      expect(Object.keys(body).sort()).toEqual(['status', 'timestamp', 'version']);
      expect(Math.abs(Date.parse(body.timestamp) - Date.now())).toBeLessThan(60_000);
    });

    it('of sessions', async () => {
      const first = await check('GET', '/v1/sessions?pageSize=2', '/v1/sessions', 200);
      await check('GET', `/v1/sessions?cursor=${first.body.pagination.nextCursor}`, '/v1/sessions', 200);
      await check('GET', '/v1/sessions?status=Failed', '/v1/sessions', 200);
      await check('GET', '/v1/sessions?pageSize=0', '/v1/sessions', 400);
      for (const session of ['active', 'all', 'bot'])
        await check('GET', `/v1/sessions/${session}`, '/v1/sessions/{sessionId}', 200);
      await check('GET', '/v1/sessions/unknown', '/v1/sessions/{sessionId}', 404);
      await check('GET', '/v1/sessions/%zz', '/v1/sessions/{sessionId}', 400);
    });

    it('of the integration', async () => {
      await check('GET', '/v1/integration', '/v1/integration', 200);
    });

    it('of webhooks', async () => {
      const one = '/v1/webhooks/{id}';
      const threshold = { field: 'botScore', operator: 'gte', value: '0.9' };
      await check('GET', '/v1/webhooks', '/v1/webhooks', 200);
      const post = (body: unknown, status: number) =>
        check('POST', '/v1/webhooks', '/v1/webhooks', status, { key, body });
      const created = await post({ ...WEBHOOK, threshold, enabled: false }, 200);
      for (const value of [['a', 1, true], 'x', 5, false])
        await post(
          {
            ...WEBHOOK,
            enabled: false,
            threshold: { ...threshold, operator: Array.isArray(value) ? 'in' : 'eq', value },
          },
          200,
        );
      await post('{', 400);
      await post({ ...WEBHOOK, enabled: 1 }, 400);
      await post({ ...WEBHOOK, url: 'ftp://x/' }, 400);
      await post({ ...WEBHOOK, eventType: 'x' }, 400);
      await check('GET', `/v1/webhooks/${id}`, one, 200);
      await check('GET', '/v1/webhooks/unknown', one, 404);
      await check('GET', '/v1/webhooks/%zz', one, 400);
      const patch = (body: unknown, status: number, path = id) =>
        check('PATCH', `/v1/webhooks/${path}`, one, status, { key, body });
      await patch({ threshold }, 200);
      await patch({ threshold: null }, 200);
      await patch({ url: 'http://localhost/' }, 400);
      await patch({}, 404, 'unknown');
      await check('DELETE', `/v1/webhooks/${created.body.data.id}`, one, 204);
      await check('DELETE', `/v1/webhooks/${created.body.data.id}`, one, 404);
      await check('DELETE', '/v1/webhooks/%zz', one, 400);
    });

    it('of a plan’s cap', async () => {
      const pro = await server.createTenant('pro');
      const options = { key: pro.key, body: { ...WEBHOOK, enabled: false } };
      const disabled = (await check('POST', '/v1/webhooks', '/v1/webhooks', 200, options)).body.data;
      await check('POST', '/v1/webhooks', '/v1/webhooks', 200, { key: pro.key, body: WEBHOOK });
      await check('POST', '/v1/webhooks', '/v1/webhooks', 402, { key: pro.key, body: WEBHOOK });
      const enable = { key: pro.key, body: { enabled: true } };
      await check('PATCH', `/v1/webhooks/${disabled.id}`, '/v1/webhooks/{id}', 402, enable);
    });

    it('of authentication', async () => {
      for (const { method, path } of document
        .listOperations()
        .filter((operation) => operation.path.startsWith('/v1/'))) {
        const target = path.replace(/\{\w+\}/, 'x');
        await check(method.toUpperCase(), target, path, 401, {});
        await check(method.toUpperCase(), target, path, 401, { key: 'aik_v1_x' });
      }
    });

    it('of a used-up quota', async () => {
      const small = await startTestServer({ QUOTA_FREE: '1', QUOTA_SHARED_FREE: '1' }, server);
      const free = await server.createTenant('free');
      const ways: Record<string, string>[] = [{ authorization: `Bearer ${free.key}` }, { 'x-api-key': free.key }];
      for (const headers of ways) {
        // A minute may begin in between. Two requests more than the quota always exceed it.
        const answers = [];
        for (let n = 0; n < 3; n++) answers.push(await small.call('GET', '/v1/sessions', { headers }));
        const limited = answers.find(({ status }) => status === 429)!;
        document.expectDocumented(limited, 'GET', '/v1/sessions');
      }
      await small.stop();
    });

    it('of an outage, which is 503 and not a fault', async () => {
      const broken = await startTestServer({}, server);
      await broken.service.db.close();
      const answer = await broken.call('GET', '/v1/sessions', { key });
      expectError(answer, 'SERVICE_UNAVAILABLE');
      expect(answer.headers.get('x-request-id')).toMatch(/\S/);
      expect((await broken.call('GET', '/health')).status).toBe(200);
      await broken.stop();
    });

    it('and the routes take the bodies that the document describes', () => {
      const bodyOf = (path: string, method: string) => [
        'paths',
        path,
        method,
        'requestBody',
        'content',
        'application/json',
        'schema',
      ];
      const create = bodyOf('/v1/webhooks', 'post');
      const update = bodyOf('/v1/webhooks/{id}', 'patch');
      const threshold = { field: 'botScore', operator: 'gte', value: 0.9 };
      for (const body of [
        WEBHOOK,
        { ...WEBHOOK, threshold, name: 'x', enabled: true },
        { ...WEBHOOK, threshold: null, name: null, enabled: null },
      ])
        document.expectValid(body, ...create);
      for (const body of [{}, { threshold: null }, { threshold }, { name: 'x', enabled: false, ...WEBHOOK }])
        document.expectValid(body, ...update);
      for (const body of [
        {},
        { url: WEBHOOK.url },
        { ...WEBHOOK, enabled: 'false' },
        { ...WEBHOOK, name: 'x'.repeat(101) },
        { ...WEBHOOK, threshold: { field: 'a' } },
      ])
        expect([body, document.validatorAt(...create)(body)]).toEqual([body, false]);
      for (const body of [{ url: null }, { name: null }, { enabled: null }, { enabled: 0 }])
        expect([body, document.validatorAt(...update)(body)]).toEqual([body, false]);
    });
  });
}
