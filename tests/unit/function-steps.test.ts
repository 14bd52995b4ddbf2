import { expect, it } from 'vitest';
import { runEach } from '../../inngest/functions/steps';

/** Runs jobs, each of which answers the next of its numbers, and lists their steps. */
async function listSteps(...jobs: [id: string, answers: number[], maxRuns?: number][]) {
  const steps: string[] = [];
  const step = {
    run(id: string, job: () => Promise<number>) {
      steps.push(id);
      return job();
    },
  };
  await runEach(
    step,
    jobs.map(([id, answers, maxRuns]) => [id, async () => answers.shift()!, maxRuns]),
  );
  return steps;
}

it('a job is repeated, each time as another step, until nothing is left or it ran often enough', async () => {
  const steps = await listSteps(['once', [7]], ['all', [7, 7, 0], 9], ['some', [7, 7, 7, 7], 3], ['none', [0], 9]);
  expect(steps).toEqual(['once', 'all', 'all-2', 'all-3', 'some', 'some-2', 'some-3', 'none']);
});
