import type { Inngest } from 'inngest';
import { expect, it } from 'vitest';
import { createFunctions, type Jobs } from '../../inngest/functions';
import { createErasures } from '../../server/erasure/erasures';
import { createJobs } from '../../server/jobs';
import { createReports } from '../../server/reports/reports';

type Handler = (context: object) => Promise<unknown>;

/** What jobs answer on which the function depends. */
const ANSWERS = new Map<string, unknown>([
  ['beginReport', true],
  ['renderPart', { part: { key: 'k', size: 1 }, recordCount: 1, next: null }],
  ['continueErasure', null],
]);

const nothing = {} as never;
const NAMES = Object.keys(
  createJobs({
    ...{ env: nothing, db: nothing, collector: nothing, findings: nothing, alertRules: nothing, dispatcher: nothing },
    operatorNotices: null,
    reports: createReports(nothing),
    erasures: createErasures(nothing),
  }),
);

/** Calls each function once, and its handler of failures. Answers which jobs they did, and how many functions failed. */
async function callFunctions(doJob: (name: string) => unknown) {
  const done = new Set<string>();
  const noteJob = (name: string) => async () => {
    done.add(name);
    return doJob(name);
  };
  const handlers: Handler[] = [];
  const client = {
    createFunction: ({ onFailure }: { onFailure?: Handler }, handler: Handler) =>
      handlers.push(handler, ...(onFailure ? [onFailure] : [])),
  } as unknown as Inngest;
  createFunctions(client, Object.fromEntries(NAMES.map((name) => [name, noteJob(name)])) as unknown as Jobs);
  const step = { run: (_: string, work: () => Promise<unknown>) => work(), sleep: () => {}, sleepUntil: () => {} };
  const event = { data: { event: { data: {} } } };
  const results = await Promise.allSettled(handlers.map((handler) => handler({ event, step, runId: 'run' })));
  return { done, faults: results.filter(({ status }) => status === 'rejected').length, count: handlers.length };
}

it('a function does each job: none is forgotten', async () => {
  const { done, faults } = await callFunctions((name) => ANSWERS.get(name) ?? 0);
  expect([[...done].sort(), faults]).toEqual([NAMES.toSorted(), 0]);
});

it('a job that fails keeps none of its function’s others from running, unless they need its result; the function fails', async () => {
  const { done, faults, count } = await callFunctions(() => Promise.reject(new Error('a fault')));
  expect(NAMES.filter((name) => !done.has(name)).sort()).toEqual(['completeReport', 'renderPart']);
  expect(faults).toBe(count);
});

it('a removal that ends after 20 s is repeated while it removes something, all others run once', async () => {
  const runs = new Map<string, number>();
  await callFunctions((name) => {
    const run = (runs.get(name) ?? 0) + 1;
    runs.set(name, run);
    return ANSWERS.get(name) ?? (run < 3 ? 1 : 0);
  });
  const removals = NAMES.filter((name) => name.startsWith('prune'));
  const repeated = ['pruneDeliveries', 'pruneReports', 'pruneSessions'];
  expect(removals.filter((name) => runs.get(name) !== 1).sort()).toEqual(repeated);
});
