import type { Inngest } from 'inngest';
import { type ReportRequested, reportRequested } from '../events';
import { runEach } from './steps';

/** The run that renders a report. */
type ReportRun = ReportRequested & { runId: string };

type Position = (string | number)[];
type Part = { key: string; size: number };
type Start = { number: number; after: Position | null; recordCount: number };
type Rendered = { part: Part; recordCount: number; next: Position | null } | { failure: string } | null;

/** What the report functions call. */
export interface ReportFunctionJobs {
  /** Gives a report to the run. False if it is gone, or another run has it. */
  beginReport: (run: ReportRun) => Promise<boolean>;
  /** Renders and stores one part. Null if the run no longer has the report. */
  renderPart: (run: ReportRun, start: Start) => Promise<Rendered>;
  /** Makes the report ready and sends its fact. */
  completeReport: (run: ReportRun, file: { parts: Part[]; recordCount: number }) => Promise<void>;
  failReport: (run: ReportRun, failure: string) => Promise<void>;
  /** Makes the reports of schedules that are due. */
  makeDueReports: () => Promise<number>;
  /** Wakes the runs of reports whose wake-ups were lost. */
  wakeReports: () => Promise<number>;
}

// Only our own faults are retried, for example if the database or the store is away.
const RETRIES = 5;
const UNEXPECTED = 'Something went wrong on our side. Ask for the report again.';

/** The functions that make reports. */
export function createReportFunctions(client: Inngest, jobs: ReportFunctionJobs) {
  /** Each step renders a bounded part from where the one before it ended. So a crash repeats one part at most. */
  const renderReport = client.createFunction(
    {
      id: 'render-report',
      name: 'Render a report',
      triggers: [reportRequested],
      retries: RETRIES,
      // A tenant's reports must not take the turns of the others.
      concurrency: { limit: 1, key: 'event.data.integrationId' },
      onFailure: async ({ event, step }) => {
        const run = { ...(event.data.event.data as ReportRequested), runId: event.data.run_id };
        await step.run('fail', () => jobs.failReport(run, UNEXPECTED));
      },
    },
    async ({ event, step, runId }) => {
      const run = { ...event.data, runId };
      if (!(await step.run('begin', () => jobs.beginReport(run)))) return;
      const parts: Part[] = [];
      let after: Position | null = null;
      let recordCount = 0;
      do {
        const start: Start = { number: parts.length, after, recordCount };
        const rendered: Rendered = await step.run(`part-${start.number}`, () => jobs.renderPart(run, start));
        if (rendered === null) return;
        if ('failure' in rendered) {
          await step.run('fail', () => jobs.failReport(run, rendered.failure));
          return;
        }
        parts.push(rendered.part);
        ({ next: after, recordCount } = rendered);
      } while (after !== null);
      const file = { parts, recordCount };
      await step.run('complete', () => jobs.completeReport(run, file));
    },
  );

  const wakeReports = client.createFunction(
    {
      id: 'wake-reports',
      name: 'Make the reports of schedules, and find reports that nobody renders',
      triggers: [{ cron: '* * * * *' }],
      retries: 0,
    },
    ({ step }) =>
      runEach(step, [
        ['make-due', jobs.makeDueReports],
        ['wake', jobs.wakeReports],
      ]),
  );

  return [renderReport, wakeReports];
}
