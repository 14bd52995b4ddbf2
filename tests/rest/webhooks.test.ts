import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, fingerprintOf } from '../support/answers';
import { type Answer, startTestServer, type TestServer } from '../support/server';
import vectors from '../vectors/ssrf.json';

const EVENT_TYPES = [
  'BotDetected',
  'SessionAnomaly',
  'SessionCorrelated',
  'WritingSessionScored',
  'ReportReady',
  'AlertTriggered',
  'ThresholdExceeded',
];
const VALID = { url: 'https://example.com/hook', eventType: 'BotDetected' };
const DISABLED = { ...VALID, enabled: false };
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let server: TestServer;
let tenant: Tenant;
beforeAll(async () => {
  server = await startTestServer();
  tenant = await server.createTenant('enterprise');
});
afterAll(() => server.stop());

type Tenant = { id: string; key: string };
const create = ({ key }: Tenant, body: unknown) => server.call('POST', '/v1/webhooks', { key, body });
const list = ({ key }: Tenant) => server.call('GET', '/v1/webhooks', { key });
const get = ({ key }: Tenant, id: string) => server.call('GET', `/v1/webhooks/${id}`, { key });
const patch = ({ key }: Tenant, id: string, body: unknown) => server.call('PATCH', `/v1/webhooks/${id}`, { key, body });
const remove = ({ key }: Tenant, id: string) => server.call('DELETE', `/v1/webhooks/${id}`, { key });

/** Creates a subscription, disabled by default so that no test fills the plan. */
async function created(owner: Tenant, fields: Record<string, unknown> = {}) {
  const { status, body } = await create(owner, { ...DISABLED, ...fields });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data;
}
const countOf = (answers: Answer[], status: number) => answers.filter((answer) => answer.status === status).length;

describe('POST /v1/webhooks', () => {
  it('answers 200 with the whole subscription and its secret', async () => {
    const owner = await server.createTenant('pro');
    const threshold = { field: 'botScore', operator: 'GTE', value: 0.9 };
    const { status, body } = await create(owner, { ...VALID, threshold, name: 'Mine', enabled: true });
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        id: expect.stringMatching(/\S/),
        url: 'https://example.com/hook',
        eventType: 'BotDetected',
        threshold: { field: 'botScore', operator: 'gte', value: 0.9 },
        name: 'Mine',
        enabled: true,
        createdAt: expect.stringMatching(INSTANT),
        lastDeliveryAt: null,
        lastDeliveryStatus: null,
        disabledReason: null,
        disabledFailureClass: null,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      },
    });
  });

  it('fills in absent fields: no threshold, the event type as the name, enabled', async () => {
    const owner = await server.createTenant('pro');
    const { data } = (await create(owner, VALID)).body;
    expect(data).toMatchObject({ threshold: null, name: 'BotDetected', enabled: true });
  });

  it('treats null as absent', async () => {
    const owner = await server.createTenant('pro');
    const { data } = (await create(owner, { ...VALID, threshold: null, name: null, enabled: null })).body;
    expect(data).toMatchObject({ threshold: null, name: 'BotDetected', enabled: true });
  });

  it.each(['url', 'eventType'])('requires %s, and null is not enough', async (field) => {
    expectError(await create(tenant, { ...DISABLED, [field]: undefined }), 'INVALID_BODY', field);
    expectError(await create(tenant, { ...DISABLED, [field]: null }), 'INVALID_BODY', field);
  });

  it('creates another one for the same URL, with a new id and a new secret', async () => {
    const [one, other] = [await created(tenant), await created(tenant)];
    expect(one.id).not.toBe(other.id);
    expect(one.secret).not.toBe(other.secret);
  });

  it.each(EVENT_TYPES)('takes the event type %s in any case and answers the documented spelling', async (eventType) => {
    for (const input of [eventType, eventType.toLowerCase(), eventType.toUpperCase()])
      expect((await created(tenant, { eventType: input })).eventType).toBe(eventType);
  });

  it.each([
    '',
    ' BotDetected',
    'BotDetected ',
    'Bot',
    'bot_detected',
    '__proto__',
    'constructor',
    'BotDetected,ReportReady',
  ])('refuses the event type %j with INVALID_EVENT_TYPE', async (eventType) => {
    expectError(await create(tenant, { ...DISABLED, eventType }), 'INVALID_EVENT_TYPE', 'eventType');
  });

  it('keeps the URL as it was sent', async () => {
    for (const url of ['HTTPS://Example.COM:443/Hook', 'http://example.com', 'https://example.com/ä?x=1#y'])
      expect((await created(tenant, { url })).url).toBe(url);
  });

  it('ignores unknown fields, and those that only the server writes', async () => {
    const { data } = (
      await create(tenant, {
        ...DISABLED,
        id: 'whk_mine',
        secret: 'mine',
        createdAt: '2000-01-01T00:00:00.000Z',
        disabledReason: 'x',
        lastDeliveryStatus: 'Delivered',
        unknown: { a: ['\0'] },
      })
    ).body;
    expect(data.id).not.toBe('whk_mine');
    expect(data.secret).not.toBe('mine');
    expect(data.createdAt).not.toMatch(/^2000/);
    expect(data).toMatchObject({ disabledReason: null, lastDeliveryStatus: null });
    expect(data).not.toHaveProperty('unknown');
  });

  it('ignores __proto__ and constructor', async () => {
    const text =
      '{"__proto__":{"enabled":"x","name":"y"},"constructor":1,"url":"https://example.com/","eventType":"BotDetected","enabled":false}';
    const { status, body } = await create(tenant, text);
    expect([status, body.data.name]).toEqual([200, 'BotDetected']);
  });
});

