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

it('a function does each job: none is forgotten', async () => {
  const nothing = {} as never;
  const names = Object.keys(
    createJobs({
      ...{ env: nothing, db: nothing, collector: nothing, findings: nothing, alertRules: nothing, dispatcher: nothing },
      operatorNotices: null,
      reports: createReports(nothing),
      erasures: createErasures(nothing),
    }),
  );
  const done = new Set<string>();
  const noteJob = (name: string) => async () => {
    done.add(name);
    return ANSWERS.get(name) ?? 0;
  };
  const handlers: Handler[] = [];
  const client = {
    createFunction: ({ onFailure }: { onFailure?: Handler }, handler: Handler) =>
      handlers.push(handler, ...(onFailure ? [onFailure] : [])),
  } as unknown as Inngest;
  createFunctions(client, Object.fromEntries(names.map((name) => [name, noteJob(name)])) as unknown as Jobs);
  const step = { run: (_: string, work: () => Promise<unknown>) => work(), sleep: () => {}, sleepUntil: () => {} };
  const event = { data: { event: { data: {} } } };
  for (const handler of handlers) await handler({ event, step, runId: 'run' });
  expect([...done].sort()).toEqual(names.toSorted());
});
