import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCollector } from '../../server/collector/collector';
import { eraseCollected } from '../../server/collector/erased-sessions';
import { openPageSite, Tab } from '../support/beacon';
import { Customer } from '../support/customer';
import { ADA } from '../support/erasures';
import { startTestServer, type TestServer } from '../support/server';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

it('an erasure leaves the close of a session to be told, if the process died before it could tell it', async () => {
  const { db, ingester } = server.service;
  const customer = await Customer.create(server);
  const own = await openPageSite({ db, url: server.url }, customer);
  const tab = new Tab(own);
  /** Has a process take the next batch of the tab. Without facts, it dies before it sends them. */
  const take = async (content: Parameters<Tab['make']>[0], sendsFacts: boolean) => {
    const ingestFacts = () => Promise.reject(new Error('the process died'));
    const log = { ...server.service.log, error: () => {} } as typeof server.service.log;
    const dying = { ...server.service, log, ingester: { ...ingester, ingestFacts } };
    const collector = createCollector({ ...(sendsFacts ? server.service : dying), hasTimers: false });
    await tab.hand(collector, content);
    await collector.flush();
  };
  const readSession = async () => (await customer.get('/v1/sessions')).body.data[0];
  await take({ u: { id: ADA.id } }, true);
  await take({ x: 1 }, false);
  const { id, status } = await readSession();
  expect(status).toBe('Active');
  const erased = { integrationId: customer.id, userId: ADA.id, finder: { replace: (text: string) => text } };
  await db.transact((query) => eraseCollected(query, erased, [id]));
  await db.sql`update collected_sessions set due_at = now() where integration_id = ${own.integrationId} and due_at is not null`;
  const next = createCollector({ ...server.service, hasTimers: false });
  await next.sweep();
  expect((await readSession()).status).toBe('Scored');
});