describe('the secret', () => {
  it('is in the answer to create and nowhere else', async () => {
    const { id, secret } = await created(tenant);
    const answers = [await get(tenant, id), await list(tenant), await patch(tenant, id, { name: 'x' })];
    for (const { text, status } of answers) {
      expect(status).toBe(200);
      expect(text).not.toContain('secret');
      expect(text).not.toContain(secret.slice('whsec_'.length));
    }
  });

  it('is stored sealed', async () => {
    const { id, secret } = await created(tenant);
    const [row] = await server.database.db.sql<{ row: string; sealed: Buffer }[]>`
      select s::text as row, secret_sealed as sealed from webhook_subscriptions s where id = ${id}`;
    const body = secret.slice('whsec_'.length);
    expect(row!.row).not.toContain(body);
    for (const plain of [Buffer.from(body), Buffer.from(body, 'base64')])
      expect(row!.sealed.includes(plain)).toBe(false);
  });
});

describe('GET', () => {
  it('shows one, as create did, without the secret', async () => {
    const { secret: _, ...shown } = await created(tenant, { name: 'One' });
    const { status, body } = await get(tenant, shown.id);
    expect([status, body]).toEqual([200, { data: shown }]);
  });

  it('lists all of them, oldest first, in the collection envelope', async () => {
    const owner = await server.createTenant('enterprise');
    expect((await list(owner)).body).toEqual({ data: [], pagination: { hasMore: false, limit: 100 } });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await created(owner)).id);
    const { status, body } = await list(owner);
    expect(status).toBe(200);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(body.data[0]).toEqual((await get(owner, ids[0]!)).body.data);
    expect(body.pagination).toEqual({ hasMore: false, limit: 100 });
  });

  it('takes no cursor and no page size', async () => {
    expect((await server.call('GET', '/v1/webhooks?cursor=x&pageSize=0', { key: tenant.key })).status).toBe(200);
  });

  it('lists only the integration’s own', async () => {
    const other = await server.createTenant('enterprise');
    await created(tenant);
    expect((await list(other)).body.data).toEqual([]);
  });
});

