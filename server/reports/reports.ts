import type {
  CreateScheduleInput,
  ReportJob,
  ReportSchedule,
  ReportTemplateEntry,
  RequestReportInput,
} from '../../contract/reports';
import type { Database } from '../../db/client';
import type { ReportPart } from '../../db/schema/reports';
import type { DomainContext } from '../domain/context';
import type { Ingester } from '../pipeline/ingest';
import type { Logger } from '../platform/log';
import { openReportFile, type ReportFile } from './downloads';
import {
  beginReport,
  completeReport,
  EXPIRED_BATCH,
  type ExpiredPosition,
  failReport,
  findExpiredReports,
  findLostReports,
  type ReportRun,
} from './jobs';
import { type PartStart, type RenderedPart, renderPart } from './rendering';
import {
  deleteReport,
  listReportJobs,
  purgeReport,
  type RequestContext,
  requestReport,
  type SubjectContext,
} from './requests';
import { createReportSchedule, deleteReportSchedule, listReportSchedules, makeDueReports } from './schedules';
import type { ReportKey, ReportStores, StoreName } from './stores/store';
import { listTemplates } from './templates';

/** The reports of a process: what staff ask for, what the engine runs, and the files. */
export interface ReportService {
  listTemplates(): ReportTemplateEntry[];
  request(context: SubjectContext, input: RequestReportInput): Promise<{ id: string }>;
  listJobs(context: DomainContext): Promise<ReportJob[]>;
  delete(context: RequestContext, id: string): Promise<{ id: string }>;
  listSchedules(context: DomainContext): Promise<ReportSchedule[]>;
  createSchedule(context: SubjectContext, input: CreateScheduleInput): Promise<{ id: string }>;
  deleteSchedule(context: RequestContext, id: string): Promise<{ id: string }>;
  openFile(report: { integrationId: string | null; reportId: string }): Promise<ReportFile>;
  jobs: {
    beginReport(run: ReportRun): Promise<boolean>;
    renderPart(run: ReportRun, start: PartStart): Promise<RenderedPart | { failure: string } | null>;
    completeReport(run: ReportRun, file: { parts: ReportPart[]; recordCount: number }): Promise<void>;
    failReport(run: ReportRun, failure: string): Promise<void>;
    makeDueReports(): Promise<number>;
    wakeReports(): Promise<number>;
    /** Returns how many it removed: if there are any, more may be left. */
    pruneReports(): Promise<number>;
  };
}

export const writeDownloadPath = (reportId: string) => `/reports/${encodeURIComponent(reportId)}/download`;

/** Creates the process's reports. */
export function createReports(dependencies: {
  db: Database;
  log: Logger;
  cursorKey: Buffer;
  ingester: Ingester;
  stores: ReportStores;
  /** Tells the engine of reports to render. */
  wake: (reports: ReportKey[]) => Promise<void>;
}): ReportService {
  const { db, log, ingester, stores, wake } = dependencies;

  /** If it fails, the look of the next minutes finds the report. */
  async function wakeQuietly(report: ReportKey) {
    await wake([report]).catch((error: unknown) => log.warn({ err: error }, 'the engine was not told of a report'));
  }

  /** Returns whether it worked. If not, the job of the next hour removes the report. Nobody can read it any more. */
  async function purgeQuietly(report: ReportKey, store: StoreName | null): Promise<boolean> {
    try {
      await purgeReport({ db }, stores, report, store);
      return true;
    } catch (error) {
      log.warn({ err: error, reportId: report.reportId }, 'a report was not removed; the next hour tries again');
      return false;
    }
  }

  /** Sends the fact of a report that is ready. Its id is the report's, so that a repeated step sends a duplicate. */
  async function complete(run: ReportRun, file: { parts: ReportPart[]; recordCount: number }) {
    const { integrationId, reportId } = run;
    const ready = await completeReport(db, run, file);
    if (ready) {
      const { name, template, ...described } = ready;
      const named = { reportId, reportName: name, templateId: template, downloadUrl: writeDownloadPath(reportId) };
      const fact = { kind: 'reportReady', ...named, ...described } as const;
      await ingester.ingestFacts({ integrationId, facts: [fact], isOurs: true });
    }
    // Also in a repeated step: the process that sent the fact may have died before this.
    await db.query(REMOVE_FACT_OF_DELETED, [integrationId, reportId]);
  }

  return {
    listTemplates,
    async request(context, input) {
      const report = await requestReport(context, input);
      await wakeQuietly(report);
      return { id: report.reportId };
    },
    listJobs: listReportJobs,
    async delete(context, id) {
      const store = await deleteReport(context, id);
      await purgeQuietly({ integrationId: context.integration.id, reportId: id }, store);
      return { id };
    },
    listSchedules: listReportSchedules,
    createSchedule: createReportSchedule,
    deleteSchedule: deleteReportSchedule,
    openFile: (report) => openReportFile({ db, stores }, report),
    jobs: {
      beginReport: (run) => beginReport(db, run, stores.current),
      renderPart: (run, start) => renderPart(dependencies, run, start),
      completeReport: complete,
      async failReport(run, failure) {
        const store = await failReport(db, run, failure);
        if (store === null) return;
        // If this fails, its parts go when the report expires.
        await stores[store]?.remove(run).catch((error: unknown) => log.warn({ err: error }, 'parts of a report stay'));
      },
      async makeDueReports() {
        const made = await makeDueReports(db, log);
        if (made.length > 0) await wake(made);
        return made.length;
      },
      async wakeReports() {
        const lost = await findLostReports(db);
        if (lost.length > 0) await wake(lost);
        return lost.length;
      },
      async pruneReports() {
        const endAt = performance.now() + PRUNE_MS;
        let removed = 0;
        for (let after: ExpiredPosition | undefined; performance.now() < endAt; ) {
          const expired = await findExpiredReports(db, stores.s3 !== null, after);
          for (const { store, ...report } of expired) {
            // A store that does not answer takes a minute for each.
            if (performance.now() >= endAt) break;
            if (await purgeQuietly(report, store)) removed++;
          }
          // Those that could not be removed do not stand in the way of those behind them.
          after = expired.at(-1);
          if (expired.length < EXPIRED_BATCH) break;
        }
        return removed;
      },
    },
  };
}

/** So long one run removes expired reports. While it removes some, it is repeated. */
const PRUNE_MS = 20_000;

/** Staff may delete a report between its completion and its fact. Then nothing of it may stay. */
const REMOVE_FACT_OF_DELETED = `
  delete from reports r where r.integration_id = $1 and r.id = $2
     and not exists (select from report_jobs j where j.integration_id = $1 and j.id = $2 and j.state = 'Ready')`;
