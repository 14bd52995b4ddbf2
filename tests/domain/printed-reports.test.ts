import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { findIntegration } from '../../server/domain/integrations';
import type { DocumentData } from '../../server/reports/pdf/document';
import { createReports } from '../../server/reports/reports';
import type { ReportStore } from '../../server/reports/stores/store';
import { scored, started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';
import { insertWideSessions } from '../support/volume';

// What a document is asked to print. Its layout is written instead of set, so that it can be read.
vi.mock('../../server/reports/pdf/renderer', () => ({
  renderPdf: async (data: DocumentData) => Buffer.from(JSON.stringify(data)),
}));

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  // Its crons would find the reports of these tests.
  await server.service.engine!.stop(0);
});
afterAll(() => server.stop());

/** Makes a report as a document. */
async function print(tenant: { id: string }, input: object): Promise<DocumentData> {
  const { db, log, secrets, ingester } = server.service;
  let written: Buffer | undefined;
  const keep: Pick<ReportStore, 'write'> = {
    write: async (_report, _key, content) => {
      written = content;
    },
  };
  const reports = createReports({
    ...{ db, log, ingester, cursorKey: secrets.cursorKey, wake: async () => {} },
    stores: { current: 'postgres', postgres: keep as ReportStore, s3: null },
  });
  const { integration } = (await findIntegration(db, tenant.id))!;
  const context = { ...asOperator(db), cursorKey: secrets.cursorKey, secrets, integration };
  const { id } = await reports.request(context, { format: 'pdf', ...input } as never);
  const run = { integrationId: tenant.id, reportId: id, runId: `run of ${id}` };
  await reports.jobs.beginReport(run);
  await reports.jobs.renderPart(run, { number: 0, after: null, recordCount: 0 });
  return JSON.parse(written!.toString());
}

it('a document says that there are more rows only if there are', async () => {
  const tenant = await server.createTenant();
  await insertWideSessions(server.database.db, tenant.id, 1_000);
  const whole = await print(tenant, { template: 'sessions', days: 7 });
  expect([whole.rows.length, whole.note]).toEqual([1_000, null]);
  await server.ingest(tenant.id, [started('one-more')]);
  const cut = await print(tenant, { template: 'sessions', days: 7 });
  expect([cut.rows.length, cut.note]).toEqual([1_000, expect.stringContaining('There are more')]);
});

it('a weekly overview prints no share of nothing as none, and no small share as nothing', async () => {
  const tenant = await server.createTenant();
  const readTotals = ({ sections }: DocumentData) =>
    new Map(sections[0]!.table!.rows.map(([what, value]) => [what, value]));
  const empty = readTotals(await print(tenant, { template: 'weekly-overview' }));
  expect([empty.get('Sessions'), empty.get('Average score'), empty.get('Share of sessions with a user')]).toEqual([
    ...['0', '', ''],
  ]);
  await insertWideSessions(server.database.db, tenant.id, 2_999);
  const unscored = readTotals(await print(tenant, { template: 'weekly-overview' }));
  expect([unscored.get('Average score'), unscored.get('Share of sessions with a user')]).toEqual(['', '0']);
  // A label is no score.
  const label = (value: 1 | null) =>
    server.database.db.sql`update sessions set label = ${value} where integration_id = ${tenant.id}`;
  await label(1);
  const labelled = readTotals(await print(tenant, { template: 'weekly-overview' }));
  expect([labelled.get('Likely people'), labelled.get('Average score')]).toEqual(['0', '']);
  await label(null);
  await server.ingest(tenant.id, [started('bot', { pageUrl: 'https://lms/' }), scored('bot', 0.9)]);
  const { sections } = await print(tenant, { template: 'weekly-overview' });
  expect(sections.at(-1)!.table!.rows).toEqual([['https://lms', '3000', '0.033']]);
  expect(readTotals({ sections } as DocumentData).get('Average score')).toBe('0.9');
});
