import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY_SCOPES, type KeyScope } from '../../contract/integrations';
import { asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import { expectError } from '../support/answers';
import { type ApiServer, startSelfHosted } from '../support/api-servers';
import { createFixture, type Fixture, makeUnknownIds, viewTenant } from '../support/fixture';
import { expectDocumentedError, listOperations, sendOperation } from '../support/operations';
import { type Receiver, startReceiver } from '../support/receiver';

/** What changes something, with the scope that it needs. Everything else needs `read`. */
const WRITES: Record<string, KeyScope> = {
  labelSession: 'sessions:write',
  confirmDevice: 'sessions:write',
  updateRiskThresholds: 'settings:write',
  createWebhook: 'webhooks:write',
  updateWebhook: 'webhooks:write',
  deleteWebhook: 'webhooks:write',
  rotateWebhookSecret: 'webhooks:write',
  eraseUser: 'users:erase',
  testWebhook: 'webhooks:write',
  resendWebhookDelivery: 'webhooks:write',
  recoverWebhookDeliveries: 'webhooks:write',
};

let api: ApiServer;
let receiver: Receiver;
let fixture: Fixture;
beforeAll(async () => {
  receiver = await startReceiver();
  api = await startSelfHosted({ WEBHOOK_ALLOW_HOSTS: receiver.host, QUOTA_FREE: '1' });
  fixture = await createFixture({ base: api.base, api, receiver });
});
afterAll(async () => {
  await api?.stop();
  await receiver.stop();
});

const mint = async (scopes?: KeyScope[], integrationId = fixture.id) =>
  (await mintKey(asOperator(api.base.service.db), { integrationId, name: 'scoped', scopes })).key;
const without = (left: KeyScope) => KEY_SCOPES.filter((scope) => scope !== left);

/** Finds the operations that a key may call. What they name does not exist, so that a call changes little. */
async function listPermitted(key: string): Promise<string[]> {
  const permitted: string[] = [];
  for (const { id, needsKey } of listOperations(api.document)) {
    const answer = needsKey ? await sendOperation(api, id, fixture, { key, ids: makeUnknownIds() }) : null;
    if (answer?.status === 403) expectDocumentedError(api, id, answer, 'FORBIDDEN');
    else if (answer) permitted.push(id);
  }
  return permitted.sort();
}
const listNeeding = (scopes: readonly KeyScope[]) =>
  listOperations(api.document)
    .filter(({ id, needsKey }) => needsKey && scopes.includes(WRITES[id] ?? 'read'))
    .map(({ id }) => id)
    .sort();

describe('a key', () => {
  it.each(KEY_SCOPES)('with the scope %s alone may call the routes that need it and no other', async (scope) => {
    expect(await listPermitted(await mint([scope]))).toEqual(listNeeding([scope]));
  });

  it.each(KEY_SCOPES)('with every scope but %s may call all other routes', async (scope) => {
    expect(await listPermitted(await mint(without(scope)))).toEqual(listNeeding(without(scope)));
  });

  it('that was minted without scopes, or before there were any, may do all but erase users', async () => {
    const usual = without('users:erase');
    expect(await listPermitted(await mint())).toEqual(listNeeding(usual));
    const { sql } = api.base.database.db;
    const [column] = await sql`
      select column_default as value from information_schema.columns where table_name = 'api_keys' and column_name = 'scopes'`;
    expect(column!.value).toBe(`'{${usual.join(',')}}'::text[]`);
  });

  it('without the scope changes nothing', async () => {
    const before = await viewTenant(api.base, fixture);
    const key = await mint(['read']);
    for (const id of Object.keys(WRITES))
      expectDocumentedError(api, id, await sendOperation(api, id, fixture, { key }), 'FORBIDDEN');
    expect(await viewTenant(api.base, fixture)).toEqual(before);
  });

  it('without `read` downloads no report', async () => {
    const answer = await api.call('GET', '/reports/nothing/download', { key: await mint(without('read')) });
    expectError(answer, 'FORBIDDEN');
    expectError(await api.call('GET', '/reports/nothing/download', { key: await mint(['read']) }), 'NOT_FOUND');
  });
});

describe('the scope is checked', () => {
  it('before path, query and body', async () => {
    const key = await mint(['users:erase']);
    expectError(await api.call('GET', `/v1/sessions/${'x'.repeat(257)}`, { key }), 'FORBIDDEN');
    expectError(await api.call('GET', '/v1/sessions?pageSize=0', { key }), 'FORBIDDEN');
    expectError(await api.call('POST', '/v1/webhooks', { key, body: '{' }), 'FORBIDDEN');
  });

  it('after the route and the rate limit', async () => {
    const { id } = await api.base.createTenant('free');
    const key = await mint(['users:erase'], id);
    // The quota is 1. A new minute may begin in between.
    const statuses: number[] = [];
    for (let n = 0; n < 4 && !statuses.includes(429); n++)
      statuses.push((await api.call('GET', '/v1/sessions', { key })).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([403, 429]);
    expectError(await api.call('GET', '/v1/nothing', { key: await mint(['users:erase']) }), 'NOT_FOUND');
  });
});
