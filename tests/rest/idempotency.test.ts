import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import {
  claimIdempotencyKey,
  pruneIdempotencyKeys,
  releaseIdempotencyKey,
  storeIdempotentAnswer,
} from '../../server/domain/idempotency-keys';
import { ROUTES } from '../../server/rest/routes';
import { expectError } from '../support/answers';
import { type ApiServer, startSelfHosted } from '../support/api-servers';
import { createFixture, type Fixture, viewTenant } from '../support/fixture';
import { findOperation, sendOperation } from '../support/operations';
import { type Receiver, startReceiver, waitUntil } from '../support/receiver';
import type { Answer, CallOptions } from '../support/server';

const POSTS = ROUTES.filter(({ method }) => method === 'POST').map(({ meta }) => meta.openapi!.operationId!);
const HOOK = { url: 'https://example.com/once', eventType: 'BotDetected', enabled: false };

let api: ApiServer;
let receiver: Receiver;
let fixture: Fixture;
beforeAll(async () => {
  receiver = await startReceiver();
  api = await startSelfHosted({ WEBHOOK_ALLOW_HOSTS: receiver.host });
});
afterAll(async () => {
  await api?.stop();
  await receiver.stop();
});
beforeEach(async () => {
  fixture = await createFixture({ base: api.base, api, receiver });
});

const sql = () => api.base.database.db.sql;
const withKey = (key: string, more: CallOptions = {}): CallOptions => ({
  ...more,
  headers: { 'idempotency-key': key, ...more.headers },
});
const create = (key: string, more: CallOptions = {}) =>
  fixture.call('POST', '/v1/webhooks', withKey(key, { body: HOOK, ...more }));
const countHooks = async () => (await fixture.get('/v1/webhooks')).body.data.length;
const isReplayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';
const setAll = (assignment: string) =>
  sql().unsafe(`update idempotency_keys set ${assignment} where integration_id = $1`, [fixture.id]);

const countPending = async () =>
  (await sql()`select from webhook_deliveries where integration_id = ${fixture.id} and status = 'Pending'`).length;