describe('a field', () => {
  it.each<[string, unknown, string]>([
    ['url', 1, 'url'],
    ['url', true, 'url'],
    ['url', ['https://example.com/'], 'url'],
    ['url', {}, 'url'],
    ['eventType', 1, 'eventType'],
    ['eventType', ['BotDetected'], 'eventType'],
    ['name', 1, 'name'],
    ['name', '', 'name'],
    ['name', 'x'.repeat(101), 'name'],
    ['name', '😀'.repeat(101), 'name'],
    ['name', {}, 'name'],
    ['name', 'a\0b', 'name'],
    ['enabled', 'false', 'enabled'],
    ['enabled', 'true', 'enabled'],
    ['enabled', 0, 'enabled'],
    ['enabled', 1, 'enabled'],
    ['enabled', '', 'enabled'],
    ['enabled', [], 'enabled'],
    ['threshold', 'botScore gte 0.9', 'threshold'],
    ['threshold', 1, 'threshold'],
    ['threshold', [], 'threshold'],
    ['threshold', {}, 'threshold.field'],
    ['threshold', { field: 1, operator: 'gte', value: 1 }, 'threshold.field'],
    ['threshold', { field: '', operator: 'gte', value: 1 }, 'threshold.field'],
    ['threshold', { field: 'x'.repeat(257), operator: 'gte', value: 1 }, 'threshold.field'],
    ['threshold', { field: 'a\0b', operator: 'gte', value: 1 }, 'threshold.field'],
    ['threshold', { field: 'botScore', value: 1 }, 'threshold.operator'],
    ['threshold', { field: 'botScore', operator: '>=', value: 1 }, 'threshold.operator'],
    ['threshold', { field: 'botScore', operator: 'gte ', value: 1 }, 'threshold.operator'],
    ['threshold', { field: 'botScore', operator: null, value: 1 }, 'threshold.operator'],
    ['threshold', { field: 'botScore', operator: '__proto__', value: 1 }, 'threshold.operator'],
    ['threshold', { field: 'botScore', operator: 'gte' }, 'threshold.value'],
    ['threshold', { field: 'botScore', operator: 'gte', value: null }, 'threshold.value'],
    ['threshold', { field: 'botScore', operator: 'gte', value: 'high' }, 'threshold.value'],
    ['threshold', { field: 'botScore', operator: 'gte', value: '' }, 'threshold.value'],
    ['threshold', { field: 'botScore', operator: 'gte', value: true }, 'threshold.value'],
    ['threshold', { field: 'botScore', operator: 'lt', value: [1] }, 'threshold.value'],
    ['threshold', { field: 'severity', operator: 'eq', value: ['high'] }, 'threshold.value'],
    ['threshold', { field: 'severity', operator: 'neq', value: {} }, 'threshold.value'],
    ['threshold', { field: 'severity', operator: 'eq', value: 'a\0b' }, 'threshold.value'],
    ['threshold', { field: 'severity', operator: 'in', value: 'high' }, 'threshold.value'],
  ])('%s = %j is INVALID_BODY at create and update', async (field, value, named) => {
    expectError(await create(tenant, { ...DISABLED, [field]: value }), 'INVALID_BODY', named);
    const { id } = await shared();
    expectError(await patch(tenant, id, { [field]: value }), 'INVALID_BODY', named);
  });

  it('threshold.value that is an array is named itself or by its invalid item', async () => {
    for (const value of [[], [null], ['a', {}], [['x']], ['\0'], Array(1_000).fill('x')]) {
      const { status, body } = await create(tenant, {
        ...DISABLED,
        threshold: { field: 'severity', operator: 'in', value },
      });
      expect([status, body.error.code]).toEqual([400, 'INVALID_BODY']);
      expect(body.error.details.field).toMatch(/^threshold\.value(\.\d+)?$/);
    }
  });

  it.each<[string, unknown]>([
    ['name', 'x'.repeat(100)],
    ['name', '😀'.repeat(100)],
    ['name', ' '],
    ['threshold', { field: 'botScore', operator: 'gte', value: 0.9 }],
    ['threshold', { field: 'botScore', operator: 'lt', value: '0.9' }],
    ['threshold', { field: 'metadata.otherUserCount', operator: 'gt', value: -1 }],
    ['threshold', { field: 'severity', operator: 'eq', value: 'high' }],
    ['threshold', { field: 'severity', operator: 'eq', value: '' }],
    ['threshold', { field: 'flag', operator: 'neq', value: false }],
    ['threshold', { field: 'severity', operator: 'in', value: ['high', 1, true] }],
  ])('%s = %j is taken and given back as it is', async (field, value) => {
    const { id, ...data } = await created(tenant, { [field]: value });
    expect(data[field]).toEqual(value);
    expect((await get(tenant, id)).body.data[field]).toEqual(value);
    expect((await patch(tenant, id, { [field]: value })).body.data[field]).toEqual(value);
  });

  it('that is the first in the document’s order is named if several are invalid', async () => {
    expectError(await create(tenant, { url: 1, eventType: 2, enabled: 'x' }), 'INVALID_BODY', 'url');
    expectError(await create(tenant, { ...VALID, enabled: 'x' }), 'INVALID_BODY', 'enabled');
  });

  /** One subscription for the cases that change nothing. */
  let sharedOne: ReturnType<typeof created> | undefined;
  function shared() {
    sharedOne ??= created(tenant);
    return sharedOne;
  }
});

