import type { ReportFormat } from '../../contract/events';
import { REPORT_DAYS, type ReportParameters, type ReportTemplate } from '../../contract/reports';
import { PLANS, type Plan } from '../../contract/tiers';
import type { Database } from '../../db/client';
import type { ReportPart } from '../../db/schema/reports';
import type { IntegrationScope } from '../domain/context';
import type { ReportKey, StoreName } from './stores/store';

// The states of a report: Queued → Running → Ready or Failed. Each change names the run of the engine that makes it, so that a
// run that was given up cannot change what another one does.

/** The run of the engine that renders a report. */
export interface ReportRun extends ReportKey {
  runId: string;
}

/** A report that a run renders, with its tenant. */
export interface RunningReport {
  id: string;
  name: string;
  template: ReportTemplate;
  format: ReportFormat;
  parameters: ReportParameters;
  startAt: string;
  endAt: string;
  requestedAt: string;
  store: StoreName;
  integrationName: string;
  integration: IntegrationScope;
}

/** Gives a report to a run. Returns false if it is gone, another run has it, or an erasure holds it. Calling it again is fine. */
export async function beginReport(db: Database, run: ReportRun, store: StoreName): Promise<boolean> {
  const rows = await db.query(BEGIN, [run.integrationId, run.reportId, run.runId, store]);
  return rows.length > 0;
}

// The column rounds to milliseconds, so what was asked for just now may lie half of one ahead.
const BEGIN = `
  update report_jobs set state = 'Running', run_id = $3, store = $4, woken_at = now()
   where integration_id = $1 and id = $2
     and (state = 'Queued' and woken_at <= now() + interval '1 ms' or state = 'Running' and run_id = $3)
  returning id`;

/** Reads the report of a run. Returns null if the run no longer has it. */
export async function findRunningReport(db: Database, run: ReportRun): Promise<RunningReport | null> {
  type Row = Omit<RunningReport, 'integration'> & { plan: Plan; mediumAt: number; botAt: number };
  const [row] = await db.query<Row>(READ_RUNNING, [run.integrationId, run.reportId, run.runId]);
  if (!row) return null;
  const { plan, mediumAt, botAt, ...report } = row;
  return { ...report, integration: { id: run.integrationId, plan, tier: PLANS[plan].tier, mediumAt, botAt } };
}

const READ_RUNNING = `
  select j.id, j.name, j.template, j.format, j.parameters, j.start_at as "startAt", j.end_at as "endAt",
         j.requested_at as "requestedAt", j.store, i.name as "integrationName", i.plan, i.medium_at as "mediumAt",
         i.bot_at as "botAt"
    from report_jobs j join integrations i on i.id = j.integration_id
   where j.integration_id = $1 and j.id = $2 and j.state = 'Running' and j.run_id = $3`;

/** Records how far a run is, and the window that it counts. Returns false if it no longer has the report. */
export async function recordProgress(
  db: Database,
  run: ReportRun,
  recordCount: number,
  { startAt, endAt }: { startAt: string; endAt: string },
): Promise<boolean> {
  const rows = await db.query(PROGRESS, [
    ...[run.integrationId, run.reportId, run.runId, recordCount],
    ...[startAt, endAt],
  ]);
  return rows.length > 0;
}

const PROGRESS = `
  update report_jobs set record_count = $4::int, start_at = $5::timestamptz, end_at = $6::timestamptz, woken_at = now()
   where integration_id = $1 and id = $2 and state = 'Running' and run_id = $3 returning id`;

/** A report that is ready. */
export interface ReadyReport {
  name: string;
  template: ReportTemplate;
  format: ReportFormat;
  recordCount: number;
  fileSize: number;
  completedAt: string;
  expiresAt: string;
}

/** Makes a report ready. Returns null if the run no longer has it. Calling it again returns the same. */
export async function completeReport(
  db: Database,
  run: ReportRun,
  file: { parts: ReportPart[]; recordCount: number },
): Promise<ReadyReport | null> {
  const key = [run.integrationId, run.reportId, run.runId];
  const fileSize = file.parts.reduce((sum, { size }) => sum + size, 0);
  await db.query(COMPLETE, [...key, JSON.stringify(file.parts), file.recordCount, fileSize, REPORT_DAYS]);
  const [ready] = await db.query<ReadyReport>(READ_READY, key);
  return ready ?? null;
}

