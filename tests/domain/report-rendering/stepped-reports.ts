import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { RequestReportInput } from '../../../contract/reports';
import { asOperator } from '../../../server/audit/acts';
import { findIntegration } from '../../../server/domain/integrations';
import { foldSessionDeltas } from '../../../server/domain/rollups';
import { createReports, type ReportService } from '../../../server/reports/reports';
import { createPostgresStore } from '../../../server/reports/stores/postgres-store';
import type { ReportKey, ReportStore } from '../../../server/reports/stores/store';
import { startTestServer, type TestServer } from '../../support/server';
import { loadVolumes } from '../../support/volume';

export let server: TestServer;
export let large: { id: string; key: string };
export let small: { id: string; key: string };
/** Reports of a process whose engine does nothing. */
export let reports: ReportService;
export let woken: ReportKey[];
export let store: ReportStore;
export const engine = { isAway: false };

/** More than one part has. */
export const SESSIONS = 21_000;
export const ALL = { template: 'sessions', format: 'csv', days: 365 } as const;

export function shareReports(): void {
  beforeAll(async () => {
    server = await startTestServer();
    // Its crons would find the reports of these tests.
    await server.service.engine!.stop(0);
    large = await server.createTenant();
    small = await server.createTenant();
    await loadVolumes(server.database.db, [
      { integrationId: large.id, sessions: SESSIONS },
      { integrationId: small.id, sessions: 40 },
    ]);
    await server.database.db.sql`
    insert into session_scores (integration_id, session_id, scored_at, bot_score, detection_flags)
    select integration_id, id, scored_at, bot_score, detection_flags from sessions`;
    await foldSessionDeltas(server.service.db);
    await server.database.db.sql`analyze`;
  });
  afterAll(() => server.stop());

  beforeEach(() => {
    const { db, log, secrets, ingester } = server.service;
    woken = [];
    engine.isAway = false;
    store = createPostgresStore(db);
    reports = createReports({
      ...{ db, log, ingester, cursorKey: secrets.cursorKey },
      stores: {
        current: 'postgres',
        postgres: { ...store, write: (...part) => store.write(...part), remove: (...part) => store.remove(...part) },
        s3: null,
      },
      wake: async (keys) => {
        if (engine.isAway) throw new Error('the engine is away');
        woken.push(...keys);
      },
    });
  });
}

export async function contextOf({ id }: { id: string }) {
  const { db, secrets } = server.service;
  const { integration } = (await findIntegration(db, id))!;
  return { ...asOperator(db), cursorKey: secrets.cursorKey, secrets, integration };
}

export async function request(input: RequestReportInput, tenant = small) {
  const { id } = await reports.request(await contextOf(tenant), input);
  return { integrationId: tenant.id, reportId: id, runId: `run of ${id}` };
}
export type Run = Awaited<ReturnType<typeof request>>;
export const START = { number: 0, after: null, recordCount: 0 };

/** Renders the parts from `start` on, as the function does. */
export async function renderFrom(run: Run, start: Parameters<ReportService['jobs']['renderPart']>[1]) {
  const parts = [];
  for (let next: typeof start | null = start; next; ) {
    const rendered = await reports.jobs.renderPart(run, next);
    if (rendered === null || 'failure' in rendered) throw new Error(JSON.stringify(rendered));
    parts.push(rendered);
    next = rendered.next && { number: next.number + 1, after: rendered.next, recordCount: rendered.recordCount };
  }
  return parts;
}
export type Rendered = Awaited<ReturnType<typeof renderFrom>>;
export const complete = (run: Run, rendered: Rendered, { jobs } = reports) =>
  jobs.completeReport(run, {
    parts: rendered.map(({ part }) => part),
    recordCount: rendered.at(-1)!.recordCount,
  });
export const read = async ({ reportId }: Run, { key } = large) =>
  (await server.call('GET', `/reports/${reportId}/download`, { key })).text;
export const readState = async ({ reportId }: Run) =>
  (
    await server.database.db
      .sql`select state, failure, record_count as rows, completed_at as at from report_jobs where id = ${reportId}`
  )[0];
export const countChunks = async ({ reportId }: Run) =>
  (await server.database.db.sql`select 1 from report_chunks where report_id = ${reportId}`).length;

/** Renders a report as JSON and reads it. */
export async function render(input: RequestReportInput, tenant: { id: string; key: string }) {
  const run = await request(input, tenant);
  await reports.jobs.beginReport(run);
  await complete(run, await renderFrom(run, START));
  return JSON.parse(await read(run, tenant));
}