describe('the URL', () => {
  let id: string;
  beforeAll(async () => {
    id = (await created(tenant)).id;
  });

  const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address);
  const FORBIDDEN = [...vectors.rejectUrls, ...vectors.rejectAddresses.map((a) => `https://${bracketed(a)}/hook`)];
  const ALLOWED = [...vectors.allowUrls, ...vectors.allowAddresses.map((a) => `https://${bracketed(a)}/hook`)];

  it.each(FORBIDDEN)('%j is INVALID_URL at create and update', async (url) => {
    expectError(await create(tenant, { ...DISABLED, url }), 'INVALID_URL', 'url');
    expectError(await patch(tenant, id, { url }), 'INVALID_URL', 'url');
    expect((await get(tenant, id)).body.data.url).toBe(VALID.url);
  });

  it.each(ALLOWED)('%j is taken at create and update', async (url) => {
    const one = await created(tenant, { url });
    expect(one.url).toBe(url);
    expect((await patch(tenant, one.id, { url: VALID.url })).body.data.url).toBe(VALID.url);
    expect((await patch(tenant, one.id, { url })).body.data.url).toBe(url);
    await remove(tenant, one.id);
  });

  it('may have 2048 characters, counted as code points', async () => {
    const base = 'https://example.com/';
    const ofLength = (length: number, filler: string) => base + filler.repeat(length - base.length);
    for (const filler of ['x', '😀']) {
      const one = await created(tenant, { url: ofLength(2048, filler) });
      expect(one.url).toBe(ofLength(2048, filler));
      expectError(await create(tenant, { ...DISABLED, url: ofLength(2049, filler) }), 'INVALID_URL', 'url');
      expectError(await patch(tenant, one.id, { url: ofLength(2049, filler) }), 'INVALID_URL', 'url');
      await remove(tenant, one.id);
    }
  });

  it('is named if it contains U+0000 or a lone surrogate', async () => {
    for (const character of ['\\u0000', '\\ud800', '\\udfff']) {
      const text = `{"url":"https://example.com/${character}","eventType":"BotDetected","enabled":false}`;
      const { status, body } = await create(tenant, text);
      expect([status, body.error.details]).toEqual([400, { field: 'url' }]);
    }
  });
});

