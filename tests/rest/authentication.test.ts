import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { revokeKey } from '../../server/domain/api-keys';
import { expectError, fingerprintOf } from '../support/answers';
import { sendRaw } from '../support/connection';
import { startTestServer, type TestServer } from '../support/server';

let server: TestServer;
let tenant: { id: string; key: string; keyId: string };
beforeAll(async () => {
  server = await startTestServer();
  tenant = await server.createTenant('pro');
});
afterAll(() => server.stop());

const get = (path: string, headers: Record<string, string> = {}) => server.call('GET', path, { headers });
const whoAmI = (headers: Record<string, string>) => get('/v1/integration', headers);
const newKey = () => `aik_v1_${randomBytes(30).toString('base64url')}`;

describe('a valid key', () => {
  it('has the prefix aik_v1_ and 40 characters of base64url', () => {
    expect(tenant.key).toMatch(/^aik_v1_[A-Za-z0-9_-]{40}$/);
    expect(tenant.key).toHaveLength(47);
  });

  it('is taken from Authorization: Bearer', async () => {
    const answer = await whoAmI({ authorization: `Bearer ${tenant.key}` });
    expect([answer.status, answer.body.data.id]).toEqual([200, tenant.id]);
  });

  it('is taken from x-api-key', async () => {
    const answer = await whoAmI({ 'x-api-key': tenant.key });
    expect([answer.status, answer.body.data.id]).toEqual([200, tenant.id]);
  });

  it.each(['bearer', 'BEARER', 'bEaReR'])('is taken after the scheme %s', async (scheme) => {
    expect((await whoAmI({ authorization: `${scheme} ${tenant.key}` })).status).toBe(200);
  });

  it('in Authorization wins over another key in x-api-key', async () => {
    const other = await server.createTenant('pro');
    const answer = await whoAmI({ authorization: `Bearer ${tenant.key}`, 'x-api-key': other.key });
    expect(answer.body.data.id).toBe(tenant.id);
    expect(answer.headers.get('ratelimit-policy')).toMatch(/^"key";/);
  });

  it('in Authorization wins over an invalid key in x-api-key', async () => {
    expect((await whoAmI({ authorization: `Bearer ${tenant.key}`, 'x-api-key': newKey() })).status).toBe(200);
  });

  it('gives access to its own integration only', async () => {
    const other = await server.createTenant('pro');
    expect((await whoAmI({ authorization: `Bearer ${other.key}` })).body.data.id).toBe(other.id);
  });

  it.each([
    ['free', 'free'],
    ['starter', 'free'],
    ['pro', 'pro'],
    ['enterprise', 'enterprise'],
  ] as const)('of the plan %s brings x-service-tier %s on success and on errors', async (plan, tier) => {
    const { key } = await server.createTenant(plan);
    const answers = await Promise.all([
      server.call('GET', '/v1/sessions', { key }),
      server.call('GET', '/v1/sessions?pageSize=0', { key }),
      server.call('GET', '/v1/sessions/unknown', { key }),
      server.call('GET', '/v1/unknown', { key }),
      server.call('POST', '/v1/webhooks', { key, body: '{' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 404, 404, 400]);
    for (const { headers } of answers) expect(headers.get('x-service-tier')).toBe(tier);
  });
});

describe('without a key', () => {
  it('the answer is 401 MISSING_API_KEY', async () => {
    const answer = await get('/v1/integration');
    expectError(answer, 'MISSING_API_KEY');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('x-service-tier')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('other headers and the query cannot replace it', async () => {
    expectError(await get(`/v1/integration?api_key=${tenant.key}&x-api-key=${tenant.key}`), 'MISSING_API_KEY');
    expectError(await get('/v1/integration', { cookie: `x-api-key=${tenant.key}` }), 'MISSING_API_KEY');
    expectError(await get('/v1/integration', { 'proxy-authorization': `Bearer ${tenant.key}` }), 'MISSING_API_KEY');
  });

  it.each(['/health', '/openapi/v3.json', '/swagger'])('%s answers 200', async (path) => {
    expect((await get(path)).status).toBe(200);
    expect((await get(path, { authorization: `Bearer ${newKey()}` })).status).toBe(200);
  });
});

describe('INVALID_API_KEY', () => {
  /** Lists every cause, as headers. */
  async function listCauses(): Promise<[string, Record<string, string>][]> {
    const revoked = await server.createTenant('enterprise');
    await revokeKey(asOperator(server.service.db), { id: revoked.keyId });
    const { key } = tenant;
    const swapped = key
      .slice(7)
      .replace(/[a-z]|[A-Z]/g, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
    return [
      ['an unknown key', { Authorization: `Bearer ${newKey()}` }],
      ['a revoked key', { Authorization: `Bearer ${revoked.key}` }],
      ['another version', { Authorization: `Bearer ${key.replace('_v1_', '_v2_')}` }],
      ['the prefix in another case', { Authorization: `Bearer ${key.replace('aik', 'AIK')}` }],
      ['the body in another case', { Authorization: `Bearer aik_v1_${swapped}` }],
      ['no prefix', { Authorization: `Bearer ${key.slice(7)}` }],
      ['a key cut short', { Authorization: `Bearer ${key.slice(0, -1)}` }],
      ['a key with more at its end', { Authorization: `Bearer ${key}A` }],
      ['a key followed by a word', { Authorization: `Bearer ${key} x` }],
      ['its last character changed', { Authorization: `Bearer ${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}` }],
      ['foreign characters', { Authorization: `Bearer aik_v1_${'é'.repeat(40)}` }],
      ['a quoted key', { Authorization: `Bearer "${key}"` }],
      ['a long key', { Authorization: `Bearer ${'a'.repeat(5_000)}` }],
      ['a scheme without a key', { Authorization: 'Bearer' }],
      ['an empty Authorization', { Authorization: '' }],
      ['a key without a scheme', { Authorization: key }],
      ['a scheme without a space before its key', { Authorization: `Bearer${key}` }],
      ['the scheme Basic', { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }],
      ['the scheme Token', { Authorization: `Token ${key}` }],
      ['Basic and a valid x-api-key', { Authorization: 'Basic eDp5', 'x-api-key': key }],
      ['an unknown Bearer key and a valid x-api-key', { Authorization: `Bearer ${newKey()}`, 'x-api-key': key }],
      ['an empty Authorization and a valid x-api-key', { Authorization: '', 'x-api-key': key }],
      ['an unknown x-api-key', { 'x-api-key': newKey() }],
      ['a revoked x-api-key', { 'x-api-key': revoked.key }],
      ['an empty x-api-key', { 'x-api-key': '' }],
      ['an x-api-key with a scheme', { 'x-api-key': `Bearer ${key}` }],
      ['an x-api-key in another case', { 'x-api-key': key.toUpperCase() }],
    ];
  }

  it('gives identical bytes and headers for every cause, except x-request-id and date', async () => {
    const seen = new Map<string, string[]>();
    for (const [cause, headers] of await listCauses()) {
      const answer = await sendRaw(server.url, 'GET', '/v1/integration', { headers });
      expect(answer.status, cause).toBe(401);
      expectError(answer, 'INVALID_API_KEY');
      const stable = answer.rawHeaders.filter(([name]) => !['x-request-id', 'date'].includes(name.toLowerCase()));
      const bytes = JSON.stringify([answer.status, stable, answer.text]);
      seen.set(bytes, [...(seen.get(bytes) ?? []), cause]);
    }
    expect([...seen.values()]).toHaveLength(1);
  });

  it('has WWW-Authenticate and a request id, and neither tier nor rate limit', async () => {
    const { headers } = await whoAmI({ authorization: `Bearer ${newKey()}` });
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(headers.get('x-request-id')).toMatch(/\S/);
    expect(headers.get('cache-control')).toBe('no-store');
    for (const name of ['x-service-tier', 'ratelimit', 'ratelimit-policy', 'retry-after'])
      expect([name, headers.get(name)]).toEqual([name, null]);
  });

  it('follows a revocation on the next request, in both headers', async () => {
    const { key, keyId } = await server.createTenant('pro');
    expect((await whoAmI({ authorization: `Bearer ${key}` })).status).toBe(200);
    expect((await whoAmI({ 'x-api-key': key })).status).toBe(200);
    await revokeKey(asOperator(server.service.db), { id: keyId });
    expectError(await whoAmI({ authorization: `Bearer ${key}` }), 'INVALID_API_KEY');
    expectError(await whoAmI({ 'x-api-key': key }), 'INVALID_API_KEY');
  });

  it('is the answer to a key of another stack, such as the other region’s', async () => {
    const other = await startTestServer();
    const { key } = await other.createTenant('pro');
    const foreign = await whoAmI({ authorization: `Bearer ${key}` });
    expect(fingerprintOf(foreign)).toEqual(fingerprintOf(await whoAmI({ authorization: `Bearer ${newKey()}` })));
    await other.stop();
  });
});

describe('nothing is checked before the key', () => {
  const body = (text: string, type = 'application/json') => ({ headers: { 'Content-Type': type }, body: text });

  it.each<[string, string, string, Parameters<typeof sendRaw>[3]]>([
    ['an unknown path', 'GET', '/v1/unknown', {}],
    ['the bare prefix', 'GET', '/v1', {}],
    ['the prefix with a slash', 'GET', '/v1/', {}],
    ['the prefix with a query', 'GET', '/v1?x=1', {}],
    ['a trailing slash', 'GET', '/v1/sessions/', {}],
    ['a double slash', 'GET', '/v1//sessions', {}],
    ['an unknown method', 'PUT', '/v1/sessions', {}],
    ['OPTIONS', 'OPTIONS', '/v1/sessions', {}],
    ['TRACE', 'TRACE', '/v1/sessions', {}],
    ['a bad escape in the path', 'GET', '/v1/sessions/%zz', {}],
    ['a bad escape in an unknown path', 'GET', '/v1/%zz', {}],
    ['a bad query', 'GET', '/v1/sessions?pageSize=0&cursor=x', {}],
    ['an id that is too long', 'GET', `/v1/sessions/${'x'.repeat(300)}`, {}],
    ['a missing body', 'POST', '/v1/webhooks', {}],
    ['a body that is no JSON', 'POST', '/v1/webhooks', body('{')],
    ['a wrong media type', 'POST', '/v1/webhooks', body('a=b', 'application/x-www-form-urlencoded')],
    ['a body over 64 KiB', 'POST', '/v1/webhooks', body(`"${'x'.repeat(100_000)}"`)],
    ['an unknown id', 'DELETE', '/v1/webhooks/unknown', {}],
  ])('%s without a key is 401', async (_what, method, target, request) => {
    expectError(await sendRaw(server.url, method, target, request), 'MISSING_API_KEY');
    const headers = { ...request?.headers, Authorization: `Bearer ${newKey()}` };
    expectError(await sendRaw(server.url, method, target, { ...request, headers }), 'INVALID_API_KEY');
  });

  it('HEAD without a key is 401 without a body', async () => {
    const answer = await sendRaw(server.url, 'HEAD', '/v1/sessions');
    const asGet = await sendRaw(server.url, 'GET', '/v1/sessions');
    expect([answer.status, answer.header('content-length')]).toEqual([401, String(Buffer.byteLength(asGet.text))]);
  });
});
