import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ANOMALY_TYPES } from '../../contract/findings';
import { asOperator } from '../../server/audit/acts';
import { type Demo, loadDemoIntegration } from '../../server/demo/integration';
import { revokeKey } from '../../server/domain/api-keys';
import { waitForLocks } from '../support/database';
import { POLL_LIMIT_MS } from '../support/limits.mjs';
import { waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { createCaller } from '../support/staff';

let server: TestServer;
let key: string;
let loaded: (Demo | null)[];
beforeAll(async () => {
  server = await startTestServer();
  // As two processes that start at the same time.
  loaded = await Promise.all([loadDemoIntegration(server.service), loadDemoIntegration(server.service)]);
  ({ key } = loaded.find((demo) => demo !== null)!);
});
afterAll(() => server.stop());

it('the reports of the demo are made of its sessions, and can be downloaded', async () => {
  const staff = await createCaller(server, key);
  await waitUntil(async () => (await staff.reports.list({})).data.length === 4);
  const { data } = await staff.reports.list({});
  expect(data.map(({ name, format }) => `${name} ${format}`).sort()).toEqual([
    ...['All sessions of the month json', 'Bot sessions csv', expect.stringMatching(/^Integrity of .+ csv$/)],
    'Weekly overview pdf',
  ]);
  for (const { downloadUrl, recordCount, content } of data) {
    expect([content !== null, (recordCount ?? 0) > 0]).toEqual([true, true]);
    expect((await server.call('GET', downloadUrl, { key })).status).toBe(200);
  }
});

it('the rules find each anomaly in the sessions of the demo, and texts are written in them', async () => {
  await server.service.findings.flush();
  const { sql } = server.database.db;
  const found = await sql`select type, count(*)::int from anomalies group by type order by type`;
  expect(found.map(({ type }) => type)).toEqual([...ANOMALY_TYPES].sort());
  // They stay rare.
  for (const { type, count } of found) expect(count, type).toBeLessThan(40);
  const texts = await sql`select evidence is not null as has_evidence, ai_score > 0.5 as is_high from writing_scores`;
  expect(texts.length).toBeGreaterThan(20);
  expect(texts.every(({ has_evidence }) => has_evidence)).toBe(true);
  expect(new Set(texts.map(({ is_high }) => is_high)).size).toBe(2);
});

const countSessions = async () => (await server.database.db.sql`select count(*)::int as n from sessions`)[0]!.n;

it('is loaded by one of two processes that start at the same time', async () => {
  expect(loaded.filter((demo) => demo !== null)).toHaveLength(1);
  expect(await countSessions()).toBe(400);
});

it('is not loaded again when its key was revoked', async () => {
  const { db } = server.service;
  const [minted] = await db.query<{ id: string }>('select id from api_keys', []);
  await revokeKey(asOperator(db), minted!);
  expect(await loadDemoIntegration(server.service)).toBeNull();
  expect(await countSessions()).toBe(400);
});

it('that is given up half-way is loaded by the next start', async () => {
  const { service, database, stop } = await startTestServer();
  const stopping = new AbortController();
  const { ingester } = service;
  const ingestFacts: typeof ingester.ingestFacts = (given) => {
    stopping.abort(new Error('stopped'));
    return ingester.ingestFacts(given);
  };
  const interrupted = { ...service, ingester: { ...ingester, ingestFacts } };
  await expect(loadDemoIntegration(interrupted, stopping.signal)).rejects.toThrow('stopped');
  const [left] = await database.db.sql`select count(*)::int as n from sessions`;
  expect(left!.n).toBeGreaterThan(0);
  expect(left!.n).toBeLessThan(200);
  expect(await loadDemoIntegration(service)).not.toBeNull();
  await stop();
});

it('is not waited for any longer by a start that is given up while another process loads it', async () => {
  const { service, database, stop } = await startTestServer();
  const { sql } = database.db;
  const stopping = new AbortController();
  let ended: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('load-demo'))`;
    ended = loadDemoIntegration(service, stopping.signal).catch((reason: Error) => reason.message);
    await waitForLocks(sql, 1);
    stopping.abort(new Error('stopped'));
    expect(await Promise.race([ended, sleep(POLL_LIMIT_MS, 'still waiting')])).toBe('stopped');
  });
  await stop();
});
