import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDemoVerdict } from '../../server/demo/verdict';
import { DRIVEN, moved, openPageSite, Tab } from '../support/beacon';
import { startTestServer, type TestServer } from '../support/server';

// What the demo page is told of its session, and what that may cost: anybody can ask, of a session that is as large as it can be.

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ SESSION_IDLE: '1h' });
});
afterAll(() => server.stop());

it('findings are computed while there is time for that, and else are those of the latest score', async () => {
  const { service, url } = server;
  const site = await openPageSite({ db: service.db, url }, await server.createTenant());
  const tab = new Tab(site, DRIVEN);
  await tab.send();
  const calls: string[] = [];
  const read = async (hasTime: () => boolean) => {
    const time = { hasTime, spend: (ms: number) => void calls.push(ms > 0 ? 'spent' : 'nothing spent') };
    return (await readDemoVerdict(service, site, tab.nonce, time)).session;
  };
  await expect.poll(async () => (await read(() => true))?.botScore).toBeGreaterThan(0.6);
  await tab.send({ ev: moved(tab.now10, 50) });
  calls.length = 0;
  const live = await read(() => true);
  expect([live!.kept.events, calls]).toEqual([1 + 51, ['spent']]);
  const latest = await read(() => false);
  expect([latest!.kept.events, latest!.kept.batches]).toEqual([null, 2]);
  expect(latest!.findings.filter(({ state }) => state === 'found').map(({ flag }) => flag)).toContain('webdriver');
  // Another call took the time while this one was waiting for the database.
  let asked = 0;
  expect((await read(() => asked++ === 0))!.kept.events).toBeNull();
  expect(calls).toEqual(['spent']);
});