const COMPLETE = `
  update report_jobs
     set state = 'Ready', parts = $4::text::jsonb, record_count = $5::int, file_size = $6::float8, completed_at = now(),
         expires_at = now() + $7::int * interval '1 day'
   where integration_id = $1 and id = $2 and state = 'Running' and run_id = $3`;
const READ_READY = `
  select name, template, format, record_count as "recordCount", file_size as "fileSize", completed_at as "completedAt",
         expires_at as "expiresAt"
    from report_jobs where integration_id = $1 and id = $2 and state = 'Ready' and run_id = $3`;

/**
 * Ends a report without a file, or one whose fact could not be sent. `failure` is for staff. Returns the store that may have
 * parts of it; null if the run no longer has the report.
 */
export async function failReport(db: Database, run: ReportRun, failure: string): Promise<StoreName | null> {
  const [row] = await db.query<{ store: StoreName }>(FAIL, [run.integrationId, run.reportId, run.runId, failure]);
  return row?.store ?? null;
}

const FAIL = `
  update report_jobs j set state = 'Failed', failure = $4, completed_at = now()
   where integration_id = $1 and id = $2 and run_id = $3
     and (state = 'Running' or state = 'Ready' and not exists (
       select from reports r where r.integration_id = j.integration_id and r.id = j.id))
  returning store`;

/** The most reports that one look wakes. */
const WAKE_BATCH = 100;

const GIVEN_UP = 'It could not be made within a day. Ask for it again.';

/**
 * Finds reports whose wake-up was lost: their process died after the commit, or the engine lost their run. Such a report is
 * rendered from its beginning, by a new run. After a day it fails: perhaps it ends each process that renders it.
 */
export async function findLostReports(db: Database): Promise<ReportKey[]> {
  const found = await db.query<ReportKey & { state: string }>(FIND_LOST, [GIVEN_UP]);
  return found.filter(({ state }) => state === 'Queued').map(({ state: _, ...report }) => report);
}

const FIND_LOST = `
  with lost as (
    select integration_id, id from report_jobs
     where state in ('Queued', 'Running')
       and woken_at < now() - case state when 'Queued' then interval '2 minutes' else interval '1 hour' end
     order by woken_at limit ${WAKE_BATCH} for update skip locked)
  update report_jobs j
     set state = case when j.requested_at < now() - interval '1 day' then 'Failed' else 'Queued' end,
         failure = case when j.requested_at < now() - interval '1 day' then $1 end,
         completed_at = case when j.requested_at < now() - interval '1 day' then now() end, run_id = null, woken_at = now()
    from lost where j.integration_id = lost.integration_id and j.id = lost.id
  returning j.integration_id as "integrationId", j.id as "reportId", j.state`;

/** The most reports that one look finds. */
export const EXPIRED_BATCH = 100;

/** Where a look for expired reports goes on. */
export interface ExpiredPosition {
  expiresAt: string;
  reportId: string;
}

/**
 * Finds reports whose files must go: deleted ones and expired ones, also those that failed. Those in S3 stay while it is not
 * configured: without their rows, nobody would know of their files. The first to expire are the first.
 */
export const findExpiredReports = (db: Database, hasS3: boolean, after: ExpiredPosition | undefined) =>
  db.query<ReportKey & ExpiredPosition & { store: StoreName | null }>(FIND_EXPIRED, [
    ...[hasS3, after?.expiresAt ?? '-infinity', after?.reportId ?? ''],
  ]);

const FIND_EXPIRED = `
  select integration_id as "integrationId", id as "reportId", store, expires_at::text as "expiresAt"
    from report_jobs
   where (expires_at, id) > ($2::timestamptz, $3) and expires_at <= now() and state not in ('Queued', 'Running')
     and ($1::boolean or store is distinct from 's3') order by expires_at, id limit ${EXPIRED_BATCH}`;

/** Removes the row of a report whose file is removed. */
export async function removeReport(db: Database, { integrationId, reportId }: ReportKey): Promise<void> {
  await db.query('delete from report_jobs where integration_id = $1 and id = $2', [integrationId, reportId]);
}
