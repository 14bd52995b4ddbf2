import { NonRetriableError } from 'inngest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reportRequested } from '../../inngest/events';
import { createReportFunctions, type ReportFunctionJobs } from '../../inngest/functions/reports';
import { eventually } from '../support/eventually';
import { createEmbeddedEngines, type EngineApp } from '../support/workflow-engines';

// What the function that renders a report calls, and in which order, on the embedded engine.

let app: EngineApp;
let calls: unknown[];
/** What the cron does. A minute may begin during any test. */
const looks: string[] = [];
let jobs: ReportFunctionJobs;

beforeAll(async () => {
  app = await createEmbeddedEngines().startApp((client) =>
    createReportFunctions(client, {
      beginReport: (run) => jobs.beginReport(run),
      renderPart: (run, start) => jobs.renderPart(run, start),
      completeReport: (run, file) => jobs.completeReport(run, file),
      failReport: (run, failure) => jobs.failReport(run, failure),
      makeDueReports: () => jobs.makeDueReports(),
      wakeReports: () => jobs.wakeReports(),
    }),
  );
});
afterAll(() => app.stop());

beforeEach(() => {
  calls = [];
  jobs = {
    beginReport: async () => true,
    renderPart: async (_run, start) => {
      calls.push(start);
      const { number, recordCount } = start;
      return {
        part: { key: `${number}`, size: 1 },
        recordCount: recordCount + 5,
        next: number < 2 ? ['x', number] : null,
      };
    },
    completeReport: async (_run, file) => void calls.push(file),
    failReport: async ({ reportId }, failure) => void calls.push([reportId, failure]),
    makeDueReports: async () => looks.push('due'),
    wakeReports: async () => looks.push('wake'),
  };
});

let reports = 0;
async function send() {
  const reportId = `rep_${reports++}`;
  await app.send(reportRequested.create({ integrationId: 'int_1', reportId }));
  return reportId;
}

describe('the run of a report', () => {
  it('renders each part from where the one before it ended, and completes the report with all of them', async () => {
    await send();
    await eventually(() => expect(calls).toHaveLength(4));
    expect(calls).toEqual([
      { number: 0, after: null, recordCount: 0 },
      { number: 1, after: ['x', 0], recordCount: 5 },
      { number: 2, after: ['x', 1], recordCount: 10 },
      { parts: ['0', '1', '2'].map((key) => ({ key, size: 1 })), recordCount: 15 },
    ]);
  });

  it('ends at once if another run has the report, and if it was deleted', async () => {
    const { renderPart } = jobs;
    let deleted = '';
    jobs.beginReport = async ({ reportId }) => reportId === deleted;
    jobs.renderPart = async (run, start) => {
      if (start.number === 0) return renderPart(run, start);
      calls.push('gone');
      return null;
    };
    await send();
    deleted = `rep_${reports}`;
    await send();
    await eventually(() => expect(calls).toHaveLength(2));
    jobs.beginReport = async () => true;
    jobs.renderPart = renderPart;
    // The runs of a tenant follow each other, so this one begins after the others have ended.
    await send();
    await eventually(() => expect(calls).toHaveLength(6));
    expect(calls.filter((call) => call instanceof Object && 'parts' in call)).toHaveLength(1);
  });

  it('says why a report can never be made', async () => {
    jobs.renderPart = async () => ({ failure: 'It has too many rows.' });
    const id = await send();
    await eventually(() => expect(calls).toEqual([[id, 'It has too many rows.']]));
  });

  it('repeats a part that failed, and says in general words that it failed too often', async () => {
    const { renderPart } = jobs;
    let failures = 0;
    jobs.renderPart = async (run, start) => {
      if (start.number === 1 && failures++ === 0) throw new Error('the store is away');
      return renderPart(run, start);
    };
    await send();
    await eventually(() => expect(calls).toHaveLength(4));
    expect(calls.map((call) => (call as { number?: number }).number)).toEqual([0, 1, 2, undefined]);
    calls = [];
    jobs.renderPart = () => Promise.reject(new NonRetriableError('secret words of a fault'));
    const id = await send();
    await eventually(() => expect(calls).toHaveLength(1));
    expect(calls).toEqual([[id, 'Something went wrong on our side. Ask for the report again.']]);
  });

  it('is found each minute if nobody began it, after the reports of schedules were made', async () => {
    await app.passMinute();
    await eventually(() => expect(looks.slice(0, 2)).toEqual(['due', 'wake']));
  });
});