describe('a POST with an idempotency key', () => {
  it.each(POSTS)('%s has one effect, and its repeat gets the first answer without the secret', async (id) => {
    const key = randomUUID();
    const first = await sendOperation(api, id, fixture, withKey(key));
    expect([first.status, isReplayed(first)]).toEqual([200, false]);
    // What is sent again arrives after the answer.
    await waitUntil(async () => (await countPending()) === 0);
    const [arrived, before] = [receiver.received.length, await viewTenant(api.base, fixture)];
    const repeat = await sendOperation(api, id, fixture, withKey(key));
    const { method, path } = findOperation(api, id);
    api.document.expectDocumented(repeat, method, path);
    const { data } = first.body;
    expect([repeat.status, isReplayed(repeat)]).toEqual([200, true]);
    expect(repeat.body).toEqual({ data: 'secret' in data ? { ...data, secret: '' } : data });
    expect(repeat.headers.get('x-service-tier')).toBe('enterprise');
    expect(await viewTenant(api.base, fixture)).toEqual(before);
    expect(receiver.received.length).toBe(arrived);
  });

  it('commits a recovery of many deliveries step by step, so that nobody waits for all of them', async () => {
    const body = { url: receiver.url, eventType: 'BotDetected' };
    const { id } = (await fixture.call('POST', '/v1/webhooks', { body })).body.data;
    await sql()`
      insert into webhook_deliveries (integration_id, id, subscription_id, status, attempts, created_at, finished_at, is_test)
      select ${fixture.id}, 'dlv_step_' || lpad(n::text, 4, '0'), ${id}, 'MaxRetriesExceeded', 6, now() - interval '1 h', now() - interval '1 h', false
        from generate_series(1, 1001) n`;
    // The last one, which is in the second step, waits for a lock.
    await sql().unsafe(`
      create function wait_for_test() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(4711); return new; end $$;
      create trigger wait_for_test before update on webhook_deliveries for each row
        when (old.id = 'dlv_step_1001' and old.status = 'MaxRetriesExceeded') execute function wait_for_test()`);
    const key = randomUUID();
    const recover = () =>
      fixture.call('POST', `/v1/webhooks/${id}/recover`, withKey(key, { body: { startDate: '2020-01-01' } }));
    const recovering = await sql().begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(4711)`;
      const answer = recover();
      await waitUntil(async () => {
        const [row] = await sql()`
          select count(*)::int as count from webhook_deliveries
           where integration_id = ${fixture.id} and subscription_id = ${id} and resends = 1`;
        return row!.count === 1000;
      });
      return { answer };
    });
    const [first, repeat] = [await recovering.answer, await recover()];
    await sql().unsafe('drop function wait_for_test cascade');
    expect([first.status, first.body.data.recovered]).toEqual([200, 1001]);
    expect([isReplayed(repeat), repeat.body]).toEqual([true, first.body]);
  });

  it('is what the document lists: every POST, and nothing else', () => {
    const documented = api.document
      .listOperations()
      .filter(({ operation }) =>
        operation.parameters?.some(({ name }: { name: string }) => name === 'Idempotency-Key'),
      );
    expect(documented.map(({ operation }) => operation.operationId).sort()).toEqual(POSTS.toSorted());
  });

  it('has one effect if it is sent twenty times at once', async () => {
    const key = randomUUID();
    const before = await countHooks();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(key)));
    const done = answers.filter(({ status }) => status === 200);
    const busy = answers.filter(({ status }) => status !== 200);
    expect(await countHooks()).toBe(before + 1);
    expect(done.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    expect(new Set(done.map(({ body }) => body.data.id)).size).toBe(1);
    for (const answer of busy) {
      expectError(answer, 'RATE_LIMITED');
      expect(answer.headers.get('retry-after')).toBe('1');
    }
  });

  it('is the same request however its JSON is written', async () => {
    const key = randomUUID();
    await create(key);
    const spaced = await create(key, { body: `\n${JSON.stringify({ later: 1, ...HOOK }, null, 2)}` });
    expect([spaced.status, isReplayed(spaced)]).toEqual([200, true]);
  });

  it('is the same request in whatever order its nested fields are', async () => {
    const [key, field] = [randomUUID(), 'botScore'];
    const first = await create(key, { body: { ...HOOK, threshold: { field, operator: 'gte', value: 0.9 } } });
    const turned = await create(key, { body: { ...HOOK, threshold: { value: 0.9, operator: 'gte', field } } });
    expect([first.status, turned.status, isReplayed(turned)]).toEqual([200, 200, true]);
    expectError(
      await create(key, { body: { ...HOOK, threshold: { field, operator: 'gte', value: 0.8 } } }),
      'INVALID_REQUEST',
      'Idempotency-Key',
    );
  });

  it('that is nested very deeply is refused, not a fault on our side', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const answer = await create(randomUUID(), { body: `{"name":${deep},${JSON.stringify(HOOK).slice(1)}` });
    expectError(answer, 'INVALID_BODY', 'name');
  });

  it('is refused if the key belongs to another body, route or path', async () => {
    const key = randomUUID();
    const { id } = (await create(key)).body.data;
    const before = await viewTenant(api.base, fixture);
    const others = [
      create(key, { body: { ...HOOK, name: 'other' } }),
      fixture.call('POST', `/v1/webhooks/${id}/rotate-secret`, withKey(key)),
      fixture.call('POST', `/v1/webhooks/${id}/test`, withKey(key)),
    ];
    for (const answer of await Promise.all(others)) expectError(answer, 'INVALID_REQUEST', 'Idempotency-Key');
    expect(await viewTenant(api.base, fixture)).toEqual(before);
    const rotation = randomUUID();
    const rotate = (hook: string) => fixture.call('POST', `/v1/webhooks/${hook}/rotate-secret`, withKey(rotation));
    expect((await rotate(id)).status).toBe(200);
    expectError(await rotate(fixture.ids.id), 'INVALID_REQUEST', 'Idempotency-Key');
    // The same input, on another route.
    const test = await fixture.call('POST', `/v1/webhooks/${id}/test`, withKey(rotation));
    expectError(test, 'INVALID_REQUEST', 'Idempotency-Key');
  });

  it('belongs to its API key', async () => {
    const key = randomUUID();
    const { db } = api.base.service;
    const other = await mintKey(asOperator(db), { integrationId: fixture.id, name: 'second' });
    const [first, second] = [await create(key), await create(key, { key: other.key })];
    expect([first.status, second.status, isReplayed(second)]).toEqual([200, 200, false]);
    expect(second.body.data.id).not.toBe(first.body.data.id);
  });

  it.each([
    ['empty', ''],
    ['of 256 characters', 'x'.repeat(256)],
    ['with a letter outside of ASCII', 'clé'],
    ['with a tab', 'a\tb'],
  ])('is refused if the key is %s', async (_what, key) => {
    const before = await countHooks();
    expectError(await create(key), 'INVALID_REQUEST', 'Idempotency-Key');
    expect(await countHooks()).toBe(before);
  });

  it('may have a key of 255 printable characters', async () => {
    const key = `${randomUUID()} ~!"'`.padEnd(255, 'x');
    expect([(await create(key)).status, isReplayed(await create(key))]).toEqual([200, true]);
  });

  it('that failed is not stored: the key can be used again', async () => {
    const key = randomUUID();
    expectError(await create(key, { body: { ...HOOK, url: 'http://127.0.0.1/' } }), 'INVALID_URL', 'url');
    expectError(await create(key, { body: {} }), 'INVALID_BODY', 'url');
    expectError(await fixture.call('POST', '/v1/webhooks/unknown/test', withKey(key)), 'NOT_FOUND');
    const answer = await create(key);
    expect([answer.status, isReplayed(answer)]).toEqual([200, false]);
  });

  it('has no effect if its answer cannot be stored', async () => {
    const key = randomUUID();
    const before = await countHooks();
    await sql().unsafe(
      'alter table idempotency_keys add constraint unstorable check (answer_sealed is null) not valid',
    );
    const broken = await create(key).finally(() =>
      sql().unsafe('alter table idempotency_keys drop constraint unstorable'),
    );
    expectError(broken, 'INTERNAL_ERROR');
    expect(await countHooks()).toBe(before);
    expect((await create(key)).status).toBe(200);
    expect(await countHooks()).toBe(before + 1);
  });

  it('may run again when the claim of a dead process has expired, and not before', async () => {
    const key = randomUUID();
    await create(key);
    await setAll("answer_sealed = null, claimed_until = now() + interval '1 minute'");
    expectError(await create(key), 'RATE_LIMITED');
    await setAll("claimed_until = now() - interval '1 ms'");
    const answer = await create(key);
    expect([answer.status, isReplayed(answer)]).toEqual([200, false]);
  });

  it('is forgotten after 24 hours', async () => {
    const [old, recent] = [randomUUID(), randomUUID()];
    await create(old);
    await setAll("created_at = now() - interval '23 hours 59 minutes'");
    expect(isReplayed(await create(old))).toBe(true);
    await setAll("created_at = now() - interval '24 hours'");
    const other = await create(old, { body: { ...HOOK, name: 'other' } });
    expect([other.status, isReplayed(other)]).toEqual([200, false]);
    await setAll("created_at = now() - interval '24 hours'");
    await create(recent);
    expect(await pruneIdempotencyKeys(api.base.service.db)).toBe(1);
    expect(isReplayed(await create(recent))).toBe(true);
  });

  it('leaves nothing readable in the database', async () => {
    const key = `of-student-${randomUUID()}`;
    const { id, secret } = (await create(key)).body.data;
    const rows = await sql()`select k::text as row from idempotency_keys k where integration_id = ${fixture.id}`;
    expect(rows).toHaveLength(1);
    const bytes = Buffer.from(rows[0]!.row.replaceAll('\\\\x', ''), 'latin1').toString();
    for (const hidden of [key, id, secret, HOOK.url])
      for (const form of [hidden, Buffer.from(hidden).toString('hex')]) expect(bytes).not.toContain(form);
  });
});

describe('a process whose claim has expired', () => {
  it('cannot store an answer once another one has the key, nor release it', async () => {
    const { service } = api.base;
    const { keyId: apiKeyId, id: integrationId } = await api.base.createTenant();
    const request = { integrationId, apiKeyId, key: 'k', content: 'c' };
    const claim = async () => {
      const claimed = await claimIdempotencyKey(service, request);
      if (claimed.kind === 'answered') throw new Error('answered');
      return claimed.token;
    };
    const late = await claim();
    // The column holds whole milliseconds, so the time of now may be rounded up.
    await sql()`update idempotency_keys set claimed_until = now() - interval '1 ms' where integration_id = ${integrationId}`;
    const current = await claim();
    await expect(storeIdempotentAnswer(service, request, late, '{}')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    await releaseIdempotencyKey(service, request, late);
    await storeIdempotentAnswer(service, request, current, '{"result":1}');
    expect(await claimIdempotencyKey(service, request)).toEqual({ kind: 'answered', answer: '{"result":1}' });
  });
});

it('other requests store nothing, and other methods ignore the header', async () => {
  await fixture.call('POST', '/v1/webhooks', { body: HOOK });
  const answers = await Promise.all([
    fixture.call('PATCH', `/v1/webhooks/${fixture.ids.id}`, withKey('', { body: { name: 'x' } })),
    fixture.call('PUT', '/v1/settings/risk-thresholds', withKey('x', { body: { mediumAt: 10, botAt: 90 } })),
    fixture.call('GET', '/v1/webhooks', withKey('x')),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await sql()`select from idempotency_keys where integration_id = ${fixture.id}`).toHaveLength(0);
});