describe('PATCH', () => {
  it('applies only the fields that are present', async () => {
    const one = await created(tenant, { name: 'One', threshold: { field: 'botScore', operator: 'gte', value: 1 } });
    const { secret: _, ...before } = one;
    expect((await patch(tenant, one.id, { name: 'Two' })).body.data).toEqual({ ...before, name: 'Two' });
    const url = 'https://example.org/';
    expect((await patch(tenant, one.id, { url })).body.data).toEqual({ ...before, name: 'Two', url });
    const { data } = (await patch(tenant, one.id, { eventType: 'reportready' })).body;
    expect(data).toEqual({ ...before, name: 'Two', url, eventType: 'ReportReady' });
    expect((await get(tenant, one.id)).body.data).toEqual(data);
  });

  it('without fields changes nothing', async () => {
    const { secret: _, ...before } = await created(tenant);
    for (const body of [{}, { unknown: 1 }, { id: 'whk_other', createdAt: 'x', secret: 'x' }])
      expect((await patch(tenant, before.id, body)).body).toEqual({ data: before });
  });

  it('sent again gives the same result', async () => {
    const { id } = await created(tenant);
    const body = { name: 'Same', enabled: false, threshold: { field: 'n', operator: 'EQ', value: 1 } };
    const first = await patch(tenant, id, body);
    expect(first.status).toBe(200);
    expect((await patch(tenant, id, body)).body).toEqual(first.body);
  });

  it('replaces a threshold as a whole and removes it with null', async () => {
    const { id } = await created(tenant, { threshold: { field: 'a', operator: 'gte', value: 1 } });
    const next = { field: 'b', operator: 'in', value: ['x'] };
    expect((await patch(tenant, id, { threshold: next })).body.data.threshold).toEqual(next);
    expectError(await patch(tenant, id, { threshold: { operator: 'eq' } }), 'INVALID_BODY', 'threshold.field');
    expect((await patch(tenant, id, { threshold: null })).body.data.threshold).toBeNull();
    expect((await get(tenant, id)).body.data.threshold).toBeNull();
  });

  it.each(['url', 'eventType', 'name', 'enabled'])('takes no null for %s', async (field) => {
    const { secret: _, ...before } = await created(tenant);
    expectError(await patch(tenant, before.id, { [field]: null }), 'INVALID_BODY', field);
    expect((await get(tenant, before.id)).body.data).toEqual(before);
  });

  it('with one invalid field applies none', async () => {
    const { secret: _, ...before } = await created(tenant);
    expectError(await patch(tenant, before.id, { name: 'New', enabled: 'yes' }), 'INVALID_BODY', 'enabled');
    expectError(await patch(tenant, before.id, { name: 'New', url: 'ftp://x/' }), 'INVALID_URL', 'url');
    expectError(await patch(tenant, before.id, { name: 'New', eventType: 'x' }), 'INVALID_EVENT_TYPE', 'eventType');
    expect((await get(tenant, before.id)).body.data).toEqual(before);
  });

  it('checks the body before it looks for the subscription', async () => {
    expectError(await patch(tenant, 'whk_unknown', { enabled: 'x' }), 'INVALID_BODY', 'enabled');
    expectError(await patch(tenant, 'whk_unknown', { url: 'ftp://x/' }), 'INVALID_URL', 'url');
    expectError(await patch(tenant, 'whk_unknown', { eventType: 'x' }), 'INVALID_EVENT_TYPE', 'eventType');
    expectError(await patch(tenant, 'whk_unknown', {}), 'NOT_FOUND');
  });

  it('with enabled: true clears the reason why it was disabled', async () => {
    const { id } = await created(tenant);
    await server.database.db.sql`update webhook_subscriptions set consecutive_failures = 3,
      disabled_reason = 'auto:consecutive-failures', disabled_failure_class = '5xx' where id = ${id}`;
    expect((await get(tenant, id)).body.data).toMatchObject({
      enabled: false,
      disabledReason: 'auto:consecutive-failures',
      disabledFailureClass: '5xx',
    });
    const { data } = (await patch(tenant, id, { enabled: true })).body;
    expect(data).toMatchObject({ enabled: true, disabledReason: null, disabledFailureClass: null });
    const [row] = await server.database.db
      .sql`select consecutive_failures as n from webhook_subscriptions where id = ${id}`;
    expect(row!.n).toBe(0);
    await remove(tenant, id);
  });

  it('with enabled: true on an enabled one keeps its count of failures', async () => {
    const owner = await server.createTenant('pro');
    const { id } = await created(owner, { enabled: true });
    await server.database.db.sql`update webhook_subscriptions set consecutive_failures = 2 where id = ${id}`;
    expect((await patch(owner, id, { enabled: true })).status).toBe(200);
    const [row] = await server.database.db
      .sql`select consecutive_failures as n from webhook_subscriptions where id = ${id}`;
    expect(row!.n).toBe(2);
  });
});

