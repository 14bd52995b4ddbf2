import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadDemoIntegration } from '../../server/demo/integration';
import { waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { createCaller } from '../support/staff';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

it('the reports of the demo are made of its sessions, and can be downloaded', async () => {
  const { key } = (await loadDemoIntegration(server.service))!;
  const staff = await createCaller(server, key);
  await waitUntil(async () => (await staff.reports.list({})).data.length === 4);
  const { data } = await staff.reports.list({});
  expect(data.map(({ name, format }) => `${name} ${format}`).sort()).toEqual([
    ...['All sessions of the month json', 'Bot sessions csv', expect.stringMatching(/^Integrity of .+ csv$/)],
    'Weekly overview pdf',
  ]);
  for (const { downloadUrl, recordCount, isStored } of data) {
    expect([isStored, (recordCount ?? 0) > 0]).toEqual([true, true]);
    expect((await server.call('GET', downloadUrl, { key })).status).toBe(200);
  }
});
