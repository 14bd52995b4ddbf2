import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_VIEWS } from '../../contract/saved-views';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';

// Pages of the dashboard with their filters, under a name.

let server: TestServer;
let analyst: StaffClient;
let tenant: { id: string };

beforeAll(async () => {
  server = await startStaffServer();
  analyst = await createStaffClient(server, 'analyst');
});
afterAll(() => server.stop());

const at = ({ id } = tenant) => ({ 'x-integration-id': id });
const create = (page: string, name: string, query = '') =>
  analyst.mutate('savedViews.create', { page, name, query }, at());
const list = async (of = tenant) => {
  const { body } = await analyst.query('savedViews.list', undefined, at(of));
  return body.result.data.map(({ page, name, query }: Record<string, string>) => [page, name, query]);
};

describe('saved views', () => {
  it('are of one integration, by page and name, with the filters that the page’s list takes', async () => {
    tenant = await server.createTenant();
    const other = await server.createTenant();
    const views: [page: string, name: string, query: string][] = [
      ['alerts', 'Open', 'status=Open'],
      ['alerts', 'Of a rule', 'rule=rul-1'],
      ['anomalies', 'Shared devices', 'anomalyType=SharedDevice&sort=oldest'],
      ['courses', 'Busiest', 'sort=sessions'],
      ['sessions', 'Bots of the week', 'riskLevel=bot&range=7d'],
      ['users', 'By name', 'sort=name'],
    ];
    for (const view of views) expect([view, (await create(...view)).status]).toEqual([view, 200]);
    expect(await list()).toEqual([views[1], views[0], ...views.slice(2)]);
    expect(await list(other)).toEqual([]);
  });

  it.each([
    ['alerts', 'Elsewhere', 'severity=high', 'query'],
    ['anomalies', 'Elsewhere', 'status=Closed', 'query'],
    ['sessions', 'Elsewhere', 'minBotScore=', 'query'],
    ['users', 'By name', '', 'name'],
    ['users', '  By name ', '', 'name'],
    ['users', '', '', 'name'],
    ['usage', 'A page without filters', '', 'page'],
  ])('of %s called %j with %j are refused', async (page, name, query, field) => {
    const before = await list();
    const { status, body } = await create(page, name, query);
    expect([status, body.error.data.field]).toEqual([400, field]);
    expect(await list()).toEqual(before);
  });

  it(`are at most ${MAX_VIEWS}, also if the last two are saved at once`, async () => {
    tenant = await server.createTenant();
    for (let n = 1; n < MAX_VIEWS; n++) expect((await create('sessions', `View ${n}`)).status).toBe(200);
    const answers = await Promise.all(['One more', 'Another one'].map((name) => create('sessions', name)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ body }) => body.error.message)).toEqual([
      `An integration holds at most ${MAX_VIEWS} saved views. Delete one first`,
    ]);
    expect(await list()).toHaveLength(MAX_VIEWS);
  });
});