describe('DELETE', () => {
  it('answers 204 without a body, and 404 when repeated', async () => {
    const { id } = await created(tenant);
    const answer = await remove(tenant, id);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers.get('content-type')).toBeNull();
    expect(answer.headers.get('x-service-tier')).toBe('enterprise');
    expectError(await remove(tenant, id), 'NOT_FOUND');
  });

  it('removes it at once for every route', async () => {
    const { id } = await created(tenant);
    await remove(tenant, id);
    expectError(await get(tenant, id), 'NOT_FOUND');
    expectError(await patch(tenant, id, { name: 'x' }), 'NOT_FOUND');
    expect((await list(tenant)).text).not.toContain(id);
  });

  it('answers 204 to exactly one of several at once', async () => {
    const { id } = await created(tenant);
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove(tenant, id)));
    expect([countOf(answers, 204), countOf(answers, 404)]).toEqual([1, 7]);
  });
});

describe('another tenant’s subscription', () => {
  it('answers as an unknown one and does not change', async () => {
    const stranger = await server.createTenant('enterprise');
    const { secret: _, ...before } = await created(tenant);
    for (const request of [get, remove, (who: Tenant, id: string) => patch(who, id, { name: 'x' })]) {
      const foreign = await request(stranger, before.id);
      expectError(foreign, 'NOT_FOUND');
      expect(fingerprintOf(foreign)).toEqual(fingerprintOf(await request(stranger, 'whk_unknown')));
    }
    expect((await get(tenant, before.id)).body.data).toEqual(before);
  });
});

describe('the cap of the plan', () => {
  it.each(['free', 'starter'] as const)('is 0 on %s: any create is 402, even of a disabled one', async (plan) => {
    const owner = await server.createTenant(plan);
    expectError(await create(owner, VALID), 'PLAN_LIMIT_REACHED');
    expectError(await create(owner, DISABLED), 'PLAN_LIMIT_REACHED');
    expect((await list(owner)).body.data).toEqual([]);
  });

  it.each([
    ['pro', 1],
    ['enterprise', 10],
  ] as const)('on %s is %i active subscriptions', async (plan, cap) => {
    const owner = await server.createTenant(plan);
    for (let n = 0; n < cap; n++) expect((await create(owner, VALID)).status).toBe(200);
    expectError(await create(owner, VALID), 'PLAN_LIMIT_REACHED');
    expectError(await create(owner, DISABLED), 'PLAN_LIMIT_REACHED');
    expect((await list(owner)).body.data).toHaveLength(cap);
  });

  it('is exact under 20 concurrent creates', async () => {
    const owner = await server.createTenant('enterprise');
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(owner, VALID)));
    expect([countOf(answers, 200), countOf(answers, 402)]).toEqual([10, 10]);
    expect((await list(owner)).body.data).toHaveLength(10);
  });

  it('is exact when creates and enabling run at the same time on two servers', async () => {
    const second = await startTestServer({}, server);
    const owner = await server.createTenant('enterprise');
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push((await created(owner)).id);
    const answers = await Promise.all([
      ...ids.map((id, n) =>
        (n % 2 ? server : second).call('PATCH', `/v1/webhooks/${id}`, { key: owner.key, body: { enabled: true } }),
      ),
      ...ids.map((_, n) => (n % 2 ? server : second).call('POST', '/v1/webhooks', { key: owner.key, body: VALID })),
    ]);
    expect([countOf(answers, 200), countOf(answers, 402)]).toEqual([10, 14]);
    const { data } = (await list(owner)).body;
    expect(data.filter(({ enabled }: { enabled: boolean }) => enabled)).toHaveLength(10);
    await second.stop();
  });

  it('does not count disabled ones', async () => {
    const owner = await server.createTenant('pro');
    for (let n = 0; n < 3; n++) await created(owner);
    expect((await create(owner, VALID)).status).toBe(200);
  });

  it('is freed by a delete and by disabling', async () => {
    const owner = await server.createTenant('pro');
    const first = (await create(owner, VALID)).body.data;
    expectError(await create(owner, VALID), 'PLAN_LIMIT_REACHED');
    expect((await remove(owner, first.id)).status).toBe(204);
    const second = (await create(owner, VALID)).body.data;
    expectError(await create(owner, VALID), 'PLAN_LIMIT_REACHED');
    expect((await patch(owner, second.id, { enabled: false })).status).toBe(200);
    expect((await create(owner, VALID)).status).toBe(200);
  });

  it('refuses enabled: true above it with 402, and applies nothing of that PATCH', async () => {
    const owner = await server.createTenant('pro');
    const { secret: _, ...waiting } = await created(owner);
    const active = (await create(owner, VALID)).body.data;
    expectError(await patch(owner, waiting.id, { enabled: true }), 'PLAN_LIMIT_REACHED');
    expectError(await patch(owner, waiting.id, { enabled: true, name: 'New' }), 'PLAN_LIMIT_REACHED');
    expect((await get(owner, waiting.id)).body.data).toEqual(waiting);
    expect((await patch(owner, waiting.id, { enabled: false, name: 'New' })).status).toBe(200);
    await remove(owner, active.id);
    expect((await patch(owner, waiting.id, { enabled: true })).body.data.enabled).toBe(true);
  });

  it('never refuses enabled: true on an enabled one', async () => {
    const owner = await server.createTenant('pro');
    const { id } = (await create(owner, VALID)).body.data;
    expect((await patch(owner, id, { enabled: true, name: 'New' })).body.data).toMatchObject({
      enabled: true,
      name: 'New',
    });
    await server.database.db.sql`update integrations set plan = 'free' where id = ${owner.id}`;
    expect((await patch(owner, id, { enabled: true })).status).toBe(200);
  });

  it('is checked last: at the cap an invalid body or URL is 400, an unknown id 404', async () => {
    const owner = await server.createTenant('free');
    expectError(await create(owner, { ...VALID, enabled: 'x' }), 'INVALID_BODY', 'enabled');
    expectError(await create(owner, { ...VALID, url: 'ftp://x/' }), 'INVALID_URL', 'url');
    expectError(await create(owner, { ...VALID, eventType: 'x' }), 'INVALID_EVENT_TYPE', 'eventType');
    expectError(await patch(owner, 'whk_unknown', { enabled: true }), 'NOT_FOUND');
  });

  it('is that of the current plan', async () => {
    const owner = await server.createTenant('free');
    await server.database.db.sql`update integrations set plan = 'pro' where id = ${owner.id}`;
    expect((await create(owner, VALID)).status).toBe(200);
  });
});

describe('100 subscriptions', () => {
  it('are the most that an integration holds, disabled ones included', async () => {
    const owner = await server.createTenant('enterprise');
    for (let n = 0; n < 10; n++) {
      const batch = await Promise.all(Array.from({ length: 10 }, () => create(owner, DISABLED)));
      expect(countOf(batch, 200)).toBe(10);
    }
    expectError(await create(owner, DISABLED), 'PLAN_LIMIT_REACHED');
    expectError(await create(owner, VALID), 'PLAN_LIMIT_REACHED');
    const { body } = await list(owner);
    expect(body.data).toHaveLength(100);
    expect((await patch(owner, body.data[0].id, { enabled: true })).status).toBe(200);
    await remove(owner, body.data[1].id);
    expect((await create(owner, DISABLED)).status).toBe(200);
    expectError(await create(owner, DISABLED), 'PLAN_LIMIT_REACHED');
  });
});
